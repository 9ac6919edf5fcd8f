// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/rdmacg_lnd. A process writes commands to the file:
 *
 *	listen ADDRESS		create an NI at this address of an RDMA device
 *	connect ADDRESS PORT	connect to the NI that listens there
 *	send COUNT BYTES	register memory and send it to the peer, COUNT times
 *
 * A write returns when the command has ended, with EAGAIN if a limit refused
 * it. A read shows the port of the NI and the sizes of its connections. The NI
 * ends when the file is closed. The parameters and sizes are those of o2iblnd
 * (Lustre 2.15 and later) and of "rdmacg plan lnet".
 */
#include <linux/cgroup_rdma.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "lnd.h"

#define LND_LINE	128
#define LND_MIN_POOL	256
/*
 * The work requests of a transfer: a message, each page, registration and
 * invalidation.
 */
#define LND_TX_WRS	(1u + LND_MAX_FRAGS + 2)

static unsigned int credits = 256;
module_param(credits, uint, 0644);
MODULE_PARM_DESC(credits, "upper bound of peer_credits (256)");

static unsigned int peer_credits = 8;
module_param(peer_credits, uint, 0644);
MODULE_PARM_DESC(peer_credits, "concurrent transfers of a connection, 8 to 255 (8)");

static unsigned int conns_per_peer = 1;
module_param(conns_per_peer, uint, 0644);
MODULE_PARM_DESC(conns_per_peer, "connections to a peer, 1 to 127 (1)");

static unsigned int fmr_pool_size = 512;
module_param(fmr_pool_size, uint, 0644);
MODULE_PARM_DESC(fmr_pool_size, "memory regions of an NI, at least 256 for each part (512)");

static unsigned int cpu_npartitions;
module_param(cpu_npartitions, uint, 0644);
MODULE_PARM_DESC(cpu_npartitions, "parts of the pool (0: the number of NUMA nodes)");

static int lnd_ni_size(struct lnd_ni *ni)
{
	unsigned int mrs = READ_ONCE(fmr_pool_size) ?: 512;
	unsigned int cpts = READ_ONCE(cpu_npartitions) ?: num_online_nodes();
	unsigned int depth = clamp(READ_ONCE(peer_credits), 8, 255);

	cpts = clamp(cpts, 1, num_online_cpus());
	ni->pool_size = cpts * max(LND_MIN_POOL, mrs / cpts);
	ni->conns_per_peer = clamp(READ_ONCE(conns_per_peer), 1, 127);
	depth = max(1, min(depth, READ_ONCE(credits)));
	ni->depth = min(depth, (ni->device->attrs.max_qp_wr - 1) / LND_TX_WRS);
	ni->send_wrs = ni->depth * LND_TX_WRS;
	ni->recv_wrs = 2 * ni->depth + 2;
	return ni->depth ? 0 : -EINVAL;
}

static int lnd_ni_bind(struct lnd_ni *ni, struct sockaddr_storage *addr)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(ni->net, lnd_listen_handler, ni, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ni->listener = id;
	ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	if (ret)
		return ret;
	/* The wildcard address has no device. */
	if (!id->device)
		return -EADDRNOTAVAIL;
	ni->device = id->device;
	return ni->device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS ? 0 : -EOPNOTSUPP;
}

static int lnd_ni_make_mrs(struct lnd_ni *ni)
{
	ni->mrs = kvcalloc(ni->pool_size, sizeof(*ni->mrs), GFP_KERNEL_ACCOUNT);
	if (!ni->mrs)
		return -ENOMEM;
	for (; ni->free_mrs < ni->pool_size; ni->free_mrs++) {
		struct ib_mr *mr = ib_alloc_mr(ni->pd, IB_MR_TYPE_MEM_REG, LND_MAX_FRAGS);

		if (IS_ERR(mr))
			return PTR_ERR(mr);
		ni->mrs[ni->free_mrs] = mr;
	}
	return 0;
}

/* An NI uses the device once, and has a PD and its pool of MRs. */
static struct ib_rdmacg_objects lnd_ni_objects(const struct lnd_ni *ni)
{
	return (struct ib_rdmacg_objects) {
		.hca_handle = 1, .hca_object = 1 + ni->pool_size, .pd = 1, .mr = ni->pool_size,
	};
}

/*
 * Create the PD and the MRs of the NI. Charge them together, because the NI
 * needs all of them.
 */
static int lnd_ni_make(struct lnd_ni *ni)
{
	const struct ib_rdmacg_objects objects = lnd_ni_objects(ni);
	struct ib_pd *pd;
	int ret;

	ni->sink_dma = ib_dma_map_single(ni->device, ni->sink, PAGE_SIZE, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ni->device, ni->sink_dma))
		return -EIO;
	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &objects);
	if (ret) {
		ib_dma_unmap_single(ni->device, ni->sink_dma, PAGE_SIZE, DMA_FROM_DEVICE);
		return ret;
	}
	ni->is_charged = true;
	pd = ib_alloc_pd(ni->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ni->pd = pd;
	return lnd_ni_make_mrs(ni);
}

/*
 * Destroy the objects of the NI that exist, and then return the charge. The
 * listener is the last object, because it keeps the device. It adds no
 * connection after @is_gone is set.
 */
static void lnd_ni_clear(struct lnd_ni *ni)
{
	const struct ib_rdmacg_objects objects = lnd_ni_objects(ni);

	if (!ni->listener)
		return;
	rdma_lock_handler(ni->listener);
	WRITE_ONCE(ni->is_gone, true);
	rdma_unlock_handler(ni->listener);
	lnd_conns_free(ni, true);
	while (ni->free_mrs)
		ib_dereg_mr(ni->mrs[--ni->free_mrs]);
	kvfree(ni->mrs);
	if (ni->pd)
		ib_dealloc_pd(ni->pd);
	if (ni->is_charged) {
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &objects);
		ib_dma_unmap_single(ni->device, ni->sink_dma, PAGE_SIZE, DMA_FROM_DEVICE);
	}
	rdma_destroy_id(ni->listener);
	ni->mrs = NULL;
	ni->pd = NULL;
	ni->is_charged = false;
	ni->device = NULL;
	ni->listener = NULL;
}

static int lnd_listen(struct lnd_ni *ni, struct sockaddr_storage *addr)
{
	int ret;

	if (ni->listener)
		return -EISCONN;
	ni->is_gone = false;
	ret = lnd_ni_bind(ni, addr);
	if (!ret)
		ret = lnd_ni_size(ni);
	if (!ret)
		ret = lnd_ni_make(ni);
	if (!ret)
		ret = rdma_listen(ni->listener, 0);
	if (ret)
		lnd_ni_clear(ni);
	return ret;
}

/*
 * Free connections that have ended, or the whole NI if the device is removed.
 */
static void lnd_ni_work(struct work_struct *work)
{
	struct lnd_ni *ni = container_of(work, struct lnd_ni, work);

	mutex_lock(&ni->lock);
	if (READ_ONCE(ni->is_gone))
		lnd_ni_clear(ni);
	else
		lnd_conns_free(ni, false);
	mutex_unlock(&ni->lock);
}

/*
 * The opener pays, because other processes may write, and a worker handles
 * requests.
 */
static int lnd_open(struct inode *inode, struct file *file)
{
	struct lnd_ni *ni = kzalloc(sizeof(*ni), GFP_KERNEL_ACCOUNT);

	if (!ni)
		return -ENOMEM;
	ni->sink = kmalloc(PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!ni->sink) {
		kfree(ni);
		return -ENOMEM;
	}
	mutex_init(&ni->lock);
	init_waitqueue_head(&ni->wait);
	INIT_WORK(&ni->work, lnd_ni_work);
	spin_lock_init(&ni->conns_lock);
	INIT_LIST_HEAD(&ni->conns);
	ni->cg = rdmacg_get_current();
	ni->net = get_net(current->nsproxy->net_ns);
	file->private_data = ni;
	return 0;
}

static int lnd_release(struct inode *inode, struct file *file)
{
	struct lnd_ni *ni = file->private_data;

	mutex_lock(&ni->lock);
	lnd_ni_clear(ni);
	mutex_unlock(&ni->lock);
	/*
	 * The work is not scheduled again, because all identifiers and CQs are
	 * destroyed.
	 */
	cancel_work_sync(&ni->work);
	put_net(ni->net);
	if (ni->cg)
		rdmacg_put(ni->cg);
	kfree(ni->sink);
	kfree(ni);
	return 0;
}

static int lnd_run(struct lnd_ni *ni, const char *text)
{
	struct sockaddr_storage to;
	unsigned int count, bytes;
	char addr[64], port[8];
	int ret;

	if (sscanf(text, "send %u %u", &count, &bytes) == 2)
		return count && bytes ? lnd_send(ni, count, bytes) : -EINVAL;
	if (sscanf(text, "connect %63s %7s", addr, port) == 2) {
		ret = inet_pton_with_scope(ni->net, AF_UNSPEC, addr, port, &to);
		return ret ?: lnd_connect(ni, &to);
	}
	if (sscanf(text, "listen %63s", addr) != 1)
		return -EINVAL;
	/* The connection manager chooses the port. */
	ret = inet_pton_with_scope(ni->net, AF_UNSPEC, addr, NULL, &to);
	return ret ?: lnd_listen(ni, &to);
}

static ssize_t lnd_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct lnd_ni *ni = file->private_data;
	char text[LND_LINE] = "";
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	ret = mutex_lock_killable(&ni->lock);
	if (ret)
		return ret;
	ret = lnd_run(ni, text);
	mutex_unlock(&ni->lock);
	/* Let the next read return a new report. */
	*pos = 0;
	return ret ?: len;
}

static void lnd_report(struct lnd_ni *ni, char *text, size_t size)
{
	const struct sockaddr_storage *addr = &ni->listener->route.addr.src_addr;
	unsigned int conns = 0;
	struct lnd_conn *conn;

	spin_lock(&ni->conns_lock);
	list_for_each_entry(conn, &ni->conns, entry)
		conns += READ_ONCE(conn->state) == LND_ESTABLISHED;
	spin_unlock(&ni->conns_lock);
	/* An IPv6 address has its port at the same place as an IPv4 address. */
	snprintf(text, size,
		 "port=%u received=%lld conns=%u depth=%u send_wr=%u recv_wr=%u cqe=%u\n",
		 be16_to_cpu(((const struct sockaddr_in *)addr)->sin_port),
		 atomic64_read(&ni->received), conns, ni->depth, ni->send_wrs, ni->recv_wrs,
		 ni->send_wrs + ni->recv_wrs);
}

static ssize_t lnd_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct lnd_ni *ni = file->private_data;
	char text[LND_LINE] = "";
	int ret;

	ret = mutex_lock_killable(&ni->lock);
	if (ret)
		return ret;
	if (ni->listener)
		lnd_report(ni, text, sizeof(text));
	mutex_unlock(&ni->lock);
	return simple_read_from_buffer(buf, len, pos, text, strlen(text));
}

static const struct file_operations lnd_fops = {
	.owner		= THIS_MODULE,
	.open		= lnd_open,
	.release	= lnd_release,
	.read		= lnd_read,
	.write		= lnd_write,
};

/*
 * Any process may open the file, because the limits of its cgroup bound its
 * objects.
 */
static struct miscdevice lnd_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "rdmacg_lnd",
	.fops	= &lnd_fops,
	.mode	= 0666,
};
module_misc_device(lnd_device);

MODULE_DESCRIPTION("Example of a kernel user of RDMA that charges the RDMA controller");
MODULE_LICENSE("GPL");
