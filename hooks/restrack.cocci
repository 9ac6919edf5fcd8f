// SPDX-License-Identifier: GPL-2.0
/// Drop the resource tracker's reference when the ioctl that opens a context
/// fails, as the write(2) path does. The base forgets it, which keeps the task,
/// and through it the cgroup, for ever: each refused open left one dying cgroup
/// behind.
//
// Finds: UVERBS_METHOD_GET_CONTEXT
// Expect: 1 +rdma_restrack_put

@@
expression ret, attrs;
@@
	ret = ib_init_ucontext(attrs);
	if (ret) {
+		rdma_restrack_put(&attrs->context->res);
		kfree(attrs->context);
		attrs->context = NULL;
		return ret;
	}
