// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IB core's part of the RDMA cgroup controller: the resources of each device, and the charges
 * for contexts, objects and memory of user space.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#define pr_fmt(fmt) "infiniband: rdma cgroup: " fmt

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/llist.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "core_priv.h"
#include "rdma_core.h"

/* Linux before 7.0 has no typed allocators, except from 6.12.117 on. */
#ifndef kmalloc_obj
#define kmalloc_obj(object, gfp) kmalloc(sizeof(object), gfp)
#endif

static const struct rdmacg_resource ib_rdmacg_hca_resources[RDMACG_RESOURCE_MAX] = {
	[RDMACG_RESOURCE_HCA_HANDLE] = {
		.name		= "hca_handle",
		.class		= RDMACG_CLASS_HCA,
		.capacity	= RDMACG_NO_LIMIT,
	},
	[RDMACG_RESOURCE_HCA_OBJECT] = {
		.name		= "hca_object",
		.class		= RDMACG_CLASS_HCA,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/*
 * The types of uverbs objects, in the order of enum uverbs_default_objects. A device has objects of
 * a type only if its struct ib_device_ops has an operation at offset @op.
 */
static const struct {
	const char	*name;
	size_t		op;
} ib_rdmacg_types[] = {
#include "cgroup_types.h"
};

/* After the types of objects, the verb class has these resources. */
enum {
	IB_RDMACG_DRIVER_OBJECT = ARRAY_SIZE(ib_rdmacg_types),
	IB_RDMACG_MR_MEM,
	IB_RDMACG_DM_MEM,
	IB_RDMACG_MCAST,
	IB_RDMACG_CM_ID,
	IB_RDMACG_TYPES,
};

/* The offset in struct ib_device_attr of the maximum number of objects of a type. */
static const size_t ib_rdmacg_attrs[IB_RDMACG_TYPES] = {
	[UVERBS_OBJECT_PD]	= offsetof(struct ib_device_attr, max_pd),
	[UVERBS_OBJECT_CQ]	= offsetof(struct ib_device_attr, max_cq),
	[UVERBS_OBJECT_QP]	= offsetof(struct ib_device_attr, max_qp),
	[UVERBS_OBJECT_SRQ]	= offsetof(struct ib_device_attr, max_srq),
	[UVERBS_OBJECT_AH]	= offsetof(struct ib_device_attr, max_ah),
	[UVERBS_OBJECT_MR]	= offsetof(struct ib_device_attr, max_mr),
	[UVERBS_OBJECT_MW]	= offsetof(struct ib_device_attr, max_mw),
	[UVERBS_OBJECT_WQ]	= offsetof(struct ib_device_attr, max_wq_type_rq),
	[UVERBS_OBJECT_RWQ_IND_TBL] = offsetof(struct ib_device_attr,
					       rss_caps.max_rwq_indirection_tables),
};

static u32 *ib_rdmacg_attr(struct ib_device_attr *attr, unsigned int type)
{
	return ib_rdmacg_attrs[type] ? (void *)attr + ib_rdmacg_attrs[type] : NULL;
}

static const char *ib_rdmacg_type_name(unsigned int type)
{
	if (type == IB_RDMACG_DRIVER_OBJECT)
		return "driver_object";
	if (type == IB_RDMACG_MR_MEM)
		return "mr_mem";
	if (type == IB_RDMACG_DM_MEM)
		return "dm_mem";
	if (type == IB_RDMACG_MCAST)
		return "mcast";
	if (type == IB_RDMACG_CM_ID)
		return "cm_id";
	return ib_rdmacg_types[type].name;
}

static bool ib_rdmacg_supports(const struct ib_device *device, unsigned int type)
{
	if (type == IB_RDMACG_DRIVER_OBJECT)
		return device->driver_def;
	if (type == IB_RDMACG_MR_MEM)
		type = UVERBS_OBJECT_MR;
	if (type == IB_RDMACG_DM_MEM)
		type = UVERBS_OBJECT_DM;
	if (type == IB_RDMACG_MCAST)
		return device->ops.attach_mcast;
	if (type == IB_RDMACG_CM_ID)
		return IS_ENABLED(CONFIG_INFINIBAND_ADDR_TRANS);
	if (!ib_rdmacg_types[type].name)
		return false;
	/* An @op of 0 means that the type needs no operation. Offset 0 is not an operation. */
	return !ib_rdmacg_types[type].op ||
	       *(void **)((void *)&device->ops + ib_rdmacg_types[type].op);
}

static u64 ib_rdmacg_capacity(struct ib_device *device, unsigned int type)
{
	const u32 *max = ib_rdmacg_attr(&device->attrs, type);
	u64 capacity = max ? *max : 0;

	if (type == IB_RDMACG_DM_MEM)
		capacity = device->attrs.max_dm_size;
	if (type == IB_RDMACG_MCAST)
		capacity = device->attrs.max_total_mcast_qp_attach;
	/* The attribute is 0 if the driver does not state a maximum. */
	return capacity ?: RDMACG_NO_LIMIT;
}

static struct rdmacg_resource ib_rdmacg_type_resource(struct ib_device *device,
						      unsigned int type)
{
	return (struct rdmacg_resource) {
		.name		= ib_rdmacg_type_name(type),
		.class		= RDMACG_CLASS_VERB,
		.capacity	= ib_rdmacg_capacity(device, type),
	};
}

/*
 * Returns whether all resources of the driver are in the hw class. Programs parse the files of the
 * other classes, so a driver must not add keys there.
 */
static bool ib_rdmacg_hw_is_valid(struct ib_device *device)
{
	unsigned int i;

	for (i = 0; i < device->cg_hw.count; i++) {
		if (device->cg_hw.resources[i].class == RDMACG_CLASS_HW)
			continue;
		pr_err("%s: refused a table of resources: number %u is not in the hw class\n",
		       device->name, i);
		return false;
	}
	return device->cg_hw.count;
}

/*
 * Fill @types with the resources that the device supports, and set their bits in @device->cg_types.
 */
static void ib_rdmacg_find_types(struct ib_device *device, struct rdmacg_resource *resources,
				 struct rdmacg_table *types)
{
	unsigned int type;

	BUILD_BUG_ON(BITS_PER_TYPE(device->cg_types) < IB_RDMACG_TYPES);
	for (type = 0; type < IB_RDMACG_TYPES; type++) {
		if (!ib_rdmacg_supports(device, type))
			continue;
		device->cg_types |= BIT_ULL(type);
		resources[types->count++] = ib_rdmacg_type_resource(device, type);
	}
}

/**
 * ib_device_register_rdmacg() - register a device with the controller
 * @device: a device that user space cannot access yet. Its operations and attributes are set
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if the controller has no free device number.
 */
int ib_device_register_rdmacg(struct ib_device *device)
{
	struct rdmacg_resource *types;
	struct rdmacg_table tables[RDMACG_CLASSES] = {
		[RDMACG_CLASS_HCA].resources = ib_rdmacg_hca_resources,
		[RDMACG_CLASS_HCA].count = ARRAY_SIZE(ib_rdmacg_hca_resources),
	};
	unsigned int count = 1;
	int ret;

	types = kcalloc(IB_RDMACG_TYPES, sizeof(*types), GFP_KERNEL);
	if (!types)
		return -ENOMEM;
	device->cg_types = 0;
	if (IS_ENABLED(CONFIG_CGROUP_RDMA_VERBS)) {
		tables[count].resources = types;
		ib_rdmacg_find_types(device, types, &tables[count++]);
		if (ib_rdmacg_hw_is_valid(device))
			tables[count++] = device->cg_hw;
	}

	device->cg_device.name = device->name;
	device->cg_device.index = device->index;
	device->cg_device.net = read_pnet(&device->coredev.rdma_net);
	device->cg_device.names_are_global = &ib_devices_shared_netns;
	ret = rdmacg_register_tables(&device->cg_device, tables, count);
	if (tables[RDMACG_CLASS_VERB].first_slot < 0)
		device->cg_types = 0;
	device->cg_hw.first_slot = tables[RDMACG_CLASS_HW].first_slot;
	kfree(types);
	return ret;
}

/**
 * ib_rdmacg_rename_device() - tell the controller the name and the namespace of a device
 * @device: a device that has been renamed, or moved to another network namespace
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_rename_device(struct ib_device *device)
{
	device->cg_device.net = read_pnet(&device->coredev.rdma_net);
	rdmacg_rename_device(&device->cg_device);
}

/**
 * ib_rdmacg_charge_ucontext() - charge one hca_handle to the current process
 * @ucontext: keeps the owner. The driver has not created the context yet. The function does nothing
 *	if the context is already charged
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
 * ib_rdmacg_uncharge_ucontext() - return the hca_handle of a context to its owner
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

/* Returns the slot of a type of the verb class on the device. */
static unsigned int ib_rdmacg_type_slot(const struct ib_device *device, unsigned int type)
{
	/*
	 * The table of the verb class follows the table of the hca class, and has only the
	 * supported types.
	 */
	return RDMACG_RESOURCE_MAX + hweight64(device->cg_types & (BIT_ULL(type) - 1));
}

static bool ib_rdmacg_counts_type(const struct ib_device *device, unsigned int type)
{
	return device->cg_types & BIT_ULL(type);
}

/* Append @amount to a set if it is not 0 and the device counts the type. Returns the new end. */
static struct rdmacg_amount *ib_rdmacg_add(struct rdmacg_amount *next,
					   const struct ib_device *device, unsigned int type,
					   u64 amount)
{
	if (amount && ib_rdmacg_counts_type(device, type))
		*next++ = (struct rdmacg_amount) { ib_rdmacg_type_slot(device, type), amount };
	return next;
}

/* The charges of an object are at most hca_object, its type and its device memory. */
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

static int ib_rdmacg_charge_uobject(struct ib_uobject *uobj)
{
	struct ib_device *device = uobj->context->device;
	struct rdmacg_amount set[IB_RDMACG_MAX_SET];
	unsigned int count = ib_rdmacg_object_set(device, &uobj->cg_obj, set);

	if (!count)
		return 0;
	return rdmacg_try_charge_set(&uobj->cg_obj.cg, &device->cg_device, set, count);
}

/*
 * No machine can pin this much memory, so this length and longer lengths are not counted. Such a
 * length stands for the whole address space, as in an implicit MR of on-demand paging, or the
 * driver refuses it. If such lengths were counted, an ancestor's counter would overflow, and
 * charges of other cgroups without limits would fail.
 */
#define IB_RDMACG_ENDLESS_LENGTH BIT_ULL(48)

static u64 ib_rdmacg_mem(u64 length)
{
	return length >= IB_RDMACG_ENDLESS_LENGTH ? RDMACG_ENDLESS : length;
}

/*
 * Charge whole pages of device memory, because a driver allocates whole pages for programs to map.
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

static const struct ib_rdmacg_object_def ib_rdmacg_dm_def = {
	UVERBS_OBJECT_DM, ib_rdmacg_describe_dm
};

/* Returns the definition of an object's type, or NULL if the charge depends only on the type. */
static const struct ib_rdmacg_object_def *ib_rdmacg_find_def(struct ib_uobject *uobj)
{
	const struct ib_rdmacg_object_def *def = uobj->context->device->cg_objects;
	u32 id = uobj_get_object_id(uobj);

	if (id == ib_rdmacg_dm_def.id)
		return &ib_rdmacg_dm_def;
	for (; def && def->describe; def++)
		if (def->id == id)
			return def;
	return NULL;
}

/*
 * Returns the type in the verb class. Types of the driver, and types that the device does not have,
 * count as driver_object.
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

	if (!def)
		return 0;
	ret = def->describe(attrs, &content);
	if (ret)
		return ret;
	uobj->cg_obj.type = ib_rdmacg_content_type(uobj->context->device, content.type);
	uobj->cg_obj.dm_mem = ib_rdmacg_mem(content.dm_mem);
	return ib_rdmacg_charge_uobject(uobj);
}

/**
 * ib_rdmacg_charge_new_uobjects() - charge the current process for new objects that the attributes
 *	of a method describe
 * @attrs: all attributes of the method, before the method runs
 * @uobjs: bits of the attributes that are objects
 *
 * Each object, its type and its device memory are charged together or not at all. The object keeps
 * the owner.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, -ENOMEM, or the error of an invalid attribute. The caller calls
 * ib_rdmacg_uncharge_uobject() for each of the objects after a failure.
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

/*
 * Charge an object if its type alone determines the charge. Other objects are charged later, when
 * the attributes of the method are known.
 */
static int ib_rdmacg_charge_type(struct ib_uobject *uobj)
{
	uobj->cg_obj.type = min_t(u32, uobj_get_object_id(uobj), IB_RDMACG_DRIVER_OBJECT);
	if (ib_rdmacg_find_def(uobj))
		return 0;
	return ib_rdmacg_charge_uobject(uobj);
}

/**
 * ib_rdmacg_charge_idr_uobject() - charge an object with an id to the current process
 * @uobj: keeps the owner. The driver has not created the object yet
 *
 * The charge is one hca_object and one object of the type. If the charge depends on attributes of
 * the method, this function charges nothing, and ib_rdmacg_charge_new_uobjects() charges the object
 * later.
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
 * ib_rdmacg_charge_fd_uobject() - charge an object with an fd to the current process
 * @uobj: keeps the owner. The object has no file yet
 *
 * The charge is one object of the type, because hca_object does not count objects with an fd.
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
 * ib_rdmacg_move_charge() - keep the charge of an object whose memory remains in use
 * @uobj: an object that its driver destroys, replaces or fails to create. The object is locked for
 *	writing, and is not charged afterwards
 * @to: gets the charge. It is in a struct to which the caller has a reference, such as a mapping.
 *	The last put of the struct calls ib_rdmacg_uncharge_object(), before the device is
 *	unregistered
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
 * @uobj: an object that the driver has destroyed or never created, perhaps without a charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
	/* An object that was already destroyed has neither a charge nor a context. */
	if (uobj->cg_obj.cg)
		ib_rdmacg_uncharge_object(uobj->context->device, &uobj->cg_obj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_uobject);

/* The charge of an object that its driver did not destroy. The uobject is freed. */
struct ib_rdmacg_kept {
	/* On device->cg_kept. */
	struct llist_node	node;
	/* Set once. */
	struct ib_rdmacg_object	obj;
};

/**
 * ib_rdmacg_keep_uobject() - keep the charges of an object until its device is unregistered
 * @uobj: an object that the driver refuses to destroy at the end of its
 *	process. The object still occupies its place on the device
 *
 * A process may be able to cause such refusals, so the rate of messages is
 * limited. The allocation does not fail, because nobody could pay otherwise.
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_keep_uobject(struct ib_uobject *uobj)
{
	struct ib_rdmacg_kept *kept;

	if (!uobj->cg_obj.cg)
		return;
	kept = kmalloc_obj(*kept, GFP_KERNEL | __GFP_NOFAIL);
	ib_rdmacg_move_charge(uobj, &kept->obj);
	llist_add(&kept->node, &uobj->context->device->cg_kept);
	pr_warn_ratelimited("%s: the driver did not destroy an object (%s), which stays charged until the device is removed\n",
			    uobj->context->device->name, ib_rdmacg_type_name(kept->obj.type));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_keep_uobject);

/* Return the charges of ib_rdmacg_keep_uobject(). No process uses the device any more. */
static void ib_rdmacg_uncharge_kept(struct ib_device *device)
{
	struct ib_rdmacg_kept *kept, *next;

	llist_for_each_entry_safe(kept, next, llist_del_all(&device->cg_kept), node) {
		ib_rdmacg_uncharge_object(device, &kept->obj);
		kfree(kept);
	}
}

/**
 * ib_device_unregister_rdmacg() - unregister a device from the controller
 * @device: a device without contexts and objects of user space
 *
 * Context: Process context; may sleep.
 */
void ib_device_unregister_rdmacg(struct ib_device *device)
{
	ib_rdmacg_uncharge_kept(device);
	rdmacg_unregister_device(&device->cg_device);
}

/**
 * ib_rdmacg_try_charge() - charge a context, or an object with an id, to the current process
 * @obj: the part of the context or object that keeps the owner
 * @device: its device
 * @index: RDMACG_RESOURCE_HCA_HANDLE for a context, RDMACG_RESOURCE_HCA_OBJECT for an object
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *obj, struct ib_device *device,
			 enum rdmacg_resource_type index)
{
	if (index == RDMACG_RESOURCE_HCA_HANDLE)
		return ib_rdmacg_charge_ucontext(container_of(obj, struct ib_ucontext, cg_obj));
	return ib_rdmacg_charge_idr_uobject(container_of(obj, struct ib_uobject, cg_obj));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_try_charge);

/**
 * ib_rdmacg_uncharge() - return the charge of a context, or of an object with an id, to its owner
 * @obj: see ib_rdmacg_try_charge(); perhaps without a charge
 * @device: see ib_rdmacg_try_charge()
 * @index: see ib_rdmacg_try_charge()
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge(struct ib_rdmacg_object *obj, struct ib_device *device,
			enum rdmacg_resource_type index)
{
	if (index == RDMACG_RESOURCE_HCA_HANDLE)
		ib_rdmacg_uncharge_ucontext(container_of(obj, struct ib_ucontext, cg_obj));
	else
		ib_rdmacg_uncharge_object(device, obj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge);

/*
 * Memory is charged by its bytes. An implicit ODP MR is charged for endless memory and for an
 * endless number of MRs, because the driver creates the child MRs without uverbs.
 */
#define IB_RDMACG_MEM_SET 2

/* Fill @set with the charges for @length bytes at @addr. Returns the number of charges. */
static unsigned int ib_rdmacg_mem_set(const struct ib_device *device, u64 addr, u64 length,
				      struct rdmacg_amount *set)
{
	u64 mem = ib_rdmacg_mem(length);
	struct rdmacg_amount *next = set;

	if (mem == RDMACG_ENDLESS)
		next = ib_rdmacg_add(next, device, UVERBS_OBJECT_MR, mem);
	else
		mem = PAGE_ALIGN(addr + length) - (addr & PAGE_MASK);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, mem);
	return next - set;
}

/**
 * ib_rdmacg_charge_mem() - charge the current process for memory that a device is about to access
 * @owner: set on success to the owner, or to NULL if memory is not counted
 * @device: a registered device
 * @addr: the first address of the memory
 * @length: the number of bytes, which is more than 0. A part of a page counts as a page. A length
 *	of 2^48 or more is refused if mr_mem or mr has a limit, and otherwise not counted
 *
 * Call this function before a page is pinned or mapped.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a successful charge to
 * ib_rdmacg_uncharge_mem() once, from any process.
 */
int ib_rdmacg_charge_mem(struct rdma_cgroup **owner, struct ib_device *device, u64 addr,
			 u64 length)
{
	struct rdmacg_amount set[IB_RDMACG_MEM_SET];
	unsigned int count = ib_rdmacg_mem_set(device, addr, length, set);

	*owner = NULL;
	return count ? rdmacg_try_charge_set(owner, &device->cg_device, set, count) : 0;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_mem);

/**
 * ib_rdmacg_uncharge_mem() - return the charge for memory that a device no longer accesses
 * @owner: the owner from ib_rdmacg_charge_mem(), perhaps NULL
 * @device: the device of the charge, still registered
 * @addr: the address of the charge
 * @length: the length of the charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_mem(struct rdma_cgroup *owner, struct ib_device *device, u64 addr,
			    u64 length)
{
	struct rdmacg_amount set[IB_RDMACG_MEM_SET];

	if (owner)
		rdmacg_uncharge_set(owner, &device->cg_device, set,
				    ib_rdmacg_mem_set(device, addr, length, set));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_mem);

/*
 * Returns the length to charge. An on-demand umem is endless if it covers the whole address space,
 * or if kvcalloc() never allocates its array of page numbers. RLIMIT_MEMLOCK does not stop such a
 * umem before the charge, so a finite charge would remain as an absurd peak.
 */
static u64 ib_rdmacg_umem_length(struct ib_umem *umem)
{
	u64 longest = INT_MAX / sizeof(unsigned long) * PAGE_SIZE;

	if (umem->is_odp && (to_ib_umem_odp(umem)->is_implicit_odp || umem->length > longest))
		return U64_MAX;
	return umem->length;
}

/**
 * ib_rdmacg_charge_umem() - charge the current process for the memory of a umem
 * @umem: a umem that is not charged yet. It keeps the owner. Its device, address and length are set
 *
 * The charge does not depend on ib_umem_num_pages(), because drivers change the address that
 * ib_umem_num_pages() uses.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_umem(struct ib_umem *umem)
{
	return ib_rdmacg_charge_mem(&umem->cg, umem->ibdev, umem->address,
				    ib_rdmacg_umem_length(umem));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_umem);

/**
 * ib_rdmacg_uncharge_umem() - return the charge of a umem
 * @umem: a umem whose memory the device no longer accesses. It may have no charge, for example if
 *	it is a child of an implicit umem
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_umem(struct ib_umem *umem)
{
	ib_rdmacg_uncharge_mem(umem->cg, umem->ibdev, umem->address,
			       ib_rdmacg_umem_length(umem));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_umem);

/*
 * Returns the limit of the current process for a type, or RDMACG_NO_LIMIT if the type is not
 * counted.
 */
static u64 ib_rdmacg_type_limit(struct ib_device *device, unsigned int type)
{
	if (!ib_rdmacg_counts_type(device, type))
		return RDMACG_NO_LIMIT;
	return rdmacg_current_limit(&device->cg_device, ib_rdmacg_type_slot(device, type));
}

/*
 * Returns whether a query may report attributes below those of the device. The listed drivers have
 * a provider in rdma-core that does not size, mask or index anything by these attributes. The
 * sources of each provider were read in rdma-core 15, 22, 29, 35, 44, 50, 56 and 65, and the
 * machine code in Debian's 44.0. cxgb4 and efa are not in the list, because their providers
 * allocate tables with max_mr and max_qp entries. The indexes come from the whole device, so a
 * program would write beyond a smaller table. Drivers without a provider in rdma-core are not in
 * the list. The provider of ionic and those of vendors were not read.
 */
static bool ib_rdmacg_may_limit_attr(const struct ib_device *device)
{
	switch (device->ops.driver_id) {
	case RDMA_DRIVER_BNXT_RE:
	case RDMA_DRIVER_ERDMA:
	case RDMA_DRIVER_HFI1:
	case RDMA_DRIVER_HNS:
	case RDMA_DRIVER_IRDMA:
	case RDMA_DRIVER_MANA:
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_MTHCA:
	case RDMA_DRIVER_OCRDMA:
	case RDMA_DRIVER_QEDR:
	case RDMA_DRIVER_QIB:
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
	case RDMA_DRIVER_VMW_PVRDMA:
		return true;
	default:
		return false;
	}
}

/**
 * ib_rdmacg_limit_attr() - lower the capabilities of a device to the limits of the current process
 * @device: the device. The function does nothing if the device's provider in user space may depend
 *	on the values
 * @attr: a copy of its attributes, for user space
 *
 * Context: Process context.
 */
void ib_rdmacg_limit_attr(struct ib_device *device, struct ib_device_attr *attr)
{
	unsigned int type;
	u64 objects, limit;
	u32 *max;

	if (!ib_rdmacg_may_limit_attr(device))
		return;
	objects = rdmacg_current_limit(&device->cg_device, RDMACG_RESOURCE_HCA_OBJECT);
	for (type = 0; type < IB_RDMACG_TYPES; type++) {
		max = ib_rdmacg_attr(attr, type);
		if (!max)
			continue;
		limit = min(objects, ib_rdmacg_type_limit(device, type));
		/* A maximum of 0 address handles would mean "not stated" to programs. */
		if (limit || type != UVERBS_OBJECT_AH)
			*max = min(*max, limit);
	}
}
EXPORT_SYMBOL_GPL(ib_rdmacg_limit_attr);

/**
 * ib_rdmacg_cm_id_slot() - get the slot of identifiers of the connection manager
 * @device: a registered device
 *
 * Context: Any context.
 * Return: the slot on @device, or -ENOENT if identifiers are not counted.
 */
int ib_rdmacg_cm_id_slot(const struct ib_device *device)
{
	if (!ib_rdmacg_counts_type(device, IB_RDMACG_CM_ID))
		return -ENOENT;
	return ib_rdmacg_type_slot(device, IB_RDMACG_CM_ID);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_cm_id_slot);

/**
 * ib_rdmacg_charge_mcast() - charge an attachment to a multicast group to the current process
 * @owner: set on success to the owner, or to NULL if attachments are not counted
 * @device: a registered device
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a successful charge to
 * ib_rdmacg_uncharge_mcast() once, from any process.
 */
int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device)
{
	*owner = NULL;
	if (!ib_rdmacg_counts_type(device, IB_RDMACG_MCAST))
		return 0;
	return rdmacg_try_charge(owner, &device->cg_device,
				 ib_rdmacg_type_slot(device, IB_RDMACG_MCAST));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_mcast);

/**
 * ib_rdmacg_uncharge_mcast() - return the charge for an attachment to a multicast group
 * @owner: the owner from ib_rdmacg_charge_mcast(), perhaps NULL
 * @device: the same device, still registered
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner, struct ib_device *device)
{
	if (owner)
		rdmacg_uncharge(owner, &device->cg_device,
				ib_rdmacg_type_slot(device, IB_RDMACG_MCAST));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_mcast);

/**
 * ib_rdmacg_set_hw_resources() - declare the resources of a driver
 * @device: a device that is not registered yet
 * @resources: the resources, all of RDMACG_CLASS_HW. They must exist until ib_register_device()
 *	returns
 * @count: the number of resources
 *
 * The resources are not charged if the kernel has no hw class, or if the controller refuses them
 * with an error in the log.
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
 * ib_rdmacg_set_object_defs() - declare the objects of a driver that are charged by their
 *	attributes
 * @device: a device that is not registered yet
 * @defs: the definitions, which end with an empty entry. They must exist as long as the device is
 *	registered
 *
 * Context: Any context.
 */
void ib_rdmacg_set_object_defs(struct ib_device *device,
			       const struct ib_rdmacg_object_def *defs)
{
	device->cg_objects = defs;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_set_object_defs);

/**
 * ib_rdmacg_try_charge_hw() - charge a resource of a driver to the current process
 * @owner: set on success to the cgroup of the current process, or to NULL if the resource is
 *	not counted
 * @device: a registered device
 * @resource: the index in the table of ib_rdmacg_set_hw_resources()
 * @amount: the amount, more than 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a successful charge to
 * ib_rdmacg_uncharge_hw() once, from any process.
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
 * ib_rdmacg_uncharge_hw() - return the charge for a resource of a driver
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
 * ib_rdmacg_try_charge_ucontext_hw() - charge a resource of a driver to the owner of a context
 * @ucontext: a context, perhaps still in creation
 * @resource: the index in the table of ib_rdmacg_set_hw_resources()
 * @amount: the amount, perhaps 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The driver returns a successful charge by
 * ib_rdmacg_uncharge_ucontext_hw() before the context is destroyed.
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
 * ib_rdmacg_uncharge_ucontext_hw() - return a charge of ib_rdmacg_try_charge_ucontext_hw()
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

/* The number of fields of struct ib_rdmacg_objects. */
#define IB_RDMACG_OBJECT_KINDS 8

static struct rdmacg_amount *ib_rdmacg_add_hca(struct rdmacg_amount *next, unsigned int slot,
					       u64 amount)
{
	if (amount)
		*next++ = (struct rdmacg_amount) { slot, amount };
	return next;
}

/* Fill @set with the objects that the device counts. Returns the number of amounts in @set. */
static unsigned int ib_rdmacg_objects_set(const struct ib_device *device,
					  const struct ib_rdmacg_objects *objects,
					  struct rdmacg_amount *set)
{
	struct rdmacg_amount *next = set;

	next = ib_rdmacg_add_hca(next, RDMACG_RESOURCE_HCA_HANDLE, objects->hca_handle);
	next = ib_rdmacg_add_hca(next, RDMACG_RESOURCE_HCA_OBJECT, objects->hca_object);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_PD, objects->pd);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_CQ, objects->cq);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_QP, objects->qp);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_SRQ, objects->srq);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_MR, objects->mr);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, ib_rdmacg_mem(objects->mr_mem));
	return next - set;
}

/**
 * ib_rdmacg_try_charge_objects() - charge a cgroup for objects that a ULP is about to create
 * @cg: the cgroup, for example from rdmacg_get_current(). The caller keeps its reference. The
 *	function charges nothing and succeeds if @cg is NULL
 * @device: a device of the ULP's ib_client, until the client's remove() returns
 * @objects: the objects
 *
 * All of @objects are charged, or none. Objects that the device does not count are not charged. The
 * ULP calls this function before the driver creates the objects. The ULP later returns a successful
 * charge by ib_rdmacg_uncharge_objects() with the same arguments. The charge holds a reference to
 * @cg until then.
 *
 * Context: Process context, perhaps of a kernel thread; may sleep. Allocates with
 * GFP_KERNEL_ACCOUNT.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_try_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				 const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (!cg || !count)
		return 0;
	return rdmacg_try_charge_cgroup(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_try_charge_objects);

/**
 * ib_rdmacg_charge_objects() - charge a cgroup for objects, even above a limit
 * @cg: see ib_rdmacg_try_charge_objects()
 * @device: see ib_rdmacg_try_charge_objects()
 * @objects: see ib_rdmacg_try_charge_objects()
 *
 * Use this only if a refusal would break a connection in use. The events are those of
 * rdmacg_charge().
 *
 * Context: Process context, perhaps of a kernel thread; may sleep.
 */
void ib_rdmacg_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
			      const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (cg && count)
		rdmacg_charge(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_objects);

/**
 * ib_rdmacg_uncharge_objects() - return a charge of a ULP
 * @cg: the same cgroup, perhaps NULL
 * @device: the same device, still registered
 * @objects: the same objects
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (cg && count)
		rdmacg_uncharge_set(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_objects);

/**
 * ib_rdmacg_current_is_limited() - check whether the current process has a limit that a ULP without
 *	charges would bypass
 * @device: a registered device
 *
 * Context: Process context.
 * Return: true if the cgroup of the process, or an ancestor, has a limit of qp, mr or mr_mem.
 */
bool ib_rdmacg_current_is_limited(struct ib_device *device)
{
	return ib_rdmacg_type_limit(device, UVERBS_OBJECT_QP) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, UVERBS_OBJECT_MR) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, IB_RDMACG_MR_MEM) != RDMACG_NO_LIMIT;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_current_is_limited);
