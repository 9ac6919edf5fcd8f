/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: cgroups, domains and pools, and the fast path of
 * charges.
 *
 * A top-level cgroup is a child of the root. Each pair of a device and a
 * top-level cgroup has one domain. All pools of the device in this cgroup and
 * its descendants belong to the domain. The domain is created and freed with
 * the pool of the top-level cgroup:
 *
 *   rdma_cgroup --map[key]--> pool --domain--> domain (lock)
 *                              '----levels---> itself, and the pools of its ancestors
 *
 * These are the locks. All are spinlocks, and the outer locks come first:
 *
 * - rdma_cgroup.max_lock guards the cgroup's defaults, and orders the writes to
 *   its limits. New pools get the cgroup's defaults under this lock.
 * - rdmacg_domain.lock guards all counters and limits of a domain, and its list
 *   of pools.
 * - rdmacg_desc.lock guards the device's list of domains.
 * - rdmacg_gate.lock guards the rates of commands, the commands in flight and
 *   the waiting commands. Its holders disable interrupts.
 * - rdma_cgroup.map_lock guards the cgroup's map of pools.
 *
 * No task holds two locks of the same kind. A task that holds a max_lock or a
 * domain's lock never sleeps, allocates, frees, parses or wakes. So neither a
 * tenant's writes nor its cpu.max delay another tenant, except on PREEMPT_RT,
 * where the holder of a lock can be preempted. A task holds a domain's lock
 * longer if the cgroup is deeper, up to RDMACG_MAX_DEPTH, or if the charge has
 * more slots. A task holds a gate's lock longer if the cgroup of the command is
 * deeper, and a max_lock longer if the write names more devices, or sets
 * defaults while the cgroup has more pools.
 *
 * rdma-device.c has a further lock, for names that callers outside of the tree
 * change. A charge in a cgroup that has a pool takes only the domain's lock. A
 * task that creates a pool also takes the max_lock of the pool's cgroup. A
 * write takes the max_lock of its cgroup.
 *
 * A comment beside a field names the lock that guards the field. "Set once"
 * means that the field does not change while other tasks can see it. "RCU" and
 * "READ_ONCE" mean that readers need no lock.
 */
#ifndef _KERNEL_CGROUP_RDMA_POOL_H
#define _KERNEL_CGROUP_RDMA_POOL_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "rdma-css.h"
#include "rdma-default.h"
#include "rdma-device.h"

/*
 * The deepest level that can have the controller. The bound keeps walks over
 * levels short.
 */
#define RDMACG_MAX_DEPTH 64

/*
 * The number of pools or waiters that a loop handles before it lets other tasks
 * run.
 */
#define RDMACG_BATCH 16

struct rdmacg_control;
struct rdmacg_pool;

/*
 * The lock of all controls of one device below one top-level cgroup. Each
 * domain contains a gate, and rdma-control.h defines the controls. Timers and
 * hard interrupts take this lock, so its holders disable interrupts. Charges
 * use the domain's lock instead, because disabling interrupts costs time.
 */
struct rdmacg_gate {
	/* Guards this struct and all controls of the gate. */
	spinlock_t		lock;
	struct list_head	waiters;	/* The waiters of all controls; lock. */
};

/*
 * The lock and the list of all pools of one device below one top-level cgroup.
 * The domain is created and freed with the pool of the top-level cgroup,
 * because this pool is created first and freed last. RCU frees the domain.
 */
struct rdmacg_domain {
	/*
	 * Guards the list of pools, and each counter and limit of the pools. So
	 * a holder sees all levels at the same instant.
	 */
	spinlock_t		lock;
	struct list_head	pools;		/* Parents come before children; lock. */
	struct rdmacg_desc	*desc;		/* Set once. */
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	/* The gate has its own cache line, which charges do not touch. */
	struct rdmacg_gate	gate ____cacheline_aligned_in_smp;
#endif
	union {
		struct list_head desc_node;	/* On desc->domains; desc->lock. */
		struct rcu_head	rcu;		/* Used after the removal from the list. */
	};
} ____cacheline_aligned_in_smp;

/*
 * One resource in one pool, in the resource's unit. @usage exceeds @max only if
 * the limit was lowered below the usage, or after rdmacg_charge(). Fields are
 * written under the domain's lock. Without this lock, they are read with
 * READ_ONCE. On 32-bit kernels, such a read can mix two values if one of them
 * is 4 GiB or more.
 */
struct rdmacg_slot {
	u64			usage;
	u64			max;
	u64			peak;
};

/*
 * Attempts to charge one resource above a limit. The locking is that of
 * rdmacg_slot.
 */
struct rdmacg_counts {
	u64			max;		/* Attempts above a limit in the subtree. */
	u64			alloc_fail;	/* Attempts of cgroups in the subtree. */
	u64			local_max;	/* Attempts above the cgroup's own limit. */
	u64			local_alloc_fail; /* Attempts of the cgroup itself. */
};

/*
 * The slots of one cgroup on one device. The first limit, charge or limited
 * command creates the pool, and the missing pools of all ancestors except the
 * root. A cgroup without a pool has no usage and no limit of its own on the
 * device. The pool is freed with the cgroup or the device, or when it has no
 * usage, no history, no users and no limit of its own. RCU frees the pool.
 *
 * @max of a slot is the effective limit, which is the device's own limit in the
 * cgroup or the cgroup's default.
 *
 * A charge walks the array @levels. In a chain of pointers to parents, each
 * load would have to wait for the previous load.
 */
struct rdmacg_pool {
	struct rdmacg_domain	*domain;	/* Set once. */
	/*
	 * This pool and the pools of the ancestors, upwards: as many as
	 * @cg->depth. The array follows @slots in memory. Set once.
	 */
	struct rdmacg_pool	**levels;
	/*
	 * The number of child pools and other users. In a dead pool, 1 if the
	 * domain has to be freed with the pool, and otherwise 0. domain->lock.
	 */
	unsigned int		nr_users;
	/*
	 * The number of charges of the cgroup itself. Each charge holds a
	 * reference to the cgroup. A set sign bit marks a dead pool. No task
	 * begins to use a dead pool. domain->lock.
	 */
	int			nr_charges;
	struct rdma_cgroup	*cg;		/* Set once. */
	/*
	 * A bit for each slot in which the pool has a limit of its own, which
	 * may be "max". The other slots have the cgroup's default.
	 * domain->lock.
	 */
	u64			own;
	/*
	 * The counts of each slot; NULL before the first refusal. domain->lock;
	 * RCU.
	 */
	struct rdmacg_counts __rcu *events;
	/*
	 * NULL before the first counted command, then set once by cmpxchg();
	 * RCU.
	 */
	struct rdmacg_control __rcu *control;
	/*
	 * The limits of the control class, which has no charges. The locking is
	 * that of rdmacg_slot.max.
	 */
	u64			control_max[RDMACG_CONTROL_LIMITS];
	union {
		struct list_head domain_node;	/* On domain->pools; domain->lock. */
		struct rcu_head	rcu;		/* Used after the removal from the list. */
	};
	struct rdmacg_slot	slots[];
};

/*
 * The pools of a cgroup, indexed by the device's key. If a key is too large for
 * the map, a larger map replaces it. RCU frees the old map.
 */
struct rdmacg_map {
	struct rcu_head		rcu;
	u32			nr;		/* Set once. */
	struct rdmacg_pool __rcu *pools[];	/* cg->map_lock; RCU. */
};

/*
 * The controller's part of one cgroup. The cgroup core frees this struct after
 * the last reference. Each charge and each child holds a reference, so neither
 * a charge nor a pool of a descendant outlives this struct.
 */
struct rdma_cgroup {
	struct rdmacg_css	state;
	unsigned int		depth;		/* A child of the root has 1. Set once. */
	/* Guards changes of the map; the innermost lock. */
	spinlock_t		map_lock;
	struct rdmacg_map __rcu	*map;		/* map_lock; RCU. */
	/*
	 * Orders writes to this cgroup's limits. A new pool gets the limits of
	 * @defaults and is published under this lock. So a write that replaces
	 * @defaults misses no pool that has the old limits.
	 */
	spinlock_t		max_lock;
	/* NULL if the cgroup has no default; max_lock; RCU. */
	struct rdmacg_defaults __rcu *defaults;
	struct rdmacg_event_files files;
};

static inline struct cgroup_subsys_state *rdmacg_css(const struct rdma_cgroup *cg)
{
	return rdmacg_css_of(&cg->state);
}

static inline struct rdma_cgroup *rdmacg_from_css(struct cgroup_subsys_state *css)
{
	return css ? container_of(rdmacg_css_find(css), struct rdma_cgroup, state) : NULL;
}

static inline struct rdma_cgroup *rdmacg_parent(struct rdma_cgroup *cg)
{
	struct rdmacg_css *parent = rdmacg_css_parent(&cg->state);

	return parent ? container_of(parent, struct rdma_cgroup, state) : NULL;
}

/*
 * A refused charge. @cg is the cgroup whose limit refused the charge. @usage
 * and @limit are the values of this cgroup at the refusal.
 */
struct rdmacg_refusal {
	unsigned int		slot;
	struct rdma_cgroup	*cg;
	u64			amount;
	u64			usage;
	u64			limit;
	bool			is_ignored;	/* True if the charge cannot fail. */
};

/* Add to a counter that readers read without a lock. */
static inline void rdmacg_count(u64 *counter, u64 amount)
{
	WRITE_ONCE(*counter, *counter + amount);
}

/*
 * Read a usage. Call this before reading the peak, or the usage of another
 * level. See rdmacg_slot_grow().
 */
static inline u64 rdmacg_slot_usage(const struct rdmacg_slot *slot)
{
	u64 usage = READ_ONCE(slot->usage);

	/*
	 * Pairs with smp_wmb() in rdmacg_slot_grow() and rdmacg_slot_shrink().
	 */
	smp_rmb();
	return usage;
}

/*
 * Returns a pointer to the limit of a slot, which may be in the control class.
 */
static inline u64 *rdmacg_pool_max(struct rdmacg_pool *pool, unsigned int slot)
{
	unsigned int control_slot = pool->domain->desc->control_slot;

	return slot < control_slot ? &pool->slots[slot].max :
				     &pool->control_max[slot - control_slot];
}

/* Returns the cgroup's pool on a device, or NULL if there is none. */
static __always_inline struct rdmacg_pool *rdmacg_pool_find_rcu(struct rdma_cgroup *cg, u32 key)
{
	const struct rdmacg_map *map = rcu_dereference(cg->map);

	return likely(key < map->nr) ? rcu_dereference(map->pools[key]) : NULL;
}

/*
 * Silence sparse, because one function takes the lock and another function
 * drops it.
 */
static __always_inline void rdmacg_domain_lock(struct rdmacg_domain *domain)
{
	spin_lock(&domain->lock);
	__release(&domain->lock);
}

static __always_inline void rdmacg_domain_unlock(struct rdmacg_domain *domain)
{
	__acquire(&domain->lock);
	spin_unlock(&domain->lock);
}

static __always_inline void rdmacg_pool_unlock(struct rdmacg_pool *pool)
{
	rdmacg_domain_unlock(pool->domain);
}

/*
 * Lock the domain of a pool that the caller has found under RCU. Returns false,
 * without the lock, if the pool has been removed meanwhile.
 */
static __always_inline bool rdmacg_pool_try_lock_rcu(struct rdmacg_pool *pool)
{
	rdmacg_domain_lock(pool->domain);
	if (likely(pool->nr_charges >= 0))
		return true;
	rdmacg_pool_unlock(pool);
	return false;
}

/*
 * Readers take no lock, but must not see a usage above its peak, or a child's
 * usage above its parent's usage. So a growing peak is stored before its usage,
 * and a parent's growing usage before its child's usage. A child's shrinking
 * usage is stored before its parent's usage. The barrier before each store of a
 * usage pairs with the barrier in rdmacg_slot_usage(). A reader that reads a
 * usage and then its peak sees no contradiction. While usage grows, the reader
 * must read a child before its parent. While usage shrinks, the reader must
 * read the parent first.
 */
static __always_inline void rdmacg_slot_grow(struct rdmacg_slot *slot, u64 usage)
{
	if (usage > slot->peak)
		WRITE_ONCE(slot->peak, usage);
	/* Pairs with smp_rmb() in rdmacg_slot_usage(). */
	smp_wmb();
	WRITE_ONCE(slot->usage, usage);
}

static __always_inline void rdmacg_slot_shrink(struct rdmacg_slot *slot, u64 amount)
{
	u64 usage = slot->usage - amount;

	/* Warn if the caller uncharges more than was charged. */
	if (WARN_ON_ONCE(slot->usage < amount))
		usage = 0;
	/* Pairs with smp_rmb() in rdmacg_slot_usage(). */
	smp_wmb();
	WRITE_ONCE(slot->usage, usage);
}

/*
 * The following functions work on sets of any size. If @count is a constant,
 * the compiler unrolls the loops over the set; without this, a level costs 110
 * instructions.
 */

/*
 * Returns false if the set is empty, or a slot does not exist or occurs twice,
 * or an amount is out of range. RDMACG_ENDLESS is in range if @endless is true.
 */
static __always_inline bool rdmacg_set_is_valid(const struct rdmacg_device *device,
						const struct rdmacg_amount *set,
						const unsigned int count, const bool endless)
{
	unsigned int i;
	u64 seen = 0;

#pragma GCC unroll 3
	for (i = 0; i < count; i++) {
		if (set[i].slot >= device->nr_slots || (seen & BIT_ULL(set[i].slot)))
			return false;
		if (set[i].amount - 1 >= RDMACG_NO_LIMIT &&
		    !(endless && set[i].amount == RDMACG_ENDLESS))
			return false;
		seen |= BIT_ULL(set[i].slot);
	}
	return count;
}

/*
 * An endless amount has room only if there is no limit. A usage exceeds
 * RDMACG_NO_LIMIT only by the sizes of real buffers, which rdmacg_charge()
 * adds. So the sum does not overflow.
 */
static __always_inline bool rdmacg_slot_has_room(const struct rdmacg_slot *slot, u64 amount)
{
	if (amount == RDMACG_ENDLESS)
		return slot->max == RDMACG_NO_LIMIT;
	return slot->usage + amount <= slot->max;
}

/*
 * Returns whether all levels have room. Otherwise sets *@refusal, if it is not
 * NULL, to the lowest cgroup without room, and to the first resource of @set
 * that has no room there.
 */
static __always_inline bool rdmacg_pool_has_room_locked(struct rdmacg_pool *pool,
							const struct rdmacg_amount *set,
							const unsigned int count,
							struct rdmacg_refusal *refusal)
{
	struct rdmacg_pool **level, **end = pool->levels + pool->cg->depth;
	const struct rdmacg_slot *slot;
	unsigned int i;

	lockdep_assert_held(&pool->domain->lock);
	for (level = pool->levels; level < end; level++) {
#pragma GCC unroll 3
		for (i = 0; i < count; i++) {
			slot = &(*level)->slots[set[i].slot];
			if (likely(rdmacg_slot_has_room(slot, set[i].amount)))
				continue;
			if (refusal) {
				refusal->slot = set[i].slot;
				refusal->cg = (*level)->cg;
				refusal->amount = set[i].amount;
				refusal->usage = slot->usage;
				refusal->limit = slot->max;
			}
			return false;
		}
	}
	return true;
}

static __always_inline void rdmacg_pool_add_locked(struct rdmacg_pool *pool,
						   const struct rdmacg_amount *set,
						   const unsigned int count)
{
	struct rdmacg_pool **first = pool->levels, **level = first + pool->cg->depth;
	struct rdmacg_slot *slot;
	unsigned int i;

	lockdep_assert_held(&pool->domain->lock);
	do {
		level--;
#pragma GCC unroll 3
		for (i = 0; i < count; i++) {
			slot = &(*level)->slots[set[i].slot];
			rdmacg_slot_grow(slot, slot->usage + rdmacg_counted(set[i].amount));
		}
	} while (level != first);
	pool->nr_charges++;
}

static __always_inline void rdmacg_pool_sub_locked(struct rdmacg_pool *pool,
						   const struct rdmacg_amount *set,
						   const unsigned int count)
{
	struct rdmacg_pool **level = pool->levels, **end = level + pool->cg->depth;
	unsigned int i;

	lockdep_assert_held(&pool->domain->lock);
	do {
#pragma GCC unroll 3
		for (i = 0; i < count; i++)
			rdmacg_slot_shrink(&(*level)->slots[set[i].slot],
					   rdmacg_counted(set[i].amount));
	} while (++level < end);
	pool->nr_charges--;
}

/*
 * The fast path: charge or uncharge @n slots if the pool exists, no amount is
 * endless and, for a charge, all levels have room. Nothing is counted in the
 * root. In all other cases change nothing and return false. The caller then
 * calls rdmacg_pool_try_charge() or rdmacg_pool_uncharge(). @n and @charges are
 * constants.
 */
static __always_inline bool rdmacg_pool_apply_n(struct rdma_cgroup *cg,
						const struct rdmacg_device *device,
						const struct rdmacg_amount *set,
						const unsigned int n, const bool charges)
{
	struct rdmacg_amount copy[3] __uninitialized;
	struct rdmacg_pool *pool;
	unsigned int i;
	bool fits;

	if (unlikely(!rdmacg_set_is_valid(device, set, n, false)))
		return false;
	/*
	 * Without the copy, the compiler would read the set again after each
	 * store to a counter. memcpy() would put the copy into memory on some
	 * architectures.
	 */
#pragma GCC unroll 3
	for (i = 0; i < n; i++)
		copy[i] = set[i];
	rcu_read_lock();
	pool = rdmacg_pool_find_rcu(cg, device->key);
	if (unlikely(!pool || !rdmacg_pool_try_lock_rcu(pool)))
		pool = NULL;
	rcu_read_unlock();
	if (unlikely(!pool))
		return !cg->depth;
	fits = !charges || rdmacg_pool_has_room_locked(pool, copy, n, NULL);
	if (!charges)
		rdmacg_pool_sub_locked(pool, copy, n);
	else if (likely(fits))
		rdmacg_pool_add_locked(pool, copy, n);
	rdmacg_pool_unlock(pool);
	return fits;
}

/* The fast path, which only sets of at most three amounts can take. */
static __always_inline bool rdmacg_pool_apply_fast(struct rdma_cgroup *cg,
						   const struct rdmacg_device *device,
						   const struct rdmacg_amount *set,
						   unsigned int count, const bool charges)
{
	return count == 1 ? rdmacg_pool_apply_n(cg, device, set, 1, charges) :
	       count == 2 ? rdmacg_pool_apply_n(cg, device, set, 2, charges) :
	       count == 3 ? rdmacg_pool_apply_n(cg, device, set, 3, charges) : false;
}

/*
 * The functions that end a pool, or a use of it, have these verbs:
 *
 * - unpin: drop the pin of rdmacg_pool_pin() or rdmacg_pool_create(), and give
 *   the pool back.
 * - give_back: remove and free the pool if it is idle, and the idle pools of
 *   its ancestors.
 * - remove: unpublish a pool. The caller holds the domain's lock, and frees the
 *   pool later.
 * - free: remove and free the pools of a cgroup that has no references.
 * - drain: remove and free all pools of a device that is being unregistered.
 * - discard: free a pool that was never published.
 */
void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent);
void rdmacg_pools_free(struct rdma_cgroup *cg);
void rdmacg_pools_drain(struct rdmacg_desc *desc);

u32 rdmacg_nr_keys(struct rdma_cgroup *cg);
size_t rdmacg_pool_size(const struct rdmacg_desc *desc, unsigned int depth);
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 key);
void rdmacg_pool_give_back(struct rdma_cgroup *cg, u32 key);
int rdmacg_pool_create(struct rdma_cgroup *cg, struct rdmacg_desc *desc);
struct rdmacg_pool *rdmacg_pool_pin(struct rdma_cgroup *cg, struct rdmacg_desc *desc);
void rdmacg_pool_unpin(struct rdma_cgroup *cg, struct rdmacg_desc *desc);

void rdmacg_default_limits(const struct rdmacg_defaults *defaults,
			   const struct rdmacg_desc *desc, u64 *max);
u64 rdmacg_limit_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc, unsigned int slot);
void rdmacg_count_control_limits(int limits);

bool rdmacg_pool_add_events(struct rdma_cgroup *cg, const struct rdmacg_desc *desc);
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_amount *set, unsigned int count,
			   struct rdmacg_refusal *refusal);
bool rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_amount *set, unsigned int count);

#endif /* _KERNEL_CGROUP_RDMA_POOL_H */
