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
 * The files have the same devices and keys in the same order, so what is looked for is
 * mostly at the place where the last search ended. @hint is that place.
 */
static struct pool *pools_find_near(const struct pools *pools, const struct device *device,
				    size_t hint)
{
	size_t i;

	for (i = 0; i < pools->nr_pools; i++) {
		struct pool *pool = &pools->pools[(hint + i) % pools->nr_pools];

		if (device_is_same(&pool->device, device))
			return pool;
	}
	return NULL;
}

static struct slot *pool_find_near(const struct pool *pool, const char *key, size_t hint)
{
	size_t i;

	for (i = 0; i < pool->nr_slots; i++) {
		struct slot *slot = &pool->slots[(hint + i) % pool->nr_slots];

		if (!strcmp(slot->key, key))
			return slot;
	}
	return NULL;
}

struct pool *pools_find(const struct pools *pools, const struct device *device)
{
	return pools_find_near(pools, device, 0);
}

struct slot *pool_find(const struct pool *pool, const char *key)
{
	return pool_find_near(pool, key, 0);
}

struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key)
{
	return pools_find_slot_near(pools, device, key, 0, 0);
}

struct slot *pools_find_slot_near(const struct pools *pools, const struct device *device,
				  const char *key, size_t pool, size_t slot)
{
	const struct pool *found = pools_find_near(pools, device, pool);

	return found ? pool_find_near(found, key, slot) : NULL;
}

static struct slot *pool_get_slot(struct pool *pool, enum pool_class class, const char *key,
				  size_t hint)
{
	struct slot *slot = pool_find_near(pool, key, hint);

	if (slot)
		return slot;
	pool->slots = memory_grow(pool->slots, pool->nr_slots, sizeof(*slot));
	slot = &pool->slots[pool->nr_slots++];
	slot->key = key;
	slot->class = class;
	slot->max = NUMBER_MAX;
	slot->limit = NUMBER_MAX;
	return slot;
}

/* Cut ".max" or ".alloc_fail" off the key of an event; NULL for an event of another kind. */
static uint64_t *pool_event(struct events *events, const char *kind)
{
	if (!strcmp(kind, "max"))
		return &events->max;
	if (!strcmp(kind, "alloc_fail"))
		return &events->alloc_fail;
	return NULL;
}

static void slot_set(struct slot *slot, enum pool_file file, const char *kind, uint64_t value)
{
	struct events *events = file == POOL_EVENTS ? &slot->events : &slot->local;
	uint64_t *event;

	if (file == POOL_MAX)
		slot->max = value;
	else if (file == POOL_CURRENT)
		slot->usage = value;
	else if (file == POOL_PEAK)
		slot->peak = value;
	event = kind ? pool_event(events, kind) : NULL;
	if (event)
		*event = value;
	slot->has |= POOL_BIT(file);
}

/* What one line of @file says of its device. */
static void pool_take_line(struct pool *pool, enum pool_class class, enum pool_file file,
			   struct line *line)
{
	bool events = file == POOL_EVENTS || file == POOL_EVENTS_LOCAL;
	struct slot *slot = NULL;
	const char *key;
	uint64_t value;

	while (line_next_value(line, &key, &value)) {
		char *dot = events ? strrchr(key, '.') : NULL;

		if (events && !dot)
			continue;
		if (dot)
			*dot++ = '\0';
		if (!filter_has_key(key))
			continue;
		/* Two events in a row are of one key. */
		slot = pool_get_slot(pool, class, key,
				     slot ? slot - pool->slots + !events : 0);
		slot_set(slot, file, dot, value);
	}
}

static struct pool *pools_add(struct pools *pools, const struct device *device)
{
	struct pool *pool;

	pools->pools = memory_grow(pools->pools, pools->nr_pools, sizeof(*pool));
	pool = &pools->pools[pools->nr_pools++];
	pool->device = *device;
	return pool;
}

/* Keep @text as long as the pools. */
static char *pools_keep(struct pools *pools, char *text)
{
	pools->texts = memory_grow(pools->texts, pools->nr_texts, sizeof(*pools->texts));
	pools->texts[pools->nr_texts++] = text;
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
	key = pools_keep(pools, memory_string(key));
	return pool_get_slot(pool, POOL_HCA, key, 0);
}

static void pools_take_text(struct pools *pools, enum pool_class class, enum pool_file file,
			    char *text)
{
	struct line line;
	size_t hint = 0;

	pools_keep(pools, text);
	while (line_next(&text, &line)) {
		struct pool *pool;

		if (!filter_has_device(line.device.name))
			continue;
		pool = pools_find_near(pools, &line.device, hint);

		if (!pool)
			pool = pools_add(pools, &line.device);
		hint = pool - pools->pools + 1;
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

static bool slot_is_zero(const struct slot *slot, enum pool_file file)
{
	switch (file) {
	case POOL_CURRENT:
		return !slot->usage;
	case POOL_PEAK:
		return !slot->peak;
	case POOL_EVENTS:
		return !slot->events.max && !slot->events.alloc_fail;
	default:
		return false;
	}
}

/* Whether the file was read, and has no line, or nothing but zeros. */
static bool pools_are_zero(const struct pools *pools, enum pool_class class, enum pool_file file)
{
	size_t i, j;

	if (!(pools->files[class] & POOL_BIT(file)))
		return false;
	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			if (pools->pools[i].slots[j].class == class &&
			    !slot_is_zero(&pools->pools[i].slots[j], file))
				return false;
	return true;
}

/*
 * A scan of thousands of cgroups takes its time in the kernel, which writes each file anew,
 * so no file is read that must be zero by what was read before: what is used has a peak, a
 * refusal by the own limit counts among all, and what counts below counts above.
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

/* Say of each slot of a class that these files are known, for they are zero. */
static void pools_set_zero(struct pools *pools, enum pool_class class, unsigned int files)
{
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		if (pools->pools[i].device.is_default)
			continue;
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			if (pools->pools[i].slots[j].class == class)
				pools->pools[i].slots[j].has |= files;
	}
}

/* Whether all of a file of limits is max; an index is taken for a limit. */
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
	/* What says most of the others comes first. */
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

/* A class that a cgroup with the controller does not have, none below it has. */
static bool pools_lack_class(const struct pools *above, enum pool_class class,
			     unsigned int files)
{
	return (files & POOL_SCAN) && above && above->files[POOL_HCA] && !above->files[class];
}

/* "KEY=VALUE KEY=VALUE"; a kernel without the file has no defaults. */
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
	/* A scan is of usage; what a default limits stands in the lines of the devices. */
	if (!(files & POOL_BIT(POOL_MAX)) || files & POOL_SCAN)
		return 0;
	return pools_read_default(pools, dir);
}

void pools_free(struct pools *pools)
{
	size_t i;

	for (i = 0; i < pools->nr_pools; i++)
		free(pools->pools[i].slots);
	for (i = 0; i < pools->nr_texts; i++)
		free(pools->texts[i]);
	free(pools->pools);
	free(pools->texts);
	memset(pools, 0, sizeof(*pools));
}
