/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: defaults. A default applies to each device that has
 * no limit of its own.
 */
#ifndef _KERNEL_CGROUP_RDMA_DEFAULT_H
#define _KERNEL_CGROUP_RDMA_DEFAULT_H

#include <linux/cgroup_rdma.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include "rdma-parse.h"

/*
 * The maximum number of defaults of the hw class. Drivers choose the keys of
 * this class.
 */
#define RDMACG_HW_DEFAULTS RDMACG_MAX_SLOTS

/*
 * The room for all possible defaults of a cgroup and all changes of one write.
 */
#define RDMACG_MAX_DEFAULTS 512

/* A limit for each device that has a resource of this class and name. */
struct rdmacg_default {
	enum rdmacg_class	class;
	char			key[RDMACG_KEY_SIZE];
	u64			max;
};

/*
 * All defaults of one cgroup, or the changes of a write. A write replaces the
 * whole struct of a cgroup instead of changing it, so a reader never sees a
 * part of a write. RCU frees the struct.
 */
struct rdmacg_defaults {
	struct rcu_head		rcu;
	/* True if a write also removes the defaults that are not in @limits. */
	bool			is_reset;
	unsigned int		count;
	unsigned int		room;		/* The number of allocated entries. */
	struct rdmacg_default	limits[];
};

struct rdmacg_defaults *rdmacg_defaults_alloc(unsigned int room);
struct rdmacg_defaults *rdmacg_defaults_parse(char *text);
int rdmacg_defaults_merge(struct rdmacg_defaults *new, const struct rdmacg_defaults *old,
			  const struct rdmacg_defaults *edit);
unsigned int rdmacg_defaults_count(const struct rdmacg_defaults *defaults, enum rdmacg_class class);
u64 rdmacg_default_limit(const struct rdmacg_defaults *defaults,
			 const struct rdmacg_resource *resource);
void rdmacg_print_defaults(struct seq_file *sf, const struct rdmacg_defaults *defaults);

#endif /* _KERNEL_CGROUP_RDMA_DEFAULT_H */
