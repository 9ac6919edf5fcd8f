// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of defaults in the RDMA cgroup controller. If a device is removed and registered again,
 * defaults limit its first charge and all later charges. Each test creates a second device. The
 * test runs twice: this device has the driver of the machine's device, and then another driver. The
 * tests need root, Soft-RoCE or Soft-iWARP, and ip and rdma of iproute2.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define RDMACG_HOLDERS 3

FIXTURE(test_rdmacg_default) {
	/*
	 * Both trees have the same cgroups. @tree has the machine's device, and @second has the
	 * second device.
	 */
	struct rdmacg_tree tree;
	struct rdmacg_tree second;
};

/* The type of the second device for "rdma link add". */
FIXTURE_VARIANT(test_rdmacg_default) {
	const char *type;
};

FIXTURE_VARIANT_ADD(test_rdmacg_default, rxe) { .type = "rxe" };

FIXTURE_VARIANT_ADD(test_rdmacg_default, siw) { .type = "siw" };

/* The process of the test is in "left", and no device has limits. */
FIXTURE_SETUP(test_rdmacg_default)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
	if (!rdmacg_add_link() || !rdmacg_add_device(variant->type)) {
		rdmacg_remove_link();
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "no second device of type %s can be made", variant->type);
	}
	self->second = self->tree;
	snprintf(self->second.device, sizeof(self->second.device), RDMACG_SECOND);
}

FIXTURE_TEARDOWN(test_rdmacg_default)
{
	rdmacg_tree_destroy(&self->tree);
	EXPECT_TRUE(rdmacg_remove_link());
}

static long long rdmacg_peak_objects(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_value(tree, cgroup, "rdma.peak", "hca_object");
}

/* Create at most @most PDs on the device, and close the device. Returns the number of PDs. */
static int rdmacg_try_pds(struct rdmacg_tree *tree, int most)
{
	struct ibv_context *context = rdmacg_open(tree);
	int made = 0;

	if (!context)
		return -errno;
	while (made < most && ibv_alloc_pd(context))
		made++;
	ibv_close_device(context);
	return made;
}

/*
 * Start a process that creates as many objects as possible in a loop. It continues while the device
 * does not exist.
 */
static pid_t rdmacg_start_holder(struct rdmacg_tree *tree, const char *cgroup)
{
	pid_t child = rdmacg_fork();

	if (child)
		return child;
	if (cg_enter_current(cgroup))
		_exit(1);
	while (true)
		rdmacg_try_pds(tree, 5);
}

/*
 * Remove and register the device while processes create objects in a loop. The peaks of the new
 * device show that the processes reached the limits of the cgroup and of its parent, and never
 * exceeded them.
 */
TEST_F_TIMEOUT(test_rdmacg_default, device_comes_back_limited, 240)
{
	struct rdmacg_tree *second = &self->second;
	pid_t holders[RDMACG_HOLDERS];
	int i, round;

	ASSERT_EQ(0, cg_write(second->top, "rdma.default", "hca_object=3"));
	ASSERT_EQ(0, cg_write(second->left, "rdma.default", "hca_object=2"));
	for (i = 0; i < RDMACG_HOLDERS; i++)
		holders[i] = rdmacg_start_holder(second, i ? second->right : second->left);
	for (round = 0; round < 5; round++) {
		ASSERT_TRUE(rdmacg_remove_device());
		ASSERT_TRUE(rdmacg_add_device(variant->type));
		EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_peak_objects(second, second->left) >= 2 &&
					    rdmacg_peak_objects(second, second->top) >= 3));
		EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_value(second, second->top, "rdma.events.local",
							 "hca_object.max") > 0));
		EXPECT_EQ(2, rdmacg_peak_objects(second, second->left));
		EXPECT_EQ(3, rdmacg_peak_objects(second, second->top));
	}
	for (i = 0; i < RDMACG_HOLDERS; i++) {
		kill(holders[i], SIGKILL);
		waitpid(holders[i], NULL, 0);
	}
}

/* The default applies to all devices. */
TEST_F_TIMEOUT(test_rdmacg_default, default_holds_until_it_is_taken_away, 120)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, cg_write(tree->left, "rdma.default", "pd=1"));
	EXPECT_EQ(1, rdmacg_try_pds(tree, 3));
	EXPECT_EQ(1, rdmacg_try_pds(&self->second, 3));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "pd=2"));
	ASSERT_EQ(0, rdmacg_limit_in(&self->second, tree->left, "rdma.verb.max", "max"));
	EXPECT_EQ(2, rdmacg_try_pds(tree, 3));
	EXPECT_EQ(3, rdmacg_try_pds(&self->second, 3));
	ASSERT_EQ(0, rdmacg_limit_in(&self->second, tree->left, "rdma.verb.max", "default"));
	EXPECT_EQ(1, rdmacg_try_pds(&self->second, 3));
	ASSERT_EQ(0, cg_write(tree->left, "rdma.default", "max"));
	EXPECT_EQ(2, rdmacg_try_pds(tree, 3));
	EXPECT_EQ(3, rdmacg_try_pds(&self->second, 3));
}

static char rdmacg_saved[RDMACG_TEXT_SIZE];

/*
 * The line of a device shows its effective limits. These limits become the device's own limits when
 * a program restores the line. A default that is written after that does not change them.
 */
TEST_F_TIMEOUT(test_rdmacg_default, file_is_saved_and_restored, 120)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, cg_write(tree->left, "rdma.default", "hca_handle=5 hca_object=6"));
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=max"));
	snprintf(rdmacg_saved, sizeof(rdmacg_saved), "%s",
		 rdmacg_read(tree->left, "rdma.max"));
	ASSERT_EQ(0, cg_write(tree->right, "rdma.default",
			      rdmacg_read(tree->left, "rdma.default")));
	ASSERT_EQ(0, cg_write(tree->right, "rdma.max", rdmacg_saved));
	EXPECT_STREQ(rdmacg_saved, rdmacg_read(tree->right, "rdma.max"));
	EXPECT_STREQ("hca_handle=5 hca_object=6\n", rdmacg_read(tree->right, "rdma.default"));
	ASSERT_EQ(0, cg_write(tree->right, "rdma.default", "hca_object=1"));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->right, "rdma.max", "hca_handle=5 hca_object=max"));
	EXPECT_TRUE(rdmacg_line_is(&self->second, tree->right, "rdma.max",
				   "hca_handle=5 hca_object=6"));
}

/*
 * Defaults can have all keys of the kernel and any key of a driver, even if no device has the key.
 */
TEST_F_TIMEOUT(test_rdmacg_default, keys_are_those_of_the_kernel, 120)
{
	char line[] = "hw:any=2\tops=1000000 mr_mem=5 flow=3  hca_object=6 driver_object=4\n";
	const char *cgroup = self->tree.left;
	static char *const bad[] = {
		"flows=3", "whatever=2", "hw:=2", "hw:Any=2", "hw:max=2", "hw:hw:any=2", "qp",
		"qp=", "=1", "qp=-1", "qp=1k", "qp=9223372036854775807", "default", "ops=0",
		"burst=0",
		"ops=1000001", "index=0 qp=1", "qp=1 flows=3", "qp=1\nqp=2", "qp=1\n\n", "\n", " ",
	};
	char with_device[NAME_MAX + 64];
	unsigned int i;

	EXPECT_STREQ("", rdmacg_read(cgroup, "rdma.default"));
	EXPECT_EQ(0, cg_write(cgroup, "rdma.default", line));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, cg_write(cgroup, "rdma.default", bad[i])) TH_LOG("%s", bad[i]);
	snprintf(with_device, sizeof(with_device), "%s qp=1", self->tree.device);
	EXPECT_EQ(-EINVAL, cg_write(cgroup, "rdma.default", with_device));
	EXPECT_STREQ("hca_object=6 flow=3 driver_object=4 mr_mem=5 ops=1000000 hw:any=2\n",
		     rdmacg_read(cgroup, "rdma.default"));
	EXPECT_EQ(0, cg_write(cgroup, "rdma.default", "flow=max hw:any=max qp=1"));
	EXPECT_STREQ("hca_object=6 qp=1 driver_object=4 mr_mem=5 ops=1000000\n",
		     rdmacg_read(cgroup, "rdma.default"));
	EXPECT_EQ(0, cg_write(cgroup, "rdma.default", "max"));
	EXPECT_STREQ("", rdmacg_read(cgroup, "rdma.default"));
	EXPECT_EQ(-ENODEV, cg_write(cgroup, "rdma.max", "default hca_object=1"));
}

TEST_HARNESS_MAIN
