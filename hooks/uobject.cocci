// SPDX-License-Identifier: GPL-2.0
/// Charge one hca_object for each uobject with an id before the driver makes
/// it, uncharge it when the creation is aborted and when the object is
/// destroyed.
//
// Finds: alloc_begin_idr_uobject alloc_abort_idr_uobject destroy_hw_idr_uobject
// Expect: 1 -ib_rdmacg_try_charge
// Expect: 2 -ib_rdmacg_uncharge
// Expect: 1 +ib_rdmacg_charge_uobject
// Expect: 2 +ib_rdmacg_uncharge_uobject

@@
expression ret;
identifier uobj;
@@
alloc_begin_idr_uobject(...)
{
	<...
-	ret = ib_rdmacg_try_charge(&uobj->cg_obj, uobj->context->device, RDMACG_RESOURCE_HCA_OBJECT);
+	ret = ib_rdmacg_charge_uobject(uobj);
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
