// SPDX-License-Identifier: GPL-2.0
/*
 * This test removes an RDMA device while a process has regions of RDS on it. It works with our
 * controller and with stock. It needs root, RDS over RDMA and Soft-RoCE as modules, and ip and rdma
 * of iproute2. The module of RDS stays loaded.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"

#include "rdma_rds_util.h"

FIXTURE(test_rdmacg_rds_unplug) {
	struct rdmacg_tree tree;
	struct rdmacg_actor actor;
	/*
	 * True if the removal of the device waits for ever. The teardown then does not try again.
	 */
	bool is_stuck;
};

FIXTURE_SETUP(test_rdmacg_rds_unplug)
{
	const char *missing = rdmacg_rds_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_TRUE(rdmacg_start_actor(&self->actor, self->tree.left, rdmacg_act));
}

FIXTURE_TEARDOWN(test_rdmacg_rds_unplug)
{
	rdmacg_end_actor(&self->actor);
	if (!self->is_stuck)
		rdmacg_remove_link();
	rdmacg_tree_destroy(&self->tree);
}

/* The removal of a device does not wait for a process that has a region. */
TEST_F_TIMEOUT(test_rdmacg_rds_unplug, device_goes_before_its_regions, 120)
{
	pid_t remover;

	ASSERT_TRUE(rdmacg_connect(&self->actor, 1));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_MAP, 4096));
	remover = rdmacg_fork();
	if (!remover)
		_exit(!rdmacg_remove_device());
	self->is_stuck = !RDMACG_WAIT_FOR(waitpid(remover, NULL, WNOHANG) == remover);
	ASSERT_FALSE(self->is_stuck);
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_FREE, 0));
}

TEST_HARNESS_MAIN
