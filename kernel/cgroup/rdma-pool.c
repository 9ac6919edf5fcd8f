// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: domains, pools and charges.
 *
 * A charge counts in the cgroup that pays and in each ancestor below the root.
 * It takes effect on all of these levels and in all of its slots, or nowhere, and
 * it is refused only if one of them has no room: all of this happens under the
 * lock of one domain.
 *
 * Readers take no lock. They find pools under RCU and see each counter as it is
 * at some moment of their read.
 *
 * Why not a page_counter for each slot, and no lock: those add first and look then,
 * so that readers see usage above the limit, and a charge that will be refused
 * refuses its neighbour; a charge of three slots would be three atomics for each
 * level, and taking back what the first two got; and a page_counter is ten times
 * as large as a slot. What they do faster is to charge one slot in a shallow tree
 * ("make bench", counter).
 */
#include <linux/cache.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "rdma-internal.h"

void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent)
{
	xa_init(&cg->pools);
	xa_init(&cg->domains);
	if (parent) {
		cg->top = parent->top ?: cg;
		cg->depth = parent->depth + 1;
	}
}

/* The cgroup's pool on a device; NULL if there is none. */
struct rdmacg_pool *rdmacg_pool_find_rcu(struct rdma_cgroup *cg, u32 id)
{
	struct rdmacg_pool *pool = rcu_dereference(cg->near_pools[id % RDMACG_NEAR_POOLS]);

	/* It may be of another device, whose domain's lock nobody here holds. */
	if (likely(pool && pool->id == id))
		return pool;
	return xa_load(&cg->pools, id);
}

/* The cgroup's own limit, or RDMACG_NO_LIMIT. */
u64 rdmacg_pool_limit_rcu(struct rdma_cgroup *cg, u32 id, unsigned int slot)
{
	struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, id);

	return pool ? READ_ONCE(pool->levels[0][slot].max) : RDMACG_NO_LIMIT;
}

static struct rdmacg_pool *rdmacg_pool_find_locked(struct rdmacg_domain *domain,
						   struct rdma_cgroup *cg)
{
	lockdep_assert_held(&domain->lock);
	return xa_load(&cg->pools, domain->id);
}

static struct rdmacg_domain *rdmacg_domain_get_locked(struct rdma_cgroup *top,
						      struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain = xa_load(&top->domains, desc->id);
	int ret;

	lockdep_assert_held(&rdmacg_mutex);
	if (domain)
		return domain;

	domain = kzalloc_obj(*domain);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	mutex_init(&domain->lock);
	INIT_LIST_HEAD(&domain->pools);
	domain->top = top;
	domain->id = desc->id;
	domain->nr_slots = desc->nr_slots;

	ret = xa_insert(&top->domains, desc->id, domain, GFP_KERNEL);
	if (ret) {
		kfree(domain);
		return ERR_PTR(ret);
	}
	list_add_tail(&domain->desc_node, &desc->domains);
	return domain;
}

static struct rdmacg_domain *rdmacg_domain_get(struct rdma_cgroup *top,
					       struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain = xa_load(&top->domains, desc->id);

	if (domain)
		return domain;
	mutex_lock(&rdmacg_mutex);
	domain = rdmacg_domain_get_locked(top, desc);
	mutex_unlock(&rdmacg_mutex);
	return domain;
}

static void rdmacg_domain_free_locked(struct rdmacg_domain *domain)
{
	lockdep_assert_held(&rdmacg_mutex);
	WARN_ON_ONCE(!list_empty(&domain->pools));
	xa_erase(&domain->top->domains, domain->id);
	list_del(&domain->desc_node);
	kfree_rcu(domain, rcu);
}

static struct rdmacg_events *rdmacg_pool_events_locked(const struct rdmacg_pool *pool)
{
	return rcu_dereference_protected(pool->events,
					 lockdep_is_held(&pool->domain->lock));
}

/* Of whole cache lines, so that no line is shared with a stranger. */
static size_t rdmacg_pool_head_size(unsigned int depth)
{
	return ALIGN(offsetof(struct rdmacg_pool, levels[depth]), SMP_CACHE_BYTES);
}

/* The bytes of a pool without events. */
size_t rdmacg_pool_size(unsigned int nr_slots, unsigned int depth)
{
	return rdmacg_pool_head_size(depth) +
	       ALIGN(nr_slots * sizeof(struct rdmacg_slot), SMP_CACHE_BYTES);
}

/* A pool without usage and limit, below @parent if that is not NULL. */
static struct rdmacg_pool *rdmacg_pool_alloc(struct rdmacg_domain *domain,
					     struct rdma_cgroup *cg,
					     struct rdmacg_pool *parent)
{
	struct rdmacg_pool *pool;
	struct rdmacg_slot *slots;
	unsigned int slot;

	pool = kzalloc(rdmacg_pool_size(domain->nr_slots, cg->depth), GFP_KERNEL);
	if (!pool)
		return NULL;

	slots = (void *)pool + rdmacg_pool_head_size(cg->depth);
	for (slot = 0; slot < domain->nr_slots; slot++)
		slots[slot].max = RDMACG_NO_LIMIT;
	pool->domain = domain;
	pool->id = domain->id;
	pool->parent = parent;
	pool->cg = cg;
	pool->nr_levels = cg->depth;
	pool->levels[0] = slots;
	if (parent)
		memcpy(&pool->levels[1], parent->levels,
		       parent->nr_levels * sizeof(parent->levels[0]));
	return pool;
}

static struct rdmacg_pool *rdmacg_pool_add_locked(struct rdmacg_domain *domain,
						  struct rdma_cgroup *cg,
						  struct rdmacg_pool *parent)
{
	struct rdmacg_pool *pool = rdmacg_pool_alloc(domain, cg, parent);
	int ret;

	lockdep_assert_held(&domain->lock);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	ret = xa_insert(&cg->pools, domain->id, pool, GFP_KERNEL);
	if (ret) {
		kfree(pool);
		return ERR_PTR(ret);
	}
	cmpxchg(&cg->near_pools[pool->id % RDMACG_NEAR_POOLS], NULL, RCU_INITIALIZER(pool));
	/* Parents before their children. */
	list_add_tail(&pool->domain_node, &domain->pools);
	if (parent)
		parent->nr_children++;
	return pool;
}

static void rdmacg_pool_free_rcu(struct rcu_head *rcu)
{
	struct rdmacg_pool *pool = container_of(rcu, struct rdmacg_pool, rcu);

	kfree(rcu_access_pointer(pool->events));
	kfree(pool);
}

/* To be called for children before their parent. */
static void rdmacg_pool_free_locked(struct rdmacg_pool *pool)
{
	unsigned int slot;

	lockdep_assert_held(&pool->domain->lock);
	WARN_ON_ONCE(pool->nr_children);
	for (slot = 0; slot < pool->domain->nr_slots; slot++)
		WARN_ON_ONCE(pool->levels[0][slot].usage);
	pool->dead = true;
	cmpxchg(&pool->cg->near_pools[pool->id % RDMACG_NEAR_POOLS], RCU_INITIALIZER(pool), NULL);
	xa_erase(&pool->cg->pools, pool->id);
	list_del(&pool->domain_node);
	if (pool->parent)
		pool->parent->nr_children--;
	call_rcu(&pool->rcu, rdmacg_pool_free_rcu);
}

/* Nothing is in the pool that a new one would not have, and nobody needs it. */
static bool rdmacg_pool_is_idle_locked(const struct rdmacg_pool *pool)
{
	const struct rdmacg_slot *slots = pool->levels[0];
	unsigned int slot;

	if (pool->nr_children || pool->staged || rdmacg_pool_events_locked(pool))
		return false;
	/* What is in use has a peak, too. */
	for (slot = 0; slot < pool->domain->nr_slots; slot++)
		if (slots[slot].peak || slots[slot].max != RDMACG_NO_LIMIT)
			return false;
	return true;
}

/* Free the pool and its ancestors, as far as they are idle. */
static void rdmacg_pool_give_back_locked(struct rdmacg_pool *pool)
{
	struct rdmacg_pool *parent;

	for (; pool && rdmacg_pool_is_idle_locked(pool); pool = parent) {
		parent = pool->parent;
		rdmacg_pool_free_locked(pool);
	}
}

/* The pool of the closest ancestor that has one; *@missing is the one below it. */
static struct rdmacg_pool *rdmacg_pool_above_locked(struct rdmacg_domain *domain,
						    struct rdma_cgroup *cg,
						    struct rdma_cgroup **missing)
{
	struct rdmacg_pool *pool;

	lockdep_assert_held(&domain->lock);
	while (cg != domain->top) {
		*missing = cg;
		cg = rdmacg_parent(cg);
		pool = rdmacg_pool_find_locked(domain, cg);
		if (pool)
			return pool;
	}
	*missing = cg;
	return NULL;
}

/*
 * Find the pool or make one, with what is missing above it. Whoever has no use
 * for it in the end gives it back.
 */
static struct rdmacg_pool *rdmacg_pool_get_locked(struct rdmacg_domain *domain,
						  struct rdma_cgroup *cg)
{
	struct rdmacg_pool *pool = rdmacg_pool_find_locked(domain, cg);
	struct rdmacg_pool *above;
	struct rdma_cgroup *missing;

	while (!pool) {
		above = rdmacg_pool_above_locked(domain, cg, &missing);
		pool = rdmacg_pool_add_locked(domain, missing, above);
		if (IS_ERR(pool)) {
			rdmacg_pool_give_back_locked(above);
			return pool;
		}
		if (missing != cg)
			pool = NULL;
	}
	return pool;
}

/*
 * Whoever holds a domain's lock needs it for some ten nanoseconds, but for the
 * rare allocation, and often wants it again at once. Waiters that poll it, as
 * mutex_lock() does, take the cache line away each time, and the lines of the
 * counters follow the lock from one processor to the other for every charge. So
 * look again only after a while, in which the holder does a run of charges; that
 * is two to three times as many for both together ("make bench", siblings). After
 * a few times queue up, for whoever sleeps with the lock.
 */
static void rdmacg_domain_lock_contended(struct rdmacg_domain *domain)
{
	bool spin = IS_ENABLED(CONFIG_SMP) && !IS_ENABLED(CONFIG_PREEMPT_RT);
	unsigned int tries, pauses;

	for (tries = 0; spin && tries < 8 && !need_resched(); tries++) {
		for (pauses = 0; pauses < 32; pauses++)
			cpu_relax();
		if (mutex_trylock(&domain->lock))
			return;
	}
	mutex_lock(&domain->lock);
}

static void rdmacg_domain_lock(struct rdmacg_domain *domain)
{
	if (!mutex_trylock(&domain->lock))
		rdmacg_domain_lock_contended(domain);
}

/* Wait for the domain if need be, and look once more whether the cgroup has a pool. */
static noinline struct rdmacg_pool *
rdmacg_pool_lock_again(struct rdmacg_domain *domain, struct rdma_cgroup *cg, bool locked)
{
	struct rdmacg_pool *pool;

	if (!locked)
		rdmacg_domain_lock_contended(domain);
	pool = rdmacg_pool_find_locked(domain, cg);
	if (!pool)
		mutex_unlock(&domain->lock);
	return pool;
}

/* rdmacg_pool_lock() within a charge, where a call costs as much as a level. */
static __always_inline struct rdmacg_pool *
rdmacg_pool_lock_inline(struct rdma_cgroup *cg, u32 id)
{
	struct rdmacg_domain *domain;
	struct rdmacg_pool *pool;
	bool locked;

	/* The pool may be given back until its domain is locked. */
	rcu_read_lock();
	pool = rdmacg_pool_find_rcu(cg, id);
	if (unlikely(!pool)) {
		rcu_read_unlock();
		return NULL;
	}
	domain = pool->domain;
	locked = mutex_trylock(&domain->lock);
	if (likely(locked && !pool->dead)) {
		rcu_read_unlock();
		return pool;
	}
	rcu_read_unlock();
	/* The domain stays while cgroup and device do. */
	return rdmacg_pool_lock_again(domain, cg, locked);
}

/*
 * Find a pool and lock its domain; NULL if there is none, and nothing is locked.
 * Neither the cgroup nor the device may go away meanwhile.
 */
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 id)
{
	return rdmacg_pool_lock_inline(cg, id);
}

void rdmacg_pool_unlock(struct rdmacg_pool *pool)
{
	mutex_unlock(&pool->domain->lock);
}

/* The same for a cgroup that may have no pool yet. */
static noinline struct rdmacg_pool *rdmacg_pool_lock_new(struct rdma_cgroup *cg,
							 struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain = rdmacg_domain_get(cg->top, desc);
	struct rdmacg_pool *pool;

	if (IS_ERR(domain))
		return ERR_CAST(domain);
	rdmacg_domain_lock(domain);
	pool = rdmacg_pool_get_locked(domain, cg);
	if (IS_ERR(pool))
		mutex_unlock(&domain->lock);
	return pool;
}

/* A copy of the pool's limits, to be changed and applied. NULL: no memory. */
static struct rdmacg_staged *rdmacg_staged_alloc(struct rdmacg_pool *pool)
{
	unsigned int nr_slots = pool->domain->nr_slots;
	struct rdmacg_staged *staged;
	unsigned int slot;

	staged = kzalloc(struct_size(staged, max, nr_slots), GFP_KERNEL);
	if (!staged)
		return NULL;
	staged->pool = pool;
	for (slot = 0; slot < nr_slots; slot++)
		staged->max[slot] = pool->levels[0][slot].max;
	return staged;
}

/*
 * The limits to change for a device, which are added to @all the first time. They
 * keep the pool, which is made if the cgroup has none, until they are unstaged.
 * Or ERR_PTR(-ENOMEM).
 */
struct rdmacg_staged *rdmacg_stage_locked(struct rdma_cgroup *cg, struct rdmacg_desc *desc,
					  struct list_head *all)
{
	struct rdmacg_domain *domain = rdmacg_domain_get_locked(cg->top, desc);
	struct rdmacg_staged *staged;
	struct rdmacg_pool *pool;

	if (IS_ERR(domain))
		return ERR_CAST(domain);
	rdmacg_domain_lock(domain);
	pool = rdmacg_pool_get_locked(domain, cg);
	if (IS_ERR(pool)) {
		staged = ERR_CAST(pool);
	} else if (pool->staged) {
		staged = pool->staged;
	} else {
		staged = rdmacg_staged_alloc(pool);
		if (staged) {
			pool->staged = staged;
			list_add_tail(&staged->node, all);
		} else {
			rdmacg_pool_give_back_locked(pool);
			staged = ERR_PTR(-ENOMEM);
		}
	}
	mutex_unlock(&domain->lock);
	return staged;
}

/* All limits of a device change at once, or not at all. */
static void rdmacg_unstage_one(struct rdmacg_staged *staged, bool apply)
{
	struct rdmacg_pool *pool = staged->pool;
	struct rdmacg_domain *domain = pool->domain;
	unsigned int slot;

	rdmacg_domain_lock(domain);
	for (slot = 0; slot < domain->nr_slots && apply; slot++)
		WRITE_ONCE(pool->levels[0][slot].max, staged->max[slot]);
	pool->staged = NULL;
	/* It was made for nothing, or it has lost its last limit. */
	rdmacg_pool_give_back_locked(pool);
	mutex_unlock(&domain->lock);
	kfree(staged);
}

/* End what rdmacg_stage_locked() began. */
void rdmacg_unstage_locked(struct list_head *all, bool apply)
{
	struct rdmacg_staged *staged, *next;

	lockdep_assert_held(&rdmacg_mutex);
	list_for_each_entry_safe(staged, next, all, node)
		rdmacg_unstage_one(staged, apply);
}

/*
 * A usage above its limit, which was lowered under it, has no room. Without a limit
 * there is room for all that the counter holds, which is twice RDMACG_NO_LIMIT.
 */
static bool rdmacg_slot_has_room(const struct rdmacg_slot *slot, u64 amount)
{
	u64 usage;

	return !check_add_overflow(slot->usage, amount, &usage) &&
	       (usage <= slot->max || slot->max == RDMACG_NO_LIMIT);
}

static void rdmacg_slot_add(struct rdmacg_slot *slot, u64 amount)
{
	u64 usage = slot->usage + amount;

	WRITE_ONCE(slot->usage, usage);
	if (usage > slot->peak)
		WRITE_ONCE(slot->peak, usage);
}

static void rdmacg_slot_sub(struct rdmacg_slot *slot, u64 amount)
{
	/* Our caller uncharges what it never charged. */
	if (WARN_ON_ONCE(slot->usage < amount))
		amount = slot->usage;
	WRITE_ONCE(slot->usage, slot->usage - amount);
}

/*
 * The next three take what they need out of @pool and @charge first: the compiler
 * cannot know that the counters are not part of them.
 */

/* The lowest level that has no room; @pool->nr_levels if all have. */
static unsigned int rdmacg_full_level_locked(const struct rdmacg_pool *pool,
					     const struct rdmacg_charge *charge)
{
	unsigned int level, nr_levels = pool->nr_levels, slot = charge->slot;
	u64 amount = charge->amount;

	lockdep_assert_held(&pool->domain->lock);
	for (level = 0; level < nr_levels; level++)
		if (!rdmacg_slot_has_room(&pool->levels[level][slot], amount))
			break;
	return level;
}

/* The lowest level that has a limit; @pool->nr_levels if none has. */
static unsigned int rdmacg_limited_level_locked(const struct rdmacg_pool *pool,
						unsigned int slot)
{
	unsigned int level;

	lockdep_assert_held(&pool->domain->lock);
	for (level = 0; level < pool->nr_levels; level++)
		if (pool->levels[level][slot].max != RDMACG_NO_LIMIT)
			break;
	return level;
}

static void rdmacg_add_levels_locked(struct rdmacg_pool *pool,
				     const struct rdmacg_charge *charge)
{
	unsigned int level, nr_levels = pool->nr_levels, slot = charge->slot;
	u64 amount = rdmacg_counted(charge->amount);

	lockdep_assert_held(&pool->domain->lock);
	for (level = 0; level < nr_levels; level++)
		rdmacg_slot_add(&pool->levels[level][slot], amount);
}

static void rdmacg_sub_levels_locked(struct rdmacg_pool *pool,
				     const struct rdmacg_charge *charge)
{
	unsigned int level, nr_levels = pool->nr_levels, slot = charge->slot;
	u64 amount = rdmacg_counted(charge->amount);

	lockdep_assert_held(&pool->domain->lock);
	for (level = 0; level < nr_levels; level++)
		rdmacg_slot_sub(&pool->levels[level][slot], amount);
}

/* Charge all or nothing. Says what stood in the way if it returns -EAGAIN. */
static __always_inline int
rdmacg_charge_locked(struct rdmacg_pool *pool, const struct rdmacg_charge *set,
		     unsigned int count, struct rdmacg_refusal *refusal)
{
	unsigned int level, i;

	for (i = 0; i < count; i++) {
		level = unlikely(set[i].amount == RDMACG_ENDLESS) ?
			rdmacg_limited_level_locked(pool, set[i].slot) :
			rdmacg_full_level_locked(pool, &set[i]);
		if (level == pool->nr_levels)
			continue;
		refusal->slot = set[i].slot;
		refusal->level = level;
		return -EAGAIN;
	}
	for (i = 0; i < count; i++)
		rdmacg_add_levels_locked(pool, &set[i]);
	return 0;
}

static void rdmacg_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

/* The pool's counters for a slot; made with the first event. NULL: no memory. */
static struct rdmacg_events *rdmacg_pool_slot_events_locked(struct rdmacg_pool *pool,
							    unsigned int slot)
{
	struct rdmacg_events *events = rdmacg_pool_events_locked(pool);

	if (!events) {
		events = kcalloc(pool->domain->nr_slots, sizeof(*events), GFP_KERNEL);
		if (!events)
			return NULL;
		rcu_assign_pointer(pool->events, events);
	}
	return &events[slot];
}

/*
 * Count a refusal in the pool that was to pay and in its ancestors. Where there
 * is no memory for that, it is not counted: refusing is what matters.
 */
static noinline void rdmacg_count_refusal_locked(struct rdmacg_pool *pool,
						 const struct rdmacg_refusal *refusal)
{
	struct rdmacg_events *events;
	unsigned int level;

	for (level = 0; pool; pool = pool->parent, level++) {
		events = rdmacg_pool_slot_events_locked(pool, refusal->slot);
		if (!events)
			continue;
		rdmacg_count(&events->alloc_fail);
		if (level == 0)
			rdmacg_count(&events->local_alloc_fail);
		if (level >= refusal->level)
			rdmacg_count(&events->max);
		if (level == refusal->level)
			rdmacg_count(&events->local_max);
	}
}

/*
 * Charge @set to @cg and its ancestors. 0, -ENOMEM, or -EAGAIN: then *@refusal
 * says where there was no room.
 */
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count,
			   struct rdmacg_refusal *refusal)
{
	struct rdmacg_domain *domain;
	struct rdmacg_pool *pool;
	int ret;

	if (!cg->top)
		return 0;
	pool = rdmacg_pool_lock_inline(cg, device->id);
	if (unlikely(!pool)) {
		pool = rdmacg_pool_lock_new(cg, device->desc);
		if (IS_ERR(pool))
			return PTR_ERR(pool);
	}
	domain = pool->domain;
	/* Most charges are of one slot, and then without loops over a set. */
	if (count == 1)
		ret = rdmacg_charge_locked(pool, set, 1, refusal);
	else
		ret = rdmacg_charge_locked(pool, set, count, refusal);
	if (unlikely(ret))
		rdmacg_count_refusal_locked(pool, refusal);
	/* A refusal that could be counted keeps the pool; an endless amount does not. */
	if (unlikely(ret || !pool->levels[0][set->slot].peak))
		rdmacg_pool_give_back_locked(pool);
	mutex_unlock(&domain->lock);
	return ret;
}

/* Undo a rdmacg_pool_try_charge() that succeeded. */
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_charge *set, unsigned int count)
{
	struct rdmacg_pool *pool;
	unsigned int i;

	if (!cg->top)
		return;
	pool = rdmacg_pool_lock_inline(cg, device->id);
	if (unlikely(!pool)) {
		/* Only endless amounts leave no pool. */
		for (i = 0; i < count; i++)
			WARN_ON_ONCE(rdmacg_counted(set[i].amount));
		return;
	}
	for (i = 0; i < count; i++)
		rdmacg_sub_levels_locked(pool, &set[i]);
	mutex_unlock(&pool->domain->lock);
}

static void rdmacg_cgroup_pools_free_locked(struct rdma_cgroup *cg)
{
	struct rdmacg_pool *pool, *parent;
	struct rdmacg_domain *domain;
	unsigned long id;

	lockdep_assert_held(&rdmacg_mutex);
	xa_for_each(&cg->pools, id, pool) {
		domain = pool->domain;
		parent = pool->parent;
		mutex_lock(&domain->lock);
		rdmacg_pool_free_locked(pool);
		rdmacg_pool_give_back_locked(parent);
		mutex_unlock(&domain->lock);
	}
}

/*
 * The last reference to the cgroup is gone: nothing is charged to it, and its
 * children went before it.
 */
void rdmacg_pools_free(struct rdma_cgroup *cg)
{
	struct rdmacg_domain *domain;
	unsigned long id;

	mutex_lock(&rdmacg_mutex);
	rdmacg_cgroup_pools_free_locked(cg);
	xa_for_each(&cg->domains, id, domain)
		rdmacg_domain_free_locked(domain);
	mutex_unlock(&rdmacg_mutex);
}

/* The device goes: nothing is charged on it in any cgroup. */
void rdmacg_domains_free_locked(struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain, *next_domain;
	struct rdmacg_pool *pool, *next;

	lockdep_assert_held(&rdmacg_mutex);
	list_for_each_entry_safe(domain, next_domain, &desc->domains, desc_node) {
		mutex_lock(&domain->lock);
		list_for_each_entry_safe_reverse(pool, next, &domain->pools, domain_node)
			rdmacg_pool_free_locked(pool);
		mutex_unlock(&domain->lock);
		rdmacg_domain_free_locked(domain);
	}
}
