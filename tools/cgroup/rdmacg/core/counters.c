// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the pools of a cgroup, from the controller's files. */
#include "core/core.h"

const char * const pool_class_names[] = { "hca", "verb", "hw", "control", "netlink" };

const char * const pool_file_names[POOL_CLASSES][POOL_FILES] = {
	{ "rdma.max", "rdma.peak", "rdma.current", "rdma.events", "rdma.events.local" },
	{ "rdma.verb.max", "rdma.verb.peak", "rdma.verb.current", "rdma.verb.events",
	  "rdma.verb.events.local" },
	{ "rdma.hw.max", "rdma.hw.peak", "rdma.hw.current", "rdma.hw.events",
	  "rdma.hw.events.local" },
	{ "rdma.control.max" },
};

struct pool *pools_find(const struct pools *pools, const struct device *device)
{
	struct pool *pool = pools->first;

	while (pool && !device_is_same(&pool->device, device))
		pool = pool->next;
	return pool;
}

/* The files have the same keys in the same order, so begin at the result of the last search. */
struct slot *pool_find(const struct pool *pool, const char *key)
{
	size_t i, at;

	for (i = 0; i < pool->nr_slots; i++) {
		at = (pool->near + i) % pool->nr_slots;
		if (key_is_same(pool->slots[at].key, key)) {
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

enum pool_class pool_key_class(const char *key)
{
	return hierarchy_has_word(POOL_VERBS, key) ? POOL_VERB :
	       hierarchy_has_word("ops burst inflight", key) ? POOL_CONTROL :
	       hierarchy_has_word("hca_handle hca_object", key) ? POOL_HCA : POOL_HW;
}

/* A @class of POOL_CLASSES means that the file, as rdma.default, has keys of all classes. */
static struct slot *pool_get_slot(struct pool *pool, enum pool_class class, const char *key)
{
	struct slot *slot = pool_find(pool, key);

	if (slot)
		return slot;
	slot = memory_append(pool->slots, pool->nr_slots);
	slot->pool = pool;
	slot->key = key;
	slot->class = class != POOL_CLASSES ? class : pool_key_class(key);
	slot->max = NUMBER_MAX;
	slot->limit = NUMBER_MAX;
	pool->near = pool->nr_slots - 1;
	return slot;
}

/* Add the values of one line of @file. */
static void pool_take_line(struct pool *pool, enum pool_class class, enum pool_file file,
			   struct line *line)
{
	const char *key;
	uint64_t value;

	while (line_next_value(line, &key, &value)) {
		char *event = strchrnul(key, '.');
		struct events *events;
		struct slot *slot;

		if (*event)
			*event++ = '\0';
		if (!filter_has(&filter_keys, key))
			continue;
		slot = pool_get_slot(pool, class, key);
		slot->has |= POOL_BIT(file);
		events = file == POOL_EVENTS ? &slot->events : &slot->local;
		if (file == POOL_MAX)
			slot->max = value;
		else if (file == POOL_CURRENT)
			slot->usage = value;
		else if (file == POOL_PEAK)
			slot->peak = value;
		else if (!strcmp(event, "max"))
			events->max = value;
		else if (!strcmp(event, "alloc_fail"))
			events->alloc_fail = value;
	}
}

/* Find or add the pool of a device. The name in @device must live as long as the pools. */
static struct pool *pools_get(struct pools *pools, const struct device *device)
{
	struct pool **pool = &pools->first;

	while (*pool && !device_is_same(&(*pool)->device, device))
		pool = &(*pool)->next;
	if (!*pool) {
		*pool = memory_zeroed(1, sizeof(**pool));
		(*pool)->device = *device;
	}
	return *pool;
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
	return pool_get_slot(pools_get(pools, &copy), POOL_CLASSES,
			     pools_keep(pools, memory_string(key)));
}

static void pools_take_text(struct pools *pools, enum pool_class class, enum pool_file file,
			    char *text)
{
	struct line line;

	pools_keep(pools, text);
	while (line_next(&text, &line))
		if (filter_has(&filter_devices, line.device.name))
			pool_take_line(pools_get(pools, &line.device), class, file, &line);
}

int pools_read_file(struct pools *pools, int dir, const char *name)
{
	char *text = file_read(dir, name);

	if (!text)
		return -errno;
	pools_take_text(pools, POOL_CLASSES, POOL_MAX, text);
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
 * Read a class. A scan of thousands of cgroups spends its time in the kernel, which prints a file
 * at each read. So a scan skips files that must be idle: usage if all peaks are 0, and each
 * file that is idle in the parent, because usage, peaks and events include the descendants.
 */
static int pools_read_class(struct pools *pools, int dir, enum pool_class class,
			    unsigned int files, const struct pools *above)
{
	unsigned int file, count = class == POOL_CONTROL ? 1 : POOL_FILES;
	unsigned int idle = above ? above->idle[class] & ~POOL_BIT(POOL_MAX) : 0;
	unsigned int skipped = 0;
	struct slot *slot = NULL;
	char *text;

	for (file = 0; file < count; file++) {
		if (idle & POOL_BIT(POOL_PEAK))
			idle |= POOL_BIT(POOL_CURRENT);
		skipped |= files & idle & POOL_BIT(file);
		if (!(files & ~idle & POOL_BIT(file)))
			continue;
		text = file_read_until(dir, pool_file_names[class][file], true);
		if (!text && !file_is_gone(errno))
			return -errno;
		/* The other files of the class are also missing, or also have no lines. */
		if (file == POOL_MAX && (!text || (files & POOL_SCAN && !strchr(text, '=')))) {
			free(text);
			return 0;
		}
		if (!text)
			continue;
		pools->files[class] |= POOL_BIT(file);
		if (files & POOL_SCAN && pools_text_is_idle(file, text))
			idle |= POOL_BIT(file);
		/* A file without limits needs no slots. */
		if (file == POOL_MAX && idle & POOL_BIT(file))
			free(text);
		else
			pools_take_text(pools, class, file, text);
	}
	pools->idle[class] = idle;
	pools->files[class] |= skipped;
	/* The values in skipped files are 0. */
	while (skipped && (slot = pools_next(pools, slot)))
		if (slot->class == class)
			slot->has |= skipped;
	return 0;
}

/* The line of a device that this network namespace sees has no index. */
static void pools_mark_namesakes(struct pools *pools)
{
	struct pool *pool;

	for (pool = pools->first; pool; pool = pool->next) {
		const struct device seen = { .name = pool->device.name };

		pool->device.is_namesake = pool->device.has_index && pools_find(pools, &seen);
	}
}

int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above)
{
	struct line line = { .device = device_default };
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
	/*
	 * A scan matches no rules, and does not need rdma.default: the lines of the devices show
	 * effective limits.
	 */
	if (files & POOL_SCAN)
		return 0;
	pools_mark_namesakes(pools);
	if (!(files & POOL_BIT(POOL_MAX)) || !filter_has(&filter_devices, device_default.name))
		return 0;
	/* A line "KEY=VALUE KEY=VALUE". A kernel without the file has no defaults. */
	line.rest = file_read_until(dir, POOL_FILE_DEFAULT, true);
	if (!line.rest)
		return file_is_gone(errno) ? 0 : -errno;
	pools_keep(pools, line.rest);
	line.rest[strcspn(line.rest, "\n")] = '\0';
	pool_take_line(pools_get(pools, &line.device), POOL_CLASSES, POOL_MAX, &line);
	return 0;
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
		if (!wanted(slot))
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
	  "qp, mr_mem and others have no limit; show, why and export ask rdma netlink" },
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
