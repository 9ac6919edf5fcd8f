// SPDX-License-Identifier: GPL-2.0
/*
 * What the RDMA cgroup controller charges, to whom and until when: real verbs
 * objects on a real device (Soft-RoCE will do), through libibverbs. One claim a
 * test; needs root and one RDMA device.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

FIXTURE(test_rdmacg_verbs) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
};

/* The test's process sits in left, with a context and a PD: 1 handle, 1 object. */
FIXTURE_SETUP(test_rdmacg_verbs)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
	self->context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, self->context) TH_LOG("cannot open %s", self->tree.device);
	self->pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, self->pd);
	ASSERT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
	ASSERT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
}

FIXTURE_TEARDOWN(test_rdmacg_verbs)
{
	if (self->pd)
		EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	if (self->context)
		EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

/* Opening the device is charged as one handle, closing it uncharges. */
TEST_F(test_rdmacg_verbs, open_and_close)
{
	struct ibv_context *context = rdmacg_open(&self->tree);

	ASSERT_NE(NULL, context);
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_close_device(context));
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* The open after the last allowed one fails with EAGAIN and costs nothing. */
TEST_F(test_rdmacg_verbs, open_at_limit)
{
	struct ibv_context *context;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_handle=2"));
	context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, context);
	EXPECT_EQ(NULL, rdmacg_open(&self->tree));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_close_device(context));
	context = rdmacg_open(&self->tree);
	EXPECT_NE(NULL, context);
	EXPECT_EQ(0, ibv_close_device(context));
}

/* Objects behind a file descriptor are no hca_object. */
TEST_F(test_rdmacg_verbs, completion_channel_is_free)
{
	struct ibv_comp_channel *channel;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_object=1"));
	channel = ibv_create_comp_channel(self->context);
	ASSERT_NE(NULL, channel);
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

/*
 * GET_CONTEXT with a capability of fd -1, which is UVERBS_ATTR_GET_CONTEXT_FD_ARR.
 * A kernel that has it looks at it after the charge and fails with EBADF, one that
 * does not have it fails with EPROTONOSUPPORT.
 */
static int rdmacg_get_context_of_bad_fd(int fd)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_GET_CONTEXT,
			.num_attrs = 1,
		},
		.attr = {
			.attr_id = 2,
			.len = sizeof(int),
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = (__u32)-1,
		},
	};

	return rdmacg_ioctl(fd, &cmd.hdr);
}

/* An open that fails after the charge uncharges. */
TEST_F(test_rdmacg_verbs, failed_open_uncharges)
{
	int fd = rdmacg_open_file(&self->tree), error;

	ASSERT_LE(0, fd) TH_LOG("%m");
	error = rdmacg_get_context_of_bad_fd(fd);
	EXPECT_TRUE(error == EBADF || error == EPROTONOSUPPORT) TH_LOG("errno %d", error);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
	close(fd);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* A creation that the driver or the core refuses uncharges. */
TEST_F(test_rdmacg_verbs, failed_create_uncharges)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_sge = 1 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_device_attr attr;
	struct ibv_cq *cq;

	ASSERT_EQ(0, ibv_query_device(self->context, &attr));
	srq_init.attr.max_wr = attr.max_srq_wr + 1;
	EXPECT_EQ(NULL, ibv_create_srq(self->pd, &srq_init));
	EXPECT_EQ(NULL, ibv_create_cq(self->context, attr.max_cqe + 1, NULL, NULL, 0));
	EXPECT_EQ(NULL, ibv_reg_mr(self->pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));

	cq = ibv_create_cq(self->context, 1, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	init.send_cq = cq;
	init.recv_cq = cq;
	init.cap.max_send_wr = attr.max_qp_wr + 1;
	EXPECT_EQ(NULL, ibv_create_qp(self->pd, &init));
	EXPECT_EQ(2, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

/* One whose number cannot be told has been charged, and is given up before it is made. */
TEST_F(test_rdmacg_verbs, aborted_fd)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdmacg_alloc_async_event *cmd;
	long long used;

	cmd = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, cmd);
	ASSERT_EQ(0, rdmacg_alloc_async_event(self->context, cmd));
	EXPECT_EQ(0, close(cmd->attr.data));
	used = rdmacg_verbs(tree, tree->left, "async_event");
	ASSERT_EQ(0, mprotect(cmd, 4096, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->context->cmd_fd, RDMA_VERBS_IOCTL, cmd));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(used, rdmacg_verbs(tree, tree->left, "async_event"));
	munmap(cmd, 4096);
}

/* A parent's limit binds its children together. */
TEST_F(test_rdmacg_verbs, parent_limit)
{
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.top, "hca_object=2"));
	EXPECT_EQ(0, IN_CHILD({
		cg_enter_current(self->tree.right);
		_exit(ibv_alloc_pd(self->context) ? 0 : errno);
	})) TH_LOG("the object after the first was refused");
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.right));
	EXPECT_EQ(2, rdmacg_objects(&self->tree, self->tree.top));
	pd = ibv_alloc_pd(self->context);
	EXPECT_EQ(NULL, pd);
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(2, rdmacg_objects(&self->tree, self->tree.top));

	/* The other child's object goes with the context that it was made on. */
	ASSERT_EQ(0, ibv_dealloc_pd(self->pd));
	self->pd = NULL;
	EXPECT_EQ(0, ibv_close_device(self->context));
	self->context = NULL;
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.right));
}

/* The smaller of two limits on the way up decides. */
TEST_F(test_rdmacg_verbs, child_limit_below_parents)
{
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.top, "hca_object=10"));
	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_object=1"));
	EXPECT_EQ(NULL, ibv_alloc_pd(self->context));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.top));

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_object=2"));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/* A limit below the usage takes nothing away and refuses what is new. */
TEST_F(test_rdmacg_verbs, limit_below_usage)
{
	struct ibv_pd *pd[2];
	int i;

	for (i = 0; i < 2; i++) {
		pd[i] = ibv_alloc_pd(self->context);
		ASSERT_NE(NULL, pd[i]);
	}
	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_object=2"));
	EXPECT_EQ(3, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(NULL, ibv_alloc_pd(self->context));
	EXPECT_EQ(0, ibv_dealloc_pd(pd[1]));
	EXPECT_EQ(NULL, ibv_alloc_pd(self->context));
	EXPECT_EQ(0, ibv_dealloc_pd(pd[0]));
	pd[0] = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd[0]);
	EXPECT_EQ(0, ibv_dealloc_pd(pd[0]));
}

/* Create and destroy until told to stop; exit with 1 for each kind of result seen. */
static void rdmacg_worker(struct rdmacg_tree *tree, const char *cgroup, int stop)
{
	struct ibv_context *context;
	struct ibv_pd *pd[4] = { };
	int i, error = 0, made = 0, refused = 0;

	cg_enter_current(cgroup);
	context = rdmacg_open(tree);
	fcntl(stop, F_SETFL, O_NONBLOCK);
	while (context && !error && read(stop, &i, 1) < 0) {
		for (i = 0; i < 4; i++) {
			pd[i] = ibv_alloc_pd(context);
			if (pd[i])
				made++;
			else if (errno == EAGAIN)
				refused++;
			else
				error = errno;
		}
		for (i = 0; i < 4; i++)
			if (pd[i] && ibv_dealloc_pd(pd[i]))
				error = errno;
	}
	_exit(context && made && refused && !error ? 0 : 1);
}

/* Many processes at a limit: never above it, none starves, nothing is lost. */
TEST_F(test_rdmacg_verbs, concurrent_at_limit)
{
	enum { WORKERS = 4, LIMIT = 6, SECONDS = 5 };
	long long seen, above = 0, most = 0;
	pid_t workers[WORKERS];
	int stop[2], i, status;
	time_t end;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.top, "hca_object=6"));
	ASSERT_EQ(0, pipe(stop));
	for (i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (!workers[i]) {
			close(stop[1]);
			rdmacg_worker(&self->tree, i % 2 ? self->tree.left :
							   self->tree.right, stop[0]);
		}
	}
	for (end = time(NULL) + SECONDS; time(NULL) < end; usleep(100)) {
		seen = rdmacg_objects(&self->tree, self->tree.top);
		above += seen > LIMIT;
		most = seen > most ? seen : most;
	}
	close(stop[1]);
	for (i = 0; i < WORKERS; i++) {
		waitpid(workers[i], &status, 0);
		EXPECT_EQ(0, status) TH_LOG("worker %d failed or met no limit", i);
	}
	EXPECT_EQ(0, above) TH_LOG("usage was seen above the limit");
	EXPECT_EQ(LIMIT, most) TH_LOG("the limit was never reached");
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.right));
}

/* Get a context with write(2), and close it. Returns 0 or the error. */
static int rdmacg_try_context(struct rdmacg_tree *tree)
{
	int fd = rdmacg_open_file(tree), async_fd = -1, error;

	error = rdmacg_get_context(fd, &async_fd);
	if (async_fd >= 0)
		close(async_fd);
	close(fd);
	return error;
}

/* A context that is refused leaves no trace of the async_event that comes with it. */
TEST_F(test_rdmacg_verbs, refused_context_has_no_async_event)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, rdmacg_limit(tree, tree->right, "hca_handle=0"));
	EXPECT_EQ(EAGAIN, rdmacg_try_context(tree));
	EXPECT_EQ(0, rdmacg_value(tree, tree->right, "rdma.verb.peak", "async_event"));

	/* Nor does one that the other refuses keep anything. */
	ASSERT_EQ(0, rdmacg_limit(tree, tree->right, "max"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->right, "rdma.verb.max", "async_event=0"));
	EXPECT_EQ(EAGAIN, rdmacg_try_context(tree));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->right));

	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->right, "rdma.verb.max", "max"));
	EXPECT_EQ(0, rdmacg_try_context(tree));
	EXPECT_EQ(1, rdmacg_value(tree, tree->right, "rdma.peak", "hca_handle"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->right, "rdma.verb.peak", "async_event"));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->right));
}

TEST_HARNESS_MAIN
