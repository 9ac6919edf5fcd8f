// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: devices, their resources and their names.
 *
 * The registration of a device sets its resources, which do not change later.
 * The rest of the controller does not depend on the names of resources.
 */
#define pr_fmt(fmt) "cgroup: rdma: " fmt

#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "rdma-device.h"

/*
 * All registered devices, indexed by key. The files show devices in the order
 * of their keys. The key of an unregistered device is reserved until its desc
 * is freed, which may happen in a softirq. Writers use the lock of the xarray,
 * and readers use RCU.
 */
static DEFINE_XARRAY_FLAGS(rdmacg_devices, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);

/*
 * Allocate the present name and network namespace of a device. Returns NULL
 * without memory.
 */
static struct rdmacg_name *rdmacg_name_alloc(const struct rdmacg_device *device, gfp_t gfp)
{
	struct rdmacg_name *name = kmalloc(sizeof(*name), gfp);

	if (name) {
		rdmacg_escape_name(name->text, sizeof(name->text), device->name);
		name->net = device->net;
	}
	return name;
}

/*
 * Guards live_name of all descs. Charges use other locks, because readers take
 * this lock if an ib_core from outside of the tree has registered the device.
 */
static DEFINE_SPINLOCK(rdmacg_live_names);

/*
 * From now on, let readers and writers compare the name of the device with
 * @name. The caller changes @name without rdmacg_rename_device(). NULL ends
 * this.
 */
void rdmacg_desc_follow_name(struct rdmacg_desc *desc, const char *name)
{
	guard(spinlock)(&rdmacg_live_names);
	desc->live_name = name;
}

/*
 * Copy a name that has changed. If the name changes meanwhile, the copy may mix
 * both names, until the next reader copies the name again. If a mixed copy
 * equals the name of another device, rdmacg_desc_get() finds two devices, and
 * returns -ENOTUNIQ.
 */
static noinline void rdmacg_desc_update_name(struct rdmacg_desc *desc)
{
	const struct rdmacg_name *old = rcu_dereference(desc->name);
	struct rdmacg_name *name;
	char text[RDMACG_NAME_SIZE];

	guard(spinlock)(&rdmacg_live_names);
	if (!desc->live_name)
		return;
	rdmacg_escape_name(text, sizeof(text), desc->live_name);
	if (!strcmp(text, old->text))
		return;
	name = kmemdup(old, sizeof(*old), GFP_ATOMIC);
	if (!name)
		return;
	strscpy(name->text, text, sizeof(name->text));
	name = unrcu_pointer(xchg(&desc->name, RCU_INITIALIZER(name)));
	kfree_rcu(name, rcu);
}

static bool rdmacg_resource_is_valid(const struct rdmacg_resource *resource)
{
	return resource->name && rdmacg_key_is_valid(resource->name) &&
	       resource->class < RDMACG_CLASS_CONTROL && resource->capacity <= RDMACG_NO_LIMIT;
}

static bool rdmacg_has_resource(const struct rdmacg_desc *desc, unsigned int nr_slots,
				const char *name)
{
	unsigned int slot;

	for (slot = 0; slot < nr_slots; slot++)
		if (!strcmp(desc->resources[slot].name, name))
			return true;
	return false;
}

/*
 * Copy a resource and its name, because readers may need them after the caller
 * has freed its table.
 */
static void rdmacg_desc_set_resource(struct rdmacg_desc *desc, unsigned int slot,
				     const struct rdmacg_resource *resource)
{
	strscpy(desc->keys[slot], resource->name, RDMACG_KEY_SIZE);
	desc->resources[slot] = *resource;
	desc->resources[slot].name = desc->keys[slot];
}

/*
 * Add all resources of a table, or none. Returns the first slot, -EINVAL or
 * -ENOSPC.
 */
static int rdmacg_add_table(struct rdmacg_desc *desc, const struct rdmacg_table *table,
			    const char *device)
{
	const struct rdmacg_resource *resource;
	unsigned int i, first = desc->nr_slots;

	if (!table->count) {
		pr_err("%s: refused an empty table of resources\n", device);
		return -EINVAL;
	}
	if (table->count > RDMACG_MAX_SLOTS - first) {
		pr_err("%s: refused a table of %u resources: the device has %u already, and %u is the maximum\n",
		       device, table->count, first, RDMACG_MAX_SLOTS);
		return -ENOSPC;
	}
	for (i = 0; i < table->count; i++) {
		resource = &table->resources[i];
		if (!rdmacg_resource_is_valid(resource) ||
		    rdmacg_has_resource(desc, first + i, resource->name)) {
			pr_err("%s: refused a table of resources: number %u (%s) is malformed, or its name exists already\n",
			       device, i, resource->name ?: "no name");
			return -EINVAL;
		}
		rdmacg_desc_set_resource(desc, first + i, resource);
	}
	desc->nr_slots += table->count;
	return first;
}

/*
 * Add the control class after the resources that can be charged, if there is
 * room.
 */
static void rdmacg_add_control(struct rdmacg_desc *desc, const char *device)
{
	struct rdmacg_resource resource = {
		.class		= RDMACG_CLASS_CONTROL,
		.capacity	= RDMACG_NO_LIMIT,
	};
	enum rdmacg_control_limit limit;

	desc->control_slot = desc->nr_slots;
	if (desc->nr_slots + RDMACG_NR_CONTROL_SLOTS > RDMACG_MAX_SLOTS) {
		pr_err("%s: commands cannot be limited: the device has %u resources already, and %u is the maximum\n",
		       device, desc->nr_slots, RDMACG_MAX_SLOTS);
		return;
	}
	for (limit = 0; limit < RDMACG_NR_CONTROL_SLOTS; limit++) {
		resource.name = rdmacg_control_key(limit);
		rdmacg_desc_set_resource(desc, desc->nr_slots++, &resource);
	}
}

/*
 * Allocate the desc of a device with the resources of the valid tables, and set
 * first_slot of each table. Returns NULL if there is no memory.
 */
struct rdmacg_desc *rdmacg_desc_alloc(const struct rdmacg_device *device,
				      struct rdmacg_table *tables, unsigned int count)
{
	struct rdmacg_desc *desc;
	unsigned int i, nr_slots = 0;

	for (i = 0; i < count; i++)
		nr_slots += min(tables[i].count, RDMACG_MAX_SLOTS - nr_slots);
	nr_slots += RDMACG_NR_CONTROL_SLOTS;
	desc = kzalloc(struct_size(desc, resources, nr_slots) + nr_slots * RDMACG_KEY_SIZE,
		       GFP_KERNEL);
	if (!desc)
		return NULL;
	spin_lock_init(&desc->lock);
	refcount_set(&desc->refs, 1);
	desc->index = device->index;
	desc->names_are_global = device->names_are_global;
	desc->keys = (void *)&desc->resources[nr_slots];
	INIT_LIST_HEAD(&desc->domains);
	for (i = 0; i < count; i++)
		tables[i].first_slot = rdmacg_add_table(desc, &tables[i], device->name);
	rdmacg_add_control(desc, device->name);
	return desc;
}

static void rdmacg_desc_free_rcu(struct rcu_head *rcu)
{
	struct rdmacg_desc *desc = container_of(rcu, struct rdmacg_desc, rcu);

	kfree(rcu_dereference_protected(desc->name, true));
	xa_erase_bh(&rdmacg_devices, desc->key);
	kfree(desc);
}

void rdmacg_desc_put(struct rdmacg_desc *desc)
{
	if (refcount_dec_and_test(&desc->refs))
		call_rcu(&desc->rcu, rdmacg_desc_free_rcu);
}

/*
 * Returns the first registered device whose key is at least *@key, and sets
 * *@key to its key. Returns NULL if there is none.
 */
struct rdmacg_desc *rdmacg_desc_next(unsigned long *key)
{
	struct rdmacg_desc *desc;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a device is read without RCU");
	desc = xa_find(&rdmacg_devices, key, ULONG_MAX, XA_PRESENT);
	if (desc && unlikely(READ_ONCE(desc->live_name)))
		rdmacg_desc_update_name(desc);
	return desc;
}

/*
 * Give the device a key, and let the files show it. Returns 0, -ENOMEM, or
 * -EBUSY if no key is left. After an error, the caller frees the desc.
 */
int rdmacg_desc_publish(struct rdmacg_desc *desc, const struct rdmacg_device *device)
{
	struct rdmacg_name *name = rdmacg_name_alloc(device, GFP_KERNEL);
	int ret;

	if (!name)
		return -ENOMEM;
	RCU_INIT_POINTER(desc->name, name);
	ret = xa_alloc_bh(&rdmacg_devices, &desc->key, desc, xa_limit_31b, GFP_KERNEL);
	if (ret)
		kfree(name);
	return ret;
}

/*
 * Hide the device from readers and writers. A task that has found the device
 * may still use it.
 */
void rdmacg_desc_hide(struct rdmacg_desc *desc)
{
	/* An entry of NULL keeps the key reserved, and needs no memory. */
	xa_store_bh(&rdmacg_devices, desc->key, NULL, GFP_NOWAIT);
}

/**
 * rdmacg_rename_device() - use a device's new name and network namespace in
 * files
 * @device: a registered device whose name or net the caller has changed
 *
 * Limits and usage stay. A concurrent reader of a file sees the old name and
 * namespace, or the new ones. This call cannot fail, because the rest of the
 * kernel already uses the new name.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_rename_device(struct rdmacg_device *device)
{
	struct rdmacg_name *name = rdmacg_name_alloc(device, GFP_KERNEL | __GFP_NOFAIL);

	name = unrcu_pointer(xchg(&device->desc->name, RCU_INITIALIZER(name)));
	kfree_rcu(name, rcu);
}
EXPORT_SYMBOL(rdmacg_rename_device);

/*
 * Returns whether the network namespace of the calling process sees a device.
 */
static bool rdmacg_is_seen(const struct rdmacg_desc *desc, const struct rdmacg_name *name)
{
	return !desc->names_are_global || READ_ONCE(*desc->names_are_global) ||
	       name->net == current->nsproxy->net_ns;
}

/*
 * Returns whether a line needs the index of its device @desc. The line needs it
 * if the calling process's namespace does not see the device, and another
 * device also has @name.
 */
bool rdmacg_name_needs_index_rcu(const struct rdmacg_desc *desc, const struct rdmacg_name *name)
{
	struct rdmacg_desc *other;
	unsigned long key;

	if (rdmacg_is_seen(desc, name))
		return false;
	for (key = 0; (other = rdmacg_desc_next(&key)); key++)
		if (other != desc && !strcmp(rdmacg_desc_name_rcu(other), name->text))
			return true;
	return false;
}

static struct rdmacg_desc *rdmacg_desc_find_rcu(const char *text, const u32 *index)
{
	/*
	 * The device of another namespace, and the device of the calling
	 * process's namespace.
	 */
	struct rdmacg_desc *found[] = { ERR_PTR(-ENODEV), ERR_PTR(-ENODEV) };
	const struct rdmacg_name *name;
	struct rdmacg_desc *desc;
	unsigned long key;
	bool is_seen;

	for (key = 0; (desc = rdmacg_desc_next(&key)); key++) {
		name = rcu_dereference(desc->name);
		if (strcmp(name->text, text) || (index && desc->index != *index))
			continue;
		is_seen = rdmacg_is_seen(desc, name);
		found[is_seen] = found[is_seen] == ERR_PTR(-ENODEV) ? desc : ERR_PTR(-ENOTUNIQ);
	}
	return found[found[true] != ERR_PTR(-ENODEV)];
}

/*
 * Find a registered device by @name, which is written as in the files. Also
 * compare *@index unless @index is NULL. A device that the calling process's
 * network namespace sees precedes devices elsewhere. Returns a reference, which
 * does not prevent the device from being unregistered. Returns -ENODEV if no
 * device matches, and -ENOTUNIQ if several devices match.
 */
struct rdmacg_desc *rdmacg_desc_get(const char *name, const u32 *index)
{
	struct rdmacg_desc *desc;

	guard(rcu)();
	desc = rdmacg_desc_find_rcu(name, index);
	if (!IS_ERR(desc) && !refcount_inc_not_zero(&desc->refs))
		return ERR_PTR(-ENODEV);
	return desc;
}
