// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: defaults. A default of a cgroup is the limit of one
 * key on each device that has no limit of its own for this key, including
 * devices that are registered later.
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "rdma-default.h"
#include "rdma-key.h"

/*
 * The number of changes that one write may contain. This is enough to set all
 * known keys, and to replace all defaults of the hw class.
 */
#define RDMACG_EDIT_KEYS 256

static_assert(RDMACG_MAX_KEYS + RDMACG_HW_DEFAULTS + RDMACG_EDIT_KEYS <= RDMACG_MAX_DEFAULTS);

struct rdmacg_defaults *rdmacg_defaults_alloc(unsigned int room)
{
	struct rdmacg_defaults *defaults;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_defaults_alloc, room);
	defaults = kzalloc(struct_size(defaults, limits, room), GFP_KERNEL_ACCOUNT);
	if (defaults)
		defaults->room = room;
	return defaults;
}

/* Returns NULL if the key has no default; @defaults may be NULL. */
static const struct rdmacg_default *
rdmacg_defaults_find(const struct rdmacg_defaults *defaults, enum rdmacg_class class,
		     const char *key)
{
	unsigned int i;

	for (i = 0; defaults && i < defaults->count; i++)
		if (defaults->limits[i].class == class && !strcmp(defaults->limits[i].key, key))
			return &defaults->limits[i];
	return NULL;
}

/* Returns the number of defaults of a class; @defaults may be NULL. */
unsigned int rdmacg_defaults_count(const struct rdmacg_defaults *defaults, enum rdmacg_class class)
{
	unsigned int i, count = 0;

	for (i = 0; defaults && i < defaults->count; i++)
		count += defaults->limits[i].class == class;
	return count;
}

/*
 * Returns the limit of a resource for which the device has no limit of its own.
 */
u64 rdmacg_default_limit(const struct rdmacg_defaults *defaults,
			 const struct rdmacg_resource *resource)
{
	const struct rdmacg_default *limit = rdmacg_defaults_find(defaults, resource->class,
								  resource->name);

	return limit ? limit->max : RDMACG_NO_LIMIT;
}

/* Add or change the limit of a key. Returns -EINVAL if there is no room. */
static int rdmacg_defaults_set(struct rdmacg_defaults *defaults, enum rdmacg_class class,
			       const char *key, u64 max)
{
	const struct rdmacg_default *found = rdmacg_defaults_find(defaults, class, key);
	struct rdmacg_default *limit = &defaults->limits[defaults->count];

	if (found) {
		defaults->limits[found - defaults->limits].max = max;
		return 0;
	}
	if (defaults->count == defaults->room)
		return -EINVAL;
	limit->class = class;
	strscpy(limit->key, key, sizeof(limit->key));
	limit->max = max;
	defaults->count++;
	return 0;
}

static int rdmacg_edit_set(struct rdmacg_defaults *edit, const char *key, u64 max)
{
	int class;

	if (!*key) {
		/*
		 * "max" also removes the changes that precede it in the line.
		 */
		edit->is_reset = true;
		edit->count = 0;
		return max == RDMACG_NO_LIMIT ? 0 : -EINVAL;
	}
	class = rdmacg_parse_key(&key);
	if (class < 0 || !rdmacg_limit_is_valid(class, key, max))
		return -EINVAL;
	return rdmacg_defaults_set(edit, class, key, max);
}

/*
 * Parse one line of changes to the defaults; RDMACG_NO_LIMIT removes a default.
 * Returns an error pointer if the text is invalid or there is no memory.
 */
struct rdmacg_defaults *rdmacg_defaults_parse(char *text)
{
	struct rdmacg_defaults *edit = rdmacg_defaults_alloc(RDMACG_EDIT_KEYS);
	char *line = strsep(&text, "\n");
	bool is_empty = true;
	const char *key;
	u64 max;
	int ret;

	if (!edit)
		return ERR_PTR(-ENOMEM);
	while ((ret = rdmacg_parse_limit(&line, &key, &max)) > 0) {
		ret = rdmacg_edit_set(edit, key, max);
		if (ret)
			break;
		is_empty = false;
		cond_resched();
	}
	/* The text must not contain a second line. */
	if (!ret && (is_empty || (text && *text)))
		ret = -EINVAL;
	if (!ret)
		return edit;
	kfree(edit);
	return ERR_PTR(ret);
}

/*
 * Merge @old and @edit into @new, which has room for both. @new is empty
 * afterwards if no default is left. Returns -EINVAL if the hw class would have
 * too many defaults.
 */
int rdmacg_defaults_merge(struct rdmacg_defaults *new, const struct rdmacg_defaults *old,
			  const struct rdmacg_defaults *edit)
{
	const struct rdmacg_default *limit;
	unsigned int i;

	new->count = 0;
	for (i = 0; old && !edit->is_reset && i < old->count; i++) {
		limit = &old->limits[i];
		if (!rdmacg_defaults_find(edit, limit->class, limit->key))
			new->limits[new->count++] = *limit;
	}
	for (i = 0; i < edit->count; i++)
		if (edit->limits[i].max != RDMACG_NO_LIMIT)
			new->limits[new->count++] = edit->limits[i];
	return rdmacg_defaults_count(new, RDMACG_CLASS_HW) > RDMACG_HW_DEFAULTS ? -EINVAL : 0;
}

static void rdmacg_print_default(struct seq_file *sf, const struct rdmacg_default *limit)
{
	/* A blank precedes each default except the first. */
	if (sf->count)
		seq_putc(sf, ' ');
	if (limit->class == RDMACG_CLASS_HW)
		seq_puts(sf, "hw:");
	seq_puts(sf, limit->key);
	seq_put_decimal_ull(sf, "=", limit->max);
}

/*
 * Print the line of rdma.default, or nothing if @defaults is NULL. Keys of the
 * table come first, in the order of the table. Keys of the hw class follow.
 */
void rdmacg_print_defaults(struct seq_file *sf, const struct rdmacg_defaults *defaults)
{
	const struct rdmacg_default *limit;
	const struct rdmacg_key *key;
	unsigned int i;

	if (!defaults)
		return;
	for (key = rdmacg_keys; key->name; key++) {
		limit = rdmacg_defaults_find(defaults, key->class, key->name);
		if (limit)
			rdmacg_print_default(sf, limit);
	}
	for (i = 0; i < defaults->count; i++)
		if (defaults->limits[i].class == RDMACG_CLASS_HW)
			rdmacg_print_default(sf, &defaults->limits[i]);
	seq_putc(sf, '\n');
}
