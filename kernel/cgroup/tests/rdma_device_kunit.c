// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for devices in the RDMA cgroup controller, their tables of resources and their names.
 * All limits are limits of one top-level cgroup.
 */
#include <linux/nsproxy.h>
#include <linux/sched.h>

#include "rdma_kunit.h"

/* Network namespaces of other processes, which the controller only compares. */
#define RDMACG_ELSEWHERE	((struct net *)16)
#define RDMACG_FAR_AWAY		((struct net *)32)

struct rdmacg_devices {
	struct rdma_cgroup root, top;
	struct rdmacg_device dev0, dev1;
};

static int rdmacg_device_test_init(struct kunit *test)
{
	struct rdmacg_devices *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	rdmacg_test_create_cgroup(test, &d->root, NULL);
	rdmacg_test_create_cgroup(test, &d->top, &d->root);
	d->dev0.name = "kunit0";
	d->dev0.index = 100;
	test->priv = d;
	return 0;
}

/* Show the limits of one class. */
static const char *rdmacg_show_max(struct kunit *test, enum rdmacg_class class)
{
	struct rdmacg_devices *d = test->priv;

	return rdmacg_test_show(test, &d->top, class, RDMACG_FILE_MAX);
}

/* Make resources "r0", "r1" and so on, of the hca class. */
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

static void rdmacg_test_last_of_64_slots_works_like_the_first(struct kunit *test)
{
	const struct rdmacg_amount last = { .slot = 63, .amount = 5 };
	struct rdmacg_table table = { .resources = rdmacg_numbered(test, 64), .count = 64 };
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_refusal refusal;

	rdmacg_test_register_tables(test, &d->dev0, &table, 1);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 r63=9"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_charge(&d->top, &d->dev0, &last, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_charge(&d->top, &d->dev0, &last, 1, &refusal),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, refusal.slot, 63);
	rdmacg_test_uncharge(&d->top, &d->dev0, &last, 1);
}

/*
 * A table that does not fit is refused as a whole. The device gets the resources of all tables that
 * fit, also of later ones.
 */
static void rdmacg_test_table_past_64_slots_is_refused_whole(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_resource *resources = rdmacg_numbered(test, 65);
	struct rdmacg_table tables[] = {
		{ .resources = resources, .count = 65 },
		{ .resources = resources, .count = 63 },
		{ .resources = &resources[63], .count = 2 },
		{ .resources = &resources[63], .count = 1 },
	};

	rdmacg_test_register_tables(test, &d->dev0, tables, ARRAY_SIZE(tables));
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, -ENOSPC);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, 0);
	KUNIT_EXPECT_EQ(test, tables[2].first_slot, -ENOSPC);
	KUNIT_EXPECT_EQ(test, tables[3].first_slot, 63);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 r63=1"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 r64=1"), -EINVAL);
}

/* No resource of a refused table is registered, so a later table can have its resource "b". */
static void rdmacg_test_table_with_a_duplicate_is_refused_whole(struct kunit *test)
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
		{ .resources = first, .count = ARRAY_SIZE(first) },
		{ .resources = in_other, .count = ARRAY_SIZE(in_other) },
		{ .resources = in_same, .count = ARRAY_SIZE(in_same) },
		{ .resources = good, .count = ARRAY_SIZE(good) },
	};

	rdmacg_test_register_tables(test, &d->dev0, tables, 4);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, 0);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[2].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[3].first_slot, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA), "kunit0 a=max b=max\n");
}

struct rdmacg_resource_case {
	const char *name;
	struct rdmacg_resource resource;
};

static const struct rdmacg_resource_case rdmacg_malformed_cases[] = {
	{ .name = "no name" },
	{ .name = "empty name", .resource.name = "" },
	{ .name = "capital", .resource.name = "Qp" },
	{ .name = "digit first", .resource.name = "1qp" },
	{ .name = "underscore first", .resource.name = "_qp" },
	{ .name = "blank", .resource.name = "q p" },
	{ .name = "dot, which events files add", .resource.name = "q.max" },
	{ .name = "equals sign", .resource.name = "q=" },
	{ .name = "newline", .resource.name = "qp\n" },
	{ .name = "32 characters", .resource.name = "abcdefghijklmnopqrstuvwxyz012345" },
	{ .name = "max", .resource.name = "max" },
	{ .name = "index", .resource.name = "index" },
	{ .name = "default", .resource.name = "default" },
	{ .name = "unknown class", .resource = { .name = "qp", .class = RDMACG_CLASSES } },
	{
		.name = "capacity above no limit",
		.resource = { .name = "qp", .capacity = RDMACG_NO_LIMIT + 1 },
	},
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_malformed, rdmacg_malformed_cases, name);

/*
 * A table with a malformed resource is refused, even if its first resource is valid. The next table
 * is accepted.
 */
static void rdmacg_test_table_with_a_malformed_resource_is_refused_whole(struct kunit *test)
{
	static const struct rdmacg_resource good = RDMACG_TEST_RESOURCE("good", RDMACG_CLASS_HCA);
	const struct rdmacg_resource_case *param = test->param_value;
	const struct rdmacg_resource bad[] = { good, param->resource };
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_table tables[] = {
		{ .resources = bad, .count = ARRAY_SIZE(bad) },
		{ .resources = &good, .count = 1 },
	};

	rdmacg_test_register_tables(test, &d->dev0, tables, 2);
	KUNIT_EXPECT_EQ(test, tables[0].first_slot, -EINVAL);
	KUNIT_EXPECT_EQ(test, tables[1].first_slot, 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA), "kunit0 good=max\n");
}

/* A file has the keys of its class, and "max" resets only these. The capacity has all keys. */
static void rdmacg_test_file_has_the_keys_of_its_class(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = {
		{ .name = "one", .class = RDMACG_CLASS_HCA, .capacity = RDMACG_NO_LIMIT },
		{ .name = "two", .class = RDMACG_CLASS_VERB, .capacity = 5 },
		/* The longest name. */
		{ .name = "abcdefghijklmnopqrstuvwxyz01234", .class = RDMACG_CLASS_HW,
		  .capacity = 0 },
	};
	struct rdmacg_table table = { .resources = resources, .count = ARRAY_SIZE(resources) };
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register_tables(test, &d->dev0, &table, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, &d->root, RDMACG_CLASS_HCA,
						  RDMACG_FILE_CAPACITY),
			   "kunit0 one=max two=5 abcdefghijklmnopqrstuvwxyz01234=0\n");
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 two=3"), -EINVAL);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 one=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&d->top, RDMACG_CLASS_VERB, "kunit0 two=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 max"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA), "kunit0 one=max\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_VERB), "kunit0 two=2\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HW),
			   "kunit0 abcdefghijklmnopqrstuvwxyz01234=max\n");
}

static void rdmacg_rename(struct rdmacg_device *device, const char *name)
{
	device->name = name;
	rdmacg_rename_device(device);
}

/* Register a device in a network namespace. Each namespace sees only its own devices. */
static void rdmacg_register_in(struct kunit *test, struct rdmacg_device *device,
			       const struct net *net, const char *name, u32 index)
{
	static const bool names_are_global;

	device->names_are_global = &names_are_global;
	device->net = net;
	rdmacg_test_register(test, device, name, index);
}

/* Register two devices with the same name. The test's own namespace sees only the first device. */
static struct rdmacg_devices *rdmacg_namesakes(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_register_in(test, &d->dev0, current->nsproxy->net_ns, "kunit0", 100);
	rdmacg_register_in(test, &d->dev1, RDMACG_ELSEWHERE, "kunit0", 101);
	return d;
}

/* The new name may be the name of another device, the present name, or an unused name. */
static void rdmacg_test_device_is_renamed_to_any_name(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_register_in(test, &d->dev0, RDMACG_ELSEWHERE, "kunit_first", 100);
	rdmacg_test_register(test, &d->dev1, "kunit0", 101);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&d->top, "kunit_first hca_object=8"), 0);
	rdmacg_rename(&d->dev0, "kunit0");
	rdmacg_rename(&d->dev0, "kunit0");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 index=100 hca_handle=max hca_object=8\n"
			   "kunit0 hca_handle=max hca_object=max\n");
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit_first hca_object=1"), -ENODEV);
	rdmacg_rename(&d->dev1, "kunit1");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=max hca_object=8\n"
			   "kunit1 hca_handle=max hca_object=max\n");
}

/* A stranger's device of this name changes neither a write nor a line of the caller's device. */
static void rdmacg_test_name_means_the_device_that_the_caller_sees(struct kunit *test)
{
	struct rdmacg_devices *d = rdmacg_namesakes(test);

	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 hca_object=1"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 index=99 hca_object=1"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 index=101 hca_object=2"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=max hca_object=1\n"
			   "kunit0 index=101 hca_handle=max hca_object=2\n");

	/* The first device moves away, so the caller sees neither device. */
	d->dev0.net = RDMACG_FAR_AWAY;
	rdmacg_rename_device(&d->dev0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 hca_object=1"), -ENOTUNIQ);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 index=100 hca_handle=max hca_object=1\n"
			   "kunit0 index=101 hca_handle=max hca_object=2\n");

	/* The second device moves to the caller. */
	d->dev1.net = current->nsproxy->net_ns;
	rdmacg_rename_device(&d->dev1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 hca_object=5"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 index=100 hca_handle=max hca_object=1\n"
			   "kunit0 hca_handle=max hca_object=5\n");
}

/* Two devices have the same name, of 63 bytes that are nearly all escaped, in two namespaces. */
static void rdmacg_test_longest_names_differ_by_namespace(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	char name[64] = "kunit", shown[RDMACG_NAME_SIZE], text[2 * RDMACG_NAME_SIZE + 100];

	memset(name + 5, '\n', sizeof(name) - 6);
	rdmacg_escape_name(shown, sizeof(shown), name);
	KUNIT_ASSERT_EQ(test, strlen(shown), 5 + 58 * 4);
	rdmacg_register_in(test, &d->dev0, current->nsproxy->net_ns, name, 100);
	rdmacg_register_in(test, &d->dev1, RDMACG_ELSEWHERE, name, 101);
	scnprintf(text, sizeof(text), "%s hca_handle=1 hca_object=max\n"
		  "%s index=101 hca_handle=max hca_object=2\n", shown, shown);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, text), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA), text);
}

static void rdmacg_test_name_matches_as_a_whole(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit00 hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 hca_object=1"), 0);
}

static void rdmacg_test_key_is_free_after_the_last_writer(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;
	struct rdmacg_desc *writer;
	u32 key, index;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	key = d->dev0.key;
	writer = rdmacg_test_get_desc(test, "kunit0");
	rdmacg_unregister_device(&d->dev0);
	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	KUNIT_EXPECT_NE(test, d->dev0.key, key);

	kunit_remove_action(test, rdmacg_test_put_desc, writer);
	scoped_guard(rcu) {
		rdmacg_desc_put(writer);
		/* A reader may still use the device. */
		index = writer->index;
	}
	KUNIT_EXPECT_EQ(test, index, 100);
	rdmacg_test_register(test, &d->dev1, "kunit1", 101);
	KUNIT_EXPECT_EQ(test, d->dev1.key, key);
}

/* One line has the index of the device, and the other line does not. Both name the same device. */
static void rdmacg_test_last_limit_of_a_device_counts(struct kunit *test)
{
	struct rdmacg_devices *d = test->priv;

	rdmacg_test_register(test, &d->dev0, "kunit0", 100);
	rdmacg_test_register(test, &d->dev1, "kunit1", 101);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&d->top, "kunit0 hca_handle=1 hca_object=1\n"
							 "kunit1 hca_object=9\n"
							 "kunit0 index=100 hca_object=2\n"
							 "kunit0 hca_object=3\n"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_max(test, RDMACG_CLASS_HCA),
			   "kunit0 hca_handle=1 hca_object=3\n"
			   "kunit1 hca_handle=max hca_object=9\n");
}

static struct kunit_case rdmacg_device_cases[] = {
	KUNIT_CASE(rdmacg_test_last_of_64_slots_works_like_the_first),
	KUNIT_CASE(rdmacg_test_table_past_64_slots_is_refused_whole),
	KUNIT_CASE(rdmacg_test_table_with_a_duplicate_is_refused_whole),
	KUNIT_CASE_PARAM(rdmacg_test_table_with_a_malformed_resource_is_refused_whole,
			 rdmacg_malformed_gen_params),
	KUNIT_CASE(rdmacg_test_file_has_the_keys_of_its_class),
	KUNIT_CASE(rdmacg_test_device_is_renamed_to_any_name),
	KUNIT_CASE(rdmacg_test_name_means_the_device_that_the_caller_sees),
	KUNIT_CASE(rdmacg_test_longest_names_differ_by_namespace),
	KUNIT_CASE(rdmacg_test_name_matches_as_a_whole),
	KUNIT_CASE(rdmacg_test_key_is_free_after_the_last_writer),
	KUNIT_CASE(rdmacg_test_last_limit_of_a_device_counts),
	{}
};

static struct kunit_suite rdmacg_device_suite = {
	.name = "cgroup_rdma_device",
	.init = rdmacg_device_test_init,
	.test_cases = rdmacg_device_cases,
};

kunit_test_suite(rdmacg_device_suite);

MODULE_DESCRIPTION("KUnit tests for the devices of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
