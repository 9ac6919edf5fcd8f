/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the RDMA cgroup controller share:
 *
 *   rdma.c         cgroup callbacks, files, the API for charges
 *   rdma-device.c  devices, their resources and names; knows no pool
 *   rdma-pool.c    domains, pools, charges; knows no file
 *   rdma-parse.c   text to limits and limits to text; knows no lock
 *
 * A device and a top-level cgroup, which is a child of the root, have one domain
 * together. All pools of that device in that subtree belong to it:
 *
 *   rdma_cgroup --domains--> domain (lock)      only a top-level cgroup
 *        |                     ^
 *        '------- pools ----> pool --parent--> pool of the parent cgroup
 *
 * Lock order: rdmacg_mutex, then a domain's lock; never two domains at once.
 * Both are taken below the locks of the IB core, and nothing but the memory
 * allocator is called with them held. Charge and uncharge take the domain's
 * lock alone, but for the very first charge in a domain.
 */
#ifndef _KERNEL_CGROUP_RDMA_INTERNAL_H
#define _KERNEL_CGROUP_RDMA_INTERNAL_H

#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/xarray.h>

/* Linux before 6.12.117 and between 6.13 and 7.0 has no typed allocators. */
#ifndef kzalloc_obj
#define kzalloc_obj(object) kzalloc(sizeof(object), GFP_KERNEL)
#endif

/* The longest name of a resource, with the terminating NUL. */
#define RDMACG_KEY_SIZE 32

/*
 * A name that one or more devices have; devices in different network namespaces
 * can share one. A new name is a new struct, so whoever reads one reads it
 * whole. Freed by RCU when the last device has left it.
 */
struct rdmacg_name {
	struct hlist_node	node;		/* rdmacg_mutex */
	struct list_head	devices;	/* rdmacg_mutex */
	unsigned int		nr_devices;	/* rdmacg_mutex; READ_ONCE, may be stale */
	struct rcu_head		rcu;
	char			text[];		/* set once */
};

/*
 * What readers need of one registered device. Freed by RCU, so the IB core can
 * free its device at once.
 */
struct rdmacg_desc {
	u32			id;		/* set once */
	u32			index;		/* set once */
	struct rdmacg_name __rcu *name;		/* rdmacg_mutex; RCU */
	struct list_head	name_node;	/* on name->devices; rdmacg_mutex */
	struct list_head	domains;	/* rdmacg_mutex */
	struct rcu_head		rcu;
	unsigned int		nr_slots;	/* set once */
	char			(*keys)[RDMACG_KEY_SIZE]; /* names of @resources; set once */
	struct rdmacg_resource	resources[];	/* set once */
};

/*
 * What all pools of one device below one top-level cgroup share. It comes with
 * the first of them and lives as long as both the device and the cgroup: whoever
 * may charge, reaches it without a reference.
 */
struct rdmacg_domain {
	/*
	 * Guards the domain's pools: every counter and limit, and which pools
	 * there are. Whoever holds it sees all levels as of one instant.
	 */
	struct mutex		lock;
	struct list_head	pools;		/* lock */
	struct list_head	desc_node;	/* on desc->domains; rdmacg_mutex */
	struct rdma_cgroup	*top;		/* set once */
	u32			id;		/* of the device; set once */
	unsigned int		nr_slots;	/* of the device; set once */
	struct rcu_head		rcu;
} ____cacheline_aligned_in_smp;

/*
 * One resource in one pool, in the resource's unit. @usage exceeds a limit only
 * where that was lowered under it. Written under the domain's lock, and read
 * with READ_ONCE without it; on 32 bits such a read of a value past 4 GiB can be
 * torn.
 */
struct rdmacg_slot {
	u64			usage;
	u64			max;
	u64			peak;
};

/* Refused attempts to charge one resource; the same rules as rdmacg_slot. */
struct rdmacg_events {
	u64			max;		/* refused by a limit in the subtree */
	u64			alloc_fail;	/* from the subtree */
	u64			local_max;	/* refused by the cgroup's own limit */
	u64			local_alloc_fail; /* from the cgroup itself */
};

/*
 * The slots of one cgroup on one device. A pool comes with the first limit or
 * the first charge, and each ancestor below the root has one, too; a cgroup
 * without a pool uses nothing and has no limit there. It goes with the cgroup or
 * the device, or as soon as it holds no limit, no usage and no history, and no
 * pool below needs it. Freed by RCU.
 *
 * The slots are what a charge writes. They begin on a cache line of their own, so
 * a charge of one resource dirties one line of each ancestor, or two where the
 * slot lies across them, and none that a stranger needs.
 */
struct rdmacg_pool {
	struct rdmacg_domain	*domain;	/* set once */
	u32			id;		/* of the device; set once */
	unsigned int		nr_levels;	/* set once */
	struct rdmacg_pool	*parent;	/* set once; NULL at the top */
	struct rdma_cgroup	*cg;		/* set once */
	struct rdmacg_events __rcu *events;	/* NULL before the first; lock; RCU */
	unsigned int		nr_children;	/* pools that point here; lock */
	struct rdmacg_staged	*staged;	/* or NULL; rdmacg_mutex and lock */
	bool			dead;		/* no longer in use; lock */
	struct list_head	domain_node;	/* on domain->pools; lock */
	struct rcu_head		rcu;
	/* The slots of this pool and of its ancestors, upwards. */
	struct rdmacg_slot	*levels[];	/* set once */
};

/*
 * The limits that a write is about to set in @pool, which exists for that long.
 * There is one such for each device that the write names. rdmacg_mutex.
 */
struct rdmacg_staged {
	struct list_head	node;
	struct rdmacg_pool	*pool;
	u64			max[];
};

/* What had no room: a slot, and how far above the cgroup that was to pay. */
struct rdmacg_refusal {
	unsigned int		slot;
	unsigned int		level;
};

#define RDMACG_NEAR_POOLS 4

/*
 * The controller's part of one cgroup. Freed by the cgroup core after the last
 * reference, of which each charge and each child holds one, so neither a charge
 * nor a pool below outlives it.
 */
struct rdma_cgroup {
	struct cgroup_subsys_state css;
	struct rdma_cgroup	*top;		/* set once; NULL for the root */
	unsigned int		depth;		/* below the root; set once */
	/* By device id; a domain's lock for the domain's entry; RCU. */
	struct xarray		pools;
	/*
	 * The first one of @pools for each rest that ids leave: nearly always all
	 * there are, and found in a third of the time. cmpxchg; RCU.
	 */
	struct rdmacg_pool __rcu *near_pools[RDMACG_NEAR_POOLS];
	/* By device id, of a top-level cgroup; rdmacg_mutex; RCU. */
	struct xarray		domains;
	/* Notified of what the class's events files count. */
	struct cgroup_file	events_file[RDMACG_CLASSES];
	struct cgroup_file	events_local_file[RDMACG_CLASSES];
};

/*
 * Guards the devices, their names and the coming and going of domains. It is
 * held for a write to a file of limits, so that no device comes, goes or changes
 * its name meanwhile.
 */
extern struct mutex rdmacg_mutex;

static inline struct rdma_cgroup *rdmacg_from_css(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct rdma_cgroup, css) : NULL;
}

static inline struct rdma_cgroup *rdmacg_parent(struct rdma_cgroup *cg)
{
	return rdmacg_from_css(cg->css.parent);
}

/* rdma-device.c */
struct rdmacg_desc *rdmacg_desc_next(unsigned long *id);
struct rdmacg_desc *rdmacg_desc_find_locked(const char *name, size_t len,
					    const u32 *index);

/* rdma-pool.c */
void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent);
void rdmacg_pools_free(struct rdma_cgroup *cg);
void rdmacg_domains_free_locked(struct rdmacg_desc *desc);

size_t rdmacg_pool_size(unsigned int nr_slots, unsigned int depth);
struct rdmacg_pool *rdmacg_pool_find_rcu(struct rdma_cgroup *cg, u32 id);
u64 rdmacg_pool_limit_rcu(struct rdma_cgroup *cg, u32 id, unsigned int slot);
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 id);
void rdmacg_pool_unlock(struct rdmacg_pool *pool);

struct rdmacg_staged *rdmacg_stage_locked(struct rdma_cgroup *cg, struct rdmacg_desc *desc,
					  struct list_head *all);
void rdmacg_unstage_locked(struct list_head *all, bool apply);

int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count,
			   struct rdmacg_refusal *refusal);
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_charge *set, unsigned int count);

/*
 * One line of text written to a file of limits. Both strings point into the text;
 * @name is not terminated, @limits is for rdmacg_parse_limit().
 */
struct rdmacg_line {
	const char		*name;
	size_t			name_len;
	bool			has_index;
	u32			index;
	const char		*limits;
};

/* A run of characters in the text that was written. */
struct rdmacg_word {
	const char		*text;
	size_t			len;
};

/* rdma-parse.c */
bool rdmacg_word_is(struct rdmacg_word word, const char *string);
int rdmacg_parse_line(const char **text, struct rdmacg_line *line);
int rdmacg_parse_limit(const char **text, struct rdmacg_word *key, u64 *max);
void rdmacg_print_device(struct seq_file *sf, const char *name, bool unique, u32 index);
void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix,
			u64 value);
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit);

/* What a file shows. */
enum rdmacg_file {
	RDMACG_FILE_MAX,
	RDMACG_FILE_CURRENT,
	RDMACG_FILE_PEAK,
	RDMACG_FILE_EVENTS,
	RDMACG_FILE_EVENTS_LOCAL,
	RDMACG_FILE_CAPACITY,
	RDMACG_FILES,
};

/* rdma.c */
void rdmacg_show_line(struct seq_file *sf, struct rdma_cgroup *cg,
		      const struct rdmacg_desc *desc, enum rdmacg_class class,
		      enum rdmacg_file file);
int rdmacg_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, const char *text);

#endif /* _KERNEL_CGROUP_RDMA_INTERNAL_H */
