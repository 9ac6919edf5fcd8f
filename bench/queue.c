// SPDX-License-Identifier: GPL-2.0-only
/*
 * This module gives rxe0 of Soft-RoCE the command queue of an adapter. The commands that create,
 * change and destroy PDs, AHs, CQs, QPs and MRs pass through one queue. Each command takes the same
 * time in the queue, and then rxe executes it. The process that gave the command sleeps meanwhile,
 * so processes share the queue and not the processor.
 *
 * The queue is only a point in time, at which all commands so far are finished. A new command moves
 * this point by the time of a command. If the point is in the past, it first moves to the present.
 * So commands keep the order of arrival, and a late timer of the guest does not delay the queue. A
 * mutex would not keep the order, and a process that sleeps too long with the mutex would delay all
 * others.
 *
 * The parameter usec is the time of a command; 0 turns the queue off. The parameter commands shows
 * the number of commands. The parameter late_ns shows the sum of the nanoseconds from the end of
 * each command to the return of its process. The module and the device stay until the guest ends.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

static unsigned int usec;
module_param(usec, uint, 0644);
MODULE_PARM_DESC(usec, "microseconds that each command takes, or 0");

static DEFINE_SPINLOCK(queue_lock);
static u64 queue_done_at;	/* guarded by queue_lock */
static unsigned long commands;	/* guarded by queue_lock */
static unsigned long late_ns;	/* guarded by queue_lock */
module_param(commands, ulong, 0444);
MODULE_PARM_DESC(commands, "how many there were");
module_param(late_ns, ulong, 0444);
MODULE_PARM_DESC(late_ns, "sum of what their processes woke up too late");

/* rxe's own callbacks, which the callbacks of the queue call. */
static const struct ib_device_ops *queue_ops;

static u64 queue_append(u64 ns)
{
	u64 done_at;

	spin_lock(&queue_lock);
	done_at = max(queue_done_at, ktime_get_ns()) + ns;
	queue_done_at = done_at;
	spin_unlock(&queue_lock);
	return done_at;
}

static void queue_wait(void)
{
	u64 ns = READ_ONCE(usec) * (u64)NSEC_PER_USEC, done_at, now;
	ktime_t expires;

	if (!ns)
		return;
	done_at = queue_append(ns);
	expires = ns_to_ktime(done_at);
	while ((now = ktime_get_ns()) < done_at) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&expires, HRTIMER_MODE_ABS);
	}
	spin_lock(&queue_lock);
	commands++;
	late_ns += now - done_at;
	spin_unlock(&queue_lock);
}

static int queue_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->alloc_pd(pd, udata);
}

static int queue_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->dealloc_pd(pd, udata);
}

static int queue_create_user_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
				struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->create_user_ah(ah, attr, udata);
}

/* A caller without RDMA_DESTROY_AH_SLEEPABLE, such as a kernel user, must not sleep. */
static int queue_destroy_ah(struct ib_ah *ah, u32 flags)
{
	if (flags & RDMA_DESTROY_AH_SLEEPABLE)
		queue_wait();
	return queue_ops->destroy_ah(ah, flags);
}

static int queue_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			   struct uverbs_attr_bundle *attrs)
{
	queue_wait();
	return queue_ops->create_cq(cq, attr, attrs);
}

static int queue_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->destroy_cq(cq, udata);
}

static int queue_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			   struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->create_qp(qp, attr, udata);
}

static int queue_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			   struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->modify_qp(qp, attr, mask, udata);
}

static int queue_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->destroy_qp(qp, udata);
}

/* Since 6.17, a registration of memory can name a steering tag. */
#ifdef QUEUE_DMAH
static struct ib_mr *queue_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address,
				       int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->reg_user_mr(pd, start, length, address, access, dmah, udata);
}
#else
static struct ib_mr *queue_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address,
				       int access, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->reg_user_mr(pd, start, length, address, access, udata);
}
#endif

static int queue_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	queue_wait();
	return queue_ops->dereg_mr(mr, udata);
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
	ibdev->ops.alloc_pd = queue_alloc_pd;
	ibdev->ops.dealloc_pd = queue_dealloc_pd;
	ibdev->ops.create_user_ah = queue_create_user_ah;
	ibdev->ops.destroy_ah = queue_destroy_ah;
	ibdev->ops.create_cq = queue_create_cq;
	ibdev->ops.destroy_cq = queue_destroy_cq;
	ibdev->ops.create_qp = queue_create_qp;
	ibdev->ops.modify_qp = queue_modify_qp;
	ibdev->ops.destroy_qp = queue_destroy_qp;
	ibdev->ops.reg_user_mr = queue_reg_user_mr;
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
