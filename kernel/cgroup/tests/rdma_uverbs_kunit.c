// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the classes of uverbs commands in the RDMA cgroup controller. They test all
 * commands of the kernel on a device that supports all of them, and some commands of a driver.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/radix-tree.h>
#include <rdma/bnxt_re-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "../../../drivers/infiniband/core/core_priv.h"
#include "../../../drivers/infiniband/core/rdma_core.h"
#include "../../../drivers/infiniband/core/uverbs.h"

enum {
	RDMACG_KUNIT_METHOD_MODIFY = 1U << UVERBS_ID_NS_SHIFT,
	RDMACG_KUNIT_METHOD_TAKE,
	RDMACG_KUNIT_METHOD_END,
};

enum {
	RDMACG_KUNIT_ATTR_HANDLE = 1U << UVERBS_ID_NS_SHIFT,
};

/* These operations are never called. */
static int UVERBS_HANDLER(RDMACG_KUNIT_METHOD_MODIFY)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static int UVERBS_HANDLER(RDMACG_KUNIT_METHOD_TAKE)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static int UVERBS_HANDLER(BNXT_RE_METHOD_NOTIFY_DRV)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(RDMACG_KUNIT_METHOD_MODIFY,
			    UVERBS_ATTR_IDR(RDMACG_KUNIT_ATTR_HANDLE, UVERBS_OBJECT_QP,
					    UVERBS_ACCESS_WRITE, UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD(RDMACG_KUNIT_METHOD_TAKE,
			    UVERBS_ATTR_IDR(RDMACG_KUNIT_ATTR_HANDLE, UVERBS_OBJECT_QP,
					    UVERBS_ACCESS_NEW, UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD_DESTROY(RDMACG_KUNIT_METHOD_END,
				    UVERBS_ATTR_IDR(RDMACG_KUNIT_ATTR_HANDLE, UVERBS_OBJECT_QP,
						    UVERBS_ACCESS_DESTROY, UA_MANDATORY));
ADD_UVERBS_METHODS(rdmacg_kunit_qp, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(RDMACG_KUNIT_METHOD_MODIFY),
		   &UVERBS_METHOD(RDMACG_KUNIT_METHOD_TAKE),
		   &UVERBS_METHOD(RDMACG_KUNIT_METHOD_END));

/* This declaration is the same as in bnxt_re. */
DECLARE_UVERBS_NAMED_METHOD(BNXT_RE_METHOD_NOTIFY_DRV);
ADD_UVERBS_METHODS(rdmacg_kunit_notify, BNXT_RE_OBJECT_NOTIFY_DRV,
		   &UVERBS_METHOD(BNXT_RE_METHOD_NOTIFY_DRV));

static const struct uapi_definition rdmacg_kunit_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &rdmacg_kunit_qp),
	UAPI_DEF_CHAIN_OBJ_TREE(BNXT_RE_OBJECT_NOTIFY_DRV, &rdmacg_kunit_notify),
	{},
};

static void rdmacg_unregister(void *arg)
{
	ib_device_unregister_rdmacg(arg);
}

static void rdmacg_destroy_api(void *arg)
{
	uverbs_destroy_api(arg);
}

/* Returns the methods and commands of a device that has all operations. */
static struct uverbs_api *rdmacg_driver_uapi(struct kunit *test, enum rdma_driver_id driver_id)
{
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	struct uverbs_api *uapi;

	KUNIT_ASSERT_NOT_NULL(test, device);
	memset(&device->ops, 1, sizeof(device->ops));
	device->ops.driver_id = driver_id;
	device->uverbs_cmd_mask = U64_MAX;
	device->driver_def = rdmacg_kunit_defs;
	strscpy(device->name, "kunit0", sizeof(device->name));
	KUNIT_ASSERT_EQ(test, ib_device_register_rdmacg(device), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_unregister, device), 0);
	uapi = uverbs_alloc_api(device);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uapi));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_destroy_api, uapi), 0);
	return uapi;
}

static struct uverbs_api *rdmacg_uapi(struct kunit *test)
{
	return rdmacg_driver_uapi(test, RDMA_DRIVER_UNKNOWN);
}

static void rdmacg_expect_class(struct kunit *test, struct uverbs_api *uapi, u32 object, u32 method,
				enum uverbs_command_class class)
{
	struct uverbs_api_ioctl_method *found;

	found = radix_tree_lookup(&uapi->radix,
				  uapi_key_obj(object) | uapi_key_ioctl_method(method));
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_EXPECT_EQ(test, found->control, class);
}

/*
 * Returns UVERBS_ACCESS_NEW or UVERBS_ACCESS_DESTROY if the method creates or destroys an object,
 * and UVERBS_ACCESS_READ otherwise.
 */
static enum uverbs_obj_access rdmacg_access(struct uverbs_api *uapi, u32 method_key)
{
	const struct uverbs_api_attr *attr;
	struct radix_tree_iter iter;
	void __rcu **slot;

	radix_tree_for_each_slot(slot, &uapi->radix, &iter, uapi_key_attrs_start(method_key)) {
		if (uapi_key_attr_to_ioctl_method(iter.index) != method_key)
			break;
		attr = rcu_dereference_protected(*slot, true);
		if ((attr->spec.type == UVERBS_ATTR_TYPE_IDR ||
		     attr->spec.type == UVERBS_ATTR_TYPE_FD) &&
		    (attr->spec.u.obj.access == UVERBS_ACCESS_NEW ||
		     attr->spec.u.obj.access == UVERBS_ACCESS_DESTROY))
			return attr->spec.u.obj.access;
	}
	return UVERBS_ACCESS_READ;
}

/*
 * Each command has a class. If this test fails, add the new command to
 * drivers/infiniband/core/uverbs_control.c. Exactly the methods that destroy an object are destroy
 * commands. A method that creates an object is a create command.
 */
static void rdmacg_test_each_command_is_classified(struct kunit *test)
{
	struct uverbs_api *uapi = rdmacg_uapi(test);
	struct uverbs_api_ioctl_method *method;
	struct uverbs_api_write_method *write;
	unsigned int methods = 0, writes = 0;
	struct radix_tree_iter iter;
	enum uverbs_obj_access access;
	void __rcu **slot;

	radix_tree_for_each_slot(slot, &uapi->radix, &iter, 0) {
		method = rcu_dereference_protected(*slot, true);
		write = rcu_dereference_protected(*slot, true);
		if (uapi_key_is_ioctl_method(iter.index)) {
			access = rdmacg_access(uapi, iter.index);
			KUNIT_EXPECT_NE_MSG(test, method->control, UVERBS_COMMAND_UNKNOWN,
					    "method %#lx", iter.index);
			KUNIT_EXPECT_EQ_MSG(test, access == UVERBS_ACCESS_DESTROY,
					    method->control == UVERBS_COMMAND_DESTROY,
					    "method %#lx", iter.index);
			if (access == UVERBS_ACCESS_NEW)
				KUNIT_EXPECT_EQ_MSG(test, method->control, UVERBS_COMMAND_CREATE,
						    "method %#lx", iter.index);
			methods++;
		} else if (uapi_key_is_write_method(iter.index) ||
			   uapi_key_is_write_ex_method(iter.index)) {
			KUNIT_EXPECT_NE_MSG(test, write->control, UVERBS_COMMAND_UNKNOWN,
					    "command %#lx", iter.index);
			writes++;
		}
	}
	/* Fewer would mean that the loop has missed some. Newer kernels have more. */
	KUNIT_EXPECT_GE(test, methods, 33);
	KUNIT_EXPECT_GE(test, writes, 47);
}

static void rdmacg_test_kind_of_each_command_is_right(struct kunit *test)
{
	static const struct {
		u32 command;
		enum uverbs_command_class class;
	} kinds[] = {
		{ IB_USER_VERBS_CMD_CREATE_QP, UVERBS_COMMAND_CREATE },
		{ IB_USER_VERBS_CMD_MODIFY_QP, UVERBS_COMMAND_CHANGE },
		{ IB_USER_VERBS_CMD_DEREG_MR, UVERBS_COMMAND_DESTROY },
		{ IB_USER_VERBS_CMD_POST_SEND, UVERBS_COMMAND_DATA },
		{ IB_USER_VERBS_CMD_QUERY_PORT, UVERBS_COMMAND_CHANGE },
		{ IB_USER_VERBS_CMD_QUERY_DEVICE, UVERBS_COMMAND_QUERY },
		/* This number has no command. */
		{ IB_USER_VERBS_CMD_PEEK_CQ, UVERBS_COMMAND_QUERY },
	};
	struct uverbs_api *uapi = rdmacg_uapi(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		KUNIT_EXPECT_EQ_MSG(test, uapi->write_methods[kinds[i].command]->control,
				    kinds[i].class, "command %u", kinds[i].command);
	KUNIT_EXPECT_EQ(test, uapi->write_ex_methods[IB_USER_VERBS_EX_CMD_MODIFY_QP]->control,
			UVERBS_COMMAND_CHANGE);
	KUNIT_EXPECT_EQ(test, uapi->write_ex_methods[IB_USER_VERBS_EX_CMD_DESTROY_WQ]->control,
			UVERBS_COMMAND_DESTROY);
}

/* Another driver uses the numbers of a driver's data path for other commands. */
static void rdmacg_test_data_path_of_one_driver_is_not_counted(struct kunit *test)
{
	struct uverbs_api *uapi = rdmacg_driver_uapi(test, RDMA_DRIVER_BNXT_RE);

	rdmacg_expect_class(test, uapi, BNXT_RE_OBJECT_NOTIFY_DRV, BNXT_RE_METHOD_NOTIFY_DRV,
			    UVERBS_COMMAND_DATA);
	rdmacg_expect_class(test, uapi, UVERBS_OBJECT_QP, RDMACG_KUNIT_METHOD_MODIFY,
			    UVERBS_COMMAND_CHANGE);
	uapi = rdmacg_driver_uapi(test, RDMA_DRIVER_MLX5);
	rdmacg_expect_class(test, uapi, BNXT_RE_OBJECT_NOTIFY_DRV, BNXT_RE_METHOD_NOTIFY_DRV,
			    UVERBS_COMMAND_CHANGE);
	rdmacg_expect_class(test, uapi, UVERBS_OBJECT_QP, RDMACG_KUNIT_METHOD_MODIFY,
			    UVERBS_COMMAND_CHANGE);
	rdmacg_expect_class(test, uapi, UVERBS_OBJECT_QP, RDMACG_KUNIT_METHOD_TAKE,
			    UVERBS_COMMAND_CREATE);
	rdmacg_expect_class(test, uapi, UVERBS_OBJECT_QP, RDMACG_KUNIT_METHOD_END,
			    UVERBS_COMMAND_DESTROY);
	rdmacg_expect_class(test, uapi, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
			    UVERBS_COMMAND_OTHER);
}

static struct kunit_case rdmacg_uverbs_cases[] = {
	KUNIT_CASE(rdmacg_test_each_command_is_classified),
	KUNIT_CASE(rdmacg_test_kind_of_each_command_is_right),
	KUNIT_CASE(rdmacg_test_data_path_of_one_driver_is_not_counted),
	{}
};

static struct kunit_suite rdmacg_uverbs_suite = {
	.name = "cgroup_rdma_uverbs",
	.test_cases = rdmacg_uverbs_cases,
};

kunit_test_suite(rdmacg_uverbs_suite);

MODULE_DESCRIPTION("KUnit tests for the classes of uverbs commands");
MODULE_LICENSE("GPL");
