// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the class of each uverbs command. Each method and
 * command of a device stores its class.
 */
#include <linux/radix-tree.h>
#include <rdma/bnxt_re-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "rdma_core.h"
#include "uverbs.h"

/*
 * The methods of the core that do not create or destroy the object of an
 * attribute. All other methods have their class from their attributes.
 */
static const struct {
	u16	object;
	u16	method;
	u8	class;
} uverbs_control_methods[] = {
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, UVERBS_COMMAND_CHANGE },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, UVERBS_COMMAND_CREATE },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, UVERBS_COMMAND_QUERY },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_COMMAND_OTHER },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, UVERBS_COMMAND_CHANGE },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, UVERBS_COMMAND_QUERY },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, UVERBS_COMMAND_QUERY },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, UVERBS_COMMAND_CHANGE },
	{ UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY, UVERBS_COMMAND_CHANGE },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, UVERBS_COMMAND_CHANGE },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, UVERBS_COMMAND_QUERY },
};

/* The commands of write(), without and with the extended header. */
static const u8 uverbs_control_writes[2][UVERBS_API_WRITE_KEY_NUM] = {
	[false] = {
		[IB_USER_VERBS_CMD_ALLOC_MW] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_ALLOC_PD] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_ATTACH_MCAST] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CLOSE_XRCD] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_CREATE_AH] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CREATE_CQ] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CREATE_QP] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CREATE_SRQ] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_CREATE_XSRQ] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_DEALLOC_MW] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DEALLOC_PD] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DEREG_MR] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DESTROY_AH] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DESTROY_CQ] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DESTROY_QP] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DESTROY_SRQ] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_DETACH_MCAST] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_CMD_GET_CONTEXT] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_MODIFY_QP] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_MODIFY_SRQ] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_OPEN_QP] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_OPEN_XRCD] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_POLL_CQ] = UVERBS_COMMAND_DATA,
		[IB_USER_VERBS_CMD_POST_RECV] = UVERBS_COMMAND_DATA,
		[IB_USER_VERBS_CMD_POST_SEND] = UVERBS_COMMAND_DATA,
		[IB_USER_VERBS_CMD_POST_SRQ_RECV] = UVERBS_COMMAND_DATA,
		[IB_USER_VERBS_CMD_QUERY_DEVICE] = UVERBS_COMMAND_QUERY,
		[IB_USER_VERBS_CMD_QUERY_PORT] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_QUERY_QP] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_QUERY_SRQ] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_REG_MR] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_CMD_REQ_NOTIFY_CQ] = UVERBS_COMMAND_DATA,
		[IB_USER_VERBS_CMD_REREG_MR] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_CMD_RESIZE_CQ] = UVERBS_COMMAND_CHANGE,
	},
	[true] = {
		[IB_USER_VERBS_EX_CMD_CREATE_CQ] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_EX_CMD_CREATE_FLOW] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_EX_CMD_CREATE_QP] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_EX_CMD_CREATE_WQ] = UVERBS_COMMAND_CREATE,
		[IB_USER_VERBS_EX_CMD_DESTROY_FLOW] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_EX_CMD_DESTROY_WQ] = UVERBS_COMMAND_DESTROY,
		[IB_USER_VERBS_EX_CMD_MODIFY_CQ] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_EX_CMD_MODIFY_QP] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_EX_CMD_MODIFY_WQ] = UVERBS_COMMAND_CHANGE,
		[IB_USER_VERBS_EX_CMD_QUERY_DEVICE] = UVERBS_COMMAND_QUERY,
	},
};

/* mlx4 and mlx5 ask the firmware for each answer to ibv_query_device_ex(). */
static bool uverbs_asks_adapter(const struct uverbs_api *uapi, u32 command)
{
	return command == IB_USER_VERBS_EX_CMD_QUERY_DEVICE &&
	       (uapi->driver_id == RDMA_DRIVER_MLX4 || uapi->driver_id == RDMA_DRIVER_MLX5);
}

static u8 uverbs_write_class(const struct uverbs_api *uapi, u32 key, bool is_ex)
{
	u32 command = key & UVERBS_API_ATTR_KEY_MASK;

	if (is_ex && uverbs_asks_adapter(uapi, command))
		return UVERBS_COMMAND_CHANGE;
	return uverbs_control_writes[is_ex][command];
}

/* Returns whether a driver defines the method or its type of object. */
static bool uverbs_is_driver_key(u32 key)
{
	u32 object = (key & UVERBS_API_OBJ_KEY_MASK) >> UVERBS_API_OBJ_KEY_SHIFT;
	u32 method = (key & UVERBS_API_METHOD_KEY_MASK) >> UVERBS_API_METHOD_KEY_SHIFT;

	return object >= UVERBS_API_OBJ_KEY_NUM_CORE || method >= UVERBS_API_METHOD_KEY_NUM_CORE;
}

/*
 * bnxt_re posts work with this method while its doorbells are full, so the
 * method is not a command.
 */
static bool uverbs_is_driver_data(const struct uverbs_api *uapi, u32 key)
{
	return uapi->driver_id == RDMA_DRIVER_BNXT_RE &&
	       key == (uapi_key_obj(BNXT_RE_OBJECT_NOTIFY_DRV) |
		       uapi_key_ioctl_method(BNXT_RE_METHOD_NOTIFY_DRV));
}

static u8 uverbs_method_class(const struct uverbs_api *uapi,
			      const struct uverbs_api_ioctl_method *method, u32 key)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uverbs_control_methods); i++)
		if (key == (uapi_key_obj(uverbs_control_methods[i].object) |
			    uapi_key_ioctl_method(uverbs_control_methods[i].method)))
			return uverbs_control_methods[i].class;
	if (method->destroy_bkey != UVERBS_API_ATTR_BKEY_LEN)
		return UVERBS_COMMAND_DESTROY;
	if (!uverbs_is_driver_key(key))
		return UVERBS_COMMAND_UNKNOWN;
	return uverbs_is_driver_data(uapi, key) ? UVERBS_COMMAND_DATA : UVERBS_COMMAND_CHANGE;
}

/* Set the class of a method to "create" if the method creates an object. */
static void uverbs_classify_attr(const struct uverbs_api_attr *attr,
				 struct uverbs_api_ioctl_method *method)
{
	bool is_object = attr->spec.type == UVERBS_ATTR_TYPE_IDR ||
			 attr->spec.type == UVERBS_ATTR_TYPE_FD;

	if (method && is_object && attr->spec.u.obj.access == UVERBS_ACCESS_NEW &&
	    (method->control == UVERBS_COMMAND_CHANGE ||
	     method->control == UVERBS_COMMAND_UNKNOWN))
		method->control = UVERBS_COMMAND_CREATE;
}

/**
 * uverbs_init_commands() - set the class of each method and command of a device
 * @uapi: all methods and commands of the device
 * @device: the device, which programs cannot open yet. Limits apply to its
 *	commands from now on
 *
 * Context: Process context.
 */
void uverbs_init_commands(struct uverbs_api *uapi, struct ib_device *device)
{
	struct uverbs_api_ioctl_method *method = NULL;
	struct uverbs_api_write_method *write;
	struct radix_tree_iter iter;
	void __rcu **slot;

	radix_tree_for_each_slot(slot, &uapi->radix, &iter, 0) {
		/* No other task uses the device yet. */
		write = rcu_dereference_protected(*slot, true);
		/* The attributes of a method follow the method in the tree. */
		if (uapi_key_is_attr(iter.index)) {
			uverbs_classify_attr(rcu_dereference_protected(*slot, true), method);
		} else if (uapi_key_is_ioctl_method(iter.index)) {
			method = rcu_dereference_protected(*slot, true);
			method->control = uverbs_method_class(uapi, method, iter.index);
		} else if (uapi_key_is_write_method(iter.index)) {
			write->control = uverbs_write_class(uapi, iter.index, false);
		} else if (uapi_key_is_write_ex_method(iter.index)) {
			write->control = uverbs_write_class(uapi, iter.index, true);
		}
	}
	/* Calls of this method do not reach a driver. */
	uapi->notsupp_method.control = UVERBS_COMMAND_QUERY;
	rdmacg_resume_waiting(&device->cg_device);
}

/**
 * uverbs_limit_command() - do the work of uverbs_begin_command() while a cgroup
 *	limits commands
 * @attrs: has the command, not counted yet, and the open file. The caller is in
 *	a read section of the file's disassociate_srcu
 * @class: the class of the command
 *
 * Context: Process context; may sleep until the limit admits the command.
 * Return: 0, -ENOMEM, or -ERESTARTNOINTR if a signal ends the wait.
 */
int uverbs_limit_command(struct uverbs_attr_bundle_hdr *attrs, enum uverbs_command_class class)
{
	struct ib_uverbs_device *uverbs_device = attrs->ufile->device;
	enum rdmacg_command_kind kind = RDMACG_COMMAND_CHANGE;
	struct ib_device *device;

	if (class > UVERBS_COMMAND_DESTROY)
		return 0;
	device = srcu_dereference(uverbs_device->ib_dev, &uverbs_device->disassociate_srcu);
	/* The device was removed, so the command will fail. */
	if (!device)
		return 0;
	if (class == UVERBS_COMMAND_CREATE)
		kind = RDMACG_COMMAND_CREATE;
	else if (class == UVERBS_COMMAND_DESTROY)
		kind = RDMACG_COMMAND_DESTROY;
	return rdmacg_begin_command(&attrs->command, &device->cg_device, kind);
}
