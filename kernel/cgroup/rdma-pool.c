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
 * as large as a slot. A page_counter charges one slot in less time ("make bench",
 * counter).
 */
#include <kunit/static_stub.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include <trace/events/rdmacg.h>

#include "rdma-internal.h"

void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent)
{
	spin_lock_init(&cg->max_lock);
	/* The nodes belong to the memory cgroup of who makes a pool, as the pool does. */
	xa_init_flags(&cg->pools, XA_FLAGS_ACCOUNT);
	xa_init_flags(&cg->domains, XA_FLAGS_ACCOUNT);
	if (parent) {
		cg->top = parent->top ?: cg;
		cg->depth = parent->depth + 1;
	}
}

/* The cgroup's pool on a device; NULL if there is none. */
struct rdmacg_pool *rdmacg_pool_find_rcu(struct rdma_cgroup *cg, u32 key)
{
	return xa_load(&cg->pools, key);
}

/*
 * The limit that holds in the cgroup, whose pool is @pool, or NULL if there is none; or
 * RDMACG_NO_LIMIT.
 */
u64 rdmacg_limit_rcu(struct rdma_cgroup *cg, const struct rdmacg_pool *pool,
		     const struct rdmacg_resource *resource, unsigned int slot)
{
	return pool ? READ_ONCE(pool->slots[slot].max) :
		      rdmacg_default_limit(rcu_dereference(cg->defaults), resource);
}

static struct rdmacg_pool *rdmacg_pool_find_locked(struct rdmacg_domain *domain,
						   struct rdma_cgroup *cg)
{
	lockdep_assert_held(&domain->lock);
	return xa_load(&cg->pools, domain->desc->key);
}

/* The annotations keep sparse away: one function takes the lock, and another drops it. */
static void rdmacg_domain_lock(struct rdmacg_domain *domain)
{
	spin_lock(&domain->lock);
	__release(&domain->lock);
}

static void rdmacg_domain_unlock(struct rdmacg_domain *domain)
{
	__acquire(&domain->lock);
	spin_unlock(&domain->lock);
}

/*
 * Lock the domain of a pool that was found. False, and not locked, if the pool was
 * given back in between.
 */
bool rdmacg_pool_try_lock_rcu(struct rdmacg_pool *pool)
{
	rdmacg_domain_lock(pool->domain);
	if (likely(!pool->dead))
		return true;
	rdmacg_domain_unlock(pool->domain);
	return false;
}

/*
 * Find a pool and lock its domain; NULL if there is none, and nothing is locked.
 * The cgroup must not go away meanwhile.
 */
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool;

	rcu_read_lock();
	do {
		pool = rdmacg_pool_find_rcu(cg, key);
	} while (pool && !rdmacg_pool_try_lock_rcu(pool));
	rcu_read_unlock();
	return pool;
}

void rdmacg_pool_unlock(struct rdmacg_pool *pool)
{
	rdmacg_domain_unlock(pool->domain);
}

/*
 * Make sure that an entry can be stored under a lock. Entry 0 alone is in the array's
 * head; to reserve it would cost a node.
 */
static int rdmacg_entry_reserve(struct xarray *array, u32 key)
{
	return !key && xa_empty(array) ? 0 : xa_reserve(array, key, GFP_KERNEL);
}

static struct rdmacg_domain *rdmacg_domain_alloc(struct rdma_cgroup *top,
						 struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain = kzalloc_obj(*domain, GFP_KERNEL_ACCOUNT);

	if (!domain)
		return NULL;
	spin_lock_init(&domain->lock);
	INIT_LIST_HEAD(&domain->pools);
	domain->desc = desc;
	domain->top = top;
	return domain;
}

/* Let the domain be found. -EEXIST if there is one already. */
static int rdmacg_desc_add_domain_locked(struct rdmacg_desc *desc,
					 struct rdmacg_domain *domain)
{
	int ret;

	lockdep_assert_held(&desc->lock);
	if (desc->dead)
		return -ENODEV;
	if (xa_load(&domain->top->domains, desc->key))
		return -EEXIST;
	rdmacg_domain_init_gate(domain);
	/* The entry is reserved, so this hardly ever allocates. */
	ret = xa_err(xa_store(&domain->top->domains, desc->key, domain, GFP_NOWAIT));
	if (!ret)
		list_add_tail(&domain->desc_node, &desc->domains);
	return ret;
}

/* Make a domain unless there is one. 0, -ENOMEM, or -ENODEV if the device goes. */
static int rdmacg_domain_create(struct rdma_cgroup *top, struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain;
	int ret;

	if (xa_load(&top->domains, desc->key))
		return 0;
	domain = rdmacg_domain_alloc(top, desc);
	if (!domain)
		return -ENOMEM;
	ret = rdmacg_entry_reserve(&top->domains, desc->key);
	if (!ret) {
		spin_lock(&desc->lock);
		ret = rdmacg_desc_add_domain_locked(desc, domain);
		spin_unlock(&desc->lock);
		if (ret)
			xa_release(&top->domains, desc->key);
	}
	if (ret)
		kfree(domain);
	return ret == -EEXIST ? 0 : ret;
}

/* Nobody finds the domain from now on. Whoever has found it uses it under RCU. */
static void rdmacg_desc_remove_domain_locked(struct rdmacg_desc *desc,
					     struct rdmacg_domain *domain)
{
	lockdep_assert_held(&desc->lock);
	xa_erase(&domain->top->domains, desc->key);
	list_del(&domain->desc_node);
}

static struct rdmacg_events *rdmacg_pool_events_locked(const struct rdmacg_pool *pool)
{
	return rcu_dereference_protected(pool->events,
					 lockdep_is_held(&pool->domain->lock));
}

static unsigned int rdmacg_nr_levels(unsigned int depth)
{
	return min(depth, RDMACG_LEVELS);
}

/*
 * The bytes of a pool without events: whole cache lines, none shared with a stranger. Behind
 * the slots are the words of rdmacg_pool_control() and rdmacg_pool_own(), and the levels.
 */
size_t rdmacg_pool_size(unsigned int nr_slots, unsigned int depth)
{
	return ALIGN(offsetof(struct rdmacg_pool, slots[nr_slots]) +
		     RDMACG_POOL_WORDS * sizeof(u64) +
		     rdmacg_nr_levels(depth) * sizeof(struct rdmacg_pool *), SMP_CACHE_BYTES);
}

struct rdmacg_pool *rdmacg_pool_parent(const struct rdmacg_pool *pool)
{
	return pool->nr_levels > 1 ? pool->levels[1] : NULL;
}

/* The first one above the pool's levels, with levels of its own; NULL at the top. */
static struct rdmacg_pool *rdmacg_pool_above(const struct rdmacg_pool *pool)
{
	return rdmacg_pool_parent(pool->levels[pool->nr_levels - 1]);
}

static void rdmacg_pool_set_levels(struct rdmacg_pool *pool, struct rdmacg_pool *parent)
{
	pool->nr_levels = rdmacg_nr_levels(pool->cg->depth);
	pool->levels[0] = pool;
	if (parent)
		memcpy(&pool->levels[1], parent->levels,
		       (pool->nr_levels - 1) * sizeof(pool->levels[0]));
}

/* A pool without usage and an entry for it. NULL: no memory. */
static struct rdmacg_pool *rdmacg_pool_alloc(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool = kzalloc(rdmacg_pool_size(desc->nr_slots, cg->depth),
					   GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	if (rdmacg_entry_reserve(&cg->pools, desc->key)) {
		kfree(pool);
		return NULL;
	}
	pool->cg = cg;
	pool->levels = (void *)&pool->slots[desc->nr_slots] + RDMACG_POOL_WORDS * sizeof(u64);
	return pool;
}

/* Free pools that were never in use, and their entries. */
static void rdmacg_pools_discard(struct rdmacg_desc *desc, struct list_head *pools)
{
	struct rdmacg_pool *pool, *next;

	list_for_each_entry_safe(pool, next, pools, domain_node) {
		xa_release(&pool->cg->pools, desc->key);
		kfree(pool);
	}
}

/* Pools for the cgroup and its ancestors up to one that has one, the highest first. */
static int rdmacg_pools_alloc(struct rdma_cgroup *cg, struct rdmacg_desc *desc,
			      struct list_head *pools)
{
	struct rdmacg_pool *pool;

	for (; cg->top && !xa_load(&cg->pools, desc->key); cg = rdmacg_parent(cg)) {
		pool = rdmacg_pool_alloc(cg, desc);
		if (!pool)
			return -ENOMEM;
		list_add(&pool->domain_node, pools);
		cond_resched();
	}
	return 0;
}

static void rdmacg_pool_free_rcu(struct rcu_head *rcu)
{
	struct rdmacg_pool *pool = container_of(rcu, struct rdmacg_pool, rcu);

	kfree(rcu_access_pointer(pool->events));
	kfree(pool);
}

/*
 * A device that goes leaves behind what was charged with a pin of it, which is a reference
 * until after the uncharge; writes have some, too.
 */
static bool rdmacg_domain_may_have_usage_locked(const struct rdmacg_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	return domain->dead && refcount_read(&domain->desc->refs) > 1;
}

/*
 * Take a pool out of use; children before their parent. Others may have found it before:
 * whoever charges or writes takes the lock next and sees @dead (rdmacg_pool_try_lock_rcu()),
 * and readers (rdmacg_show_line()) stay under RCU until they are done. So both are done
 * when RCU frees it.
 */
static void rdmacg_pool_free_locked(struct rdmacg_pool *pool)
{
	struct rdmacg_pool *parent = rdmacg_pool_parent(pool);
	struct rdmacg_desc *desc = pool->domain->desc;
	unsigned int slot;

	lockdep_assert_held(&pool->domain->lock);
	for (slot = 0; slot < desc->nr_slots; slot++)
		WARN_ON_ONCE(pool->slots[slot].usage &&
			     !rdmacg_domain_may_have_usage_locked(pool->domain));
	pool->dead = true;
	xa_erase(&pool->cg->pools, desc->key);
	list_del(&pool->domain_node);
	if (parent)
		parent->nr_users--;
	rdmacg_pool_free_control_locked(pool);
	/* kfree_rcu() is no load on the softirqs that a stranger waits for. */
	if (rdmacg_pool_events_locked(pool))
		call_rcu(&pool->rcu, rdmacg_pool_free_rcu);
	else
		kfree_rcu(pool, rcu);
}

/* The pool is as a new one would be, and nobody uses it. */
static bool rdmacg_pool_is_idle_locked(struct rdmacg_pool *pool)
{
	unsigned int slot;

	if (pool->nr_users || rdmacg_pool_events_locked(pool) || *rdmacg_pool_own(pool) ||
	    rdmacg_pool_has_commands_locked(pool))
		return false;
	/* What is in use has a peak, too. */
	for (slot = 0; slot < pool->domain->desc->nr_slots; slot++)
		if (pool->slots[slot].peak)
			return false;
	return true;
}

/*
 * Free the pool and its ancestors, as far as they are idle, and unlock. Each under a hold
 * of its own, as a chain of cgroups may be long and siblings want the lock. Whoever comes
 * to use one of them meanwhile gives it back in turn.
 */
static void rdmacg_pool_give_back_unlock(struct rdmacg_pool *pool)
{
	u32 key = pool->domain->desc->key;
	struct rdma_cgroup *cg = pool->cg;

	while (rdmacg_pool_is_idle_locked(pool)) {
		rdmacg_pool_free_locked(pool);
		rdmacg_pool_unlock(pool);
		cg = rdmacg_parent(cg);
		pool = rdmacg_pool_lock(cg, key);
		if (!pool)
			return;
	}
	rdmacg_pool_unlock(pool);
}

/* The same for the cgroup's pool, if it has one. */
void rdmacg_pool_give_back(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, key);

	if (pool)
		rdmacg_pool_give_back_unlock(pool);
}

/* Let a new pool, which nobody knows yet, have the limits of @defaults. */
static void rdmacg_pool_init_limits(struct rdmacg_pool *pool, const struct rdmacg_desc *desc,
				    const struct rdmacg_defaults *defaults)
{
	u64 max[RDMACG_MAX_SLOTS];
	unsigned int slot;

	rdmacg_default_limits(defaults, desc, max);
	for (slot = 0; slot < desc->nr_slots; slot++)
		pool->slots[slot].max = max[slot];
}

/*
 * Put a new pool into use, which has its limits. -EEXIST if the cgroup has one by now, and
 * -EAGAIN if others have given its parent's pool back meanwhile, or its entry.
 */
static int rdmacg_pool_insert_locked(struct rdmacg_domain *domain, struct rdmacg_pool *pool)
{
	struct rdmacg_pool *parent = NULL;
	struct rdma_cgroup *cg = pool->cg;

	if (rdmacg_pool_find_locked(domain, cg))
		return -EEXIST;
	if (cg != domain->top) {
		parent = rdmacg_pool_find_locked(domain, rdmacg_parent(cg));
		if (!parent)
			return -EAGAIN;
	}
	pool->domain = domain;
	rdmacg_pool_set_levels(pool, parent);
	/* The entry is reserved, so this allocates only where others gave it up. */
	if (xa_is_err(xa_store(&cg->pools, domain->desc->key, pool, GFP_NOWAIT)))
		return -EAGAIN;
	list_move_tail(&pool->domain_node, &domain->pools);
	rdmacg_commands_add_limits(rdmacg_pool_control_limits(pool));
	if (parent)
		parent->nr_users++;
	return 0;
}

static int rdmacg_pool_insert(struct rdmacg_desc *desc, struct rdmacg_pool *pool)
{
	const struct rdmacg_defaults *defaults;
	struct rdma_cgroup *cg = pool->cg;
	struct rdmacg_domain *domain;
	int ret = -ENODEV;

	rcu_read_lock();
	spin_lock(&cg->max_lock);
	/* Strings are compared before the domain's lock, for siblings want that. */
	defaults = rcu_dereference(cg->defaults);
	rdmacg_pool_init_limits(pool, desc, defaults);
	domain = xa_load(&cg->top->domains, desc->key);
	if (domain) {
		rdmacg_domain_lock(domain);
		if (!domain->dead)
			ret = rdmacg_pool_insert_locked(domain, pool);
		rdmacg_domain_unlock(domain);
	}
	spin_unlock(&cg->max_lock);
	if (!ret && trace_rdmacg_set_max_enabled())
		rdmacg_trace_new_pool_rcu(cg, desc, defaults);
	rcu_read_unlock();
	return ret;
}

/*
 * Put those of @pools into use whose cgroups have none yet, the highest first and each
 * under a hold of its own. -EAGAIN or -ENODEV for the first one that cannot be.
 */
static int rdmacg_pools_insert(struct rdmacg_desc *desc, struct list_head *pools)
{
	struct rdmacg_pool *pool, *next;
	int ret;

	list_for_each_entry_safe(pool, next, pools, domain_node) {
		ret = rdmacg_pool_insert(desc, pool);
		if (ret && ret != -EEXIST) {
			/* Nobody may need the ones above. */
			rdmacg_pool_give_back(rdmacg_parent(pool->cg), desc->key);
			return ret;
		}
	}
	return 0;
}

/*
 * Make what is missing of the pools of the cgroup and its ancestors. Not inlined, for a charge
 * that finds its pool would save registers for it.
 */
static noinline int rdmacg_pool_create(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	LIST_HEAD(pools);
	int ret;

	ret = rdmacg_domain_create(cg->top, desc);
	if (ret)
		return ret;
	ret = rdmacg_pools_alloc(cg, desc, &pools);
	if (!ret)
		ret = rdmacg_pools_insert(desc, &pools);
	rdmacg_pools_discard(desc, &pools);
	return ret;
}

/*
 * The same as rdmacg_pool_lock(), for a cgroup that may have no pool yet. Whoever has no
 * use for it in the end gives it back. @key is @desc's: a charge has it elsewhere, and shares
 * no cache line with those who take references to @desc. -ENOMEM, or -ENODEV if the device
 * goes.
 */
struct rdmacg_pool *rdmacg_pool_get_lock(struct rdma_cgroup *cg, u32 key,
					 struct rdmacg_desc *desc)
{
	struct rdmacg_pool *pool;
	int ret;

	/* A new pool may be given back by others before it is locked. */
	while (!(pool = rdmacg_pool_lock(cg, key))) {
		ret = rdmacg_pool_create(cg, desc);
		if (ret && ret != -EAGAIN)
			return ERR_PTR(ret);
	}
	return pool;
}

/* Whether a value that was written is a limit of the device's own, which a pool keeps. */
static bool rdmacg_is_own(const struct rdmacg_staged *staged, unsigned int slot)
{
	u64 max = staged->max[slot];

	return max != RDMACG_USE_DEFAULT && (max != RDMACG_NO_LIMIT || staged->keep_max);
}

/*
 * Make sure that the limits can be set, for which a cgroup needs a pool unless none
 * of them is one. -ENOMEM, or -ENODEV if the device goes.
 */
int rdmacg_stage_pool(struct rdma_cgroup *cg, struct rdmacg_staged *staged)
{
	struct rdmacg_pool *pool;
	unsigned int slot;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_stage_pool, cg, staged);
	for (slot = 0; slot < staged->desc->nr_slots; slot++)
		if ((staged->slots & BIT_ULL(slot)) && rdmacg_is_own(staged, slot))
			break;
	if (slot == staged->desc->nr_slots)
		return 0;
	pool = rdmacg_pool_get_lock(cg, staged->desc->key, staged->desc);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	pool->nr_users++;
	staged->has_pool = true;
	rdmacg_pool_unlock(pool);
	return 0;
}

/* Set a limit, and leave for those who trace what it was, if @changes is not NULL. */
static void rdmacg_pool_set_max_locked(struct rdmacg_pool *pool, unsigned int slot, u64 max,
				       struct rdmacg_change *changes)
{
	lockdep_assert_held(&pool->domain->lock);
	if (changes)
		changes[slot] = (struct rdmacg_change) {
			.old = pool->slots[slot].max,
			.new = max,
			.usage = pool->slots[slot].usage,
		};
	if (slot >= pool->domain->desc->control_slot)
		rdmacg_commands_add_limits((max != RDMACG_NO_LIMIT) -
					   (pool->slots[slot].max != RDMACG_NO_LIMIT));
	WRITE_ONCE(pool->slots[slot].max, max);
}

/*
 * Set the limits, all of a device at once. Where the default is to hold again, the old limit
 * does until rdmacg_pool_refresh_rcu().
 */
void rdmacg_apply_staged(struct rdma_cgroup *cg, const struct rdmacg_staged *staged)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, staged->desc->key);
	unsigned int slot;

	/* None is there where nothing is limited, or when the device has gone. */
	if (!pool)
		return;
	for (slot = 0; slot < staged->desc->nr_slots; slot++) {
		if (!(staged->slots & BIT_ULL(slot)))
			continue;
		*rdmacg_pool_own(pool) &= ~BIT_ULL(slot);
		if (rdmacg_is_own(staged, slot))
			*rdmacg_pool_own(pool) |= BIT_ULL(slot);
		if (staged->max[slot] != RDMACG_USE_DEFAULT)
			rdmacg_pool_set_max_locked(pool, slot, staged->max[slot],
						   staged->changes);
	}
	rdmacg_pool_set_control_locked(pool);
	rdmacg_pool_unlock(pool);
}

/*
 * A class has lost its last default: that a device has no limit of its own there means
 * nothing any more, and must not outlast a default that comes later.
 */
static void rdmacg_pools_forget_max(struct rdma_cgroup *cg, enum rdmacg_class class)
{
	const struct rdmacg_desc *desc;
	struct rdmacg_pool *pool;
	unsigned long key;
	unsigned int slot;

	rcu_read_lock();
	xa_for_each(&cg->pools, key, pool) {
		if (!rdmacg_pool_try_lock_rcu(pool))
			continue;
		desc = pool->domain->desc;
		for (slot = 0; slot < desc->nr_slots; slot++)
			if (desc->resources[slot].class == class &&
			    pool->slots[slot].max == RDMACG_NO_LIMIT)
				*rdmacg_pool_own(pool) &= ~BIT_ULL(slot);
		rdmacg_pool_unlock(pool);
	}
	rcu_read_unlock();
}

/*
 * Put other defaults into place. New pools come with them from now on; those that exist get
 * them by rdmacg_pool_refresh_rcu(). To be called under max_lock.
 */
void rdmacg_apply_defaults_locked(struct rdma_cgroup *cg, struct rdmacg_defaults *defaults)
{
	struct rdmacg_defaults *old;
	enum rdmacg_class class;

	lockdep_assert_held(&cg->max_lock);
	old = rcu_dereference_protected(cg->defaults, lockdep_is_held(&cg->max_lock));
	rdmacg_commands_add_limits(rdmacg_defaults_have(defaults, RDMACG_CLASS_CONTROL) -
				   rdmacg_defaults_have(old, RDMACG_CLASS_CONTROL));
	rcu_assign_pointer(cg->defaults, defaults);
	for (class = 0; class < RDMACG_CLASSES; class++)
		if (rdmacg_defaults_have(old, class) && !rdmacg_defaults_have(defaults, class))
			rdmacg_pools_forget_max(cg, class);
	if (old)
		kfree_rcu(old, rcu);
}

/*
 * Let the device have the cgroup's defaults where it has no limit of its own there. @changes
 * is as in rdmacg_pool_set_max_locked().
 */
void rdmacg_pool_refresh_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			     struct rdmacg_change *changes)
{
	u64 max[RDMACG_MAX_SLOTS];
	struct rdmacg_pool *pool;
	unsigned int slot;

	spin_lock(&cg->max_lock);
	rdmacg_default_limits(rcu_dereference(cg->defaults), desc, max);
	pool = rdmacg_pool_lock(cg, desc->key);
	/* One that comes from now on comes with the defaults (rdmacg_pool_insert()). */
	if (pool) {
		for (slot = 0; slot < desc->nr_slots; slot++)
			if (!(*rdmacg_pool_own(pool) & BIT_ULL(slot)))
				rdmacg_pool_set_max_locked(pool, slot, max[slot], changes);
		rdmacg_pool_set_control_locked(pool);
		rdmacg_pool_unlock(pool);
	}
	spin_unlock(&cg->max_lock);
	rdmacg_pool_give_back(cg, desc->key);
}

/* End what rdmacg_stage_pool() began; whether or not the limits were set. */
void rdmacg_unstage_pool(struct rdma_cgroup *cg, const struct rdmacg_staged *staged)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, staged->desc->key);

	if (!pool)
		return;
	if (staged->has_pool)
		pool->nr_users--;
	/* It was made for nothing, or it has lost its last limit. */
	rdmacg_pool_give_back_unlock(pool);
}

/*
 * A usage above its limit, which was lowered under it, has no room. Without a limit
 * there is room for all that the counter holds, which is twice RDMACG_NO_LIMIT. An
 * endless amount has room where there is no limit.
 */
static bool rdmacg_slot_has_room(const struct rdmacg_slot *slot, u64 amount)
{
	u64 usage;

	if (amount == RDMACG_ENDLESS)
		return slot->max == RDMACG_NO_LIMIT;
	return !check_add_overflow(slot->usage, amount, &usage) &&
	       (usage <= slot->max || slot->max == RDMACG_NO_LIMIT);
}

/*
 * Readers take no lock, and yet no usage is to exceed its peak, nor a child's its
 * parent's. So what may be the larger one is stored first when they grow: the peak before
 * the usage, a parent before its child. When they shrink, a child is stored before its
 * parent. The barriers are before each usage, and pair with those of readers in
 * rdmacg_slot_usage(): who reads a usage and then its peak, or while charges come a child and
 * then its parent, or while they go a parent and then its child, sees no contradiction.
 */
static void rdmacg_slot_set(struct rdmacg_slot *slot, u64 usage)
{
	if (usage > slot->peak)
		WRITE_ONCE(slot->peak, usage);
	/* Pairs with rdmacg_slot_usage(). */
	smp_wmb();
	WRITE_ONCE(slot->usage, usage);
}

static void rdmacg_slot_sub(struct rdmacg_slot *slot, u64 amount)
{
	/* Our caller uncharges what it never charged. */
	if (WARN_ON_ONCE(slot->usage < amount))
		amount = slot->usage;
	rdmacg_slot_set(slot, slot->usage - amount);
}

/*
 * The functions that follow take what they need out of @charge first: the compiler cannot
 * know that the counters are not part of it.
 */

/* Look for room, upwards; and leave the way back down in @below. */
static bool rdmacg_has_room_locked(struct rdmacg_pool *pool, const struct rdmacg_charge *charge)
{
	unsigned int level, slot = charge->slot;
	u64 amount = charge->amount;
	struct rdmacg_pool *above;

	lockdep_assert_held(&pool->domain->lock);
	while (1) {
		for (level = 0; level < pool->nr_levels; level++)
			if (!rdmacg_slot_has_room(&pool->levels[level]->slots[slot], amount))
				return false;
		above = rdmacg_pool_above(pool);
		if (!above)
			return true;
		above->below = pool;
		pool = above;
	}
}

static void rdmacg_add_levels(struct rdmacg_pool *pool, unsigned int slot, u64 amount)
{
	unsigned int level = pool->nr_levels;
	struct rdmacg_slot *at;

	while (level--) {
		at = &pool->levels[level]->slots[slot];
		rdmacg_slot_set(at, at->usage + amount);
	}
}

/* Count from @top, the highest pool with levels, down to @pool. */
static void rdmacg_add_locked(struct rdmacg_pool *pool, struct rdmacg_pool *top,
			      const struct rdmacg_charge *charge)
{
	u64 amount = rdmacg_counted(charge->amount);
	unsigned int slot = charge->slot;

	lockdep_assert_held(&pool->domain->lock);
	for (; top != pool; top = top->below)
		rdmacg_add_levels(top, slot, amount);
	rdmacg_add_levels(pool, slot, amount);
}

static void rdmacg_sub_locked(struct rdmacg_pool *pool, const struct rdmacg_charge *charge)
{
	u64 amount = rdmacg_counted(charge->amount);
	unsigned int level, slot = charge->slot;

	lockdep_assert_held(&pool->domain->lock);
	for (; pool; pool = rdmacg_pool_above(pool))
		for (level = 0; level < pool->nr_levels; level++)
			rdmacg_slot_sub(&pool->levels[level]->slots[slot], amount);
}

/* Find the lowest cgroup that has no room, and there the first resource of @set. */
static void rdmacg_find_refusal_locked(struct rdmacg_pool *pool, const struct rdmacg_charge *set,
				       unsigned int count, struct rdmacg_refusal *refusal)
{
	const struct rdmacg_charge *charge;
	const struct rdmacg_slot *slot;

	lockdep_assert_held(&pool->domain->lock);
	for (; pool; pool = rdmacg_pool_parent(pool)) {
		for (charge = set; charge < set + count; charge++) {
			slot = &pool->slots[charge->slot];
			if (rdmacg_slot_has_room(slot, charge->amount))
				continue;
			refusal->slot = charge->slot;
			refusal->cg = pool->cg;
			refusal->amount = charge->amount;
			refusal->usage = slot->usage;
			refusal->limit = slot->max;
			return;
		}
	}
}

/* Charge all or nothing. On -EAGAIN, *@refusal says what stood in the way. */
static int rdmacg_charge_locked(struct rdmacg_pool *pool, const struct rdmacg_charge *set,
				unsigned int count, struct rdmacg_refusal *refusal)
{
	struct rdmacg_pool *above, *top = pool;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!rdmacg_has_room_locked(pool, &set[i])) {
			rdmacg_find_refusal_locked(pool, set, count, refusal);
			return -EAGAIN;
		}
	}
	while ((above = rdmacg_pool_above(top)))
		top = above;
	for (i = 0; i < count; i++)
		rdmacg_add_locked(pool, top, &set[i]);
	return 0;
}

/* Memory for the events of one pool, until the pool has it. */
struct rdmacg_spare {
	struct rdmacg_spare *next;
};

static void rdmacg_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

static unsigned int rdmacg_missing_events_locked(const struct rdmacg_pool *pool)
{
	unsigned int missing = 0;

	for (; pool; pool = rdmacg_pool_parent(pool))
		missing += !rdmacg_pool_events_locked(pool);
	return missing;
}

/* Give a pool that has no events memory for them, if there is any. */
static void rdmacg_pool_add_events_locked(struct rdmacg_pool *pool, struct rdmacg_spare **spare)
{
	struct rdmacg_spare *events = *spare;

	if (!events || rdmacg_pool_events_locked(pool))
		return;
	*spare = events->next;
	events->next = NULL;
	rcu_assign_pointer(pool->events, (struct rdmacg_events *)events);
}

/*
 * Count a refusal in the pool that was to pay and in its ancestors. Where there
 * is no memory for that, it is not counted: refusing is what matters.
 */
static void rdmacg_count_refusal_locked(struct rdmacg_pool *pool,
					const struct rdmacg_refusal *refusal,
					struct rdmacg_spare **spare)
{
	struct rdmacg_events *events;
	struct rdmacg_pool *level;
	bool is_limited = false;

	for (level = pool; level; level = rdmacg_pool_parent(level)) {
		is_limited |= level->cg == refusal->cg;
		rdmacg_pool_add_events_locked(level, spare);
		events = rdmacg_pool_events_locked(level);
		if (!events)
			continue;
		events += refusal->slot;
		rdmacg_count(&events->alloc_fail);
		if (level == pool)
			rdmacg_count(&events->local_alloc_fail);
		if (is_limited)
			rdmacg_count(&events->max);
		if (level->cg == refusal->cg)
			rdmacg_count(&events->local_max);
	}
}

/* Memory for the events of that many pools, added to @spare. False if there is none. */
static bool rdmacg_spare_alloc(struct rdmacg_spare **spare, unsigned int count,
			       unsigned int nr_slots)
{
	struct rdmacg_spare *events;

	BUILD_BUG_ON(sizeof(struct rdmacg_spare) > sizeof(struct rdmacg_events));
	while (count--) {
		events = kcalloc(nr_slots, sizeof(struct rdmacg_events), GFP_KERNEL_ACCOUNT);
		if (!events)
			return false;
		events->next = *spare;
		*spare = events;
		cond_resched();
	}
	return true;
}

static void rdmacg_spare_free(struct rdmacg_spare *spare)
{
	struct rdmacg_spare *next;

	for (; spare; spare = next) {
		next = spare->next;
		kfree(spare);
	}
}

/*
 * Charge @set to @cg and its ancestors. Returns 0, -ENOMEM, -ENODEV if the device goes, or
 * -EAGAIN: then *@refusal says where there was no room.
 */
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count,
			   struct rdmacg_refusal *refusal)
{
	unsigned int missing, nr_spare = 0;
	struct rdmacg_spare *spare = NULL;
	struct rdmacg_pool *pool;
	bool has_memory = true;
	int ret;

	if (!cg->top)
		return 0;
again:
	pool = rdmacg_pool_get_lock(cg, device->key, device->desc);
	if (IS_ERR(pool)) {
		ret = PTR_ERR(pool);
		goto free_spare;
	}
	ret = rdmacg_charge_locked(pool, set, count, refusal);
	missing = ret ? rdmacg_missing_events_locked(pool) : 0;
	if (missing > nr_spare && has_memory) {
		/* There may be room by the time there is memory to count a refusal. */
		rdmacg_pool_unlock(pool);
		has_memory = rdmacg_spare_alloc(&spare, missing - nr_spare,
						device->nr_slots);
		nr_spare = missing;
		goto again;
	}
	if (ret)
		rdmacg_count_refusal_locked(pool, refusal, &spare);
	/* A refusal that was counted keeps the pool; an endless amount does not. */
	if (ret || !pool->slots[set->slot].peak)
		rdmacg_pool_give_back_unlock(pool);
	else
		rdmacg_pool_unlock(pool);
free_spare:
	rdmacg_spare_free(spare);
	return ret;
}

static bool rdmacg_desc_is_dead(struct rdmacg_desc *desc)
{
	bool is_dead;

	spin_lock(&desc->lock);
	is_dead = desc->dead;
	spin_unlock(&desc->lock);
	return is_dead;
}

/*
 * Undo a rdmacg_pool_try_charge() that succeeded. If that was with a pin of the device,
 * which is unregistered at the same time, rdmacg_domains_free() takes the pool away before
 * or after this has its lock: then there is no pool, or the usage is gone before it is
 * looked at. The pin keeps another device from having the key.
 */
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_charge *set, unsigned int count)
{
	struct rdmacg_pool *pool;
	unsigned int i;

	if (!cg->top)
		return;
	pool = rdmacg_pool_lock(cg, device->key);
	if (!pool) {
		/* Only endless amounts leave no pool, and devices that go. */
		for (i = 0; i < count; i++)
			WARN_ON_ONCE(rdmacg_counted(set[i].amount) &&
				     !rdmacg_desc_is_dead(device->desc));
		return;
	}
	for (i = 0; i < count; i++)
		rdmacg_sub_locked(pool, &set[i]);
	rdmacg_pool_unlock(pool);
}

static void rdmacg_cgroup_pools_free(struct rdma_cgroup *cg)
{
	struct rdmacg_pool *pool;
	unsigned long key;

	lockdep_assert_in_rcu_read_lock();
	xa_for_each(&cg->pools, key, pool) {
		/* A pool that is dead by now has just gone with its device. */
		if (!rdmacg_pool_try_lock_rcu(pool))
			continue;
		rdmacg_pool_free_locked(pool);
		rdmacg_pool_unlock(pool);
		rdmacg_pool_give_back(rdmacg_parent(cg), key);
	}
}

static void rdmacg_cgroup_domains_free(struct rdma_cgroup *cg)
{
	struct rdmacg_domain *domain;
	struct rdmacg_desc *desc;
	unsigned long key;

	xa_for_each(&cg->domains, key, domain) {
		desc = domain->desc;
		spin_lock(&desc->lock);
		/* Otherwise rdmacg_domains_free() has just taken it, for the device goes. */
		if (xa_load(&cg->domains, key) == domain) {
			WARN_ON_ONCE(!list_empty(&domain->pools));
			rdmacg_desc_remove_domain_locked(desc, domain);
			kfree_rcu(domain, rcu);
		}
		spin_unlock(&desc->lock);
	}
}

/*
 * The last reference to the cgroup is gone: nothing is charged to it, and its
 * children went before it. Where it has no pool, no lock is taken that anybody else
 * wants.
 */
void rdmacg_pools_free(struct rdma_cgroup *cg)
{
	/* Pools, domains and desc that a device takes away meanwhile stay readable. */
	rcu_read_lock();
	rdmacg_cgroup_pools_free(cg);
	rdmacg_cgroup_domains_free(cg);
	rcu_read_unlock();
	/* Wait for a device that has just erased the last entry, and not left the array. */
	xa_destroy(&cg->pools);
	xa_destroy(&cg->domains);
	rdmacg_commands_add_limits(-rdmacg_defaults_have(rcu_access_pointer(cg->defaults),
							 RDMACG_CLASS_CONTROL));
	kfree(rcu_access_pointer(cg->defaults));
	rdmacg_commands_relax();
}

/*
 * Free all pools of a domain, which gets no new ones. There may be many, so others get the
 * processor and the lock in between.
 */
static void rdmacg_domain_drain(struct rdmacg_domain *domain)
{
	rdmacg_domain_lock(domain);
	domain->dead = true;
	while (!list_empty(&domain->pools)) {
		rdmacg_pool_free_locked(list_last_entry(&domain->pools, struct rdmacg_pool,
							domain_node));
		cond_resched_lock(&domain->lock);
	}
	rdmacg_domain_unlock(domain);
}

/*
 * The device goes: nothing is charged on it in any cgroup. A write may still be about to
 * set limits, and cgroups go at the same time: a cgroup that finds a pool or a domain takes
 * its lock, and one that does not waits for the array's (rdmacg_pools_free()).
 */
void rdmacg_domains_free(struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain;

	spin_lock(&desc->lock);
	desc->dead = true;
	while (!list_empty(&desc->domains)) {
		domain = list_first_entry(&desc->domains, struct rdmacg_domain, desc_node);
		rdmacg_desc_remove_domain_locked(desc, domain);
		spin_unlock(&desc->lock);
		rdmacg_domain_drain(domain);
		kfree_rcu(domain, rcu);
		spin_lock(&desc->lock);
	}
	spin_unlock(&desc->lock);
}
