// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks for commands: the function that runs an ioctl, and each handler of
 * write(). Both run after the kernel has copied what says which command it is,
 * so a process cannot change that meanwhile.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <linux/version.h>
#include <uapi/rdma/bnxt_re-abi.h>
#include <uapi/rdma/mlx5_user_ioctl_cmds.h>
#include <uapi/rdma/rdma_user_ioctl_cmds.h>

#include "hook.h"
#include "record.h"

/* The kind of a command that is not counted. */
#define RDMACG_COMMAND_UNCOUNTED ((enum rdmacg_command_kind)-1)

#define RDMACG_METHOD(_object, _method, _kind) \
	{ UVERBS_OBJECT_##_object, UVERBS_METHOD_##_method, RDMACG_COMMAND_##_kind }

/*
 * The methods of the IB core, except for changes. Those that are not counted
 * read data of the kernel, or call a handler of write(), which has a hook.
 */
static const struct {
	u16				object;
	u16				method;
	enum rdmacg_command_kind	kind;
} rdmacg_methods[] = {
#define CREATE(_object, _method) RDMACG_METHOD(_object, _method, CREATE)
	CREATE(ASYNC_EVENT, ASYNC_EVENT_ALLOC), CREATE(COUNTERS, COUNTERS_CREATE),
	CREATE(CQ, CQ_CREATE), CREATE(DM, DM_ALLOC), CREATE(FLOW_ACTION, FLOW_ACTION_ESP_CREATE),
	CREATE(MR, DM_MR_REG), CREATE(MR, REG_DMABUF_MR), CREATE(QP, QP_CREATE),
	CREATE(SRQ, SRQ_CREATE), CREATE(WQ, WQ_CREATE),
#define DESTROY(_object, _method) RDMACG_METHOD(_object, _method, DESTROY)
	DESTROY(AH, AH_DESTROY), DESTROY(COUNTERS, COUNTERS_DESTROY), DESTROY(CQ, CQ_DESTROY),
	DESTROY(DM, DM_FREE), DESTROY(FLOW, FLOW_DESTROY),
	DESTROY(FLOW_ACTION, FLOW_ACTION_DESTROY), DESTROY(MR, MR_DESTROY),
	DESTROY(MW, MW_DESTROY), DESTROY(PD, PD_DESTROY), DESTROY(QP, QP_DESTROY),
	DESTROY(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY), DESTROY(SRQ, SRQ_DESTROY),
	DESTROY(WQ, WQ_DESTROY), DESTROY(XRCD, XRCD_DESTROY),
#define UNCOUNTED(_object, _method) RDMACG_METHOD(_object, _method, UNCOUNTED)
	UNCOUNTED(DEVICE, INFO_HANDLES), UNCOUNTED(DEVICE, INVOKE_WRITE),
	UNCOUNTED(DEVICE, QUERY_GID_ENTRY), UNCOUNTED(DEVICE, QUERY_GID_TABLE),
	UNCOUNTED(MR, QUERY_MR),
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
	CREATE(COMP_CNTR, COMP_CNTR_CREATE), CREATE(DMABUF, DMABUF_ALLOC),
	CREATE(DMAH, DMAH_ALLOC), CREATE(MR, REG_MR),
	DESTROY(COMP_CNTR, COMP_CNTR_DESTROY), DESTROY(DMAH, DMAH_FREE),
	UNCOUNTED(DEVICE, QUERY_COMP_CNTR_CAPS),
#endif
};

/* The first number of a driver's objects and methods. */
#define RDMACG_DRIVER_NS BIT(UVERBS_ID_NS_SHIFT)

/*
 * The first method of a driver's object creates it, and the second destroys it.
 * In Linux 6.1 to 7.3, the only exceptions are MLX5_IB_OBJECT_DEVX, whose
 * methods pass commands on, and BNXT_RE_OBJECT_NOTIFY_DRV, which posts work.
 */
static enum rdmacg_command_kind rdmacg_driver_kind(enum rdma_driver_id driver, u16 object,
						   u16 method)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if (driver == RDMA_DRIVER_BNXT_RE && object == BNXT_RE_OBJECT_NOTIFY_DRV)
		return RDMACG_COMMAND_UNCOUNTED;
#endif
	if (driver == RDMA_DRIVER_MLX5 && object == MLX5_IB_OBJECT_DEVX)
		return RDMACG_COMMAND_CHANGE;
	if (method == RDMACG_DRIVER_NS + 1)
		return RDMACG_COMMAND_DESTROY;
	return method == RDMACG_DRIVER_NS ? RDMACG_COMMAND_CREATE : RDMACG_COMMAND_CHANGE;
}

static enum rdmacg_command_kind rdmacg_method_kind(enum rdma_driver_id driver,
						   const struct ib_uverbs_ioctl_hdr *hdr)
{
	unsigned int i;

	/* mlx5 also has methods that create and destroy the IB core's flows. */
	if (hdr->object_id >= RDMACG_DRIVER_NS ||
	    (hdr->object_id == UVERBS_OBJECT_FLOW && hdr->method_id >= RDMACG_DRIVER_NS))
		return rdmacg_driver_kind(driver, hdr->object_id, hdr->method_id);
	for (i = 0; i < ARRAY_SIZE(rdmacg_methods); i++)
		if (rdmacg_methods[i].object == hdr->object_id &&
		    rdmacg_methods[i].method == hdr->method_id)
			return rdmacg_methods[i].kind;
	return RDMACG_COMMAND_CHANGE;
}

/* @hdr is NULL for a command of @kind by write(). */
static noinline int rdmacg_limit(struct rdmacg_command *command, struct ib_uverbs_file *ufile,
				 const struct ib_uverbs_ioctl_hdr *hdr,
				 enum rdmacg_command_kind kind)
{
	struct ib_ucontext *context = ib_uverbs_get_ucontext_file(ufile);
	struct rdmacg_target *target;

	/* The command that creates the context comes before it. */
	target = IS_ERR(context) ? NULL : rdmacg_find_target(context->device);
	if (!target)
		return 0;
	if (hdr)
		kind = rdmacg_method_kind(context->device->ops.driver_id, hdr);
	if (kind == RDMACG_COMMAND_UNCOUNTED || !rdmacg_enforces())
		return 0;
	return rdmacg_begin_command(command, &target->device, kind);
}

RDMACG_CALLED(verbs, int, struct ib_uverbs_file *ufile, struct ib_uverbs_ioctl_hdr *hdr,
	      struct ib_uverbs_attr __user *attrs);

static int rdmacg_hook_verbs(struct ib_uverbs_file *ufile, struct ib_uverbs_ioctl_hdr *hdr,
			     struct ib_uverbs_attr __user *attrs)
{
	struct rdmacg_command command = { };
	int ret = 0;

	rdmacg_enter();
	if (unlikely(rdmacg_commands_are_limited()))
		ret = rdmacg_limit(&command, ufile, hdr, 0);
	if (!ret)
		ret = rdmacg_call(verbs)(ufile, hdr, attrs);
	rdmacg_end_command(&command);
	rdmacg_leave();
	return ret;
}

#define RDMACG_WRITE(_name, _kind)						\
RDMACG_CALLED(_name, int, struct uverbs_attr_bundle *attrs);			\
static int rdmacg_hook_##_name(struct uverbs_attr_bundle *attrs)		\
{										\
	struct rdmacg_command command = { };						\
	int ret = 0;								\
										\
	rdmacg_enter();								\
	if (unlikely(rdmacg_commands_are_limited()))				\
		ret = rdmacg_limit(&command, attrs->ufile, NULL, RDMACG_COMMAND_##_kind); \
	if (!ret)								\
		ret = rdmacg_call(_name)(attrs);				\
	rdmacg_end_command(&command);						\
	rdmacg_leave();								\
	return ret;								\
}

/* The handlers of write() that are commands, ib_uverbs_NAME(). */
#define RDMACG_WRITES(CREATE, CHANGE, DESTROY)					\
	CREATE(alloc_mw) CREATE(alloc_pd) CREATE(attach_mcast) CREATE(create_ah) \
	CREATE(create_comp_channel) CREATE(create_cq) CREATE(create_qp)		\
	CREATE(create_srq) CREATE(create_xsrq) CREATE(open_qp) CREATE(open_xrcd) \
	CREATE(reg_mr) CREATE(ex_create_cq) CREATE(ex_create_flow)		\
	CREATE(ex_create_qp) CREATE(ex_create_rwq_ind_table) CREATE(ex_create_wq) \
	CHANGE(modify_qp) CHANGE(modify_srq) CHANGE(query_port) CHANGE(query_qp) \
	CHANGE(query_srq) CHANGE(rereg_mr) CHANGE(resize_cq) CHANGE(ex_modify_cq) \
	CHANGE(ex_modify_qp) CHANGE(ex_modify_wq)				\
	DESTROY(close_xrcd) DESTROY(dealloc_mw) DESTROY(dealloc_pd)		\
	DESTROY(dereg_mr) DESTROY(destroy_ah) DESTROY(destroy_cq)		\
	DESTROY(destroy_qp) DESTROY(destroy_srq) DESTROY(detach_mcast)		\
	DESTROY(ex_destroy_flow) DESTROY(ex_destroy_rwq_ind_table) DESTROY(ex_destroy_wq)

#define RDMACG_CREATE(_name) RDMACG_WRITE(_name, CREATE)
#define RDMACG_CHANGE(_name) RDMACG_WRITE(_name, CHANGE)
#define RDMACG_DESTROY(_name) RDMACG_WRITE(_name, DESTROY)
RDMACG_WRITES(RDMACG_CREATE, RDMACG_CHANGE, RDMACG_DESTROY)

#define RDMACG_WRITE_HOOK(_name) \
	RDMACG_HOOK(_name, "ib_uverbs_" #_name, "int(uverbs_attr_bundle*)"),

struct rdmacg_hook rdmacg_command_hooks[] = {
	RDMACG_HOOK(verbs, "ib_uverbs_cmd_verbs",
		    "int(ib_uverbs_file*,ib_uverbs_ioctl_hdr*,ib_uverbs_attr*)"),
	RDMACG_WRITES(RDMACG_WRITE_HOOK, RDMACG_WRITE_HOOK, RDMACG_WRITE_HOOK)
	{}
};
