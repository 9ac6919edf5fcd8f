// SPDX-License-Identifier: GPL-2.0-only
/* Hooks for uverbs objects by type, device memory and multicast attachments. */
#include <linux/cgroup_rdma.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "hook.h"
#include "record.h"

RDMACG_CALLED(try_charge, int, struct ib_rdmacg_object *obj, struct ib_device *device,
	      enum rdmacg_resource_type index);
RDMACG_CALLED(uncharge, void, struct ib_rdmacg_object *obj, struct ib_device *device,
	      enum rdmacg_resource_type index);

static unsigned int rdmacg_object_type(const struct uverbs_api_object *object)
{
	return min_t(u32, object->id, RDMACG_DRIVER_OBJECT);
}

/* The payer of the type is the stock controller's payer of the hca_object. */
static int rdmacg_hook_try_charge(struct ib_rdmacg_object *obj, struct ib_device *device,
				  enum rdmacg_resource_type index)
{
	struct ib_uobject *uobj = container_of(obj, struct ib_uobject, cg_obj);
	struct rdmacg_record *record;
	int ret;

	rdmacg_enter();
	ret = rdmacg_call(try_charge)(obj, device, index);
	if (!ret && index == RDMACG_RESOURCE_HCA_OBJECT) {
		record = rdmacg_record_charge(device, &obj->cg->css,
					      rdmacg_object_type(uobj->uapi_object), 1);
		ret = PTR_ERR_OR_ZERO(record);
		if (ret)
			rdmacg_call(uncharge)(obj, device, index);
		rdmacg_record_keep(record, uobj);
	}
	rdmacg_leave();
	return ret;
}

static void rdmacg_hook_uncharge(struct ib_rdmacg_object *obj, struct ib_device *device,
				 enum rdmacg_resource_type index)
{
	rdmacg_enter();
	if (index == RDMACG_RESOURCE_HCA_OBJECT)
		rdmacg_record_return(rdmacg_record_take(container_of(obj, struct ib_uobject,
								     cg_obj)));
	rdmacg_call(uncharge)(obj, device, index);
	rdmacg_leave();
}

RDMACG_CALLED(begin_fd, struct ib_uobject *, const struct uverbs_api_object *object,
	      struct uverbs_attr_bundle *attrs);
RDMACG_CALLED(destroy, int, struct ib_uobject *uobj, enum rdma_remove_reason reason,
	      struct uverbs_attr_bundle *attrs);

/*
 * The stock controller does not count objects with a file descriptor. The
 * original sets attrs->context, so it may still be NULL.
 */
static struct ib_uobject *rdmacg_hook_begin_fd(const struct uverbs_api_object *object,
					       struct uverbs_attr_bundle *attrs)
{
	struct rdmacg_record *record = NULL;
	struct ib_ucontext *context;
	struct ib_uobject *uobj;

	rdmacg_enter();
	context = attrs->context ?: ib_uverbs_get_ucontext_file(attrs->ufile);
	if (!IS_ERR(context))
		record = rdmacg_record_charge(context->device, NULL, rdmacg_object_type(object), 1);
	uobj = IS_ERR(record) ? ERR_CAST(record) : rdmacg_call(begin_fd)(object, attrs);
	rdmacg_record_keep(record, uobj);
	rdmacg_leave();
	return uobj;
}

/*
 * Return the charges of an object with a file descriptor, and of device memory,
 * whose key is inside the object. The reference keeps the address from being
 * used again before the charges are taken.
 */
static int rdmacg_hook_destroy(struct ib_uobject *uobj, enum rdma_remove_reason reason,
			       struct uverbs_attr_bundle *attrs)
{
	int ret;

	rdmacg_enter();
	uverbs_uobject_get(uobj);
	ret = rdmacg_call(destroy)(uobj, reason, attrs);
	if (!ret)
		rdmacg_record_return(rdmacg_record_take(uobj));
	if (!ret && uobj->uapi_object->id == UVERBS_OBJECT_DM)
		rdmacg_record_return(rdmacg_record_take(&uobj->object));
	uverbs_uobject_put(uobj);
	rdmacg_leave();
	return ret;
}

RDMACG_CALLED(alloc_dm, int, struct uverbs_attr_bundle *attrs);

/* Charge whole pages, because a driver allocates them for programs to map. */
static int rdmacg_hook_alloc_dm(struct uverbs_attr_bundle *attrs)
{
	struct rdmacg_record *record = NULL;
	struct ib_uobject *uobj;
	u64 length;
	int ret;

	rdmacg_enter();
	uobj = uverbs_attr_get(attrs, UVERBS_ATTR_ALLOC_DM_HANDLE)->obj_attr.uobject;
	/* The original reports an attribute that cannot be read. */
	if (!uverbs_copy_from(&length, attrs, UVERBS_ATTR_ALLOC_DM_LENGTH) && length)
		record = rdmacg_record_charge(uobj->context->device, NULL, RDMACG_DM_MEM,
					      length >= BIT_ULL(48) ? RDMACG_ENDLESS :
					      PAGE_ALIGN(length));
	ret = IS_ERR(record) ? PTR_ERR(record) : rdmacg_call(alloc_dm)(attrs);
	rdmacg_record_keep(record, ret ? NULL : &uobj->object);
	rdmacg_leave();
	return ret;
}

RDMACG_CALLED(attach, int, struct ib_qp *qp, union ib_gid *gid, u16 lid);
RDMACG_CALLED(detach, int, struct ib_qp *qp, union ib_gid *gid, u16 lid);

/* Kernel users also attach QPs, which have no uobject and are not charged. */
static int rdmacg_hook_attach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct rdmacg_record *record = NULL;
	int ret;

	rdmacg_enter();
	if (qp->uobject)
		record = rdmacg_record_charge(qp->device, NULL, RDMACG_MCAST, 1);
	ret = IS_ERR(record) ? PTR_ERR(record) : rdmacg_call(attach)(qp, gid, lid);
	rdmacg_record_keep(record, ret ? NULL : qp);
	rdmacg_leave();
	return ret;
}

/* Which attachment of a QP goes does not matter: all are charged alike. */
static int rdmacg_hook_detach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	int ret;

	rdmacg_enter();
	ret = rdmacg_call(detach)(qp, gid, lid);
	if (!ret && qp->uobject)
		rdmacg_record_return(rdmacg_record_take(qp));
	rdmacg_leave();
	return ret;
}

struct rdmacg_hook rdmacg_object_hooks[] = {
	RDMACG_HOOK(try_charge, "ib_rdmacg_try_charge",
		    "int(ib_rdmacg_object*,ib_device*,rdmacg_resource_type)"),
	RDMACG_HOOK(uncharge, "ib_rdmacg_uncharge",
		    "void(ib_rdmacg_object*,ib_device*,rdmacg_resource_type)"),
	RDMACG_HOOK(begin_fd, "alloc_begin_fd_uobject",
		    "ib_uobject*(uverbs_api_object*,uverbs_attr_bundle*)"),
	RDMACG_HOOK(destroy, "uverbs_destroy_uobject",
		    "int(ib_uobject*,rdma_remove_reason,uverbs_attr_bundle*)"),
	RDMACG_HOOK(alloc_dm, "ib_uverbs_handler_UVERBS_METHOD_DM_ALLOC",
		    "int(uverbs_attr_bundle*)"),
	RDMACG_HOOK(attach, "ib_attach_mcast", "int(ib_qp*,ib_gid*,short unsigned int)"),
	RDMACG_HOOK(detach, "ib_detach_mcast", "int(ib_qp*,ib_gid*,short unsigned int)"),
	{}
};
