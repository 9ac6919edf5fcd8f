// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the pools of the RDMA cgroup controller, the files over them and
 * the API:
 *
 *   root           never charged, has no limits
 *    |-- other
 *    `-- top
 *         |-- left
 *         |    `-- leaf
 *         `-- right
 */
#include "rdma_kunit.h"

struct rdmacg_tree {
	struct rdma_cgroup root, other, top, left, leaf, right;
	struct rdmacg_device dev0, dev1;
	struct list_head charges;
};

/* One unit that a test has charged and not uncharged yet. */
struct rdmacg_unit_charge {
	struct list_head node;
	struct rdma_cgroup *cg;
	struct rdmacg_device *device;
	unsigned int slot;
};

static int rdmacg_pool_test_init(struct kunit *test)
{
	struct rdmacg_tree *tree;

	tree = kunit_kzalloc(test, sizeof(*tree), GFP_KERNEL);
	if (!tree)
		return -ENOMEM;
	rdmacg_test_init_cgroup(&tree->root, NULL);
	rdmacg_test_init_cgroup(&tree->other, &tree->root);
	rdmacg_test_init_cgroup(&tree->top, &tree->root);
	rdmacg_test_init_cgroup(&tree->left, &tree->top);
	rdmacg_test_init_cgroup(&tree->leaf, &tree->left);
	rdmacg_test_init_cgroup(&tree->right, &tree->top);
	rdmacg_test_register(test, &tree->dev0, "kunit0", 100);
	rdmacg_test_register(test, &tree->dev1, "kunit1", 101);
	INIT_LIST_HEAD(&tree->charges);
	test->priv = tree;
	return 0;
}

static struct rdmacg_slot rdmacg_slot(struct rdma_cgroup *cg, struct rdmacg_device *device,
				      unsigned int slot)
{
	struct rdmacg_slot copy = { .max = RDMACG_NO_LIMIT };
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, device->key);

	if (pool) {
		copy = pool->slots[slot];
		rdmacg_pool_unlock(pool);
	}
	return copy;
}

static u64 rdmacg_usage(struct rdma_cgroup *cg, struct rdmacg_device *device,
			unsigned int slot)
{
	return rdmacg_slot(cg, device, slot).usage;
}

static u64 rdmacg_max(struct rdma_cgroup *cg, struct rdmacg_device *device,
		      unsigned int slot)
{
	return rdmacg_slot(cg, device, slot).max;
}

static u64 rdmacg_peak(struct rdma_cgroup *cg, struct rdmacg_device *device,
		       unsigned int slot)
{
	return rdmacg_slot(cg, device, slot).peak;
}

static int rdmacg_limit(struct rdma_cgroup *cg, const char *text)
{
	return rdmacg_set_max(cg, RDMACG_CLASS_HCA, text);
}

/* Charge one unit, which the end of the test uncharges if the test does not. */
static int rdmacg_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			 unsigned int slot)
{
	const struct rdmacg_charge charge = { .slot = slot, .amount = 1 };
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_tree *tree = test->priv;
	struct rdmacg_unit_charge *unit;
	struct rdmacg_refusal refusal;
	int ret;

	ret = rdmacg_pool_try_charge(cg, device, &charge, 1, &refusal);
	if (ret)
		return ret;
	unit = kunit_kzalloc(test, sizeof(*unit), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, unit);
	unit->cg = cg;
	unit->device = device;
	unit->slot = slot;
	list_add(&unit->node, &tree->charges);
	return 0;
}

static void rdmacg_charge_many(struct kunit *test, struct rdma_cgroup *cg,
			       struct rdmacg_device *device, unsigned int slot,
			       unsigned int count)
{
	while (count--)
		KUNIT_EXPECT_EQ(test, rdmacg_charge(cg, device, slot), 0);
}

static void rdmacg_uncharge_unit(struct rdmacg_unit_charge *unit)
{
	const struct rdmacg_charge charge = { .slot = unit->slot, .amount = 1 };

	list_del(&unit->node);
	rdmacg_pool_uncharge(unit->cg, unit->device, &charge, 1);
}

static void rdmacg_uncharge_many(struct kunit *test, struct rdma_cgroup *cg,
				 struct rdmacg_device *device, unsigned int slot,
				 unsigned int count)
{
	struct rdmacg_tree *tree = test->priv;
	struct rdmacg_unit_charge *unit, *next;

	list_for_each_entry_safe(unit, next, &tree->charges, node) {
		if (!count)
			break;
		if (unit->cg != cg || unit->device != device || unit->slot != slot)
			continue;
		rdmacg_uncharge_unit(unit);
		count--;
	}
	KUNIT_EXPECT_EQ(test, count, 0);
}

static void rdmacg_pool_test_exit(struct kunit *test)
{
	struct rdmacg_tree *tree = test->priv;
	struct rdmacg_unit_charge *unit, *next;

	/* Called after a failed init, too. */
	if (!tree)
		return;
	list_for_each_entry_safe(unit, next, &tree->charges, node)
		rdmacg_uncharge_unit(unit);
	rdmacg_unregister_device(&tree->dev0);
	rdmacg_unregister_device(&tree->dev1);
	rdmacg_pools_free(&tree->right);
	rdmacg_pools_free(&tree->leaf);
	rdmacg_pools_free(&tree->left);
	rdmacg_pools_free(&tree->top);
	rdmacg_pools_free(&tree->other);
	rdmacg_pools_free(&tree->root);
}

static void rdmacg_test_charge_counts_on_all_levels(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 3);

	/* root 0, other 0, top 5, left 2, leaf 2, right 3 */
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->left, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->right, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 5);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->other, &t->dev0, OBJECT), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->root.pools));

	/* The other slot and the other device know nothing of it. */
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, HANDLE), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev1, OBJECT), 0);
}

static void rdmacg_test_charge_root_is_free(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->root, &t->dev0, HANDLE, 3);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->root.pools));
	rdmacg_uncharge_many(test, &t->root, &t->dev0, HANDLE, 3);
}

static void rdmacg_test_charge_at_own_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=3"), 0);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->right, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 3);

	/* Neither the other slot nor a sibling is bound by it. */
	rdmacg_charge_many(test, &t->right, &t->dev0, HANDLE, 4);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 4);

	/* What is given back can be taken again. */
	rdmacg_uncharge_many(test, &t->right, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
}

static void rdmacg_test_charge_at_zero(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
}

/* The smallest limit on the way up decides, wherever it stands. */
static void rdmacg_test_charge_at_ancestor_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_object=4"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=10"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 3);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->leaf, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->left, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 4);
}

/* A refusal changes neither usage nor peak, on any level. */
static void rdmacg_test_charge_refused_leaves_counters(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_object=2"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->leaf, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->left, &t->dev0, OBJECT), 2);
	rdmacg_uncharge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
}

/* All of a set or nothing, and amounts count. */
static void rdmacg_test_charge_set(struct kunit *test)
{
	static const struct rdmacg_charge set[] = { { HANDLE, 3 }, { OBJECT, 10 } };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_object=19"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, set, 2, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, set, 2, &refusal),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, refusal.slot, OBJECT);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->top);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, HANDLE), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 10);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, HANDLE), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->leaf, &t->dev0, HANDLE), 3);

	/* To the last one. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_object=20"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, set, 2, &refusal), 0);
	rdmacg_pool_uncharge(&t->leaf, &t->dev0, set, 2);
	rdmacg_pool_uncharge(&t->leaf, &t->dev0, set, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->top, &t->dev0, OBJECT), 20);
}

/* Without a limit there is room for what the counter holds, and nothing wraps. */
static void rdmacg_test_charge_huge_amount(struct kunit *test)
{
	const struct rdmacg_charge most = { OBJECT, RDMACG_NO_LIMIT };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->left, &t->dev0, &most, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, &most, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), U64_MAX);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT), -EAGAIN);

	/* The largest limit is one. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=9223372036854775806"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, &most, 1, &refusal),
			-EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->leaf);
	rdmacg_pool_uncharge(&t->right, &t->dev0, &most, 1);
	rdmacg_pool_uncharge(&t->left, &t->dev0, &most, 1);
}

/* An amount without end is counted nowhere: it leaves no pool, and is given back to none. */
static void rdmacg_test_charge_endless(struct kunit *test)
{
	static const struct rdmacg_charge endless = { OBJECT, RDMACG_ENDLESS };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, &endless, 1, &refusal),
			0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	rdmacg_pool_uncharge(&t->leaf, &t->dev0, &endless, 1);
}

#ifdef KUNIT_SUPPRESSED_WARNING_COUNT	/* 6.12 has none */
/* An uncharge too many is told, and takes no more than there is. */
static void rdmacg_test_uncharge_too_many(struct kunit *test)
{
	static const struct rdmacg_charge one = { OBJECT, 1 }, two = { OBJECT, 2 };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_pool_try_charge(&t->left, &t->dev0, &one, 1, &refusal), 0);
	kunit_warning_suppress(test) {
		rdmacg_pool_uncharge(&t->left, &t->dev0, &two, 1);
		KUNIT_EXPECT_GT(test, KUNIT_SUPPRESSED_WARNING_COUNT(), 0);
	}
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->left, &t->dev0, OBJECT), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 0);
}
#endif

/*
 * A pool that is given back between being found and being locked is not charged: the
 * charge finds the next one.
 */
static void rdmacg_test_pool_given_back_when_found(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_staged *staged;
	struct rdmacg_pool *pool;

	staged = kunit_kzalloc(test, struct_size(staged, max, 2), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, staged);
	staged->desc = t->dev0.desc;
	staged->slots = BIT_ULL(OBJECT);
	staged->max[OBJECT] = 9;
	/* A write that makes a pool, and then sets nothing. */
	KUNIT_ASSERT_EQ(test, rdmacg_stage_pool(&t->leaf, staged), 0);
	rcu_read_lock();
	pool = rdmacg_pool_find_rcu(&t->leaf, t->dev0.key);
	rdmacg_unstage_pool(&t->leaf, staged);
	KUNIT_EXPECT_FALSE(test, rdmacg_pool_try_lock_rcu(pool));
	rcu_read_unlock();

	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 1);
}

/* The bytes that Kconfig, rdma.rst and README tell. */
static void rdmacg_test_pool_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rdmacg_pool_size(2, 1), 128);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_size(2, 2), 128);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_size(2, 1000), 192);
	KUNIT_EXPECT_LE(test, rdmacg_pool_size(24, 1000), SZ_1K);
	KUNIT_EXPECT_LE(test, rdmacg_pool_size(RDMACG_MAX_SLOTS, 1000), SZ_2K);
}

/* The first device's pool is in the head of the array, which needs no node. */
static void rdmacg_test_first_device_needs_no_node(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	/* Keys are free again a while after their devices have gone. */
	rdmacg_unregister_device(&t->dev0);
	rcu_barrier();
	rdmacg_test_register(test, &t->dev0, "kunit0", 100);
	if (t->dev0.key)
		kunit_skip(test, "the machine has a device of its own");
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(t->leaf.pools.xa_head),
			    (void *)xa_load(&t->leaf.pools, 0));
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(t->top.domains.xa_head),
			    (void *)xa_load(&t->top.domains, 0));
	rdmacg_charge_many(test, &t->leaf, &t->dev1, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 1);
}

static void rdmacg_test_pools_given_back(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	/* A limit needs a pool, and so do the levels above it; none is needed for long. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=9"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=9"), 0);
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->left.pools));
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->top.pools));
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=max"), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->top.pools));

	/* The middle one has a limit of its own. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->left, "kunit0 hca_object=3"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=9"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->left, &t->dev0, OBJECT), 3);
}

/* Peak and events are kept, without usage and limit. */
static void rdmacg_test_pools_with_history_stay(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_uncharge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=0"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->leaf, &t->dev0, OBJECT), 2);

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit1 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev1, OBJECT), -EAGAIN);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit1 max"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, &t->right, RDMACG_CLASS_HCA,
						  RDMACG_FILE_EVENTS_LOCAL),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=1 hca_object.alloc_fail=1\n");
}

/* The cgroup goes, its ancestors' history stays; the next one starts anew. */
static void rdmacg_test_cgroup_goes(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit1 hca_object=2"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_uncharge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_pools_free(&t->leaf);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->left, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->leaf, &t->dev0, OBJECT), 0);

	/* A top-level cgroup takes its domains along. */
	rdmacg_pools_free(&t->left);
	rdmacg_pools_free(&t->top);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->top.domains));
	KUNIT_EXPECT_TRUE(test, list_empty(&t->dev0.desc->domains));
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_peak(&t->top, &t->dev0, OBJECT), 1);
	rdmacg_uncharge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
}

/* A cgroup with nothing but a limit takes the empty pools above it along. */
static void rdmacg_test_cgroup_with_limit_goes(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=2"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=2"), 0);
	rdmacg_pools_free(&t->leaf);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->top.pools));
}

static size_t rdmacg_nr_pools(struct kunit *test, struct rdma_cgroup *top,
			      const struct rdmacg_device *device)
{
	struct rdmacg_domain *domain = xa_load(&top->domains, device->key);

	return domain ? list_count_nodes(&domain->pools) : 0;
}

/* The cgroup core's call frees a cgroup's pools, and those above that only it needed. */
static void rdmacg_test_css_free_frees_pools(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct cgroup_subsys_state *css = rdma_cgrp_subsys.css_alloc(&t->left.css);

	KUNIT_ASSERT_FALSE(test, IS_ERR(css));
	css->parent = &t->left.css;
	KUNIT_EXPECT_EQ(test, rdmacg_limit(rdmacg_from_css(css), "kunit0 hca_object=9"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(test, &t->top, &t->dev0), 3);
	rdma_cgrp_subsys.css_free(css);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(test, &t->top, &t->dev0), 0);
}

/* A chain of many cgroups, of which only the lowest is used. */
static void rdmacg_test_deep_chain(struct kunit *test)
{
	const unsigned int depth = 1000;
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *chain, *leaf;
	unsigned int i;

	chain = kvcalloc(depth, sizeof(*chain), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, chain);
	for (i = 0; i < depth; i++)
		rdmacg_test_init_cgroup(&chain[i], i ? &chain[i - 1] : &t->right);
	leaf = &chain[depth - 1];
	KUNIT_EXPECT_EQ(test, rdmacg_limit(leaf, "kunit0 hca_object=9"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(test, &t->top, &t->dev0), depth + 2);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(test, &t->top, &t->dev0), 0);

	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_object=1"), 0);
	rdmacg_charge_many(test, leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&chain[depth / 2], &t->dev0, OBJECT), 1);
	rdmacg_uncharge_many(test, leaf, &t->dev0, OBJECT, 1);
	for (i = depth; i--;)
		rdmacg_pools_free(&chain[i]);
	/* What is left is the peak of right and of top. */
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(test, &t->top, &t->dev0), 2);
	kvfree(chain);
}

/* What says nothing but "max" needs no pool, and none above either. */
static void rdmacg_test_no_pool_for_no_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=max hca_handle=max"), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->top.domains));
}

/* A device that goes under a write takes the limits along, and nothing is left. */
static void rdmacg_test_device_goes_under_write(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_staged *staged;

	staged = kunit_kzalloc(test, struct_size(staged, max, 2), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, staged);
	staged->desc = rdmacg_desc_get("kunit0", 6, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(staged->desc));
	staged->slots = BIT_ULL(OBJECT);
	staged->max[OBJECT] = 9;
	KUNIT_EXPECT_EQ(test, rdmacg_stage_pool(&t->leaf, staged), 0);
	rdmacg_unregister_device(&t->dev0);
	rdmacg_apply_staged(&t->leaf, staged);
	rdmacg_unstage_pool(&t->leaf, staged);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	/* Before its first pool, too. */
	KUNIT_EXPECT_EQ(test, rdmacg_stage_pool(&t->right, staged), -ENODEV);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->top.domains));
	rdmacg_desc_put(staged->desc);
	rdmacg_test_register(test, &t->dev0, "kunit0", 100);
}

/* Only tenants of one top-level cgroup and one device share a domain. */
static void rdmacg_test_domains_apart(struct kunit *test)
{
	static const struct rdmacg_charge one = { OBJECT, 1 };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;
	struct rdmacg_pool *pool;

	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_NULL(test, xa_load(&t->other.domains, t->dev0.key));
	rdmacg_charge_many(test, &t->other, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->leaf, &t->dev1, OBJECT, 1);
	pool = rdmacg_pool_lock(&t->leaf, t->dev0.key);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_EXPECT_PTR_EQ(test, pool->domain, xa_load(&t->top.domains, t->dev0.key));

	/* With the lock held, the others still charge. */
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->other, &t->dev0, &one, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev1, &one, 1, &refusal), 0);
	rdmacg_pool_unlock(pool);
	rdmacg_pool_uncharge(&t->other, &t->dev0, &one, 1);
	rdmacg_pool_uncharge(&t->leaf, &t->dev1, &one, 1);
}

static void rdmacg_test_charge_over_lowered_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 5);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->right, "kunit0 hca_object=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->right, &t->dev0, OBJECT), 5);

	/* 5 of 2 and 2 of 2 refuse, 1 of 2 does not. */
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	rdmacg_uncharge_many(test, &t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	rdmacg_uncharge_many(test, &t->right, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
}

static void rdmacg_test_unregister_frees_pools(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=2\n"
						       "kunit1 hca_object=3\n"), 0);
	rdmacg_unregister_device(&t->dev0);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->leaf, "kunit0 hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->leaf, &t->dev1, OBJECT), 3);

	/* The device comes back without limits. */
	rdmacg_test_register(test, &t->dev0, "kunit0", 100);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->leaf, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
}

static void rdmacg_test_set_max_several_lines(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, "kunit0 hca_handle=1 hca_object=2\n"
						      "kunit1 hca_object=3\n"
						      "kunit0 hca_object=4\n"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev0, HANDLE), 1);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev0, OBJECT), 4);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev1, HANDLE), RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev1, OBJECT), 3);
}

/* An error in any line leaves every limit, and makes no pool. */
static void rdmacg_test_set_max_all_or_nothing(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit1 hca_object=7"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, "kunit1 hca_object=1\n"
						      "kunit0 hca_object=junk\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, "kunit1 hca_object=1\n"
						      "kunit0 hca_object=1\n"
						      "kunit2 hca_object=1\n"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->left, "kunit0 hca_object=1\nkunit1"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev1, OBJECT), 7);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
}

static void rdmacg_test_set_max_empty(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_limit(&t->top, "\n"), -EINVAL);
}

static const char *rdmacg_show(struct kunit *test, struct rdma_cgroup *cg,
			       enum rdmacg_file file)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_HCA, file);
}

static void rdmacg_test_show_files(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->top, "kunit1 hca_handle=2"), 0);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 3);
	rdmacg_uncharge_many(test, &t->left, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->top, RDMACG_FILE_MAX),
			   "kunit0 hca_handle=max hca_object=max\n"
			   "kunit1 hca_handle=2 hca_object=max\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->top, RDMACG_FILE_CURRENT),
			   "kunit0 hca_handle=0 hca_object=2\n"
			   "kunit1 hca_handle=0 hca_object=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->top, RDMACG_FILE_PEAK),
			   "kunit0 hca_handle=0 hca_object=3\n"
			   "kunit1 hca_handle=0 hca_object=0\n");
}

/* Where an attempt was refused, and where it came from. */
static void rdmacg_test_show_events(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->left, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_charge(&t->left, &t->dev0, OBJECT), -EAGAIN);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);

	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->leaf, RDMACG_FILE_EVENTS),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=1\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->leaf, RDMACG_FILE_EVENTS_LOCAL),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=1\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->left, RDMACG_FILE_EVENTS),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=2 hca_object.alloc_fail=2\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->left, RDMACG_FILE_EVENTS_LOCAL),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=2 hca_object.alloc_fail=1\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->top, RDMACG_FILE_EVENTS),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=2 hca_object.alloc_fail=2\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, &t->top, RDMACG_FILE_EVENTS_LOCAL),
			   "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n"
			   "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n");
}

static void rdmacg_test_ref_gone(struct percpu_ref *ref)
{
}

/* The exported calls; the process that runs the test is in the root cgroup. */
static void rdmacg_test_api_from_root(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *owner = NULL;

	KUNIT_EXPECT_EQ(test, rdmacg_try_charge(&owner, &t->dev0, RDMACG_RESOURCE_MAX),
			-EINVAL);
	KUNIT_EXPECT_NULL(test, owner);
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge(&owner, &t->dev0, HANDLE), 0);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	KUNIT_EXPECT_NULL(test, owner->css.parent);
	rdmacg_uncharge(owner, &t->dev0, HANDLE);
}

static void rdmacg_test_api_sets(struct kunit *test)
{
	static const struct rdmacg_charge set[] = { { OBJECT, 4 }, { HANDLE, RDMACG_NO_LIMIT } };
	static const struct rdmacg_charge twice[] = { { OBJECT, 1 }, { OBJECT, 1 } };
	static const struct rdmacg_charge unknown[] = { { OBJECT, 1 }, { RDMACG_RESOURCE_MAX, 1 } };
	static const struct rdmacg_charge zero[] = { { HANDLE, 1 }, { OBJECT, 0 } };
	static const struct rdmacg_charge huge[] = { { OBJECT, RDMACG_NO_LIMIT + 1 } };
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *owner = NULL, *cg = rdmacg_get_current();

	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, twice, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, unknown, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, zero, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, huge, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, set, 0), -EINVAL);
	KUNIT_EXPECT_NULL(test, owner);
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, set, 2), 0);
	KUNIT_EXPECT_PTR_EQ(test, owner, cg);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_cgroup(cg, &t->dev0, set, 2), 0);
	rdmacg_uncharge_set(cg, &t->dev0, set, 2);
	rdmacg_uncharge_set(owner, &t->dev0, set, 2);
	rdmacg_put(cg);
}

/* Charging for a cgroup that is not the current one counts and refuses there. */
static void rdmacg_test_api_given_cgroup(struct kunit *test)
{
	static const struct rdmacg_charge set[] = { { OBJECT, 3 } };
	struct rdmacg_tree *t = test->priv;

	/* Enough of a css for references; nothing frees it. */
	KUNIT_ASSERT_EQ(test, percpu_ref_init(&t->leaf.css.refcnt, rdmacg_test_ref_gone,
					      PERCPU_REF_INIT_ATOMIC, GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_limit(&t->left, "kunit0 hca_object=5"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, &t->dev0, set, 1), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, &t->dev0, set, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 3);
	rdmacg_uncharge_set(&t->leaf, &t->dev0, set, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 0);

	/* One reference taken, one given back: the first one is the last. */
	percpu_ref_kill(&t->leaf.css.refcnt);
	KUNIT_EXPECT_TRUE(test, percpu_ref_is_zero(&t->leaf.css.refcnt));
	percpu_ref_exit(&t->leaf.css.refcnt);
}

static struct kunit_case rdmacg_pool_cases[] = {
	KUNIT_CASE(rdmacg_test_charge_counts_on_all_levels),
	KUNIT_CASE(rdmacg_test_charge_root_is_free),
	KUNIT_CASE(rdmacg_test_charge_at_own_limit),
	KUNIT_CASE(rdmacg_test_charge_at_zero),
	KUNIT_CASE(rdmacg_test_charge_at_ancestor_limit),
	KUNIT_CASE(rdmacg_test_charge_refused_leaves_counters),
	KUNIT_CASE(rdmacg_test_charge_set),
	KUNIT_CASE(rdmacg_test_charge_huge_amount),
	KUNIT_CASE(rdmacg_test_charge_endless),
#ifdef KUNIT_SUPPRESSED_WARNING_COUNT
	KUNIT_CASE(rdmacg_test_uncharge_too_many),
#endif
	KUNIT_CASE(rdmacg_test_pool_given_back_when_found),
	KUNIT_CASE(rdmacg_test_charge_over_lowered_limit),
	KUNIT_CASE(rdmacg_test_pool_size),
	KUNIT_CASE(rdmacg_test_first_device_needs_no_node),
	KUNIT_CASE(rdmacg_test_pools_given_back),
	KUNIT_CASE(rdmacg_test_pools_with_history_stay),
	KUNIT_CASE(rdmacg_test_cgroup_goes),
	KUNIT_CASE(rdmacg_test_cgroup_with_limit_goes),
	KUNIT_CASE(rdmacg_test_css_free_frees_pools),
	KUNIT_CASE(rdmacg_test_deep_chain),
	KUNIT_CASE(rdmacg_test_no_pool_for_no_limit),
	KUNIT_CASE(rdmacg_test_device_goes_under_write),
	KUNIT_CASE(rdmacg_test_domains_apart),
	KUNIT_CASE(rdmacg_test_unregister_frees_pools),
	KUNIT_CASE(rdmacg_test_set_max_several_lines),
	KUNIT_CASE(rdmacg_test_set_max_all_or_nothing),
	KUNIT_CASE(rdmacg_test_set_max_empty),
	KUNIT_CASE(rdmacg_test_show_files),
	KUNIT_CASE(rdmacg_test_show_events),
	KUNIT_CASE(rdmacg_test_api_from_root),
	KUNIT_CASE(rdmacg_test_api_sets),
	KUNIT_CASE(rdmacg_test_api_given_cgroup),
	{}
};

static struct kunit_suite rdmacg_pool_suite = {
	.name = "cgroup_rdma_pool",
	.init = rdmacg_pool_test_init,
	.exit = rdmacg_pool_test_exit,
	.test_cases = rdmacg_pool_cases,
};

kunit_test_suite(rdmacg_pool_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's pools");
MODULE_LICENSE("GPL");
