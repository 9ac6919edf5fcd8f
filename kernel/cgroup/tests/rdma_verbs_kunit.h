/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the KUnit tests of the IB core. Devices and objects are only structs, and no driver
 * is called. The current process is in "left" or "right" of this tree:
 *
 *   root
 *    `-- top
 *         |-- left
 *         `-- right
 */
#ifndef _RDMA_VERBS_KUNIT_H
#define _RDMA_VERBS_KUNIT_H

#include <kunit/static_stub.h>
#include <linux/err.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/uverbs_std_types.h>

#include "../../../drivers/infiniband/core/cgroup.h"
#include "../../../drivers/infiniband/core/core_priv.h"
#include "rdma_kunit.h"

#define MIB (1024 * 1024ull)
/* The longest counted length. A longer length is endless. */
#define LONGEST (BIT_ULL(48) - 1)

struct rdmacg_verbs {
	struct rdma_cgroup root, top, left, right;
	struct rdma_cgroup *current_cg;
	struct ib_device device;
	struct ib_ucontext ucontext;
};

static inline struct rdma_cgroup *rdmacg_test_get_current(void)
{
	struct rdmacg_verbs *verbs = kunit_get_current_test()->priv;

	rdmacg_get(verbs->current_cg);
	return verbs->current_cg;
}

/*
 * Let the device support these types, in addition to the two types that every device has. Also set
 * its attributes.
 */
static inline void rdmacg_support(struct ib_device *device)
{
	device->ops.driver_id = RDMA_DRIVER_RXE;
	/* These operations are never called. */
	device->ops.dealloc_pd = (void *)rdmacg_support;
	device->ops.destroy_cq = (void *)rdmacg_support;
	device->ops.destroy_qp = (void *)rdmacg_support;
	device->ops.dereg_mr = (void *)rdmacg_support;
	device->attrs.max_pd = 100;
	device->attrs.max_qp = 1000;
	device->attrs.max_mr_size = 64 * MIB;
}

static inline int rdmacg_verbs_test_init(struct kunit *test)
{
	struct rdmacg_verbs *verbs = kunit_kzalloc(test, sizeof(*verbs), GFP_KERNEL);

	if (!verbs)
		return -ENOMEM;
	test->priv = verbs;
	kunit_activate_static_stub(test, rdmacg_get_current, rdmacg_test_get_current);
	rdmacg_test_create_cgroup(test, &verbs->root, NULL);
	rdmacg_test_create_cgroup(test, &verbs->top, &verbs->root);
	rdmacg_test_create_cgroup(test, &verbs->left, &verbs->top);
	rdmacg_test_create_cgroup(test, &verbs->right, &verbs->top);
	verbs->current_cg = &verbs->left;
	verbs->ucontext.device = &verbs->device;
	strscpy(verbs->device.name, "kunit0", sizeof(verbs->device.name));
	verbs->device.index = 100;
	rdmacg_support(&verbs->device);
	return 0;
}

static inline void rdmacg_stop(void *arg)
{
	struct rdmacg_verbs *verbs = arg;

	/* This call does nothing if the context is not charged. */
	ib_rdmacg_uncharge_ucontext(&verbs->ucontext);
	ib_device_unregister_rdmacg(&verbs->device);
}

/*
 * Register the device. A test may change the device before this call, and creates objects only
 * afterwards. So the charges of the objects are undone before the device is unregistered.
 */
static inline struct rdmacg_verbs *rdmacg_start(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	KUNIT_ASSERT_EQ(test, ib_device_register_rdmacg(&verbs->device), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_stop, verbs), 0);
	return verbs;
}

static inline void rdmacg_expect(struct kunit *test, struct rdma_cgroup *cg,
				 enum rdmacg_class class, enum rdmacg_file file,
				 const char *line)
{
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, cg, class, file), line);
}

/* The text of rdma.verb.current without any usage. */
#define NOTHING "kunit0 pd=0 comp_channel=0 cq=0 qp=0 mr=0 async_event=0 mr_mem=0 cm_id=0\n"

/* Returns the words of rdma.verb.current that do not end in "=0". */
static inline char *rdmacg_used(struct kunit *test, struct rdma_cgroup *cg)
{
	char *text = rdmacg_test_show(test, cg, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT);
	char *used = kunit_kzalloc(test, strlen(text) + 1, GFP_KERNEL);
	char *word;

	KUNIT_ASSERT_NOT_NULL(test, used);
	/* Check that the line exists, because a missing line would look like no usage. */
	KUNIT_ASSERT_STREQ(test, strsep(&text, " "), "kunit0");
	while ((word = strsep(&text, "\n "))) {
		if (!*word || !strcmp(strchrnul(word, '='), "=0"))
			continue;
		if (*used)
			strcat(used, " ");
		strcat(used, word);
	}
	return used;
}

/* Expect that "left" uses this number of hca_object, and @verb of the verb class. */
static inline void rdmacg_expect_left(struct kunit *test, unsigned int hca_object,
				      const char *verb)
{
	struct rdmacg_verbs *verbs = test->priv;
	char line[64];

	scnprintf(line, sizeof(line), "kunit0 hca_handle=0 hca_object=%u\n", hca_object);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT, line);
	KUNIT_EXPECT_STREQ(test, rdmacg_used(test, &verbs->left), verb);
}

static inline void rdmacg_uncharge_uobject(void *arg)
{
	/* This call does nothing if the object is not charged. */
	ib_rdmacg_uncharge_uobject(arg);
}

/* Create an object of type @id, which is not charged yet. */
static inline struct ib_uobject *rdmacg_uobject(struct kunit *test, u32 id)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct uverbs_api_object *object = kunit_kzalloc(test, sizeof(*object), GFP_KERNEL);
	struct ib_uobject *uobj = kunit_kzalloc(test, sizeof(*uobj), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, verbs->device.cg_device.desc);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, uobj);
	object->id = id;
	uobj->uapi_object = object;
	uobj->context = &verbs->ucontext;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_uncharge_uobject, uobj), 0);
	return uobj;
}

static inline void rdmacg_limit_verb(struct kunit *test, struct rdma_cgroup *cg, const char *text)
{
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(cg, RDMACG_CLASS_VERB, text), 0);
}

/* Limit a key by a number of bytes. */
static inline void rdmacg_limit_bytes(struct kunit *test, struct rdma_cgroup *cg, const char *key,
				      u64 limit)
{
	char line[64];

	scnprintf(line, sizeof(line), "kunit0 %s=%llu", key, limit);
	rdmacg_limit_verb(test, cg, line);
}

#endif /* _RDMA_VERBS_KUNIT_H */
