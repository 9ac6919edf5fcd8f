// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the pools of the RDMA cgroup controller and for the files over
 * them. The cgroups are bare structs and the devices have no driver:
 *
 *   root           never charged, has no limits
 *    |-- other
 *    `-- top
 *         |-- left
 *         |    `-- leaf
 *         `-- right
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../rdma-internal.h"

#define HANDLE	RDMACG_RESOURCE_HCA_HANDLE
#define OBJECT	RDMACG_RESOURCE_HCA_OBJECT

struct rdmacg_tree {
	struct rdma_cgroup root, other, top, left, leaf, right;
	struct rdmacg_device dev0, dev1;
};

static void rdmacg_init_cgroup(struct rdma_cgroup *cg, struct rdma_cgroup *parent)
{
	xa_init(&cg->pools);
	cg->css.parent = parent ? &parent->css : NULL;
}

static void rdmacg_register(struct kunit *test, struct rdmacg_device *device,
			    const char *name, u32 index)
{
	device->name = name;
	device->index = index;
	KUNIT_ASSERT_EQ(test, rdmacg_register_device(device), 0);
}

static int rdmacg_pool_test_init(struct kunit *test)
{
	struct rdmacg_tree *tree;

	tree = kunit_kzalloc(test, sizeof(*tree), GFP_KERNEL);
	if (!tree)
		return -ENOMEM;
	rdmacg_init_cgroup(&tree->root, NULL);
	rdmacg_init_cgroup(&tree->other, &tree->root);
	rdmacg_init_cgroup(&tree->top, &tree->root);
	rdmacg_init_cgroup(&tree->left, &tree->top);
	rdmacg_init_cgroup(&tree->leaf, &tree->left);
	rdmacg_init_cgroup(&tree->right, &tree->top);
	rdmacg_register(test, &tree->dev0, "kunit0", 100);
	rdmacg_register(test, &tree->dev1, "kunit1", 101);
	test->priv = tree;
	return 0;
}

static void rdmacg_pool_test_exit(struct kunit *test)
{
	struct rdmacg_tree *tree = test->priv;

	/* Called after a failed init, too. */
	if (!tree)
		return;
	rdmacg_unregister_device(&tree->dev0);
	rdmacg_unregister_device(&tree->dev1);
}

static u64 rdmacg_usage(struct rdma_cgroup *cg, struct rdmacg_device *device,
			unsigned int slot)
{
	u64 usage;

	mutex_lock(&rdmacg_mutex);
	usage = rdmacg_pool_usage_locked(rdmacg_pool_find_locked(cg, device), slot);
	mutex_unlock(&rdmacg_mutex);
	return usage;
}

static u64 rdmacg_max(struct rdma_cgroup *cg, struct rdmacg_device *device,
		      unsigned int slot)
{
	u64 max;

	mutex_lock(&rdmacg_mutex);
	max = rdmacg_pool_max_locked(rdmacg_pool_find_locked(cg, device), slot);
	mutex_unlock(&rdmacg_mutex);
	return max;
}

static void rdmacg_charge_many(struct kunit *test, struct rdma_cgroup *cg,
			       struct rdmacg_device *device, unsigned int slot,
			       unsigned int count)
{
	while (count--)
		KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(cg, device, slot), 0);
}

static void rdmacg_uncharge_many(struct rdma_cgroup *cg, struct rdmacg_device *device,
				 unsigned int slot, unsigned int count)
{
	while (count--)
		rdmacg_pool_uncharge(cg, device, slot);
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
	rdmacg_uncharge_many(&t->root, &t->dev0, HANDLE, 3);
}

static void rdmacg_test_charge_at_own_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->right, "kunit0 hca_object=3"), 0);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->right, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 3);

	/* Neither the other slot nor a sibling is bound by it. */
	rdmacg_charge_many(test, &t->right, &t->dev0, HANDLE, 4);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 4);

	/* What is given back can be taken again. */
	rdmacg_uncharge_many(&t->right, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
}

static void rdmacg_test_charge_at_zero(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->right, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
}

/* The smallest limit on the way up decides, wherever it stands. */
static void rdmacg_test_charge_at_ancestor_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit0 hca_object=4"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->leaf, "kunit0 hca_object=10"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 3);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->leaf, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->left, &t->dev0, OBJECT), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 4);
}

static void rdmacg_test_charge_refused_makes_no_pool(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->leaf, &t->dev0, OBJECT),
			-EAGAIN);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
}

static void rdmacg_test_charge_over_lowered_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 5);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->right, "kunit0 hca_object=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->right, &t->dev0, OBJECT), 5);

	/* 5 of 2 and 2 of 2 refuse, 1 of 2 does not. */
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	rdmacg_uncharge_many(&t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&t->right, &t->dev0, OBJECT),
			-EAGAIN);
	rdmacg_uncharge_many(&t->right, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
}

static void rdmacg_test_uncharge_gives_default_pools_back(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->left, "kunit0 hca_object=9"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, HANDLE, 1);
	rdmacg_uncharge_many(&t->leaf, &t->dev0, OBJECT, 2);
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->leaf.pools));
	rdmacg_uncharge_many(&t->leaf, &t->dev0, HANDLE, 1);

	/* Only left has a limit to remember. */
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->top.pools));
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->left.pools));
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->left, &t->dev0, OBJECT), 9);

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->left, "kunit0 max"), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
}

static void rdmacg_test_offline_drops_limits_keeps_usage(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->leaf, "kunit0 hca_object=2\n"
						       "kunit1 hca_object=2\n"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_pools_offline(&t->leaf);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->leaf, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 2);
	KUNIT_EXPECT_FALSE(test, xa_empty(&t->leaf.pools));

	rdmacg_uncharge_many(&t->leaf, &t->dev0, OBJECT, 2);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->leaf.pools));
	KUNIT_EXPECT_EQ(test, rdmacg_usage(&t->top, &t->dev0, OBJECT), 0);
}

static void rdmacg_test_unregister_frees_pools(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->leaf, "kunit0 hca_object=2\n"
						       "kunit1 hca_object=3\n"), 0);
	rdmacg_unregister_device(&t->dev0);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->leaf, "kunit0 hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->leaf, &t->dev1, OBJECT), 3);

	/* The device comes back without limits. */
	rdmacg_register(test, &t->dev0, "kunit0", 100);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->leaf, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
}

static void rdmacg_test_set_max_several_lines(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit0 hca_handle=1 hca_object=2\n"
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

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit1 hca_object=7"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit1 hca_object=1\n"
						      "kunit0 hca_object=junk\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit1 hca_object=1\n"
						      "kunit0 hca_object=1\n"
						      "kunit2 hca_object=1\n"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->left, "kunit0 hca_object=1\nkunit1"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev1, OBJECT), 7);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->left.pools));
}

static void rdmacg_test_set_max_empty(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "\n"), -EINVAL);
}

static void rdmacg_test_set_max_prefix_of_a_name(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit00 hca_object=1"), -ENODEV);
}

/* Two devices of one name, as two network namespaces can have them. */
static void rdmacg_test_set_max_name_not_unique(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	t->dev1.name = "kunit0";
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit0 hca_object=1"), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit0 index=99 hca_object=1"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&t->top, "kunit0 index=101 hca_object=1"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev0, OBJECT), RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_max(&t->top, &t->dev1, OBJECT), 1);
}

static char *rdmacg_show_text(struct kunit *test, struct rdma_cgroup *cg,
			      u64 (*value)(const struct rdmacg_pool *pool,
					   unsigned int slot))
{
	struct seq_file sf = { .size = PAGE_SIZE };

	sf.buf = kunit_kzalloc(test, sf.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sf.buf);
	rdmacg_show(&sf, cg, value);
	return sf.buf;
}

static void rdmacg_test_show(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit1 hca_handle=2"), 0);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_text(test, &t->top, rdmacg_pool_max_locked),
			   "kunit0 hca_handle=max hca_object=max\n"
			   "kunit1 hca_handle=2 hca_object=max\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_text(test, &t->top, rdmacg_pool_usage_locked),
			   "kunit0 hca_handle=0 hca_object=3\n"
			   "kunit1 hca_handle=0 hca_object=0\n");
}

static void rdmacg_test_show_name_not_unique(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	t->dev1.name = "kunit0";
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit0 index=101 hca_object=1"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_text(test, &t->top, rdmacg_pool_max_locked),
			   "kunit0 index=100 hca_handle=max hca_object=max\n"
			   "kunit0 index=101 hca_handle=max hca_object=1\n");
}

/* What max shows can be written back as it is, duplicates and all. */
static void rdmacg_test_show_restores(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	char *saved;

	t->dev1.name = "kunit0";
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit0 index=100 hca_handle=5\n"
						      "kunit0 index=101 hca_object=6\n"), 0);
	saved = rdmacg_show_text(test, &t->top, rdmacg_pool_max_locked);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, "kunit0 index=100 hca_object=9\n"
						      "kunit0 index=101 max\n"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&t->top, saved), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_text(test, &t->top, rdmacg_pool_max_locked),
			   saved);
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

static struct kunit_case rdmacg_pool_cases[] = {
	KUNIT_CASE(rdmacg_test_charge_counts_on_all_levels),
	KUNIT_CASE(rdmacg_test_charge_root_is_free),
	KUNIT_CASE(rdmacg_test_charge_at_own_limit),
	KUNIT_CASE(rdmacg_test_charge_at_zero),
	KUNIT_CASE(rdmacg_test_charge_at_ancestor_limit),
	KUNIT_CASE(rdmacg_test_charge_refused_makes_no_pool),
	KUNIT_CASE(rdmacg_test_charge_over_lowered_limit),
	KUNIT_CASE(rdmacg_test_uncharge_gives_default_pools_back),
	KUNIT_CASE(rdmacg_test_offline_drops_limits_keeps_usage),
	KUNIT_CASE(rdmacg_test_unregister_frees_pools),
	KUNIT_CASE(rdmacg_test_set_max_several_lines),
	KUNIT_CASE(rdmacg_test_set_max_all_or_nothing),
	KUNIT_CASE(rdmacg_test_set_max_empty),
	KUNIT_CASE(rdmacg_test_set_max_prefix_of_a_name),
	KUNIT_CASE(rdmacg_test_set_max_name_not_unique),
	KUNIT_CASE(rdmacg_test_show),
	KUNIT_CASE(rdmacg_test_show_name_not_unique),
	KUNIT_CASE(rdmacg_test_show_restores),
	KUNIT_CASE(rdmacg_test_api_from_root),
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
