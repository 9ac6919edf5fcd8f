// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a kernel user under the RDMA cgroup controller. The kernel user is the module of
 * samples/rdmacg, with the sizes of Lustre's o2iblnd. The module works with exactly the limits that
 * the formulas of o2iblnd give. The module fails or creates fewer connections if a limit is lower
 * by one, and returns every charge. The tests need root, an RDMA device with an IPv4 address, and
 * the module rdmacg_lnd.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_fault_util.h"
#include "rdma_lnd_util.h"

FIXTURE(test_rdmacg_lnd) {
	struct lnd_ends ends;
	struct rdmacg_failslab failslab;
};

FIXTURE_SETUP(test_rdmacg_lnd)
{
	const char *missing = lnd_ends_create(&self->ends);

	if (missing)
		SKIP(return, "%s", missing);
}

/* Check that no charge is left after both ends are closed. */
FIXTURE_TEARDOWN(test_rdmacg_lnd)
{
	rdmacg_failslab_end(&self->failslab);
	lnd_close(&self->ends.left);
	lnd_close(&self->ends.right);
	EXPECT_TRUE(lnd_uses_nothing(&self->ends.tree, self->ends.tree.top));
	lnd_ends_destroy(&self->ends);
}

/* The parameters of a node with one CPU partition. */
struct lnd_profile {
	int peer_credits;
	int credits;
	int conns;
	int fmr_pool_size;
};

static const struct lnd_profile lnd_default = { 8, 256, 1, 512 };
/* The values of Lustre for Omni-Path. */
static const struct lnd_profile lnd_opa = { 32, 1024, 4, 2048 };

static int lnd_set_profile(const struct lnd_profile *profile)
{
	return lnd_set("peer_credits", profile->peer_credits) ?:
	       lnd_set("credits", profile->credits) ?:
	       lnd_set("conns_per_peer", profile->conns) ?:
	       lnd_set("fmr_pool_size", profile->fmr_pool_size);
}

#define TRANSFERS	16
#define BYTES		65536

static int lnd_limit(struct rdmacg_tree *tree, const char *cgroup, int pd, int qp, int cq, int mr)
{
	char limits[128];

	snprintf(limits, sizeof(limits), "hca_handle=%d hca_object=%d", pd, pd + qp + cq + mr);
	if (rdmacg_limit(tree, cgroup, limits))
		return -1;
	snprintf(limits, sizeof(limits), "pd=%d qp=%d cq=%d mr=%d mr_mem=%d", pd, qp, cq, mr,
		 BYTES);
	return rdmacg_limit_in(tree, cgroup, "rdma.verb.max", limits);
}

/* Returns whether the end has @conns connections with the sizes that the formulas give. */
static bool lnd_has_sizes(int fd, int depth, int conns)
{
	int send = lnd_send_wrs(depth), recv = lnd_recv_wrs(depth);
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "conns=%d depth=%d send_wr=%d recv_wr=%d cqe=%d\n",
		 conns, depth, send, recv, send + recv);
	if (RDMACG_WAIT_FOR(strstr(lnd_read(fd), wanted)))
		return true;
	ksft_print_msg("wanted: %sgot: %s", wanted, lnd_read(fd));
	return false;
}

/* Send in one direction, and wait until the other end has received all messages. */
static bool lnd_moves(int from, int to)
{
	long long before = lnd_value(to, "received");

	return !lnd_say(from, "send %d %d", TRANSFERS, BYTES) &&
	       RDMACG_WAIT_FOR(lnd_value(to, "received") == before + TRANSFERS * BYTES);
}

/* Set exactly the limits that the formulas give, and check that both ends connect and move data. */
static void lnd_check_exact(struct __test_metadata *_metadata, struct lnd_ends *ends,
			    const struct lnd_profile *profile)
{
	int conns = profile->conns, mr = profile->fmr_pool_size;
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, lnd_set_profile(profile));
	ASSERT_EQ(0, lnd_limit(tree, tree->left, 1, conns, conns, mr));
	ASSERT_EQ(0, lnd_limit(tree, tree->right, 1, conns, conns, mr));
	ASSERT_EQ(0, lnd_join(ends));
	EXPECT_TRUE(lnd_has_sizes(ends->left, profile->peer_credits, conns));
	EXPECT_TRUE(lnd_has_sizes(ends->right, profile->peer_credits, conns));
	EXPECT_TRUE(lnd_moves(ends->left, ends->right));
	EXPECT_TRUE(lnd_moves(ends->right, ends->left));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, conns, mr));
	EXPECT_TRUE(lnd_uses(tree, tree->right, 1, conns, mr));
	EXPECT_TRUE(lnd_uses(tree, tree->top, 2, 2 * conns, 2 * mr));
}

LND_TEST(test_rdmacg_lnd, runs_at_exact_limits)
{
	lnd_check_exact(_metadata, &self->ends, &lnd_default);
}

LND_TEST(test_rdmacg_lnd, runs_at_exact_limits_of_the_profile_for_opa)
{
	lnd_check_exact(_metadata, &self->ends, &lnd_opa);
}

/* Each CPU partition has a pool of at least 256 MRs. */
LND_TEST(test_rdmacg_lnd, pools_are_kept_for_each_partition)
{
	struct rdmacg_tree *tree = &self->ends.tree;
	int mr = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 512 : 300;

	ASSERT_EQ(0, lnd_set("cpu_npartitions", 2));
	ASSERT_EQ(0, lnd_set("fmr_pool_size", 300));
	ASSERT_EQ(0, lnd_join(&self->ends));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, mr));
	EXPECT_EQ(0, lnd_say(self->ends.left, "send %d %d", TRANSFERS, BYTES));
}

/* --- limits that are one too low --- */

/*
 * Check that an end cannot listen without room for the PD and all MRs, and that no charge is left.
 */
static void lnd_check_no_listen(struct __test_metadata *_metadata, struct lnd_ends *ends,
				const char *key, int limit, const char *event)
{
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, key, limit - 1));
	EXPECT_EQ(EAGAIN, lnd_listen(ends, ends->left));
	EXPECT_TRUE(lnd_uses_nothing(tree, tree->top));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", event));
	EXPECT_EQ(0, lnd_read(ends->left)[0]);
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, key, limit));
	EXPECT_EQ(0, lnd_join(ends));
}

LND_TEST(test_rdmacg_lnd, one_mr_less_is_refused)
{
	lnd_check_no_listen(_metadata, &self->ends, "mr", 512, "mr.max");
}

/*
 * Check that there is no connection if one end has no room for a QP or CQ. The end that connects
 * gets EAGAIN if its own limit refuses, and ECONNREFUSED if the peer's limit refuses.
 */
static void lnd_check_no_connect(struct __test_metadata *_metadata, struct lnd_ends *ends,
				 const char *cgroup, const char *key, int error)
{
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 0));
	EXPECT_EQ(error, lnd_join(ends));
	EXPECT_EQ(0, lnd_value(ends->left, "conns"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 0, 512));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->right, 1, 0, 512)));
	EXPECT_EQ(ENOTCONN, lnd_say(ends->left, "send 1 4096"));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 1));
	EXPECT_EQ(0, lnd_connect(ends));
	EXPECT_EQ(0, lnd_say(ends->left, "send 1 4096"));
}

LND_TEST(test_rdmacg_lnd, one_qp_less_is_refused)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.left, "qp", EAGAIN);
}

LND_TEST(test_rdmacg_lnd, one_cq_less_is_refused_to_the_peer)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.right, "cq", ECONNREFUSED);
}

/*
 * Check that an end that wants several connections to a peer creates as many as the limit allows.
 */
static void lnd_check_fewer(struct __test_metadata *_metadata, struct lnd_ends *ends,
			    const char *cgroup, const char *key)
{
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, lnd_set("conns_per_peer", 4));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 3));
	EXPECT_EQ(0, lnd_join(ends));
	EXPECT_EQ(3, lnd_value(ends->left, "conns"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 3, 512));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->right, 1, 3, 512)));
	EXPECT_TRUE(lnd_moves(ends->left, ends->right));
}

LND_TEST(test_rdmacg_lnd, one_cq_less_of_the_peer_makes_one_connection_less)
{
	lnd_check_fewer(_metadata, &self->ends, self->ends.tree.right, "cq");
}

/* --- memory --- */

/* A transfer that exceeds the limit by one byte is refused, and a smaller transfer succeeds. */
LND_TEST(test_rdmacg_lnd, one_byte_less_is_refused)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", BYTES - 1));
	EXPECT_EQ(EAGAIN, lnd_say(self->ends.left, "send 1 %d", BYTES));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 512));
	EXPECT_EQ(0, lnd_say(self->ends.left, "send 1 %d", BYTES - 1));
	EXPECT_EQ(0, lnd_say(self->ends.right, "send 1 %d", BYTES));
}

/* --- failures --- */

/*
 * Connect again while the @nth allocation fails. Returns whether the interface is charged, and the
 * connection is charged only if it exists.
 */
static bool lnd_connect_without(struct lnd_ends *ends, int nth, bool *injected, bool *failed)
{
	int port = lnd_value(ends->right, "port");

	lnd_close(&ends->left);
	ends->left = lnd_open(&ends->tree, ends->tree.left);
	if (ends->left < 0 || lnd_listen(ends, ends->left) || rdmacg_fail_nth(nth))
		return false;
	*failed = lnd_say(ends->left, "connect %s %d", ends->address, port);
	*injected = rdmacg_end_fail_nth();
	return lnd_uses(&ends->tree, ends->tree.left, 1, !*failed, 512);
}

/* An attempt to connect without memory fails and returns every charge. */
LND_TEST(test_rdmacg_lnd, connection_without_memory_leaves_nothing)
{
	const char *missing = rdmacg_failslab_begin(&self->failslab);
	bool injected = true, failed;
	time_t end = time(NULL) + 90;
	int nth, refused = 0;

	if (missing)
		SKIP(return, "%s", missing);
	/* A failed page fault would end the test with SIGSEGV. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	/*
	 * Skip some of the later attempts, because a kernel with checkers needs a second for each.
	 */
	for (nth = 1; injected && nth < 500; nth += time(NULL) < end ? 1 : 10) {
		ASSERT_TRUE(lnd_connect_without(&self->ends, nth, &injected, &failed))
			TH_LOG("allocation %d", nth);
		refused += failed;
	}
	EXPECT_FALSE(injected);
	EXPECT_LT(0, refused);
}

/* --- commands --- */

LND_TEST(test_rdmacg_lnd, commands_are_checked)
{
	int left = self->ends.left;

	EXPECT_EQ(EINVAL, lnd_say(left, "nonsense"));
	EXPECT_EQ(EINVAL, lnd_say(left, "%s", ""));
	EXPECT_EQ(EINVAL, lnd_say(left, "send 0 4096"));
	EXPECT_EQ(EINVAL, lnd_say(left, "send 1 0"));
	EXPECT_EQ(EINVAL, lnd_say(left, "listen nowhere"));
	EXPECT_EQ(EADDRNOTAVAIL, lnd_say(left, "listen 0.0.0.0"));
	EXPECT_EQ(ENOTCONN, lnd_say(left, "connect %s 1", self->ends.address));
	EXPECT_EQ(ENOTCONN, lnd_say(left, "send 1 4096"));
	EXPECT_EQ(0, lnd_join(&self->ends));
	EXPECT_EQ(EISCONN, lnd_listen(&self->ends, left));
	EXPECT_EQ(EMSGSIZE, lnd_say(left, "send 1 %d", LND_FRAGS * 4096 + 1));
	EXPECT_EQ(0, lnd_say(left, "send 1 1048576"));
}

TEST_HARNESS_MAIN
