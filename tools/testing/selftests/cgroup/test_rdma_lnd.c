// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel user under the RDMA cgroup controller: the model of Lustre's o2iblnd in
 * samples/rdmacg. At the limits that o2iblnd's formulas say it runs; with one less it makes
 * do or is refused, and gives everything back. Needs root, an RDMA device with an IPv4
 * address, and the module rdmacg_lnd.
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

/* Whatever a test has done: without its ends, nothing is left. */
FIXTURE_TEARDOWN(test_rdmacg_lnd)
{
	rdmacg_failslab_end(&self->failslab);
	lnd_close(&self->ends.left);
	lnd_close(&self->ends.right);
	EXPECT_TRUE(lnd_uses_nothing(&self->ends.tree, self->ends.tree.top));
	lnd_ends_destroy(&self->ends);
}

/* What a node is set to, and what follows: MRs of one that has a single CPU partition. */
struct lnd_profile {
	int peer_credits;
	int credits;
	int concurrent_sends;
	int conns;
	int ntx;
	int fmr_pool_size;
	int map_on_demand;
	int mr;
};

static const struct lnd_profile lnd_default = { 8, 256, 0, 1, 512, 512, 1, 512 };
/* As Lustre ships it for Omni-Path. */
static const struct lnd_profile lnd_opa = { 32, 1024, 64, 4, 2048, 2048, 256, 2048 };

static int lnd_set_profile(const struct lnd_profile *profile)
{
	return lnd_set("peer_credits", profile->peer_credits) ?:
	       lnd_set("credits", profile->credits) ?:
	       lnd_set("concurrent_sends", profile->concurrent_sends) ?:
	       lnd_set("conns_per_peer", profile->conns) ?:
	       lnd_set("ntx", profile->ntx) ?:
	       lnd_set("fmr_pool_size", profile->fmr_pool_size) ?:
	       lnd_set("map_on_demand", profile->map_on_demand);
}

#define TRANSFERS	16
#define BYTES		65536

static int lnd_limit(struct rdmacg_tree *tree, const char *cgroup, int pd, int qp, int cq, int mr)
{
	char limits[128];

	snprintf(limits, sizeof(limits), "pd=%d qp=%d cq=%d mr=%d mr_mem=%d", pd, qp, cq, mr,
		 TRANSFERS * BYTES);
	return rdmacg_limit_in(tree, cgroup, "rdma.verb.max", limits);
}

/* Tell whether each connection of the end has the sizes of the formulas. */
static bool lnd_has_sizes(int fd, int depth, int frags, int conns)
{
	int send = lnd_send_wrs(depth, frags), recv = lnd_recv_wrs(depth), count = 0;
	const char *text = lnd_read(fd);
	char line[128];

	snprintf(line, sizeof(line), "depth=%d frags=%d send_wr=%d recv_wr=%d cqe=%d\n",
		 depth, frags, send, recv, send + recv);
	while ((text = strstr(text, line))) {
		count++;
		text++;
	}
	if (count == conns && lnd_count_conns(fd) == conns)
		return true;
	ksft_print_msg("wanted %d of %sgot:\n%s", conns, line, lnd_read(fd));
	return false;
}

/* At exactly the limits of the formulas on both ends, it connects and moves data. */
static void lnd_check_exact(struct __test_metadata *_metadata, struct lnd_ends *ends,
			    const struct lnd_profile *profile)
{
	struct rdmacg_tree *tree = &ends->tree;
	int conns = profile->conns, mr = profile->mr;

	ASSERT_EQ(0, lnd_set_profile(profile));
	ASSERT_EQ(0, lnd_limit(tree, tree->left, 1, conns, conns, mr));
	ASSERT_EQ(0, lnd_limit(tree, tree->right, 1, conns, conns, mr));
	ASSERT_EQ(0, lnd_join(ends));
	EXPECT_TRUE(lnd_has_sizes(ends->left, profile->peer_credits, LND_FRAGS, conns));
	EXPECT_TRUE(lnd_has_sizes(ends->right, profile->peer_credits, LND_FRAGS, conns));
	EXPECT_EQ(0, lnd_say(ends->left, "get %d %d", TRANSFERS, BYTES));
	EXPECT_EQ(0, lnd_say(ends->right, "get %d %d", TRANSFERS, BYTES));
	EXPECT_EQ(TRANSFERS * BYTES, lnd_value(ends->left, "received"));
	EXPECT_EQ(TRANSFERS * BYTES, lnd_value(ends->right, "received"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, conns, mr));
	EXPECT_TRUE(lnd_uses(tree, tree->right, 1, conns, mr));
	EXPECT_TRUE(lnd_uses(tree, tree->top, 2, 2 * conns, 2 * mr));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->top));
}

LND_TEST(test_rdmacg_lnd, runs_at_exact_limits)
{
	lnd_check_exact(_metadata, &self->ends, &lnd_default);
}

LND_TEST(test_rdmacg_lnd, runs_at_exact_limits_of_the_profile_for_opa)
{
	lnd_check_exact(_metadata, &self->ends, &lnd_opa);
}

/* Without limits, it needs no more than that. */
LND_TEST(test_rdmacg_lnd, peak_is_what_the_formulas_say)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, lnd_say(self->ends.left, "get %d %d", TRANSFERS, BYTES));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.peak", "pd"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.peak", "qp"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.peak", "cq"));
	EXPECT_EQ(512, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_EQ(TRANSFERS * BYTES, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->right, "rdma.verb.peak", "mr_mem"));
}

/* Each CPU partition has a pool of at least 256. */
LND_TEST(test_rdmacg_lnd, pools_are_kept_for_each_partition)
{
	struct rdmacg_tree *tree = &self->ends.tree;
	int mr = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 512 : 300;

	ASSERT_EQ(0, lnd_set("cpu_npartitions", 2));
	ASSERT_EQ(0, lnd_set("fmr_pool_size", 300));
	ASSERT_EQ(0, lnd_join(&self->ends));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, mr));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d %d", TRANSFERS, BYTES));
}

/* Pools smaller than a quarter of the transfers are refused, as by o2iblnd. */
LND_TEST(test_rdmacg_lnd, small_pools_are_invalid)
{
	ASSERT_EQ(0, lnd_set("ntx", 2048));
	ASSERT_EQ(0, lnd_set("fmr_pool_size", 511));
	EXPECT_EQ(EINVAL, lnd_listen(&self->ends, self->ends.left));
	EXPECT_TRUE(lnd_uses_nothing(&self->ends.tree, self->ends.tree.top));
	ASSERT_EQ(0, lnd_set("fmr_pool_size", 512));
	EXPECT_EQ(0, lnd_listen(&self->ends, self->ends.left));
}

/* --- one less --- */

/* Where PD or MRs are one short, the end does not begin, and has nothing. */
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

LND_TEST(test_rdmacg_lnd, one_pd_less_is_refused)
{
	lnd_check_no_listen(_metadata, &self->ends, "pd", 1, "pd.max");
}

LND_TEST(test_rdmacg_lnd, one_mr_less_is_refused)
{
	lnd_check_no_listen(_metadata, &self->ends, "mr", 512, "mr.max");
}

/*
 * Where a QP or CQ is one short on either end, there is no connection. Who asks is told
 * EAGAIN by the own cgroup, and that the other end refuses by the other one.
 */
static void lnd_check_no_connect(struct __test_metadata *_metadata, struct lnd_ends *ends,
				 const char *cgroup, const char *key, int error)
{
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 0));
	EXPECT_EQ(error, lnd_join(ends));
	EXPECT_EQ(0, lnd_count_conns(ends->left));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 0, 512));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->right, 1, 0, 512)));
	EXPECT_EQ(ENOTCONN, lnd_say(ends->left, "get 1 4096"));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 1));
	EXPECT_EQ(0, lnd_connect(ends));
	EXPECT_EQ(0, lnd_say(ends->left, "get 1 4096"));
}

LND_TEST(test_rdmacg_lnd, one_qp_less_is_refused)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.left, "qp", EAGAIN);
}

LND_TEST(test_rdmacg_lnd, one_cq_less_is_refused)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.left, "cq", EAGAIN);
}

LND_TEST(test_rdmacg_lnd, one_qp_less_is_refused_to_the_peer)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.right, "qp", ECONNREFUSED);
}

LND_TEST(test_rdmacg_lnd, one_cq_less_is_refused_to_the_peer)
{
	lnd_check_no_connect(_metadata, &self->ends, self->ends.tree.right, "cq", ECONNREFUSED);
}

/* Of several connections to a peer, those are made for which there is room. */
static void lnd_check_fewer(struct __test_metadata *_metadata, struct lnd_ends *ends,
			    const char *cgroup, const char *key)
{
	struct rdmacg_tree *tree = &ends->tree;

	ASSERT_EQ(0, lnd_set("conns_per_peer", 4));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, cgroup, key, 3));
	EXPECT_EQ(0, lnd_join(ends));
	EXPECT_EQ(3, lnd_count_conns(ends->left));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 3, 512));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->right, 1, 3, 512)));
	EXPECT_EQ(0, lnd_say(ends->left, "get %d %d", TRANSFERS, BYTES));
}

LND_TEST(test_rdmacg_lnd, one_qp_less_makes_one_connection_less)
{
	lnd_check_fewer(_metadata, &self->ends, self->ends.tree.left, "qp");
}

LND_TEST(test_rdmacg_lnd, one_cq_less_of_the_peer_makes_one_connection_less)
{
	lnd_check_fewer(_metadata, &self->ends, self->ends.tree.right, "cq");
}

/* --- pools that grow --- */

#define GROWN	300

static int lnd_set_growing(void)
{
	return lnd_set("ntx", 1024) ?: lnd_set("fmr_pool_size", 256);
}

/* A pool that has none left gets a second one of the same size, where there is room for it. */
LND_TEST(test_rdmacg_lnd, pool_grows_at_the_exact_limit)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_set_growing());
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 512));
	ASSERT_EQ(0, lnd_join(&self->ends));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 256));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d 4096", GROWN));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 512));
	EXPECT_TRUE(lnd_uses(tree, tree->right, 1, 1, 256));
	EXPECT_EQ(GROWN * 4096, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
}

/* With one less the pool stays as it is, and as many transfers as it has go at a time. */
LND_TEST(test_rdmacg_lnd, one_mr_less_keeps_the_pool)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_set_growing());
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 511));
	ASSERT_EQ(0, lnd_join(&self->ends));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d 4096", GROWN));
	EXPECT_EQ(GROWN * 4096, lnd_value(self->ends.left, "received"));
	EXPECT_EQ(256, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_EQ(256 * 4096, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_LE(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", "mr.max"));
}

/* A pool that is idle for long is freed, except the first pool. */
LND_TEST(test_rdmacg_lnd, idle_pool_goes)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_set_growing());
	ASSERT_EQ(0, lnd_join(&self->ends));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d 4096", GROWN));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get 1 4096"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 512));
	ASSERT_EQ(0, lnd_set("pool_deadline", 0));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get 1 4096"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 256));
}

/* --- memory --- */

/* Memory counts while the other end can reach it: at the limit, one transfer waits for another. */
LND_TEST(test_rdmacg_lnd, memory_limit_lets_transfers_wait)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", 2 * BYTES));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d %d", TRANSFERS, BYTES));
	EXPECT_EQ(TRANSFERS * BYTES, lnd_value(self->ends.left, "received"));
	EXPECT_EQ(2 * BYTES, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* So do those that all have been used before. */
LND_TEST(test_rdmacg_lnd, memory_limit_lets_used_transfers_wait)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, lnd_say(self->ends.left, "get %d %d", 600, BYTES));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", 2 * BYTES));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d %d", TRANSFERS, BYTES));
	EXPECT_EQ((600 + TRANSFERS) * BYTES, lnd_value(self->ends.left, "received"));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* One byte less than one transfer is refused, and the end works on. */
LND_TEST(test_rdmacg_lnd, one_byte_less_is_refused)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", BYTES - 1));
	EXPECT_EQ(EAGAIN, lnd_say(self->ends.left, "get 1 %d", BYTES));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, 512));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get 1 %d", BYTES - 1));
	EXPECT_EQ(0, lnd_say(self->ends.right, "get 1 %d", BYTES));
}

/* --- what the ends agree on --- */

/* One that asks for more than the other end has gets what that has, and pays once. */
LND_TEST(test_rdmacg_lnd, greater_depth_shrinks)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_limit(tree, tree->left, 1, 1, 1, 512));
	ASSERT_EQ(0, lnd_limit(tree, tree->right, 1, 1, 1, 512));
	ASSERT_EQ(0, lnd_set("peer_credits", 9));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.left));
	ASSERT_EQ(0, lnd_set("peer_credits", 8));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	ASSERT_EQ(0, lnd_connect(&self->ends));
	EXPECT_TRUE(lnd_has_sizes(self->ends.left, 8, LND_FRAGS, 1));
	EXPECT_TRUE(lnd_has_sizes(self->ends.right, 8, LND_FRAGS, 1));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get %d %d", TRANSFERS, BYTES));
}

/* A smaller depth is taken as it is. */
LND_TEST(test_rdmacg_lnd, smaller_depth_is_taken)
{
	ASSERT_EQ(0, lnd_set("peer_credits", 16));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	ASSERT_EQ(0, lnd_set("peer_credits", 8));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.left));
	ASSERT_EQ(0, lnd_connect(&self->ends));
	EXPECT_TRUE(lnd_has_sizes(self->ends.left, 8, LND_FRAGS, 1));
	EXPECT_TRUE(lnd_has_sizes(self->ends.right, 8, LND_FRAGS, 1));
}

/* An end of Lustre 2.15 and later meets one of 2.14, which has a fragment less. */
LND_TEST(test_rdmacg_lnd, greater_frags_shrink)
{
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.left));
	ASSERT_EQ(0, lnd_set("max_frags", 256));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	ASSERT_EQ(0, lnd_connect(&self->ends));
	EXPECT_TRUE(lnd_has_sizes(self->ends.left, 8, 256, 1));
	EXPECT_TRUE(lnd_has_sizes(self->ends.right, 8, 256, 1));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get 1 1048576"));
}

/* Both at once take two refusals. */
LND_TEST(test_rdmacg_lnd, depth_and_frags_shrink)
{
	ASSERT_EQ(0, lnd_set("peer_credits", 32));
	ASSERT_EQ(0, lnd_set("conns_per_peer", 2));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.left));
	ASSERT_EQ(0, lnd_set("peer_credits", 8));
	ASSERT_EQ(0, lnd_set("max_frags", 64));
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	ASSERT_EQ(0, lnd_connect(&self->ends));
	EXPECT_TRUE(lnd_has_sizes(self->ends.left, 8, 64, 2));
	EXPECT_EQ(EMSGSIZE, lnd_say(self->ends.left, "get 1 %d", 64 * 4096 + 1));
	EXPECT_EQ(0, lnd_say(self->ends.left, "get 1 %d", 64 * 4096));
}

/* Find the newest thread of the module; -1: there is none. */
static pid_t lnd_find_thread(void)
{
	char path[NAME_MAX + 16], name[32];
	struct dirent *entry;
	pid_t found = -1;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) > found && read_text(path, name, sizeof(name)) > 0 &&
		    !strcmp(name, "rdmacg_lnd\n"))
			found = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Connect anew, with the @nth allocation of the left end's thread failing. Returns the
 * depth of the connection; 0 if there is none; -1 if something is left of that.
 */
static int lnd_connect_without(struct lnd_ends *ends, int nth, bool *injected)
{
	char path[64], text[16];
	int ret, depth = 0;

	lnd_close(&ends->left);
	ends->left = lnd_open(&ends->tree, ends->tree.left);
	if (ends->left < 0 || lnd_listen(ends, ends->left))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", lnd_find_thread());
	snprintf(text, sizeof(text), "%d", nth);
	if (rdmacg_write(path, text))
		return -1;
	ret = lnd_connect(ends);
	*injected = read_text(path, text, sizeof(text)) > 0 && !atoi(text);
	rdmacg_write(path, "0");
	if (ret)
		return lnd_uses(&ends->tree, ends->tree.left, 1, 0, 512) ? 0 : -1;
	depth = lnd_value(ends->left, "depth");
	return lnd_uses(&ends->tree, ends->tree.left, 1, 1, 512) ? depth : -1;
}

/*
 * A device that lacks memory for a queue pair gets a smaller one, as with o2iblnd; whatever
 * else lacks memory ends the attempt, and gives everything back.
 */
LND_TEST(test_rdmacg_lnd, depth_shrinks_without_memory)
{
	const char *missing = rdmacg_failslab_begin(&self->failslab);
	int nth, depth, shrunk = 0, refused = 0;
	time_t end = time(NULL) + 90;
	bool injected = true;

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	/* A kernel with checkers takes a second for each: then some of the later ones only. */
	for (nth = 1; injected && nth < 500; nth += time(NULL) < end ? 1 : 10) {
		depth = lnd_connect_without(&self->ends, nth, &injected);
		ASSERT_LE(0, depth) TH_LOG("allocation %d", nth);
		ASSERT_TRUE(depth == 0 || depth == 7 || depth == 8) TH_LOG("%d", depth);
		shrunk += depth == 7;
		refused += !depth;
	}
	EXPECT_FALSE(injected);
	EXPECT_LT(0, shrunk);
	EXPECT_LT(0, refused);
}

/* --- commands --- */

LND_TEST(test_rdmacg_lnd, commands_are_checked)
{
	int left = self->ends.left;

	EXPECT_EQ(EINVAL, lnd_say(left, "nonsense"));
	EXPECT_EQ(EINVAL, lnd_say(left, "%s", ""));
	EXPECT_EQ(EINVAL, lnd_say(left, "get 0 4096"));
	EXPECT_EQ(EINVAL, lnd_say(left, "get 1 0"));
	EXPECT_EQ(EINVAL, lnd_say(left, "listen nowhere"));
	EXPECT_EQ(EADDRNOTAVAIL, lnd_say(left, "listen 0.0.0.0"));
	EXPECT_EQ(ENOTCONN, lnd_say(left, "connect %s 1", self->ends.address));
	EXPECT_EQ(ENOTCONN, lnd_say(left, "get 1 4096"));
	EXPECT_EQ(0, lnd_join(&self->ends));
	EXPECT_EQ(EISCONN, lnd_listen(&self->ends, left));
	EXPECT_EQ(EISCONN, lnd_connect(&self->ends));
	EXPECT_EQ(EMSGSIZE, lnd_say(left, "get 1 %d", LND_FRAGS * 4096 + 1));
	EXPECT_EQ(0, lnd_say(left, "get 1 1048576"));
}

/* Where nobody listens, nothing is left. */
LND_TEST(test_rdmacg_lnd, nobody_listens)
{
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.left));
	EXPECT_EQ(ECONNREFUSED, lnd_say(self->ends.left, "connect %s 1", self->ends.address));
	EXPECT_TRUE(lnd_uses(&self->ends.tree, self->ends.tree.left, 1, 0, 512));
}

TEST_HARNESS_MAIN
