// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the owner of the charges of a kernel user, which is samples/rdmacg. In the tests,
 * processes without privileges use the module, move, pass a file to others, and are killed. Cgroups
 * and devices are removed. The tests need root, an RDMA device with an IPv4 address, and the module
 * rdmacg_lnd. The tests that remove a device also need Soft-RoCE.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_lnd_util.h"

#define BYTES	65536
#define MRS	512

FIXTURE(test_rdmacg_lnd_owner) {
	struct lnd_ends ends;
	bool has_link;
};

FIXTURE_SETUP(test_rdmacg_lnd_owner)
{
	const char *missing = lnd_ends_create(&self->ends);

	if (missing)
		SKIP(return, "%s", missing);
}

FIXTURE_TEARDOWN(test_rdmacg_lnd_owner)
{
	lnd_close(&self->ends.left);
	lnd_close(&self->ends.right);
	EXPECT_TRUE(lnd_uses_nothing(&self->ends.tree, self->ends.tree.top));
	if (self->has_link)
		EXPECT_TRUE(rdmacg_remove_link());
	lnd_ends_destroy(&self->ends);
}

/* Drop all privileges. */
static bool lnd_drop(void)
{
	return !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534);
}

/* A process without privileges can open the file, and is charged. */
LND_TEST(test_rdmacg_lnd_owner, unprivileged_process_pays)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	lnd_close(&self->ends.left);
	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	EXPECT_EQ(EAGAIN, IN_CHILD({
		if (cg_enter_current(tree->left) || !lnd_drop())
			_exit(1);
		self->ends.left = open(LND_FILE, O_RDWR);
		_exit(lnd_listen(&self->ends, self->ends.left) ?: lnd_connect(&self->ends));
	}));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", "qp.max"));
	EXPECT_EQ(MRS, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses_nothing(tree, tree->left)));
}

/* The cgroup that opened the file is charged for the writes of other processes. */
LND_TEST(test_rdmacg_lnd_owner, opener_pays_for_who_writes)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	EXPECT_EQ(0, IN_CHILD({
		cg_enter_current(tree->right);
		_exit(lnd_join(&self->ends));
	}));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, MRS));
	EXPECT_TRUE(lnd_uses(tree, tree->right, 1, 1, MRS));
	EXPECT_EQ(0, lnd_say(self->ends.left, "send 1 %d", BYTES));
}

/* The objects of a kernel user and of a process share a limit. */
LND_TEST(test_rdmacg_lnd_owner, shares_limits_with_processes)
{
	struct rdmacg_tree *tree = &self->ends.tree;
	struct ibv_context *context;
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "pd", 2));
	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_TRUE(rdmacg_enter_and_open(tree, tree->left, &context, &pd)) TH_LOG("%m");
	EXPECT_EQ(2, rdmacg_verbs(tree, tree->left, "pd"));
	EXPECT_EQ(1 + MRS + 2 + 1, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(EAGAIN, errno);
	lnd_close(&self->ends.left);
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "pd"));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, ibv_close_device(context));
}

/* A process that is killed during a transfer leaves no charge. */
LND_TEST(test_rdmacg_lnd_owner, killed_process_leaves_nothing)
{
	struct rdmacg_tree *tree = &self->ends.tree;
	pid_t child;

	ASSERT_EQ(0, lnd_listen(&self->ends, self->ends.right));
	lnd_close(&self->ends.left);
	child = rdmacg_fork();
	if (!child) {
		cg_enter_current(tree->left);
		self->ends.left = open(LND_FILE, O_RDWR);
		lnd_listen(&self->ends, self->ends.left);
		lnd_connect(&self->ends);
		lnd_say(self->ends.left, "send 1000000 %d", BYTES);
		_exit(1);
	}
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_verbs(tree, tree->left, "mr_mem") > 0));
	EXPECT_TRUE(lnd_uses(tree, tree->left, 1, 1, MRS));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses_nothing(tree, tree->left)));
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->right, 1, 0, MRS)));
}

/* A transfer fails if the peer is closed during the transfer. */
LND_TEST(test_rdmacg_lnd_owner, other_end_goes)
{
	struct rdmacg_tree *tree = &self->ends.tree;
	pid_t child;
	int error;

	ASSERT_EQ(0, lnd_join(&self->ends));
	child = rdmacg_fork();
	if (!child) {
		lnd_close(&self->ends.right);
		_exit(lnd_say(self->ends.left, "send 1000000 %d", BYTES));
	}
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_verbs(tree, tree->left, "mr_mem") > 0));
	lnd_close(&self->ends.right);
	/* The connection ends during a transfer or between two transfers. */
	error = rdmacg_wait(child);
	EXPECT_TRUE(error == ECONNRESET || error == ENOTCONN);
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->left, 1, 0, MRS)));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(ENOTCONN, lnd_say(self->ends.left, "send 1 %d", BYTES));
}

/* The charges of a removed cgroup remain in its ancestors until the file is closed. */
LND_TEST(test_rdmacg_lnd_owner, removed_cgroup_pays_on_above)
{
	struct rdmacg_tree *tree = &self->ends.tree;

	ASSERT_EQ(0, lnd_join(&self->ends));
	ASSERT_EQ(0, rmdir(tree->left));
	EXPECT_TRUE(lnd_uses(tree, tree->top, 2, 2, 2 * MRS));
	EXPECT_EQ(0, lnd_say(self->ends.left, "send 4 %d", BYTES));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, "mr_mem", BYTES - 1));
	EXPECT_EQ(EAGAIN, lnd_say(self->ends.left, "send 1 %d", BYTES));
	lnd_close(&self->ends.left);
	EXPECT_TRUE(RDMACG_WAIT_FOR(lnd_uses(tree, tree->top, 1, 0, MRS)));
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_has_dying(tree)));
}

/* --- removal of a device --- */

#define ADDRESS	"198.51.100.1"

/* Connect both ends on a second device. */
static void lnd_join_on_second(struct __test_metadata *_metadata, struct lnd_ends *ends,
			       bool *has_link)
{
	bool is_made = rdmacg_add_link();

	*has_link = true;
	if (!is_made || system("ip address add " ADDRESS "/24 dev " RDMACG_LINK) ||
	    !rdmacg_add_device(ends->tree.type))
		SKIP(return, "no second device can be made");
	snprintf(ends->address, sizeof(ends->address), ADDRESS);
	snprintf(ends->tree.device, sizeof(ends->tree.device), RDMACG_SECOND);
	ASSERT_EQ(0, lnd_join(ends));
	EXPECT_TRUE(lnd_uses(&ends->tree, ends->tree.left, 1, 1, MRS));
}

/* The removal of a device ends its connections without waiting, and the files stay usable. */
LND_TEST(test_rdmacg_lnd_owner, device_goes_first)
{
	struct lnd_ends *ends = &self->ends;

	lnd_join_on_second(_metadata, ends, &self->has_link);
	ASSERT_TRUE(rdmacg_remove_device());
	EXPECT_EQ(-1, rdmacg_verbs(&ends->tree, ends->tree.left, "qp"));
	EXPECT_EQ(0, lnd_read(ends->left)[0]);
	EXPECT_EQ(ENOTCONN, lnd_say(ends->left, "send 1 %d", BYTES));
	EXPECT_EQ(ENODEV, lnd_listen(ends, ends->left));
	ASSERT_TRUE(rdmacg_add_device(ends->tree.type));
	EXPECT_EQ(0, rdmacg_verbs(&ends->tree, ends->tree.top, "mr"));
	EXPECT_EQ(0, lnd_join(ends));
	EXPECT_EQ(0, lnd_say(ends->left, "send 1 %d", BYTES));
	EXPECT_TRUE(lnd_uses(&ends->tree, ends->tree.left, 1, 1, MRS));
}

/* Transfers fail if the device is removed during the transfers. */
LND_TEST(test_rdmacg_lnd_owner, device_goes_during_transfers)
{
	struct lnd_ends *ends = &self->ends;
	int status;
	pid_t child;

	lnd_join_on_second(_metadata, ends, &self->has_link);
	child = rdmacg_fork();
	if (!child)
		_exit(lnd_say(ends->left, "send 1000000 %d", BYTES));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_verbs(&ends->tree, ends->tree.left, "mr_mem") > 0));
	ASSERT_TRUE(rdmacg_remove_device());
	status = rdmacg_wait(child);
	EXPECT_TRUE(status == ENODEV || status == ECONNRESET) TH_LOG("%d", status);
	EXPECT_EQ(-1, rdmacg_verbs(&ends->tree, ends->tree.left, "mr_mem"));
	ASSERT_TRUE(rdmacg_add_device(ends->tree.type));
	EXPECT_TRUE(lnd_uses_nothing(&ends->tree, ends->tree.top));
}

TEST_HARNESS_MAIN
