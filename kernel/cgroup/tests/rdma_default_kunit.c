// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the defaults of the RDMA cgroup controller. A default is the limit of each device
 * without a limit of its own.
 *
 *   root
 *    `-- top
 *         |-- leaf
 *         `-- idle
 *
 * kunit0 and kunit1 exist from the beginning; a test may register kunit2.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "rdma_kunit.h"

/* A thread that writes defaults when @go is complete. */
struct rdmacg_writer {
	struct rdma_cgroup *cg;
	struct completion go, done;
};

/*
 * A write, other writes of defaults that take effect during it, and the expected text of the files.
 */
struct rdmacg_meddling {
	const char *name;
	const char *text;
	const char *others;
	const char *max;
};

struct rdmacg_tree {
	struct rdma_cgroup root, top, leaf, idle;
	struct rdmacg_device dev0, dev1, dev2;
	struct rdmacg_writer writer;
	const struct rdmacg_meddling *meddling;
	unsigned int meddled;
};

static int rdmacg_default_test_init(struct kunit *test)
{
	struct rdmacg_tree *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	rdmacg_test_create_cgroup(test, &t->root, NULL);
	rdmacg_test_create_cgroup(test, &t->top, &t->root);
	rdmacg_test_create_cgroup(test, &t->leaf, &t->top);
	rdmacg_test_create_cgroup(test, &t->idle, &t->top);
	rdmacg_test_register(test, &t->dev0, "kunit0", 100);
	rdmacg_test_register(test, &t->dev1, "kunit1", 101);
	test->priv = t;
	return 0;
}

static const struct rdmacg_amount rdmacg_one_object = { .slot = OBJECT, .amount = 1 };

static int rdmacg_charge_object(struct rdma_cgroup *cg, struct rdmacg_device *device)
{
	struct rdmacg_refusal refusal;

	return rdmacg_test_charge(cg, device, &rdmacg_one_object, 1, &refusal);
}

static void rdmacg_uncharge_object(struct rdma_cgroup *cg, struct rdmacg_device *device)
{
	rdmacg_test_uncharge(cg, device, &rdmacg_one_object, 1);
}

/* Returns the number of further objects that the cgroup can have on the device, at most 9. */
static unsigned int rdmacg_room(struct rdma_cgroup *cg, struct rdmacg_device *device)
{
	unsigned int i, room = 0;

	while (room < 9 && !rdmacg_charge_object(cg, device))
		room++;
	for (i = 0; i < room; i++)
		rdmacg_uncharge_object(cg, device);
	return room;
}

/* Returns the text of rdma.default and of a max file, without the machine's own devices. */
static char *rdmacg_max_of_class(struct rdma_cgroup *cg, enum rdmacg_class class)
{
	struct kunit *test = kunit_get_current_test();
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	strscpy(text, rdmacg_test_show_default(test, cg), PAGE_SIZE);
	strlcat(text, rdmacg_test_show(test, cg, class, RDMACG_FILE_MAX), PAGE_SIZE);
	return text;
}

static char *rdmacg_max_of(struct rdma_cgroup *cg)
{
	return rdmacg_max_of_class(cg, RDMACG_CLASS_HCA);
}

/*
 * Writes of rdma.default and rdma.max, which begins with the name of a device, and the text of both
 * files and the room for objects on kunit0 and kunit1 after the writes.
 */
struct rdmacg_write_case {
	const char *name;
	const char *writes[5];
	const char *files;
	unsigned int room0, room1;
	/* The pools are kept by their peaks, or do not exist because only defaults apply. */
	bool had_usage, has_no_pools;
};

static const struct rdmacg_write_case rdmacg_write_cases[] = {
	{
		"the last value of a key is the default",
		{ "hca_object=1 hca_handle=3 hca_object=2" },
		"hca_handle=3 hca_object=2\n"
		"kunit0 hca_handle=3 hca_object=2\nkunit1 hca_handle=3 hca_object=2\n",
		.room0 = 2, .room1 = 2, .has_no_pools = true,
	}, {
		"a device's limit beats the default",
		{ "kunit0 hca_object=5", "hca_object=2", "kunit1 hca_object=6", "hca_object=3" },
		"hca_object=3\n"
		"kunit0 hca_handle=max hca_object=5\nkunit1 hca_handle=max hca_object=6\n",
		.room0 = 5, .room1 = 6,
	}, {
		"a device's max stays beside a default",
		{ "hca_object=2", "kunit0 max", "hca_object=1 hca_handle=1" },
		"hca_handle=1 hca_object=1\n"
		"kunit0 hca_handle=1 hca_object=max\nkunit1 hca_handle=1 hca_object=1\n",
		.room0 = 9, .room1 = 1,
	}, {
		"a device gets the default back",
		{ "hca_object=2", "kunit0 max\nkunit1 hca_object=7\n",
		  "kunit0 default\nkunit1 default\n" },
		"hca_object=2\n"
		"kunit0 hca_handle=max hca_object=2\nkunit1 hca_handle=max hca_object=2\n",
		.room0 = 2, .room1 = 2, .has_no_pools = true,
	}, {
		"max without a default keeps nothing",
		{ "kunit0 max", "kunit1 default", "hca_object=2" },
		"hca_object=2\n"
		"kunit0 hca_handle=max hca_object=2\nkunit1 hca_handle=max hca_object=2\n",
		.room0 = 2, .room1 = 2, .has_no_pools = true,
	}, {
		"the end of another default leaves a device's max",
		{ "hca_object=2 hca_handle=3", "kunit0 max", "hca_handle=max" },
		"hca_object=2\n"
		"kunit0 hca_handle=max hca_object=max\nkunit1 hca_handle=max hca_object=2\n",
		.room0 = 9, .room1 = 2,
	}, {
		"a default reaches a device that was exempt from an earlier one",
		{ "hca_object=2 hca_handle=3", "kunit0 max", "hca_handle=max", "hca_object=max",
		  "hca_object=4" },
		"hca_object=4\n"
		"kunit0 hca_handle=max hca_object=4\nkunit1 hca_handle=max hca_object=4\n",
		.room0 = 4, .room1 = 4, .has_no_pools = true,
	}, {
		"the default max forgets a device's max",
		{ "hca_object=2", "kunit0 max", "kunit1 hca_object=6", "max", "hca_object=2" },
		"hca_object=2\n"
		"kunit0 hca_handle=max hca_object=2\nkunit1 hca_handle=max hca_object=6\n",
		.room0 = 2, .room1 = 6, .had_usage = true,
	}, {
		/* hca_handle has no default at the time of the max, which has no meaning for it. */
		"a device's max is of keys with a default",
		{ "hca_object=2", "kunit0 max", "hca_handle=3" },
		"hca_handle=3 hca_object=2\n"
		"kunit0 hca_handle=3 hca_object=max\nkunit1 hca_handle=3 hca_object=2\n",
		.room0 = 9, .room1 = 2,
	},
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_write, rdmacg_write_cases, name);

static void rdmacg_test_default_holds_beside_limits_of_devices(struct kunit *test)
{
	const struct rdmacg_write_case *param = test->param_value;
	struct rdmacg_tree *t = test->priv;
	unsigned int i;
	int ret;

	if (param->had_usage)
		KUNIT_ASSERT_EQ(test, rdmacg_room(&t->leaf, &t->dev0), 9);
	for (i = 0; i < ARRAY_SIZE(param->writes) && param->writes[i]; i++) {
		ret = strncmp(param->writes[i], "kunit", 5) ?
		      rdmacg_test_set_default(&t->leaf, param->writes[i]) :
		      rdmacg_test_limit(&t->leaf, param->writes[i]);
		KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", param->writes[i]);
	}
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of(&t->leaf), param->files);
	KUNIT_EXPECT_EQ(test, rdmacg_test_has_pools(&t->leaf), !param->has_no_pools);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev0), param->room0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev1), param->room1);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->idle, &t->dev0), 9);
}

static void rdmacg_test_default_of_an_ancestor_binds(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->top, "hca_object=3"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=5"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev0), 3);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->idle, &t->dev0), 3);
}

/* The pools already exist because of a usage, a history, or a limit of another key. */
static void rdmacg_test_default_reaches_pools_that_exist(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_charge_object(&t->leaf, &t->dev0), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev1), 9);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->idle, "kunit0 hca_handle=4"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=3"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->idle, "hca_object=1 hca_handle=2"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev0), 2);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->leaf, &t->dev1), 3);
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of(&t->idle),
			   "hca_handle=2 hca_object=1\n"
			   "kunit0 hca_handle=4 hca_object=1\nkunit1 hca_handle=2 hca_object=1\n");
	rdmacg_uncharge_object(&t->leaf, &t->dev0);
}

static void rdmacg_need_hw(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_CGROUP_RDMA_VERBS))
		kunit_skip(test, "this kernel has no hw class");
}

/* Each key of a class is valid as a default, even if no device has it. */
static void rdmacg_test_defaults_of_all_classes_in_one_line(struct kunit *test)
{
	static const char line[] = "hw:door=1 ops=1000000 mr_mem=4096 qp=2\thca_object=3\n";
	struct rdmacg_tree *t = test->priv;

	rdmacg_need_hw(test);
	if (!IS_ENABLED(CONFIG_CGROUP_RDMA_CONTROL))
		kunit_skip(test, "this kernel has no limits on commands");
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, line), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show_default(test, &t->leaf),
			   "hca_object=3 qp=2 mr_mem=4096 ops=1000000 hw:door=1\n");
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "mr=9 max qp=5"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show_default(test, &t->leaf), "qp=5\n");
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "max"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show_default(test, &t->leaf), "");
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(t->leaf.defaults));
}

static const struct rdmacg_bad_default {
	const char *name;
	const char *text;
	int error;
} rdmacg_bad_defaults[] = {
	{ "nothing", "", -EINVAL },
	{ "a newline", "\n", -EINVAL },
	{ "its own default", "default", -EINVAL },
	{ "a key's default", "hca_object=default", -EINVAL },
	{ "no value", "hca_object=1 hca_object", -EINVAL },
	{ "an unknown key", "hca_object=1 unknown=1", -EINVAL },
	{ "a name", "kunit0 hca_object=1", -EINVAL },
	{ "two lines", "hca_object=1\nhca_object=2\n", -EINVAL },
	{ "a line and a blank", "hca_object=1\n ", -EINVAL },
	{ "a line after an empty one", "\nhca_object=1", -EINVAL },
	{ "max and junk", "max junk", -EINVAL },
	{ "a negative number", "hca_object=-1", -EINVAL },
	{ "no key of a driver", "hw:=1", -EINVAL },
	{ "a malformed key of a driver", "hw:Gate=1", -EINVAL },
	{ "a reserved key of a driver", "hw:max=1", -EINVAL },
	{ "a key of a driver that is too long", "hw:a_key_with_32_letters_and_digits=1", -EINVAL },
	{ "no commands", "ops=0", -EINVAL },
	{ "too many commands", "ops=1000001", -EINVAL },
	{ "an index", "index=100 hca_object=1", -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_bad_default, rdmacg_bad_defaults, name);

static void rdmacg_test_bad_default_changes_nothing(struct kunit *test)
{
	const struct rdmacg_bad_default *bad = test->param_value;
	struct rdmacg_tree *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=7"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, bad->text), bad->error);
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of(&t->leaf),
			   "hca_object=7\n"
			   "kunit0 hca_handle=max hca_object=7\nkunit1 hca_handle=max hca_object=7\n");
	KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&t->leaf));
}

/* Drivers choose the keys of the hw class, so any key is accepted, even if no device has it yet. */
static void rdmacg_test_default_of_the_hw_class(struct kunit *test)
{
	static const struct rdmacg_resource resource =
		RDMACG_TEST_RESOURCE("gate", RDMACG_CLASS_HW);
	struct rdmacg_table table = { .resources = &resource, .count = 1 };
	struct rdmacg_tree *t = test->priv;

	rdmacg_need_hw(test);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:door=4 hw:gate=3"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:door=max"), 0);
	t->dev2.name = "kunit2";
	rdmacg_test_register_tables(test, &t->dev2, &table, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of_class(&t->leaf, RDMACG_CLASS_HW),
			   "hw:gate=3\nkunit2 gate=3\n");
	/* Defaults of one class do not apply to another class. */
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "max hw:hca_object=1"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of(&t->leaf),
			   "hw:hca_object=1\n"
			   "kunit0 hca_handle=max hca_object=max\n"
			   "kunit1 hca_handle=max hca_object=max\n");
}

static void rdmacg_test_default_takes_64_keys_of_the_hw_class(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	char text[32];
	int i, ret;

	rdmacg_need_hw(test);
	for (i = 0; i <= RDMACG_MAX_SLOTS; i++) {
		scnprintf(text, sizeof(text), "hw:key%d=%d", i, i);
		ret = rdmacg_test_set_default(&t->leaf, text);
		KUNIT_EXPECT_EQ(test, ret, i < RDMACG_MAX_SLOTS ? 0 : -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:key0=5"), 0);
	/* The first write adds one more default than it removes. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:door=1 hw:gate=1 hw:key0=max"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:door=1 hw:key0=max"), 0);
	/* One write can replace all defaults with other defaults. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "max hw:gate=1"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show_default(test, &t->leaf), "hw:gate=1\n");
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "max"), 0);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(t->leaf.defaults));
}

static struct rdma_cgroup *rdmacg_get_leaf(void)
{
	struct rdmacg_tree *t = kunit_get_current_test()->priv;

	rdmacg_get(&t->leaf);
	return &t->leaf;
}

static void rdmacg_test_query_shows_the_default(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	kunit_activate_static_stub(test, rdmacg_get_current, rdmacg_get_leaf);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->top, "hca_object=4"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_current_limit(&t->dev0, OBJECT), 4);
	KUNIT_EXPECT_EQ(test, rdmacg_current_limit(&t->dev0, HANDLE), RDMACG_NO_LIMIT);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=6"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->top, "kunit0 max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_current_limit(&t->dev0, OBJECT), 6);
	KUNIT_EXPECT_EQ(test, rdmacg_current_limit(&t->dev1, OBJECT), 4);
}

static int rdmacg_write_once(void *data)
{
	struct rdmacg_writer *writer = data;

	wait_for_completion(&writer->go);
	rdmacg_test_set_default(writer->cg, "hca_object=2");
	kthread_complete_and_exit(&writer->done, 0);
}

static struct rdmacg_writer *rdmacg_start_writer(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct task_struct *thread;

	t->writer.cg = &t->top;
	init_completion(&t->writer.go);
	init_completion(&t->writer.done);
	thread = kthread_run(rdmacg_write_once, &t->writer, "kunit-rdmacg");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	return &t->writer;
}

/*
 * Let the other thread try to write after the defaults were read, and before kunit0 gets its
 * limits. The thread has 200 ms for this, and a write needs only some microseconds.
 */
static void rdmacg_look_and_linger(const struct rdmacg_defaults *defaults,
				   const struct rdmacg_desc *desc, u64 *max)
{
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_tree *t = test->priv;
	int i;

	kunit_deactivate_static_stub(test, rdmacg_default_limits);
	rdmacg_default_limits(defaults, desc, max);
	if (desc != t->dev0.desc) {
		kunit_activate_static_stub(test, rdmacg_default_limits, rdmacg_look_and_linger);
		return;
	}
	complete(&t->writer.go);
	for (i = 0; i < 40000 && !completion_done(&t->writer.done); i++)
		udelay(5);
}

static void rdmacg_test_pool_is_made_between_two_defaults(struct kunit *test)
{
	struct rdmacg_writer *writer = rdmacg_start_writer(test);
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->top, "hca_object=5"), 0);
	kunit_activate_static_stub(test, rdmacg_default_limits, rdmacg_look_and_linger);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_object(&t->top, &t->dev0), 0);
	wait_for_completion(&writer->done);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->top, &t->dev0), 1);
	rdmacg_uncharge_object(&t->top, &t->dev0);
}

static void rdmacg_test_later_default_holds_for_a_pool(struct kunit *test)
{
	struct rdmacg_writer *writer = rdmacg_start_writer(test);
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->top, &t->dev0), 9);
	kunit_activate_static_stub(test, rdmacg_default_limits, rdmacg_look_and_linger);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->top, "hca_object=5"), 0);
	wait_for_completion(&writer->done);
	KUNIT_EXPECT_EQ(test, rdmacg_room(&t->top, &t->dev0), 2);
}

static int rdmacg_meddle(struct rdmacg_write *write)
{
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_tree *t = test->priv;
	int ret;

	kunit_deactivate_static_stub(test, rdmacg_write_pin);
	ret = rdmacg_write_pin(write);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(write->cg, t->meddling->others), 0);
	t->meddled++;
	kunit_activate_static_stub(test, rdmacg_write_pin, rdmacg_meddle);
	return ret;
}

static const struct rdmacg_meddling rdmacg_meddlings[] = {
	{
		"a limit and other defaults", "kunit0 hca_object=5", "hca_handle=1",
		"hca_handle=1\n"
		"kunit0 hca_handle=1 hca_object=5\nkunit1 hca_handle=1 hca_object=max\n",
	}, {
		"max and a default that comes", "kunit0 max", "hca_object=1",
		"hca_object=1\n"
		"kunit0 hca_handle=max hca_object=max\nkunit1 hca_handle=max hca_object=1\n",
	}, {
		"the default and one that comes", "kunit0 default", "hca_object=1",
		"hca_object=1\n"
		"kunit0 hca_handle=max hca_object=1\nkunit1 hca_handle=max hca_object=1\n",
	},
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_meddling, rdmacg_meddlings, name);

/*
 * The meaning of "max" depends on the defaults at the time when the write takes effect. No step of
 * the write happens twice.
 */
static void rdmacg_test_write_ends_while_defaults_change(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	t->meddling = test->param_value;
	kunit_activate_static_stub(test, rdmacg_write_pin, rdmacg_meddle);
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, t->meddling->text), 0);
	kunit_deactivate_static_stub(test, rdmacg_write_pin);
	KUNIT_EXPECT_EQ(test, t->meddled, 1);
	KUNIT_EXPECT_STREQ(test, rdmacg_max_of(&t->leaf), t->meddling->max);
}

static struct rdmacg_defaults *rdmacg_add_and_alloc(unsigned int room)
{
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_defaults *defaults;
	struct rdmacg_tree *t = test->priv;

	kunit_deactivate_static_stub(test, rdmacg_defaults_alloc);
	defaults = rdmacg_defaults_alloc(room);
	/* The first call is for the text of the write. */
	if (++t->meddled > 1)
		KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hw:one=1 hca_handle=3"),
				0);
	kunit_activate_static_stub(test, rdmacg_defaults_alloc, rdmacg_add_and_alloc);
	return defaults;
}

/* The number of calls is the same if other writers add no defaults, as at the second write. */
static void rdmacg_test_default_finds_room_beside_others(struct kunit *test)
{
	const struct rdmacg_defaults *defaults;
	struct rdmacg_tree *t = test->priv;
	unsigned int calls;

	rdmacg_need_hw(test);
	kunit_activate_static_stub(test, rdmacg_defaults_alloc, rdmacg_add_and_alloc);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=1"), 0);
	defaults = rcu_dereference_protected(t->leaf.defaults, true);
	KUNIT_EXPECT_LE(test, defaults->count, defaults->room);
	calls = t->meddled;
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=2"), 0);
	KUNIT_EXPECT_EQ(test, t->meddled, 2 * calls);
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show_default(test, &t->leaf),
			   "hca_handle=3 hca_object=2 hw:one=1\n");
}

/* Another task wants the processor as soon as a key is read. */
static bool rdmacg_want_processor(enum rdmacg_class class, const char *key, u64 max)
{
	set_tsk_need_resched(current);
	set_preempt_need_resched();
	return true;
}

/* The line has an error, so the write does nothing else after the line. */
static void rdmacg_test_long_line_lets_other_tasks_run(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	kunit_activate_static_stub(test, rdmacg_limit_is_valid, rdmacg_want_processor);
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_default(&t->leaf, "hca_object=1 x"), -EINVAL);
	KUNIT_EXPECT_FALSE(test, need_resched());
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=1 x"), -EINVAL);
	KUNIT_EXPECT_FALSE(test, need_resched());
}

static struct kunit_case rdmacg_default_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_default_holds_beside_limits_of_devices,
			 rdmacg_write_gen_params),
	KUNIT_CASE(rdmacg_test_default_of_an_ancestor_binds),
	KUNIT_CASE(rdmacg_test_default_reaches_pools_that_exist),
	KUNIT_CASE(rdmacg_test_defaults_of_all_classes_in_one_line),
	KUNIT_CASE_PARAM(rdmacg_test_bad_default_changes_nothing, rdmacg_bad_default_gen_params),
	KUNIT_CASE(rdmacg_test_default_of_the_hw_class),
	KUNIT_CASE(rdmacg_test_default_takes_64_keys_of_the_hw_class),
	KUNIT_CASE(rdmacg_test_query_shows_the_default),
	KUNIT_CASE(rdmacg_test_pool_is_made_between_two_defaults),
	KUNIT_CASE(rdmacg_test_later_default_holds_for_a_pool),
	KUNIT_CASE_PARAM(rdmacg_test_write_ends_while_defaults_change, rdmacg_meddling_gen_params),
	KUNIT_CASE(rdmacg_test_default_finds_room_beside_others),
	KUNIT_CASE(rdmacg_test_long_line_lets_other_tasks_run),
	{ }
};

static struct kunit_suite rdmacg_default_suite = {
	.name = "cgroup_rdma_default",
	.init = rdmacg_default_test_init,
	.test_cases = rdmacg_default_cases,
};

kunit_test_suite(rdmacg_default_suite);

MODULE_DESCRIPTION("KUnit tests for the defaults of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
