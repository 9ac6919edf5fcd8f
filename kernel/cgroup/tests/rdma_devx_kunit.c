// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for objects whose charge depends on attributes. These are DevX objects, with the
 * tables of mlx5 itself, and device memory. Tests do not send commands to firmware. Each test
 * charges an object as uverbs does before it calls a method.
 */
#include <linux/bitmap.h>
#include <linux/overflow.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../../../drivers/infiniband/core/cgroup_driver.h"
#include "../../../drivers/infiniband/core/cgroup_query.h"
#include "../../../drivers/infiniband/core/rdma_core.h"
#include "rdma_verbs_kunit.h"

/* Rename these functions, because a built-in mlx5_ib has functions of these names. */
#define mlx5_ib_set_object_defs rdmacg_test_mlx5_set_object_defs
#define mlx5_ib_set_resources rdmacg_test_mlx5_set_resources
#define mlx5_ib_charge_uars rdmacg_test_mlx5_charge_uars
#define mlx5_ib_uncharge_uars rdmacg_test_mlx5_uncharge_uars
#include "../../../drivers/infiniband/hw/mlx5/cgroup.c"

/* The attributes of a method that is about to create an object. */
struct rdmacg_method {
	struct ib_uobject *uobj;
	struct uverbs_api_attr handle;
	struct uverbs_attr_bundle *attrs;
	DECLARE_BITMAP(uobjs, UVERBS_API_ATTR_BKEY_LEN);
};

/*
 * Make the test's device an mlx5 device in all fields on which charges depend. Its operations
 * are never called.
 */
static int rdmacg_devx_test_init(struct kunit *test)
{
	static const struct uapi_definition driver_def[] = { {} };
	int ret = rdmacg_verbs_test_init(test);
	struct ib_device *device;

	if (ret)
		return ret;
	device = &((struct rdmacg_verbs *)test->priv)->device;
	device->ops.driver_id = RDMA_DRIVER_MLX5;
	device->ops.destroy_srq = (void *)rdmacg_devx_test_init;
	device->ops.dealloc_xrcd = (void *)rdmacg_devx_test_init;
	device->ops.destroy_wq = (void *)rdmacg_devx_test_init;
	device->ops.destroy_rwq_ind_table = (void *)rdmacg_devx_test_init;
	device->ops.create_flow = (void *)rdmacg_devx_test_init;
	device->ops.destroy_flow = (void *)rdmacg_devx_test_init;
	device->ops.destroy_flow_action = (void *)rdmacg_devx_test_init;
	device->ops.destroy_counters = (void *)rdmacg_devx_test_init;
	device->ops.dealloc_dm = (void *)rdmacg_devx_test_init;
	device->ops.attach_mcast = (void *)rdmacg_devx_test_init;
	device->attrs.max_dm_size = 64 * PAGE_SIZE;
	device->driver_def = driver_def;
	mlx5_ib_set_object_defs(device);
	mlx5_ib_set_resources(device);
	return 0;
}

static struct uverbs_attr *rdmacg_attr(struct rdmacg_method *method, u16 id)
{
	u32 bkey = uapi_bkey_attr(uapi_key_attr(id));

	__set_bit(bkey, method->attrs->attr_present);
	return &method->attrs->attrs[bkey];
}

/* Create the attributes of a method call, in which @handle is the object @uobj. */
static struct rdmacg_method *rdmacg_method(struct kunit *test, struct ib_uobject *uobj,
					   u16 handle, enum uverbs_obj_access access)
{
	struct rdmacg_method *method = kunit_kzalloc(test, sizeof(*method), GFP_KERNEL);
	struct uverbs_attr *attr;

	KUNIT_ASSERT_NOT_NULL(test, method);
	method->attrs = kunit_kzalloc(test, struct_size(method->attrs, attrs,
							UVERBS_API_ATTR_BKEY_LEN), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, method->attrs);
	method->uobj = uobj;
	method->handle.spec.u.obj.access = access;
	attr = rdmacg_attr(method, handle);
	attr->obj_attr.uobject = uobj;
	attr->obj_attr.attr_elm = &method->handle;
	__set_bit(uapi_bkey_attr(uapi_key_attr(handle)), method->uobjs);
	return method;
}

/*
 * Create an object of type @id, which has no charge yet, and the attributes of the method that
 * creates the object.
 */
static struct rdmacg_method *rdmacg_maker(struct kunit *test, u32 id, u16 handle)
{
	struct ib_uobject *uobj = rdmacg_uobject(test, id);

	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	KUNIT_ASSERT_NULL(test, uobj->cg_obj.cg);
	return rdmacg_method(test, uobj, handle, UVERBS_ACCESS_NEW);
}

static int rdmacg_run(struct rdmacg_method *method)
{
	return ib_rdmacg_charge_new_uobjects(method->attrs, method->uobjs);
}

/* Create the attributes of DEVX_OBJ_CREATE with the firmware command @cmd. */
static struct rdmacg_method *rdmacg_devx_obj(struct kunit *test, const void *cmd, u16 len)
{
	struct rdmacg_method *method = rdmacg_maker(test, MLX5_IB_OBJECT_DEVX_OBJ,
						    MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	struct uverbs_attr *attr = rdmacg_attr(method, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);

	attr->ptr_attr.ptr = (void *)cmd;
	attr->ptr_attr.len = len;
	return method;
}

struct rdmacg_devx_command {
	u32 words[MLX5_ST_SZ_DW(create_sw_icm_in)];
};

static struct rdmacg_devx_command *rdmacg_command(struct kunit *test, u16 opcode, u16 obj_type)
{
	struct rdmacg_devx_command *cmd = kunit_kzalloc(test, sizeof(*cmd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cmd);
	MLX5_SET(general_obj_in_cmd_hdr, cmd->words, opcode, opcode);
	MLX5_SET(general_obj_in_cmd_hdr, cmd->words, obj_type, obj_type);
	return cmd;
}

static struct rdmacg_method *rdmacg_opcode(struct kunit *test, u16 opcode)
{
	return rdmacg_devx_obj(test, rdmacg_command(test, opcode, 0),
			       sizeof(struct rdmacg_devx_command));
}

/* A firmware command, and the key that is charged for its object. */
struct rdmacg_opcode_case {
	const char *name;
	u16 opcode;
	const char *key;
};

#define RDMACG_OPCODE(_name, _key) { #_name, MLX5_CMD_OP_##_name, _key }

static const struct rdmacg_opcode_case rdmacg_opcode_cases[] = {
	RDMACG_OPCODE(ALLOC_PD, "pd"),
	RDMACG_OPCODE(CREATE_CQ, "cq"),
	RDMACG_OPCODE(CREATE_QP, "qp"),
	RDMACG_OPCODE(CREATE_DCT, "qp"),
	RDMACG_OPCODE(CREATE_SRQ, "srq"),
	RDMACG_OPCODE(CREATE_XRC_SRQ, "srq"),
	RDMACG_OPCODE(CREATE_XRQ, "srq"),
	RDMACG_OPCODE(CREATE_RMP, "srq"),
	RDMACG_OPCODE(CREATE_MKEY, "mr"),
	RDMACG_OPCODE(CREATE_RQ, "wq"),
	RDMACG_OPCODE(CREATE_SQ, "wq"),
	RDMACG_OPCODE(CREATE_RQT, "rwq_ind_tbl"),
	RDMACG_OPCODE(ALLOC_XRCD, "xrcd"),
	RDMACG_OPCODE(SET_FLOW_TABLE_ENTRY, "flow"),
	RDMACG_OPCODE(ALLOC_PACKET_REFORMAT_CONTEXT, "flow_action"),
	RDMACG_OPCODE(ALLOC_MODIFY_HEADER_CONTEXT, "flow_action"),
	RDMACG_OPCODE(ALLOC_FLOW_COUNTER, "counters"),
	RDMACG_OPCODE(ALLOC_Q_COUNTER, "counters"),
	RDMACG_OPCODE(CREATE_GENERAL_OBJECT, "driver_object"),
	RDMACG_OPCODE(ALLOC_TRANSPORT_DOMAIN, "driver_object"),
	RDMACG_OPCODE(CREATE_TIR, "driver_object"),
	RDMACG_OPCODE(CREATE_TIS, "driver_object"),
	RDMACG_OPCODE(CREATE_FLOW_TABLE, "driver_object"),
	RDMACG_OPCODE(CREATE_FLOW_GROUP, "driver_object"),
	RDMACG_OPCODE(CREATE_SCHEDULING_ELEMENT, "driver_object"),
	RDMACG_OPCODE(ADD_VXLAN_UDP_DPORT, "driver_object"),
	RDMACG_OPCODE(SET_L2_TABLE_ENTRY, "driver_object"),
	RDMACG_OPCODE(ATTACH_TO_MCG, "mcast"),
	RDMACG_OPCODE(CREATE_PSV, "driver_object"),
	/* DevX refuses these commands. */
	RDMACG_OPCODE(CREATE_EQ, "driver_object"),
	RDMACG_OPCODE(ALLOC_UAR, "driver_object"),
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_opcode, rdmacg_opcode_cases, name);

/* There is a case for each command in the table of mlx5, and for two commands that DevX refuses. */
static void rdmacg_test_every_command_of_the_table_is_tested(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(mlx5_ib_devx_types), ARRAY_SIZE(rdmacg_opcode_cases) - 2);
}

static void rdmacg_test_devx_object_counts_as_its_type(struct kunit *test)
{
	const struct rdmacg_opcode_case *expected = test->param_value;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdmacg_method *method = rdmacg_opcode(test, expected->opcode);
	char used[32];

	scnprintf(used, sizeof(used), "%s=1", expected->key);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
	rdmacg_expect_left(test, 1, used);
	/* The owner is uncharged, even if a process of another cgroup destroys the object. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	verbs->current_cg = &verbs->right;
	ib_rdmacg_uncharge_uobject(method->uobj);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/* Expect that no part of a refused object appears in usage or peaks. */
static void rdmacg_expect_unseen(struct kunit *test, struct rdmacg_method *method)
{
	struct rdmacg_verbs *verbs = test->priv;
	char *current_text, *peak;

	KUNIT_EXPECT_NULL(test, method->uobj->cg_obj.cg);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	ib_rdmacg_uncharge_uobject(method->uobj);
	rdmacg_expect_left(test, 0, "");
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_PEAK,
		      "kunit0 hca_handle=0 hca_object=0\n");
	current_text = rdmacg_test_show(test, &verbs->left, RDMACG_CLASS_VERB,
					RDMACG_FILE_CURRENT);
	peak = rdmacg_test_show(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_PEAK);
	KUNIT_EXPECT_STREQ(test, peak, current_text);
}

/* A QP of DevX is never charged as a driver_object, not even for a moment. */
static void rdmacg_test_devx_qp_is_not_a_driver_object(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	rdmacg_limit_verb(test, &verbs->left, "kunit0 driver_object=0 qp=1");
	KUNIT_EXPECT_EQ(test, rdmacg_run(rdmacg_opcode(test, MLX5_CMD_OP_CREATE_QP)), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_run(rdmacg_opcode(test, MLX5_CMD_OP_CREATE_DCT)), -EAGAIN);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 driver_object=1 qp=0");
	KUNIT_EXPECT_EQ(test, rdmacg_run(rdmacg_opcode(test, MLX5_CMD_OP_CREATE_TIR)), 0);
	rdmacg_expect_left(test, 2, "qp=1 driver_object=1");
}

/* An InfiniBand port of mlx5 has no WQs for verbs, but DevX creates receive queues there. */
static void rdmacg_test_type_that_the_device_lacks_is_a_driver_object(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct rdmacg_method *method;

	verbs->device.ops.destroy_wq = NULL;
	rdmacg_start(test);
	method = rdmacg_opcode(test, MLX5_CMD_OP_CREATE_RQ);
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
	rdmacg_expect_left(test, 1, "driver_object=1");
	ib_rdmacg_uncharge_uobject(method->uobj);
	rdmacg_expect_left(test, 0, "");
}

static void rdmacg_test_devx_object_without_a_command_is_refused(struct kunit *test)
{
	struct rdmacg_method *method;

	rdmacg_start(test);
	method = rdmacg_maker(test, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), -ENOENT);
	rdmacg_expect_unseen(test, method);
}

/* A command that only modifies or queries an object charges nothing. */
static void rdmacg_test_object_that_is_used_is_not_charged_again(struct kunit *test)
{
	struct rdmacg_method *maker, *user;

	rdmacg_start(test);
	maker = rdmacg_opcode(test, MLX5_CMD_OP_CREATE_QP);
	KUNIT_EXPECT_EQ(test, rdmacg_run(maker), 0);
	user = rdmacg_method(test, maker->uobj, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
			     UVERBS_ACCESS_READ);
	KUNIT_EXPECT_EQ(test, rdmacg_run(user), 0);
	rdmacg_expect_left(test, 1, "qp=1");
}

/* Objects of mlx5 that are not DevX objects are charged once, when uverbs creates them. */
static void rdmacg_test_other_objects_of_mlx5_are_driver_objects(struct kunit *test)
{
	struct ib_uobject *uobj;
	struct rdmacg_method *method;

	rdmacg_start(test);
	uobj = rdmacg_uobject(test, MLX5_IB_OBJECT_VAR);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	rdmacg_expect_left(test, 1, "driver_object=1");
	method = rdmacg_method(test, uobj, MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, UVERBS_ACCESS_NEW);
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
	rdmacg_expect_left(test, 1, "driver_object=1");
}

static int rdmacg_describe_cq(const struct uverbs_attr_bundle *attrs,
			      struct ib_rdmacg_content *content)
{
	content->type = UVERBS_OBJECT_CQ;
	return 0;
}

/*
 * An object with a file descriptor is charged only for its type, even if the driver describes it.
 */
static void rdmacg_test_fd_object_counts_once_as_its_type(struct kunit *test)
{
	static const struct ib_rdmacg_object_def defs[] = {
		{ MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, rdmacg_describe_cq }, {}
	};
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_uobject *uobj;
	int ret;

	ib_rdmacg_set_object_defs(&verbs->device, defs);
	rdmacg_start(test);
	uobj = rdmacg_uobject(test, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_fd_uobject(uobj), 0);
	rdmacg_expect_left(test, 0, "");
	ret = rdmacg_run(rdmacg_method(test, uobj, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE,
				       UVERBS_ACCESS_NEW));
	KUNIT_EXPECT_EQ(test, ret, 0);
	rdmacg_expect_left(test, 0, "cq=1");
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
}

/* Create a method for a general object with 2^@log_size bytes of steering memory. */
static struct rdmacg_method *rdmacg_sw_icm(struct kunit *test, u8 log_size, u16 len)
{
	struct rdmacg_devx_command *cmd = rdmacg_command(test, MLX5_CMD_OP_CREATE_GENERAL_OBJECT,
						    MLX5_OBJ_TYPE_SW_ICM);

	MLX5_SET(create_sw_icm_in, cmd->words, sw_icm.log_sw_icm_size, log_size);
	return rdmacg_devx_obj(test, cmd, len);
}

static void rdmacg_test_devx_steering_memory_is_device_memory(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdmacg_method *method = rdmacg_sw_icm(test, 16, sizeof(struct rdmacg_devx_command));

	rdmacg_limit_verb(test, &verbs->left, "kunit0 dm_mem=65535");
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), -EAGAIN);
	rdmacg_expect_unseen(test, method);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 dm_mem=65536");
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
	rdmacg_expect_left(test, 1, "dm=1 dm_mem=65536");
	ib_rdmacg_uncharge_uobject(method->uobj);
	rdmacg_expect_left(test, 0, "");
}

/*
 * The firmware refuses a command without a size, and the kernel does not read beyond the command's
 * end.
 */
static void rdmacg_test_devx_steering_memory_without_a_size_is_a_driver_object(struct kunit *test)
{
	rdmacg_start(test);
	KUNIT_EXPECT_EQ(test, rdmacg_run(rdmacg_sw_icm(test, 16, 27)), 0);
	rdmacg_expect_left(test, 1, "driver_object=1");
	KUNIT_EXPECT_EQ(test, rdmacg_run(rdmacg_sw_icm(test, 16, 28)), 0);
	rdmacg_expect_left(test, 2, "dm=1 driver_object=1 dm_mem=65536");
}

static void rdmacg_test_devx_steering_memory_without_end_is_not_counted(struct kunit *test)
{
	static const u8 sizes[] = { 48, 63, 64, 255 };
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdmacg_method *method;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		method = rdmacg_sw_icm(test, sizes[i], sizeof(struct rdmacg_devx_command));
		rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=9000000000000000000");
		KUNIT_ASSERT_EQ_MSG(test, rdmacg_run(method), -EAGAIN, "2^%u", sizes[i]);
		rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=max");
		KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
		rdmacg_expect_left(test, 1, "dm=1");
		ib_rdmacg_uncharge_uobject(method->uobj);
	}
}

static struct rdmacg_method *rdmacg_dm(struct kunit *test, u64 length)
{
	struct rdmacg_method *method = rdmacg_maker(test, UVERBS_OBJECT_DM,
						    UVERBS_ATTR_ALLOC_DM_HANDLE);
	struct uverbs_attr *attr = rdmacg_attr(method, UVERBS_ATTR_ALLOC_DM_LENGTH);

	attr->ptr_attr.data = length;
	attr->ptr_attr.len = sizeof(length);
	return method;
}

/*
 * A length of device memory and its charge. A limit that is one byte below the charge refuses the
 * length.
 */
struct rdmacg_dm_case {
	const char *name;
	u64 length;
	u64 counted;
};

static const struct rdmacg_dm_case rdmacg_dm_cases[] = {
	{ "a byte", 1, PAGE_SIZE },
	{ "a page", PAGE_SIZE, PAGE_SIZE },
	{ "a page and a byte", PAGE_SIZE + 1, 2 * PAGE_SIZE },
	{ "more than the device has", 65 * PAGE_SIZE, 65 * PAGE_SIZE },
	{ "the longest", LONGEST + 1 - PAGE_SIZE, LONGEST + 1 - PAGE_SIZE },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_dm, rdmacg_dm_cases, name);

static void rdmacg_test_device_memory_is_charged_in_pages(struct kunit *test)
{
	const struct rdmacg_dm_case *dm = test->param_value;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdmacg_method *method = rdmacg_dm(test, dm->length);
	char used[64];

	scnprintf(used, sizeof(used), "dm=1 dm_mem=%llu", dm->counted);
	rdmacg_limit_bytes(test, &verbs->top, "dm_mem", dm->counted - 1);
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), -EAGAIN);
	rdmacg_expect_unseen(test, method);
	rdmacg_limit_bytes(test, &verbs->top, "dm_mem", dm->counted);
	KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
	rdmacg_expect_left(test, 1, used);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	ib_rdmacg_uncharge_uobject(method->uobj);
	rdmacg_expect_left(test, 0, "");
}

static void rdmacg_test_device_memory_without_end_is_not_counted(struct kunit *test)
{
	static const u64 lengths[] = { LONGEST, LONGEST + 1, U64_MAX - PAGE_SIZE, U64_MAX };
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdmacg_method *method;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		method = rdmacg_dm(test, lengths[i]);
		rdmacg_limit_bytes(test, &verbs->top, "dm_mem", RDMACG_NO_LIMIT - 1);
		KUNIT_ASSERT_EQ_MSG(test, rdmacg_run(method), -EAGAIN, "%llu", lengths[i]);
		rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=max");
		KUNIT_EXPECT_EQ(test, rdmacg_run(method), 0);
		rdmacg_expect_left(test, 1, "dm=1");
		ib_rdmacg_uncharge_uobject(method->uobj);
	}
}

/*
 * A query of device memory does not show the limit. The provider of mlx5 keeps the answer and
 * refuses larger requests itself. If the answer were the limit, no refusal would appear in the
 * events, and a higher limit would have no effect.
 */
static void rdmacg_test_query_shows_all_device_memory(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_device_attr attr = verbs->device.attrs;
	char capacity[64];

	rdmacg_limit_verb(test, &verbs->left, "kunit0 dm_mem=1");
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_dm_size, 64 * PAGE_SIZE);
	scnprintf(capacity, sizeof(capacity), " dm_mem=%lu", 64 * PAGE_SIZE);
	KUNIT_EXPECT_NOT_NULL(test, strstr(rdmacg_test_show(test, &verbs->root, RDMACG_CLASS_HCA,
							    RDMACG_FILE_CAPACITY), capacity));
}

static struct kunit_case rdmacg_devx_cases[] = {
	KUNIT_CASE(rdmacg_test_every_command_of_the_table_is_tested),
	KUNIT_CASE_PARAM(rdmacg_test_devx_object_counts_as_its_type, rdmacg_opcode_gen_params),
	KUNIT_CASE(rdmacg_test_devx_qp_is_not_a_driver_object),
	KUNIT_CASE(rdmacg_test_type_that_the_device_lacks_is_a_driver_object),
	KUNIT_CASE(rdmacg_test_devx_object_without_a_command_is_refused),
	KUNIT_CASE(rdmacg_test_object_that_is_used_is_not_charged_again),
	KUNIT_CASE(rdmacg_test_other_objects_of_mlx5_are_driver_objects),
	KUNIT_CASE(rdmacg_test_fd_object_counts_once_as_its_type),
	KUNIT_CASE(rdmacg_test_devx_steering_memory_is_device_memory),
	KUNIT_CASE(rdmacg_test_devx_steering_memory_without_a_size_is_a_driver_object),
	KUNIT_CASE(rdmacg_test_devx_steering_memory_without_end_is_not_counted),
	KUNIT_CASE_PARAM(rdmacg_test_device_memory_is_charged_in_pages, rdmacg_dm_gen_params),
	KUNIT_CASE(rdmacg_test_device_memory_without_end_is_not_counted),
	KUNIT_CASE(rdmacg_test_query_shows_all_device_memory),
	{}
};

static struct kunit_suite rdmacg_devx_suite = {
	.name = "cgroup_rdma_devx",
	.init = rdmacg_devx_test_init,
	.test_cases = rdmacg_devx_cases,
};

kunit_test_suite(rdmacg_devx_suite);

MODULE_DESCRIPTION("KUnit tests for charges of DevX objects and device memory");
MODULE_LICENSE("GPL");
