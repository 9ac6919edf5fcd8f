// SPDX-License-Identifier: GPL-2.0
/// Tell a process no more of a device than its cgroup may have.
//
// Finds: ib_uverbs_query_device ib_uverbs_ex_query_device
// Expect: 2 +ib_rdmacg_limit_attr

@@
identifier resp, ucontext;
@@
ib_uverbs_query_device(...)
{
	...
	struct ib_ucontext *ucontext;
+	struct ib_device_attr attr;
	...
-	copy_query_dev_fields(ucontext, &resp, &ucontext->device->attrs);
+	attr = ucontext->device->attrs;
+	ib_rdmacg_limit_attr(ucontext->device, &attr);
+	copy_query_dev_fields(ucontext, &resp, &attr);
	...
}

@@
identifier resp, ucontext, attr;
@@
ib_uverbs_ex_query_device(...)
{
	<...
+	ib_rdmacg_limit_attr(ib_dev, &attr);
	copy_query_dev_fields(ucontext, &resp.base, &attr);
	...>
}
