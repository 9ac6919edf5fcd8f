// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IB core's side of the RDMA cgroup controller: which devices take part with
 * which resources, and which cgroup pays for each context, object and memory region
 * of user space.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#define pr_fmt(fmt) "infiniband: rdma cgroup: " fmt

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "core_priv.h"
#include "rdma_core.h"

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

/*
 * The types of uverbs objects, by enum uverbs_default_objects. A device that lacks
 * the operation at offset @op of its struct ib_device_ops has none of that type.
 */
static const struct {
	const char	*name;
	size_t		op;
} ib_rdmacg_types[] = {
#include "cgroup_types.h"
};

/* What the verb class counts: objects by type, and these. */
enum {
	IB_RDMACG_DRIVER_OBJECT = ARRAY_SIZE(ib_rdmacg_types),
	IB_RDMACG_MR_MEM,
	IB_RDMACG_DM_MEM,
	IB_RDMACG_MCAST,
	IB_RDMACG_CM_ID,
	IB_RDMACG_TYPES,
};

/* Where struct ib_device_attr says how many objects of a type there can be. */
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
	/* 0 is the offset of the owner, which is no operation. */
	return !ib_rdmacg_types[type].op ||
	       *(void **)((void *)&device->ops + ib_rdmacg_types[type].op);
}

static bool ib_rdmacg_is_memory(unsigned int type)
{
	return type == IB_RDMACG_MR_MEM || type == IB_RDMACG_DM_MEM;
}

static u64 ib_rdmacg_capacity(struct ib_device *device, unsigned int type)
{
	const u32 *max = ib_rdmacg_attr(&device->attrs, type);
	u64 capacity = max ? *max : 0;

	if (type == IB_RDMACG_DM_MEM)
		capacity = device->attrs.max_dm_size;
	if (type == IB_RDMACG_MCAST)
		capacity = device->attrs.max_total_mcast_qp_attach;
	/* Drivers leave at 0 what they do not state. */
	return capacity ?: RDMACG_NO_LIMIT;
}

static struct rdmacg_resource ib_rdmacg_type_resource(struct ib_device *device,
						      unsigned int type)
{
	return (struct rdmacg_resource) {
		.name		= ib_rdmacg_type_name(type),
		.class		= RDMACG_CLASS_VERB,
		.unit		= ib_rdmacg_is_memory(type) ? RDMACG_BYTES : RDMACG_OBJECTS,
		.capacity	= ib_rdmacg_capacity(device, type),
	};
}

/* A resource of another class would appear in files that programs parse. */
static bool ib_rdmacg_hw_is_valid(struct ib_device *device)
{
	unsigned int i;

	for (i = 0; i < device->cg_hw.count; i++) {
		if (device->cg_hw.resources[i].class == RDMACG_CLASS_HW)
			continue;
		pr_err("%s: refused a table of resources, for number %u is not of the hw class\n",
		       device->name, i);
		return false;
	}
	return device->cg_hw.count;
}

/* Fill @types with what the device supports; the bits of @device->cg_types say what. */
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
 * ib_rdmacg_register_device() - let the controller account a device
 * @device: a device that user space cannot reach yet, with its operations and
 *	attributes
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if no number is left for a device.
 */
int ib_rdmacg_register_device(struct ib_device *device)
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
	ret = rdmacg_register_device(&device->cg_device, tables, count);
	if (tables[RDMACG_CLASS_VERB].first_slot < 0)
		device->cg_types = 0;
	device->cg_hw.first_slot = tables[RDMACG_CLASS_HW].first_slot;
	kfree(types);
	return ret;
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
 * @ucontext: the context that the driver is about to make; it keeps the owner. One that
 *	is charged already is left alone.
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
 * ib_rdmacg_uncharge_ucontext() - give a context's hca_handle back to its owner
 * @ucontext: a context; one that is not charged, or no longer, is left alone
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

/* The slot of something that the verb class counts on the device. */
static unsigned int ib_rdmacg_type_slot(const struct ib_device *device, unsigned int type)
{
	/* The table follows that of the hca class, without what is not supported. */
	return RDMACG_RESOURCE_MAX + hweight64(device->cg_types & (BIT_ULL(type) - 1));
}

static bool ib_rdmacg_counts_type(const struct ib_device *device, unsigned int type)
{
	return device->cg_types & BIT_ULL(type);
}

/* Add an amount to a set, unless it is 0 or the device does not count the type. */
static struct rdmacg_amount *ib_rdmacg_add(struct rdmacg_amount *next,
					   const struct ib_device *device, unsigned int type,
					   u64 amount)
{
	if (amount && ib_rdmacg_counts_type(device, type))
		*next++ = (struct rdmacg_amount) { ib_rdmacg_type_slot(device, type), amount };
	return next;
}

/* One object with an id, one of its type, and device memory. */
#define IB_RDMACG_MAX_SET 3

/* Fill @set with all that is charged for the object. Returns the number of charges. */
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
 * From this length on, memory counts as endless. No machine can pin that much: the user means
 * the whole address space, as an implicit MR of on-demand paging does, or the driver will
 * refuse. If such lengths were counted until then, those of many calls at once would fill
 * the counter and refuse a neighbour who has no limit.
 */
#define IB_RDMACG_ENDLESS_LENGTH BIT_ULL(48)

static u64 ib_rdmacg_mem(u64 length)
{
	return length >= IB_RDMACG_ENDLESS_LENGTH ? RDMACG_ENDLESS : length;
}

/* Programs map device memory, so that a driver gives away no less than a page. */
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

/* Who says what the object is, or NULL if its type does. */
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

/* A type of the driver's own, or one that the device does not have, is a driver_object. */
static unsigned int ib_rdmacg_content_type(const struct ib_device *device, u32 type)
{
	if (type < IB_RDMACG_DRIVER_OBJECT && ib_rdmacg_counts_type(device, type))
		return type;
	return IB_RDMACG_DRIVER_OBJECT;
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
 * ib_rdmacg_charge_new_uobjects() - charge what a method is about to make and only its
 *	attributes tell, to the current process
 * @attrs: the method's attributes, complete, before the method runs
 * @uobjs: which of them are objects
 *
 * Object, type and device memory are one charge, and the objects keep the owner.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, -ENOMEM, or what says that an attribute is invalid; after
 * a failure, ib_rdmacg_uncharge_uobject() is to be called for each of the objects.
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

/* Charge an object whose type tells what it is; the others are charged later. */
static int ib_rdmacg_charge_type(struct ib_uobject *uobj)
{
	uobj->cg_obj.type = min_t(u32, uobj_get_object_id(uobj), IB_RDMACG_DRIVER_OBJECT);
	if (ib_rdmacg_find_def(uobj))
		return 0;
	return ib_rdmacg_charge_uobject(uobj);
}

/**
 * ib_rdmacg_charge_idr_uobject() - charge an object with an id to the current process
 * @uobj: an object that the driver has not made yet; it keeps the owner
 *
 * That is one hca_object and one of its type. An object of which only the method's
 * attributes tell what it is, is left to ib_rdmacg_charge_new_uobjects().
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
 * @uobj: an object that has not been made yet; it keeps the owner
 *
 * That is one of its type: hca_object never counted these.
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
 * ib_rdmacg_uncharge_object() - give back what an object was charged for
 * @device: the object's device
 * @obj: what the object was charged for; one that is not charged, or no longer, is left alone
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
 * ib_rdmacg_move_charge() - keep charged what an object that goes leaves behind
 * @uobj: an object, locked for writing, that its driver destroys, replaces or does not make
 *	after all; is not charged afterwards
 * @to: of what stays, such as what a program has mapped, to which the caller has a reference;
 *	forgets what it held. Who puts the last reference calls ib_rdmacg_uncharge_object(),
 *	before the device is unregistered
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
 * ib_rdmacg_uncharge_uobject() - give an object's charges back to its owner
 * @uobj: an object that the driver has destroyed or never made; one that is not
 *	charged, or no longer, is left alone
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
	ib_rdmacg_uncharge_object(uobj->context->device, &uobj->cg_obj);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_uobject);

/* One for memory, and one for the MRs that an endless length makes without uverbs. */
#define IB_RDMACG_MEM_SET 2

/* Fill @set with what @length at @addr is charged. Returns the number of charges. */
static unsigned int ib_rdmacg_mem_set(const struct ib_device *device, u64 addr, u64 length,
				      struct rdmacg_amount *set)
{
	u64 mem = ib_rdmacg_mem(length);
	struct rdmacg_amount *next = set;

	if (mem != RDMACG_ENDLESS)
		mem = PAGE_ALIGN(addr + length) - (addr & PAGE_MASK);
	if (mem == RDMACG_ENDLESS)
		next = ib_rdmacg_add(next, device, UVERBS_OBJECT_MR, mem);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, mem);
	return next - set;
}

/**
 * ib_rdmacg_charge_mem() - charge memory that a device is about to reach to the current
 *	process
 * @owner: set on success to who pays, or to NULL where memory is not counted
 * @device: a registered device
 * @addr: where the memory begins
 * @length: in bytes, more than 0; each page of it counts whole. From 2^48 on it is not
 *	counted, and refused where mr_mem or mr has a limit
 *
 * To be called after all checks, and before the first page is pinned.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After success @owner is to be handed to
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
 * ib_rdmacg_uncharge_mem() - give memory back that a device no longer reaches
 * @owner: what ib_rdmacg_charge_mem() has set, NULL included
 * @device: the same device, still registered
 * @addr: the same
 * @length: the same
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

/* An implicit umem of on-demand paging is the whole address space. */
static u64 ib_rdmacg_umem_length(struct ib_umem *umem)
{
	return umem->is_odp && to_ib_umem_odp(umem)->is_implicit_odp ? U64_MAX : umem->length;
}

/**
 * ib_rdmacg_charge_umem() - the same for a umem, which keeps who pays
 * @umem: a umem with its device, address and length, not charged yet
 *
 * By the address and not by ib_umem_num_pages(), whose base drivers change meanwhile.
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
 * ib_rdmacg_uncharge_umem() - give back what a umem was charged
 * @umem: a umem whose memory the device no longer reaches; one that is not charged, as the
 *	children of an implicit one are not, is left alone
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_umem(struct ib_umem *umem)
{
	ib_rdmacg_uncharge_mem(umem->cg, umem->ibdev, umem->address,
			       ib_rdmacg_umem_length(umem));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_umem);

/* The limit that binds the current process; none for what is not counted. */
static u64 ib_rdmacg_type_limit(struct ib_device *device, unsigned int type)
{
	if (!ib_rdmacg_counts_type(device, type))
		return RDMACG_NO_LIMIT;
	return rdmacg_current_limit(&device->cg_device, ib_rdmacg_type_slot(device, type));
}

/*
 * Drivers whose provider in rdma-core does not size, mask or index anything by the attributes
 * that are lowered. Read were the sources of each in rdma-core 15, 22, 29, 35, 44, 50, 56 and
 * 65, and the machine code of Debian's 44.0. Not here: cxgb4, whose table of MRs has max_mr
 * entries, and efa, whose table of QPs has max_qp, both for numbers of the whole device, so that
 * a smaller answer would make the program write elsewhere; and what has no provider in these.
 * A vendor's own provider for one of these drivers was not read.
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
 * ib_rdmacg_limit_attr() - lower a device's capabilities to the current process's limits
 * @device: the device; where its provider in user space is not known to bear that,
 *	nothing is lowered
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
		limit = min(objects, ib_rdmacg_type_limit(device, type));
		/* No address handles would read as "not stated". */
		if (max && (limit || type != UVERBS_OBJECT_AH))
			*max = min(*max, limit);
	}
}
EXPORT_SYMBOL_GPL(ib_rdmacg_limit_attr);

/**
 * ib_rdmacg_cm_id_slot() - which resource counts identifiers of the connection manager
 * @device: a registered device
 *
 * Context: Any context.
 * Return: its number on @device, or -ENOENT where they are not counted.
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
 * @owner: set on success to who pays, or to NULL where attachments are not counted
 * @device: a registered device
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After success @owner is to be handed to
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
 * ib_rdmacg_uncharge_mcast() - give an attachment to a multicast group back
 * @owner: what ib_rdmacg_charge_mcast() has set, NULL included
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
 * ib_rdmacg_try_charge_hw() - charge one of a driver's own resources
 * @owner: set on success to the cgroup of the current process, or to NULL where the
 *	resource is not counted
 * @device: a registered device
 * @resource: its place in the table of ib_rdmacg_set_hw_resources()
 * @amount: how much, more than 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After success @owner is to be handed to
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
 * ib_rdmacg_uncharge_hw() - give one of a driver's own resources back
 * @owner: what ib_rdmacg_try_charge_hw() has set, NULL included
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
 * ib_rdmacg_try_charge_ucontext_hw() - charge what a context has of a driver's own resources
 * @ucontext: a context, perhaps one that the driver is making; who pays for it pays
 * @resource: its place in the table of ib_rdmacg_set_hw_resources()
 * @amount: how much, 0 included
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After success the driver calls
 * ib_rdmacg_uncharge_ucontext_hw() before the context is gone.
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
 * ib_rdmacg_uncharge_ucontext_hw() - give back what one such charge took
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

/* As many kinds as struct ib_rdmacg_objects has. */
#define IB_RDMACG_OBJECT_KINDS 6

/* Fill @set with what the device counts of @objects. Returns the number of charges. */
static unsigned int ib_rdmacg_objects_set(const struct ib_device *device,
					  const struct ib_rdmacg_objects *objects,
					  struct rdmacg_amount *set)
{
	struct rdmacg_amount *next = set;

	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_PD, objects->pd);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_CQ, objects->cq);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_QP, objects->qp);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_SRQ, objects->srq);
	next = ib_rdmacg_add(next, device, UVERBS_OBJECT_MR, objects->mr);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, ib_rdmacg_mem(objects->mr_mem));
	return next - set;
}

/**
 * ib_rdmacg_try_charge_objects() - charge what a ULP is about to make to a cgroup
 * @cg: the cgroup that pays, such as rdmacg_get_current() returned; the caller's reference
 *	stays the caller's. NULL charges nobody, and succeeds
 * @device: a device that the ULP's ib_client has, also while that removes it
 * @objects: how many of what
 *
 * All of @objects are charged or nothing, and nothing else: hca_object is for objects with
 * an id in user space. Those that the device does not count are free. To be called before
 * the driver makes the objects. After success the ULP calls ib_rdmacg_uncharge_objects() with
 * the same arguments, and until then @cg is pinned.
 *
 * Context: Process context, perhaps of a kernel thread; may sleep.
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
 * ib_rdmacg_charge_objects() - the same, above a limit if need be
 * @cg: see ib_rdmacg_try_charge_objects()
 * @device: the same
 * @objects: the same
 *
 * For objects without which the ULP would fail others than @cg. An excess counts in the
 * events of whose limit it is above.
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
 * ib_rdmacg_uncharge_objects() - give back what one charge of a ULP took
 * @cg: the cgroup that has paid; NULL, if that was charged
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
 * ib_rdmacg_current_is_limited() - whether an ancestor or the current process's cgroup has
 *	a limit that a ULP would lead past
 * @device: a registered device
 *
 * Context: Process context.
 * Return: true if there is a limit of qp, mr or mr_mem.
 */
bool ib_rdmacg_current_is_limited(struct ib_device *device)
{
	return ib_rdmacg_type_limit(device, UVERBS_OBJECT_QP) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, UVERBS_OBJECT_MR) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, IB_RDMACG_MR_MEM) != RDMACG_NO_LIMIT;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_current_is_limited);
