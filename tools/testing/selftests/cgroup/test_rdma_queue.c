// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the kernel memory of a driver's queues under the RDMA cgroup controller. The tests need
 * root and one Soft-RoCE device.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define PAGE 4096

FIXTURE(test_rdmacg_queue) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
};

static long long rdmacg_queue_mem(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_value(tree, cgroup, "rdma.hw.current", "queue_mem");
}

/* The process of the test is in "left", with a context and a PD. */
FIXTURE_SETUP(test_rdmacg_queue)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (rdmacg_queue_mem(&self->tree, self->tree.left) < 0) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "%s does not count the memory of queues", self->tree.device);
	}
	ASSERT_TRUE(rdmacg_enter_and_open(&self->tree, self->tree.left,
					  &self->context, &self->pd)) TH_LOG("%m");
}

FIXTURE_TEARDOWN(test_rdmacg_queue)
{
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_queue_mem(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

/* A CQ is charged as whole pages, and a longer CQ is charged more. */
TEST_F(test_rdmacg_queue, longer_queue_costs_more)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *small = ibv_create_cq(self->context, 4, NULL, NULL, 0), *large;
	long long bytes = rdmacg_queue_mem(tree, tree->left);

	ASSERT_NE(NULL, small);
	EXPECT_LT(0, bytes);
	EXPECT_EQ(0, bytes % PAGE);
	large = ibv_create_cq(self->context, 4096, NULL, NULL, 0);
	ASSERT_NE(NULL, large);
	EXPECT_LT(2 * bytes, rdmacg_queue_mem(tree, tree->left));
	EXPECT_EQ(rdmacg_queue_mem(tree, tree->left), rdmacg_queue_mem(tree, tree->top));
	EXPECT_EQ(0, ibv_destroy_cq(large));
	EXPECT_EQ(bytes, rdmacg_queue_mem(tree, tree->left));
	EXPECT_EQ(0, ibv_destroy_cq(small));
}

/* Both queues of a QP are charged, and the queue of an SRQ is charged. */
TEST_F(test_rdmacg_queue, each_queue_of_an_object_counts)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *cq = ibv_create_cq(self->context, 4, NULL, NULL, 0);
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	long long bytes;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	ASSERT_NE(NULL, cq);
	bytes = rdmacg_queue_mem(tree, tree->left);
	qp = ibv_create_qp(self->pd, &init);
	ASSERT_NE(NULL, qp);
	EXPECT_LE(bytes + 2 * PAGE, rdmacg_queue_mem(tree, tree->left));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(bytes, rdmacg_queue_mem(tree, tree->left));
	srq = ibv_create_srq(self->pd, &srq_init);
	ASSERT_NE(NULL, srq);
	EXPECT_LT(bytes, rdmacg_queue_mem(tree, tree->left));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

/*
 * The limit refuses a queue before its memory is allocated. The queue has 2 GiB, and a machine with
 * less memory fails with ENOMEM if it tries to allocate them.
 */
TEST_F(test_rdmacg_queue, limit_answers_before_the_allocation)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *cq = ibv_create_cq(self->context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 1000000, .max_recv_wr = 1,
			.max_send_sge = 32, .max_recv_sge = 1,
		},
	};

	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.hw.max", "queue_mem=1073741824"));
	EXPECT_EQ(NULL, ibv_create_qp(self->pd, &init));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, rdmacg_queue_mem(tree, tree->left));
}

/*
 * The memory cgroup pays for a queue that is destroyed while a process maps it.
 * The process may be a forked child.
 */
TEST_F(test_rdmacg_queue, memory_cgroup_pays_for_a_mapped_queue)
{
	enum { LENGTH = 32768, BYTES = LENGTH * 64 };
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *cq;
	pid_t child;

	if (cg_write("/sys/fs/cgroup", "cgroup.subtree_control", "+memory") ||
	    cg_write(tree->top, "cgroup.subtree_control", "+memory"))
		SKIP(return, "there is no memory controller beside rdma");
	cq = ibv_create_cq(self->context, LENGTH - 1, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	child = rdmacg_fork();
	if (!child) {
		pause();
		_exit(0);
	}
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_LE(BYTES, cg_read_key_long(tree->left, "memory.stat", "kernel "));
	kill(child, SIGKILL);
	rdmacg_wait(child);
	EXPECT_GT(BYTES, cg_read_key_long(tree->left, "memory.stat", "kernel "));
}

/*
 * The new memory of a resized queue is charged before the old memory is freed, because both exist
 * for a moment.
 */
TEST_F(test_rdmacg_queue, new_length_is_charged_beside_the_old)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *cq = ibv_create_cq(self->context, 4, NULL, NULL, 0);
	long long bytes = rdmacg_queue_mem(tree, tree->left);
	int error;

	ASSERT_NE(NULL, cq);
	error = ibv_resize_cq(cq, 4096);
	ASSERT_EQ(0, error);
	EXPECT_EQ(bytes + rdmacg_queue_mem(tree, tree->left),
		  rdmacg_value(tree, tree->left, "rdma.hw.peak", "queue_mem"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.hw.max", "queue_mem=8192"));
	EXPECT_EQ(EAGAIN, ibv_resize_cq(cq, 8192));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

/* A queue stays charged to the cgroup in which it was created, even if its creator moves. */
TEST_F(test_rdmacg_queue, maker_of_a_queue_pays)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_cq *cq;

	ASSERT_EQ(0, cg_enter_current(tree->right));
	cq = ibv_create_cq(self->context, 4, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(0, rdmacg_queue_mem(tree, tree->left));
	ASSERT_EQ(0, cg_enter_current(tree->left));
	EXPECT_LT(0, rdmacg_queue_mem(tree, tree->right));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, rdmacg_queue_mem(tree, tree->right));
}

/* Create a queue with one completion on the second device. */
static struct ibv_cq *rdmacg_flush(const struct rdmacg_tree *second)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { }, *bad;
	struct ibv_context *context = rdmacg_open(second);
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	struct ibv_qp *qp = cq ? rdmacg_create_qp(pd, cq, IBV_QPT_RC) : NULL;

	if (!qp || ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS) ||
	    ibv_post_recv(qp, &wr, &bad) || ibv_modify_qp(qp, &error, IBV_QP_STATE))
		return NULL;
	/* The kernel does not report when it has flushed the receive. */
	sleep(1);
	return cq;
}

/* Remove the second device beside its CQ. Returns 0 if the completion remains, or an errno. */
static int rdmacg_outlive(struct rdmacg_tree *second)
{
	return IN_CHILD({
		struct ibv_cq *cq = rdmacg_flush(second);
		struct ibv_wc wc[2];

		if (!cq || system("rdma link del " RDMACG_SECOND " &"))
			_exit(EIO);
		if (!RDMACG_WAIT_FOR(rdmacg_objects(second, second->left) == -1))
			_exit(EBUSY);
		_exit(ibv_poll_cq(cq, 2, wc) == 1 ? 0 : ENOMSG);
	});
}

/* A program can read its completions after the device is removed. */
TEST_F_TIMEOUT(test_rdmacg_queue, completions_outlive_the_device, 60)
{
	struct rdmacg_tree second = self->tree;
	int error;

	if (!rdmacg_add_link() || !rdmacg_add_device(second.type)) {
		rdmacg_remove_link();
		SKIP(return, "ip and rdma make no second device");
	}
	snprintf(second.device, sizeof(second.device), RDMACG_SECOND);
	error = rdmacg_outlive(&second);
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_objects(&second, second.left) == -1));
	rdmacg_remove_link();
	if (error == EBUSY)
		SKIP(return, "the removal of a %s device waits for its processes", second.type);
	EXPECT_EQ(0, error);
}

TEST_HARNESS_MAIN
