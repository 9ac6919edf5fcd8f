// SPDX-License-Identifier: GPL-2.0
/// Charge one hca_handle for each uverbs context before the driver makes it,
/// uncharge it when that fails and when the context goes. write(2) makes the
/// context's async_event first: a refused handle leaves no trace of that.
//
// Finds: ib_init_ucontext ib_uverbs_get_context ufile_destroy_ucontext
// Expect: 1 -ib_rdmacg_try_charge
// Expect: 2 -ib_rdmacg_uncharge
// Expect: 2 +ib_rdmacg_charge_ucontext
// Expect: 3 +ib_rdmacg_uncharge_ucontext

@@
expression ret;
identifier ucontext;
@@
ib_init_ucontext(...)
{
	<...
-	ret = ib_rdmacg_try_charge(&ucontext->cg_obj, ucontext->device, RDMACG_RESOURCE_HCA_HANDLE);
+	ret = ib_rdmacg_charge_ucontext(ucontext);
	...>
}

@@
identifier f = { ib_init_ucontext, ufile_destroy_ucontext };
identifier ucontext;
expression device;
@@
f(...)
{
	<...
-	ib_rdmacg_uncharge(&ucontext->cg_obj, device, RDMACG_RESOURCE_HCA_HANDLE);
+	ib_rdmacg_uncharge_ucontext(ucontext);
	...>
}

@@
@@
ib_uverbs_get_context(struct uverbs_attr_bundle *attrs)
{
	<...
	ret = ib_alloc_ucontext(attrs);
	if (ret)
		return ret;
+
+	if (READ_ONCE(attrs->ufile->ucontext))
+		ret = -EINVAL;
+	else
+		ret = ib_rdmacg_charge_ucontext(attrs->context);
+	if (ret)
+		goto err_ucontext;
	...>
}

@@
@@
ib_uverbs_get_context(struct uverbs_attr_bundle *attrs)
{
	<...
err_ucontext:
+	ib_rdmacg_uncharge_ucontext(attrs->context);
	rdma_restrack_put(&attrs->context->res);
	...>
}
