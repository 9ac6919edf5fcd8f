// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the pools of a cgroup, from the controller's files. */
#include <ctype.h>

#include "core/core.h"

const char * const pool_class_names[POOL_CLASSES] = { "hca", "verb", "hw", "control" };

static const char * const pool_suffixes[POOL_FILES] = {
	"max", "current", "peak", "events", "events.local",
};

const char *pool_file_name(enum pool_class class, enum pool_file file)
{
	static char name[32];

	snprintf(name, sizeof(name), "rdma.%s%s%s",
		 class == POOL_HCA ? "" : pool_class_names[class], class == POOL_HCA ? "" : ".",
		 pool_suffixes[file]);
	return name;
}

/*
 * The files have the same devices and keys in the same order, so a search usually ends at the
 * result of the last search, or next to it.
 */
struct pool *pools_find(const struct pools *pools, const struct device *device)
{
	struct pool *pool = pools->near;

	if (!pool)
		return NULL;
	do {
		if (device_is_same(&pool->device, device)) {
			((struct pools *)pools)->near = pool;
			return pool;
		}
		pool = pool->next ? pool->next : pools->first;
	} while (pool != pools->near);
	return NULL;
}

struct slot *pool_find(const struct pool *pool, const char *key)
{
	size_t i, at;

	for (i = 0; i < pool->nr_slots; i++) {
		at = (pool->near + i) % pool->nr_slots;
		if (!strcmp(pool->slots[at].key, key)) {
			((struct pool *)pool)->near = at;
			return &pool->slots[at];
		}
	}
	return NULL;
}

struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key)
{
	const struct pool *pool = pools_find(pools, device);

	return pool ? pool_find(pool, key) : NULL;
}

struct slot *pools_next(const struct pools *pools, const struct slot *slot)
{
	struct pool *pool = slot ? slot->pool : pools->first;

	if (slot && slot + 1 < pool->slots + pool->nr_slots)
		return (struct slot *)slot + 1;
	if (slot)
		pool = pool->next;
	while (pool && !pool->nr_slots)
		pool = pool->next;
	return pool ? pool->slots : NULL;
}

bool slot_is_telling(const struct slot *slot)
{
	return slot->usage || slot->peak || slot->max != NUMBER_MAX || slot->events.max ||
	       slot->events.alloc_fail;
}

static struct slot *pool_get_slot(struct pool *pool, enum pool_class class, const char *key)
{
	struct slot *slot = pool_find(pool, key);

	if (slot)
		return slot;
	slot = memory_append(pool->slots, pool->nr_slots);
	slot->pool = pool;
	slot->key = key;
	slot->class = class;
	slot->max = NUMBER_MAX;
	slot->limit = NUMBER_MAX;
	pool->near = pool->nr_slots - 1;
	return slot;
}

/*
 * Where to put a value of @file; @event is an event such as "max", or NULL. Returns NULL for an
 * unknown event.
 */
static uint64_t *slot_value(struct slot *slot, enum pool_file file, const char *event)
{
	struct events *events = file == POOL_EVENTS ? &slot->events : &slot->local;

	if (!event)
		return file == POOL_MAX ? &slot->max :
		       file == POOL_CURRENT ? &slot->usage : &slot->peak;
	if (!strcmp(event, "max"))
		return &events->max;
	return strcmp(event, "alloc_fail") ? NULL : &events->alloc_fail;
}

/* Add the values of one line of @file. */
static void pool_take_line(struct pool *pool, enum pool_class class, enum pool_file file,
			   struct line *line)
{
	bool events = file == POOL_EVENTS || file == POOL_EVENTS_LOCAL;
	uint64_t value, *to;
	struct slot *slot;
	const char *key;

	while (line_next_value(line, &key, &value)) {
		char *dot = events ? strrchr(key, '.') : NULL;

		if (events && !dot)
			continue;
		if (dot)
			*dot++ = '\0';
		if (!filter_has_key(key))
			continue;
		slot = pool_get_slot(pool, class, key);
		slot->has |= POOL_BIT(file);
		to = slot_value(slot, file, dot);
		if (to)
			*to = value;
	}
}

/* Find or add the pool of a device. The name in @device must live as long as the pools. */
static struct pool *pools_get(struct pools *pools, const struct device *device)
{
	struct pool *pool = pools_find(pools, device);
	struct pool **end = &pools->first;

	if (pool)
		return pool;
	while (*end)
		end = &(*end)->next;
	pool = memory_zeroed(1, sizeof(*pool));
	pool->device = *device;
	*end = pool;
	pools->near = pool;
	return pool;
}

/* Let pools_free() free @text. */
static char *pools_keep(struct pools *pools, char *text)
{
	*memory_append(pools->texts, pools->nr_texts) = text;
	return text;
}

struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key)
{
	struct slot *slot = pools_find_slot(pools, device, key);
	struct device copy = *device;

	if (slot)
		return slot;
	copy.name = pools_keep(pools, memory_string(device->name));
	return pool_get_slot(pools_get(pools, &copy), POOL_HCA,
			     pools_keep(pools, memory_string(key)));
}

static void pools_take_text(struct pools *pools, enum pool_class class, enum pool_file file,
			    char *text)
{
	struct line line;

	pools_keep(pools, text);
	while (line_next(&text, &line))
		if (filter_has_device(line.device.name))
			pool_take_line(pools_get(pools, &line.device), class, file, &line);
}

int pools_read_file(struct pools *pools, int dir, const char *name)
{
	char *text = file_read(dir, name);

	if (!text)
		return -errno;
	pools_take_text(pools, POOL_HCA, POOL_MAX, text);
	return 0;
}

/* Whether a max file has no limit, or another file has only 0. An index counts as a value. */
static bool pools_text_is_idle(enum pool_file file, const char *text)
{
	while ((text = strchr(text, '='))) {
		text++;
		if (file == POOL_MAX ? *text != 'm' : *text != '0' || isdigit(text[1]))
			return false;
	}
	return true;
}

/*
 * Mark the files that must be idle because another file is idle. If all peaks are 0, all usage is
 * 0. If all events are 0, all local events are 0. A cgroup's peaks, usage and events include its
 * descendants, so 0 in the parent means 0 in the child. A class without lines in one cgroup has no
 * lines in any cgroup.
 */
static void pools_infer_idle(struct pools *pools, const struct pools *above, enum pool_class class)
{
	unsigned int above_idle = above ? above->idle[class] : 0, idle = pools->idle[class];

	if ((idle | above_idle) & POOL_EMPTY)
		idle = POOL_ALL | POOL_EMPTY;
	idle |= above_idle & ~(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_EVENTS_LOCAL));
	if (idle & POOL_BIT(POOL_PEAK))
		idle |= POOL_BIT(POOL_CURRENT);
	if (idle & POOL_BIT(POOL_EVENTS))
		idle |= POOL_BIT(POOL_EVENTS_LOCAL);
	pools->idle[class] = idle;
}

/* Read a file, if it exists. A scan does not keep the lines of a max file without limits. */
static int pools_take_file(struct pools *pools, int dir, enum pool_class class,
			   enum pool_file file, bool scan)
{
	char *text = file_read_at_once(dir, pool_file_name(class, file));

	if (!text)
		return file_is_gone(errno) ? 0 : -errno;
	pools->files[class] |= POOL_BIT(file);
	scan = scan && pools_text_is_idle(file, text);
	if (scan)
		pools->idle[class] |= POOL_BIT(file);
	if (scan && file == POOL_MAX && !strchr(text, '='))
		pools->idle[class] |= POOL_EMPTY;
	if (scan && file == POOL_MAX)
		free(text);
	else
		pools_take_text(pools, class, file, text);
	return 0;
}

/*
 * Read a class. A scan of thousands of cgroups spends its time in the kernel, which prints a file
 * at each read. So a scan first reads the files that show which other files are idle, and skips
 * these other files.
 */
static int pools_read_class(struct pools *pools, int dir, enum pool_class class,
			    unsigned int files, const struct pools *above)
{
	static const enum pool_file order[] = {
		POOL_MAX, POOL_PEAK, POOL_CURRENT, POOL_EVENTS, POOL_EVENTS_LOCAL,
	};
	unsigned int i, count = class == POOL_CONTROL ? 1 : POOL_FILES;
	struct slot *slot = NULL;
	unsigned int skipped = 0;
	bool scan = files & POOL_SCAN;
	int ret;

	for (i = 0; i < count; i++) {
		enum pool_file file = order[i];

		if (!(files & POOL_BIT(file)))
			continue;
		if (scan)
			pools_infer_idle(pools, above, class);
		if (pools->idle[class] & POOL_BIT(file)) {
			skipped |= POOL_BIT(file);
			continue;
		}
		ret = pools_take_file(pools, dir, class, file, scan);
		if (ret)
			return ret;
		/* If this file is missing, the other files are missing too. */
		if (file == POOL_MAX && !(pools->files[class] & POOL_BIT(file)))
			break;
	}
	/* The values in skipped files are 0 or max. */
	pools->files[class] |= skipped;
	while (skipped && (slot = pools_next(pools, slot)))
		if (slot->class == class)
			slot->has |= skipped;
	return 0;
}

/* Read rdma.default, a line "KEY=VALUE KEY=VALUE". A kernel without it has no defaults. */
static int pools_read_default(struct pools *pools, int dir)
{
	struct line line = { .device = device_default };
	char *text;

	if (!filter_has_device(device_default.name))
		return 0;
	text = file_read_at_once(dir, POOL_FILE_DEFAULT);
	if (!text)
		return file_is_gone(errno) ? 0 : -errno;
	line.rest = pools_keep(pools, text);
	text[strcspn(text, "\n")] = '\0';
	pool_take_line(pools_get(pools, &line.device), POOL_HCA, POOL_MAX, &line);
	return 0;
}

int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above)
{
	unsigned int class;
	int ret;

	for (class = 0; class < POOL_CLASSES; class++) {
		/* If a cgroup with the controller lacks a class, its descendants lack it too. */
		if (files & POOL_SCAN && above && above->files[POOL_HCA] && !above->files[class])
			continue;
		ret = pools_read_class(pools, dir, class, files, above);
		if (ret)
			return ret;
		if (class == POOL_HCA && !pools->files[class])
			return 0;
	}
	/* A scan does not need rdma.default: the lines of the devices show effective limits. */
	if (!(files & POOL_BIT(POOL_MAX)) || files & POOL_SCAN)
		return 0;
	return pools_read_default(pools, dir);
}

void pools_free(struct pools *pools)
{
	struct pool *pool;
	size_t i;

	while ((pool = pools->first)) {
		pools->first = pool->next;
		free(pool->slots);
		free(pool);
	}
	for (i = 0; i < pools->nr_texts; i++)
		free(pools->texts[i]);
	free(pools->texts);
	memset(pools, 0, sizeof(*pools));
}

struct json_object *pools_json(const struct pools *pools, bool (*wanted)(const struct slot *slot),
			       struct json_object *(*describe)(const struct slot *slot))
{
	struct json_object *array = json_object_new_array(), *resources = NULL;
	const struct slot *slot = NULL;
	const struct pool *pool = NULL;

	while ((slot = pools_next(pools, slot))) {
		if (wanted && !wanted(slot))
			continue;
		if (slot->pool != pool) {
			pool = slot->pool;
			resources = json_object_new_array();
			json_append(array, "device:s index:o resources:o", pool->device.name,
				    device_index(&pool->device), resources);
		}
		json_object_array_add(resources, describe(slot));
	}
	return array;
}

static const struct missing missing[] = {
	{ POOL_HCA, POOL_PEAK, "rdma.peak", "peaks are not known" },
	{ POOL_HCA, POOL_EVENTS, "rdma.events", "refusals are not counted" },
	{ POOL_VERB, POOL_MAX, "rdma.verb.*",
	  "it neither counts nor limits single types such as qp and mr_mem" },
	{ 0 }
};

const struct missing *missing_next(const struct pools *pools, const struct missing *last)
{
	const struct missing *next = last ? last + 1 : missing;

	while (next->files && (pools->files[next->class] & POOL_BIT(next->file)))
		next++;
	return next->files ? next : NULL;
}

void missing_say(const struct pools *pools)
{
	const struct missing *next = NULL;
	static bool said;

	if (said || options.json || !pools->files[POOL_HCA])
		return;
	said = true;
	while ((next = missing_next(pools, next)))
		say_note("this kernel has no %s: %s", next->files, next->meaning);
}

struct json_object *missing_json(const struct pools *pools)
{
	struct json_object *array = json_object_new_array();
	const struct missing *next = NULL;

	while ((next = missing_next(pools, next)))
		json_object_array_add(array, json_text(next->files));
	return array;
}
