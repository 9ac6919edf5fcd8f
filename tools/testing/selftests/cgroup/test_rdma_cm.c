// SPDX-License-Identifier: GPL-2.0
/*
 * Identifiers of the RDMA connection manager under the RDMA cgroup controller: they
 * are charged to their creator while they are bound to a device. Needs root and an
 * RDMA device with an IPv4 address.
 */
#define _GNU_SOURCE
#include <rdma/rdma_cma.h>

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define PORT 18515

FIXTURE(test_rdmacg_cm) {
	struct rdmacg_tree tree;
	struct sockaddr_in address;
};

/* The test's process sits in left. */
FIXTURE_SETUP(test_rdmacg_cm)
{
	const char *missing = rdmacg_tree_create(&self->tree);
	struct ibv_context *context;

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(self->tree.left));
	context = rdmacg_open(&self->tree);
	ASSERT_NE(NULL, context);
	self->address.sin_family = AF_INET;
	self->address.sin_addr.s_addr = rdmacg_find_address(context);
	ibv_close_device(context);
	if (!self->address.sin_addr.s_addr) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "%s has no IPv4 address", self->tree.device);
	}
}

FIXTURE_TEARDOWN(test_rdmacg_cm)
{
	EXPECT_EQ(0, rdmacg_verbs(&self->tree, self->tree.top, "cm_id"));
	rdmacg_tree_destroy(&self->tree);
}

static long long rdmacg_cm_ids(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_verbs(tree, cgroup, "cm_id");
}

static int rdmacg_limit_cm_ids(struct rdmacg_tree *tree, const char *cgroup, int limit)
{
	return rdmacg_limit_verb(tree, cgroup, "cm_id", limit);
}

/* Its calls wait for their events; -1 becomes the error. */
static struct rdma_cm_id *rdmacg_create_id(void)
{
	struct rdma_cm_id *id;

	return rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ? NULL : id;
}

static int rdmacg_bind(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	return rdma_bind_addr(id, (struct sockaddr *)address) ? errno : 0;
}

static int rdmacg_resolve(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 2000) ? errno : 0;
}

/* Charged from bind to destroy; one that listens everywhere has no device. */
TEST_F(test_rdmacg_cm, bound_to_a_device)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *id[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_NE(NULL, id[i] = rdmacg_create_id()) TH_LOG("%m");
	EXPECT_EQ(0, rdmacg_bind(id[0], &any));
	EXPECT_EQ(0, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(0, rdmacg_bind(id[1], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->top));

	/* Its creator pays, wherever that is now. */
	ASSERT_EQ(0, cg_enter_current(tree->right));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, rdma_destroy_id(id[i]));
	EXPECT_EQ(0, rdmacg_cm_ids(tree, tree->top));
}

/* One that is refused can be bound when there is room. */
TEST_F(test_rdmacg_cm, bind_at_limit)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *id[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_NE(NULL, id[i] = rdmacg_create_id()) TH_LOG("%m");
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->top, 1));
	EXPECT_EQ(0, rdmacg_bind(id[0], &self->address));
	EXPECT_EQ(EAGAIN, rdmacg_bind(id[1], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local",
				  "cm_id.alloc_fail"));
	EXPECT_EQ(0, rdma_destroy_id(id[0]));
	EXPECT_EQ(0, rdmacg_bind(id[1], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(0, rdma_destroy_id(id[1]));
}

/* A bind that fails after the charge gives it back. */
TEST_F(test_rdmacg_cm, port_in_use)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *id[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_NE(NULL, id[i] = rdmacg_create_id()) TH_LOG("%m");
	self->address.sin_port = htons(PORT);
	EXPECT_EQ(0, rdmacg_bind(id[0], &self->address));
	EXPECT_EQ(EADDRINUSE, rdmacg_bind(id[1], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	self->address.sin_port = 0;
	EXPECT_EQ(0, rdmacg_bind(id[1], &self->address));
	EXPECT_EQ(2, rdmacg_cm_ids(tree, tree->left));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, rdma_destroy_id(id[i]));
}

/* An address is resolved by a kernel thread, for which the creator pays. */
TEST_F(test_rdmacg_cm, resolve)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *id = rdmacg_create_id();

	ASSERT_NE(NULL, id);
	self->address.sin_port = htons(PORT);
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 0));
	EXPECT_EQ(EAGAIN, rdmacg_resolve(id, &self->address));
	EXPECT_EQ(0, rdmacg_cm_ids(tree, tree->left));
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 1));
	EXPECT_EQ(0, rdmacg_resolve(id, &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

/* No address is the device's own. */
TEST_F(test_rdmacg_cm, loopback)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *id = rdmacg_create_id();

	ASSERT_NE(NULL, id);
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 0));
	EXPECT_EQ(EAGAIN, rdmacg_resolve(id, &any));
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 1));
	EXPECT_EQ(0, rdmacg_resolve(id, &any));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(0, rdma_destroy_id(id));
}

/* Connect to the listener, which refuses in the end; the error, -1 before that. */
static int rdmacg_connect(struct sockaddr_in *address)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct rdma_cm_id *id = rdmacg_create_id();

	if (!id || rdmacg_resolve(id, address) || rdma_resolve_route(id, 2000))
		return -1;
	return rdma_connect(id, &param) ? errno : 0;
}

/*
 * Listen on @address, which takes @own ids, and let a process in right connect twice:
 * first there is no room for what the owner of the listener pays, then there is.
 */
static void rdmacg_listen(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
			  struct sockaddr_in *address, struct sockaddr_in *target, int own)
{
	struct rdma_cm_id *listener = rdmacg_create_id(), *asked;
	int status = -1;
	pid_t client;

	ASSERT_NE(NULL, listener);
	ASSERT_EQ(0, rdmacg_bind(listener, address));
	ASSERT_EQ(0, rdma_listen(listener, 1));
	EXPECT_EQ(own, rdmacg_cm_ids(tree, tree->left));

	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, own));
	EXPECT_EQ(ECONNREFUSED, IN_CHILD({
		cg_enter_current(tree->right);
		_exit(rdmacg_connect(target));
	}));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local",
				  "cm_id.max"));
	EXPECT_EQ(own, rdmacg_cm_ids(tree, tree->left));

	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, own + 1));
	client = fork();
	if (!client) {
		cg_enter_current(tree->right);
		_exit(rdmacg_connect(target));
	}
	ASSERT_EQ(0, rdma_get_request(listener, &asked)) TH_LOG("%m");
	EXPECT_EQ(own + 1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->right));
	EXPECT_EQ(0, rdma_destroy_id(asked));
	EXPECT_EQ(own, rdmacg_cm_ids(tree, tree->left));
	ASSERT_EQ(client, waitpid(client, &status, 0));
	EXPECT_EQ(ECONNREFUSED, WEXITSTATUS(status));
	EXPECT_EQ(0, rdma_destroy_id(listener));
}

/* The owner of a listener pays for the connections that it is asked for. */
TEST_F(test_rdmacg_cm, listener)
{
	self->address.sin_port = htons(PORT);
	rdmacg_listen(_metadata, &self->tree, &self->address, &self->address, 1);
}

/* One on all addresses has no device itself. */
TEST_F(test_rdmacg_cm, listener_everywhere)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	self->address.sin_port = htons(PORT);
	rdmacg_listen(_metadata, &self->tree, &any, &self->address, 0);
}

TEST_HARNESS_MAIN
