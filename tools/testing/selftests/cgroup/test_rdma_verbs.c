// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of charges and refusals for verbs objects that libibverbs creates. The tests need root and
 * one RDMA device.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "rdma_opened.h"

/* From open to close, a context is charged as one handle and no object. */
TEST_F(rdmacg_opened, context_costs_a_handle)
{
	struct ibv_context *context = rdmacg_open(&self->tree);

	ASSERT_NE(NULL, context);
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_close_device(context));
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* An open above the limit fails with EAGAIN and leaves no charge. */
TEST_F(rdmacg_opened, open_at_the_limit_is_refused)
{
	struct ibv_context *context;

	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_handle=2"));
	context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, context);
	EXPECT_EQ(NULL, rdmacg_open(&self->tree));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_close_device(context));
}

/* The number of UVERBS_ATTR_GET_CONTEXT_FD_ARR, because older headers do not have it. */
#define GET_CONTEXT_FD_ARR	2
/* A valid number that no attribute has. */
#define GET_CONTEXT_UNKNOWN	31

/*
 * Create a context by ioctl, with -1 as the file descriptor in the attribute. Returns 0 or the
 * error.
 */
static int rdmacg_get_context_with(int fd, int attribute)
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
			.attr_id = attribute,
			.len = sizeof(int),
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = (__u32)-1,
		},
	};

	return rdmacg_ioctl(fd, &cmd.hdr);
}

/* An open that the kernel refuses as invalid leaves no charge. */
TEST_F(rdmacg_opened, invalid_open_is_not_charged)
{
	int fd = rdmacg_open_file(&self->tree);

	ASSERT_LE(0, fd) TH_LOG("%m");
	EXPECT_EQ(EPROTONOSUPPORT, rdmacg_get_context_with(fd, GET_CONTEXT_UNKNOWN));
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
	close(fd);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* A file with a context cannot get a second context, and only one context is charged. */
TEST_F(rdmacg_opened, second_context_of_a_file_costs_nothing)
{
	int fd = rdmacg_open_file(&self->tree), async_fd = -1, second_fd;

	ASSERT_LE(0, fd) TH_LOG("%m");
	ASSERT_EQ(0, rdmacg_get_context(fd, &async_fd));
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	EXPECT_EQ(EINVAL, rdmacg_get_context(fd, &second_fd));
	EXPECT_EQ(2, rdmacg_handles(&self->tree, self->tree.left));
	close(async_fd);
	close(fd);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/*
 * A context is uncharged if its open fails after the charge, for example because of a bad file
 * descriptor.
 */
TEST_F(rdmacg_opened, open_that_fails_late_uncharges)
{
	int fd = rdmacg_open_file(&self->tree), error;

	ASSERT_LE(0, fd) TH_LOG("%m");
	error = rdmacg_get_context_with(fd, GET_CONTEXT_FD_ARR);
	if (error == EPROTONOSUPPORT)
		SKIP(return, "the kernel knows no capabilities of contexts");
	EXPECT_EQ(EBADF, error);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
	close(fd);
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* An object is uncharged if the driver or the core refuses to create it. */
TEST_F(rdmacg_opened, failed_creation_uncharges)
{
	struct ibv_srq_init_attr init = { .attr = { .max_sge = 1 } };
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->context, &attr));
	init.attr.max_wr = attr.max_srq_wr + 1;
	EXPECT_EQ(NULL, ibv_create_srq(self->pd, &init));
	EXPECT_EQ(NULL, ibv_create_cq(self->context, attr.max_cqe + 1, NULL, NULL, 0));
	EXPECT_EQ(NULL, ibv_reg_mr(self->pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
}

/* A QP is uncharged if the driver refuses to create it, and its CQ stays charged. */
TEST_F(rdmacg_opened, failed_qp_uncharges_itself_only)
{
	struct ibv_cq *cq = ibv_create_cq(self->context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct ibv_device_attr attr;

	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, ibv_query_device(self->context, &attr));
	init.cap.max_send_wr = attr.max_qp_wr + 1;
	EXPECT_EQ(NULL, ibv_create_qp(self->pd, &init));
	EXPECT_EQ(2, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

/*
 * The kernel destroys and uncharges an object if it cannot copy the object's file descriptor to the
 * program.
 */
TEST_F(rdmacg_opened, aborted_fd_uncharges)
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

/*
 * Create and destroy four PDs again and again, until the other end of @stop is closed. Increment
 * @nr_limited when some PDs were created and some were refused at the limit. Exit with 1 if this
 * never happens, or if a call fails for another reason.
 */
static void rdmacg_work(struct rdmacg_tree *tree, const char *cgroup, int stop,
			atomic_int *nr_limited)
{
	struct ibv_context *context;
	struct ibv_pd *pd[4] = { };
	int i, error = 0, made = 0, refused = 0;
	bool is_limited = false;

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
		if (!is_limited && made && refused) {
			is_limited = true;
			(*nr_limited)++;
		}
	}
	_exit(is_limited && !error ? 0 : 1);
}

/*
 * Processes reach the limit and never exceed it, no process starves, and no charge is lost. A
 * process on an emulated machine can take many seconds to open the device.
 */
TEST_F_TIMEOUT(rdmacg_opened, processes_share_a_limit_exactly, 120)
{
	enum { WORKERS = 4, LIMIT = 6, SECONDS = 5, PATIENCE = 60 };
	struct rdmacg_tree *tree = &self->tree;
	long long seen, above = 0, most = 0;
	pid_t workers[WORKERS];
	time_t start = time(NULL);
	atomic_int *nr_limited;
	int stop[2], i, status;

	nr_limited = mmap(NULL, sizeof(*nr_limited), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, nr_limited);
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_object=6"));
	ASSERT_EQ(0, pipe(stop));
	for (i = 0; i < WORKERS; i++) {
		workers[i] = rdmacg_fork();
		if (!workers[i]) {
			close(stop[1]);
			rdmacg_work(tree, i % 2 ? tree->left : tree->right, stop[0],
				    nr_limited);
		}
	}
	while (time(NULL) < start + SECONDS ||
	       ((*nr_limited < WORKERS || most < LIMIT) && time(NULL) < start + PATIENCE)) {
		seen = rdmacg_objects(tree, tree->top);
		above += seen > LIMIT;
		most = seen > most ? seen : most;
		usleep(100);
	}
	close(stop[1]);
	for (i = 0; i < WORKERS; i++) {
		status = rdmacg_wait(workers[i]);
		EXPECT_EQ(0, status) TH_LOG("worker %d failed or met no limit", i);
	}
	EXPECT_EQ(0, above) TH_LOG("usage was seen above the limit");
	EXPECT_EQ(LIMIT, most) TH_LOG("the limit was never reached");
	EXPECT_EQ(1, rdmacg_objects(tree, tree->top));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->right));
}

/* Get a context in "right" with write(2), and close it. Returns 0 or the error. */
static int rdmacg_try_context(struct rdmacg_tree *tree)
{
	int fd, async_fd = -1, error;

	if (cg_enter_current(tree->right))
		return -1;
	fd = rdmacg_open_file(tree);
	error = rdmacg_get_context(fd, &async_fd);
	if (async_fd >= 0)
		close(async_fd);
	close(fd);
	return error;
}

/*
 * A context that write(2) creates is charged as a handle and as the async_event that the kernel
 * creates with it.
 */
TEST_F(rdmacg_opened, written_context_costs_an_async_event)
{
	struct rdmacg_tree *tree = &self->tree;

	EXPECT_EQ(0, rdmacg_try_context(tree));
	EXPECT_EQ(1, rdmacg_value(tree, tree->right, "rdma.peak", "hca_handle"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->right, "rdma.verb.peak", "async_event"));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->right));
}

/* No async_event stays charged if the limit of hca_handle refuses a context. */
TEST_F(rdmacg_opened, refused_handle_leaves_no_async_event)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->right, "hca_handle=0"));
	EXPECT_EQ(EAGAIN, rdmacg_try_context(tree));
	EXPECT_EQ(0, rdmacg_value(tree, tree->right, "rdma.verb.peak", "async_event"));
}

/* The hca_handle of a context is uncharged if the limit of async_event refuses the context. */
TEST_F(rdmacg_opened, refused_async_event_leaves_no_handle)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "async_event", 0));
	EXPECT_EQ(EAGAIN, rdmacg_try_context(tree));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->right));
}

TEST_HARNESS_MAIN
