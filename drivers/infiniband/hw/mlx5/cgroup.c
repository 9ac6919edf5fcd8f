// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of mlx5 to the RDMA cgroup controller. Programs can create objects
 * with firmware commands, which they pass to DevX. Such an object counts as the
 * verbs object of the same kind. For example, a queue pair counts as a qp.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/mlx5_ifc.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "cgroup.h"

/*
 * The commands that create an object through DevX, and the types of the
 * objects. A command that mlx5_ib itself uses for a verbs object has the type
 * of that object.
 */
static const struct {
	u16 opcode;
	u32 type;
} mlx5_ib_devx_types[] = {
	{ MLX5_CMD_OP_ALLOC_PD, UVERBS_OBJECT_PD },
	{ MLX5_CMD_OP_CREATE_CQ, UVERBS_OBJECT_CQ },
	{ MLX5_CMD_OP_CREATE_QP, UVERBS_OBJECT_QP },
	/* A target of dynamically connected transport is a QP in verbs. */
	{ MLX5_CMD_OP_CREATE_DCT, UVERBS_OBJECT_QP },
	/*
	 * The command depends on the kind of SRQ and on the version of the
	 * firmware.
	 */
	{ MLX5_CMD_OP_CREATE_SRQ, UVERBS_OBJECT_SRQ },
	{ MLX5_CMD_OP_CREATE_XRC_SRQ, UVERBS_OBJECT_SRQ },
	{ MLX5_CMD_OP_CREATE_XRQ, UVERBS_OBJECT_SRQ },
	{ MLX5_CMD_OP_CREATE_RMP, UVERBS_OBJECT_SRQ },
	{ MLX5_CMD_OP_CREATE_MKEY, UVERBS_OBJECT_MR },
	/*
	 * The queues of a raw packet QP. Both count as a WQ, which is a receive
	 * queue in verbs.
	 */
	{ MLX5_CMD_OP_CREATE_RQ, UVERBS_OBJECT_WQ },
	{ MLX5_CMD_OP_CREATE_SQ, UVERBS_OBJECT_WQ },
	{ MLX5_CMD_OP_CREATE_RQT, UVERBS_OBJECT_RWQ_IND_TBL },
	{ MLX5_CMD_OP_ALLOC_XRCD, UVERBS_OBJECT_XRCD },
	{ MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, UVERBS_OBJECT_FLOW },
	{ MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, UVERBS_OBJECT_FLOW_ACTION },
	{ MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, UVERBS_OBJECT_FLOW_ACTION },
	/* In verbs, a counter or a set of counters is one object. */
	{ MLX5_CMD_OP_ALLOC_FLOW_COUNTER, UVERBS_OBJECT_COUNTERS },
	{ MLX5_CMD_OP_ALLOC_Q_COUNTER, UVERBS_OBJECT_COUNTERS },
	{ MLX5_CMD_OP_ATTACH_TO_MCG, IB_RDMACG_CONTENT_MCAST },

	/* These commands create objects that verbs do not have. */
	{ MLX5_CMD_OP_CREATE_GENERAL_OBJECT, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_TIR, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_TIS, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_FLOW_TABLE, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_FLOW_GROUP, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_SET_L2_TABLE_ENTRY, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_CMD_OP_CREATE_PSV, MLX5_IB_OBJECT_DEVX_OBJ },
};

/*
 * Returns the type for a command. A command that DevX will refuse has the type
 * of a DevX object.
 */
static u32 mlx5_ib_devx_type(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mlx5_ib_devx_types); i++)
		if (mlx5_ib_devx_types[i].opcode == opcode)
			return mlx5_ib_devx_types[i].type;
	return MLX5_IB_OBJECT_DEVX_OBJ;
}

/*
 * Returns whether the command allocates steering memory. UVERBS_METHOD_DM_ALLOC
 * can also allocate this memory.
 */
static bool mlx5_ib_is_sw_icm(const void *cmd, int len)
{
	if (MLX5_GET(general_obj_in_cmd_hdr, cmd, opcode) != MLX5_CMD_OP_CREATE_GENERAL_OBJECT ||
	    MLX5_GET(general_obj_in_cmd_hdr, cmd, obj_type) != MLX5_OBJ_TYPE_SW_ICM)
		return false;
	/*
	 * The firmware refuses a command that is too short to contain the size.
	 */
	return len > MLX5_BYTE_OFF(create_sw_icm_in, sw_icm.log_sw_icm_size);
}

static u64 mlx5_ib_sw_icm_size(const void *cmd)
{
	return BIT_ULL(min(MLX5_GET(create_sw_icm_in, cmd, sw_icm.log_sw_icm_size), 63u));
}

static int mlx5_ib_describe_devx_obj(const struct uverbs_attr_bundle *attrs,
				     struct ib_rdmacg_content *content)
{
	const struct uverbs_attr *attr =
		uverbs_attr_get(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
	const void *cmd;

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	/*
	 * The attribute has a pointer to a copy of the command, because the
	 * command is too long for the attribute itself. The program cannot
	 * change this copy.
	 */
	cmd = attr->ptr_attr.ptr;
	if (mlx5_ib_is_sw_icm(cmd, attr->ptr_attr.len)) {
		content->type = UVERBS_OBJECT_DM;
		content->dm_mem = mlx5_ib_sw_icm_size(cmd);
	} else {
		content->type = mlx5_ib_devx_type(MLX5_GET(general_obj_in_cmd_hdr, cmd, opcode));
	}
	return 0;
}

static const struct ib_rdmacg_object_def mlx5_ib_object_defs[] = {
	{ MLX5_IB_OBJECT_DEVX_OBJ, mlx5_ib_describe_devx_obj },
	{}
};

/**
 * mlx5_ib_set_object_defs() - declare the objects of DevX
 * @device: a device that is not registered yet
 *
 * Context: Any context.
 */
void mlx5_ib_set_object_defs(struct ib_device *device)
{
	ib_rdmacg_set_object_defs(device, mlx5_ib_object_defs);
}

/* The doorbell pages of contexts are a resource of the driver. */
enum mlx5_ib_resource {
	MLX5_IB_RESOURCE_UAR,
};

static const struct rdmacg_resource mlx5_ib_resources[] = {
	[MLX5_IB_RESOURCE_UAR] = {
		.name		= "uar",
		.class		= RDMACG_CLASS_HW,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/**
 * mlx5_ib_set_resources() - declare the resources of mlx5
 * @device: a device that is not registered yet
 *
 * Context: Any context.
 */
void mlx5_ib_set_resources(struct ib_device *device)
{
	ib_rdmacg_set_hw_resources(device, mlx5_ib_resources, ARRAY_SIZE(mlx5_ib_resources));
}

/**
 * mlx5_ib_charge_uars() - charge doorbell pages to the owner of a context
 * @ucontext: the context that is about to get the pages
 * @pages: the number of pages, which may be 0
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int mlx5_ib_charge_uars(struct ib_ucontext *ucontext, unsigned int pages)
{
	return ib_rdmacg_try_charge_ucontext_hw(ucontext, MLX5_IB_RESOURCE_UAR, pages);
}

/**
 * mlx5_ib_uncharge_uars() - return a charge of mlx5_ib_charge_uars()
 * @ucontext: the same context
 * @pages: the same number of pages
 *
 * Context: Process context; may sleep.
 */
void mlx5_ib_uncharge_uars(struct ib_ucontext *ucontext, unsigned int pages)
{
	ib_rdmacg_uncharge_ucontext_hw(ucontext, MLX5_IB_RESOURCE_UAR, pages);
}
