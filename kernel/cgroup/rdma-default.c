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
/* One write may take all of them away, and set as many others. */
#define RDMACG_EDIT_KEYS (2 * RDMACG_CLASS_DEFAULTS)

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

/* Add a key at the end that is not touched, unless it is there or there is no room. */
static void rdmacg_edit_add(struct rdmacg_edit *edit, struct rdmacg_word key)
{
	struct rdmacg_default *limit = &edit->keys.limits[edit->keys.count];

	if (rdmacg_defaults_find(&edit->keys, edit->class, key) ||
	    edit->keys.count == edit->keys.room)
		return;
	limit->class = edit->class;
	memcpy(limit->key, key.text, key.len);
	limit->max = RDMACG_UNTOUCHED;
	edit->keys.count++;
}

/*
 * For a write that sets defaults of @class: each key that is known or has one stands there,
 * and none is touched. NULL: no memory.
 */
struct rdmacg_edit *rdmacg_edit_alloc(struct rdma_cgroup *cg, enum rdmacg_class class)
{
	const struct rdmacg_defaults *defaults;
	const struct rdmacg_known_key *known;
	struct rdmacg_edit *edit;
	unsigned int i;

	edit = kzalloc(struct_size(edit, keys.limits, RDMACG_EDIT_KEYS), GFP_KERNEL_ACCOUNT);
	if (!edit)
		return NULL;
	edit->class = class;
	edit->keys.room = RDMACG_EDIT_KEYS;
	rcu_read_lock();
	list_for_each_entry_rcu(known, &rdmacg_known_keys, node)
		if (known->class == class)
			rdmacg_edit_add(edit, rdmacg_word(known->key));
	defaults = rcu_dereference(cg->defaults);
	for (i = 0; defaults && i < defaults->count; i++)
		if (defaults->limits[i].class == class)
			rdmacg_edit_add(edit, rdmacg_word(defaults->limits[i].key));
	rcu_read_unlock();
	return edit;
}

/*
 * Set a default, or with an empty key take all of the class away. -EINVAL for a key that is
 * not known, or of the hw class for one that is malformed or too many.
 */
int rdmacg_edit_set(struct rdmacg_edit *edit, struct rdmacg_word key, u64 max)
{
	struct rdmacg_default *limit = edit->keys.limits;
	bool found = !key.len;

	if (edit->class == RDMACG_CLASS_HW && rdmacg_key_is_valid(key))
		rdmacg_edit_add(edit, key);
	edit->is_reset |= !key.len;
	for (; limit < edit->keys.limits + edit->keys.count; limit++) {
		if (key.len && !rdmacg_word_is(key, limit->key))
			continue;
		limit->max = max;
		found = true;
	}
	return found ? 0 : -EINVAL;
}

/* Whether a key is there without a limit: programs in use want three fields in a line. */
static bool rdmacg_class_shows_max(enum rdmacg_class class)
{
	return class == RDMACG_CLASS_HCA;
}

/* What becomes of a default that an edit has a key for. */
static struct rdmacg_default rdmacg_default_edited(const struct rdmacg_defaults *old,
						   const struct rdmacg_default *edited)
{
	const struct rdmacg_default *limit = NULL;
	struct rdmacg_default new = *edited;

	if (new.max == RDMACG_UNTOUCHED) {
		if (old)
			limit = rdmacg_defaults_find(old, new.class, rdmacg_word(new.key));
		new.max = limit ? limit->max : RDMACG_NO_LIMIT;
	}
	return new;
}

/* How many defaults there are once @edit is done, or some more. */
static unsigned int rdmacg_defaults_merged(const struct rdmacg_defaults *old,
					   const struct rdmacg_edit *edit)
{
	const struct rdmacg_default *limit;
	unsigned int i, count = 0;

	for (i = 0; old && i < old->count; i++) {
		limit = &old->limits[i];
		count += !rdmacg_defaults_find(&edit->keys, limit->class, rdmacg_word(limit->key));
	}
	for (i = 0; i < edit->keys.count; i++)
		count += rdmacg_class_shows_max(edit->class) ||
			 rdmacg_default_edited(old, &edit->keys.limits[i]).max != RDMACG_NO_LIMIT;
	return count;
}

/*
 * Memory for what a cgroup's defaults become by @edit; if @is_sure, whatever others make of
 * them meanwhile. NULL: there is none.
 */
struct rdmacg_defaults *rdmacg_defaults_alloc(struct rdma_cgroup *cg,
					      const struct rdmacg_edit *edit, bool is_sure)
{
	unsigned int room = RDMACG_CLASSES * RDMACG_CLASS_DEFAULTS;
	struct rdmacg_defaults *new;

	if (!is_sure) {
		rcu_read_lock();
		room = rdmacg_defaults_merged(rcu_dereference(cg->defaults), edit);
		rcu_read_unlock();
	}
	new = kzalloc(struct_size(new, limits, room), GFP_KERNEL_ACCOUNT);
	if (new)
		new->room = room;
	return new;
}

/* -EINVAL if the class is full, -EAGAIN if there is no room. */
static int rdmacg_defaults_append(struct rdmacg_defaults *new, const struct rdmacg_default *limit)
{
	if (limit->max == RDMACG_NO_LIMIT && !rdmacg_class_shows_max(limit->class))
		return 0;
	if (rdmacg_defaults_count(new, limit->class) == RDMACG_CLASS_DEFAULTS)
		return -EINVAL;
	if (new->count == new->room)
		return -EAGAIN;
	new->limits[new->count++] = *limit;
	return 0;
}

/* Take the keys of a class away if none of them has a limit. */
static void rdmacg_defaults_drop_idle(struct rdmacg_defaults *new, enum rdmacg_class class)
{
	unsigned int i, count = 0;

	for (i = 0; i < new->count; i++)
		if (new->limits[i].class == class && new->limits[i].max != RDMACG_NO_LIMIT)
			return;
	for (i = 0; i < new->count; i++)
		if (new->limits[i].class != class)
			new->limits[count++] = new->limits[i];
	new->count = count;
}

/*
 * Put into @new what @old becomes by @edit; it is empty if no default is left. 0, -EINVAL if
 * the class has too many keys, or -EAGAIN if @new has no room.
 */
int rdmacg_defaults_merge(struct rdmacg_defaults *new, const struct rdmacg_defaults *old,
			  const struct rdmacg_edit *edit)
{
	const struct rdmacg_default *limit;
	struct rdmacg_default edited;
	unsigned int i;
	int ret = 0;

	for (i = 0; old && !ret && i < old->count; i++) {
		limit = &old->limits[i];
		/* Others may have set it since the edit began. */
		if ((limit->class != edit->class || !edit->is_reset) &&
		    !rdmacg_defaults_find(&edit->keys, limit->class, rdmacg_word(limit->key)))
			ret = rdmacg_defaults_append(new, limit);
	}
	for (i = 0; !ret && i < edit->keys.count; i++) {
		edited = rdmacg_default_edited(old, &edit->keys.limits[i]);
		ret = rdmacg_defaults_append(new, &edited);
	}
	rdmacg_defaults_drop_idle(new, edit->class);
	return ret;
}
