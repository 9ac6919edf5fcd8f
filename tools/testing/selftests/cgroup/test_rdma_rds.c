// SPDX-License-Identifier: GPL-2.0
/*
 * What RDS takes of an RDMA device for a process without privileges, under the RDMA cgroup
 * controller: connections and mapped memory. RDS keeps its connections until the device
 * goes, and opens them again with the next one, so each test has a device of its own, with
 * addresses. A connection to the own address has both ends here: 2 QPs and 4 CQs. Needs
 * root, RDS over RDMA and Soft-RoCE as modules, and ip and rdma of iproute2. The module of
 * RDS stays loaded.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include <sys/mman.h>
#include <time.h>

#include "rdma_fault_util.h"
#include "rdma_fd_util.h"
#include "rdma_rds_util.h"

/* What the kernel says, and where the bound is. */
#define RDMACG_NO_ROOM "waits for room in its RDMA cgroup"
#define RDMACG_REJECTED "rejected, dropping connection"
#define RDMACG_PEERS "waits for those of other peers to go"
#define RDMACG_MAX_PEERS "/sys/module/rds_rdma/parameters/max_peer_conns"

FIXTURE(test_rdmacg_rds) {
	struct rdmacg_tree tree;
	struct rdmacg_actor actor;
	struct rdmacg_actor other;
};

/* An actor sits in left; the test's process stays out. */
FIXTURE_SETUP(test_rdmacg_rds)
{
	const char *missing = rdmacg_rds_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	memcpy(self->tree.device, RDMACG_SECOND, sizeof(RDMACG_SECOND));
	ASSERT_TRUE(rdmacg_start_actor(&self->actor, self->tree.left, rdmacg_act));
}

static bool rdmacg_uses_nothing(struct rdmacg_tree *tree, const char *cgroup)
{
	return !rdmacg_verbs(tree, cgroup, "qp") && !rdmacg_verbs(tree, cgroup, "cq") &&
	       !rdmacg_verbs(tree, cgroup, "mr") && !rdmacg_verbs(tree, cgroup, "mr_mem");
}

/* The device takes the connections along. */
FIXTURE_TEARDOWN(test_rdmacg_rds)
{
	rdmacg_end_actor(&self->actor);
	rdmacg_end_actor(&self->other);
	EXPECT_TRUE(rdmacg_remove_link());
	rdmacg_tree_destroy(&self->tree);
}

/* Wait until @cgroup has so many of both ends of a connection. */
static bool rdmacg_has_conns(struct rdmacg_tree *tree, const char *cgroup, int conns)
{
	return RDMACG_WAIT_FOR(rdmacg_verbs(tree, cgroup, "qp") == 2 * conns &&
			       rdmacg_verbs(tree, cgroup, "cq") == 4 * conns);
}

static bool rdmacg_has_regions(struct rdmacg_tree *tree, const char *cgroup, int regions,
			       long long bytes)
{
	long long mr = rdmacg_verbs(tree, cgroup, "mr"), mem = rdmacg_verbs(tree, cgroup, "mr_mem");

	if (mr == regions && mem == bytes)
		return true;
	ksft_print_msg("mr=%lld mr_mem=%lld, wanted %d and %lld\n", mr, mem, regions, bytes);
	return false;
}

/* What RDS has counted on this machine; -1: it has no such counter. */
static long long rdmacg_rds_counter(const char *name)
{
	static struct rds_info_counter counters[256];
	socklen_t length = sizeof(counters);
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	int size = getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, counters, &length);
	unsigned int i;

	close(fd);
	for (i = 0; size == sizeof(counters[0]) && i < length / sizeof(counters[0]); i++)
		if (!strncmp((char *)counters[i].name, name, sizeof(counters[i].name)))
			return counters[i].value;
	return -1;
}

static long long rdmacg_refused(struct rdmacg_tree *tree, const char *key)
{
	return rdmacg_value(tree, tree->left, "rdma.verb.events.local", key);
}

/* Each type of service is a connection of its own; no object has an id in user space. */
TEST_F_TIMEOUT(test_rdmacg_rds, connection_is_charged_to_the_sender, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 2));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 2));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->left));
	EXPECT_TRUE(rdmacg_uses_nothing(tree, tree->right));
}

/* A sender who may have no QP gets none, and one later when it may: nothing is lost. */
TEST_F_TIMEOUT(test_rdmacg_rds, refused_connection_waits_for_room, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
	/* It has tried again. */
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "qp.max") >= 2));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "qp"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "cq"));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 2));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_RECEIVE, 0));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
}

/* With room for two connections the third one waits, and takes nothing. */
TEST_F_TIMEOUT(test_rdmacg_rds, connections_end_at_the_limit, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 4));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 2));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, 3));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "qp.max") >= 2));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 2));
	EXPECT_EQ(4, rdmacg_value(tree, tree->left, "rdma.verb.peak", "qp"));
}

/* A limit on CQs also refuses a connection's QP. */
TEST_F_TIMEOUT(test_rdmacg_rds, connection_without_cqs_has_no_qp, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "cq", 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "cq.max") >= 2));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "qp"));
}

/* Ten connections that try all the time do not fill the log. */
TEST_F_TIMEOUT(test_rdmacg_rds, refusals_do_not_flood_the_log, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	int tos, waits = rdmacg_logged(RDMACG_NO_ROOM), rejected = rdmacg_logged(RDMACG_REJECTED);
	time_t start = time(NULL), most;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 1));
	ASSERT_EQ(0, system("echo 200 >" RDMACG_MAX_DELAY));
	for (tos = 1; tos <= 10; tos++)
		ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, tos));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "qp.max") >= 50));
	/* Of each message ten in five seconds, which began at any time. */
	most = 10 * ((time(NULL) - start) / 5 + 2);
	EXPECT_GE(most, rdmacg_logged(RDMACG_NO_ROOM) - waits);
	EXPECT_GE(most, rdmacg_logged(RDMACG_REJECTED) - rejected);
	EXPECT_LT(0, rdmacg_logged(RDMACG_NO_ROOM));
	/* Whatever the tries took in between, they have given back. */
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 20));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 10));
}

/* The first sender pays for a connection, also when others use it and it has moved. */
TEST_F_TIMEOUT(test_rdmacg_rds, connection_stays_with_the_first_sender, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_TRUE(rdmacg_connect(&self->other, 1));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
	EXPECT_TRUE(rdmacg_uses_nothing(tree, tree->right));
	rdmacg_end_actor(&self->actor);
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
}

/* A process with room does not wait for the limit of the process that was refused before. */
TEST_F_TIMEOUT(test_rdmacg_rds, refused_connection_is_there_for_others, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "qp.max")));
	ASSERT_TRUE(rdmacg_connect(&self->other, 1));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->right, 1));
	EXPECT_TRUE(rdmacg_uses_nothing(tree, tree->left));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_RECEIVE, 0));
}

/* Also for one that has sent before, and whose own limit was raised meanwhile. */
TEST_F_TIMEOUT(test_rdmacg_rds, open_socket_waits_for_no_stranger, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "qp", 0));
	ASSERT_EQ(0, rdmacg_tell(&self->other, RDMACG_SEND, 1));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_value(tree, tree->right, "rdma.verb.events.local",
						 "qp.max")));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND, 1));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_refused(tree, "qp.max")));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "qp", 2));
	/* Who sends all the time does not pay again for a refusal of its own. */
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND_MORE, 3));
	ASSERT_EQ(0, rdmacg_tell(&self->other, RDMACG_SEND_MORE, 1));
	EXPECT_EQ(0, rdmacg_tell(&self->other, RDMACG_RECEIVE, 0));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->right, 1));
	EXPECT_TRUE(rdmacg_uses_nothing(tree, tree->left));
}

/* Two ends at two addresses: the one that the other opened is nobody's. */
TEST_F_TIMEOUT(test_rdmacg_rds, connection_of_a_peer_is_bounded, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	int told = rdmacg_logged(RDMACG_PEERS);

	ASSERT_EQ(0, system("echo 0 >" RDMACG_MAX_PEERS));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND_OTHER, 1));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_logged(RDMACG_PEERS) > told));
	ASSERT_EQ(0, system("echo 1 >" RDMACG_MAX_PEERS));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_verbs(tree, tree->left, "qp") == 1 &&
				    rdmacg_verbs(tree, tree->left, "cq") == 2));
	/* The other end is there, and the first one has to stay. */
	usleep(3000000);
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "qp"));
	EXPECT_EQ(0, system("echo 1024 >" RDMACG_MAX_PEERS));
}

/* A region is one MR and its bytes, until it is freed and its pages are unpinned. */
TEST_F_TIMEOUT(test_rdmacg_rds, region_is_charged_while_it_is_mapped, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 2, 4096 + MIB));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->left));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CLOSE, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_has_regions(tree, tree->left, 0, 0)));
}

/* EDQUOT, as EAGAIN would tell the process to wait for the connection. */
TEST_F_TIMEOUT(test_rdmacg_rds, region_is_refused_without_room, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 0));
	EXPECT_EQ(-EDQUOT, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
}

TEST_F_TIMEOUT(test_rdmacg_rds, regions_end_at_the_limit, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	int i;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 5));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_EQ(-EDQUOT, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 5, 5 * 4096));
}

TEST_F_TIMEOUT(test_rdmacg_rds, memory_ends_at_the_limit, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", MIB + 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
	EXPECT_EQ(-EDQUOT, rdmacg_tell(&self->actor, RDMACG_MAP, 4097));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 2, MIB + 4096));
}

/* RDS keeps a freed region's pages for a while, and unpins them though nobody asks for that. */
TEST_F_TIMEOUT(test_rdmacg_rds, freed_region_is_unmapped_soon, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_FREE, 0));
	/* The message that told of the key has it until it is acknowledged. */
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SEND_MORE, 40));
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_verbs(tree, tree->left, "mr")));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, MIB));
}

/* What is free is unpinned at once for who needs the room, in both of the device's pools. */
TEST_F_TIMEOUT(test_rdmacg_rds, limit_flushes_what_is_free, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	long long small, large;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	small = rdmacg_rds_counter("ib_rdma_mr_8k_pool_flush");
	large = rdmacg_rds_counter("ib_rdma_mr_1m_pool_flush");
	ASSERT_LE(0, small);
	ASSERT_EQ(-EDQUOT, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
	EXPECT_LT(small, rdmacg_rds_counter("ib_rdma_mr_8k_pool_flush"));
	EXPECT_LT(large, rdmacg_rds_counter("ib_rdma_mr_1m_pool_flush"));
}

/* A region whose key cannot be told to the process is freed at once. */
TEST_F_TIMEOUT(test_rdmacg_rds, failed_region_is_uncharged, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	EXPECT_EQ(-EFAULT, rdmacg_tell(&self->actor, RDMACG_MAP_BADLY, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CLOSE, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_has_regions(tree, tree->left, 0, 0)));
}

/* Who maps pays: a process that has moved, and a child with the socket of its parent. */
TEST_F_TIMEOUT(test_rdmacg_rds, region_is_charged_to_who_maps_it, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, 4096));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP_IN_CHILD, MIB));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 2 * 4096));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, 4096));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->right, 2, MIB + 2 * 4096));
}

/* A process that is killed gives its regions back, and keeps paying for connections. */
TEST_F_TIMEOUT(test_rdmacg_rds, killed_process_unmaps, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	rdmacg_end_actor(&self->actor);
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_has_regions(tree, tree->left, 0, 0)));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
}

/* A cgroup can be removed meanwhile; what it has counts above it, and its limits hold. */
TEST_F_TIMEOUT(test_rdmacg_rds, removed_cgroup_pays_on_above, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 2));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	ASSERT_EQ(0, rmdir(tree->left));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->top, 1));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->top, 1, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CLOSE, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_has_regions(tree, tree->top, 0, 0)));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->top, 1));
}

/* A device need not wait for processes that hold regions of it. */
TEST_F_TIMEOUT(test_rdmacg_rds, device_goes_before_its_regions, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, MIB));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_FREE, 0));
	ASSERT_EQ(0, system("timeout 20 rdma link del " RDMACG_SECOND));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_FREE, 0));
	/* The next device has its name, and nothing of its charges. */
	ASSERT_TRUE(rdmacg_add_device("rxe"));
	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 1, 4096));
}

/* A process that got the socket pays for what it maps with it. */
TEST_F_TIMEOUT(test_rdmacg_rds, receiver_of_a_socket_pays, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	int sockets[2];

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
		if (cg_enter_current(tree->right) || rdmacg_act(RDMACG_MAP, 4096))
			_exit(1);
	}));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->right, 1, 4096));
	EXPECT_TRUE(rdmacg_has_conns(tree, tree->left, 1));
	close(rdmacg_own.fd);
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_has_regions(tree, tree->right, 0, 0)));
}

/* Map memory with each allocation of that failing in turn. Returns how many attempts did. */
static int rdmacg_sweep_regions(void)
{
	bool injected = true;
	int nth, failed = 0;

	/* A page fault of the test that fails would end it with SIGSEGV. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 0;
	for (nth = 1; injected && nth < 1000; nth++) {
		rdmacg_own.nr_regions = 0;
		if (rdmacg_fail_nth(nth))
			return 0;
		failed += rdmacg_map_one(4096) ? 1 : 0;
		injected = rdmacg_end_fail_nth();
	}
	return injected ? 0 : failed;
}

/* Only the kernel's root may let allocations fail. */
TEST_F_TIMEOUT(test_rdmacg_rds, regions_without_memory_are_uncharged, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdmacg_failslab failslab = { };
	const char *missing;

	missing = rdmacg_failslab_begin(&failslab);
	if (missing)
		SKIP(return, "%s", missing);
	EXPECT_EQ(0, IN_CHILD({
		if (cg_enter_current(tree->left) || rdmacg_act(RDMACG_SEND, 1) ||
		    rdmacg_act(RDMACG_RECEIVE, 0) || !rdmacg_sweep_regions())
			_exit(1);
	}));
	rdmacg_failslab_end(&failslab);
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_verbs(tree, tree->left, "mr")));
	EXPECT_TRUE(rdmacg_has_regions(tree, tree->left, 0, 0));
	EXPECT_LT(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
}

TEST_HARNESS_MAIN
