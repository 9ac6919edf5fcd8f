// SPDX-License-Identifier: GPL-2.0
/*
 * Registered memory under the RDMA cgroup controller: how much is charged, to whom,
 * which limits refuse it, and what a query of the device says of limits. Needs root
 * and one RDMA device.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define PAGE 4096

FIXTURE(test_rdmacg_mem) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
	char *memory;
};

/* The test's process sits in left, with a context, a PD and 16 pages to register. */
FIXTURE_SETUP(test_rdmacg_mem)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
	self->context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, self->context);
	self->pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, self->pd);
	self->memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	ASSERT_EQ(0, rdmacg_verbs(&self->tree, self->tree.left, "mr_mem"));
}

FIXTURE_TEARDOWN(test_rdmacg_mem)
{
	munmap(self->memory, 16 * PAGE);
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
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

/* Its length is charged, not its pages; in the owner and above. */
TEST_F(test_rdmacg_mem, length)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr[2];

	mr[0] = ibv_reg_mr(self->pd, self->memory, 3 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr[0]);
	EXPECT_EQ(3 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	mr[1] = ibv_reg_mr(self->pd, self->memory + 1, 1, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr[1]);
	EXPECT_EQ(3 * PAGE + 1, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(3 * PAGE + 1, rdmacg_verbs(tree, tree->top, "mr_mem"));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->right, "mr_mem"));
	EXPECT_EQ(2, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(3, rdmacg_objects(tree, tree->left));

	EXPECT_EQ(0, ibv_dereg_mr(mr[0]));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(0, ibv_dereg_mr(mr[1]));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(3 * PAGE + 1, rdmacg_value(tree, tree->top, "rdma.verb.peak", "mr_mem"));
}

/* Register two pages and give them back; 0 or the error. */
static int rdmacg_try_mr(struct ibv_pd *pd, void *memory, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	return mr ? ibv_dereg_mr(mr) : errno;
}

/* A byte short is refused, exactly enough is not; the smallest limit decides. */
TEST_F(test_rdmacg_mem, limits)
{
	static const struct {
		long long left, top;
		int error;
	} limits[] = {
		{ 2 * PAGE, RDMACG_NO_LIMIT - 1, 0 },
		{ 2 * PAGE - 1, RDMACG_NO_LIMIT - 1, EAGAIN },
		{ 2 * PAGE, 2 * PAGE - 1, EAGAIN },
		{ 2 * PAGE - 1, 2 * PAGE, EAGAIN },
		{ 2 * PAGE, 2 * PAGE, 0 },
		{ 1, 2 * PAGE, EAGAIN },
		{ 0, 2 * PAGE, EAGAIN },
	};
	struct rdmacg_tree *tree = &self->tree;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->left, limits[i].left));
		ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, limits[i].top));
		EXPECT_EQ(limits[i].error, rdmacg_try_mr(self->pd, self->memory, 2 * PAGE))
			TH_LOG("left %lld, top %lld", limits[i].left, limits[i].top);
		EXPECT_EQ(0, rdmacg_verbs(tree, tree->top, "mr_mem"));
	}
}

/* What is refused for its length was no object, in no peak, and no MR. */
TEST_F(test_rdmacg_mem, refusal_leaves_nothing)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, PAGE));
	EXPECT_EQ(EAGAIN, rdmacg_try_mr(self->pd, self->memory, PAGE + 1));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.peak", "hca_object"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->top, "rdma.verb.events", "mr_mem.max"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->top, "rdma.verb.events", "mr.max"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local",
				  "mr_mem.alloc_fail"));
}

/* The limit answers before the driver has looked at the memory. */
TEST_F(test_rdmacg_mem, charged_before_pages_are_pinned)
{
	struct rdmacg_tree *tree = &self->tree;
	int error;

	ASSERT_EQ(0, munmap(self->memory, 16 * PAGE));
	error = rdmacg_try_mr(self->pd, self->memory, PAGE);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("no memory there, and errno %d", error);
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->left, PAGE - 1));
	EXPECT_EQ(EAGAIN, rdmacg_try_mr(self->pd, self->memory, PAGE));
}

/* A length that no limit can express: the driver's matter without one, refused with. */
TEST_F(test_rdmacg_mem, endless)
{
	struct rdmacg_tree *tree = &self->tree;
	int error;

	error = rdmacg_try_mr(self->pd, NULL, SIZE_MAX);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("errno %d", error);
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, RDMACG_NO_LIMIT - 1));
	EXPECT_EQ(EAGAIN, rdmacg_try_mr(self->pd, NULL, SIZE_MAX));
	EXPECT_EQ(1, rdmacg_value(tree, tree->top, "rdma.verb.events", "mr_mem.max"));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
}

/*
 * The method REG_MR, which headers before Linux 6.18 do not know: the number of the
 * method, and those of its attributes. 0 or the error.
 */
static int rdmacg_reg_mr_by_ioctl(struct ibv_pd *pd, void *memory, __u64 length)
{
	enum { MR, PD, DMAH, IOVA, ADDR, LENGTH, ACCESS, FD, FD_OFFSET, LKEY, RKEY };
	__u64 address = (uintptr_t)memory;
	__u32 lkey, rkey;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[8];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = 5,
			.num_attrs = 8,
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
		},
	};

	return rdmacg_ioctl(pd->context->cmd_fd, &cmd.hdr);
}

/* Newer kernels have a second way to register memory; it costs the same. */
TEST_F(test_rdmacg_mem, reg_mr_by_ioctl)
{
	struct rdmacg_tree *tree = &self->tree;
	int error;

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->left, 3 * PAGE));
	error = rdmacg_reg_mr_by_ioctl(self->pd, self->memory, 2 * PAGE);
	if (error == EPROTONOSUPPORT)
		return;
	ASSERT_EQ(0, error);
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(2, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(EAGAIN, rdmacg_reg_mr_by_ioctl(self->pd, self->memory, PAGE + 1));
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));

	/* Closing the device ends it, and the PD: nothing else knows its handle. */
	EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	self->context = rdmacg_open(tree);
	ASSERT_NE(NULL, self->context);
	self->pd = ibv_alloc_pd(self->context);
}

/* Neither fork() nor another cgroup changes what is charged. */
TEST_F(test_rdmacg_mem, belongs_to_its_creator)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr = ibv_reg_mr(self->pd, self->memory, PAGE, 0);

	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, IN_CHILD({
		cg_enter_current(tree->right);
		_exit(rdmacg_verbs(tree, tree->left, "mr_mem") != PAGE ||
		      rdmacg_verbs(tree, tree->right, "mr_mem"));
	}));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	EXPECT_EQ(PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
}

/* As ibv_rereg_mr(), which not every provider of libibverbs has; 0 or the error. */
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

static int rdmacg_grow(struct ibv_mr *mr)
{
	return rdmacg_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, mr->pd, mr->addr,
			    2 * mr->length);
}

/*
 * Growth is charged first, to the owner, and given back where the driver refuses,
 * which Soft-RoCE does: it changes PDs and access only.
 */
TEST_F(test_rdmacg_mem, rereg)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr = ibv_reg_mr(self->pd, self->memory, 2 * PAGE, 0);
	struct ibv_pd *pd = ibv_alloc_pd(self->context);
	int error;

	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, pd);
	error = rdmacg_grow(mr);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("errno %d", error);
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(4 * PAGE, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));

	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->top, 4 * PAGE - 1));
	EXPECT_EQ(EAGAIN, rdmacg_grow(mr));
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local",
				  "mr_mem.alloc_fail"));

	/* It takes no second object and no memory, even where there is no room for any. */
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=0"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mr=0 mr_mem=0"));
	EXPECT_EQ(0, rdmacg_rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0));
	EXPECT_EQ(2 * PAGE, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(1, rdmacg_verbs(tree, tree->left, "mr"));
	EXPECT_EQ(3, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/* The owner pays for growth, also where a process of another cgroup asks. */
TEST_F(test_rdmacg_mem, rereg_by_another)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr = ibv_reg_mr(self->pd, self->memory, 2 * PAGE, 0);
	int error;

	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->right, 0));
	error = rdmacg_grow(mr);
	EXPECT_TRUE(error && error != EAGAIN) TH_LOG("errno %d", error);
	EXPECT_EQ(4 * PAGE, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->right, "rdma.verb.peak", "mr_mem"));
	ASSERT_EQ(0, rdmacg_limit_mem(tree, tree->left, 4 * PAGE - 1));
	EXPECT_EQ(EAGAIN, rdmacg_grow(mr));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/* Both forms of the query, as the current process sees them. */
static bool rdmacg_query(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex ex;

	if (ibv_query_device(context, &attr[0]) || ibv_query_device_ex(context, NULL, &ex))
		return false;
	attr[1] = ex.orig_attr;
	return true;
}

/* A query promises what the cgroup allows; the smallest limit on the way up. */
TEST_F(test_rdmacg_mem, query)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_device_attr device, attr[2];
	int i;

	ASSERT_EQ(0, ibv_query_device(self->context, &device));
	ASSERT_LT(1000, device.max_qp);
	EXPECT_EQ(device.max_qp, rdmacg_value(tree, tree->root, "rdma.capacity", "qp"));
	EXPECT_EQ(device.max_mr, rdmacg_value(tree, tree->root, "rdma.capacity", "mr"));

	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.verb.max",
				     "qp=70 srq=30 mr=20 mr_mem=8192"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "qp=90 pd=50 mr=10"));
	ASSERT_TRUE(rdmacg_query(self->context, attr));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(70, attr[i].max_qp);
		EXPECT_EQ(30, attr[i].max_srq);
		EXPECT_EQ(10, attr[i].max_mr);
		EXPECT_EQ(50, attr[i].max_pd);
		EXPECT_EQ(8192, attr[i].max_mr_size);
		EXPECT_EQ(device.max_cq, attr[i].max_cq);
		EXPECT_EQ(device.max_qp_wr, attr[i].max_qp_wr);
	}

	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_object=40"));
	ASSERT_TRUE(rdmacg_query(self->context, attr));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(40, attr[i].max_qp);
		EXPECT_EQ(40, attr[i].max_cq);
		EXPECT_EQ(40, attr[i].max_ah);
		EXPECT_EQ(40, attr[i].max_mw);
		EXPECT_EQ(30, attr[i].max_srq);
		EXPECT_EQ(10, attr[i].max_mr);
	}

	/* Another cgroup has other limits, and the device is what it was. */
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "max"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.verb.max", "max"));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_TRUE(rdmacg_query(self->context, attr));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(device.max_qp, attr[i].max_qp);
		EXPECT_EQ(device.max_mr_size, attr[i].max_mr_size);
	}
	EXPECT_EQ(device.max_qp, rdmacg_value(tree, tree->root, "rdma.capacity", "qp"));
}

TEST_HARNESS_MAIN
