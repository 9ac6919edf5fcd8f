// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of RDS over RDMA, which is refused to a process with a limit of the RDMA cgroup controller.
 * Processes share connections of RDS, so no cgroup can be charged for them. RDS keeps its
 * connections until the device is removed, so each test creates its own device with an address. The
 * tests need root, RDS over RDMA, RDS over TCP and Soft-RoCE as modules, and ip and rdma of
 * iproute2. The modules of RDS stay loaded.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"

#include "rdma_fd_util.h"
#include "rdma_rds_util.h"

FIXTURE(test_rdmacg_rds) {
	struct rdmacg_tree tree;
	struct rdmacg_actor actor;
};

/* An actor is in "left". The process of the test is in the root cgroup. */
FIXTURE_SETUP(test_rdmacg_rds)
{
	const char *missing = rdmacg_rds_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	memcpy(self->tree.device, RDMACG_SECOND, sizeof(RDMACG_SECOND));
	ASSERT_TRUE(rdmacg_start_actor(&self->actor, self->tree.left, rdmacg_act));
}

/*
 * Check that no cgroup was charged for connections. The removal of the device also removes the
 * connections.
 */
FIXTURE_TEARDOWN(test_rdmacg_rds)
{
	EXPECT_EQ(0, rdmacg_value(&self->tree, self->tree.top, "rdma.verb.peak", "qp"));
	EXPECT_EQ(0, rdmacg_value(&self->tree, self->tree.top, "rdma.verb.peak", "mr"));
	rdmacg_end_actor(&self->actor);
	EXPECT_TRUE(rdmacg_remove_link());
	rdmacg_tree_destroy(&self->tree);
}

/* RDS works as in stock, and is not charged. Limits of hca_object and cq do not refuse RDS. */
TEST_F_TIMEOUT(test_rdmacg_rds, process_without_a_limit_notices_nothing, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.max", "hca_object=0"));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "cq", 0));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
}

/* A bind is refused if the cgroup or an ancestor has a limit, even if the limit is large. */
TEST_F_TIMEOUT(test_rdmacg_rds, bind_is_refused_under_a_limit, 300)
{
	static const char * const keys[] = { "qp", "mr", "mr_mem" };
	struct rdmacg_tree *tree = &self->tree;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, keys[i], MIB));
		EXPECT_EQ(-EADDRNOTAVAIL, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
		ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "max"));
		ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, keys[i], MIB));
		EXPECT_EQ(-EADDRNOTAVAIL, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
		ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.verb.max", "max"));
	}
	EXPECT_TRUE(rdmacg_connect(&self->actor, 1));
	/* RDS now knows the device, so another function checks the limit. */
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", MIB));
	EXPECT_EQ(-EADDRNOTAVAIL, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
}

/* A bound socket continues to work under a limit, but cannot register memory. */
TEST_F_TIMEOUT(test_rdmacg_rds, bound_socket_goes_on_without_regions, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "mr", MIB));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND_MORE, 1));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_RECEIVE, 0));
	EXPECT_EQ(-EDQUOT, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_FREE, 0));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->right, "rdma.verb.max", "max"));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
}

/*
 * A socket that was bound before the limit can still create a connection, and the connection serves
 * a process without a limit. The address is local, so RDS needs both ends of the connection here.
 */
TEST_F_TIMEOUT(test_rdmacg_rds, bound_socket_connects_under_a_limit, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_BIND_IB, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", MIB));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND_MORE, 1));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_RECEIVE, 0));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "max"));
	EXPECT_TRUE(rdmacg_connect(&self->actor, 1));
}

/* A process with a limit can use a received socket, but cannot register memory. */
TEST_F_TIMEOUT(test_rdmacg_rds, receiver_of_a_socket_makes_no_region, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	int sockets[2];

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "qp", MIB));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ASSERT_EQ(0, IN_CHILD({
		if (cg_enter_current(tree->left) || !rdmacg_drop_privileges() ||
		    rdmacg_act(RDMACG_SEND, 1) || rdmacg_act(RDMACG_RECEIVE, 0))
			_exit(1);
		_exit(rdmacg_send_fd(sockets[1], rdmacg_own.fd) ? 1 : 0);
	}));
	rdmacg_own.fd = rdmacg_receive_fd(sockets[0]);
	ASSERT_LE(0, rdmacg_own.fd);
	EXPECT_EQ(0, IN_CHILD({
		if (cg_enter_current(tree->right) || rdmacg_act(RDMACG_SEND_MORE, 1) ||
		    rdmacg_act(RDMACG_RECEIVE, 0))
			_exit(1);
		_exit(rdmacg_act(RDMACG_MAP, 4096) == -EDQUOT ? 0 : 2);
	}));
	close(rdmacg_own.fd);
	close(sockets[0]);
	close(sockets[1]);
}

/*
 * A process with a limit can use RDS over TCP. This test is the last, because RDS over TCP stays
 * loaded and accepts each socket that RDS over RDMA refuses.
 */
TEST_F_TIMEOUT(test_rdmacg_rds, process_with_a_limit_has_tcp, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	if (!rdmacg_modprobe("rds_tcp"))
		SKIP(return, "there is no RDS over TCP");
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	EXPECT_EQ(RDS_TRANS_TCP, rdmacg_tell(&self->actor, RDMACG_TRANSPORT, 1));
	EXPECT_EQ(-ENOPROTOOPT, rdmacg_tell(&self->actor, RDMACG_BIND_IB, 1));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "max"));
	EXPECT_EQ(RDS_TRANS_IB, rdmacg_tell(&self->actor, RDMACG_TRANSPORT, 1));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_BIND_IB, 1));
}

TEST_HARNESS_MAIN
