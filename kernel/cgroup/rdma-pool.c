// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: domains, pools and charges.
 *
 * A charge counts in the owner and in all its ancestors except the root. The
 * charge takes effect on all of these levels and in all of its slots, or not at
 * all. A limit refuses a charge only if a level has no room. The check and the
 * charge happen at one instant, under the lock of one domain.
 *
 * Readers of pools take no lock. They find pools under RCU. On 64-bit kernels,
 * each value that a reader gets was the pool's at some moment of the read.
 *
 * A page_counter for each slot would need no lock, but it adds an amount before
 * it checks the limit. So readers would see usage above the limit, and a charge
 * that is about to be refused would make a neighbour's charge fail. A charge of
 * three slots would need three atomic operations on each level, and would have
 * to undo two of them if the third is refused.
 */
#include <kunit/static_stub.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include <trace/events/rdmacg.h>

#include "rdma-pool.h"

/*
 * The size of a pool with about 24 resources, and the cache for such pools.
 * kmalloc() would use 1 KiB for each. Set once.
 */
#define RDMACG_USUAL_SIZE 768
static struct kmem_cache *rdmacg_pool_cache;

/* The map of a cgroup that never had a pool. */
static struct rdmacg_map rdmacg_empty_map;

void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent)
{
	/*
	 * The first cgroup is the root, which is created while the kernel
	 * boots.
	 */
	if (!rdmacg_pool_cache)
		rdmacg_pool_cache = kmem_cache_create("rdmacg_pool", RDMACG_USUAL_SIZE, 0,
						      SLAB_PANIC | SLAB_ACCOUNT, NULL);
	spin_lock_init(&cg->max_lock);
	spin_lock_init(&cg->map_lock);
	RCU_INIT_POINTER(cg->map, &rdmacg_empty_map);
	if (parent)
		cg->depth = parent->depth + 1;
}

atomic_long_t rdmacg_nr_control_limits;
EXPORT_SYMBOL(rdmacg_nr_control_limits);

/*
 * Add @limits to the number of limits on commands in all cgroups. This function
 * runs in any context.
 */
void rdmacg_count_control_limits(int limits)
{
	/* Do not write an unchanged counter, because all cgroups share it. */
	if (limits)
		atomic_long_add(limits, &rdmacg_nr_control_limits);
}

static int rdmacg_pool_control_limits(const struct rdmacg_pool *pool)
{
	enum rdmacg_control_limit limit;
	int limits = 0;

	for (limit = 0; limit < RDMACG_CONTROL_LIMITS; limit++)
		limits += pool->control_max[limit] != RDMACG_NO_LIMIT;
	return limits;
}

/*
 * Set @max to the limits of a device that has no limit of its own for any key.
 */
void rdmacg_default_limits(const struct rdmacg_defaults *defaults,
			   const struct rdmacg_desc *desc, u64 *max)
{
	unsigned int slot;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_default_limits, defaults, desc, max);
	for (slot = 0; slot < desc->nr_slots; slot++)
		max[slot] = rdmacg_default_limit(defaults, &desc->resources[slot]);
}

/* Returns the effective limit in this cgroup, or RDMACG_NO_LIMIT. */
u64 rdmacg_limit_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc, unsigned int slot)
{
	struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, desc->key);

	return pool ? READ_ONCE(*rdmacg_pool_max(pool, slot)) :
		      rdmacg_default_limit(rcu_dereference(cg->defaults), &desc->resources[slot]);
}

/*
 * Find a pool and lock its domain. Returns NULL, and holds no lock, if there is
 * no pool. The caller has a reference to the cgroup.
 */
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool;

	guard(rcu)();
	pool = rdmacg_pool_find_rcu(cg, key);
	/*
	 * If the pool was removed, do not look for a new one. The task that
	 * creates a new pool also gives it back.
	 */
	return pool && rdmacg_pool_try_lock_rcu(pool) ? pool : NULL;
}

static struct rdmacg_map *rdmacg_map_locked(struct rdma_cgroup *cg)
{
	return rcu_dereference_protected(cg->map, lockdep_is_held(&cg->map_lock));
}

/*
 * Returns a number that is larger than the key of each of the cgroup's pools.
 */
u32 rdmacg_nr_keys(struct rdma_cgroup *cg)
{
	guard(rcu)();
	return rcu_dereference(cg->map)->nr;
}

/*
 * Make sure that the cgroup's map contains an entry for the key. Entries are
 * never removed.
 */
static int rdmacg_map_reserve(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_map *new, *old;
	size_t size;

	if (key < rdmacg_nr_keys(cg))
		return 0;
	size = kmalloc_size_roundup(struct_size(new, pools, key + 1));
	new = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->nr = (size - sizeof(*new)) / sizeof(new->pools[0]);
	spin_lock(&cg->map_lock);
	old = rdmacg_map_locked(cg);
	if (old->nr < new->nr) {
		memcpy(new->pools, old->pools, old->nr * sizeof(old->pools[0]));
		rcu_assign_pointer(cg->map, new);
	} else {
		/*
		 * Another task has replaced the map meanwhile, so free the new
		 * map.
		 */
		old = new;
	}
	spin_unlock(&cg->map_lock);
	if (old != &rdmacg_empty_map)
		kfree_rcu(old, rcu);
	return 0;
}

/* Publish @pool, or unpublish it if @pool is NULL. */
static void rdmacg_map_store(struct rdma_cgroup *cg, u32 key, struct rdmacg_pool *pool)
{
	scoped_guard(spinlock, &cg->map_lock)
		rcu_assign_pointer(rdmacg_map_locked(cg)->pools[key], pool);
}

static struct rdmacg_counts *rdmacg_pool_events_locked(const struct rdmacg_pool *pool)
{
	return rcu_dereference_protected(pool->events, lockdep_is_held(&pool->domain->lock));
}

/* Returns the size of a pool in bytes, without its events and its control. */
size_t rdmacg_pool_size(const struct rdmacg_desc *desc, unsigned int depth)
{
	return offsetof(struct rdmacg_pool, slots[desc->control_slot]) +
	       depth * sizeof(struct rdmacg_pool *);
}

static bool rdmacg_pool_is_top(const struct rdmacg_pool *pool)
{
	return pool->cg->depth == 1;
}

static struct rdmacg_domain *rdmacg_domain_alloc(struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain = kzalloc_obj(*domain, GFP_KERNEL_ACCOUNT);

	if (!domain)
		return NULL;
	spin_lock_init(&domain->lock);
	INIT_LIST_HEAD(&domain->pools);
	domain->desc = desc;
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	spin_lock_init(&domain->gate.lock);
	INIT_LIST_HEAD(&domain->gate.waiters);
#endif
	return domain;
}

/* Free a pool that was never in use. */
static void rdmacg_pool_discard(struct rdmacg_pool *pool)
{
	if (rdmacg_pool_is_top(pool))
		kfree(pool->domain);
	kfree(pool);
}

/*
 * Allocate from the cache or by kzalloc(). kfree() and kfree_rcu() accept
 * objects of both.
 */
static struct rdmacg_pool *rdmacg_pool_zalloc(size_t size)
{
	if (size > SZ_512 && size <= RDMACG_USUAL_SIZE)
		return kmem_cache_zalloc(rdmacg_pool_cache, GFP_KERNEL_ACCOUNT);
	return kzalloc(size, GFP_KERNEL_ACCOUNT);
}

/*
 * Allocate a pool, and reserve its entry in the map of its cgroup. Returns NULL
 * if there is no memory.
 */
static struct rdmacg_pool *rdmacg_pool_alloc(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool;

	if (rdmacg_map_reserve(cg, desc->key))
		return NULL;
	pool = rdmacg_pool_zalloc(rdmacg_pool_size(desc, cg->depth));
	if (!pool)
		return NULL;
	pool->cg = cg;
	pool->nr_users = 1;
	pool->levels = (void *)&pool->slots[desc->control_slot];
	pool->levels[0] = pool;
	if (rdmacg_pool_is_top(pool)) {
		pool->domain = rdmacg_domain_alloc(desc);
		if (!pool->domain) {
			kfree(pool);
			pool = NULL;
		}
	}
	return pool;
}

/*
 * Add a domain to its device. Returns -ENODEV if the device is being
 * unregistered.
 */
static int rdmacg_domain_add(struct rdmacg_domain *domain)
{
	struct rdmacg_desc *desc = domain->desc;

	guard(spinlock)(&desc->lock);
	if (desc->dead)
		return -ENODEV;
	list_add_tail(&domain->desc_node, &desc->domains);
	return 0;
}

/*
 * Remove a pool from its cgroup and its domain, and put it on @gone. The caller
 * removes children before their parent. Another task may already have found the
 * pool. A charge or a write then takes the lock and sees that the pool is dead
 * (rdmacg_pool_try_lock_rcu()). A reader (rdmacg_show_line()) is in an RCU read
 * section. This function's last access to the cgroup is under the map_lock, see
 * rdmacg_pools_free().
 */
static void rdmacg_pool_remove_locked(struct rdmacg_pool *pool, struct list_head *gone)
{
	struct rdmacg_desc *desc = pool->domain->desc;
	bool may_be_charged = READ_ONCE(desc->keeps_charges);
	unsigned int slot;

	lockdep_assert_held(&pool->domain->lock);
	for (slot = 0; slot < desc->control_slot; slot++)
		WARN_ON_ONCE(pool->slots[slot].usage && !may_be_charged);
	/*
	 * Otherwise a charge that is left is a fault of its caller, who may
	 * still return it.
	 */
	pool->nr_charges = INT_MIN | (may_be_charged ? pool->nr_charges : 0);
	list_move(&pool->domain_node, gone);
	pool->nr_users = rdmacg_pool_is_top(pool);
	if (pool->nr_users) {
		scoped_guard(spinlock, &desc->lock)
			list_del(&pool->domain->desc_node);
	} else {
		pool->levels[1]->nr_users--;
	}
	rdmacg_map_store(pool->cg, desc->key, NULL);
}

/*
 * Free the pools that rdmacg_pool_remove_locked() has moved to a list. The
 * caller holds no lock. If a pool has no charge, its cgroup may already be
 * freed.
 */
static void rdmacg_pools_free_gone(struct list_head *gone)
{
	struct rdmacg_pool *pool, *next;
	int nr_charges;

	list_for_each_entry_safe(pool, next, gone, domain_node) {
		rdmacg_count_control_limits(-rdmacg_pool_control_limits(pool));
		nr_charges = pool->nr_charges & INT_MAX;
		if (nr_charges)
			css_put_many(rdmacg_css(pool->cg), nr_charges);
		kfree_rcu_mightsleep(unrcu_pointer(pool->events));
		/* No command uses the control any more. */
		kfree_rcu_mightsleep(unrcu_pointer(pool->control));
		if (pool->nr_users)
			kfree_rcu(pool->domain, rcu);
		kfree_rcu(pool, rcu);
	}
}

/*
 * Returns whether the pool has no users, no charges, no limits of its own and
 * no history.
 */
static bool rdmacg_pool_is_idle_locked(struct rdmacg_pool *pool)
{
	unsigned int slot;

	lockdep_assert_held(&pool->domain->lock);
	if (pool->nr_users || pool->nr_charges || pool->own ||
	    rcu_access_pointer(pool->events) || rcu_access_pointer(pool->control))
		return false;
	/* A slot that has a usage also has a peak. */
	for (slot = 0; slot < pool->domain->desc->control_slot; slot++)
		if (pool->slots[slot].peak)
			return false;
	return true;
}

/*
 * Free the pool and the pools of its ancestors, up to the first pool in use,
 * and unlock. The lock is released after each pool, because siblings need the
 * lock. If another task uses a pool, that task gives the pool back later.
 */
static void rdmacg_pool_give_back_unlock(struct rdmacg_pool *pool)
{
	u32 key = pool->domain->desc->key;
	struct rdma_cgroup *cg = pool->cg;
	LIST_HEAD(gone);

	while (pool && rdmacg_pool_is_idle_locked(pool)) {
		rdmacg_pool_remove_locked(pool, &gone);
		rdmacg_pool_unlock(pool);
		cond_resched();
		cg = rdmacg_parent(cg);
		pool = rdmacg_pool_lock(cg, key);
	}
	if (pool)
		rdmacg_pool_unlock(pool);
	rdmacg_pools_free_gone(&gone);
}

/* Give back the cgroup's pool, if it has one. */
void rdmacg_pool_give_back(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, key);

	if (pool)
		rdmacg_pool_give_back_unlock(pool);
}

/* Set the limits of a new pool that is not published yet. */
static void rdmacg_pool_init_limits(struct rdmacg_pool *pool, const struct rdmacg_desc *desc,
				    const u64 *max)
{
	unsigned int slot;

	for (slot = 0; slot < desc->control_slot; slot++)
		pool->slots[slot].max = max[slot];
	for (slot = 0; slot < RDMACG_CONTROL_LIMITS; slot++)
		pool->control_max[slot] = desc->control_slot + slot < desc->nr_slots ?
					  max[desc->control_slot + slot] : RDMACG_NO_LIMIT;
}

/* Pin the cgroup's pool. Returns false if there is none. */
static bool rdmacg_pool_try_pin(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, key);

	if (!pool)
		return false;
	pool->nr_users++;
	rdmacg_pool_unlock(pool);
	return true;
}

/* Publish a new pool. Returns -ENODEV if the device is being unregistered. */
static int rdmacg_pool_insert_locked(struct rdmacg_pool *pool, struct rdmacg_pool *parent)
{
	struct rdmacg_domain *domain = pool->domain;
	struct rdmacg_desc *desc = domain->desc;

	lockdep_assert_held(&domain->lock);
	/*
	 * rdmacg_pools_drain() sets desc->dead before it takes a domain's lock.
	 */
	if (parent ? READ_ONCE(desc->dead) : rdmacg_domain_add(domain))
		return -ENODEV;
	if (parent) {
		memcpy(&pool->levels[1], parent->levels,
		       parent->cg->depth * sizeof(pool->levels[0]));
		parent->nr_users++;
	}
	list_add_tail(&pool->domain_node, &domain->pools);
	rdmacg_count_control_limits(rdmacg_pool_control_limits(pool));
	rdmacg_map_store(pool->cg, desc->key, pool);
	return 0;
}

/*
 * Publish a new pool, which has a pin. If the cgroup already has a pool, pin
 * that pool and return -EEXIST. Tasks publish pools only under the max_lock, so
 * this function never has to look again. The caller has pinned the parent's
 * pool. Returns -ENODEV if the device is being unregistered.
 */
static int rdmacg_pool_try_insert(struct rdmacg_desc *desc, struct rdmacg_pool *pool)
{
	struct rdmacg_pool *parent = NULL;
	int ret;

	lockdep_assert_held(&pool->cg->max_lock);
	if (rdmacg_pool_try_pin(pool->cg, desc->key))
		return -EEXIST;
	if (rdmacg_pool_is_top(pool)) {
		rdmacg_domain_lock(pool->domain);
	} else {
		parent = rdmacg_pool_lock(rdmacg_parent(pool->cg), desc->key);
		if (!parent)
			return -ENODEV;
		pool->domain = parent->domain;
	}
	ret = rdmacg_pool_insert_locked(pool, parent);
	rdmacg_domain_unlock(pool->domain);
	return ret;
}

/* Emit an event for each default that applies to a new pool. */
static void rdmacg_trace_defaults_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
				      const u64 *max)
{
	unsigned int slot;

	for (slot = 0; slot < desc->nr_slots; slot++)
		if (max[slot] != RDMACG_NO_LIMIT)
			trace_rdmacg_set_max(rdmacg_desc_name_rcu(desc),
					     desc->resources[slot].name, RDMACG_NO_LIMIT,
					     max[slot], 0, cgroup_id(rdmacg_css(cg)->cgroup));
}

static int rdmacg_pool_insert(struct rdmacg_desc *desc, struct rdmacg_pool *pool)
{
	struct rdma_cgroup *cg = pool->cg;
	u64 max[RDMACG_MAX_SLOTS];
	int ret;

	guard(rcu)();
	scoped_guard(spinlock, &cg->max_lock) {
		/*
		 * Compare strings before locking the domain, because siblings
		 * need that lock.
		 */
		rdmacg_default_limits(rcu_dereference(cg->defaults), desc, max);
		rdmacg_pool_init_limits(pool, desc, max);
		ret = rdmacg_pool_try_insert(desc, pool);
	}
	if (!ret && trace_rdmacg_set_max_enabled())
		rdmacg_trace_defaults_rcu(cg, desc, max);
	return ret;
}

/*
 * @depth is at least 1. Returns the ancestor, or the cgroup itself, at this
 * depth.
 */
static struct rdma_cgroup *rdmacg_ancestor(struct rdma_cgroup *cg, unsigned int depth)
{
	while (cg->depth > depth)
		cg = rdmacg_parent(cg);
	return cg;
}

/*
 * Create and pin the pool of a cgroup, or only pin it. The caller has pinned
 * the parent's pool.
 */
int rdmacg_pool_create(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_pool_create, cg, desc);
	if (rdmacg_pool_try_pin(cg, desc->key))
		return 0;
	pool = rdmacg_pool_alloc(cg, desc);
	if (!pool)
		return -ENOMEM;
	ret = rdmacg_pool_insert(desc, pool);
	if (ret)
		rdmacg_pool_discard(pool);
	return ret == -EEXIST ? 0 : ret;
}

void rdmacg_pool_unpin(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, desc->key);

	if (!pool)
		return;
	pool->nr_users--;
	rdmacg_pool_give_back_unlock(pool);
}

/*
 * Create the missing pools of the cgroup and its ancestors, and pin the
 * cgroup's pool. Begin below the lowest pool that exists. Each pool stays pinned
 * until the pool below it exists, so no other task frees it meanwhile, and no
 * pool is created twice.
 */
static int rdmacg_pools_create(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	unsigned int depth = cg->depth;
	int ret = 0;

	while (depth && !rdmacg_pool_try_pin(rdmacg_ancestor(cg, depth), desc->key))
		depth--;
	for (; depth < cg->depth && !ret; depth++) {
		ret = rdmacg_pool_create(rdmacg_ancestor(cg, depth + 1), desc);
		/*
		 * After a failure, this call also gives the ancestors' pools
		 * back.
		 */
		if (depth)
			rdmacg_pool_unpin(rdmacg_ancestor(cg, depth), desc);
		cond_resched();
	}
	return ret;
}

/*
 * Find or create a pool and lock its domain. The cgroup is not the root. A
 * caller that does not use the pool gives it back. Returns -ENOMEM, or -ENODEV
 * if the device is being unregistered.
 */
static struct rdmacg_pool *rdmacg_pool_get_lock(struct rdma_cgroup *cg,
						struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, desc->key);
	int ret;

	if (pool)
		return pool;
	ret = rdmacg_pools_create(cg, desc);
	if (ret)
		return ERR_PTR(ret);
	pool = rdmacg_pool_lock(cg, desc->key);
	if (!pool)
		return ERR_PTR(-ENODEV);
	pool->nr_users--;
	return pool;
}

/*
 * Get or create the cgroup's pool. The pool stays until rdmacg_pool_unpin(), or
 * until the device is unregistered. Returns -ENOMEM or -ENODEV.
 */
struct rdmacg_pool *rdmacg_pool_pin(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool = rdmacg_pool_get_lock(cg, desc);

	if (!IS_ERR(pool)) {
		pool->nr_users++;
		rdmacg_pool_unlock(pool);
	}
	return pool;
}

/*
 * Allocate the events of the cgroup's pool, if it exists. Returns false if
 * there is no memory.
 */
bool rdmacg_pool_add_events(struct rdma_cgroup *cg, const struct rdmacg_desc *desc)
{
	struct rdmacg_counts *events;
	struct rdmacg_pool *pool;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_pool_add_events, cg, desc);
	events = kcalloc(desc->control_slot, sizeof(*events), GFP_KERNEL_ACCOUNT);
	if (!events)
		return false;
	pool = rdmacg_pool_lock(cg, desc->key);
	if (pool) {
		if (!rcu_access_pointer(pool->events)) {
			rcu_assign_pointer(pool->events, events);
			events = NULL;
		}
		rdmacg_pool_unlock(pool);
	}
	kfree(events);
	return true;
}

/*
 * Count a refusal in the pool of the cgroup and in the pools of its ancestors.
 * A pool without memory for events does not count the refusal.
 */
static void rdmacg_count_refusal_locked(struct rdmacg_pool *pool,
					const struct rdmacg_refusal *refusal)
{
	unsigned int i, limited = refusal->cg->depth;
	struct rdmacg_counts *counts;
	struct rdmacg_pool *level;

	for (i = 0; i < pool->cg->depth; i++) {
		level = pool->levels[i];
		counts = rdmacg_pool_events_locked(level);
		if (!counts)
			continue;
		counts += refusal->slot;
		if (!refusal->is_ignored)
			rdmacg_count(&counts->alloc_fail, 1);
		if (!refusal->is_ignored && !i)
			rdmacg_count(&counts->local_alloc_fail, 1);
		if (level->cg->depth <= limited)
			rdmacg_count(&counts->max, 1);
		if (level->cg->depth == limited)
			rdmacg_count(&counts->local_max, 1);
	}
}

/*
 * Count a refusal and unlock. The memory for events is allocated without the
 * lock.
 */
static void rdmacg_count_refusal_unlock(struct rdmacg_pool *pool,
					const struct rdmacg_refusal *refusal)
{
	const struct rdmacg_desc *desc = pool->domain->desc;
	struct rdma_cgroup *cg = pool->cg;
	unsigned int depth = 1;

	if (!rdmacg_pool_events_locked(pool)) {
		/*
		 * A pool with a user is not given back, but may be freed with
		 * its device.
		 */
		pool->nr_users++;
		rdmacg_pool_unlock(pool);
		/*
		 * If a pool has events, its ancestors also have events. So
		 * begin at the top.
		 */
		while (depth <= cg->depth &&
		       rdmacg_pool_add_events(rdmacg_ancestor(cg, depth), desc))
			depth++;
		pool = rdmacg_pool_lock(cg, desc->key);
		if (!pool)
			return;
		pool->nr_users--;
	}
	rdmacg_count_refusal_locked(pool, refusal);
	/* A pool that has counted a refusal is not idle, so it stays. */
	rdmacg_pool_give_back_unlock(pool);
}

/*
 * Charge @set to @cg and its ancestors. Returns 0, -EINVAL for a malformed set,
 * -ENOMEM, -ENODEV if the device is being unregistered, or -EAGAIN with the
 * details in *@refusal. The caller sets @refusal->is_ignored. If it is true,
 * the set is charged despite -EAGAIN.
 */
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_amount *set, unsigned int count,
			   struct rdmacg_refusal *refusal)
{
	struct rdmacg_pool *pool;
	bool has_room;

	/*
	 * With the constant 1, the compiler removes the loop. Most refused
	 * charges have one amount.
	 */
	if (!(count == 1 ? rdmacg_set_is_valid(device, set, 1, true) :
			   rdmacg_set_is_valid(device, set, count, true)))
		return -EINVAL;
	if (!cg->depth)
		return 0;
	pool = rdmacg_pool_get_lock(cg, device->desc);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	has_room = rdmacg_pool_has_room_locked(pool, set, count, refusal);
	if (has_room || refusal->is_ignored)
		rdmacg_pool_add_locked(pool, set, count);
	if (!has_room) {
		rdmacg_count_refusal_unlock(pool, refusal);
		return -EAGAIN;
	}
	rdmacg_pool_unlock(pool);
	return 0;
}

/*
 * Subtract a charge from all levels. Returns false if @set is malformed or @cg
 * is the root.
 */
bool rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_amount *set, unsigned int count)
{
	struct rdmacg_pool *pool;

	if (WARN_ON_ONCE(!rdmacg_set_is_valid(device, set, count, true)) || !cg->depth)
		return false;
	pool = rdmacg_pool_lock(cg, device->key);
	if (WARN_ON_ONCE(!pool))
		return true;
	rdmacg_pool_sub_locked(pool, set, count);
	/* A pool that had only endless charges may be idle. */
	rdmacg_pool_give_back_unlock(pool);
	return true;
}

/*
 * Free the cgroup's pool on a device, and idle pools of the cgroup's ancestors.
 */
static void rdmacg_pool_free(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, key);
	LIST_HEAD(gone);

	/* The pool may have been removed with its device. */
	if (!pool)
		return;
	rdmacg_pool_remove_locked(pool, &gone);
	rdmacg_pool_unlock(pool);
	rdmacg_pools_free_gone(&gone);
	rdmacg_pool_give_back(rdmacg_parent(cg), key);
}

/*
 * Free all pools of a cgroup without references. Such a cgroup has no charge,
 * and its children are already freed. For a cgroup without a pool, this
 * function takes no lock that another cgroup needs.
 */
void rdmacg_pools_free(struct rdma_cgroup *cg)
{
	struct rdmacg_defaults *defaults = rcu_dereference_protected(cg->defaults, true);
	struct rdmacg_map *map;
	u32 key, nr = rdmacg_nr_keys(cg);

	for (key = 0; key < nr; key++)
		rdmacg_pool_free(cg, key);
	/*
	 * rdmacg_pools_drain() may have cleared the last entry, and may still
	 * hold the map_lock.
	 */
	scoped_guard(spinlock, &cg->map_lock)
		map = rcu_replace_pointer(cg->map, &rdmacg_empty_map,
					  lockdep_is_held(&cg->map_lock));
	if (map != &rdmacg_empty_map)
		kfree_rcu(map, rcu);
	rdmacg_count_control_limits(-rdmacg_defaults_count(defaults, RDMACG_CLASS_CONTROL));
	kfree(defaults);
}

/*
 * Remove pools from the end of the domain's list. Remove only a few, because
 * siblings wait for the lock.
 */
static void rdmacg_domain_drain(struct rdmacg_domain *domain, struct list_head *gone)
{
	unsigned int i;

	rdmacg_domain_lock(domain);
	for (i = 0; i < RDMACG_BATCH && !list_empty(&domain->pools); i++)
		rdmacg_pool_remove_locked(list_last_entry(&domain->pools, struct rdmacg_pool,
							  domain_node), gone);
	rdmacg_domain_unlock(domain);
}

/*
 * Free all pools of a device that is being unregistered, and return the charges
 * that are left. A write may still be about to set limits, and cgroups may be
 * freed at the same time. If rdmacg_pools_free() finds a pool, it takes the
 * domain's lock. Otherwise it takes the cgroup's map_lock. Either lock makes
 * rdmacg_pools_free() wait until this function no longer uses the cgroup.
 */
void rdmacg_pools_drain(struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain;

	do {
		LIST_HEAD(gone);

		scoped_guard(rcu) {
			scoped_guard(spinlock, &desc->lock) {
				WRITE_ONCE(desc->dead, true);
				domain = list_first_entry_or_null(&desc->domains,
								  struct rdmacg_domain, desc_node);
			}
			if (domain)
				rdmacg_domain_drain(domain, &gone);
		}
		rdmacg_pools_free_gone(&gone);
		cond_resched();
	} while (domain);
}
