// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of drivers that are modules. Unloading a module removes its devices with their charges and
 * limits. Some drivers cannot remove a device with open contexts, so an open context keeps the
 * module loaded. Each test runs only if its driver has no other device, because unloading the
 * module would also remove that device. The tests need root, Soft-RoCE or Soft-iWARP as a module,
 * and ip and rdma of iproute2.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_actor_util.h"

FIXTURE(test_rdmacg_module) {
	struct rdmacg_tree tree;
};

/* The driver's name for "rdma link add" and modprobe. */
FIXTURE_VARIANT(test_rdmacg_module) {
	const char *type;
	const char *module;
};

FIXTURE_VARIANT_ADD(test_rdmacg_module, rxe) { .type = "rxe", .module = "rdma_rxe" };

FIXTURE_VARIANT_ADD(test_rdmacg_module, siw) { .type = "siw", .module = "siw" };

/* Returns whether there is a device that may belong to the driver. */
static bool rdmacg_has_device(const char *type)
{
	struct dirent *entry;
	DIR *dir = opendir("/sys/class/infiniband");
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && !strcmp(rdmacg_find_type(entry->d_name), type);
	if (dir)
		closedir(dir);
	return found;
}

static bool rdmacg_is_loaded(const char *module)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

/*
 * Unload the module. Returns false if the module remains loaded, because it is in use or built in.
 */
static bool rdmacg_unload(const char *module)
{
	char arguments[64];

	snprintf(arguments, sizeof(arguments), "-r %s", module);
	return rdmacg_modprobe(arguments) && !rdmacg_is_loaded(module);
}

static bool rdmacg_make_device(const char *type)
{
	return rdmacg_add_link() && rdmacg_add_device(type);
}

/* Create the only device of the driver. Returns NULL, or a text that names what is missing. */
static const char *rdmacg_module_setup(struct rdmacg_tree *tree, const char *type,
				       const char *module)
{
	/* Remove the device of an earlier test that was killed. */
	rdmacg_remove_link();
	if (!RDMACG_WAIT_FOR(access("/sys/class/infiniband/" RDMACG_SECOND, F_OK)))
		return "the device of an earlier test remains";
	if (rdmacg_has_device(type))
		return "the driver may have another device";
	if (!rdmacg_modprobe(module) || !rdmacg_unload(module))
		return "the driver is not a module that can be loaded and unloaded";
	if (!rdmacg_make_device(type))
		return "no device can be made";
	setenv("RDMACG_DEVICE", RDMACG_SECOND, 1);
	return rdmacg_tree_create(tree);
}

/* The process of the test is in "left", and the driver has only one device. */
FIXTURE_SETUP(test_rdmacg_module)
{
	const char *missing = rdmacg_module_setup(&self->tree, variant->type, variant->module);

	if (missing) {
		rdmacg_remove_link();
		SKIP(return, "%s: %s", variant->module, missing);
	}
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
}

FIXTURE_TEARDOWN(test_rdmacg_module)
{
	rdmacg_tree_destroy(&self->tree);
	EXPECT_TRUE(rdmacg_remove_link());
}

/* The module is still loaded. Check that limits and charges have not changed. */
static void rdmacg_check_kept(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
			      struct ibv_context *context)
{
	EXPECT_EQ(1, rdmacg_handles(tree, tree->left));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
	EXPECT_NE(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, ibv_close_device(context));
}

/* The module was unloaded. Check that the context fails, and is not charged on a new device. */
static void rdmacg_check_taken(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
			       const char *type, struct ibv_context *context)
{
	EXPECT_EQ(-1, rdmacg_handles(tree, tree->left));
	EXPECT_EQ(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(EIO, errno);
	ASSERT_TRUE(rdmacg_add_device(type));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->left));
	EXPECT_EQ(0, ibv_close_device(context));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

/* The module is unloaded with its devices, or stays with them while a context is open. */
TEST_F_TIMEOUT(test_rdmacg_module, held_module_stays_or_goes_as_a_whole, 120)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_context *context;
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=2"));
	ASSERT_TRUE(rdmacg_enter_and_open(tree, tree->left, &context, &pd)) TH_LOG("%m");
	if (rdmacg_unload(variant->module))
		rdmacg_check_taken(_metadata, tree, variant->type, context);
	else
		rdmacg_check_kept(_metadata, tree, context);
	EXPECT_EQ(0, rdmacg_handles(tree, tree->top));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->top));
}

/* Unloading an unused module removes the lines of its devices, and no other lines. */
TEST_F_TIMEOUT(test_rdmacg_module, module_takes_its_devices_along, 120)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_context *context;
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=2"));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, "pd", 1));
	ASSERT_TRUE(rdmacg_enter_and_open(tree, tree->left, &context, &pd)) TH_LOG("%m");
	EXPECT_EQ(0, ibv_close_device(context));
	ASSERT_TRUE(rdmacg_unload(variant->module));
	EXPECT_EQ(-1, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(-1, rdmacg_value(tree, tree->root, "rdma.capacity", "qp"));
	EXPECT_EQ(-ENODEV, rdmacg_limit(tree, tree->left, "hca_object=2"));
}

/* The device of a module that is loaded again has the defaults, and no limits of its own. */
TEST_F_TIMEOUT(test_rdmacg_module, module_comes_back_with_defaults, 120)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_context *context;
	struct ibv_pd *pd;

	ASSERT_EQ(0, cg_write(tree->top, "rdma.default", "hca_object=1"));
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=0"));
	ASSERT_TRUE(rdmacg_unload(variant->module));
	ASSERT_TRUE(rdmacg_modprobe(variant->module));
	ASSERT_TRUE(rdmacg_add_device(variant->type));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->top, "rdma.max", "hca_handle=max hca_object=1"));
	ASSERT_TRUE(rdmacg_enter_and_open(tree, tree->left, &context, &pd)) TH_LOG("%m");
	EXPECT_EQ(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, ibv_close_device(context));
}

TEST_HARNESS_MAIN
