// SPDX-License-Identifier: GPL-2.0-only
/* The running kernel's devices, their resources, and the records of charges. */
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
#include "record.h"

/* The resources, as in drivers/infiniband/core/cgroup_device.c. */
static const struct {
	const char	*key;
	size_t		has;	/* A pointer in the device; NULL if it has no such resource. */
	size_t		max;	/* The attribute with the capacity, or 0. */
} rdmacg_types[RDMACG_TYPES] = {
#define RDMACG_HAS(_pointer) offsetof(struct ib_device, _pointer)
#define RDMACG_MAX(_attr) offsetof(struct ib_device_attr, _attr)
#define RDMACG_OBJECT(_id, ...) \
	[UVERBS_OBJECT_##_id] = { __VA_ARGS__ },
#define RDMACG_VERB(_id, ...) \
	[RDMACG_##_id] = { __VA_ARGS__ },
#include <linux/cgroup_rdma_verbs.h>
};

/* All devices by ib_device.index. */
static DEFINE_XARRAY(rdmacg_devices);

static bool rdmacg_device_has(const struct ib_device *device, unsigned int type)
{
	size_t has = rdmacg_types[type].has;

	return rdmacg_types[type].key && type != RDMACG_CM_ID &&
	       (!has || *(void **)((void *)device + has));
}

static u64 rdmacg_type_capacity(const struct ib_device *device, unsigned int type)
{
	const void *max = (void *)&device->attrs + rdmacg_types[type].max;

	if (type == RDMACG_DM_MEM)
		return device->attrs.max_dm_size;
	return rdmacg_types[type].max ? *(u32 *)max : 0;
}

/* Returns the device for the controller, or NULL if it has none. */
struct rdmacg_target *rdmacg_find_target(const struct ib_device *device)
{
	return xa_load(&rdmacg_devices, device->index);
}

#define RDMACG_BITS 16

/*
 * The records by the address of what was charged. With a million objects, a
 * bucket has 15. The bit lock of a bucket guards its list.
 */
static struct hlist_bl_head *rdmacg_records;

static struct hlist_bl_head *rdmacg_bucket(const void *key)
{
	return &rdmacg_records[hash_ptr(key, RDMACG_BITS)];
}

/*
 * A few free records, which only one processor uses: if a program creates and
 * destroys objects in turn, nothing is allocated or charged to a memory cgroup.
 */
struct rdmacg_stash {
	unsigned int		count;
	struct rdmacg_record	*records[8];
};

static DEFINE_PER_CPU(struct rdmacg_stash, rdmacg_stashes);

static struct rdmacg_record *rdmacg_record_alloc(void)
{
	struct rdmacg_stash *stash = get_cpu_ptr(&rdmacg_stashes);
	struct rdmacg_record *record = stash->count ? stash->records[--stash->count] : NULL;

	put_cpu_ptr(&rdmacg_stashes);
	return record ?: kmalloc(sizeof(*record), GFP_KERNEL_ACCOUNT);
}

static void rdmacg_record_free(struct rdmacg_record *record)
{
	struct rdmacg_stash *stash = get_cpu_ptr(&rdmacg_stashes);

	if (stash->count < ARRAY_SIZE(stash->records)) {
		stash->records[stash->count++] = record;
		record = NULL;
	}
	put_cpu_ptr(&rdmacg_stashes);
	kfree(record);
}

/* Return a charge; @record may be NULL. */
void rdmacg_record_return(struct rdmacg_record *record)
{
	if (!record)
		return;
	rdmacg_uncharge_set(record->owner, &record->target->device, record->set, record->count);
	rdmacg_record_free(record);
}

/*
 * Keep a charge by @key, the address of what was charged, which stays in use
 * until the charge is taken. If @key is NULL or an error, return the charge.
 * @record may be NULL or an error.
 */
void rdmacg_record_keep(struct rdmacg_record *record, const void *key)
{
	struct hlist_bl_head *bucket = rdmacg_bucket(key);

	if (IS_ERR_OR_NULL(record))
		return;
	if (IS_ERR_OR_NULL(key)) {
		rdmacg_record_return(record);
		return;
	}
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

static bool enforce = true;
module_param(enforce, bool, 0600);
MODULE_PARM_DESC(enforce, "0 counts without refusing, and lets no command wait");

/* Whether limits refuse charges and delay commands. */
bool rdmacg_enforces(void)
{
	return READ_ONCE(enforce);
}

static void rdmacg_add(struct rdmacg_record *record, unsigned int type, u64 amount)
{
	u64 types = record->target->types;

	if (types & BIT_ULL(type))
		record->set[record->count++] = (struct rdmacg_amount) {
			.slot = hweight64(types & (BIT_ULL(type) - 1)), .amount = amount
		};
}

/*
 * Charge an amount to @css, to which the caller has a reference, or to the
 * current process if it is NULL. Endless memory also stands for endless MRs,
 * because the driver creates the MRs of an implicit MR by itself. Returns the
 * charge, NULL if the device does not count the resource, -EAGAIN or -ENOMEM.
 */
struct rdmacg_record *rdmacg_record_charge(struct ib_device *device,
					   struct cgroup_subsys_state *css,
					   unsigned int type, u64 amount)
{
	struct rdmacg_target *target = rdmacg_find_target(device);
	struct rdmacg_record *record;
	int ret = 0;

	if (!target || !(target->types & BIT_ULL(type)))
		return NULL;
	record = rdmacg_record_alloc();
	if (!record)
		return ERR_PTR(-ENOMEM);
	record->target = target;
	record->count = 0;
	rdmacg_add(record, type, amount);
	if (type == RDMACG_MR_MEM && amount == RDMACG_ENDLESS)
		rdmacg_add(record, UVERBS_OBJECT_MR, amount);
	record->owner = css ? rdmacg_owner_of(css) : rdmacg_get_current();
	if (rdmacg_enforces())
		ret = rdmacg_try_charge_cgroup(record->owner, &target->device, record->set,
					       record->count);
	else
		rdmacg_charge(record->owner, &target->device, record->set, record->count);
	if (!css)
		rdmacg_put(record->owner);
	if (!ret)
		return record;
	rdmacg_record_free(record);
	return ERR_PTR(ret);
}

static void rdmacg_target_remove(struct rdmacg_target *target)
{
	rdmacg_unregister_device(&target->device);
	kfree(target);
}

RDMACG_CALLED(unregister, void, struct ib_device *device);

/* The IB core calls this after it has destroyed all objects of users. */
static void rdmacg_hook_unregister(struct ib_device *device)
{
	struct rdmacg_target *target;

	rdmacg_enter();
	target = xa_erase(&rdmacg_devices, device->index);
	if (target)
		rdmacg_target_remove(target);
	rdmacg_call(unregister)(device);
	rdmacg_leave();
}

/* Set once. */
static const bool *rdmacg_names_are_global;

/* Read the name and the network namespace of a device. */
static void rdmacg_target_name(struct rdmacg_target *target, const struct ib_device *device)
{
	target->device.name = dev_name(&device->dev);
	target->device.net = read_pnet(&device->coredev.rdma_net);
}

/* Register the device with the resources that it has. */
static int rdmacg_target_register(struct rdmacg_target *target, const struct ib_device *device)
{
	struct rdmacg_resource *resources = kcalloc(RDMACG_TYPES, sizeof(*resources), GFP_KERNEL);
	struct rdmacg_table table = { .resources = resources };
	unsigned int type;
	int ret;

	if (!resources)
		return -ENOMEM;
	for (type = 0; type < RDMACG_TYPES; type++) {
		if (!rdmacg_device_has(device, type))
			continue;
		target->types |= BIT_ULL(type);
		resources[table.count++] = (struct rdmacg_resource) {
			.name = rdmacg_types[type].key,
			.class = RDMACG_CLASS_VERB,
			.capacity = rdmacg_type_capacity(device, type) ?: RDMACG_NO_LIMIT,
		};
	}
	ret = rdmacg_register_tables(&target->device, &table, 1);
	kfree(resources);
	if (ret || !table.first_slot)
		return ret;
	rdmacg_unregister_device(&target->device);
	return -EINVAL;
}

static struct rdmacg_target *rdmacg_target_add(struct ib_device *device)
{
	struct rdmacg_target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	int ret;

	if (!target)
		return ERR_PTR(-ENOMEM);
	rdmacg_target_name(target, device);
	target->device.index = device->index;
	target->device.names_are_global = rdmacg_names_are_global;
	ret = rdmacg_target_register(target, device);
	if (ret) {
		kfree(target);
		return ERR_PTR(ret);
	}
	ret = xa_err(xa_store(&rdmacg_devices, device->index, target, GFP_KERNEL));
	if (!ret)
		return target;
	rdmacg_target_remove(target);
	return ERR_PTR(ret);
}

/* What rdmacg_test() found, and how many devices main.c reports. */
static int rdmacg_fault;
unsigned int rdmacg_nr_devices;

static void rdmacg_client_rename(struct ib_device *device, void *data)
{
	struct rdmacg_target *target = rdmacg_find_target(device);

	if (target) {
		rdmacg_target_name(target, device);
		rdmacg_rename_device(&target->device);
	}
}

/* A device is also added when it changes its network namespace. */
static int rdmacg_client_add(struct ib_device *device)
{
	struct rdmacg_target *target = rdmacg_find_target(device);

	if (target)
		rdmacg_client_rename(device, NULL);
	else
		target = rdmacg_target_add(device);
	if (IS_ERR(target)) {
		pr_err("%s: the module does not limit this device: error %ld\n",
		       dev_name(&device->dev), PTR_ERR(target));
		return 0;
	}
	/* A thread of the kernel has no memory to register. */
	if (current->mm)
		rdmacg_fault = rdmacg_fault ?: rdmacg_test(device);
	rdmacg_resume_waiting(&target->device);
	rdmacg_nr_devices++;
	return 0;
}

/*
 * Clients are removed in the reverse order, so uverbs comes later, and destroys
 * objects. Therefore, rdmacg_hook_unregister() unregisters the device.
 */
static void rdmacg_client_remove(struct ib_device *device, void *data)
{
	struct rdmacg_target *target = rdmacg_find_target(device);

	if (target)
		rdmacg_stop_waiting(&target->device);
}

static struct ib_client rdmacg_client = {
	.name	= "rdmacg",
	.add	= rdmacg_client_add,
	.remove	= rdmacg_client_remove,
	.rename	= rdmacg_client_rename,
};

struct rdmacg_hook rdmacg_device_hooks[] = {
	RDMACG_HOOK(unregister, "ib_device_unregister_rdmacg", "void(ib_device*)"),
	{}
};

int rdmacg_devices_init(void)
{
	rdmacg_names_are_global = rdmacg_symbol("ib_devices_shared_netns");
	if (!rdmacg_names_are_global)
		return -ENOENT;
	rdmacg_records = kvcalloc(1 << RDMACG_BITS, sizeof(*rdmacg_records), GFP_KERNEL);
	return rdmacg_records ? 0 : -ENOMEM;
}

/* All hooks are on, so no object is created before its device is known. */
int rdmacg_devices_on(void)
{
	int ret;

	rdmacg_fault = 0;
	rdmacg_nr_devices = 0;
	ret = ib_register_client(&rdmacg_client);
	if (!ret && rdmacg_fault)
		ib_unregister_client(&rdmacg_client);
	return ret ?: rdmacg_fault;
}

/* Let waiting commands run, and forget devices that come later. */
void rdmacg_devices_stop(void)
{
	ib_unregister_client(&rdmacg_client);
}

/* No hook runs. Return the charges of objects, and unregister the devices. */
void rdmacg_devices_off(void)
{
	struct rdmacg_target *target;
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
	xa_for_each(&rdmacg_devices, index, target)
		rdmacg_target_remove(target);
	xa_destroy(&rdmacg_devices);
}

void rdmacg_devices_exit(void)
{
	struct rdmacg_stash *stash;
	int cpu;

	for_each_possible_cpu(cpu) {
		stash = per_cpu_ptr(&rdmacg_stashes, cpu);
		while (stash->count)
			kfree(stash->records[--stash->count]);
	}
	kvfree(rdmacg_records);
}
