// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for what the IB core charges: objects by type, registered memory, the
 * limits that a query shows, and drivers' own resources. No driver is called:
 * devices and objects are bare structs, and the current process is in left or
 * right:
 *
 *   root
 *    `-- top
 *         |-- left
 *         `-- right
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/percpu-refcount.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/rdma_cm.h>
#include <rdma/uverbs_std_types.h>

#include "../../../drivers/infiniband/core/cgroup.h"
#include "../../../drivers/infiniband/core/cma_priv.h"
#include "rdma_kunit.h"

#define MIB (1024 * 1024ull)
/* What counts as a length of its own. */
#define LONGEST (BIT_ULL(48) - 1)

struct rdmacg_verbs {
	struct rdma_cgroup root, top, left, right;
	struct rdma_cgroup *current_cg;
	struct ib_device device;
	struct ib_ucontext ucontext;
};

static struct rdma_cgroup *rdmacg_test_get_current(void)
{
	struct rdmacg_verbs *verbs = kunit_get_current_test()->priv;

	rdmacg_get(verbs->current_cg);
	return verbs->current_cg;
}

static void rdmacg_test_release(struct percpu_ref *ref)
{
}

static void rdmacg_test_add_cgroup(struct kunit *test, struct rdma_cgroup *cg,
				   struct rdma_cgroup *parent)
{
	rdmacg_test_init_cgroup(cg, parent);
	KUNIT_ASSERT_EQ(test, percpu_ref_init(&cg->css.refcnt, rdmacg_test_release,
					      PERCPU_REF_INIT_ATOMIC, GFP_KERNEL), 0);
}

static long rdmacg_refs(struct rdma_cgroup *cg)
{
	/* The first is the cgroup core's, and here that of nobody. */
	return atomic_long_read(&cg->css.refcnt.data->count) - 1;
}

static void rdmacg_remove_cgroup(struct kunit *test, struct rdma_cgroup *cg)
{
	KUNIT_EXPECT_EQ(test, rdmacg_refs(cg), 0);
	rdmacg_pools_free(cg);
	percpu_ref_exit(&cg->css.refcnt);
}

/* A device with these types, and the two that every device has. */
static void rdmacg_support(struct ib_device *device)
{
	device->ops.driver_id = RDMA_DRIVER_RXE;
	device->ops.dealloc_pd = (void *)rdmacg_support;
	device->ops.destroy_cq = (void *)rdmacg_support;
	device->ops.destroy_qp = (void *)rdmacg_support;
	device->ops.dereg_mr = (void *)rdmacg_support;
	device->attrs.max_pd = 100;
	device->attrs.max_qp = 1000;
	device->attrs.max_mr_size = 64 * MIB;
}

static int rdmacg_verbs_test_init(struct kunit *test)
{
	struct rdmacg_verbs *verbs = kunit_kzalloc(test, sizeof(*verbs), GFP_KERNEL);

	if (!verbs)
		return -ENOMEM;
	test->priv = verbs;
	kunit_activate_static_stub(test, rdmacg_get_current, rdmacg_test_get_current);
	rdmacg_test_add_cgroup(test, &verbs->root, NULL);
	rdmacg_test_add_cgroup(test, &verbs->top, &verbs->root);
	rdmacg_test_add_cgroup(test, &verbs->left, &verbs->top);
	rdmacg_test_add_cgroup(test, &verbs->right, &verbs->top);
	verbs->current_cg = &verbs->left;
	verbs->ucontext.device = &verbs->device;
	strscpy(verbs->device.name, "kunit0", sizeof(verbs->device.name));
	verbs->device.index = 100;
	rdmacg_support(&verbs->device);
	return 0;
}

/* Whatever a test has done, it must have given everything back. */
static void rdmacg_verbs_test_exit(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	if (verbs->device.cg_device.desc)
		ib_rdmacg_unregister_device(&verbs->device);
	rdmacg_remove_cgroup(test, &verbs->right);
	rdmacg_remove_cgroup(test, &verbs->left);
	rdmacg_remove_cgroup(test, &verbs->top);
	rdmacg_remove_cgroup(test, &verbs->root);
}

static struct rdmacg_verbs *rdmacg_start(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	KUNIT_ASSERT_EQ(test, ib_rdmacg_register_device(&verbs->device), 0);
	return verbs;
}

static void rdmacg_expect(struct kunit *test, struct rdma_cgroup *cg, enum rdmacg_class class,
			  enum rdmacg_file file, const char *line)
{
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, cg, class, file), line);
}

#define NOTHING "kunit0 pd=0 comp_channel=0 cq=0 qp=0 mr=0 async_event=0 mr_mem=0 cm_id=0\n"

/* What is used of the verb class: the words of the file that do not end in "=0". */
static char *rdmacg_used(struct kunit *test, struct rdma_cgroup *cg)
{
	char *text = rdmacg_test_show(test, cg, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT);
	char *used = kunit_kzalloc(test, strlen(text) + 1, GFP_KERNEL);
	char *word;

	KUNIT_ASSERT_NOT_NULL(test, used);
	strsep(&text, " ");
	while ((word = strsep(&text, "\n "))) {
		if (!*word || !strcmp(strchrnul(word, '='), "=0"))
			continue;
		if (*used)
			strcat(used, " ");
		strcat(used, word);
	}
	return used;
}

/* Usage of left: hca_object, and what is used of the verb class. */
static void rdmacg_expect_left(struct kunit *test, unsigned int hca_object, const char *verb)
{
	struct rdmacg_verbs *verbs = test->priv;
	char line[64];

	scnprintf(line, sizeof(line), "kunit0 hca_handle=0 hca_object=%u\n", hca_object);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT, line);
	KUNIT_EXPECT_STREQ(test, rdmacg_used(test, &verbs->left), verb);
}

static struct ib_uobject *rdmacg_uobject(struct kunit *test, u32 id)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct uverbs_api_object *object = kunit_kzalloc(test, sizeof(*object), GFP_KERNEL);
	struct ib_uobject *uobj = kunit_kzalloc(test, sizeof(*uobj), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, uobj);
	object->id = id;
	uobj->uapi_object = object;
	uobj->context = &verbs->ucontext;
	return uobj;
}

static struct ib_uobject *rdmacg_mr(struct kunit *test, u64 length)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);

	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_mr(uobj, length), 0);
	return uobj;
}

static void rdmacg_limit_verb(struct kunit *test, struct rdma_cgroup *cg, const char *text)
{
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(cg, RDMACG_CLASS_VERB, text), 0);
}

/* A device has those types whose operation it has, and those that need none. */
static void types_are_what_the_device_supports(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT, NOTHING);
	rdmacg_expect(test, &verbs->root, RDMACG_CLASS_HCA, RDMACG_FILE_CAPACITY,
		      "kunit0 hca_handle=max hca_object=max pd=100 comp_channel=max cq=max qp=1000 mr=max async_event=max mr_mem=max cm_id=max\n");
}

/* Without MRs there is no memory to count. */
static void no_mr_no_mr_mem(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	verbs->device.ops.dereg_mr = NULL;
	rdmacg_start(test);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT,
		      "kunit0 pd=0 comp_channel=0 cq=0 qp=0 async_event=0 cm_id=0\n");
}

/* The types of a driver's own count together. */
static void driver_types_are_driver_object(struct kunit *test)
{
	static const struct uapi_definition driver_def[] = { {} };
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_uobject *uobj[2];
	int i;

	verbs->device.driver_def = driver_def;
	rdmacg_start(test);
	for (i = 0; i < 2; i++) {
		uobj[i] = rdmacg_uobject(test, UVERBS_ID_DRIVER_NS + i);
		KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj[i]), 0);
	}
	rdmacg_expect_left(test, 2, "driver_object=2");
	for (i = 0; i < 2; i++)
		ib_rdmacg_uncharge_uobject(uobj[i]);
}

/* One hca_object and one of the type, to one owner, who is pinned. */
static void idr_object_is_charged_by_type(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_QP);

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	rdmacg_expect_left(test, 1, "qp=1");
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 1);

	/* Whoever destroys it. */
	verbs->current_cg = &verbs->right;
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");

	/* Once. */
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
}

/* What is behind a file descriptor is no hca_object. */
static void fd_object_is_charged_by_type_alone(struct kunit *test)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_COMP_CHANNEL);

	rdmacg_start(test);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_fd_uobject(uobj), 0);
	rdmacg_expect_left(test, 0, "comp_channel=1");
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
}

/* A type without a slot is still an object with an id; behind an fd it is free. */
static void type_without_slot(struct kunit *test)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_XRCD);

	rdmacg_start(test);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	rdmacg_expect_left(test, 1, "");
	ib_rdmacg_uncharge_uobject(uobj);

	uobj = rdmacg_uobject(test, UVERBS_OBJECT_XRCD);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_fd_uobject(uobj), 0);
	KUNIT_EXPECT_NULL(test, uobj->cg_obj.cg);
	ib_rdmacg_uncharge_uobject(uobj);
}

/* Whichever limit refuses, nothing of the other resource is left, or was seen. */
static void refusal_of_the_type_charges_no_object(struct kunit *test)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_QP);
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	rdmacg_limit_verb(test, &verbs->top, "kunit0 qp=0");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), -EAGAIN);
	KUNIT_EXPECT_NULL(test, uobj->cg_obj.cg);
	rdmacg_expect_left(test, 0, "");
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_PEAK,
		      "kunit0 hca_handle=0 hca_object=0\n");
	ib_rdmacg_uncharge_uobject(uobj);

	rdmacg_limit_verb(test, &verbs->top, "kunit0 max");
	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&verbs->top, RDMACG_CLASS_HCA,
					     "kunit0 hca_object=0"), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), -EAGAIN);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_PEAK, NOTHING);
}

/* An MR is charged at once, when its length is known. */
static void mr_is_one_charge(struct kunit *test)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_mr(uobj, 5000), 0);
	rdmacg_expect_left(test, 1, "mr=1 mr_mem=5000");
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 1);
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");

	/* One that never came to its length. */
	uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
}

static void mr_of_no_length(struct kunit *test)
{
	struct ib_uobject *uobj;

	rdmacg_start(test);
	uobj = rdmacg_mr(test, 0);
	rdmacg_expect_left(test, 1, "mr=1");
	ib_rdmacg_uncharge_uobject(uobj);
}

/* mr_mem is the last but one. */
static u64 rdmacg_mem_usage(struct rdma_cgroup *cg, struct ib_device *device)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, device->cg_device.key);
	u64 usage = pool->slots[device->cg_device.nr_slots - 2].usage;

	rdmacg_pool_unlock(pool);
	return usage;
}

struct rdmacg_mem_case {
	const char *name;
	u64 limit;
	u64 length;
	int ret;
};

/* On top of an MR of 1 MiB. */
static const struct rdmacg_mem_case rdmacg_mem_cases[] = {
	{ "exactly the limit", 3 * MIB, 2 * MIB, 0 },
	{ "one byte more than the limit", 3 * MIB, 2 * MIB + 1, -EAGAIN },
	{ "a limit of one byte less", 3 * MIB - 1, 2 * MIB, -EAGAIN },
	{ "limit below the usage", 1, 1, -EAGAIN },
	{ "limit 0", 0, 1, -EAGAIN },
	{ "limit 0 and no length", 0, 0, 0 },
	{ "the longest", RDMACG_NO_LIMIT - 1, LONGEST, 0 },
	{ "longer than the longest", RDMACG_NO_LIMIT - 1, LONGEST + 1, -EAGAIN },
	{ "longer than the longest without a limit", RDMACG_NO_LIMIT, LONGEST + 1, 0 },
	{ "no end", RDMACG_NO_LIMIT - 1, U64_MAX, -EAGAIN },
	{ "no end and no limit", RDMACG_NO_LIMIT, U64_MAX, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_mem, rdmacg_mem_cases, name);

static void mr_mem_limit(struct kunit *test)
{
	const struct rdmacg_mem_case *mem = test->param_value;
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_uobject *first = rdmacg_mr(test, MIB);
	u64 counted = mem->ret || mem->length > LONGEST ? 0 : mem->length;
	char line[64];

	if (mem->limit != RDMACG_NO_LIMIT) {
		scnprintf(line, sizeof(line), "kunit0 mr_mem=%llu", mem->limit);
		rdmacg_limit_verb(test, &verbs->top, line);
	}
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_mr(uobj, mem->length), mem->ret);
	KUNIT_EXPECT_EQ(test, rdmacg_mem_usage(&verbs->left, &verbs->device), MIB + counted);
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 1, "mr=1 mr_mem=1048576");
	ib_rdmacg_uncharge_uobject(first);
}

/*
 * However many lengths that no machine can pin are under way at once, a neighbour without
 * a limit is not refused, and neither usage nor peak shows them.
 */
static void lengths_under_way_refuse_nobody(struct kunit *test)
{
	const unsigned int count = 300;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_uobject **huge, *small;
	unsigned int i;

	huge = kunit_kcalloc(test, count, sizeof(*huge), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, huge);
	for (i = 0; i < count; i++)
		huge[i] = rdmacg_mr(test, BIT_ULL(i % 2 ? 48 : 56));
	verbs->current_cg = &verbs->right;
	small = rdmacg_mr(test, 4096);
	KUNIT_EXPECT_EQ(test, rdmacg_mem_usage(&verbs->top, &verbs->device), 4096);
	KUNIT_EXPECT_NOT_NULL(test, strstr(rdmacg_test_show(test, &verbs->top, RDMACG_CLASS_VERB,
							    RDMACG_FILE_PEAK), " mr_mem=4096 "));
	ib_rdmacg_uncharge_uobject(small);
	for (i = 0; i < count; i++)
		ib_rdmacg_uncharge_uobject(huge[i]);
	rdmacg_expect_left(test, 0, "");
}

/* Length 0 stands for a length without end. */
struct rdmacg_rereg_case {
	const char *name;
	u64 from, to, limit;
	int begin;
	u64 during, failed, done;
};

static const struct rdmacg_rereg_case rdmacg_rereg_cases[] = {
	{ "grows", 1, 3, 9, 0, 3, 1, 3 },
	{ "grows to the limit", 1, 3, 3, 0, 3, 1, 3 },
	{ "grows past the limit", 1, 3, 2, -EAGAIN, 1, 1, 1 },
	{ "shrinks", 3, 1, 9, 0, 3, 3, 1 },
	{ "shrinks above a lower limit", 3, 2, 1, 0, 3, 3, 2 },
	{ "stays", 2, 2, 2, 0, 2, 2, 2 },
	{ "becomes endless without a limit", 2, 0, 0, 0, 2, 2, 0 },
	{ "becomes endless under a limit", 2, 0, 9, -EAGAIN, 2, 2, 2 },
	{ "ends", 0, 2, 0, 0, 2, 0, 2 },
	{ "ends within a limit", 0, 2, 2, 0, 2, 0, 2 },
	{ "ends past the limit", 0, 2, 1, -EAGAIN, 0, 0, 0 },
	{ "stays endless, whatever the limit", 0, 0, 1, 0, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_rereg, rdmacg_rereg_cases, name);

static void rdmacg_expect_mem(struct kunit *test, u64 mem)
{
	char line[128];

	strscpy(line, "mr=1");
	if (mem)
		scnprintf(line, sizeof(line), "mr=1 mr_mem=%llu", mem);
	rdmacg_expect_left(test, 1, line);
}

/* A re-registration that the driver answers with @new_mr. */
static void rdmacg_rereg(struct kunit *test, struct ib_mr *new_mr)
{
	const struct rdmacg_rereg_case *rereg = test->param_value;
	struct ib_uobject *new_uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_uobject *uobj = rdmacg_mr(test, rereg->from ?: U64_MAX);
	char line[64];

	if (rereg->limit) {
		scnprintf(line, sizeof(line), "kunit0 mr_mem=%llu", rereg->limit);
		rdmacg_limit_verb(test, &verbs->left, line);
	}
	/* The owner pays, and its limits count, whoever asks. */
	rdmacg_limit_verb(test, &verbs->right, "kunit0 mr_mem=0 mr=0");
	verbs->current_cg = &verbs->right;

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(new_uobj), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_begin_rereg_mr(uobj, new_uobj, IB_MR_REREG_TRANS,
						       rereg->to ?: U64_MAX), rereg->begin);
	rdmacg_expect_mem(test, rereg->during);
	if (!rereg->begin) {
		ib_rdmacg_end_rereg_mr(uobj, new_uobj, new_mr);
		rdmacg_expect_mem(test, IS_ERR(new_mr) ? rereg->failed : rereg->done);
	}
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 1);
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->right), 0);

	/* Of the two, the one that is not in use goes first. */
	if (!rereg->begin && !IS_ERR_OR_NULL(new_mr))
		swap(uobj, new_uobj);
	ib_rdmacg_uncharge_uobject(new_uobj);
	rdmacg_expect_mem(test, rereg->begin || IS_ERR(new_mr) ? rereg->failed : rereg->done);
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
}

static void rereg_changes_the_mr(struct kunit *test)
{
	rdmacg_rereg(test, NULL);
}

static void rereg_replaces_the_mr(struct kunit *test)
{
	struct ib_mr new_mr;

	rdmacg_rereg(test, &new_mr);
}

static void rereg_fails(struct kunit *test)
{
	rdmacg_rereg(test, ERR_PTR(-EOPNOTSUPP));
}

/* The length counts only where the translation changes. */
static void rereg_of_access_keeps_the_length(struct kunit *test)
{
	struct ib_uobject *new_uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	struct ib_uobject *uobj;

	rdmacg_start(test);
	uobj = rdmacg_mr(test, 7);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_begin_rereg_mr(uobj, new_uobj, IB_MR_REREG_ACCESS, 9), 0);
	rdmacg_expect_mem(test, 7);
	ib_rdmacg_end_rereg_mr(uobj, new_uobj, NULL);
	rdmacg_expect_mem(test, 7);
	ib_rdmacg_uncharge_uobject(uobj);
}

/* An MR whose place another has taken has nobody who could pay for more. */
static void rereg_without_owner(struct kunit *test)
{
	struct ib_uobject *new_uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);
	struct ib_uobject *uobj = rdmacg_uobject(test, UVERBS_OBJECT_MR);

	rdmacg_start(test);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_begin_rereg_mr(uobj, new_uobj, IB_MR_REREG_TRANS, 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, new_uobj->cg_obj.mr_mem, 0);
}

/* However often the paths of opening and failing ask for it. */
static void context_is_charged_once(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_ucontext(&verbs->ucontext), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_ucontext(&verbs->ucontext), 0);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT,
		      "kunit0 hca_handle=1 hca_object=0\n");
	ib_rdmacg_uncharge_ucontext(&verbs->ucontext);
	ib_rdmacg_uncharge_ucontext(&verbs->ucontext);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 0);
}

struct rdmacg_attr_case {
	const char *name;
	const char *hca, *verb, *top;
	u32 max_pd, max_qp;
	u64 max_mr_size;
};

/* The device has 100 PDs, 1000 QPs, and MRs of 64 MiB. */
static const struct rdmacg_attr_case rdmacg_attr_cases[] = {
	{ "no limit", NULL, NULL, NULL, 100, 1000, 64 * MIB },
	{ "hca_object", "kunit0 hca_object=200", NULL, NULL, 100, 200, 64 * MIB },
	{ "hca_object below all", "kunit0 hca_object=20", NULL, NULL, 20, 20, 64 * MIB },
	{ "a type", NULL, "kunit0 qp=7", NULL, 100, 7, 64 * MIB },
	{ "a type above the device", NULL, "kunit0 qp=7000", NULL, 100, 1000, 64 * MIB },
	{ "a type of the parent", NULL, "kunit0 qp=7", "kunit0 qp=5", 100, 5, 64 * MIB },
	{ "a type below the parent", NULL, "kunit0 qp=7", "kunit0 qp=9", 100, 7, 64 * MIB },
	{ "a type and hca_object", "kunit0 hca_object=6", "kunit0 qp=7", NULL, 6, 6, 64 * MIB },
	{ "mr_mem", NULL, "kunit0 mr_mem=4096", NULL, 100, 1000, 4096 },
	{ "mr_mem of the parent", NULL, NULL, "kunit0 mr_mem=8192", 100, 1000, 8192 },
	{ "limit 0", NULL, "kunit0 pd=0 qp=0 mr_mem=0", NULL, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_attr, rdmacg_attr_cases, name);

static void query_shows_the_limits(struct kunit *test)
{
	const struct rdmacg_attr_case *limits = test->param_value;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_device_attr attr = verbs->device.attrs;

	if (limits->hca)
		KUNIT_ASSERT_EQ(test, rdmacg_set_max(&verbs->left, RDMACG_CLASS_HCA,
						     limits->hca), 0);
	if (limits->verb)
		rdmacg_limit_verb(test, &verbs->left, limits->verb);
	if (limits->top)
		rdmacg_limit_verb(test, &verbs->top, limits->top);
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_pd, limits->max_pd);
	KUNIT_EXPECT_EQ(test, attr.max_qp, limits->max_qp);
	KUNIT_EXPECT_EQ(test, attr.max_mr_size, limits->max_mr_size);
	/* What the device does not state it does not have. */
	KUNIT_EXPECT_EQ(test, attr.max_srq, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 0);
}

#define RDMACG_HW(_name) RDMACG_TEST_RESOURCE(_name, RDMACG_CLASS_HW)

static void hw_resources_have_their_own_files(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = { RDMACG_HW("lane"), RDMACG_HW("gate") };
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_cgroup *owner;

	ib_rdmacg_set_hw_resources(&verbs->device, resources, ARRAY_SIZE(resources));
	rdmacg_start(test);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, owner, &verbs->left);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=1\n");
	rdmacg_expect_left(test, 0, "");

	KUNIT_ASSERT_EQ(test, rdmacg_set_max(&verbs->top, RDMACG_CLASS_HW, "kunit0 gate=1"), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, 1), -EAGAIN);
	KUNIT_EXPECT_NULL(test, owner);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_EVENTS,
		      "kunit0 lane.max=0 lane.alloc_fail=0 gate.max=1 gate.alloc_fail=1\n");
	ib_rdmacg_uncharge_hw(&verbs->left, &verbs->device, 1);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=0\n");
}

/* A device without such resources has no line, and nothing to charge. */
static void no_hw_resources_no_line(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdma_cgroup *owner = &verbs->left;

	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_MAX, "");
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&verbs->top, RDMACG_CLASS_HW, "kunit0 max"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, 0), 0);
	KUNIT_EXPECT_NULL(test, owner);
	ib_rdmacg_uncharge_hw(owner, &verbs->device, 0);
}

/* A driver's table that is refused leaves the device with the rest. */
static void refused_hw_resources(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = { RDMACG_HW("lane"), RDMACG_HW("qp") };
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_cgroup *owner;

	ib_rdmacg_set_hw_resources(&verbs->device, resources, ARRAY_SIZE(resources));
	rdmacg_start(test);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_MAX, "");
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, 0), 0);
	KUNIT_EXPECT_NULL(test, owner);
}

/* "qp" is a word of the verb class, in no file of another. */
static void classes_do_not_mix(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&verbs->left, RDMACG_CLASS_HCA, "kunit0 qp=1"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&verbs->left, RDMACG_CLASS_VERB,
					     "kunit0 hca_object=1"), -EINVAL);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 qp=1");
	KUNIT_EXPECT_EQ(test, rdmacg_set_max(&verbs->left, RDMACG_CLASS_HCA, "kunit0 max"), 0);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_MAX,
		      "kunit0 pd=max comp_channel=max cq=max qp=1 mr=max async_event=max mr_mem=max cm_id=max\n");
}

struct rdmacg_driver_case {
	const char *name;
	u32 id;
	bool is_limited;
};

static const struct rdmacg_driver_case rdmacg_driver_cases[] = {
	{ "unknown", RDMA_DRIVER_UNKNOWN, false },
	{ "mlx5", RDMA_DRIVER_MLX5, true },
	{ "mlx4", RDMA_DRIVER_MLX4, true },
	{ "cxgb3", RDMA_DRIVER_CXGB3, false },
	{ "cxgb4", RDMA_DRIVER_CXGB4, false },
	{ "mthca", RDMA_DRIVER_MTHCA, true },
	{ "bnxt_re", RDMA_DRIVER_BNXT_RE, true },
	{ "ocrdma", RDMA_DRIVER_OCRDMA, true },
	{ "nes", RDMA_DRIVER_NES, false },
	{ "irdma", RDMA_DRIVER_IRDMA, true },
	{ "vmw_pvrdma", RDMA_DRIVER_VMW_PVRDMA, true },
	{ "qedr", RDMA_DRIVER_QEDR, true },
	{ "hns", RDMA_DRIVER_HNS, true },
	{ "usnic", RDMA_DRIVER_USNIC, false },
	{ "rxe", RDMA_DRIVER_RXE, true },
	{ "hfi1", RDMA_DRIVER_HFI1, true },
	{ "qib", RDMA_DRIVER_QIB, true },
	{ "efa", RDMA_DRIVER_EFA, false },
	{ "siw", RDMA_DRIVER_SIW, true },
	{ "erdma", RDMA_DRIVER_ERDMA, true },
	{ "mana", RDMA_DRIVER_MANA, true },
	{ "the first after mana", RDMA_DRIVER_MANA + 1, false },
	{ "one to come", 1000, false },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_driver, rdmacg_driver_cases, name);

/* A provider that nobody has read may size tables of its own by these. */
static void query_shows_limits_of_known_drivers(struct kunit *test)
{
	const struct rdmacg_driver_case *driver = test->param_value;
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_device_attr attr = verbs->device.attrs;

	verbs->device.ops.driver_id = driver->id;
	rdmacg_start(test);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 qp=7 mr_mem=4096");
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_qp, driver->is_limited ? 7 : 1000);
	KUNIT_EXPECT_EQ(test, attr.max_mr_size, driver->is_limited ? 4096 : 64 * MIB);
}

/* A resource of another class would appear among keys that programs parse. */
static void hw_resources_of_another_class(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = {
		RDMACG_HW("lane"), RDMACG_TEST_RESOURCE("gate", RDMACG_CLASS_HCA),
	};
	struct rdmacg_verbs *verbs = test->priv;

	ib_rdmacg_set_hw_resources(&verbs->device, resources, ARRAY_SIZE(resources));
	rdmacg_start(test);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_MAX, "");
	rdmacg_expect_left(test, 0, "");
}

/* The creator of an identifier pays, also for what its listener is asked for. */
static void cm_id_is_charged_to_its_creator(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdma_id_private *id, *asked, *kernel;

	id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	asked = kunit_kzalloc(test, sizeof(*asked), GFP_KERNEL);
	kernel = kunit_kzalloc(test, sizeof(*kernel), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, id && asked && kernel);
	id->id.device = &verbs->device;
	asked->id.device = &verbs->device;
	kernel->id.device = &verbs->device;

	ib_rdmacg_init_cm_id(id, NULL);
	KUNIT_EXPECT_EQ(test, rdmacg_refs(&verbs->left), 1);
	ib_rdmacg_uncharge_cm_id(id);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 cm_id=2");
	verbs->current_cg = &verbs->right;
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(id), 0);
	ib_rdmacg_init_cm_id(asked, id);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(asked), 0);
	rdmacg_expect_left(test, 0, "cm_id=2");

	/* Given up, and as if once more: there is nothing to give back. */
	ib_rdmacg_uncharge_cm_id(asked);
	ib_rdmacg_uncharge_cm_id(asked);
	rdmacg_expect_left(test, 0, "cm_id=1");

	/* Wanted again when there is no room; in the end once more. */
	rdmacg_limit_verb(test, &verbs->left, "kunit0 cm_id=1");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(asked), -EAGAIN);
	ib_rdmacg_uncharge_cm_id(asked);
	ib_rdmacg_exit_cm_id(asked);
	ib_rdmacg_uncharge_cm_id(id);
	rdmacg_expect_left(test, 0, "");
	ib_rdmacg_exit_cm_id(id);

	/* The kernel's own. */
	asked->cg = NULL;
	ib_rdmacg_init_cm_id(asked, kernel);
	KUNIT_EXPECT_NULL(test, asked->cg);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(kernel), 0);
	KUNIT_EXPECT_FALSE(test, kernel->is_charged);
	ib_rdmacg_exit_cm_id(kernel);
}

static struct kunit_case rdmacg_verbs_cases[] = {
	KUNIT_CASE(types_are_what_the_device_supports),
	KUNIT_CASE(no_mr_no_mr_mem),
	KUNIT_CASE(driver_types_are_driver_object),
	KUNIT_CASE(idr_object_is_charged_by_type),
	KUNIT_CASE(fd_object_is_charged_by_type_alone),
	KUNIT_CASE(type_without_slot),
	KUNIT_CASE(refusal_of_the_type_charges_no_object),
	KUNIT_CASE(mr_is_one_charge),
	KUNIT_CASE(mr_of_no_length),
	KUNIT_CASE_PARAM(mr_mem_limit, rdmacg_mem_gen_params),
	KUNIT_CASE(lengths_under_way_refuse_nobody),
	KUNIT_CASE_PARAM(rereg_changes_the_mr, rdmacg_rereg_gen_params),
	KUNIT_CASE_PARAM(rereg_replaces_the_mr, rdmacg_rereg_gen_params),
	KUNIT_CASE_PARAM(rereg_fails, rdmacg_rereg_gen_params),
	KUNIT_CASE(rereg_of_access_keeps_the_length),
	KUNIT_CASE(rereg_without_owner),
	KUNIT_CASE(context_is_charged_once),
	KUNIT_CASE_PARAM(query_shows_the_limits, rdmacg_attr_gen_params),
	KUNIT_CASE_PARAM(query_shows_limits_of_known_drivers, rdmacg_driver_gen_params),
	KUNIT_CASE(hw_resources_have_their_own_files),
	KUNIT_CASE(no_hw_resources_no_line),
	KUNIT_CASE(refused_hw_resources),
	KUNIT_CASE(hw_resources_of_another_class),
	KUNIT_CASE(classes_do_not_mix),
	KUNIT_CASE(cm_id_is_charged_to_its_creator),
	{}
};

static struct kunit_suite rdmacg_verbs_suite = {
	.name = "cgroup_rdma_verbs",
	.init = rdmacg_verbs_test_init,
	.exit = rdmacg_verbs_test_exit,
	.test_cases = rdmacg_verbs_cases,
};

kunit_test_suite(rdmacg_verbs_suite);
