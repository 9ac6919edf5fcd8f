/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: writes to the files of limits. */
#ifndef _KERNEL_CGROUP_RDMA_LIMIT_H
#define _KERNEL_CGROUP_RDMA_LIMIT_H

#include <linux/list.h>
#include <linux/types.h>

#include "rdma-pool.h"

/*
 * The limits that a write sets on one device. Only the writer uses this struct.
 */
struct rdmacg_update {
	struct list_head	node;
	struct rdmacg_desc	*desc;		/* The update holds a reference. */
	bool			is_pinned;	/* The pool of @desc is pinned. */
	u64			slots;		/* A bit for each slot that is set in @max. */
	u64			max[];		/* The limits, or RDMACG_USE_DEFAULT. */
};

/* A limit before and after a write, and the usage at that moment. */
struct rdmacg_change {
	u64			old;
	u64			new;
	u64			usage;
};

/*
 * The state of one write to a file of limits. Only the writer uses this struct.
 */
struct rdmacg_write {
	struct rdma_cgroup	*cg;
	enum rdmacg_class	class;
	struct list_head	updates;	/* A list of struct rdmacg_update. */
	/* These arrays are used again for each device. */
	u64			defaults[RDMACG_MAX_SLOTS];
	struct rdmacg_change	changes[RDMACG_MAX_SLOTS];
};

int rdmacg_write_pin(struct rdmacg_write *write);
int rdmacg_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, char *text);
int rdmacg_set_default(struct rdma_cgroup *cg, char *text);

#endif /* _KERNEL_CGROUP_RDMA_LIMIT_H */
