/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits as people write them, and from there to the files of the classes:
 *
 *	DEVICE [index=N] KEY=VALUE... | max | default
 *
 * VALUE is a number, one with K, M, G, T where the key counts bytes, a percentage of what
 * the device has, or max. DEVICE "default" stands for every device without limits of its
 * own (rdma.default), and the word default takes a device's own limits back.
 */
#ifndef RDMACG_LIMITS_H
#define RDMACG_LIMITS_H

#include "core/core.h"
#include "write/transaction.h"

struct limit {
	char *key;
	/* A number, NUMBER_MAX included; or thousandths of a percent of the capacity. */
	uint64_t value;
	bool percent;
};

struct limits {
	struct device device;
	struct limit *limits;
	size_t nr_limits;
	/* "max" or "default" for all keys of the device, or NULL. */
	const char *whole;
};

/* Each says an error and returns false where a word is none of these. */
bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count);
/* DEVICE:WORD[,WORD]... */
bool limits_parse_option(struct limits *limits, const char *text);
void limits_free(struct limits *limits);

/* The pool of a device. A unique name needs no index. NULL, and an error is said. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools);

/* How rdma.default names a key: "hw:KEY" where a driver brings it. To be freed. */
char *limits_default_key(const struct cgroup *cgroup, const char *key);

/*
 * The number of a limit, one of @limits, percentages included. False, and an error is said,
 * for what this kernel does not take.
 */
bool limits_value(const struct limits *limits, const struct limit *limit, uint64_t *value);
/*
 * Add the writes that set @limits in @cgroup, whose pools have been read, each key in the
 * file of its class. False, and an error is said, for what is not there.
 */
bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup);

#endif /* RDMACG_LIMITS_H */
