// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks for commands: the function that runs an ioctl, and each handler of write().
 * Both run after the kernel has copied what says which command it is, so a process
 * cannot change that meanwhile.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <uapi/rdma/bnxt_re-abi.h>
#include <uapi/rdma/mlx5_user_ioctl_cmds.h>
#include <uapi/rdma/rdma_user_ioctl_cmds.h>

#include "hook.h"
#include "parts.h"
#include "record.h"

/* The classes of drivers/infiniband/core/uverbs_control.list. */
enum rdmacg_class_of_command {
	RDMACG_CREATE,
	RDMACG_CHANGE,
	RDMACG_DESTROY,
	RDMACG_DATA,
	RDMACG_QUERY,
	RDMACG_OTHER,
};

#define UVERBS_IOCTL(_object, _method, _class) { _object, _method, RDMACG_##_class },
#define UVERBS_WRITE(...)
#define UVERBS_WRITE_EX(...)

static const struct {
	u16	object;
	u16	method;
	u8	class;
} rdmacg_methods[] = {
#include "uverbs_control_table.h"
	/* Drivers' methods that destroy, because such a command never waits. */
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_DESTROY, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, RDMACG_DESTROY },
	{ MLX5_IB_OBJECT_STEERING_ANCHOR, MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY, RDMACG_DESTROY },
};

/* A method that is not in the list is a driver's, and counts as a change. */
static enum rdmacg_class_of_command rdmacg_method_class(u16 object, u16 method)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rdmacg_methods); i++)
		if (rdmacg_methods[i].object == object && rdmacg_methods[i].method == method)
			return rdmacg_methods[i].class;
	return RDMACG_CHANGE;
}

static noinline int rdmacg_limit(struct rdmacg_call *call, struct ib_uverbs_file *ufile,
				 enum rdmacg_class_of_command class)
{
	static const enum rdmacg_call_kind kinds[] = {
		[RDMACG_CREATE]		= RDMACG_CALL_CREATE,
		[RDMACG_CHANGE]		= RDMACG_CALL_CHANGE,
		[RDMACG_DESTROY]	= RDMACG_CALL_DESTROY,
	};
	struct ib_ucontext *context;
	struct rdmacg_target *target;

	if (class > RDMACG_DESTROY)
		return 0;
	context = ib_uverbs_get_ucontext_file(ufile);
	/* The command that makes the context comes before it. */
	target = IS_ERR(context) ? NULL : rdmacg_find_target(context->device);
	return target ? rdmacg_target_begin(target, call, kinds[class]) : 0;
}

static int rdmacg_begin(struct rdmacg_call *call, struct ib_uverbs_file *ufile,
			enum rdmacg_class_of_command class)
{
	call->private[0] = NULL;
	return rdmacg_target_is_limited() ? rdmacg_limit(call, ufile, class) : 0;
}

RDMACG_CALLED(verbs, int, struct ib_uverbs_file *ufile, struct ib_uverbs_ioctl_hdr *hdr,
	      struct ib_uverbs_attr __user *attrs);

static int rdmacg_hook_verbs(struct ib_uverbs_file *ufile, struct ib_uverbs_ioctl_hdr *hdr,
			     struct ib_uverbs_attr __user *attrs)
{
	struct rdmacg_call call;
	int ret;

	rdmacg_enter();
	ret = rdmacg_begin(&call, ufile, rdmacg_method_class(hdr->object_id, hdr->method_id));
	if (!ret)
		ret = rdmacg_call(verbs)(ufile, hdr, attrs);
	rdmacg_target_end(&call);
	rdmacg_leave();
	return ret;
}

#define RDMACG_WRITE(_name, _class)						\
RDMACG_CALLED(_name, int, struct uverbs_attr_bundle *attrs);			\
static int rdmacg_hook_##_name(struct uverbs_attr_bundle *attrs)		\
{										\
	struct rdmacg_call call;						\
	int ret;								\
										\
	rdmacg_enter();								\
	ret = rdmacg_begin(&call, attrs->ufile, RDMACG_##_class);		\
	if (!ret)								\
		ret = rdmacg_call(_name)(attrs);				\
	rdmacg_target_end(&call);						\
	rdmacg_leave();								\
	return ret;								\
}
#include "writes.h"

#undef RDMACG_WRITE

static struct rdmacg_hook rdmacg_command_hooks[] = {
	{ "ib_uverbs_cmd_verbs", "int(ib_uverbs_file*,ib_uverbs_ioctl_hdr*,ib_uverbs_attr*)",
	  rdmacg_hook_verbs },
#define RDMACG_WRITE(_name, _class) \
	{ "ib_uverbs_" #_name, "int(uverbs_attr_bundle*)", rdmacg_hook_##_name },
#include "writes.h"
#undef RDMACG_WRITE
};

int rdmacg_command_init(void)
{
#define RDMACG_WRITE(_name, _class) || !rdmacg_find_called(_name, "ib_uverbs_" #_name)
	if (!rdmacg_find_called(verbs, "ib_uverbs_cmd_verbs")
#include "writes.h"
	    )
		return -ENOENT;
#undef RDMACG_WRITE
	return rdmacg_hooks_add(rdmacg_command_hooks, ARRAY_SIZE(rdmacg_command_hooks));
}
