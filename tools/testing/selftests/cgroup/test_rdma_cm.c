// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of identifiers of the RDMA connection manager under the RDMA cgroup controller. An
 * identifier is charged to its creator while it is bound to a device. The tests need root and an
 * RDMA device with an IPv4 address.
 */
#define _GNU_SOURCE
#include <rdma/rdma_cma.h>

#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

#define PORT 18515

static long long rdmacg_cm_ids(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_verbs(tree, cgroup, "cm_id");
}

static int rdmacg_limit_cm_ids(struct rdmacg_tree *tree, const char *cgroup, int limit)
{
	return rdmacg_limit_verb(tree, cgroup, "cm_id", limit);
}

/* Create an id without an event channel, so that each call waits for its event. */
static struct rdma_cm_id *rdmacg_create_id(void)
{
	struct rdma_cm_id *id;

	return rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ? NULL : id;
}

/* rdmacg_bind() and rdmacg_resolve() return 0 or the error. */
static int rdmacg_bind(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	return rdma_bind_addr(id, (struct sockaddr *)address) ? errno : 0;
}

static int rdmacg_resolve(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 2000) ? errno : 0;
}

/*
 * Enter "left", and find the device's address. Returns NULL, or a text that names what is missing.
 */
static const char *rdmacg_cm_setup(struct rdmacg_tree *tree, struct sockaddr_in *address)
{
	const char *missing = rdmacg_tree_create(tree);
	struct ibv_context *context;

	if (missing)
		return missing;
	address->sin_family = AF_INET;
	context = cg_enter_current(tree->left) ? NULL : rdmacg_open(tree);
	if (context) {
		address->sin_addr.s_addr = rdmacg_find_address(context);
		ibv_close_device(context);
	}
	if (address->sin_addr.s_addr)
		return NULL;
	rdmacg_tree_destroy(tree);
	return "the device has no IPv4 address";
}

FIXTURE(test_rdmacg_cm) {
	struct rdmacg_tree tree;
	struct sockaddr_in address;
	struct rdma_cm_id *id[2];
};

/* The process of the test is in "left", with two ids that are not bound. */
FIXTURE_SETUP(test_rdmacg_cm)
{
	const char *missing = rdmacg_cm_setup(&self->tree, &self->address);
	int i;

	if (missing)
		SKIP(return, "%s", missing);
	for (i = 0; i < 2; i++)
		ASSERT_NE(NULL, self->id[i] = rdmacg_create_id()) TH_LOG("%m");
}

FIXTURE_TEARDOWN(test_rdmacg_cm)
{
	int i;

	for (i = 0; i < 2; i++)
		if (self->id[i])
			EXPECT_EQ(0, rdma_destroy_id(self->id[i]));
	EXPECT_EQ(0, rdmacg_cm_ids(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

static int rdmacg_destroy_id(struct rdma_cm_id **id)
{
	int ret = rdma_destroy_id(*id);

	*id = NULL;
	return ret;
}

/* An id that is bound to an address of the device is charged until it is destroyed. */
TEST_F(test_rdmacg_cm, bound_id_is_charged_until_destroyed)
{
	struct rdmacg_tree *tree = &self->tree;

	EXPECT_EQ(0, rdmacg_bind(self->id[0], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->top));
	EXPECT_EQ(0, rdmacg_destroy_id(&self->id[0]));
	EXPECT_EQ(0, rdmacg_cm_ids(tree, tree->top));
}

/* An id above the limit is not bound, and its creator gets the error. */
TEST_F(test_rdmacg_cm, bind_at_the_limit_is_refused)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->top, 1));
	EXPECT_EQ(0, rdmacg_bind(self->id[0], &self->address));
	EXPECT_EQ(EAGAIN, rdmacg_bind(self->id[1], &self->address));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local",
				  "cm_id.alloc_fail"));
}

/* An id whose first bind failed is charged when another bind succeeds. */
TEST_F(test_rdmacg_cm, failed_id_is_charged_when_bound)
{
	struct rdmacg_tree *tree = &self->tree;

	self->address.sin_port = htons(PORT);
	ASSERT_EQ(0, rdmacg_bind(self->id[0], &self->address));
	ASSERT_EQ(EADDRINUSE, rdmacg_bind(self->id[1], &self->address));
	self->address.sin_port = 0;
	EXPECT_EQ(0, rdmacg_bind(self->id[1], &self->address));
	EXPECT_EQ(2, rdmacg_cm_ids(tree, tree->left));
}

/* Resolve @target, first without room for the id and then with room. */
static void rdmacg_resolve_at_limit(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
				    struct rdma_cm_id *id, struct sockaddr_in *target)
{
	target->sin_port = htons(PORT);
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 0));
	EXPECT_EQ(EAGAIN, rdmacg_resolve(id, target));
	EXPECT_EQ(0, rdmacg_cm_ids(tree, tree->left));
	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, 1));
	EXPECT_EQ(0, rdmacg_resolve(id, target));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->left));
}

/*
 * The creator of an id is charged, even if a kernel thread resolves the address and binds the id.
 */
TEST_F(test_rdmacg_cm, creator_pays_for_a_resolved_id)
{
	rdmacg_resolve_at_limit(_metadata, &self->tree, self->id[0], &self->address);
}

/*
 * If an id resolves 0.0.0.0, the kernel selects a device for loopback, and the id is charged there.
 * Write the name of this device into @tree.
 */
static void rdmacg_find_loopback(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
				 struct rdma_cm_id **id, struct sockaddr_in *any)
{
	ASSERT_EQ(0, rdmacg_resolve(*id, any));
	snprintf(tree->device, sizeof(tree->device), "%s",
		 ibv_get_device_name((*id)->verbs->device));
	ASSERT_EQ(0, rdmacg_destroy_id(id));
}

/* An id that was refused as a loopback id can resolve the device's address. */
TEST_F(test_rdmacg_cm, refused_loopback_id_resolves_an_address)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rdmacg_tree tree = self->tree;

	rdmacg_find_loopback(_metadata, &tree, &self->id[0], &any);
	ASSERT_EQ(0, rdmacg_limit_cm_ids(&tree, tree.left, 0));
	ASSERT_EQ(EAGAIN, rdmacg_resolve(self->id[1], &any));
	ASSERT_EQ(0, rdmacg_limit_cm_ids(&tree, tree.left, 1));
	self->address.sin_port = htons(PORT);
	EXPECT_EQ(0, rdmacg_resolve(self->id[1], &self->address));
}

FIXTURE(test_rdmacg_listener) {
	struct rdmacg_tree tree;
	struct sockaddr_in address;
	struct rdma_cm_id *id;
};

/*
 * The listener is bound to all addresses, or only to the device's address. @own is the number of
 * its charged ids.
 */
FIXTURE_VARIANT(test_rdmacg_listener) {
	bool is_everywhere;
	int own;
};

FIXTURE_VARIANT_ADD(test_rdmacg_listener, on_the_device) { .is_everywhere = false, .own = 1 };

/* A listener on all addresses is not bound to a device. */
FIXTURE_VARIANT_ADD(test_rdmacg_listener, everywhere) { .is_everywhere = true, .own = 0 };

/* The process of the test is in "left" and listens. */
FIXTURE_SETUP(test_rdmacg_listener)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	const char *missing = rdmacg_cm_setup(&self->tree, &self->address);

	if (missing)
		SKIP(return, "%s", missing);
	self->address.sin_port = htons(PORT);
	self->id = rdmacg_create_id();
	ASSERT_NE(NULL, self->id) TH_LOG("%m");
	ASSERT_EQ(0, rdmacg_bind(self->id, variant->is_everywhere ? &any : &self->address));
	ASSERT_EQ(0, rdma_listen(self->id, 1));
	ASSERT_EQ(variant->own, rdmacg_cm_ids(&self->tree, self->tree.left));
}

FIXTURE_TEARDOWN(test_rdmacg_listener)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, rdmacg_cm_ids(&self->tree, self->tree.top));
	rdmacg_tree_destroy(&self->tree);
}

/*
 * Enter "right", connect to the listener, and exit with the error. The attempt always fails,
 * because the listener refuses it. On iWARP, connecting needs the number of an existing QP.
 */
static void rdmacg_connect(struct rdmacg_tree *tree, struct sockaddr_in *address)
{
	struct rdma_conn_param param = { };
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	cg_enter_current(tree->right);
	id = rdmacg_create_id();
	if (!id || rdmacg_resolve(id, address) || rdma_resolve_route(id, 2000))
		_exit(1);
	cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	qp = cq ? rdmacg_create_qp(id->pd, cq, IBV_QPT_RC) : NULL;
	if (!qp)
		_exit(1);
	param.qp_num = qp->qp_num;
	_exit(rdma_connect(id, &param) ? errno : 0);
}

/* A request is refused if the owner of the listener has no room, and then nothing is charged. */
TEST_F(test_rdmacg_listener, request_above_the_owners_limit_is_refused)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, variant->own));
	EXPECT_EQ(ECONNREFUSED, IN_CHILD({ rdmacg_connect(tree, &self->address); }));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", "cm_id.max"));
	EXPECT_EQ(variant->own, rdmacg_cm_ids(tree, tree->left));
}

/*
 * The owner of a listener is charged for the id of an incoming request. The requester is charged
 * for its own id.
 */
TEST_F(test_rdmacg_listener, owner_pays_for_requests)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *asked;
	pid_t client;

	ASSERT_EQ(0, rdmacg_limit_cm_ids(tree, tree->left, variant->own + 1));
	client = rdmacg_fork();
	if (!client)
		rdmacg_connect(tree, &self->address);
	ASSERT_EQ(0, rdma_get_request(self->id, &asked)) TH_LOG("%m");
	EXPECT_EQ(variant->own + 1, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(1, rdmacg_cm_ids(tree, tree->right));
	EXPECT_EQ(0, rdma_destroy_id(asked));
	EXPECT_EQ(variant->own, rdmacg_cm_ids(tree, tree->left));
	EXPECT_EQ(ECONNREFUSED, rdmacg_wait(client));
}

TEST_HARNESS_MAIN
