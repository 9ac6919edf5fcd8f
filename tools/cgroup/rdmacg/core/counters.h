/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a cgroup has: a pool for each device, and in it a slot for each resource, put
 * together from the files of all classes. A kernel lacks some of the files, and a device
 * may come or go between two of them, so each slot says what it knows.
 */
#ifndef RDMACG_COUNTERS_H
#define RDMACG_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"

enum pool_class {
	POOL_HCA,
	POOL_VERB,
	POOL_HW,
	/* Rates of commands: limits only. */
	POOL_CONTROL,
	POOL_CLASSES,
};

enum pool_file {
	POOL_MAX,
	POOL_CURRENT,
	POOL_PEAK,
	POOL_EVENTS,
	POOL_EVENTS_LOCAL,
	POOL_FILES,
};

#define POOL_BIT(file)	(1U << (file))
#define POOL_ALL	(POOL_BIT(POOL_FILES) - 1)
/* Beside the files: leave out those that must be zero by what was read before. */
#define POOL_SCAN	POOL_BIT(POOL_FILES)

/* Refusals: by limits, and of attempts; of a subtree, or of one cgroup. */
struct events {
	uint64_t max;
	uint64_t alloc_fail;
};

struct cgroup;

struct slot {
	/* Points into the text of a file. */
	const char *key;
	enum pool_class class;
	/* Which files had it, POOL_BIT(). */
	unsigned int has;
	uint64_t max;
	uint64_t usage;
	uint64_t peak;
	struct events events;
	struct events local;
	/* The smallest limit on the way up, and whose it is; NULL where there is none. */
	uint64_t limit;
	const struct cgroup *limit_of;
	/* For who visits cgroups in a walk. */
	uint64_t tally;
};

struct pool {
	/* The name points into the text of a file. */
	struct device device;
	struct slot *slots;
	size_t nr_slots;
};

/* All pools of a cgroup, in the order of the files. */
struct pools {
	struct pool *pools;
	size_t nr_pools;
	/* Which files there are, POOL_BIT(), by class. */
	unsigned int files[POOL_CLASSES];
	/* By class: there are lines of max that a scan has not kept, for they have no limit. */
	bool unlimited[POOL_CLASSES];
	/* What was read; keys and names point into it. */
	char **texts;
	size_t nr_texts;
};

extern const char * const pool_class_names[POOL_CLASSES];

/* The limits of devices that have none of their own; in pools as device_default. */
#define POOL_FILE_DEFAULT "rdma.default"

/* "rdma.verb.max": valid until the next call. */
const char *pool_file_name(enum pool_class class, enum pool_file file);

/*
 * Read the files of the cgroup at @dir, those of @files (POOL_BIT()). What there is not, is
 * left out. @above is what was read of its parent, or NULL; POOL_SCAN looks at that. 0, or
 * a negative errno where a file cannot be read that is there.
 */
int pools_read(struct pools *pools, int dir, unsigned int files, const struct pools *above);
/* Read a file of the same form, with one value for each key, as the max of the slots. */
int pools_read_file(struct pools *pools, int dir, const char *name);
void pools_free(struct pools *pools);

/* The slot of this device and key, made where it is missing; both are copied. */
struct slot *pools_get_slot(struct pools *pools, const struct device *device, const char *key);
/* NULL where there is none. */
struct pool *pools_find(const struct pools *pools, const struct device *device);
struct slot *pool_find(const struct pool *pool, const char *key);
struct slot *pools_find_slot(const struct pools *pools, const struct device *device,
			     const char *key);
/* The same, where the pool is mostly number @pool and the slot number @slot. */
struct slot *pools_find_slot_near(const struct pools *pools, const struct device *device,
				  const char *key, size_t pool, size_t slot);

#endif /* RDMACG_COUNTERS_H */
