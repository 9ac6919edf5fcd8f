// SPDX-License-Identifier: GPL-2.0
/*
 * This test removes a cgroup with limits for an RDMA device before it removes the device. It works
 * with our controller and with stock. It needs root, and ip and rdma of iproute2.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"

#include "rdma_util.h"

FIXTURE(test_rdmacg_gone) {
	/* The device of the tree is the second device. */
	struct rdmacg_tree tree;
};

FIXTURE_SETUP(test_rdmacg_gone)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (!rdmacg_add_link() || !rdmacg_add_device(self->tree.type)) {
		rdmacg_remove_link();
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "ip and rdma make no second device");
	}
	snprintf(self->tree.device, sizeof(self->tree.device), RDMACG_SECOND);
}

FIXTURE_TEARDOWN(test_rdmacg_gone)
{
	rdmacg_remove_link();
	rdmacg_tree_destroy(&self->tree);
}

/*
 * Limits must not outlive their cgroup. Otherwise the removal of the device would write to a list
 * in the memory of the freed cgroup.
 */
TEST_F_TIMEOUT(test_rdmacg_gone, limits_go_with_their_cgroup, 120)
{
	enum { CGROUPS = 300 };
	struct rdmacg_tree *tree = &self->tree;
	long before = rdmacg_taint();
	char path[PATH_MAX];
	int i;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=5"));
	ASSERT_EQ(0, cg_destroy(tree->left));
	/* The kernel does not report when it has freed the cgroup. */
	sleep(2);
	ASSERT_TRUE(rdmacg_remove_device());
	/*
	 * KASAN detects a write to freed memory at once. slab_debug detects it when the memory is
	 * allocated again.
	 */
	for (i = 0; i < CGROUPS; i++) {
		snprintf(path, sizeof(path), "%s/%d", tree->top, i);
		ASSERT_EQ(0, cg_create(path));
	}
	EXPECT_EQ(before, rdmacg_taint());
}

TEST_HARNESS_MAIN
