// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a driver that refuses to destroy objects. The objects stay on the
 * device, so they stay charged until the device is removed. The tests need root,
 * ip and rdma of iproute2, and the module rdma_refuse.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define BYTES	8192

FIXTURE(test_rdmacg_refuse) {
	/* The device of the tree is the second device. */
	struct rdmacg_tree tree;
	/* Soft-iWARP has no multicast. */
	bool has_mcast;
	long taint;
};

/* One object of each type. The MR has two pages, and the QP is in a group. */
struct rdmacg_set {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
};

static int rdmacg_refuse(const char *value)
{
	return cg_write("/sys/module/rdma_refuse/parameters", "refuse", value);
}

/* Create a device that can refuse. Returns false without the module, or without a device. */
static bool rdmacg_add_refusing(struct rdmacg_tree *tree)
{
	system("$(cat /proc/sys/kernel/modprobe) rdma_refuse device=" RDMACG_SECOND " 2>/dev/null");
	if (rdmacg_refuse("N") || !rdmacg_add_link())
		return false;
	snprintf(tree->device, sizeof(tree->device), RDMACG_SECOND);
	return rdmacg_add_device(tree->type);
}

FIXTURE_SETUP(test_rdmacg_refuse)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	self->taint = rdmacg_taint();
	if (!rdmacg_add_refusing(&self->tree)) {
		rdmacg_remove_link();
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "there is no module rdma_refuse, or no second device");
	}
	self->has_mcast = !strcmp(self->tree.type, "rxe");
	ASSERT_EQ(0, rdmacg_refuse("Y"));
}

/* When the device is gone, its refusals have left neither a warning nor a removed cgroup. */
FIXTURE_TEARDOWN(test_rdmacg_refuse)
{
	EXPECT_EQ(0, rdmacg_refuse("N"));
	rdmacg_remove_link();
	EXPECT_EQ(0, cg_enter_current(self->tree.root));
	cg_destroy(self->tree.left);
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_has_dying(&self->tree)));
	EXPECT_EQ(self->taint, rdmacg_taint());
	rdmacg_tree_destroy(&self->tree);
}

/* Create the objects. Returns 0 or an errno. */
static int rdmacg_make(struct rdmacg_tree *tree, struct rdmacg_set *set)
{
	bool is_rxe = !strcmp(tree->type, "rxe");
	void *memory = aligned_alloc(4096, BYTES);

	if (!memory)
		return errno;
	*set = (struct rdmacg_set) { .context = rdmacg_open(tree) };
	if (set->context)
		set->pd = ibv_alloc_pd(set->context);
	if (set->pd)
		set->cq = ibv_create_cq(set->context, 1, NULL, NULL, 0);
	if (set->cq)
		set->mr = ibv_reg_mr(set->pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (set->mr)
		set->qp = rdmacg_create_qp(set->pd, set->cq, is_rxe ? IBV_QPT_UD : IBV_QPT_RC);
	if (!set->qp)
		return errno;
	return is_rxe ? rdmacg_attach(set->qp, 1) : 0;
}

/* Returns whether the cgroup is charged for @times the objects of a set. */
static bool rdmacg_pays(struct rdmacg_tree *tree, const char *cgroup, int times)
{
	static const char *const keys[] = { "pd", "cq", "qp", "mr" };
	long long mcast = rdmacg_verbs(tree, cgroup, "mcast");
	long long mem = rdmacg_verbs(tree, cgroup, "mr_mem");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (rdmacg_verbs(tree, cgroup, keys[i]) == times)
			continue;
		ksft_print_msg("%s: %s", cgroup, rdmacg_read(cgroup, "rdma.verb.current"));
		return false;
	}
	if (rdmacg_objects(tree, cgroup) == 4 * times && mem == BYTES * times &&
	    (mcast == times || mcast == -1))
		return true;
	ksft_print_msg("%s: hca_object=%lld mr_mem=%lld mcast=%lld\n", cgroup,
		       rdmacg_objects(tree, cgroup), mem, mcast);
	return false;
}

/* A process that can still destroy its objects pays for them until the driver destroys them. */
TEST_F_TIMEOUT(test_rdmacg_refuse, refused_object_is_charged_until_it_is_destroyed, 120)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdmacg_set set;

	ASSERT_EQ(0, cg_enter_current(tree->left));
	ASSERT_EQ(0, rdmacg_make(tree, &set));
	if (self->has_mcast)
		EXPECT_EQ(EBUSY, rdmacg_detach(set.qp, 1));
	EXPECT_EQ(EBUSY, ibv_dereg_mr(set.mr));
	EXPECT_EQ(EBUSY, ibv_destroy_qp(set.qp));
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(set.pd));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 1));
	ASSERT_EQ(0, rdmacg_refuse("N"));
	if (self->has_mcast)
		EXPECT_EQ(0, rdmacg_detach(set.qp, 1));
	EXPECT_EQ(0, ibv_dereg_mr(set.mr));
	EXPECT_EQ(0, ibv_destroy_qp(set.qp));
	EXPECT_EQ(0, ibv_destroy_cq(set.cq));
	EXPECT_EQ(0, ibv_dealloc_pd(set.pd));
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 0));
	EXPECT_EQ(0, ibv_close_device(set.context));
}

/* Create the objects in a process that ends. Returns 0 or an errno. */
static int rdmacg_leave_behind(struct rdmacg_tree *tree, const char *cgroup)
{
	return IN_CHILD({
		struct rdmacg_set set;

		_exit(cg_enter_current(cgroup) ?: rdmacg_make(tree, &set));
	});
}

/* The limits of a cgroup and of its parent count what its ended processes have left behind. */
TEST_F_TIMEOUT(test_rdmacg_refuse, objects_left_behind_stay_charged, 120)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 2));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, "mr_mem", 2 * BYTES));
	ASSERT_EQ(0, rdmacg_leave_behind(tree, tree->left));
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 1));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->left));
	ASSERT_EQ(0, rdmacg_leave_behind(tree, tree->left));
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 2));
	EXPECT_EQ(EAGAIN, rdmacg_leave_behind(tree, tree->right));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.verb.max", "mr_mem=max"));
	EXPECT_EQ(EAGAIN, rdmacg_leave_behind(tree, tree->left));
	EXPECT_EQ(0, cg_destroy(tree->left));
	EXPECT_EQ(tree->v2, rdmacg_has_dying(tree));
	EXPECT_EQ(2, rdmacg_verbs(tree, tree->top, "qp"));
	EXPECT_TRUE(rdmacg_remove_device());
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_has_dying(tree)));
	EXPECT_EQ(-1, rdmacg_verbs(tree, tree->top, "qp"));
}

/* Count the QPs of the device, also those of the kernel. Returns -1 on failure. */
static int rdmacg_count_qps(void)
{
	FILE *summary = popen("rdma resource show " RDMACG_SECOND, "r");
	char line[256] = "";
	char *qps;

	if (!summary)
		return -1;
	fgets(line, sizeof(line), summary);
	qps = strstr(line, " qp ");
	return pclose(summary) || !qps ? -1 : atoi(qps + strlen(" qp "));
}

/*
 * In a process without privileges, attach a QP twice to a group, with two LIDs, and end. Returns 0
 * or an errno.
 */
static int rdmacg_attack(struct rdmacg_tree *tree)
{
	return IN_CHILD({
		struct rdmacg_set set;
		int error = cg_enter_current(tree->left);

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(EPERM);
		error = error ?: rdmacg_make(tree, &set);
		if (!error && !strcmp(tree->type, "rxe"))
			error = rdmacg_attach_lid(set.qp, 1, 1);
		_exit(error);
	});
}

/* However often a process leaves a QP behind, its cgroup has no more of them than its limit. */
TEST_F_TIMEOUT(test_rdmacg_refuse, limit_bounds_what_is_left_behind, 240)
{
	struct rdmacg_tree *tree = &self->tree;
	int i, before = rdmacg_count_qps();

	ASSERT_LE(0, before);
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_handle=1 hca_object=4"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "qp=1"));
	if (self->has_mcast)
		ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mcast=2"));
	ASSERT_EQ(0, rdmacg_refuse("N"));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, rdmacg_attack(tree));
	EXPECT_EQ(before, rdmacg_count_qps());
	EXPECT_TRUE(rdmacg_pays(tree, tree->top, 0));
	ASSERT_EQ(0, rdmacg_refuse("Y"));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(i ? EAGAIN : 0, rdmacg_attack(tree));
	EXPECT_EQ(before + 1, rdmacg_count_qps());
	EXPECT_TRUE(rdmacg_pays(tree, tree->left, 1));
}

/*
 * A device also refuses while it is removed, and its process ends later. On some devices, the
 * removal waits until the process ends, because mapped queues keep the device open.
 */
TEST_F_TIMEOUT(test_rdmacg_refuse, device_goes_before_the_process, 120)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdmacg_set set;
	pid_t child = rdmacg_fork();
	bool is_gone;

	if (!child) {
		if (!cg_enter_current(tree->left) && !rdmacg_make(tree, &set))
			pause();
		_exit(1);
	}
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_objects(tree, tree->left) == 4));
	ASSERT_EQ(0, system("rdma link del " RDMACG_SECOND " &"));
	is_gone = RDMACG_WAIT_FOR(rdmacg_objects(tree, tree->left) == -1);
	kill(child, SIGKILL);
	ASSERT_EQ(-1, rdmacg_wait(child));
	ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_objects(tree, tree->left) == -1));
	if (!is_gone)
		SKIP(return, "the removal of a %s device waits for its processes", tree->type);
}

TEST_HARNESS_MAIN
