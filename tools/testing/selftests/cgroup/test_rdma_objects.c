// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of each type of uverbs object of Soft-RoCE: its charge, the limits that refuse it, and
 * failing allocations, which leave no charge. The tests need root and one RDMA device. Tests of
 * failing allocations also need the kernel's failslab. A test is skipped if the device does not
 * have the type.
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "../kselftest_harness.h"
#include "rdma_fault_util.h"
#include "rdma_verbs_util.h"

struct rdmacg_env {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	char page[4096];
};

FIXTURE(test_rdmacg_object) {
	struct rdmacg_tree tree;
	struct rdmacg_env env;
	struct rdmacg_failslab failslab;
};

/* A type of objects. It has a key, and its objects have either an id or a file descriptor. */
FIXTURE_VARIANT(test_rdmacg_object) {
	const char *key;
	bool has_id;
	void *(*create)(struct rdmacg_env *env);
	/* A function of libibverbs, which takes its own struct. */
	int (*destroy)(void *object);
};

static void *create_pd(struct rdmacg_env *env)
{
	return ibv_alloc_pd(env->context);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, pd) {
	.key = "pd", .has_id = true,
	.create = create_pd, .destroy = (void *)ibv_dealloc_pd,
};

static void *create_cq(struct rdmacg_env *env)
{
	return ibv_create_cq(env->context, 4, NULL, NULL, 0);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, cq) {
	.key = "cq", .has_id = true,
	.create = create_cq, .destroy = (void *)ibv_destroy_cq,
};

static void *create_qp_rc(struct rdmacg_env *env)
{
	return rdmacg_create_qp(env->pd, env->cq, IBV_QPT_RC);
}

static void *create_qp_ud(struct rdmacg_env *env)
{
	return rdmacg_create_qp(env->pd, env->cq, IBV_QPT_UD);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, qp_rc) {
	.key = "qp", .has_id = true,
	.create = create_qp_rc, .destroy = (void *)ibv_destroy_qp,
};

FIXTURE_VARIANT_ADD(test_rdmacg_object, qp_ud) {
	.key = "qp", .has_id = true,
	.create = create_qp_ud, .destroy = (void *)ibv_destroy_qp,
};

static void *create_srq(struct rdmacg_env *env)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(env->pd, &init);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, srq) {
	.key = "srq", .has_id = true,
	.create = create_srq, .destroy = (void *)ibv_destroy_srq,
};

static void *create_mr(struct rdmacg_env *env)
{
	return ibv_reg_mr(env->pd, env->page, sizeof(env->page),
			  IBV_ACCESS_LOCAL_WRITE);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, mr) {
	.key = "mr", .has_id = true,
	.create = create_mr, .destroy = (void *)ibv_dereg_mr,
};

static void *create_mw(struct rdmacg_env *env)
{
	return ibv_alloc_mw(env->pd, IBV_MW_TYPE_1);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, mw) {
	.key = "mw", .has_id = true,
	.create = create_mw, .destroy = (void *)ibv_dealloc_mw,
};

static void *create_ah(struct rdmacg_env *env)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	if (ibv_query_gid(env->context, 1, 0, &attr.grh.dgid))
		return NULL;
	return ibv_create_ah(env->pd, &attr);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, ah) {
	.key = "ah", .has_id = true,
	.create = create_ah, .destroy = (void *)ibv_destroy_ah,
};

static void *create_comp_channel(struct rdmacg_env *env)
{
	return ibv_create_comp_channel(env->context);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, comp_channel) {
	.key = "comp_channel", .has_id = false,
	.create = create_comp_channel, .destroy = (void *)ibv_destroy_comp_channel,
};

static void *create_async_event(struct rdmacg_env *env)
{
	struct rdmacg_alloc_async_event cmd;

	if (rdmacg_alloc_async_event(env->context, &cmd))
		return NULL;
	return (void *)(intptr_t)cmd.attr.data;
}

static int destroy_async_event(void *object)
{
	return close((intptr_t)object);
}

FIXTURE_VARIANT_ADD(test_rdmacg_object, async_event) {
	.key = "async_event", .has_id = false,
	.create = create_async_event, .destroy = destroy_async_event,
};

/* Enter @cgroup, and create a context, a PD and a CQ. Sets errno and returns false on failure. */
static bool rdmacg_env_create(struct rdmacg_tree *tree, const char *cgroup,
			      struct rdmacg_env *env)
{
	if (!rdmacg_enter_and_open(tree, cgroup, &env->context, &env->pd))
		return false;
	env->cq = ibv_create_cq(env->context, 16, NULL, NULL, 0);
	return env->cq;
}

static int rdmacg_env_destroy(struct rdmacg_env *env)
{
	return ibv_destroy_cq(env->cq) ?: ibv_dealloc_pd(env->pd) ?:
	       ibv_close_device(env->context);
}

/*
 * Returns whether @create works on the device. Calls it in the root cgroup, which is never charged.
 */
static bool rdmacg_has_type(struct rdmacg_tree *tree, void *(*create)(struct rdmacg_env *env),
			    int (*destroy)(void *object))
{
	struct rdmacg_env env;
	bool has = true;
	void *object;

	if (!rdmacg_env_create(tree, tree->root, &env))
		return true;
	object = create(&env);
	if (object)
		destroy(object);
	else
		has = errno != EOPNOTSUPP;
	rdmacg_env_destroy(&env);
	return has;
}

/* The process of the test is in "left", with a context, a PD and a CQ. */
FIXTURE_SETUP(test_rdmacg_object)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (!rdmacg_has_type(&self->tree, variant->create, variant->destroy)) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "%s has no such objects", self->tree.device);
	}
	ASSERT_TRUE(rdmacg_env_create(&self->tree, self->tree.left, &self->env)) TH_LOG("%m");
	ASSERT_EQ(2, rdmacg_objects(&self->tree, self->tree.left));
}

FIXTURE_TEARDOWN(test_rdmacg_object)
{
	rdmacg_failslab_end(&self->failslab);
	EXPECT_EQ(0, rdmacg_env_destroy(&self->env));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_handles(&self->tree, self->tree.top));
	EXPECT_EQ(0, rdmacg_verbs(&self->tree, self->tree.top, variant->key));
	EXPECT_EQ(0, rdmacg_verbs(&self->tree, self->tree.top, "mr_mem"));
	rdmacg_tree_destroy(&self->tree);
}

/* Create at most three objects, and destroy them. Returns the number of objects, or an error. */
static int rdmacg_room(struct rdmacg_env *env, void *(*create)(struct rdmacg_env *env),
		       int (*destroy)(void *object))
{
	void *object[3];
	int i, made;

	for (made = 0; made < 3; made++) {
		object[made] = create(env);
		if (!object[made] && errno != EAGAIN)
			return -errno;
		if (!object[made])
			break;
	}
	for (i = 0; i < made; i++)
		if (destroy(object[i]))
			return -errno;
	return made;
}

/* hca_object counts objects with an id, and does not count objects with a file descriptor. */
TEST_F(test_rdmacg_object, id_is_an_hca_object)
{
	void *object[2];
	int i;

	for (i = 0; i < 2; i++) {
		object[i] = variant->create(&self->env);
		ASSERT_NE(NULL, object[i]) TH_LOG("number %d: %m", i);
		EXPECT_EQ(2 + variant->has_id * (1 + i),
			  rdmacg_objects(&self->tree, self->tree.left));
		EXPECT_EQ(2 + variant->has_id * (1 + i),
			  rdmacg_objects(&self->tree, self->tree.top));
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, variant->destroy(object[i]));
	EXPECT_EQ(2, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(1, rdmacg_handles(&self->tree, self->tree.left));
}

/* The limit of hca_object refuses objects with an id, and no other objects. */
TEST_F(test_rdmacg_object, limit_of_objects_refuses_ids)
{
	ASSERT_EQ(0, rdmacg_limit(&self->tree, self->tree.left, "hca_object=4"));
	EXPECT_EQ(variant->has_id ? 2 : 3,
		  rdmacg_room(&self->env, variant->create, variant->destroy));
	EXPECT_EQ(variant->has_id ? 4 : 2,
		  rdmacg_value(&self->tree, self->tree.left, "rdma.peak", "hca_object"));
}

/* From creation to destruction, an object counts once for its type, and not for other types. */
TEST_F(test_rdmacg_object, object_is_one_of_its_type)
{
	struct rdmacg_tree *tree = &self->tree;
	long long used = rdmacg_verbs(tree, tree->left, variant->key);
	const char *other = strcmp(variant->key, "pd") ? "pd" : "cq";
	long long others = rdmacg_verbs(tree, tree->left, other);
	void *object;

	ASSERT_LE(0, used);
	object = variant->create(&self->env);
	ASSERT_NE(NULL, object) TH_LOG("%m");
	EXPECT_EQ(used + 1, rdmacg_verbs(tree, tree->left, variant->key));
	EXPECT_EQ(used + 1, rdmacg_verbs(tree, tree->top, variant->key));
	EXPECT_EQ(others, rdmacg_verbs(tree, tree->left, other));
	EXPECT_EQ(0, variant->destroy(object));
	EXPECT_EQ(used, rdmacg_verbs(tree, tree->left, variant->key));
}

/* A limit that leaves room for 0, 1 or 2 objects of the type allows exactly as many objects. */
TEST_F(test_rdmacg_object, limit_of_the_type_leaves_room)
{
	struct rdmacg_tree *tree = &self->tree;
	long long used = rdmacg_verbs(tree, tree->left, variant->key);
	int room;

	for (room = 0; room < 3; room++) {
		ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, variant->key, used + room));
		EXPECT_EQ(room, rdmacg_room(&self->env, variant->create, variant->destroy));
	}
	EXPECT_EQ(used, rdmacg_verbs(tree, tree->left, variant->key));
	EXPECT_EQ(2, rdmacg_objects(tree, tree->left));
}

/* A refusal by the limit of a type is an event of the type, not of hca_object. */
TEST_F(test_rdmacg_object, refusal_is_an_event_of_the_type)
{
	struct rdmacg_tree *tree = &self->tree;
	char event[64];

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, variant->key,
				       rdmacg_verbs(tree, tree->left, variant->key)));
	EXPECT_EQ(NULL, variant->create(&self->env));
	EXPECT_EQ(EAGAIN, errno);
	snprintf(event, sizeof(event), "%s.max", variant->key);
	EXPECT_EQ(1, rdmacg_value(tree, tree->top, "rdma.verb.events.local", event));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.events.local", event));
	snprintf(event, sizeof(event), "%s.alloc_fail", variant->key);
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", event));
	EXPECT_EQ(0, rdmacg_value(tree, tree->top, "rdma.events", "hca_object.alloc_fail"));
}

/* What rdmacg_sweep() passes to rdmacg_make() and rdmacg_unmake(), for one object of the type. */
struct rdmacg_maker {
	void *(*create)(struct rdmacg_env *env);
	int (*destroy)(void *object);
	struct rdmacg_env *env;
	void *object;
};

static int rdmacg_make(void *what)
{
	struct rdmacg_maker *maker = what;

	maker->object = maker->create(maker->env);
	return maker->object ? 0 : errno;
}

static int rdmacg_unmake(void *what)
{
	struct rdmacg_maker *maker = what;

	return maker->destroy(maker->object);
}

/*
 * Create one object without failing allocations, because page faults of the first creation would
 * use up the failures. Then move to "right", which has no pool yet.
 */
static void rdmacg_prepare(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
			   struct rdmacg_maker *maker)
{
	ASSERT_EQ(0, rdmacg_make(maker));
	ASSERT_EQ(0, rdmacg_unmake(maker));
	ASSERT_EQ(0, cg_enter_current(tree->right));
}

/* Nothing remains charged if an allocation in the core, the driver or the controller fails. */
TEST_F(test_rdmacg_object, nothing_stays_charged_without_memory)
{
	struct rdmacg_maker maker = {
		.create = variant->create, .destroy = variant->destroy, .env = &self->env,
	};
	const char *missing = rdmacg_failslab_begin(&self->failslab);
	struct rdmacg_tree *tree = &self->tree;

	if (missing)
		SKIP(return, "%s", missing);
	rdmacg_prepare(_metadata, tree, &maker);
	/* In the first sweep, the allocation of the pool also fails. */
	EXPECT_LT(0, rdmacg_sweep(tree->right, rdmacg_make, rdmacg_unmake, &maker));
	EXPECT_LT(0, rdmacg_sweep(tree->right, rdmacg_make, rdmacg_unmake, &maker));
}

TEST_HARNESS_MAIN
