// SPDX-License-Identifier: GPL-2.0
/*
 * A cgroup with limits for an RDMA device is removed before the device, under our controller or
 * stock. Needs root, and ip and rdma of iproute2.
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

/* Read the kernel's taint flags: one of them reports overwritten memory. */
static long rdmacg_taint(void)
{
	char text[32];

	return read_text("/proc/sys/kernel/tainted", text, sizeof(text)) > 0 ? atol(text) : -1;
}

/*
 * If limits outlive their cgroup, the removal of the device takes them out of a list in the cgroup,
 * whose memory then has other uses.
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
	/* The kernel frees a cgroup after some grace periods, and does not report it. */
	sleep(2);
	ASSERT_TRUE(rdmacg_remove_device());
	/* KASAN detects a write to freed memory at once. slab_debug detects it at the next use. */
	for (i = 0; i < CGROUPS; i++) {
		snprintf(path, sizeof(path), "%s/%d", tree->top, i);
		ASSERT_EQ(0, cg_create(path));
	}
	EXPECT_EQ(before, rdmacg_taint());
}

TEST_HARNESS_MAIN
