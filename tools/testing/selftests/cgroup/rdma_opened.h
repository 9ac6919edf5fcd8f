/* SPDX-License-Identifier: GPL-2.0 */
/* The fixture of the tests that begin with a context and a PD. */
#ifndef RDMA_OPENED_H
#define RDMA_OPENED_H

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

FIXTURE(rdmacg_opened) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
};

/*
 * The process of the test is in "left", with a context and a PD, which are one handle and one
 * object. No cgroup has a limit.
 */
FIXTURE_SETUP(rdmacg_opened)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_TRUE(rdmacg_enter_and_open(&self->tree, self->tree.left,
					  &self->context, &self->pd)) TH_LOG("%m");
	ASSERT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
	ASSERT_EQ(1, rdmacg_objects(&self->tree, self->tree.left));
}

FIXTURE_TEARDOWN(rdmacg_opened)
{
	/* Some tests have destroyed them. */
	if (self->pd)
		EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	if (self->context)
		EXPECT_EQ(0, ibv_close_device(self->context));
	EXPECT_EQ(0, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

#endif /* RDMA_OPENED_H */
