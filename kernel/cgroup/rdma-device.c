// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: devices, their resources and their names.
 *
 * The resources of a device are settled when it is registered; the controller
 * knows none of them by name. Devices are found by id and by name without a scan
 * of the others.
 */
#define pr_fmt(fmt) "cgroup: rdma: " fmt

#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/minmax.h>
#include <linux/stringhash.h>
#include <linux/string.h>

#include "rdma-internal.h"

/*
 * All registered devices, by id. Ids grow, so that files list the devices in the
 * order of their registration. Its own lock; RCU.
 */
static DEFINE_XARRAY_ALLOC1(rdmacg_devices);
static u32 rdmacg_next_id;

/* The keys that are taken. Its own lock. */
static DEFINE_IDA(rdmacg_keys);

/*
 * Guards the names and which devices have them. It is held for a look at one name, so
 * that neither a write nor a device waits for anything longer than that.
 */
static DEFINE_SPINLOCK(rdmacg_names_lock);

/*
 * All names of registered devices, by hash; rdmacg_names_lock. A write looks a name up
 * once, so 256 buckets suffice for some thousand devices.
 */
static DEFINE_HASHTABLE(rdmacg_names, 8);

static u32 rdmacg_name_hash(const char *text, size_t len)
{
	return full_name_hash(NULL, text, len);
}

static struct rdmacg_name *rdmacg_names_find_locked(const char *text, size_t len, u32 hash)
{
	struct rdmacg_name *name;

	lockdep_assert_held(&rdmacg_names_lock);
	hash_for_each_possible(rdmacg_names, name, node, hash)
		if (strlen(name->text) == len && !memcmp(name->text, text, len))
			return name;
	return NULL;
}

/* A name that nobody has yet, with a reference. NULL: no memory. */
static struct rdmacg_name *rdmacg_name_alloc(const char *text, gfp_t gfp)
{
	size_t len = strlen(text);
	struct rdmacg_name *name = kzalloc(struct_size(name, text, len + 1), gfp);

	if (!name)
		return NULL;
	memcpy(name->text, text, len);
	INIT_LIST_HEAD(&name->devices);
	refcount_set(&name->refs, 1);
	return name;
}

static void rdmacg_name_put(struct rdmacg_name *name)
{
	if (refcount_dec_and_test(&name->refs))
		kfree_rcu(name, rcu);
}

/*
 * Nobody finds the device by its name from now on. Whoever still has the device reads it,
 * for the desc keeps its reference.
 */
static void rdmacg_names_leave_locked(struct rdmacg_desc *desc)
{
	struct rdmacg_name *name = rcu_dereference_protected(desc->name,
							     lockdep_is_held(&rdmacg_names_lock));

	lockdep_assert_held(&rdmacg_names_lock);
	list_del(&desc->name_node);
	WRITE_ONCE(name->nr_devices, name->nr_devices - 1);
	if (!name->nr_devices)
		hash_del(&name->node);
}

static void rdmacg_names_join_locked(struct rdmacg_desc *desc, struct rdmacg_name *name)
{
	lockdep_assert_held(&rdmacg_names_lock);
	list_add_tail(&desc->name_node, &name->devices);
	WRITE_ONCE(name->nr_devices, name->nr_devices + 1);
	rcu_assign_pointer(desc->name, name);
}

/*
 * Give the device the name @new, which is used up or freed, for another device may have
 * the same.
 */
void rdmacg_desc_set_name(struct rdmacg_desc *desc, struct rdmacg_name *new)
{
	size_t len = strlen(new->text);
	u32 hash = rdmacg_name_hash(new->text, len);
	struct rdmacg_name *name, *old;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_desc_set_name, desc, new);
	spin_lock(&rdmacg_names_lock);
	old = rcu_dereference_protected(desc->name, lockdep_is_held(&rdmacg_names_lock));
	if (old)
		rdmacg_names_leave_locked(desc);
	name = rdmacg_names_find_locked(new->text, len, hash);
	if (name) {
		refcount_inc(&name->refs);
	} else {
		hash_add(rdmacg_names, &new->node, hash);
		swap(name, new);
	}
	rdmacg_names_join_locked(desc, name);
	spin_unlock(&rdmacg_names_lock);
	kfree(new);
	if (old)
		rdmacg_name_put(old);
}

static bool rdmacg_resource_is_valid(const struct rdmacg_resource *resource)
{
	struct rdmacg_word name = {
		.text = resource->name,
		.len = resource->name ? strlen(resource->name) : 0,
	};

	return rdmacg_key_is_valid(name) &&
	       resource->class < RDMACG_CLASS_CONTROL && resource->unit < RDMACG_UNITS &&
	       resource->capacity <= RDMACG_NO_LIMIT;
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

/* Copy a resource and its name, which readers need for longer than its owner. */
static void rdmacg_desc_set_resource(struct rdmacg_desc *desc, unsigned int slot,
				     const struct rdmacg_resource *resource)
{
	strscpy(desc->keys[slot], resource->name, RDMACG_KEY_SIZE);
	desc->resources[slot] = *resource;
	desc->resources[slot].name = desc->keys[slot];
}

/* Add a whole table or nothing. The first slot, or -EINVAL or -ENOSPC. */
static int rdmacg_add_table(struct rdmacg_desc *desc, const struct rdmacg_table *table,
			    const char *device)
{
	const struct rdmacg_resource *resource;
	unsigned int first = desc->nr_slots;
	unsigned int i;

	if (!table->count) {
		pr_err("%s: refused an empty table of resources\n", device);
		return -EINVAL;
	}
	if (table->count > RDMACG_MAX_SLOTS - first) {
		pr_err("%s: refused a table of %u resources, for %u are there and %u is the most\n",
		       device, table->count, first, RDMACG_MAX_SLOTS);
		return -ENOSPC;
	}
	for (i = 0; i < table->count; i++) {
		resource = &table->resources[i];
		if (!rdmacg_resource_is_valid(resource) ||
		    rdmacg_has_resource(desc, first + i, resource->name)) {
			pr_err("%s: refused a table of resources, for number %u (%s) is malformed or there already\n",
			       device, i, resource->name ?: "no name");
			return -EINVAL;
		}
		rdmacg_desc_set_resource(desc, first + i, resource);
	}
	desc->nr_slots += table->count;
	return first;
}

/* Behind all others, so that those can be charged as if these were not there. */
static void rdmacg_add_control(struct rdmacg_desc *desc, const char *device)
{
	struct rdmacg_resource resource;
	enum rdmacg_control_limit limit;

	desc->control_slot = desc->nr_slots;
	if (desc->nr_slots + RDMACG_NR_CONTROL_SLOTS > RDMACG_MAX_SLOTS) {
		pr_err("%s: commands cannot be limited, for %u resources are there and %u is the most\n",
		       device, desc->nr_slots, RDMACG_MAX_SLOTS);
		return;
	}
	for (limit = 0; limit < RDMACG_NR_CONTROL_SLOTS; limit++) {
		resource = rdmacg_control_resource(limit);
		rdmacg_desc_set_resource(desc, desc->nr_slots++, &resource);
	}
}

static struct rdmacg_desc *rdmacg_desc_alloc(const struct rdmacg_device *device,
					     struct rdmacg_table *tables,
					     unsigned int count)
{
	struct rdmacg_desc *desc;
	unsigned int nr_slots = 0;
	unsigned int i;

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
	desc->keys = (void *)&desc->resources[nr_slots];
	INIT_LIST_HEAD(&desc->name_node);
	INIT_LIST_HEAD(&desc->domains);
	for (i = 0; i < count; i++)
		tables[i].first_slot = rdmacg_add_table(desc, &tables[i], device->name);
	rdmacg_add_control(desc, device->name);
	return desc;
}

static void rdmacg_desc_free_rcu(struct rcu_head *rcu)
{
	struct rdmacg_desc *desc = container_of(rcu, struct rdmacg_desc, rcu);

	/* Nobody else has the desc by now. */
	rdmacg_name_put(rcu_dereference_protected(desc->name, true));
	ida_free(&rdmacg_keys, desc->key);
	kfree(desc);
}

void rdmacg_desc_put(struct rdmacg_desc *desc)
{
	if (refcount_dec_and_test(&desc->refs))
		call_rcu(&desc->rcu, rdmacg_desc_free_rcu);
}

/* Take an id and a key. 0, -ENOMEM, or -EBUSY if none is left. */
static int rdmacg_desc_alloc_numbers(struct rdmacg_desc *desc)
{
	int ret = ida_alloc(&rdmacg_keys, GFP_KERNEL);

	if (ret < 0)
		return ret == -ENOSPC ? -EBUSY : ret;
	desc->key = ret;
	/* Nobody finds it before it has a name. */
	ret = xa_alloc_cyclic(&rdmacg_devices, &desc->id, NULL, xa_limit_31b, &rdmacg_next_id,
			      GFP_KERNEL);
	if (ret < 0)
		ida_free(&rdmacg_keys, desc->key);
	return min(ret, 0);
}

/**
 * rdmacg_register_device() - let a device take part in accounting
 * @device: the device, with its name and index set
 * @tables: its resources; each table's first_slot is set
 * @count: number of @tables
 *
 * A table that is refused is reported in the log and in its first_slot; the
 * device is registered with the resources of the others.
 *
 * To be called before anything can be charged on the device. The caller keeps
 * @device until rdmacg_unregister_device() has returned; @tables, their arrays
 * and the names in them are copied.
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if no number is left for a device; after a failure
 * there is nothing to undo.
 */
int rdmacg_register_device(struct rdmacg_device *device,
			   struct rdmacg_table *tables, unsigned int count)
{
	struct rdmacg_desc *desc = rdmacg_desc_alloc(device, tables, count);
	struct rdmacg_name *name = rdmacg_name_alloc(device->name, GFP_KERNEL);
	int ret = desc && name ? rdmacg_desc_alloc_numbers(desc) : -ENOMEM;

	if (ret) {
		kfree(name);
		kfree(desc);
		return ret;
	}
	device->key = desc->key;
	device->nr_slots = desc->control_slot;
	/* See rdmacg_pin_device(). */
	WRITE_ONCE(device->desc, desc);
	rdmacg_desc_set_name(desc, name);
	/* The entry is reserved, so this cannot fail. */
	xa_store(&rdmacg_devices, desc->id, desc, GFP_KERNEL);
	return 0;
}
EXPORT_SYMBOL(rdmacg_register_device);

/**
 * rdmacg_unregister_device() - end a device's part in accounting
 * @device: a registered device on which nothing is charged any more, but for what was
 *	charged with a pin of it
 *
 * The device's limits, usage and history in all cgroups go with it. The caller may free
 * @device afterwards.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_unregister_device(struct rdmacg_device *device)
{
	struct rdmacg_desc *desc = device->desc;

	xa_erase(&rdmacg_devices, desc->id);
	spin_lock(&rdmacg_names_lock);
	rdmacg_names_leave_locked(desc);
	spin_unlock(&rdmacg_names_lock);
	rdmacg_domains_free(desc);
	rdmacg_commands_relax();

	/* What comes too late finds no slot, and warns or fails. */
	device->nr_slots = 0;
	WRITE_ONCE(device->desc, NULL);
	rdmacg_desc_put(desc);
}
EXPORT_SYMBOL(rdmacg_unregister_device);

/**
 * rdmacg_pin_device() - keep what charges need of a device for longer than the device
 * @pinned: set to what stands for @device in charges, also after it was unregistered and
 *	freed
 * @device: a device that is not freed yet
 *
 * For those whose uncharge can come after the device has gone. To be used for the charge,
 * too: with a pin, rdmacg_unregister_device() expects what is still charged, and the
 * uncharge finds nothing left to give back.
 *
 * Context: Any context.
 * Return: whether @device is registered. If so, @pinned is to be handed to
 * rdmacg_unpin_device() once.
 */
bool rdmacg_pin_device(struct rdmacg_device *pinned, const struct rdmacg_device *device)
{
	struct rdmacg_desc *desc;
	bool is_pinned;

	rcu_read_lock();
	/* Whoever unregisters it clears the pointer first, and RCU frees it. */
	desc = READ_ONCE(device->desc);
	is_pinned = desc && refcount_inc_not_zero(&desc->refs);
	rcu_read_unlock();
	if (is_pinned)
		*pinned = (struct rdmacg_device) {
			.key		= desc->key,
			.nr_slots	= desc->control_slot,
			.desc		= desc,
		};
	return is_pinned;
}
EXPORT_SYMBOL(rdmacg_pin_device);

/**
 * rdmacg_unpin_device() - end what rdmacg_pin_device() began
 * @pinned: what it set, of which every charge has been given back
 *
 * Context: Any context.
 */
void rdmacg_unpin_device(struct rdmacg_device *pinned)
{
	rdmacg_desc_put(pinned->desc);
}
EXPORT_SYMBOL(rdmacg_unpin_device);

/**
 * rdmacg_rename_device() - show a device by another name from now on
 * @device: a registered device whose name the caller has changed
 *
 * Limits and usage stay. Whoever reads a file meanwhile sees the old name or the
 * new one. It cannot fail, for by now the rest of the kernel uses the new name.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_rename_device(struct rdmacg_device *device)
{
	rdmacg_desc_set_name(device->desc,
			     rdmacg_name_alloc(device->name, GFP_KERNEL | __GFP_NOFAIL));
}
EXPORT_SYMBOL(rdmacg_rename_device);

/* The registered device with the lowest id from *@id on, and that id; or NULL. */
struct rdmacg_desc *rdmacg_desc_next(unsigned long *id)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a device is read without RCU");
	return xa_find(&rdmacg_devices, id, ULONG_MAX, XA_PRESENT);
}

static struct rdmacg_desc *rdmacg_names_find_desc_locked(const char *text, size_t len,
							 u32 hash, const u32 *index)
{
	struct rdmacg_name *name = rdmacg_names_find_locked(text, len, hash);
	struct rdmacg_desc *desc;

	if (!name)
		return ERR_PTR(-ENODEV);
	if (!index && name->nr_devices > 1)
		return ERR_PTR(-ENOTUNIQ);
	list_for_each_entry(desc, &name->devices, name_node)
		if (!index || desc->index == *index)
			return desc;
	return ERR_PTR(-ENODEV);
}

/*
 * The device of that name, and of that index if there is one, with a reference, which
 * does not keep the device from going. -ENODEV if there is none, -ENOTUNIQ if there are
 * several.
 */
struct rdmacg_desc *rdmacg_desc_get(const char *text, size_t len, const u32 *index)
{
	/* The text may be as long as a write, so not under the lock. */
	u32 hash = rdmacg_name_hash(text, len);
	struct rdmacg_desc *desc;

	spin_lock(&rdmacg_names_lock);
	desc = rdmacg_names_find_desc_locked(text, len, hash, index);
	if (!IS_ERR(desc))
		refcount_inc(&desc->refs);
	spin_unlock(&rdmacg_names_lock);
	return desc;
}
