// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/rdmacg_lnd: one open file is one NI of whoever opens it. Commands are written to it:
 *
 *	listen ADDRESS		have an NI at this address of an RDMA device
 *	connect ADDRESS PORT	connect to the NI that listens there
 *	get COUNT BYTES		have COUNT transfers made from the other end
 *
 * A write returns when the command is done, or with its error: EAGAIN where the cgroup that
 * has opened the file is at a limit. To read tells the NI's port, and what its connections
 * have agreed on. To close, or to be killed, ends the NI.
 */
#include <linux/cgroup_rdma.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/memcontrol.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "lnd.h"

#define LND_LINE	128

/* What the thread allocates for who has opened the file is that one's memory, too. */
static int lnd_thread(void *data)
{
	struct lnd_ni *ni = data;
	struct mem_cgroup *before = set_active_memcg(ni->memcg);
	int ret = kthread_worker_fn(&ni->worker);

	set_active_memcg(before);
	return ret;
}

static struct lnd_ni *lnd_ni_alloc(void)
{
	struct lnd_ni *ni = kzalloc(sizeof(*ni), GFP_KERNEL_ACCOUNT);

	if (!ni)
		return NULL;
	mutex_init(&ni->lock);
	spin_lock_init(&ni->conns_lock);
	INIT_LIST_HEAD(&ni->conns);
	init_completion(&ni->done);
	complete_all(&ni->done);
	kthread_init_worker(&ni->worker);
	kthread_init_work(&ni->command_work, lnd_ni_run);
	kthread_init_work(&ni->report_work, lnd_ni_report);
	kthread_init_work(&ni->reap_work, lnd_ni_reap);
	kthread_init_work(&ni->unmake_work, lnd_ni_unmake);
	return ni;
}

static void lnd_ni_put(struct lnd_ni *ni)
{
	put_net(ni->net);
	mem_cgroup_put(ni->memcg);
	if (ni->cg)
		rdmacg_put(ni->cg);
	kfree(ni);
}

/* The only place where "current" is who asks: so that one is kept, and its network. */
static int lnd_open(struct inode *inode, struct file *file)
{
	struct lnd_ni *ni = lnd_ni_alloc();
	int ret;

	if (!ni)
		return -ENOMEM;
	ni->cg = rdmacg_get_current();
	ni->memcg = get_mem_cgroup_from_mm(current->mm);
	ni->net = get_net(current->nsproxy->net_ns);
	ni->task = kthread_run(lnd_thread, ni, "rdmacg_lnd");
	if (IS_ERR(ni->task)) {
		ret = PTR_ERR(ni->task);
		lnd_ni_put(ni);
		return ret;
	}
	file->private_data = ni;
	return 0;
}

static int lnd_release(struct inode *inode, struct file *file)
{
	struct lnd_ni *ni = file->private_data;

	kthread_queue_work(&ni->worker, &ni->unmake_work);
	kthread_flush_worker(&ni->worker);
	kthread_stop(ni->task);
	lnd_ni_put(ni);
	return 0;
}

static int lnd_parse(struct lnd_ni *ni, const char *text)
{
	struct lnd_command *command = &ni->command;
	char addr[64], port[8];

	*command = (struct lnd_command) { };
	if (sscanf(text, "get %u %u", &command->count, &command->bytes) == 2) {
		command->verb = LND_GET;
		return command->count && command->bytes ? 0 : -EINVAL;
	}
	if (sscanf(text, "connect %63s %7s", addr, port) == 2) {
		command->verb = LND_CONNECT;
		return inet_pton_with_scope(ni->net, AF_UNSPEC, addr, port, &command->addr);
	}
	if (sscanf(text, "listen %63s", addr) == 1) {
		command->verb = LND_LISTEN;
		/* The connection manager chooses the port. */
		return inet_pton_with_scope(ni->net, AF_UNSPEC, addr, NULL, &command->addr);
	}
	return -EINVAL;
}

static int lnd_begin(struct lnd_ni *ni, const char *text)
{
	int ret;

	ret = mutex_lock_interruptible(&ni->lock);
	if (ret)
		return ret;
	/* One whose writer was interrupted may be under way. */
	ret = completion_done(&ni->done) ? lnd_parse(ni, text) : -EBUSY;
	if (!ret) {
		reinit_completion(&ni->done);
		kthread_queue_work(&ni->worker, &ni->command_work);
	}
	mutex_unlock(&ni->lock);
	return ret;
}

static ssize_t lnd_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct lnd_ni *ni = file->private_data;
	char *text;
	int ret;

	if (len >= LND_LINE)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = lnd_begin(ni, text);
	kfree(text);
	/* What is read next is new. */
	*pos = 0;
	if (ret)
		return ret;
	if (wait_for_completion_interruptible(&ni->done))
		return -EINTR;
	return ni->result ?: len;
}

static ssize_t lnd_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct lnd_ni *ni = file->private_data;
	ssize_t ret;

	ret = mutex_lock_interruptible(&ni->lock);
	if (ret)
		return ret;
	if (!*pos) {
		kthread_queue_work(&ni->worker, &ni->report_work);
		kthread_flush_work(&ni->report_work);
	}
	ret = simple_read_from_buffer(buf, len, pos, ni->report, strlen(ni->report));
	mutex_unlock(&ni->lock);
	return ret;
}

static const struct file_operations lnd_fops = {
	.owner		= THIS_MODULE,
	.open		= lnd_open,
	.release	= lnd_release,
	.read		= lnd_read,
	.write		= lnd_write,
	.llseek		= default_llseek,
};

/* For everybody: the cgroup's limits say how much that is. */
static struct miscdevice lnd_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "rdmacg_lnd",
	.fops	= &lnd_fops,
	.mode	= 0666,
};
module_misc_device(lnd_device);

MODULE_DESCRIPTION("Model of a kernel user of RDMA that charges the RDMA controller");
MODULE_LICENSE("GPL");
