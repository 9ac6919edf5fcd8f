/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's charges. The running kernel's structs have no room for them, so
 * each charge has a record, which is found by the address of what was charged.
 * For an older object, which has no record, nothing is returned.
 */
#ifndef _RDMACG_RECORD_H
#define _RDMACG_RECORD_H

#include <linux/list_bl.h>
#include <linux/version.h>

#include "ours.h"

/* A device, until its last object is gone. */
struct rdmacg_target {
	struct rdmacg_device	device;
	u64			types;		/* A bit for each resource. Set once. */
};

/* One charge. */
struct rdmacg_record {
	struct hlist_bl_node	node;		/* The lock of its bucket. */
	const void		*key;		/* Set before it is in a bucket. */
	/* Set once. */
	struct rdmacg_target	*target;
	struct rdma_cgroup	*owner;
	unsigned int		count;
	struct rdmacg_amount	set[2];
};

/* The resources: types of uverbs objects, by their numbers, and these. */
enum {
	RDMACG_LAST_OBJECT = 39,
#define RDMACG_OBJECT(...)
#define RDMACG_VERB(_id, ...) RDMACG_##_id,
#include <linux/cgroup_rdma_verbs.h>
	RDMACG_TYPES,
};

bool rdmacg_enforces(void);
struct rdmacg_target *rdmacg_find_target(const struct ib_device *device);

struct rdmacg_record *rdmacg_record_charge(struct ib_device *device,
					   struct cgroup_subsys_state *css,
					   unsigned int type, u64 amount);
void rdmacg_record_keep(struct rdmacg_record *record, const void *key);
struct rdmacg_record *rdmacg_record_take(const void *key);
void rdmacg_record_return(struct rdmacg_record *record);

/* test.c */
int rdmacg_test(struct ib_device *device);

#endif /* _RDMACG_RECORD_H */
