/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: devices, their resources and their names.
 */
#ifndef _KERNEL_CGROUP_RDMA_DEVICE_H
#define _KERNEL_CGROUP_RDMA_DEVICE_H

#include <linux/cgroup_rdma.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "rdma-key.h"
#include "rdma-parse.h"

/*
 * The number of slots of the control class. These slots follow the slots that
 * can be charged.
 */
#define RDMACG_NR_CONTROL_SLOTS						\
	(IS_ENABLED(CONFIG_CGROUP_RDMA_CONTROL) ? RDMACG_CONTROL_LIMITS : 0)

/*
 * The name of a device and its namespace. A reader sees both from the same
 * rename. Set once.
 */
struct rdmacg_name {
	struct rcu_head		rcu;
	const struct net	*net;	/* Only compared, because the namespace may be freed. */
	char			text[RDMACG_NAME_SIZE];	/* As the files show it. */
};

/*
 * The part of a registered device that readers and writers need. RCU frees it
 * after the last reference, so the IB core can free its own device immediately.
 */
struct rdmacg_desc {
	u32			index;		/* Set once. */
	/*
	 * The registration holds one reference, and each write that names the
	 * device holds one.
	 */
	refcount_t		refs;
	/* A rename replaces the pointer by xchg(). RCU. */
	struct rdmacg_name __rcu *name;
	/*
	 * Points to the name of a device whose caller does not report renames,
	 * until the device is unregistered. Otherwise NULL. rdmacg_live_names.
	 */
	const char		*live_name;
	/*
	 * All namespaces see the device if this is NULL or points to true. Set
	 * once; READ_ONCE.
	 */
	const bool		*names_are_global;
	/* Guards the list of domains. */
	spinlock_t		lock;
	bool			dead;		/* The device gets no new pools; lock; READ_ONCE. */
	struct list_head	domains;	/* The domains of the device; lock. */
	struct rcu_head		rcu;
	char			(*keys)[RDMACG_KEY_SIZE]; /* The names of @resources; set once. */
	/*
	 * Charges and commands read the following fields, so they are not
	 * beside @refs.
	 */
	/*
	 * The index of the device in the maps of cgroups. The smallest free
	 * number is used, so that the maps are small. The number becomes free
	 * when the desc is freed, because then no task can look for the old
	 * pools. Set once.
	 */
	u32			key;
	unsigned int		nr_slots;	/* Set once. */
	/*
	 * The first slot of the control class, or nr_slots if the device has
	 * none. Set once.
	 */
	unsigned int		control_slot;
	bool			bypass;		/* No command waits; READ_ONCE. */
	/*
	 * Charges may be left, see struct rdmacg_device. Set once, before
	 * @dead; READ_ONCE.
	 */
	bool			keeps_charges;
	struct rdmacg_resource	resources[];	/* Set once. */
};

static inline const char *rdmacg_desc_name_rcu(const struct rdmacg_desc *desc)
{
	return rcu_dereference(desc->name)->text;
}

struct rdmacg_desc *rdmacg_desc_alloc(const struct rdmacg_device *device,
				      struct rdmacg_table *tables, unsigned int count);
int rdmacg_desc_publish(struct rdmacg_desc *desc, const struct rdmacg_device *device);
void rdmacg_desc_follow_name(struct rdmacg_desc *desc, const char *name);
void rdmacg_desc_hide(struct rdmacg_desc *desc);
struct rdmacg_desc *rdmacg_desc_next(unsigned long *key);
bool rdmacg_name_needs_index_rcu(const struct rdmacg_desc *desc, const struct rdmacg_name *name);
struct rdmacg_desc *rdmacg_desc_get(const char *name, const u32 *index);
void rdmacg_desc_put(struct rdmacg_desc *desc);

#endif /* _KERNEL_CGROUP_RDMA_DEVICE_H */
