// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the limits of a cgroup for devices that have none of their own
 * there, whether they are registered by now or later.
 *
 * A default names a class and a key, and no device. So the keys have to be known without
 * one: the IB core declares those of the hca and the verb class. Those of the hw class are
 * known to drivers alone, and any well-formed key is taken.
 */
#include <kunit/static_stub.h>
#include <linux/export.h>
#include <linux/string.h>

#include "rdma-internal.h"

/* The most keys of one class: a device has no more resources. */
#define RDMACG_CLASS_DEFAULTS RDMACG_MAX_SLOTS

/* A key that a default can name. Never freed, for others of the same name need it, too. */
struct rdmacg_known_key {
	struct list_head	node;		/* rdmacg_known_lock; RCU */
	enum rdmacg_class	class;		/* set once */
	char			key[RDMACG_KEY_SIZE]; /* set once */
};

/* Guards additions to the keys that are known; nests with no other lock. */
static DEFINE_SPINLOCK(rdmacg_known_lock);
static LIST_HEAD(rdmacg_known_keys);

static bool rdmacg_key_is_known_locked(const struct rdmacg_known_key *known)
{
	const struct rdmacg_known_key *other;

	lockdep_assert_held(&rdmacg_known_lock);
	list_for_each_entry(other, &rdmacg_known_keys, node)
		if (other->class == known->class && !strcmp(other->key, known->key))
			return true;
	return false;
}

/**
 * rdmacg_declare_resource() - let users set a default for a resource
 * @resource: a resource that devices may have, whether or not there is one; its class is
 *	not the hw class, in which each key can have a default
 *
 * The name is copied, and known from now on: a module that declares its resources and goes
 * can declare them again. Defaults are shown in the order of declaration.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_declare_resource(const struct rdmacg_resource *resource)
{
	struct rdmacg_known_key *known = kzalloc_obj(*known, GFP_KERNEL | __GFP_NOFAIL);

	known->class = resource->class;
	strscpy(known->key, resource->name, sizeof(known->key));
	spin_lock(&rdmacg_known_lock);
	if (!rdmacg_key_is_known_locked(known)) {
		list_add_tail_rcu(&known->node, &rdmacg_known_keys);
		known = NULL;
	}
	spin_unlock(&rdmacg_known_lock);
	kfree(known);
}
EXPORT_SYMBOL(rdmacg_declare_resource);

static struct rdmacg_word rdmacg_word(const char *string)
{
	return (struct rdmacg_word) { .text = string, .len = strlen(string) };
}

static const struct rdmacg_default *
rdmacg_defaults_find(const struct rdmacg_defaults *defaults, enum rdmacg_class class,
		     struct rdmacg_word key)
{
	unsigned int i;

	for (i = 0; i < defaults->count; i++)
		if (defaults->limits[i].class == class &&
		    rdmacg_word_is(key, defaults->limits[i].key))
			return &defaults->limits[i];
	return NULL;
}

static unsigned int rdmacg_defaults_count(const struct rdmacg_defaults *defaults,
					  enum rdmacg_class class)
{
	unsigned int i, count = 0;

	for (i = 0; i < defaults->count; i++)
		count += defaults->limits[i].class == class;
	return count;
}

/* Whether a class has any; @defaults is NULL where the cgroup has none at all. */
bool rdmacg_defaults_have(const struct rdmacg_defaults *defaults, enum rdmacg_class class)
{
	return defaults && rdmacg_defaults_count(defaults, class);
}

/* The limit of a device that has none of its own. */
u64 rdmacg_default_limit(const struct rdmacg_defaults *defaults,
			 const struct rdmacg_resource *resource)
{
	const struct rdmacg_default *limit;

	if (!defaults)
		return RDMACG_NO_LIMIT;
	limit = rdmacg_defaults_find(defaults, resource->class, rdmacg_word(resource->name));
	return limit ? limit->max : RDMACG_NO_LIMIT;
}

/* The same for all slots of a device. */
void rdmacg_default_limits(const struct rdmacg_defaults *defaults,
			   const struct rdmacg_desc *desc, u64 *max)
{
	unsigned int slot;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_default_limits, defaults, desc, max);
	for (slot = 0; slot < desc->nr_slots; slot++)
		max[slot] = rdmacg_default_limit(defaults, &desc->resources[slot]);
}

/* Add a key without a limit at the end, unless it is there or its class is full. */
static void rdmacg_defaults_add(struct rdmacg_defaults *defaults, enum rdmacg_class class,
				struct rdmacg_word key)
{
	struct rdmacg_default *limit = &defaults->limits[defaults->count];

	if (rdmacg_defaults_find(defaults, class, key) ||
	    rdmacg_defaults_count(defaults, class) == RDMACG_CLASS_DEFAULTS)
		return;
	limit->class = class;
	memcpy(limit->key, key.text, key.len);
	limit->max = RDMACG_NO_LIMIT;
	defaults->count++;
}

/* Set a key that is there, or all of the class for an empty key. */
static bool rdmacg_defaults_store(struct rdmacg_defaults *defaults, enum rdmacg_class class,
				  struct rdmacg_word key, u64 max)
{
	struct rdmacg_default *limit = defaults->limits;
	bool found = false;

	for (; limit < defaults->limits + defaults->count; limit++) {
		if (limit->class != class || (key.len && !rdmacg_word_is(key, limit->key)))
			continue;
		limit->max = max;
		found = true;
	}
	return found;
}

/*
 * A copy of the cgroup's defaults for a write to change, in which each known key of @class
 * stands, most of them without a limit. NULL: no memory.
 */
struct rdmacg_defaults *rdmacg_defaults_edit(struct rdma_cgroup *cg, enum rdmacg_class class)
{
	const struct rdmacg_defaults *defaults;
	const struct rdmacg_known_key *known;
	struct rdmacg_defaults *edited;
	unsigned int i;

	edited = kzalloc(struct_size(edited, limits, RDMACG_CLASSES * RDMACG_CLASS_DEFAULTS),
			 GFP_KERNEL_ACCOUNT);
	if (!edited)
		return NULL;
	rcu_read_lock();
	list_for_each_entry_rcu(known, &rdmacg_known_keys, node)
		if (known->class == class)
			rdmacg_defaults_add(edited, class, rdmacg_word(known->key));
	defaults = rcu_dereference(cg->defaults);
	for (i = 0; defaults && i < defaults->count; i++) {
		const struct rdmacg_default *limit = &defaults->limits[i];

		rdmacg_defaults_add(edited, limit->class, rdmacg_word(limit->key));
		rdmacg_defaults_store(edited, limit->class, rdmacg_word(limit->key), limit->max);
	}
	rcu_read_unlock();
	return edited;
}

/*
 * Set a default, or with an empty key take all of a class away. -EINVAL for a key that is
 * not known, or of the hw class for one that is malformed or too many.
 */
int rdmacg_defaults_set(struct rdmacg_defaults *edited, enum rdmacg_class class,
			struct rdmacg_word key, u64 max)
{
	if (class == RDMACG_CLASS_HW && rdmacg_key_is_valid(key))
		rdmacg_defaults_add(edited, class, key);
	return rdmacg_defaults_store(edited, class, key, max) || !key.len ? 0 : -EINVAL;
}

/* Whether a key is to stay: one with a limit, or of the hca class beside one with a limit. */
static bool rdmacg_defaults_keep(const struct rdmacg_defaults *edited,
				 const struct rdmacg_default *limit)
{
	const struct rdmacg_default *other;

	if (limit->class != RDMACG_CLASS_HCA)
		return limit->max != RDMACG_NO_LIMIT;
	/* All keys of that class are shown: programs in use want three fields in a line. */
	for (other = edited->limits; other < edited->limits + edited->count; other++)
		if (other->class == limit->class && other->max != RDMACG_NO_LIMIT)
			return true;
	return false;
}

/*
 * Make what a cgroup keeps of a copy that was changed; *@defaults is NULL where that is
 * nothing. 0 or -ENOMEM.
 */
int rdmacg_defaults_finish(const struct rdmacg_defaults *edited,
			   struct rdmacg_defaults **defaults)
{
	struct rdmacg_defaults *new;
	unsigned int i, count = 0;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_defaults_finish, edited, defaults);
	*defaults = NULL;
	for (i = 0; i < edited->count; i++)
		count += rdmacg_defaults_keep(edited, &edited->limits[i]);
	if (!count)
		return 0;
	new = kzalloc(struct_size(new, limits, count), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < edited->count; i++)
		if (rdmacg_defaults_keep(edited, &edited->limits[i]))
			new->limits[new->count++] = edited->limits[i];
	*defaults = new;
	return 0;
}
