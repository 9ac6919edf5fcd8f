// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the pools of the RDMA cgroup controller, the files that show them, and the API.
 * The tests use this tree of cgroups:
 *
 *   root           never charged, has no limits
 *    |-- other
 *    `-- top
 *         |-- left
 *         |    `-- leaf
 *         `-- right
 */
#include <kunit/static_stub.h>
#include <linux/sizes.h>

#include "rdma_kunit.h"

/* The cgroups, and two devices with the hca class, kunit0 and kunit1. */
struct rdmacg_tree {
	struct rdma_cgroup root, other, top, left, leaf, right;
	struct rdmacg_device dev0, dev1;
};

static int rdmacg_pool_test_init(struct kunit *test)
{
	struct rdmacg_tree *tree;

	tree = kunit_kzalloc(test, sizeof(*tree), GFP_KERNEL);
	if (!tree)
		return -ENOMEM;
	rdmacg_test_create_cgroup(test, &tree->root, NULL);
	rdmacg_test_create_cgroup(test, &tree->other, &tree->root);
	rdmacg_test_create_cgroup(test, &tree->top, &tree->root);
	rdmacg_test_create_cgroup(test, &tree->left, &tree->top);
	rdmacg_test_create_cgroup(test, &tree->leaf, &tree->left);
	rdmacg_test_create_cgroup(test, &tree->right, &tree->top);
	rdmacg_test_register(test, &tree->dev0, "kunit0", 100);
	rdmacg_test_register(test, &tree->dev1, "kunit1", 101);
	/* The end of the devices returns the charges that a test has left. */
	tree->dev0.keeps_charges = true;
	tree->dev1.keeps_charges = true;
	test->priv = tree;
	return 0;
}

/* Charge one or two resources. The charge has a reference to its cgroup, as the API's charges. */
static int rdmacg_charge_set(struct rdma_cgroup *cg, struct rdmacg_device *device,
			     const struct rdmacg_amount *set, unsigned int count,
			     struct rdmacg_refusal *refusal)
{
	int ret = rdmacg_test_charge(cg, device, set, count, refusal);

	if (!ret)
		rdmacg_get(cg);
	return ret;
}

/* Charge one unit. */
static int rdmacg_charge_one(struct rdma_cgroup *cg, struct rdmacg_device *device,
			     unsigned int slot)
{
	const struct rdmacg_amount charge = { .slot = slot, .amount = 1 };
	struct rdmacg_refusal refusal;

	return rdmacg_charge_set(cg, device, &charge, 1, &refusal);
}

/* Charge units one by one, and expect that all have room. */
static void rdmacg_charge_many(struct kunit *test, struct rdma_cgroup *cg,
			       struct rdmacg_device *device, unsigned int slot,
			       unsigned int count)
{
	while (count--)
		KUNIT_EXPECT_EQ(test, rdmacg_charge_one(cg, device, slot), 0);
}

/* Uncharge units one by one. */
static void rdmacg_uncharge_many(struct rdma_cgroup *cg, struct rdmacg_device *device,
				 unsigned int slot, unsigned int count)
{
	const struct rdmacg_amount charge = { .slot = slot, .amount = 1 };

	while (count--)
		rdmacg_uncharge_set(cg, device, &charge, 1);
}

static void rdmacg_drain_pools(void *arg)
{
	rdmacg_pools_drain(arg);
}

/*
 * Create a device with a given key. The device is not registered, because the machine may have a
 * device with this key. The cgroups of the test have no pool with this key.
 */
static struct rdmacg_device *rdmacg_device_with_key(struct kunit *test, u32 key,
						    unsigned int nr_slots)
{
	struct rdmacg_device *device;
	struct rdmacg_desc *desc;

	device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, device);
	desc = kunit_kzalloc(test, struct_size(desc, resources, nr_slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	spin_lock_init(&desc->lock);
	INIT_LIST_HEAD(&desc->domains);
	desc->key = key;
	desc->nr_slots = nr_slots;
	desc->control_slot = nr_slots;
	desc->keeps_charges = true;
	device->key = key;
	device->nr_slots = nr_slots;
	device->desc = desc;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_drain_pools, desc), 0);
	return device;
}

static const char *rdmacg_show(struct kunit *test, struct rdma_cgroup *cg,
			       enum rdmacg_file file)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_HCA, file);
}

/* Expect these events of hca_object on kunit0, and no others. */
static void rdmacg_expect_events(struct kunit *test, struct rdma_cgroup *cg,
				 enum rdmacg_file file, unsigned int max,
				 unsigned int alloc_fail)
{
	char text[256];

	scnprintf(text, sizeof(text),
		  "kunit0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=%u hca_object.alloc_fail=%u\n"
		  "kunit1 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0\n",
		  max, alloc_fail);
	KUNIT_EXPECT_STREQ(test, rdmacg_show(test, cg, file), text);
}

/* A charge counts on each level below the root, which is never charged. */
static void rdmacg_test_charge_counts_in_its_cgroup_and_ancestors(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->root, &t->dev0, OBJECT, 3);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).usage, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, &t->dev0, OBJECT).usage, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->right, &t->dev0, OBJECT).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 5);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->other, &t->dev0, OBJECT).usage, 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->root));
	rdmacg_uncharge_many(&t->root, &t->dev0, OBJECT, 3);
}

/*
 * A limit binds neither another resource nor a sibling. With a lowered limit of 2, a charge is
 * refused at a usage of 3 or 2, and succeeds at a usage of 1.
 */
static void rdmacg_test_charge_past_the_limit_is_refused(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 hca_object=3"), 0);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	rdmacg_charge_many(test, &t->right, &t->dev0, HANDLE, 4);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 4);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->right, &t->dev0, OBJECT).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 7);

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 hca_object=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	rdmacg_uncharge_many(&t->right, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	rdmacg_uncharge_many(&t->right, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
}

/* Levels below the refusing cgroup do not count the refused charge, although they have room. */
static void rdmacg_test_smallest_limit_on_the_way_up_decides(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit0 hca_object=4"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=10"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 3);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, &t->dev0, OBJECT).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 4);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).peak, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).peak, 4);
}

static void rdmacg_test_refusal_names_the_lowest_limit(struct kunit *test)
{
	static const struct rdmacg_amount one = { .slot = OBJECT, .amount = 1 };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit0 hca_object=0"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_object=0"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_charge_set(&t->leaf, &t->dev0, &one, 1, &refusal), -EAGAIN);
	KUNIT_EXPECT_EQ(test, refusal.slot, OBJECT);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->left);
}

static const struct rdmacg_amount rdmacg_two[] = {
	{ .slot = HANDLE, .amount = 3 },
	{ .slot = OBJECT, .amount = 10 },
};

static void rdmacg_test_set_is_charged_whole_or_not_at_all(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	/*
	 * The second set exceeds the limit of one slot by one unit, and has room in the other slot.
	 */
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit0 hca_object=19"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_set(&t->leaf, &t->dev0, rdmacg_two, 2, &refusal), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_charge_set(&t->leaf, &t->dev0, rdmacg_two, 2, &refusal),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, refusal.slot, OBJECT);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->top);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, HANDLE).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 10);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, HANDLE).usage, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, HANDLE).peak, 3);
}

/* Without a limit, the counter has room for one unit more than under the largest limit. */
static void rdmacg_test_counter_reaches_the_largest_limit_without_wrapping(struct kunit *test)
{
	static const struct rdmacg_amount most = { .slot = OBJECT, .amount = RDMACG_NO_LIMIT };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=9223372036854775806"),
			0);
	KUNIT_ASSERT_EQ(test, rdmacg_charge_set(&t->leaf, &t->dev0, &most, 1, &refusal), -EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->leaf);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_set(&t->left, &t->dev0, &most, 1, &refusal), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_charge_set(&t->right, &t->dev0, &most, 1, &refusal), -EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, refusal.cg, &t->top);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, RDMACG_NO_LIMIT);
}

/* The fast path of a set of three charges checks the limit of each level. */
static void rdmacg_test_fast_path_charges_all_or_nothing(struct kunit *test)
{
	static const struct rdmacg_amount set[] = {
		{ .slot = 0, .amount = 1 }, { .slot = 1, .amount = 2 }, { .slot = 2, .amount = 3 },
	};
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_device *device = rdmacg_device_with_key(test, 0, 3);
	struct rdmacg_pool *pool;
	unsigned int i;

	/* There is no pool yet. */
	KUNIT_EXPECT_FALSE(test, rdmacg_pool_apply_fast(&t->leaf, device, set, 3, true));
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, device, set, 3), 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_pool_apply_fast(&t->leaf, device, set, 3, true));
	for (i = 0; i < ARRAY_SIZE(set); i++) {
		KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, device, i).usage, 2 * (i + 1));
		KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, device, i).peak, 2 * (i + 1));
	}
	pool = rdmacg_pool_lock(&t->top, device->key);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	pool->slots[2].max = 8;
	rdmacg_pool_unlock(pool);
	KUNIT_EXPECT_FALSE(test, rdmacg_pool_apply_fast(&t->leaf, device, set, 3, true));
	for (i = 0; i < ARRAY_SIZE(set); i++)
		KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, device, i).usage, 2 * (i + 1));
	KUNIT_EXPECT_TRUE(test, rdmacg_pool_apply_fast(&t->leaf, device, set, 3, false));
	rdmacg_uncharge_set(&t->leaf, device, set, 3);
	for (i = 0; i < ARRAY_SIZE(set); i++)
		KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, device, i).usage, 0);
}

/*
 * A charge that cannot fail may exceed a limit. The cgroup with the limit and its ancestors count
 * this in their events.
 */
static void rdmacg_test_forced_charge_exceeds_the_limit(struct kunit *test)
{
	static const struct rdmacg_amount set[] = {
		{ .slot = HANDLE, .amount = 1 }, { .slot = OBJECT, .amount = 3 },
	};
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_object=4"), 0);
	rdmacg_charge(&t->leaf, &t->dev0, set, 2);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS, 0, 0);
	rdmacg_charge(&t->leaf, &t->dev0, set, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).usage, 6);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, HANDLE).usage, 2);
	rdmacg_expect_events(test, &t->leaf, RDMACG_FILE_EVENTS, 0, 0);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS, 1, 0);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS_LOCAL, 1, 0);
	rdmacg_expect_events(test, &t->top, RDMACG_FILE_EVENTS, 1, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 2);
	rdmacg_uncharge_set(&t->leaf, &t->dev0, set, 2);
	rdmacg_uncharge_set(&t->leaf, &t->dev0, set, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 0);
}

/* An endless charge needs a pool, because a device may keep the charge. */
static void rdmacg_test_endless_amount_is_counted_nowhere(struct kunit *test)
{
	static const struct rdmacg_amount endless = { .slot = OBJECT, .amount = RDMACG_ENDLESS };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_charge_set(&t->leaf, &t->dev0, &endless, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).usage, 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_test_has_pools(&t->leaf));
	rdmacg_uncharge_set(&t->leaf, &t->dev0, &endless, 1);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
}

/* Older versions of KUnit cannot expect a warning, and would report it as an error. */
#ifdef KUNIT_SUPPRESSED_WARNING_COUNT
static void rdmacg_test_uncharge_too_many_warns_and_stops_at_zero(struct kunit *test)
{
	static const struct rdmacg_amount one = { .slot = OBJECT, .amount = 1 };
	static const struct rdmacg_amount two = { .slot = OBJECT, .amount = 2 };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_test_charge(&t->left, &t->dev0, &one, 1, &refusal), 0);
	kunit_warning_suppress(test) {
		rdmacg_test_uncharge(&t->left, &t->dev0, &two, 1);
		KUNIT_EXPECT_GT(test, KUNIT_SUPPRESSED_WARNING_COUNT(), 0);
	}
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, &t->dev0, OBJECT).usage, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 0);
}
#endif

/* These numbers are in "Known limits" of admin-guide/rdma-cgroup.rst. */
static void rdmacg_test_pool_is_as_large_as_documented(struct kunit *test)
{
	static const unsigned int sizes[][4] = {
		/* slots, and the bytes at a depth of 1, of 12 and of 64 */
		{ 2, 152, 240, 656 },
		{ 24, 680, 768, 1184 },
		{ RDMACG_MAX_SLOTS, 1640, 1728, 2144 },
	};
	static struct rdmacg_desc desc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		desc.control_slot = sizes[i][0];
		KUNIT_EXPECT_LE(test, rdmacg_pool_size(&desc, 1), sizes[i][1]);
		KUNIT_EXPECT_LE(test, rdmacg_pool_size(&desc, 12), sizes[i][2]);
		KUNIT_EXPECT_LE(test, rdmacg_pool_size(&desc, RDMACG_MAX_DEPTH), sizes[i][3]);
	}
}

/* The map of a cgroup that uses eight devices has eight pointers and little more. */
static void rdmacg_test_further_devices_need_few_bytes(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	const struct rdmacg_map *map;
	unsigned int key;

	for (key = 0; key < 8; key++)
		rdmacg_charge_many(test, &t->leaf, rdmacg_device_with_key(test, key, 1), 0, 1);
	rcu_read_lock();
	map = rcu_dereference(t->leaf.map);
	KUNIT_EXPECT_LE(test, struct_size(map, pools, map->nr), 128);
	rcu_read_unlock();
	for (key = 0; key < 8; key++)
		KUNIT_EXPECT_TRUE(test, rdmacg_has_pool(&t->leaf, key));
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->leaf, 8));
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->leaf, 1000));
}

/*
 * A limit needs a pool on each level up to the top, but "max" needs none. The pools are freed when
 * the limit is removed, except those with a limit of their own and their ancestors.
 */
static void rdmacg_test_pools_go_with_the_limits_that_need_them(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=max"), 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_object=3"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=9"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 hca_object=9"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, &t->dev0, OBJECT).max, 3);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 max"), 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->left));
	KUNIT_EXPECT_TRUE(test, rdmacg_test_has_pools(&t->top));
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 hca_object=max"), 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->top));
}

/* A pool with a peak or with events stays after its limit. */
static void rdmacg_test_pool_with_a_history_stays(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_uncharge_many(&t->leaf, &t->dev0, OBJECT, 2);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=0"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).peak, 2);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->right, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->right, "kunit0 max"), 0);
	rdmacg_expect_events(test, &t->right, RDMACG_FILE_EVENTS_LOCAL, 1, 1);
}

/* An endless charge leaves no usage, but its pool stays until the charge is returned. */
static void rdmacg_test_pool_of_an_endless_charge_stays(struct kunit *test)
{
	static const struct rdmacg_amount endless = { .slot = OBJECT, .amount = RDMACG_ENDLESS };
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_test_charge(&t->left, &t->dev0, &endless, 1, &refusal), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_handle=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 max"), 0);
	KUNIT_ASSERT_TRUE(test, rdmacg_test_has_pools(&t->left));
	rdmacg_test_uncharge(&t->left, &t->dev0, &endless, 1);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->left));
}

/*
 * The history of a removed cgroup stays in its ancestors. The domain is freed with the top-level
 * cgroup, so a later charge begins with new counters.
 */
static void rdmacg_test_removed_top_level_cgroup_frees_its_domains(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit1 hca_object=2"), 0);
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_uncharge_many(&t->leaf, &t->dev0, OBJECT, 2);
	rdmacg_pools_free(&t->leaf);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->left, &t->dev0, OBJECT).peak, 2);
	rdmacg_pools_free(&t->left);
	KUNIT_EXPECT_FALSE(test, list_empty(&t->dev0.desc->domains));
	rdmacg_pools_free(&t->top);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->dev0.desc->domains));
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).peak, 1);
}

static size_t rdmacg_nr_pools(struct rdma_cgroup *top, const struct rdmacg_device *device)
{
	struct rdmacg_domain *domain = rdmacg_test_domain(top, device);

	return domain ? list_count_nodes(&domain->pools) : 0;
}

/* The cgroup core calls css_free after the last reference. */
static void rdmacg_test_css_free_frees_the_pools(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct cgroup_subsys_state *css = rdma_cgrp_subsys.css_alloc(&t->left.state.css);

	KUNIT_ASSERT_FALSE(test, IS_ERR(css));
	css->parent = &t->left.state.css;
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(rdmacg_from_css(css), "kunit0 hca_object=9"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), 3);
	rdma_cgrp_subsys.css_free(css);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), 0);
}

static void rdmacg_test_no_cgroup_is_deeper_than_64(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct cgroup_subsys_state *css;

	t->left.depth = RDMACG_MAX_DEPTH - 1;
	css = rdma_cgrp_subsys.css_alloc(&t->left.state.css);
	KUNIT_ASSERT_FALSE(test, IS_ERR(css));
	KUNIT_EXPECT_EQ(test, rdmacg_from_css(css)->depth, 64);
	rdma_cgrp_subsys.css_free(css);
	t->left.depth = RDMACG_MAX_DEPTH;
	KUNIT_EXPECT_PTR_EQ(test, rdma_cgrp_subsys.css_alloc(&t->left.state.css), ERR_PTR(-EAGAIN));
	t->left.depth = 2;
}

/* The chain begins below "right", which is at depth 2. */
#define RDMACG_CHAIN (RDMACG_MAX_DEPTH - 2)

/* The chain begins below "right", which is at depth 2. */
#define RDMACG_CHAIN (RDMACG_MAX_DEPTH - 2)

/* A limit, a usage and a removal of the deepest cgroup reach all levels above it. */
static void rdmacg_test_deepest_cgroup_is_limited_charged_and_removed(struct kunit *test)
{
	struct rdma_cgroup *chain = kunit_kcalloc(test, RDMACG_CHAIN, sizeof(*chain), GFP_KERNEL);
	struct rdma_cgroup *leaf = &chain[RDMACG_CHAIN - 1];
	struct rdmacg_tree *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, chain);
	for (i = 0; i < RDMACG_CHAIN; i++)
		rdmacg_test_create_cgroup(test, &chain[i], i ? &chain[i - 1] : &t->right);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(leaf, "kunit0 hca_object=9"), 0);
	/* Besides the chain, "right" and "top" have a pool. */
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), RDMACG_CHAIN + 2);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit0 hca_object=1"), 0);
	rdmacg_charge_many(test, leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&chain[9], &t->dev0, OBJECT).usage, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).usage, 1);
	rdmacg_uncharge_many(leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), RDMACG_CHAIN + 2);
	for (i = RDMACG_CHAIN; i--;)
		rdmacg_pools_free(&chain[i]);
	/* The pools of "right" and "top" stay, because they have a peak. */
	KUNIT_EXPECT_EQ(test, rdmacg_nr_pools(&t->top, &t->dev0), 2);
}

/* A pool may be given back after a charge has found it, and before the charge locks it. */
static void rdmacg_test_pool_that_was_given_back_is_not_locked(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_desc *desc = rdmacg_test_get_desc(test, "kunit0");
	struct rdmacg_pool *pool = rdmacg_pool_pin(&t->leaf, desc);
	bool is_locked;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	/* unpin may sleep, so the section begins later. kfree_rcu() frees the pool much later. */
	rdmacg_pool_unpin(&t->leaf, desc);
	rcu_read_lock();
	is_locked = rdmacg_pool_try_lock_rcu(pool);
	if (is_locked)
		rdmacg_pool_unlock(pool);
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, is_locked);

	/* The next charge gets a new pool. */
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->leaf, &t->dev0, OBJECT).usage, 1);
}

static unsigned int rdmacg_nr_created;

/* Another task gives the parent's pool back before each step, at most a hundred times. */
static int rdmacg_give_back_and_create(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct kunit *test = kunit_get_current_test();
	int ret;

	if (rdmacg_nr_created++ < 100)
		rdmacg_pool_give_back(rdmacg_parent(cg), desc->key);
	kunit_deactivate_static_stub(test, rdmacg_pool_create);
	ret = rdmacg_pool_create(cg, desc);
	kunit_activate_static_stub(test, rdmacg_pool_create, rdmacg_give_back_and_create);
	return ret;
}

static void rdmacg_test_writers_do_not_undo_each_other(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_nr_created = 0;
	kunit_activate_static_stub(test, rdmacg_pool_create, rdmacg_give_back_and_create);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=9"), 0);
	/* One step each for "top", "left" and "leaf". */
	KUNIT_EXPECT_EQ(test, rdmacg_nr_created, 3);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 max"), 0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->top));
}

/* A device may be removed during a write or before it. Neither leaves a pool. */
static void rdmacg_test_device_removed_during_a_write_frees_its_pool(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_desc *desc = rdmacg_test_get_desc(test, "kunit0");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rdmacg_pool_pin(&t->leaf, desc));
	KUNIT_EXPECT_TRUE(test, rdmacg_test_has_pools(&t->leaf));
	rdmacg_unregister_device(&t->dev0);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
	rdmacg_pool_unpin(&t->leaf, desc);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdmacg_pool_pin(&t->top, desc)), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdmacg_pool_pin(&t->right, desc)), -ENODEV);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->top));
	KUNIT_EXPECT_TRUE(test, list_empty(&desc->domains));
}

/* Charge and uncharge one unit while the lock of @pool's domain is held. */
static int rdmacg_charge_beside(struct rdmacg_pool *pool, struct rdma_cgroup *cg,
				struct rdmacg_device *device)
{
	static const struct rdmacg_amount one = { .slot = OBJECT, .amount = 1 };
	struct rdmacg_refusal refusal;
	int ret;

	lockdep_assert_held(&pool->domain->lock);
	/* Lockdep does not distinguish the locks of two domains, and would report a deadlock. */
	lockdep_off();
	ret = rdmacg_test_charge(cg, device, &one, 1, &refusal);
	if (!ret)
		rdmacg_test_uncharge(cg, device, &one, 1);
	lockdep_on();
	return ret;
}

/* Each device has a domain, with a lock, for each top-level cgroup. */
static void rdmacg_test_charge_waits_for_no_other_domain(struct kunit *test)
{
	struct rdmacg_domain *domain, *of_top;
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_pool *pool;
	int of_other, of_dev1;

	/* Create all pools first, because a pool cannot be created while the lock is held. */
	rdmacg_charge_many(test, &t->leaf, &t->dev0, OBJECT, 1);
	of_top = rdmacg_test_domain(&t->top, &t->dev0);
	KUNIT_EXPECT_NULL(test, rdmacg_test_domain(&t->other, &t->dev0));
	KUNIT_EXPECT_NULL(test, rdmacg_test_domain(&t->top, &t->dev1));
	rdmacg_charge_many(test, &t->other, &t->dev0, OBJECT, 1);
	rdmacg_charge_many(test, &t->leaf, &t->dev1, OBJECT, 1);
	KUNIT_ASSERT_PTR_NE(test, rdmacg_test_domain(&t->other, &t->dev0), of_top);
	KUNIT_ASSERT_PTR_NE(test, rdmacg_test_domain(&t->top, &t->dev1), of_top);

	pool = rdmacg_pool_lock(&t->leaf, t->dev0.key);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	domain = pool->domain;
	of_other = rdmacg_charge_beside(pool, &t->other, &t->dev0);
	of_dev1 = rdmacg_charge_beside(pool, &t->leaf, &t->dev1);
	rdmacg_pool_unlock(pool);
	KUNIT_EXPECT_PTR_EQ(test, domain, of_top);
	KUNIT_EXPECT_EQ(test, of_other, 0);
	KUNIT_EXPECT_EQ(test, of_dev1, 0);
}

/* A write with a wrong line, or without a line, changes nothing. */
static void rdmacg_test_wrong_line_leaves_every_limit(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit1 hca_object=7"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->top, "kunit1 hca_object=1\n"
							 "kunit0 hca_object=junk\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->top, "kunit1 hca_object=1\n"
							 "kunit0 hca_object=1\n"
							 "kunit2 hca_object=1\n"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->top, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->top, "\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->top, "kunit1"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev0, OBJECT).max, RDMACG_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, rdmacg_test_slot(&t->top, &t->dev1, OBJECT).max, 7);
}

static void rdmacg_test_files_show_limits_usage_and_peak(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit1 hca_handle=2"), 0);
	rdmacg_charge_many(test, &t->left, &t->dev0, OBJECT, 3);
	rdmacg_uncharge_many(&t->left, &t->dev0, OBJECT, 1);
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

/*
 * Let the limit of "left" refuse one charge of "leaf" and one of "left", but no charge of "right".
 */
static struct rdmacg_tree *rdmacg_two_refusals(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->leaf, &t->dev0, OBJECT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_one(&t->left, &t->dev0, OBJECT), -EAGAIN);
	rdmacg_charge_many(test, &t->right, &t->dev0, OBJECT, 1);
	return t;
}

/* The events of a subtree and the local events, each of limits and of attempts. */
static void rdmacg_test_events_count_limits_and_attempts(struct kunit *test)
{
	struct rdmacg_tree *t = rdmacg_two_refusals(test);

	rdmacg_expect_events(test, &t->leaf, RDMACG_FILE_EVENTS, 0, 1);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS, 2, 2);
	rdmacg_expect_events(test, &t->right, RDMACG_FILE_EVENTS, 0, 0);
	rdmacg_expect_events(test, &t->top, RDMACG_FILE_EVENTS, 2, 2);
	rdmacg_expect_events(test, &t->leaf, RDMACG_FILE_EVENTS_LOCAL, 0, 1);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS_LOCAL, 2, 1);
	rdmacg_expect_events(test, &t->right, RDMACG_FILE_EVENTS_LOCAL, 0, 0);
	rdmacg_expect_events(test, &t->top, RDMACG_FILE_EVENTS_LOCAL, 0, 0);
}

static bool rdmacg_fail_once(struct rdma_cgroup *cg, const struct rdmacg_desc *desc)
{
	kunit_deactivate_static_stub(kunit_get_current_test(), rdmacg_pool_add_events);
	return false;
}

/* The first refusal gets no memory for the events of "top", so it allocates none below "top". */
static void rdmacg_test_ancestor_without_memory_counts_later_refusals(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	kunit_activate_static_stub(test, rdmacg_pool_add_events, rdmacg_fail_once);
	rdmacg_two_refusals(test);
	rdmacg_expect_events(test, &t->left, RDMACG_FILE_EVENTS, 1, 1);
	rdmacg_expect_events(test, &t->top, RDMACG_FILE_EVENTS, 1, 1);
}

struct rdmacg_set_case {
	const char *name;
	struct rdmacg_amount set[2];
	unsigned int count;
};

static const struct rdmacg_set_case rdmacg_set_cases[] = {
	{ "a slot twice", { { OBJECT, 1 }, { OBJECT, 1 } }, 2 },
	{ "a slot past the last", { { OBJECT, 1 }, { RDMACG_RESOURCE_MAX, 1 } }, 2 },
	{ "amount 0", { { HANDLE, 1 }, { OBJECT, 0 } }, 2 },
	{ "an amount past the largest", { { OBJECT, RDMACG_NO_LIMIT + 1 } }, 1 },
	{ "no charge", { { OBJECT, 4 } }, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_set, rdmacg_set_cases, name);

static void rdmacg_test_malformed_set_is_refused(struct kunit *test)
{
	const struct rdmacg_set_case *param = test->param_value;
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *owner = NULL;

	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev0, param->set, param->count),
			-EINVAL);
	KUNIT_EXPECT_NULL(test, owner);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, &t->dev0, param->set,
						       param->count), -EINVAL);
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
}

static const struct rdmacg_amount rdmacg_three = { .slot = OBJECT, .amount = 3 };

static void rdmacg_test_charge_pins_its_owner_and_a_refusal_does_not(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->left, "kunit0 hca_object=5"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, &t->dev0, &rdmacg_three, 1), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 1);
	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_cgroup(&t->leaf, &t->dev0, &rdmacg_three, 1),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 1);
	rdmacg_uncharge_set(&t->leaf, &t->dev0, &rdmacg_three, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 0);
}

static struct kunit_case rdmacg_pool_cases[] = {
	KUNIT_CASE(rdmacg_test_charge_counts_in_its_cgroup_and_ancestors),
	KUNIT_CASE(rdmacg_test_charge_past_the_limit_is_refused),
	KUNIT_CASE(rdmacg_test_smallest_limit_on_the_way_up_decides),
	KUNIT_CASE(rdmacg_test_refusal_names_the_lowest_limit),
	KUNIT_CASE(rdmacg_test_set_is_charged_whole_or_not_at_all),
	KUNIT_CASE(rdmacg_test_counter_reaches_the_largest_limit_without_wrapping),
	KUNIT_CASE(rdmacg_test_fast_path_charges_all_or_nothing),
	KUNIT_CASE(rdmacg_test_forced_charge_exceeds_the_limit),
	KUNIT_CASE(rdmacg_test_endless_amount_is_counted_nowhere),
#ifdef KUNIT_SUPPRESSED_WARNING_COUNT
	KUNIT_CASE(rdmacg_test_uncharge_too_many_warns_and_stops_at_zero),
#endif
	KUNIT_CASE(rdmacg_test_pool_is_as_large_as_documented),
	KUNIT_CASE(rdmacg_test_further_devices_need_few_bytes),
	KUNIT_CASE(rdmacg_test_pools_go_with_the_limits_that_need_them),
	KUNIT_CASE(rdmacg_test_pool_with_a_history_stays),
	KUNIT_CASE(rdmacg_test_pool_of_an_endless_charge_stays),
	KUNIT_CASE(rdmacg_test_removed_top_level_cgroup_frees_its_domains),
	KUNIT_CASE(rdmacg_test_css_free_frees_the_pools),
	KUNIT_CASE(rdmacg_test_no_cgroup_is_deeper_than_64),
	KUNIT_CASE(rdmacg_test_deepest_cgroup_is_limited_charged_and_removed),
	KUNIT_CASE(rdmacg_test_pool_that_was_given_back_is_not_locked),
	KUNIT_CASE(rdmacg_test_writers_do_not_undo_each_other),
	KUNIT_CASE(rdmacg_test_device_removed_during_a_write_frees_its_pool),
	KUNIT_CASE(rdmacg_test_charge_waits_for_no_other_domain),
	KUNIT_CASE(rdmacg_test_wrong_line_leaves_every_limit),
	KUNIT_CASE(rdmacg_test_files_show_limits_usage_and_peak),
	KUNIT_CASE(rdmacg_test_events_count_limits_and_attempts),
	KUNIT_CASE(rdmacg_test_ancestor_without_memory_counts_later_refusals),
	KUNIT_CASE_PARAM(rdmacg_test_malformed_set_is_refused, rdmacg_set_gen_params),
	KUNIT_CASE(rdmacg_test_charge_pins_its_owner_and_a_refusal_does_not),
	{}
};

static struct kunit_suite rdmacg_pool_suite = {
	.name = "cgroup_rdma_pool",
	.init = rdmacg_pool_test_init,
	.test_cases = rdmacg_pool_cases,
};

kunit_test_suite(rdmacg_pool_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's pools");
MODULE_LICENSE("GPL");
