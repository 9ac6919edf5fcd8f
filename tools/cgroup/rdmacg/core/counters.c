// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the pools of a cgroup, from the controller's files. */
#include "core/core.h"

const char * const pool_class_names[POOL_CLASSES] = { "hca", "verb", "hw", "control" };

static const char * const pool_prefixes[POOL_CLASSES] = {
	"rdma.", "rdma.verb.", "rdma.hw.", "rdma.control.",
};

static const char * const pool_suffixes[POOL_FILES] = {
	"max", "current", "peak", "events", "events.local",
};

const char *pool_file_name(enum pool_class class, enum pool_file file)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s%s", pool_prefixes[class], pool_suffixes[file]);
	return name;
}

/*
 * The files have the same devices and keys in the same order, so a search mostly ends where
 * the last search ended, or next to it.
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
	slot = memory_append(&pool->slots, &pool->nr_slots, sizeof(*slot));
	slot->pool = pool;
	slot->key = key;
	slot->class = class;
	slot->max = NUMBER_MAX;
	slot->limit = NUMBER_MAX;
	pool->near = pool->nr_slots - 1;
	return slot;
}

/* The counter of an event such as "max"; NULL for an event of another kind. */
static uint64_t *slot_event(struct slot *slot, enum pool_file file, const char *kind)
{
	struct events *events = file == POOL_EVENTS ? &slot->events : &slot->local;

	if (!strcmp(kind, "max"))
		return &events->max;
	return strcmp(kind, "alloc_fail") ? NULL : &events->alloc_fail;
}

static uint64_t *slot_value(struct slot *slot, enum pool_file file)
{
	return file == POOL_MAX ? &slot->max : file == POOL_CURRENT ? &slot->usage : &slot->peak;
}

/* Take the values of one line of @file. */
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
		to = dot ? slot_event(slot, file, dot) : slot_value(slot, file);
		if (to)
			*to = value;
	}
}

static struct pool *pools_add(struct pools *pools, const struct device *device)
{
	struct pool *pool = memory_zeroed(1, sizeof(*pool));
	struct pool **end = &pools->first;

	while (*end)
		end = &(*end)->next;
	*end = pool;
	pool->device = *device;
	pools->near = pool;
	return pool;
}

/* Keep @text as long as the pools. */
static char *pools_keep(struct pools *pools, char *text)
{
	char **kept = memory_append(&pools->texts, &pools->nr_texts, sizeof(*kept));

	*kept = text;
	return text;
}

struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key)
{
	struct pool *pool = pools_find(pools, device);
	struct slot *slot = pool ? pool_find(pool, key) : NULL;

	if (slot)
		return slot;
	if (!pool) {
		pool = pools_add(pools, device);
		pool->device.name = pools_keep(pools, memory_string(device->name));
	}
	return pool_get_slot(pool, POOL_HCA, pools_keep(pools, memory_string(key)));
}

static void pools_take_text(struct pools *pools, enum pool_class class, enum pool_file file,
			    char *text)
{
	struct pool *pool;
	struct line line;

	pools_keep(pools, text);
	while (line_next(&text, &line)) {
		if (!filter_has_device(line.device.name))
			continue;
		pool = pools_find(pools, &line.device);
		if (!pool)
			pool = pools_add(pools, &line.device);
		pool_take_line(pool, class, file, &line);
	}
}

int pools_read_file(struct pools *pools, int dir, const char *name)
{
	char *text = file_read(dir, name);

	if (!text)
		return -errno;
	pools_take_text(pools, POOL_HCA, POOL_MAX, text);
	return 0;
}

static bool slot_is_zero(struct slot *slot, enum pool_file file)
{
	if (file == POOL_EVENTS)
		return !slot->events.max && !slot->events.alloc_fail;
	return (file == POOL_CURRENT || file == POOL_PEAK) && !*slot_value(slot, file);
}

/* Whether the file was read and has only zeros or no line. */
static bool pools_are_zero(const struct pools *pools, enum pool_class class, enum pool_file file)
{
	struct slot *slot = NULL;

	if (!(pools->files[class] & POOL_BIT(file)))
		return false;
	while ((slot = pools_next(pools, slot)))
		if (slot->class == class && !slot_is_zero(slot, file))
			return false;
	return true;
}

/*
 * A scan of thousands of cgroups spends its time in the kernel, which prints each file at each
 * read. So skip files that must be zero. A resource in use has a peak, all refusals include those
 * by the cgroup's own limit, and the usage of a cgroup includes its descendants.
 */
static bool pools_must_be_zero(const struct pools *pools, const struct pools *above,
			       enum pool_class class, enum pool_file file, unsigned int files)
{
	if (!(files & POOL_SCAN))
		return false;
	if (file == POOL_MAX)
		return above && !above->unlimited[class] && pools_are_zero(above, class, file);
	if (!pools->unlimited[class] && pools_are_zero(pools, class, POOL_MAX))
		return true;
	if (file == POOL_CURRENT && pools_are_zero(pools, class, POOL_PEAK))
		return true;
	if (file == POOL_EVENTS_LOCAL)
		return pools_are_zero(pools, class, POOL_EVENTS);
	return above && pools_are_zero(above, class, file);
}

/* Note for each slot of a class that these files are known to be zero. */
static void pools_set_zero(struct pools *pools, enum pool_class class, unsigned int files)
{
	struct slot *slot = NULL;

	while ((slot = pools_next(pools, slot)))
		if (slot->class == class && !slot->pool->device.is_default)
			slot->has |= files;
}

/* Whether each limit in a file is max. An index is taken for a limit. */
static bool pools_are_unlimited(const char *text)
{
	const char *equals = text;

	while ((equals = strchr(equals, '=')))
		if (*++equals != 'm')
			return false;
	return *text;
}

static void pools_take_file(struct pools *pools, enum pool_class class, enum pool_file file,
			    char *text, bool scan)
{
	pools->files[class] |= POOL_BIT(file);
	pools->unlimited[class] |= scan && file == POOL_MAX && pools_are_unlimited(text);
	if (scan && file == POOL_MAX && pools->unlimited[class])
		free(text);
	else
		pools_take_text(pools, class, file, text);
}

static int pools_read_class(struct pools *pools, int dir, enum pool_class class,
			    unsigned int files, const struct pools *above)
{
	/* First read the files that tell most about other files. */
	static const enum pool_file order[] = {
		POOL_MAX, POOL_PEAK, POOL_CURRENT, POOL_EVENTS, POOL_EVENTS_LOCAL,
	};
	unsigned int zero = 0, i, count = class == POOL_CONTROL ? 1 : POOL_FILES;
	char *text;

	for (i = 0; i < count; i++) {
		enum pool_file file = order[i];

		if (!(files & POOL_BIT(file)))
			continue;
		if (pools_must_be_zero(pools, above, class, file, files)) {
			pools->files[class] |= POOL_BIT(file);
			zero |= POOL_BIT(file);
			continue;
		}
		text = file_read_at_once(dir, pool_file_name(class, file));
		if (!text && !file_is_gone(errno))
			return -errno;
		if (text) {
			pools_take_file(pools, class, file, text, files & POOL_SCAN);
		} else if (file == POOL_MAX) {
			/* A kernel or a cgroup without the first file has none of the others. */
			break;
		}
	}
	pools_set_zero(pools, class, zero);
	return 0;
}

/* If a cgroup with the controller lacks a class, its descendants lack the class too. */
static bool pools_lack_class(const struct pools *above, enum pool_class class,
			     unsigned int files)
{
	return (files & POOL_SCAN) && above && above->files[POOL_HCA] && !above->files[class];
}

/* The file has one line "KEY=VALUE KEY=VALUE". A kernel without the file has no defaults. */
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
	pool_take_line(pools_add(pools, &line.device), POOL_HCA, POOL_MAX, &line);
	return 0;
}

int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above)
{
	unsigned int class;
	int ret;

	for (class = 0; class < POOL_CLASSES; class++) {
		if (pools_lack_class(above, class, files))
			continue;
		ret = pools_read_class(pools, dir, class, files, above);
		if (ret)
			return ret;
		if (class == POOL_HCA && !pools->files[class])
			return 0;
	}
	/* A scan is about usage; the lines of the devices show what a default limits. */
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
	struct json_object *array = json_object_new_array(), *device = NULL, *resources = NULL;
	const struct slot *slot = NULL;
	const struct pool *pool = NULL;

	while ((slot = pools_next(pools, slot))) {
		if (wanted && !wanted(slot))
			continue;
		if (slot->pool != pool) {
			pool = slot->pool;
			device = json_object_new_object();
			resources = json_object_new_array();
			device_json(device, &pool->device);
			json_add(device, "resources", resources);
			json_object_array_add(array, device);
		}
		json_object_array_add(resources, describe(slot));
	}
	return array;
}

static const struct missing missing[] = {
	{ POOL_HCA, POOL_PEAK, "rdma.peak", "peaks are not known" },
	{ POOL_HCA, POOL_EVENTS, "rdma.events", "refusals are not counted" },
	{ POOL_VERB, POOL_MAX, "rdma.verb.*",
	  "qp, mr_mem and other single types are neither counted nor limited" },
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
