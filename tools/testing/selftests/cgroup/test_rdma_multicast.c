// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of attachments of QPs to multicast groups under the RDMA cgroup controller. An attachment
 * is not a uverbs object. The tests need root and one RDMA device that has multicast, such as
 * Soft-RoCE.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define RDMACG_GROUPS 3

FIXTURE(test_rdmacg_multicast) {
	struct rdmacg_tree tree;
	struct rdmacg_members members;
};

/* Returns whether the cgroup is charged for this number of attachments. */
static bool rdmacg_pays(struct rdmacg_tree *tree, const char *cgroup, long long attachments)
{
	long long found = rdmacg_verbs(tree, cgroup, "mcast");

	if (found == attachments)
		return true;
	ksft_print_msg("%s: mcast=%lld, wanted %lld\n", cgroup, found, attachments);
	return false;
}

/* The process of the test is in "left", with two QPs that are in no group. */
FIXTURE_SETUP(test_rdmacg_multicast)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (rdmacg_value(&self->tree, self->tree.left, "rdma.verb.max", "mcast") < 0) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "%s has no multicast", self->tree.device);
	}
	ASSERT_TRUE(rdmacg_make_members(&self->tree, self->tree.left, &self->members))
		TH_LOG("%m");
}

/*
 * Detach all QPs first, because a failed test may leave its QPs in groups, and a QP in a group
 * cannot be destroyed.
 */
FIXTURE_TEARDOWN(test_rdmacg_multicast)
{
	int i, group;

	for (i = 0; i < 2; i++) {
		for (group = 1; group <= RDMACG_GROUPS; group++)
			rdmacg_detach(self->members.qp[i], group);
		EXPECT_EQ(0, ibv_destroy_qp(self->members.qp[i]));
	}
	EXPECT_TRUE(rdmacg_pays(&self->tree, self->tree.top, 0));
	EXPECT_EQ(0, ibv_destroy_cq(self->members.cq));
	EXPECT_EQ(0, ibv_dealloc_pd(self->members.pd));
	EXPECT_EQ(0, ibv_close_device(self->members.context));
	EXPECT_EQ(0, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

/* Let both QPs join group 1, and the second QP also group 2. */
static void rdmacg_join(struct __test_metadata *_metadata, struct ibv_qp **qp)
{
	ASSERT_EQ(0, rdmacg_attach(qp[0], 1));
	ASSERT_EQ(0, rdmacg_attach(qp[1], 1));
	ASSERT_EQ(0, rdmacg_attach(qp[1], 2));
}

/* A QP that joins its own group again is not charged again. */
TEST_F(test_rdmacg_multicast, second_attachment_is_free)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_join(_metadata, self->members.qp);
	EXPECT_EQ(0, rdmacg_attach(self->members.qp[1], 2));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 3));
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 3));
}

/* The limit refuses another attachment, and the refusal is an event of mcast. */
TEST_F(test_rdmacg_multicast, attachments_end_at_the_limit)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_join(_metadata, self->members.qp);
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mcast=3"));
	EXPECT_EQ(EAGAIN, rdmacg_attach(self->members.qp[0], 3));
	EXPECT_EQ(1, rdmacg_value(tree, tree->top, "rdma.verb.events", "mcast.max"));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 3));
}

/* A QP that leaves a group is uncharged. */
TEST_F(test_rdmacg_multicast, detach_gives_back)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_join(_metadata, self->members.qp);
	EXPECT_EQ(0, rdmacg_detach(self->members.qp[0], 1));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 2));
	EXPECT_EQ(0, rdmacg_detach(self->members.qp[1], 1));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 1));
}

/* A QP cannot leave the group of another QP, and nothing is uncharged. */
TEST_F(test_rdmacg_multicast, detach_of_a_stranger_uncharges_nothing)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_join(_metadata, self->members.qp);
	EXPECT_EQ(EINVAL, rdmacg_detach(self->members.qp[0], 2));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 3));
}

/*
 * A process in "left" creates group 2 with the first QP, and a process in "right" adds the second
 * QP.
 */
static void rdmacg_join_from_right(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
				   struct ibv_qp **qp)
{
	ASSERT_EQ(0, rdmacg_attach(qp[0], 2));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, rdmacg_attach(qp[1], 2));
}

/*
 * The process that attaches a QP pays, even in another process's group. A
 * member that leaves is uncharged, even if a member that joined later stays.
 */
TEST_F(test_rdmacg_multicast, detaching_process_is_uncharged)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_join_from_right(_metadata, tree, self->members.qp);
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 1));
	EXPECT_TRUE(rdmacg_pays(tree, tree->right, 1));
	EXPECT_EQ(0, rdmacg_detach(self->members.qp[0], 2));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 0));
	EXPECT_EQ(0, rdmacg_detach(self->members.qp[1], 2));
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 0));
}

/* An attachment that the core refuses is uncharged. */
TEST_F(test_rdmacg_multicast, attachment_that_fails_is_uncharged)
{
	struct rdmacg_tree *tree = &self->tree;
	union ibv_gid gid = { };

	/* This address is not a multicast address. */
	EXPECT_NE(0, ibv_attach_mcast(self->members.qp[0], &gid, 0));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 0));
}

/* Create QPs in "right", and end while one of them is in a group. */
static int rdmacg_end_in_a_group(struct rdmacg_tree *tree)
{
	struct rdmacg_members members = {};

	return !rdmacg_make_members(tree, tree->right, &members) ||
	       rdmacg_attach(members.qp[0], 3) || !rdmacg_pays(tree, tree->right, 1);
}

/* A process that ends leaves its groups. */
TEST_F(test_rdmacg_multicast, exit_of_a_process_uncharges_its_attachments)
{
	struct rdmacg_tree *tree = &self->tree;

	EXPECT_EQ(0, IN_CHILD({ _exit(rdmacg_end_in_a_group(tree)); }));
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_handles(tree, tree->right) &&
				    !rdmacg_objects(tree, tree->right)));
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 0));
}

TEST_HARNESS_MAIN
