/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's charges. The structs of the running kernel have no room for them,
 * so each charge has a record, which is found by the address of what was charged.
 * An object without a record is older than the module, and nothing is returned for
 * it.
 */
#ifndef _RDMACG_RECORD_H
#define _RDMACG_RECORD_H

#include <linux/list_bl.h>
#include <rdma/ib_verbs.h>

#include "target.h"

/* One charge. */
struct rdmacg_record {
	struct hlist_bl_node	node;		/* The lock of its bucket. */
	const void		*key;		/* Set before it is in a bucket. */
	struct rdmacg_target	*target;	/* Set once. */
	struct rdmacg_payment	payment;	/* Set once. */
};

/*
 * The resources of a device are the types of uverbs objects, by their numbers, and
 * these.
 */
enum {
	RDMACG_DRIVER_OBJECT = 40,
	RDMACG_MR_MEM,
	RDMACG_DM_MEM,
	RDMACG_MCAST,
	RDMACG_TYPES,
};

struct rdmacg_target *rdmacg_find_target(const struct ib_device *device);

struct rdmacg_record *rdmacg_record_charge(struct ib_device *device,
					   struct cgroup_subsys_state *css,
					   unsigned int type, u64 amount);
void rdmacg_record_add(struct rdmacg_record *record, const void *key);
struct rdmacg_record *rdmacg_record_take(const void *key);
void rdmacg_record_return(struct rdmacg_record *record);

#endif /* _RDMACG_RECORD_H */
