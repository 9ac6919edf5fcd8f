// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: pools.
 *
 * A charge counts in the cgroup that pays and in each ancestor below the root.
 * It takes effect on all of these levels or on none, and it is refused only if
 * one of them has no room. What is refused leaves no pool behind.
 */
#include <linux/err.h>

#include "rdma-internal.h"

/* See rdma-internal.h for what it guards. */
DEFINE_MUTEX(rdmacg_mutex);

struct rdmacg_pool *rdmacg_pool_find_locked(struct rdma_cgroup *cg,
					    struct rdmacg_device *device)
{
	lockdep_assert_held(&rdmacg_mutex);
	return xa_load(&cg->pools, device->id);
}

void rdmacg_pool_set_max_locked(struct rdmacg_pool *pool, unsigned int slot, u64 max)
{
	lockdep_assert_held(&rdmacg_mutex);
	pool->slots[slot].max = max;
	pool->slots[slot].staged = max;
}

/*
 * Find the pool or make one that has no usage and no limit. Whoever makes one
 * and then has no use for it gives it back.
 */
struct rdmacg_pool *rdmacg_pool_get_locked(struct rdma_cgroup *cg,
					   struct rdmacg_device *device)
{
	struct rdmacg_pool *pool = rdmacg_pool_find_locked(cg, device);
	unsigned int slot;
	int ret;

	if (pool)
		return pool;

	pool = kzalloc_obj(*pool);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->cg = cg;
	pool->device = device;
	for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
		rdmacg_pool_set_max_locked(pool, slot, RDMACG_NO_LIMIT);

	ret = xa_insert(&cg->pools, device->id, pool, GFP_KERNEL);
	if (ret) {
		kfree(pool);
		return ERR_PTR(ret);
	}
	list_add_tail(&pool->device_node, &device->pools);
	return pool;
}

static void rdmacg_pool_free_locked(struct rdmacg_pool *pool)
{
	lockdep_assert_held(&rdmacg_mutex);
	xa_erase(&pool->cg->pools, pool->device->id);
	list_del(&pool->device_node);
	kfree(pool);
}

/* Free the pool if nothing is in it that a new one would not have. */
void rdmacg_pool_give_back_locked(struct rdmacg_pool *pool)
{
	unsigned int slot;

	lockdep_assert_held(&rdmacg_mutex);
	for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
		if (pool->slots[slot].usage ||
		    pool->slots[slot].max != RDMACG_NO_LIMIT)
			return;
	rdmacg_pool_free_locked(pool);
}

/* The usage in a pool; a cgroup that has none uses nothing. */
u64 rdmacg_pool_usage_locked(const struct rdmacg_pool *pool, unsigned int slot)
{
	lockdep_assert_held(&rdmacg_mutex);
	return pool ? pool->slots[slot].usage : 0;
}

/* The limit in a pool; a cgroup that has none has no limit. */
u64 rdmacg_pool_max_locked(const struct rdmacg_pool *pool, unsigned int slot)
{
	lockdep_assert_held(&rdmacg_mutex);
	return pool ? pool->slots[slot].max : RDMACG_NO_LIMIT;
}

static bool rdmacg_levels_have_room_locked(struct rdma_cgroup *cg,
					   struct rdmacg_device *device,
					   unsigned int slot)
{
	struct rdma_cgroup *level;
	struct rdmacg_pool *pool;

	for (level = cg; rdmacg_parent(level); level = rdmacg_parent(level)) {
		pool = rdmacg_pool_find_locked(level, device);
		if (rdmacg_pool_usage_locked(pool, slot) >=
		    rdmacg_pool_max_locked(pool, slot))
			return false;
	}
	return true;
}

/* Give back what is idle from @cg up to, but not including, @end. */
static void rdmacg_levels_give_back_locked(struct rdma_cgroup *cg,
					   struct rdma_cgroup *end,
					   struct rdmacg_device *device)
{
	struct rdma_cgroup *level;

	for (level = cg; level != end; level = rdmacg_parent(level))
		rdmacg_pool_give_back_locked(rdmacg_pool_find_locked(level, device));
}

/* Make a pool on every level, or on no level that had none. */
static int rdmacg_levels_get_locked(struct rdma_cgroup *cg,
				    struct rdmacg_device *device)
{
	struct rdma_cgroup *level;
	struct rdmacg_pool *pool;

	for (level = cg; rdmacg_parent(level); level = rdmacg_parent(level)) {
		pool = rdmacg_pool_get_locked(level, device);
		if (IS_ERR(pool)) {
			rdmacg_levels_give_back_locked(cg, level, device);
			return PTR_ERR(pool);
		}
	}
	return 0;
}

static int rdmacg_pool_try_charge_locked(struct rdma_cgroup *cg,
					 struct rdmacg_device *device,
					 unsigned int slot)
{
	struct rdma_cgroup *level;
	int ret;

	if (!rdmacg_levels_have_room_locked(cg, device, slot))
		return -EAGAIN;
	ret = rdmacg_levels_get_locked(cg, device);
	if (ret)
		return ret;
	for (level = cg; rdmacg_parent(level); level = rdmacg_parent(level))
		rdmacg_pool_find_locked(level, device)->slots[slot].usage++;
	return 0;
}

/* Charge one unit to @cg and its ancestors. 0, -EAGAIN or -ENOMEM. */
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   unsigned int slot)
{
	int ret;

	mutex_lock(&rdmacg_mutex);
	ret = rdmacg_pool_try_charge_locked(cg, device, slot);
	mutex_unlock(&rdmacg_mutex);
	return ret;
}

/* Undo one rdmacg_pool_try_charge() that succeeded. */
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  unsigned int slot)
{
	struct rdma_cgroup *level;
	struct rdmacg_pool *pool;

	mutex_lock(&rdmacg_mutex);
	for (level = cg; rdmacg_parent(level); level = rdmacg_parent(level)) {
		pool = rdmacg_pool_find_locked(level, device);
		if (WARN_ON_ONCE(!rdmacg_pool_usage_locked(pool, slot)))
			break;
		pool->slots[slot].usage--;
		rdmacg_pool_give_back_locked(pool);
	}
	mutex_unlock(&rdmacg_mutex);
}

/*
 * Nobody can read or write the cgroup's files any more, and no process is in
 * it: its limits go, and each pool goes with the last object in it.
 */
void rdmacg_pools_offline(struct rdma_cgroup *cg)
{
	struct rdmacg_pool *pool;
	unsigned int slot;
	unsigned long id;

	mutex_lock(&rdmacg_mutex);
	xa_for_each(&cg->pools, id, pool) {
		for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
			rdmacg_pool_set_max_locked(pool, slot, RDMACG_NO_LIMIT);
		rdmacg_pool_give_back_locked(pool);
	}
	mutex_unlock(&rdmacg_mutex);
}

/* Free the device's pools in all cgroups. */
void rdmacg_pools_free_locked(struct rdmacg_device *device)
{
	struct rdmacg_pool *pool, *next;

	lockdep_assert_held(&rdmacg_mutex);
	list_for_each_entry_safe(pool, next, &device->pools, device_node)
		rdmacg_pool_free_locked(pool);
}
