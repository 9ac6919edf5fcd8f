// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device whose driver refuses to destroy objects, for the kselftest
 * test_rdma_refuse. While "refuse" is true, the device that is named at load
 * refuses to destroy QPs and MRs of user space and to detach QPs from multicast
 * groups. It then leaves its objects in memory when it is removed, as a broken
 * adapter does, and its driver does not check whether it is empty.
 *
 * The module stays until the machine is rebooted, because uverbs may be in one
 * of its callbacks.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

static char device[IB_DEVICE_NAME_MAX];
module_param_string(device, device, sizeof(device), 0444);
MODULE_PARM_DESC(device, "the name of the device");
static bool refuse;
module_param(refuse, bool, 0644);
MODULE_PARM_DESC(refuse, "refuse to destroy objects");

/* A copy of the driver's own callbacks. Set when the device is added. */
static const struct ib_device_ops *refuse_ops;
/* The objects that exist only because of a refusal. Also tells kmemleak of them. */
static DEFINE_XARRAY(refuse_objects);
/* The objects of the present device in this array. */
static atomic_t refuse_count;

/* Returns whether to refuse, and remembers the object then. */
static bool refuse_destruction(void *object)
{
	if (!READ_ONCE(refuse)) {
		if (xa_erase(&refuse_objects, (unsigned long)object))
			atomic_dec(&refuse_count);
		return false;
	}
	if (!xa_store(&refuse_objects, (unsigned long)object, object, GFP_KERNEL))
		atomic_inc(&refuse_count);
	return true;
}

static int refuse_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	if (qp->uobject && refuse_destruction(qp))
		return -EBUSY;
	return refuse_ops->destroy_qp(qp, udata);
}

static int refuse_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	if (mr->uobject && refuse_destruction(mr))
		return -EBUSY;
	return refuse_ops->dereg_mr(mr, udata);
}

static int refuse_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	if (qp->uobject && refuse_destruction(qp))
		return -EBUSY;
	return refuse_ops->detach_mcast(qp, gid, lid);
}

static void refuse_dealloc_driver(struct ib_device *ibdev)
{
	if (!atomic_read(&refuse_count))
		refuse_ops->dealloc_driver(ibdev);
}

static int refuse_add(struct ib_device *ibdev)
{
	if (strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	/* The previous device is gone. */
	kfree(refuse_ops);
	refuse_ops = kmemdup(&ibdev->ops, sizeof(ibdev->ops), GFP_KERNEL);
	if (!refuse_ops)
		return -ENOMEM;
	atomic_set(&refuse_count, 0);
	ibdev->ops.destroy_qp = refuse_destroy_qp;
	ibdev->ops.dereg_mr = refuse_dereg_mr;
	if (refuse_ops->detach_mcast)
		ibdev->ops.detach_mcast = refuse_detach_mcast;
	ibdev->ops.dealloc_driver = refuse_dealloc_driver;
	return 0;
}

static struct ib_client refuse_client = {
	.name = "rdma_refuse",
	.add = refuse_add,
};

static int __init refuse_init(void)
{
	return ib_register_client(&refuse_client);
}

module_init(refuse_init);
MODULE_DESCRIPTION("An RDMA device that refuses to destroy objects");
MODULE_LICENSE("GPL");
