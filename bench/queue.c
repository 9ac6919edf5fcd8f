// SPDX-License-Identifier: GPL-2.0-only
/*
 * This module gives rxe0 of Soft-RoCE the command queue of an adapter. The commands that create,
 * change and destroy PDs, CQs, QPs and MRs pass through one queue. Each command takes the same time
 * in the queue, and then rxe executes it. The process that gave the command sleeps meanwhile,
 * so processes share the queue and not the processor. The creation of an object does not wait,
 * because callbacks that create differ between bases. Instead, the destruction waits twice.
 *
 * The queue stores only the time at which its last command ends. A new command moves this time
 * forward by the duration of a command. If the time is in the past, it first moves to the present.
 * So commands keep the order of arrival, and a late timer of the guest does not delay the queue. A
 * mutex would not keep the order, and a process that sleeps too long with the mutex would delay all
 * others. The module and the device stay until the guest ends.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#define QUEUE_NS (50 * NSEC_PER_USEC)	/* of each command */

static DEFINE_SPINLOCK(queue_lock);
static u64 queue_done_at;		/* under the lock */

/* rxe's own callbacks, which the callbacks of the queue call. */
static const struct ib_device_ops *queue_ops;

static void queue_wait(void)
{
	ktime_t expires;

	spin_lock(&queue_lock);
	queue_done_at = max(queue_done_at, ktime_get_ns()) + QUEUE_NS;
	expires = ns_to_ktime(queue_done_at);
	spin_unlock(&queue_lock);
	while (ktime_before(ktime_get(), expires)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&expires, HRTIMER_MODE_ABS);
	}
}

/* A destruction waits for itself, and for the creation, which did not wait. */
#define QUEUE_DESTRUCTION(verb, type)							\
static int queue_##verb##_##type(struct ib_##type *object, struct ib_udata *udata)	\
{											\
	queue_wait();									\
	queue_wait();									\
	return queue_ops->verb##_##type(object, udata);					\
}

QUEUE_DESTRUCTION(dealloc, pd)
QUEUE_DESTRUCTION(destroy, cq)
QUEUE_DESTRUCTION(destroy, qp)
QUEUE_DESTRUCTION(dereg, mr)

static int queue_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			   struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->modify_qp(qp, attr, mask, udata);
}

/*
 * Replace only callbacks that rxe has, because the core treats a missing callback as unsupported.
 */
static int queue_add(struct ib_device *ibdev)
{
	if (strcmp(dev_name(&ibdev->dev), "rxe0"))
		return -EOPNOTSUPP;
	queue_ops = kmemdup(&ibdev->ops, sizeof(ibdev->ops), GFP_KERNEL);
	if (!queue_ops)
		return -ENOMEM;
	ibdev->ops.dealloc_pd = queue_dealloc_pd;
	ibdev->ops.destroy_cq = queue_destroy_cq;
	ibdev->ops.modify_qp = queue_modify_qp;
	ibdev->ops.destroy_qp = queue_destroy_qp;
	ibdev->ops.dereg_mr = queue_dereg_mr;
	return 0;
}

static struct ib_client queue_client = {
	.name = "rdmacg_queue",
	.add = queue_add,
};

static int __init queue_init(void)
{
	return ib_register_client(&queue_client);
}

module_init(queue_init);
MODULE_DESCRIPTION("One queue for the commands of rxe0");
MODULE_LICENSE("GPL");
