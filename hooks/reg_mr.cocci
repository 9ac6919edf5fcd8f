// SPDX-License-Identifier: GPL-2.0
/// The same as mr.cocci for the method that newer bases have.
//
// Only: UVERBS_METHOD_REG_MR
// Finds: UVERBS_METHOD_REG_MR
// Expect: 1 +ib_rdmacg_charge_mr

@@
identifier mr, pd, has_fd;
@@
+	ret = ib_rdmacg_charge_mr(uobj, length);
+	if (ret)
+		return ret;
	if (has_fd)
		mr = pd->device->ops.reg_user_mr_dmabuf(pd, ...);
	else
		mr = pd->device->ops.reg_user_mr(pd, ...);
