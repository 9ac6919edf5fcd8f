// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: charges for contexts and objects of user space.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#define pr_fmt(fmt) "infiniband: rdma cgroup: " fmt

#include <linux/slab.h>

#include "cgroup.h"
#include "cgroup_device.h"
#include "core_priv.h"

/**
 * ib_rdmacg_charge_ucontext() - charge one hca_handle to the current process
 * @ucontext: keeps the owner. The driver has not created the context yet. The
 *	function does nothing if the context is already charged
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext)
{
	if (ucontext->cg_obj.cg)
		return 0;
	return rdmacg_try_charge(&ucontext->cg_obj.cg,
				 &ucontext->device->cg_device,
				 RDMACG_RESOURCE_HCA_HANDLE);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_ucontext);

/**
 * ib_rdmacg_uncharge_ucontext() - return the hca_handle of a context to its
 *	owner
 * @ucontext: a context, perhaps without a charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext)
{
	if (!ucontext->cg_obj.cg)
		return;
	rdmacg_uncharge(ucontext->cg_obj.cg, &ucontext->device->cg_device,
			RDMACG_RESOURCE_HCA_HANDLE);
	ucontext->cg_obj.cg = NULL;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_ucontext);

/*
 * The charges of an object are at most hca_object, its type and its device
 * memory.
 */
#define IB_RDMACG_MAX_SET 3

/* Fill @set with the charges for the object. Returns the number of charges. */
static unsigned int ib_rdmacg_object_set(const struct ib_device *device,
					 const struct ib_rdmacg_object *obj,
					 struct rdmacg_amount *set)
{
	struct rdmacg_amount *next = set;

	if (obj->is_idr)
		*next++ = (struct rdmacg_amount) { RDMACG_RESOURCE_HCA_OBJECT, 1 };
	next = ib_rdmacg_add(next, device, obj->type, 1);
	next = ib_rdmacg_add(next, device, IB_RDMACG_DM_MEM, obj->dm_mem);
	return next - set;
}

/* Charge an object whose type and device memory are set. */
int ib_rdmacg_charge_uobject(struct ib_uobject *uobj)
{
	struct ib_device *device = uobj->context->device;
	struct rdmacg_amount set[IB_RDMACG_MAX_SET];
	unsigned int count = ib_rdmacg_object_set(device, &uobj->cg_obj, set);

	if (!count)
		return 0;
	return rdmacg_try_charge_set(&uobj->cg_obj.cg, &device->cg_device, set, count);
}

/*
 * Charge an object if its type alone determines the charge. Other objects are
 * charged later, when the attributes of the method are known.
 */
static int ib_rdmacg_charge_type(struct ib_uobject *uobj)
{
	uobj->cg_obj.type = min_t(u32, uobj_get_object_id(uobj), IB_RDMACG_DRIVER_OBJECT);
	if (ib_rdmacg_is_described(uobj))
		return 0;
	return ib_rdmacg_charge_uobject(uobj);
}

/**
 * ib_rdmacg_charge_idr_uobject() - charge an object with an id to the current
 *	process
 * @uobj: keeps the owner. The driver has not created the object yet
 *
 * The charge is one hca_object and one object of the type. If the charge
 * depends on attributes of the method, this function charges nothing, and
 * ib_rdmacg_charge_new_uobjects() charges the object later.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_idr_uobject(struct ib_uobject *uobj)
{
	uobj->cg_obj.is_idr = true;
	return ib_rdmacg_charge_type(uobj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_idr_uobject);

/**
 * ib_rdmacg_charge_fd_uobject() - charge an object with an fd to the current
 *	process
 * @uobj: keeps the owner. The object has no file yet
 *
 * The charge is one object of the type, because hca_object does not count
 * objects with an fd.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_fd_uobject(struct ib_uobject *uobj)
{
	return ib_rdmacg_charge_type(uobj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_fd_uobject);

/**
 * ib_rdmacg_uncharge_object() - return the charge of an object to its owner
 * @device: the object's device
 * @obj: the charge of the object, which may already be returned
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_object(struct ib_device *device, struct ib_rdmacg_object *obj)
{
	struct rdmacg_amount set[IB_RDMACG_MAX_SET];

	if (!obj->cg)
		return;
	rdmacg_uncharge_set(obj->cg, &device->cg_device, set,
			    ib_rdmacg_object_set(device, obj, set));
	obj->cg = NULL;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_object);

/**
 * ib_rdmacg_move_charge() - keep the charge of an object whose memory remains
 *	in use
 * @uobj: an object that its driver destroys or fails to create. The object is
 *	locked for writing, and is not charged afterwards
 * @to: gets the charge. It is in a struct to which the caller has a reference,
 *	such as a mapping. The last put of the struct calls
 *	ib_rdmacg_uncharge_object(), before the device is unregistered
 *
 * Context: Any context.
 */
void ib_rdmacg_move_charge(struct ib_uobject *uobj, struct ib_rdmacg_object *to)
{
	*to = uobj->cg_obj;
	uobj->cg_obj.cg = NULL;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_move_charge);

/**
 * ib_rdmacg_uncharge_uobject() - return the charges of an object to its owner
 * @uobj: an object that the driver has destroyed or never created, perhaps
 *	without a charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
	/*
	 * An object that was already destroyed has neither a charge nor a
	 * context.
	 */
	if (uobj->cg_obj.cg)
		ib_rdmacg_uncharge_object(uobj->context->device, &uobj->cg_obj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_uobject);

/*
 * Keep the charges on a device until the device is unregistered. A process may
 * be able to cause this message, so its rate is limited.
 */
void ib_rdmacg_keep(struct ib_device *device, unsigned int type)
{
	WRITE_ONCE(device->cg_device.keeps_charges, true);
	pr_warn_ratelimited("%s: the driver did not destroy an object (%s), which stays charged until the device is removed\n",
			    device->name, ib_rdmacg_type_name(type));
}

/**
 * ib_rdmacg_keep_uobject() - keep the charges of an object until its device is
 *	unregistered
 * @uobj: an object that the driver refuses to destroy at the end of its
 *	process. The object still occupies its place on the device, and the
 *	driver keeps the umem of its memory
 *
 * Context: Any context.
 */
void ib_rdmacg_keep_uobject(struct ib_uobject *uobj)
{
	ib_rdmacg_keep(uobj->context->device, uobj->cg_obj.type);
	uobj->cg_obj.cg = NULL;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_keep_uobject);

/**
 * ib_device_unregister_rdmacg() - unregister a device from the controller
 * @device: a device without contexts and objects of user space
 *
 * Context: Process context; may sleep.
 */
void ib_device_unregister_rdmacg(struct ib_device *device)
{
	rdmacg_unregister_device(&device->cg_device);
}
