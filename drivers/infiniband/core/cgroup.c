// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IB core's side of the RDMA cgroup controller: which devices take part, and
 * which cgroup pays for each context and object of user space.
 */
#include "core_priv.h"

static const struct rdmacg_resource ib_rdmacg_hca_resources[RDMACG_RESOURCE_MAX] = {
	[RDMACG_RESOURCE_HCA_HANDLE] = {
		.name		= "hca_handle",
		.class		= RDMACG_CLASS_HCA,
		.unit		= RDMACG_OBJECTS,
		.capacity	= RDMACG_NO_LIMIT,
	},
	[RDMACG_RESOURCE_HCA_OBJECT] = {
		.name		= "hca_object",
		.class		= RDMACG_CLASS_HCA,
		.unit		= RDMACG_OBJECTS,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/**
 * ib_rdmacg_register_device() - let the controller account a device
 * @device: a device that user space cannot reach yet
 *
 * Context: Process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int ib_rdmacg_register_device(struct ib_device *device)
{
	struct rdmacg_table hca = {
		.resources	= ib_rdmacg_hca_resources,
		.count		= ARRAY_SIZE(ib_rdmacg_hca_resources),
	};

	device->cg_device.name = device->name;
	device->cg_device.index = device->index;
	return rdmacg_register_device(&device->cg_device, &hca, 1);
}

/**
 * ib_rdmacg_unregister_device() - end the accounting of a device
 * @device: a device on which user space has no context and no object any more
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_unregister_device(struct ib_device *device)
{
	rdmacg_unregister_device(&device->cg_device);
}

/**
 * ib_rdmacg_rename_device() - let the controller show a device's new name
 * @device: a device that has been renamed
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_rename_device(struct ib_device *device)
{
	rdmacg_rename_device(&device->cg_device);
}

/**
 * ib_rdmacg_charge_ucontext() - charge one hca_handle to the current process
 * @ucontext: the context that the driver is about to make; it keeps the owner
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext)
{
	return rdmacg_try_charge(&ucontext->cg_obj.cg,
				 &ucontext->device->cg_device,
				 RDMACG_RESOURCE_HCA_HANDLE);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_ucontext);

/**
 * ib_rdmacg_uncharge_ucontext() - give a context's hca_handle back to its owner
 * @ucontext: a charged context
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext)
{
	rdmacg_uncharge(ucontext->cg_obj.cg, &ucontext->device->cg_device,
			RDMACG_RESOURCE_HCA_HANDLE);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_ucontext);

/**
 * ib_rdmacg_charge_uobject() - charge one hca_object to the current process
 * @uobj: an object that the driver has not made yet; it keeps the owner
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_uobject(struct ib_uobject *uobj)
{
	return rdmacg_try_charge(&uobj->cg_obj.cg,
				 &uobj->context->device->cg_device,
				 RDMACG_RESOURCE_HCA_OBJECT);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_uobject);

/**
 * ib_rdmacg_uncharge_uobject() - give an object's hca_object back to its owner
 * @uobj: a charged object that the driver has destroyed or never made
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
	rdmacg_uncharge(uobj->cg_obj.cg, &uobj->context->device->cg_device,
			RDMACG_RESOURCE_HCA_OBJECT);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_uobject);
