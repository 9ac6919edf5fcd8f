// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of queries of a device under the RDMA cgroup controller. Both forms of the query report at
 * most the caller's limits. The tests need root and one RDMA device whose library does not size
 * tables by the answer, such as Soft-RoCE.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

FIXTURE(test_rdmacg_query) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	/* The answer without limits. */
	struct ibv_device_attr device;
};

/* A function that queries the device. It returns 0 or the error. */
FIXTURE_VARIANT(test_rdmacg_query) {
	int (*query)(struct ibv_context *context, struct ibv_device_attr *attr);
};

FIXTURE_VARIANT_ADD(test_rdmacg_query, plain) {
	.query = ibv_query_device,
};

static int rdmacg_query_extended(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex extended;
	int ret = ibv_query_device_ex(context, NULL, &extended);

	*attr = extended.orig_attr;
	return ret;
}

FIXTURE_VARIANT_ADD(test_rdmacg_query, extended) {
	.query = rdmacg_query_extended,
};

/* The process of the test is in "left", with a context. */
FIXTURE_SETUP(test_rdmacg_query)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
	self->context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, self->context) TH_LOG("%m");
	ASSERT_EQ(0, ibv_query_device(self->context, &self->device));
	ASSERT_LT(1000, self->device.max_qp);
}

FIXTURE_TEARDOWN(test_rdmacg_query)
{
	EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_handles(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

/*
 * Returns the smaller number. The device may have less than the limit, because Soft-iWARP does not
 * have some types.
 */
static int rdmacg_least(int limit, int stated)
{
	return limit < stated ? limit : stated;
}

/* Set limits of the verb class in "top". In "left", set some smaller and some larger limits. */
static void rdmacg_limit_types(struct __test_metadata *_metadata, struct rdmacg_tree *tree)
{
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.verb.max",
				     "qp=70 srq=30 mr=20 mr_mem=8192"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "qp=90 pd=50 mr=10"));
}

/* A query reports the smallest limit of a type in the cgroup and its ancestors. */
TEST_F(test_rdmacg_query, query_shows_the_smallest_limit_of_a_type)
{
	struct ibv_device_attr attr;

	rdmacg_limit_types(_metadata, &self->tree);
	ASSERT_EQ(0, variant->query(self->context, &attr));
	EXPECT_EQ(70, attr.max_qp);
	EXPECT_EQ(30, attr.max_srq);
	EXPECT_EQ(10, attr.max_mr);
	EXPECT_EQ(50, attr.max_pd);
	/*
	 * The limit of memory applies to a sum, so it does not change the largest size of a region.
	 */
	EXPECT_EQ(self->device.max_mr_size, attr.max_mr_size);
}

/* For each type, a query also reports at most the limit of hca_object. */
TEST_F(test_rdmacg_query, query_shows_the_limit_of_objects_for_each_type)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_device_attr attr;

	rdmacg_limit_types(_metadata, tree);
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_object=40"));
	ASSERT_EQ(0, variant->query(self->context, &attr));
	EXPECT_EQ(40, attr.max_qp);
	EXPECT_EQ(40, attr.max_cq);
	EXPECT_EQ(rdmacg_least(40, self->device.max_ah), attr.max_ah);
	EXPECT_EQ(rdmacg_least(40, self->device.max_mw), attr.max_mw);
	EXPECT_EQ(30, attr.max_srq);
	EXPECT_EQ(10, attr.max_mr);
}

/* A query reports the limits of the caller, not of the cgroup that opened the device. */
TEST_F(test_rdmacg_query, limits_are_those_of_the_caller)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_device_attr attr;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=40"));
	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "qp=90 mr_mem=8192"));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, variant->query(self->context, &attr));
	EXPECT_EQ(self->device.max_qp, attr.max_qp);
	EXPECT_EQ(self->device.max_mr_size, attr.max_mr_size);
}

TEST_HARNESS_MAIN
