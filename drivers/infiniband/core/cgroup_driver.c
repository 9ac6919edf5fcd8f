// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: charges for resources of drivers, and for objects
 * that the attributes of a method describe.
 */
#include <linux/minmax.h>

#include "cgroup.h"
#include "cgroup_device.h"
#include "cgroup_driver.h"

/**
 * ib_rdmacg_set_hw_resources() - declare the resources of a driver
 * @device: a device that is not registered yet
 * @resources: the resources, all of RDMACG_CLASS_HW. They must exist until
 *	ib_register_device() returns
 * @count: the number of resources
 *
 * The resources are not charged if the kernel has no hw class, or if the
 * controller refuses them with an error in the log.
 *
 * Context: Any context.
 */
void ib_rdmacg_set_hw_resources(struct ib_device *device,
				const struct rdmacg_resource *resources, unsigned int count)
{
	device->cg_hw.resources = resources;
	device->cg_hw.count = count;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_set_hw_resources);

/**
 * ib_rdmacg_try_charge_hw() - charge a resource of a driver to the current
 *	process
 * @owner: set on success to the cgroup of the current process, or to NULL if
 *	the resource is not counted
 * @device: a registered device
 * @resource: the index in the table of ib_rdmacg_set_hw_resources()
 * @amount: the amount, more than 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a
 * successful charge to ib_rdmacg_uncharge_hw() once, from any process.
 */
int ib_rdmacg_try_charge_hw(struct rdma_cgroup **owner, struct ib_device *device,
			    unsigned int resource, u64 amount)
{
	const struct rdmacg_amount charge = { device->cg_hw.first_slot + resource, amount };

	*owner = NULL;
	if (device->cg_hw.first_slot <= 0)
		return 0;
	return rdmacg_try_charge_set(owner, &device->cg_device, &charge, 1);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_try_charge_hw);

/**
 * ib_rdmacg_uncharge_hw() - give back the charge for a resource of a driver
 * @owner: the owner from ib_rdmacg_try_charge_hw(), perhaps NULL
 * @device: the same device, still registered
 * @resource: the same resource
 * @amount: the same amount
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_hw(struct rdma_cgroup *owner, struct ib_device *device,
			   unsigned int resource, u64 amount)
{
	const struct rdmacg_amount charge = { device->cg_hw.first_slot + resource, amount };

	if (owner)
		rdmacg_uncharge_set(owner, &device->cg_device, &charge, 1);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_hw);

/**
 * ib_rdmacg_try_charge_ucontext_hw() - charge a resource of a driver to the
 *	owner of a context
 * @ucontext: a context, perhaps still in creation
 * @resource: the index in the table of ib_rdmacg_set_hw_resources()
 * @amount: the amount, perhaps 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The driver returns a successful
 * charge by ib_rdmacg_uncharge_ucontext_hw() before the context is destroyed.
 */
int ib_rdmacg_try_charge_ucontext_hw(struct ib_ucontext *ucontext, unsigned int resource,
				     u64 amount)
{
	struct ib_device *device = ucontext->device;
	const struct rdmacg_amount charge = { device->cg_hw.first_slot + resource, amount };

	if (device->cg_hw.first_slot <= 0 || !amount)
		return 0;
	return rdmacg_try_charge_cgroup(ucontext->cg_obj.cg, &device->cg_device, &charge, 1);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_try_charge_ucontext_hw);

/**
 * ib_rdmacg_uncharge_ucontext_hw() - return a charge of
 *	ib_rdmacg_try_charge_ucontext_hw()
 * @ucontext: the same context
 * @resource: the same resource
 * @amount: the same amount
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_ucontext_hw(struct ib_ucontext *ucontext, unsigned int resource,
				    u64 amount)
{
	if (ucontext->device->cg_hw.first_slot > 0 && amount)
		ib_rdmacg_uncharge_hw(ucontext->cg_obj.cg, ucontext->device, resource, amount);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_ucontext_hw);

/**
 * ib_rdmacg_set_object_defs() - declare the types of a driver's objects
 *	that are charged by attributes
 * @device: a device that is not registered yet
 * @defs: the definitions, which end with an empty entry. They must exist as
 *	long as the device is registered
 *
 * Context: Any context.
 */
void ib_rdmacg_set_object_defs(struct ib_device *device,
			       const struct ib_rdmacg_object_def *defs)
{
	device->cg_objects = defs;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_set_object_defs);

/*
 * Charge whole pages of device memory, because a driver allocates whole pages
 * for programs to map.
 */
static int ib_rdmacg_describe_dm(const struct uverbs_attr_bundle *attrs,
				 struct ib_rdmacg_content *content)
{
	u64 length;
	int ret = uverbs_copy_from(&length, attrs, UVERBS_ATTR_ALLOC_DM_LENGTH);

	if (!ret)
		content->dm_mem = PAGE_ALIGN(min(length, IB_RDMACG_ENDLESS_LENGTH));
	return ret;
}

/*
 * Returns the type in the verb class. Types of the driver, and types that the
 * device does not have, count as driver_object.
 */
static unsigned int ib_rdmacg_content_type(const struct ib_device *device, u32 type)
{
	if (type == IB_RDMACG_CONTENT_MCAST)
		type = IB_RDMACG_MCAST;
	else if (type >= IB_RDMACG_DRIVER_OBJECT)
		return IB_RDMACG_DRIVER_OBJECT;
	return ib_rdmacg_counts_type(device, type) ? type : IB_RDMACG_DRIVER_OBJECT;
}

static int ib_rdmacg_charge_described(struct ib_uobject *uobj,
				      const struct uverbs_attr_bundle *attrs)
{
	const struct ib_rdmacg_object_def *def = ib_rdmacg_find_def(uobj);
	struct ib_rdmacg_content content = { .type = uobj_get_object_id(uobj) };
	int ret;

	if (content.type == UVERBS_OBJECT_DM)
		ret = ib_rdmacg_describe_dm(attrs, &content);
	else if (def)
		ret = def->describe(attrs, &content);
	else
		return 0;
	if (ret)
		return ret;
	uobj->cg_obj.type = ib_rdmacg_content_type(uobj->context->device, content.type);
	uobj->cg_obj.dm_mem = ib_rdmacg_mem(content.dm_mem);
	return ib_rdmacg_charge_uobject(uobj);
}

/**
 * ib_rdmacg_charge_new_uobjects() - charge the current process for new objects
 *	that the attributes of a method describe
 * @attrs: all attributes of the method, before the method runs
 * @uobjs: bits of the attributes that are objects
 *
 * Each object, its type and its device memory are charged together or not at
 * all. The object keeps the owner.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, -ENOMEM, or the error of an invalid attribute.
 * The caller calls ib_rdmacg_uncharge_uobject() for each of the objects after a
 * failure.
 */
int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
				  const unsigned long *uobjs)
{
	const struct uverbs_obj_attr *attr;
	unsigned int i;
	int ret;

	for_each_set_bit(i, uobjs, UVERBS_API_ATTR_BKEY_LEN) {
		attr = &attrs->attrs[i].obj_attr;
		if (attr->attr_elm->spec.u.obj.access != UVERBS_ACCESS_NEW)
			continue;
		ret = ib_rdmacg_charge_described(attr->uobject, attrs);
		if (ret)
			return ret;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_new_uobjects);
