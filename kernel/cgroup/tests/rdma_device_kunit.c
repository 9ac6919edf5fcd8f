// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for what the RDMA cgroup controller knows of devices: tables of
 * resources and names.
 */
#include "rdma_kunit.h"

struct rdmacg_devices {
	struct rdma_cgroup root, top;
	struct rdmacg_device dev0, dev1;
};

static void rdmacg_unregister(struct rdmacg_device *device)
{
	if (device->desc)
		rdmacg_unregister_device(device);
}

static int rdmacg_device_test_init(struct kunit *test)
{
	struct rdmacg_devices *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	rdmacg_test_init_cgroup(&d->root, NULL);
	rdmacg_test_init_cgroup(&d->top, &d->root);
	d->dev0.name = "kunit0";
	d->dev0.index = 100;
	test->priv = d;
	return 0;
}

static void rdmacg_device_test_exit(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	/* Called after a failed init, too. */
	if (!d)
		return;
	rdmacg_unregister(&d->dev0);
	rdmacg_unregister(&d->dev1);
	rdmacg_pools_free(&d->top);
	rdmacg_pools_free(&d->root);
}

static const char *rdmacg_test_max(struct kunit *test, enum rdmacg_class class)
{
	struct rdmacg_devices *d = test->priv;

	return rdmacg_test_show(test, &d->top, class, RDMACG_FILE_MAX);
}

/* Resources "r0", "r1" and so on. */
static struct rdmacg_resource *rdmacg_numbered(struct kunit *test, unsigned int count)
{
	struct rdmacg_resource *resources;
	char (*names)[8];
	unsigned int i;

	resources = kunit_kcalloc(test, count, sizeof(*resources), GFP_KERNEL);
	names = kunit_kcalloc(test, count, sizeof(*names), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, resources);
	KUNIT_ASSERT_NOT_NULL(test, names);
	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "r%u", i);
		resources[i].name = names[i];
	}
	return resources;
}

static void rdmacg_test_tables_64_slots(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_resource *resources = rdmacg_numbered(test, 64);
	struct rdmacg_table tables[] = {
		{ .resources = resources, .count = 40 },
		{ .resources = &resources[40], .count = 24 },
	};
	const struct rdmacg_charge last = { .slot = 63, .amount = 5 };
	struct rdmacg_refusal refusal;

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, tables, 2), 0);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, 0);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, 40);

	/* The last slot is as good as the first. */
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 r63=9"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&d->top, &d->dev0, &last, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_pool_try_charge(&d->top, &d->dev0, &last, 1, &refusal),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, refusal.slot, 63);
	rdmacg_pool_uncharge(&d->top, &d->dev0, &last, 1);
}

/* The table that would make it 65 is refused as a whole; the device works. */
static void rdmacg_test_tables_65_slots(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_resource *resources = rdmacg_numbered(test, 65);
	struct rdmacg_table tables[] = {
		{ .resources = resources, .count = 63 },
		{ .resources = &resources[63], .count = 2 },
		{ .resources = &resources[63], .count = 1 },
	};

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, tables, 3), 0);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, 0);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, -ENOSPC);
	KUNIT_EXPECT_EQ(test, tables[2].first_slot, 63);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 r63=1"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 r64=1"),
			-EINVAL);
}

static void rdmacg_test_tables_65_in_one(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_table table = { .resources = rdmacg_numbered(test, 65), .count = 65 };

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, &table, 1), 0);
	KUNIT_EXPECT_EQ(test, table.first_slot, -ENOSPC);
}

static void rdmacg_test_tables_duplicate(struct kunit *test)
{
	static const struct rdmacg_resource first[] = {
		RDMACG_TEST_RESOURCE("a", RDMACG_CLASS_HCA),
	}, in_other[] = {
		RDMACG_TEST_RESOURCE("b", RDMACG_CLASS_VERB),
		RDMACG_TEST_RESOURCE("a", RDMACG_CLASS_VERB),
	}, in_same[] = {
		RDMACG_TEST_RESOURCE("c", RDMACG_CLASS_HW),
		RDMACG_TEST_RESOURCE("c", RDMACG_CLASS_HW),
	}, good[] = {
		RDMACG_TEST_RESOURCE("b", RDMACG_CLASS_HCA),
	};
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_table tables[] = {
		{ .resources = first, .count = 1 },
		{ .resources = in_other, .count = 2 },
		{ .resources = in_same, .count = 2 },
		{ .resources = good, .count = 1 },
	};

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, tables, 4), 0);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, 0);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[2].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[3].first_slot, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 a=max b=max\n");
}

static void rdmacg_test_tables_empty(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_table table = { };

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, &table, 1), 0);
	KUNIT_EXPECT_EQ(test, table.first_slot, -EINVAL);

	/* A device without resources has no line and takes no limit. */
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA), "");
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 max"), -EINVAL);
}

struct rdmacg_resource_case {
	const char *name;
	struct rdmacg_resource resource;
};

static const struct rdmacg_resource_case rdmacg_malformed_cases[] = {
	{ "no name", { } },
	{ "empty name", { .name = "" } },
	{ "capital", { .name = "Qp" } },
	{ "digit first", { .name = "1qp" } },
	{ "underscore first", { .name = "_qp" } },
	{ "blank", { .name = "q p" } },
	{ "dot, which events files add", { .name = "q.max" } },
	{ "equals sign", { .name = "q=" } },
	{ "newline", { .name = "qp\n" } },
	{ "32 characters", { .name = "abcdefghijklmnopqrstuvwxyz012345" } },
	{ "max", { .name = "max" } },
	{ "index", { .name = "index" } },
	{ "unknown class", { .name = "qp", .class = RDMACG_CLASSES } },
	{ "unknown unit", { .name = "qp", .unit = RDMACG_UNITS } },
	{ "capacity above no limit", { .name = "qp", .capacity = RDMACG_NO_LIMIT + 1 } },
};

static void rdmacg_malformed_desc(const struct rdmacg_resource_case *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rdmacg_malformed, rdmacg_malformed_cases, rdmacg_malformed_desc);

/* A good resource before it does not help, and the next table is taken. */
static void rdmacg_test_tables_malformed(struct kunit *test)
{
	static const struct rdmacg_resource good = RDMACG_TEST_RESOURCE("good", RDMACG_CLASS_HCA);
	const struct rdmacg_resource_case *param = test->param_value;
	const struct rdmacg_resource bad[] = { good, param->resource };
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_table tables[] = {
		{ .resources = bad, .count = 2 },
		{ .resources = &good, .count = 1 },
	};

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, tables, 2), 0);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA), "kunit0 good=max\n");
}

/* Each class has its files, capacity has them all. */
static void rdmacg_test_classes_apart(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = {
		{ .name = "one", .class = RDMACG_CLASS_HCA, .capacity = RDMACG_NO_LIMIT },
		{ .name = "two", .class = RDMACG_CLASS_VERB, .capacity = 5 },
		{ .name = "abcdefghijklmnopqrstuvwxyz01234", .class = RDMACG_CLASS_HW,
		  .unit = RDMACG_BYTES, .capacity = 0 },
	};
	struct rdmacg_table table = { .resources = resources, .count = 3 };
	struct rdmacg_devices *d = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&d->dev0, &table, 1), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 one=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_VERB, "kunit0 two=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 two=3"), -EINVAL);
	/* All of the class, and no other. */
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 max"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA), "kunit0 one=max\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_VERB), "kunit0 two=2\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HW),
			   "kunit0 abcdefghijklmnopqrstuvwxyz01234=max\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, &d->root, RDMACG_CLASS_HCA,
						  RDMACG_FILE_CAPACITY),
			   "kunit0 one=max two=5 abcdefghijklmnopqrstuvwxyz01234=0\n");
}

/* Limits follow the device; the old name is free for another one. */
static void rdmacg_test_rename(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 hca_object=7"), 0);
	d->dev0.name = "kunit_renamed";
	rdmacg_rename_device(&d->dev0);
	rdmacg_test_register(test, &d->dev1, "kunit0", 101);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit_renamed hca_handle=max hca_object=7\n"
			   "kunit0 hca_handle=max hca_object=max\n");
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit_renamed hca_object=8"), 0);

	/* To a name that is taken, to the same one, and away again. */
	d->dev0.name = "kunit0";
	rdmacg_rename_device(&d->dev0);
	rdmacg_rename_device(&d->dev0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 index=100 hca_handle=max hca_object=8\n"
			   "kunit0 index=101 hca_handle=max hca_object=max\n");
	d->dev1.name = "kunit1";
	rdmacg_rename_device(&d->dev1);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=max hca_object=8\n"
			   "kunit1 hca_handle=max hca_object=max\n");
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit_renamed hca_object=1"), -ENODEV);
}

/* Two devices of one name, as two network namespaces can have them. */
static void rdmacg_test_name_not_unique(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	rdmacg_test_register(test, &d->dev1, "kunit0", 101);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit0 hca_object=1"),
			-ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 index=99 hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 index=101 hca_object=1"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 index=100 hca_handle=max hca_object=max\n"
			   "kunit0 index=101 hca_handle=max hca_object=1\n");

	/* The one that stays needs no index any more, and takes it still. */
	rdmacg_unregister_device(&d->dev0);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 index=101 hca_object=2"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=max hca_object=2\n");
}

/* What max shows can be written back as it is, duplicates and all. */
static void rdmacg_test_show_restores(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	const char *saved;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	rdmacg_test_register(test, &d->dev1, "kunit0", 101);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 index=100 hca_handle=5\n"
					     "kunit0 index=101 hca_object=6\n"), 0);
	saved = rdmacg_test_max(test, RDMACG_CLASS_HCA);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 index=100 hca_object=9\n"
					     "kunit0 index=101 max\n"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, saved), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA), saved);
}

static void rdmacg_test_name_prefix(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit hca_object=1"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA, "kunit00 hca_object=1"),
			-ENODEV);
}

/* A device that comes is the last in the files, whatever number one that went leaves free. */
static void rdmacg_test_order_of_registration(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	rdmacg_test_register(test, &d->dev1, "kunit1", 101);
	rdmacg_unregister_device(&d->dev0);
	rcu_barrier();
	rdmacg_test_register(test, &d->dev0, "kunit2", 102);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit1 hca_handle=max hca_object=max\n"
			   "kunit2 hca_handle=max hca_object=max\n");
}

/* The place of a device that went is free for another one only after its last writer. */
static void rdmacg_test_key_is_used_again(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_desc *writer;
	u32 key;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	key = d->dev0.key;
	writer = rdmacg_desc_get("kunit0", 6, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(writer));
	rdmacg_unregister_device(&d->dev0);
	rcu_barrier();
	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	KUNIT_EXPECT_NE(test, d->dev0.key, key);
	rdmacg_desc_put(writer);
	rcu_barrier();
	rdmacg_test_register(test, &d->dev1, "kunit1", 101);
	KUNIT_EXPECT_EQ(test, d->dev1.key, key);
}

/* The same device by two names is one, and of its limits the last counts. */
static void rdmacg_test_two_names_of_a_device(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	rdmacg_test_register(test, &d->dev1, "kunit1", 101);
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&d->top, RDMACG_CLASS_HCA,
					     "kunit0 hca_handle=1 hca_object=1\n"
					     "kunit1 hca_object=9\n"
					     "kunit0 index=100 hca_object=2\n"
					     "kunit0 hca_object=3\n"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=1 hca_object=3\n"
			   "kunit1 hca_handle=max hca_object=9\n");
}

static struct kunit_case rdmacg_device_cases[] = {
	KUNIT_CASE(rdmacg_test_tables_64_slots),
	KUNIT_CASE(rdmacg_test_tables_65_slots),
	KUNIT_CASE(rdmacg_test_tables_65_in_one),
	KUNIT_CASE(rdmacg_test_tables_duplicate),
	KUNIT_CASE(rdmacg_test_tables_empty),
	KUNIT_CASE_PARAM(rdmacg_test_tables_malformed, rdmacg_malformed_gen_params),
	KUNIT_CASE(rdmacg_test_classes_apart),
	KUNIT_CASE(rdmacg_test_rename),
	KUNIT_CASE(rdmacg_test_name_not_unique),
	KUNIT_CASE(rdmacg_test_name_prefix),
	KUNIT_CASE(rdmacg_test_show_restores),
	KUNIT_CASE(rdmacg_test_order_of_registration),
	KUNIT_CASE(rdmacg_test_key_is_used_again),
	KUNIT_CASE(rdmacg_test_two_names_of_a_device),
	{}
};

static struct kunit_suite rdmacg_device_suite = {
	.name = "cgroup_rdma_device",
	.init = rdmacg_device_test_init,
	.exit = rdmacg_device_test_exit,
	.test_cases = rdmacg_device_cases,
};

kunit_test_suite(rdmacg_device_suite);

MODULE_DESCRIPTION("KUnit tests for the devices of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
