/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: limits of devices that have none of their own.
 */
#ifndef _KERNEL_CGROUP_RDMA_DEFAULT_H
#define _KERNEL_CGROUP_RDMA_DEFAULT_H

#include <linux/cgroup_rdma.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include "rdma-parse.h"

/* The control class: what the controller adds to each device. In the order of their slots. */
enum rdmacg_control_limit {
	RDMACG_CONTROL_OPS,
	RDMACG_CONTROL_BURST,
	RDMACG_CONTROL_INFLIGHT,
	RDMACG_CONTROL_LIMITS,
};

/* No adapter reaches more commands per second, and a higher rate would not be exact. */
#define RDMACG_OPS_MAX 1000000

extern const char * const rdmacg_control_keys[RDMACG_CONTROL_LIMITS];

/* Of the hw class, whose keys drivers choose, a cgroup has so many at most. */
#define RDMACG_HW_DEFAULTS RDMACG_MAX_SLOTS

/* A limit of each device that has a resource of this class and name. */
struct rdmacg_default {
	enum rdmacg_class	class;
	char			key[RDMACG_KEY_SIZE];
	u64			max;
};

/*
 * All such limits of one cgroup, or what a write does to them. Those of a cgroup are set before
 * they can be found and never change: a write puts others in their place, so a reader reads
 * them whole. Freed by RCU.
 */
struct rdmacg_defaults {
	struct rcu_head		rcu;
	/* Of a write: a default that has no limit here goes as well. */
	bool			is_reset;
	unsigned int		count;
	unsigned int		room;		/* for so many */
	struct rdmacg_default	limits[];
};

struct rdmacg_defaults *rdmacg_defaults_alloc(unsigned int room);
struct rdmacg_defaults *rdmacg_defaults_parse(const char *text);
unsigned int rdmacg_defaults_room(const struct rdmacg_defaults *old,
				  const struct rdmacg_defaults *edit);
int rdmacg_defaults_merge(struct rdmacg_defaults *new, const struct rdmacg_defaults *old,
			  const struct rdmacg_defaults *edit);
bool rdmacg_defaults_have(const struct rdmacg_defaults *defaults, enum rdmacg_class class);
bool rdmacg_limit_is_valid(enum rdmacg_class class, struct rdmacg_word key, u64 max);
u64 rdmacg_default_limit(const struct rdmacg_defaults *defaults,
			 const struct rdmacg_resource *resource);
void rdmacg_print_defaults(struct seq_file *sf, const struct rdmacg_defaults *defaults);

#endif /* _KERNEL_CGROUP_RDMA_DEFAULT_H */
