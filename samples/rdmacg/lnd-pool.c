// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of memory regions, one or more for each part of an NI. A part that has none left
 * gets another pool, if the cgroup has room for all of it.
 */
#include <linux/jiffies.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "lnd.h"

static void lnd_pool_free(struct lnd_ni *ni, struct lnd_pool *pool)
{
	const struct ib_rdmacg_objects objects = { .mr = pool->size };
	unsigned int i;

	for (i = 0; i < pool->size; i++)
		if (pool->mrs[i].mr)
			ib_dereg_mr(pool->mrs[i].mr);
	/* What is given back is gone, so that nobody else is refused for want of it. */
	if (pool->is_charged)
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &objects);
	kvfree(pool);
}

static int lnd_mr_make(struct lnd_ni *ni, struct lnd_mr *mr)
{
	struct ib_mr *made = ib_alloc_mr(ni->pd, IB_MR_TYPE_MEM_REG, LND_MAX_FRAGS);

	mr->mr = IS_ERR(made) ? NULL : made;
	return PTR_ERR_OR_ZERO(made);
}

static int lnd_pool_fill(struct lnd_ni *ni, struct lnd_pool *pool)
{
	unsigned int i;
	int ret;

	for (i = 0; i < pool->size; i++) {
		pool->mrs[i].pool = pool;
		ret = lnd_mr_make(ni, &pool->mrs[i]);
		if (ret)
			return ret;
		list_add_tail(&pool->mrs[i].entry, &pool->free);
	}
	return 0;
}

/* A pool is one charge: a part of it would be of no use. */
static int lnd_pool_make(struct lnd_ni *ni, struct lnd_cpt *cpt)
{
	const struct ib_rdmacg_objects objects = { .mr = ni->param.mrs };
	struct lnd_pool *pool;
	int ret;

	pool = kvzalloc(struct_size(pool, mrs, ni->param.mrs), GFP_KERNEL_ACCOUNT);
	if (!pool)
		return -ENOMEM;
	pool->size = ni->param.mrs;
	INIT_LIST_HEAD(&pool->free);
	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &objects);
	pool->is_charged = !ret;
	if (!ret)
		ret = lnd_pool_fill(ni, pool);
	if (ret) {
		lnd_pool_free(ni, pool);
		return ret;
	}
	pool->idle_since = jiffies;
	list_add_tail(&pool->entry, &cpt->pools);
	return 0;
}

/**
 * lnd_pools_make() - make the first pool of each part
 * @ni: an NI with parts that have no pools
 *
 * Return: 0, -EAGAIN at a limit of the cgroup, or the device's error; then the caller
 * frees what there is.
 */
int lnd_pools_make(struct lnd_ni *ni)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ni->param.cpts; i++)
		ret = lnd_pool_make(ni, &ni->cpts[i]);
	return ret;
}

/**
 * lnd_pools_free() - free all pools, which nobody uses any more
 * @ni: an NI, perhaps without parts
 */
void lnd_pools_free(struct lnd_ni *ni)
{
	struct lnd_pool *pool, *next;
	unsigned int i;

	for (i = 0; ni->cpts && i < ni->param.cpts; i++) {
		list_for_each_entry_safe(pool, next, &ni->cpts[i].pools, entry) {
			list_del(&pool->entry);
			lnd_pool_free(ni, pool);
		}
	}
}

/* Why it cannot grow makes no difference: later it perhaps can. */
static int lnd_cpt_grow(struct lnd_ni *ni, struct lnd_cpt *cpt)
{
	if (cpt->has_failed && time_before(jiffies, cpt->retry_at))
		return -EAGAIN;
	cpt->has_failed = lnd_pool_make(ni, cpt);
	cpt->retry_at = jiffies + LND_POOL_RETRY;
	return cpt->has_failed ? -EAGAIN : 0;
}

/**
 * lnd_mr_get() - take a memory region, from a new pool if need be
 * @ni: an NI
 * @cpt: the part of it that is to give one
 *
 * Return: the memory region, or -EAGAIN if there is none now.
 */
struct lnd_mr *lnd_mr_get(struct lnd_ni *ni, struct lnd_cpt *cpt)
{
	struct lnd_pool *pool;
	struct lnd_mr *mr;
	int ret;

	do {
		list_for_each_entry(pool, &cpt->pools, entry) {
			mr = list_first_entry_or_null(&pool->free, struct lnd_mr, entry);
			if (!mr)
				continue;
			list_del(&mr->entry);
			pool->used++;
			return mr;
		}
		ret = lnd_cpt_grow(ni, cpt);
	} while (!ret);
	return ERR_PTR(ret);
}

/* Free the pools that have been idle for long, except the first one. */
static void lnd_cpt_shrink(struct lnd_ni *ni, struct lnd_cpt *cpt)
{
	struct lnd_pool *pool, *next;

	list_for_each_entry_safe(pool, next, &cpt->pools, entry) {
		if (list_is_first(&pool->entry, &cpt->pools) || pool->used ||
		    time_before(jiffies, pool->idle_since + lnd_pool_deadline()))
			continue;
		list_del(&pool->entry);
		lnd_pool_free(ni, pool);
	}
}

/**
 * lnd_mr_put() - give a memory region back
 * @ni: an NI
 * @cpt: the part that has given it
 * @mr: a memory region that nobody can reach memory through any more; one that
 *	lnd_mr_renew() could not renew remains a hole in its pool
 */
void lnd_mr_put(struct lnd_ni *ni, struct lnd_cpt *cpt, struct lnd_mr *mr)
{
	struct lnd_pool *pool = mr->pool;

	if (mr->mr)
		list_add(&mr->entry, &pool->free);
	if (!--pool->used)
		pool->idle_since = jiffies;
	lnd_cpt_shrink(ni, cpt);
}

/**
 * lnd_mr_renew() - put another memory region in the place of one
 * @ni: an NI
 * @mr: one whose connection has broken, so that nobody knows whether the other end can
 *	still reach memory through it
 *
 * The charge stays: it is one memory region before and after.
 */
void lnd_mr_renew(struct lnd_ni *ni, struct lnd_mr *mr)
{
	ib_dereg_mr(mr->mr);
	lnd_mr_make(ni, mr);
}
