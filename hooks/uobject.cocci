// SPDX-License-Identifier: GPL-2.0
/// Charge each uobject to its creator before the driver makes it, uncharge it when
/// the creation is aborted, when the object is destroyed, and when a driver that
/// cannot destroy it loses it. The base left objects with an fd, and lost ones, out.
//
// Finds: alloc_begin_idr_uobject alloc_abort_idr_uobject destroy_hw_idr_uobject
// Expect: 1 -ib_rdmacg_try_charge
// Expect: 2 -ib_rdmacg_uncharge
// Expect: 1 +ib_rdmacg_charge_idr_uobject
// Expect: 1 +ib_rdmacg_charge_fd_uobject
// Expect: 6 +ib_rdmacg_uncharge_uobject

@@
expression ret;
identifier uobj;
@@
alloc_begin_idr_uobject(...)
{
	<...
-	ret = ib_rdmacg_try_charge(&uobj->cg_obj, uobj->context->device, RDMACG_RESOURCE_HCA_OBJECT);
+	ret = ib_rdmacg_charge_idr_uobject(uobj);
	...>
}

@@
identifier f = { alloc_abort_idr_uobject, destroy_hw_idr_uobject };
identifier uobj;
@@
f(...)
{
	<...
-	ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device, RDMACG_RESOURCE_HCA_OBJECT);
+	ib_rdmacg_uncharge_uobject(uobj);
	...>
}

@@
identifier filp, new_fd;
@@
alloc_begin_fd_uobject(...)
{
	<...
	struct file *filp;
+	int err;
	...
+	err = ib_rdmacg_charge_fd_uobject(uobj);
+	if (err) {
+		ret = ERR_PTR(err);
+		goto err_fd;
+	}
+
	new_fd = get_unused_fd_flags(...);
	...>
}

@@
identifier uobj;
@@
alloc_begin_fd_uobject(...)
{
	<...
+	ib_rdmacg_uncharge_uobject(uobj);
	uverbs_uobject_put(uobj);
	...>
}

@@
identifier uobj;
@@
alloc_abort_fd_uobject(struct ib_uobject *uobj)
{
	struct file *filp = uobj->object;
+
+	ib_rdmacg_uncharge_uobject(uobj);
	...
}

@@
identifier uobj;
expression fd_type, why;
@@
destroy_hw_fd_uobject(struct ib_uobject *uobj, ...)
{
	...
	fd_type->destroy_object(uobj, why);
+	ib_rdmacg_uncharge_uobject(uobj);
	...
}

@@
identifier obj;
expression reason;
@@
__uverbs_cleanup_ufile(...)
{
	<...
-	if (reason == RDMA_REMOVE_DRIVER_FAILURE)
+	if (reason == RDMA_REMOVE_DRIVER_FAILURE) {
+		ib_rdmacg_uncharge_uobject(obj);
		obj->object = NULL;
+	}
	...>
}
