// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of registered memory under the RDMA cgroup controller: its amount, its owner, and the
 * limits that refuse it. The tests need root and one RDMA device.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/resource.h>
#include <sys/mman.h>

#include "../kselftest_harness.h"
#include "rdma_actor_util.h"
#include "rdma_verbs_util.h"

#define PAGE 4096

FIXTURE(test_rdmacg_mem) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
	char *memory;
};

/* The process of the test is in "left", with a context, a PD and 16 pages to register. */
FIXTURE_SETUP(test_rdmacg_mem)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_TRUE(rdmacg_enter_and_open(&self->tree, self->tree.left,
					  &self->context, &self->pd)) TH_LOG("%m");
	self->memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	ASSERT_EQ(0, rdmacg_verbs(&self->tree, self->tree.left, "mr_mem"));
}

FIXTURE_TEARDOWN(test_rdmacg_mem)
{
	if (self->memory)
		munmap(self->memory, 16 * PAGE);
	if (self->pd)
		EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	if (self->context)
		EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_verbs(&self->tree, self->tree.top, "mr_mem"));
	EXPECT_EQ(0, rdmacg_verbs(&self->tree, self->tree.top, "mr"));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

static int rdmacg_limit_mem(struct rdmacg_tree *tree, const char *cgroup, long long bytes)
{
	return rdmacg_limit_verb(tree, cgroup, "mr_mem", bytes);
}

/*
 * An MR is charged for the pages that it pins, even for a single byte. The owner and its ancestors
 * are charged.
 */
TEST_F(test_rdmacg_mem, registration_costs_its_pages)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr[2];

	mr[0] = ibv_reg_mr(self->pd, self->memory, 3 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr[0]);
	EXPECT_EQ(3 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	mr[1] = ibv_reg_mr(self->pd, self->memory + 1, 1, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr[1]);
	EXPECT_EQ(4 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(4 * PAGE, rdmacg_verbs(tree, tree->top, "mr_mem"));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->right, "mr_mem"));
	EXPECT_EQ(0, ibv_dereg_mr(mr[0]));
	EXPECT_EQ(PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(0, ibv_dereg_mr(mr[1]));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* Register @length bytes, and deregister them. Returns 0 or the error. */
static int rdmacg_try_mr(struct ibv_pd *pd, void *memory, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	return mr ? ibv_dereg_mr(mr) : errno;
}

/*
 * Refused memory does not raise the peak of memory. The peak of objects may rise, because objects
 * are charged before the memory.
 */
TEST_F(test_rdmacg_mem, refusal_leaves_nothing)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, PAGE));
	EXPECT_EQ(EAGAIN, rdmacg_try_mr(self->pd, self->memory, PAGE + 1));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
}

/*
 * If the driver keeps queues in memory of the program, a CQ is charged for the pages of its queue,
 * and a limit refuses the CQ.
 */
TEST_F(test_rdmacg_mem, queue_of_the_program_costs_its_pages)
{
	struct ibv_cq *cq = ibv_create_cq(self->context, 1000, NULL, NULL, 0);
	struct rdmacg_tree *tree = &self->tree;
	long long bytes = rdmacg_verbs(tree, tree->left, "mr_mem");

	ASSERT_NE(NULL, cq);
	if (!bytes)
		SKIP(goto out, "the driver of %s keeps queues elsewhere", tree->device);
	EXPECT_LT(PAGE, bytes);
	EXPECT_EQ(0, bytes % PAGE);
	EXPECT_EQ(0, rdmacg_limit_mem(tree, tree->left, 2 * bytes - 1));
	EXPECT_EQ(NULL, ibv_create_cq(self->context, 1000, NULL, NULL, 0));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(bytes, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "cq"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events", "mr_mem.max"));
out:
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* A registration is uncharged if the driver finds no memory at the address. */
TEST_F(test_rdmacg_mem, failed_registration_uncharges)
{
	struct rdmacg_tree *tree = &self->tree;
	char *gone = self->memory;
	int error;

	ASSERT_EQ(0, munmap(gone, 16 * PAGE));
	self->memory = NULL;
	error = rdmacg_try_mr(self->pd, gone, PAGE);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("no memory there, and errno %d", error);
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
}

/* The limit refuses before the driver checks whether the memory exists. */
TEST_F(test_rdmacg_mem, limit_answers_before_pages_are_pinned)
{
	char *gone = self->memory;

	ASSERT_EQ(0, munmap(gone, 16 * PAGE));
	self->memory = NULL;
	ASSERT_EQ(0, rdmacg_limit_mem(&self->tree, self->tree.left, PAGE - 1));
	EXPECT_EQ(EAGAIN, rdmacg_try_mr(self->pd, gone, PAGE));
}

/* Register more memory than a process without privileges may lock. Returns the error. */
static int rdmacg_lock_too_much(struct rdmacg_tree *tree, char *memory)
{
	struct rlimit limit = { .rlim_cur = 2 * PAGE, .rlim_max = 2 * PAGE };
	struct ibv_context *context;
	struct ibv_pd *pd;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || !rdmacg_drop_privileges())
		return -1;
	context = rdmacg_open(tree);
	pd = context ? ibv_alloc_pd(context) : NULL;
	return pd ? rdmacg_try_mr(pd, memory, 3 * PAGE) : -1;
}

/* An MR that exceeds RLIMIT_MEMLOCK does not raise the peak. */
TEST_F(test_rdmacg_mem, locked_memory_is_checked_first)
{
	struct rdmacg_tree *tree = &self->tree;

	EXPECT_EQ(ENOMEM, IN_CHILD({ _exit(rdmacg_lock_too_much(tree, self->memory)); }));
	EXPECT_GE(2 * PAGE, rdmacg_value(tree, tree->top, "rdma.verb.peak", "mr_mem"));
}

/* Memory that ends beyond the address space is refused, and the controller counts no event. */
TEST_F(test_rdmacg_mem, impossible_length_is_refused_before_the_charge)
{
	struct rdmacg_tree *tree = &self->tree;
	int error;

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, 0));
	error = rdmacg_try_mr(self->pd, NULL, SIZE_MAX);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("errno %d", error);
	EXPECT_EQ(0, rdmacg_value(tree, tree->top, "rdma.verb.events", "mr_mem.max"));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
}

/* An on-demand region is charged from its registration on, although its pages are not pinned. */
TEST_F(test_rdmacg_mem, memory_on_demand_costs_its_pages)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->pd, self->memory + 1, PAGE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		SKIP(return, "the device has no memory on demand");
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, 3 * PAGE));
	EXPECT_EQ(NULL, ibv_reg_mr(self->pd, self->memory + 1, PAGE,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/*
 * Register memory with the method REG_MR. Older headers do not have the numbers of the method and
 * its attributes, so this function has them. The last two attributes are for data of drivers.
 * Returns 0 or the error.
 */
static int rdmacg_reg_mr_by_ioctl(struct ibv_pd *pd, void *memory, __u64 length)
{
	enum { MR, PD, DMAH, IOVA, ADDR, LENGTH, ACCESS, FD, FD_OFFSET, LKEY, RKEY };
	__u64 address = (uintptr_t)memory;
	__u32 lkey, rkey;
	__u64 driver;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[10];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = 5,
			.num_attrs = 10,
		},
		.attr = {
			{ .attr_id = MR, .flags = UVERBS_ATTR_F_MANDATORY },
			{ .attr_id = PD, .flags = UVERBS_ATTR_F_MANDATORY, .data = pd->handle },
			{ .attr_id = IOVA, .len = 8, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = address },
			{ .attr_id = ADDR, .len = 8, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = address },
			{ .attr_id = LENGTH, .len = 8, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = length },
			{ .attr_id = ACCESS, .len = 4, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = IBV_ACCESS_LOCAL_WRITE },
			{ .attr_id = LKEY, .len = 4, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)&lkey },
			{ .attr_id = RKEY, .len = 4, .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)&rkey },
			{ .attr_id = UVERBS_ATTR_UHW_IN, .len = 8 },
			{ .attr_id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = (uintptr_t)&driver },
		},
	};

	return rdmacg_ioctl(pd->context->cmd_fd, &cmd.hdr);
}

/* Close the context with all its objects, because libibverbs cannot destroy an MR of the ioctl. */
static int rdmacg_close(struct ibv_context **context, struct ibv_pd **pd)
{
	int ret = ibv_close_device(*context);

	*context = NULL;
	*pd = NULL;
	return ret;
}

/*
 * An MR that the ioctl creates has the same charge as an MR that write(2) creates, until it is
 * destroyed.
 */
TEST_F(test_rdmacg_mem, registration_by_ioctl_costs_the_same)
{
	struct rdmacg_tree *tree = &self->tree;
	int error = rdmacg_reg_mr_by_ioctl(self->pd, self->memory, 2 * PAGE);

	if (error == EPROTONOSUPPORT)
		SKIP(return, "the kernel registers no memory by ioctl");
	ASSERT_EQ(0, error);
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(2, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, rdmacg_close(&self->context, &self->pd));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* The limit also refuses an MR of the ioctl, and the refused MR leaves no charge. */
TEST_F(test_rdmacg_mem, registration_by_ioctl_is_refused_at_the_limit)
{
	struct rdmacg_tree *tree = &self->tree;
	int error;

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->left, 3 * PAGE));
	error = rdmacg_reg_mr_by_ioctl(self->pd, self->memory, 2 * PAGE);
	if (error == EPROTONOSUPPORT)
		SKIP(return, "the kernel registers no memory by ioctl");
	ASSERT_EQ(0, error);
	EXPECT_EQ(EAGAIN, rdmacg_reg_mr_by_ioctl(self->pd, self->memory, PAGE + 1));
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(0, rdmacg_close(&self->context, &self->pd));
}

/* fork() charges no memory to the child, even if the child is in another cgroup. */
TEST_F(test_rdmacg_mem, forked_child_does_not_pay)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr = ibv_reg_mr(self->pd, self->memory, PAGE, 0);

	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, IN_CHILD({
		cg_enter_current(tree->right);
		_exit(rdmacg_verbs(tree, tree->left, "mr_mem") != PAGE ||
		      rdmacg_verbs(tree, tree->right, "mr_mem"));
	}));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/*
 * Re-register an MR without ibv_rereg_mr(), because some providers of libibverbs do not have it.
 * Returns 0 or the error.
 */
static int rdmacg_rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, char *memory,
			size_t length)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr rereg;
	} cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.rereg = {
			.response = (uintptr_t)&resp,
			.mr_handle = mr->handle,
			.flags = flags,
			.start = (uintptr_t)memory,
			.length = length,
			.hca_va = (uintptr_t)memory,
			.pd_handle = pd->handle,
		},
	};

	return write(mr->context->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd) ? 0 : errno;
}

/*
 * Returns whether the device can re-register MRs. The error for a handle that belongs to no MR
 * shows this.
 */
static bool rdmacg_can_rereg(struct ibv_pd *pd)
{
	struct ibv_mr none = { .context = pd->context, .handle = -1 };

	return rdmacg_rereg(&none, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0) != EOPNOTSUPP;
}

#define NO_REREG	"the MRs of this device cannot change"

/* A second object is charged while a re-registration changes the PD, as in stock. */
TEST_F(test_rdmacg_mem, change_of_pd_needs_room_for_an_object)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr;
	struct ibv_pd *pd;

	if (!rdmacg_can_rereg(self->pd))
		SKIP(return, NO_REREG);
	mr = ibv_reg_mr(self->pd, self->memory, 2 * PAGE, 0);
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, pd);
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mr=1 mr_mem=0"));
	EXPECT_EQ(EAGAIN, rdmacg_rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mr=2"));
	EXPECT_EQ(0, rdmacg_rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0));
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(3, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_HARNESS_MAIN
