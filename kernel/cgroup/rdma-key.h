/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: the keys that are known without a device. */
#ifndef _KERNEL_CGROUP_RDMA_KEY_H
#define _KERNEL_CGROUP_RDMA_KEY_H

#include <linux/cgroup_rdma.h>
#include <linux/types.h>

/*
 * The keys of the control class, in the order of the files. The controller adds
 * this class to each device.
 */
enum rdmacg_control_limit {
	RDMACG_CONTROL_OPS,
	RDMACG_CONTROL_BURST,
	RDMACG_CONTROL_INFLIGHT,
	RDMACG_CONTROL_LIMITS,
};

/*
 * The highest rate, in commands per second. No adapter reaches a higher rate.
 * The interval between two commands is in whole nanoseconds, so a higher rate
 * would not be exact.
 */
#define RDMACG_OPS_MAX 1000000

/* The maximum number of known keys, including the empty key at the end. */
#define RDMACG_MAX_KEYS 64

struct rdmacg_key {
	enum rdmacg_class	class;
	const char		*name;
};

/* All known keys, and an empty key. */
extern const struct rdmacg_key rdmacg_keys[];

const char *rdmacg_control_key(enum rdmacg_control_limit limit);
int rdmacg_parse_key(const char **key);
bool rdmacg_limit_is_valid(enum rdmacg_class class, const char *key, u64 max);

#endif /* _KERNEL_CGROUP_RDMA_KEY_H */
