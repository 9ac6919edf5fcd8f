// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of QPs that join and leave multicast groups. They work with our controller and with stock.
 * They need root and one RDMA device with multicast, such as Soft-RoCE.
 */
#define _GNU_SOURCE
#include <time.h>

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

FIXTURE(test_rdmacg_join) {
	struct rdmacg_tree tree;
	struct rdmacg_members members;
};

FIXTURE_SETUP(test_rdmacg_join)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (!rdmacg_make_members(&self->tree, self->tree.left, &self->members) ||
	    rdmacg_attach(self->members.qp[0], 1)) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "%s has no multicast", self->tree.device);
	}
	ASSERT_EQ(0, rdmacg_detach(self->members.qp[0], 1));
}

/*
 * Check that all objects can be destroyed. A QP cannot be destroyed if the kernel has lost its
 * group.
 */
FIXTURE_TEARDOWN(test_rdmacg_join)
{
	int i;

	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_destroy_qp(self->members.qp[i]));
	EXPECT_EQ(0, ibv_destroy_cq(self->members.cq));
	EXPECT_EQ(0, ibv_dealloc_pd(self->members.pd));
	EXPECT_EQ(0, ibv_close_device(self->members.context));
	rdmacg_tree_destroy(&self->tree);
}

/*
 * Many times, one QP joins a group while another QP leaves it. Each attached QP can be detached,
 * and no charge remains.
 */
TEST_F_TIMEOUT(test_rdmacg_join, concurrent_joins_and_leaves_keep_the_charge, 60)
{
	struct rdmacg_tree *tree = &self->tree;
	time_t end = time(NULL) + 3;
	char path[PATH_MAX];
	struct ibv_qp *qp;
	pid_t other;
	int lost = 0;

	other = rdmacg_fork();
	qp = self->members.qp[!other];
	while (!lost && time(NULL) < end)
		lost = rdmacg_attach(qp, 1) || rdmacg_detach(qp, 1);
	if (!other)
		_exit(lost);
	EXPECT_EQ(0, lost);
	EXPECT_EQ(0, rdmacg_wait(other));
	snprintf(path, sizeof(path), "%s/rdma.verb.current", tree->top);
	if (access(path, F_OK))
		return;
	EXPECT_GE(0, rdmacg_value(tree, tree->top, "rdma.verb.current", "mcast"));
}

/* Count the multicast addresses of all network devices. */
static int rdmacg_addresses(void)
{
	FILE *file = fopen("/proc/net/dev_mcast", "re");
	int c, lines = 0;

	if (!file)
		return -1;
	while ((c = fgetc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

/* The address of a group is removed each time the group becomes empty. */
TEST_F(test_rdmacg_join, group_takes_its_address_along)
{
	enum { GROUPS = 100 };
	int before = rdmacg_addresses();
	int i;

	if (before < 0)
		SKIP(return, "the kernel does not list multicast addresses");
	for (i = 2; i < 2 + GROUPS; i++) {
		ASSERT_EQ(0, rdmacg_attach(self->members.qp[0], i));
		EXPECT_LT(before, rdmacg_addresses());
		ASSERT_EQ(0, rdmacg_detach(self->members.qp[0], i));
	}
	EXPECT_EQ(before, rdmacg_addresses());
}

/*
 * A driver may know a group by its GID alone. A second LID must not make a second attachment that
 * the driver cannot detach, because the QP then exists until the next boot.
 */
TEST_F(test_rdmacg_join, group_has_one_lid)
{
	struct ibv_qp *qp = self->members.qp[0];

	ASSERT_EQ(0, rdmacg_attach_lid(qp, 1, 0));
	EXPECT_EQ(0, rdmacg_attach_lid(qp, 1, 1));
	EXPECT_EQ(0, rdmacg_detach(qp, 1));
	EXPECT_EQ(EINVAL, rdmacg_detach(qp, 1));
}

TEST_HARNESS_MAIN
