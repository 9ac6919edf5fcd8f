// SPDX-License-Identifier: GPL-2.0-only
/* The devices of the running kernel, their resources, and the records of charges. */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/rculist_bl.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <rdma/uverbs_std_types.h>

#include "hook.h"
#include "parts.h"
#include "record.h"

static const struct {
	const char	*key;
	size_t		op;
} rdmacg_objects[] = {
#define RDMACG_TYPE(_type, _key, _op) \
	[UVERBS_OBJECT_##_type] = { _key, offsetof(struct ib_device_ops, _op) },
#include "types.h"
#undef RDMACG_TYPE
};
static_assert(ARRAY_SIZE(rdmacg_objects) <= RDMACG_DRIVER_OBJECT);

/* The attributes with the capacities. */
static const size_t rdmacg_attrs[RDMACG_TYPES] = {
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
	[RDMACG_MCAST]		= offsetof(struct ib_device_attr, max_total_mcast_qp_attach),
};

/* A device of the running kernel, from its registration until its last object is gone. */
struct rdmacg_module_device {
	struct rdmacg_target	*target;	/* Set once. */
	u64			types;		/* A bit for each resource. Set once. */
};

/* All devices by ib_device.index. */
static DEFINE_XARRAY(rdmacg_devices);

static bool rdmacg_has_op(const struct ib_device *device, size_t op)
{
	return *(void **)((void *)&device->ops + op);
}

static bool rdmacg_device_has(const struct ib_device *device, unsigned int type)
{
	switch (type) {
	case RDMACG_DRIVER_OBJECT:
		return device->driver_def;
	case RDMACG_MR_MEM:
		return rdmacg_has_op(device, rdmacg_objects[UVERBS_OBJECT_MR].op);
	case RDMACG_DM_MEM:
		return rdmacg_has_op(device, rdmacg_objects[UVERBS_OBJECT_DM].op);
	case RDMACG_MCAST:
		return device->ops.attach_mcast;
	}
	return type < ARRAY_SIZE(rdmacg_objects) && rdmacg_objects[type].key &&
	       rdmacg_has_op(device, rdmacg_objects[type].op);
}

static const char *rdmacg_type_key(unsigned int type)
{
	switch (type) {
	case RDMACG_DRIVER_OBJECT:
		return "driver_object";
	case RDMACG_MR_MEM:
		return "mr_mem";
	case RDMACG_DM_MEM:
		return "dm_mem";
	case RDMACG_MCAST:
		return "mcast";
	}
	return rdmacg_objects[type].key;
}

static u64 rdmacg_type_capacity(const struct ib_device *device, unsigned int type)
{
	if (type == RDMACG_DM_MEM)
		return device->attrs.max_dm_size;
	return rdmacg_attrs[type] ? *(u32 *)((void *)&device->attrs + rdmacg_attrs[type]) : 0;
}

static struct rdmacg_module_device *rdmacg_find_device(const struct ib_device *device)
{
	return xa_load(&rdmacg_devices, device->index);
}

/* Returns the device for the controller, or NULL if it has none. */
struct rdmacg_target *rdmacg_find_target(const struct ib_device *device)
{
	struct rdmacg_module_device *dev = rdmacg_find_device(device);

	return dev ? dev->target : NULL;
}

#define RDMACG_BITS 16

/*
 * The records by the address of what was charged. With a million objects, a bucket has 15. The
 * bit lock of a bucket guards its list.
 */
static struct hlist_bl_head *rdmacg_records;

static struct hlist_bl_head *rdmacg_bucket(const void *key)
{
	return &rdmacg_records[hash_ptr(key, RDMACG_BITS)];
}

/**
 * rdmacg_record_add() - keep a charge
 * @record: the charge
 * @key: the address of what was charged; it stays in use until the charge is taken
 *
 * Context: Any context except interrupts.
 */
void rdmacg_record_add(struct rdmacg_record *record, const void *key)
{
	struct hlist_bl_head *bucket = rdmacg_bucket(key);

	record->key = key;
	hlist_bl_lock(bucket);
	hlist_bl_add_head(&record->node, bucket);
	hlist_bl_unlock(bucket);
}

/* Returns a charge that was kept with this key, and forgets it, or NULL. */
struct rdmacg_record *rdmacg_record_take(const void *key)
{
	struct hlist_bl_head *bucket = rdmacg_bucket(key);
	struct rdmacg_record *record;
	struct hlist_bl_node *node;

	hlist_bl_lock(bucket);
	hlist_bl_for_each_entry(record, node, bucket, node) {
		if (record->key == key) {
			hlist_bl_del(&record->node);
			break;
		}
	}
	hlist_bl_unlock(bucket);
	return node ? record : NULL;
}

/* Return a charge; @record may be NULL. */
void rdmacg_record_return(struct rdmacg_record *record)
{
	if (!record)
		return;
	rdmacg_target_uncharge(record->target, &record->payment);
	kfree(record);
}

static void rdmacg_pay_for(const struct rdmacg_module_device *dev, struct rdmacg_payment *payment,
			   unsigned int type)
{
	if (dev->types & BIT_ULL(type))
		payment->slots[payment->count++] = hweight64(dev->types & (BIT_ULL(type) - 1));
}

/**
 * rdmacg_record_charge() - charge a resource
 * @device: a device
 * @css: the payer, to which the caller has a reference, or NULL for the current process
 * @type: the resource
 * @amount: the amount, or RDMACG_TARGET_ENDLESS
 *
 * Endless memory also stands for an endless number of MRs, because the driver creates the MRs of an
 * implicit MR by itself.
 *
 * Context: Process context; may sleep.
 * Return: the charge; NULL if the device does not count the resource; or an ERR_PTR() of -EAGAIN
 * at a limit, or of -ENOMEM.
 */
struct rdmacg_record *rdmacg_record_charge(struct ib_device *device,
					   struct cgroup_subsys_state *css,
					   unsigned int type, u64 amount)
{
	struct rdmacg_module_device *dev = rdmacg_find_device(device);
	struct rdmacg_payment payment = { .amount = amount };
	struct rdmacg_record *record;
	int ret;

	if (!dev)
		return NULL;
	rdmacg_pay_for(dev, &payment, type);
	if (type == RDMACG_MR_MEM && amount == RDMACG_TARGET_ENDLESS)
		rdmacg_pay_for(dev, &payment, UVERBS_OBJECT_MR);
	if (!payment.count)
		return NULL;
	record = kmalloc(sizeof(*record), GFP_KERNEL_ACCOUNT);
	if (!record)
		return ERR_PTR(-ENOMEM);
	record->target = dev->target;
	record->payment = payment;
	ret = rdmacg_target_charge(dev->target, &record->payment, css);
	if (!ret)
		return record;
	kfree(record);
	return ERR_PTR(ret);
}

static void rdmacg_device_remove(u32 index, struct rdmacg_module_device *dev)
{
	xa_erase(&rdmacg_devices, index);
	rdmacg_target_remove(dev->target);
	kfree(dev);
}

RDMACG_CALLED(unregister, void, struct ib_device *device);

/* The IB core calls this after it has destroyed all objects of users. */
static void rdmacg_hook_unregister(struct ib_device *device)
{
	struct rdmacg_module_device *dev;

	rdmacg_enter();
	dev = rdmacg_find_device(device);
	if (dev)
		rdmacg_device_remove(device->index, dev);
	rdmacg_call(unregister)(device);
	rdmacg_leave();
}

static int rdmacg_device_register(struct ib_device *device, struct rdmacg_module_device *dev)
{
	struct rdmacg_type types[RDMACG_TYPES];
	unsigned int type, count = 0;

	for (type = 0; type < RDMACG_TYPES; type++) {
		if (!rdmacg_device_has(device, type))
			continue;
		dev->types |= BIT_ULL(type);
		types[count].name = rdmacg_type_key(type);
		types[count++].capacity = rdmacg_type_capacity(device, type);
	}
	dev->target = rdmacg_target_add(dev_name(&device->dev), device->index,
					read_pnet(&device->coredev.rdma_net), types, count);
	return PTR_ERR_OR_ZERO(dev->target);
}

/* A device that moves to another network namespace is removed and added, but stays registered. */
static int rdmacg_client_add(struct ib_device *device)
{
	struct rdmacg_module_device *dev = rdmacg_find_device(device);
	int ret;

	if (dev) {
		rdmacg_target_resume_waiting(dev->target);
		return 0;
	}
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	ret = dev ? rdmacg_device_register(device, dev) : -ENOMEM;
	if (!ret) {
		ret = xa_err(xa_store(&rdmacg_devices, device->index, dev, GFP_KERNEL));
		if (ret)
			rdmacg_target_remove(dev->target);
	}
	if (ret) {
		pr_err("%s: the module does not limit this device: error %d\n",
		       dev_name(&device->dev), ret);
		kfree(dev);
		return 0;
	}
	rdmacg_target_resume_waiting(dev->target);
	return 0;
}

/*
 * Clients are removed in the reverse order of their registration, so uverbs comes later, and waits
 * for commands. It destroys objects, so the device is unregistered by rdmacg_hook_unregister().
 */
static void rdmacg_client_remove(struct ib_device *device, void *data)
{
	struct rdmacg_module_device *dev = rdmacg_find_device(device);

	if (dev)
		rdmacg_target_stop_waiting(dev->target);
}

static void rdmacg_client_rename(struct ib_device *device, void *data)
{
	struct rdmacg_module_device *dev = rdmacg_find_device(device);

	if (dev)
		rdmacg_target_rename(dev->target, dev_name(&device->dev));
}

static struct ib_client rdmacg_client = {
	.name	= "rdmacg",
	.add	= rdmacg_client_add,
	.remove	= rdmacg_client_remove,
	.rename	= rdmacg_client_rename,
};

static struct rdmacg_hook rdmacg_device_hooks[] = {
	{ "ib_device_unregister_rdmacg", "void(ib_device*)", rdmacg_hook_unregister },
};

int rdmacg_devices_init(void)
{
	if (!rdmacg_find_called(unregister, "ib_device_unregister_rdmacg"))
		return -ENOENT;
	rdmacg_records = kvcalloc(1 << RDMACG_BITS, sizeof(*rdmacg_records), GFP_KERNEL);
	if (!rdmacg_records)
		return -ENOMEM;
	return rdmacg_hooks_add(rdmacg_device_hooks, ARRAY_SIZE(rdmacg_device_hooks));
}

/* All hooks are on, so no object is created before its device is known. */
int rdmacg_devices_on(void)
{
	return ib_register_client(&rdmacg_client);
}

unsigned int rdmacg_devices_count(void)
{
	unsigned long index;
	unsigned int count = 0;
	void *dev;

	xa_for_each(&rdmacg_devices, index, dev)
		count++;
	return count;
}

/* Let waiting commands run, and forget devices that come later. */
void rdmacg_devices_stop(void)
{
	ib_unregister_client(&rdmacg_client);
}

/* No hook runs. Return the charges of objects that still exist, and unregister the devices. */
void rdmacg_devices_off(void)
{
	struct rdmacg_module_device *dev;
	struct rdmacg_record *record;
	struct hlist_bl_node *node, *next;
	unsigned long index;
	unsigned int i;

	for (i = 0; i < 1 << RDMACG_BITS; i++) {
		hlist_bl_for_each_entry_safe(record, node, next, &rdmacg_records[i], node) {
			hlist_bl_del(&record->node);
			rdmacg_record_return(record);
		}
		cond_resched();
	}
	xa_for_each(&rdmacg_devices, index, dev)
		rdmacg_device_remove(index, dev);
	xa_destroy(&rdmacg_devices);
}

void rdmacg_devices_exit(void)
{
	kvfree(rdmacg_records);
	rdmacg_records = NULL;
}
