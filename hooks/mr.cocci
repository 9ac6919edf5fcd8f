// SPDX-License-Identifier: GPL-2.0
/// Charge a memory region with its length before the driver pins its pages; take
/// what a re-registration adds before the driver is asked, and give back what it
/// frees after.
//
// Finds: ib_uverbs_reg_mr UVERBS_METHOD_DM_MR_REG
// Expect: 3 +ib_rdmacg_charge_mr
// Expect: 1 +ib_rdmacg_begin_rereg_mr
// Expect: 1 +ib_rdmacg_end_rereg_mr

@@ @@
 #include "restrack.h"
+#include "cgroup.h"

@@
identifier mr, pd;
@@
ib_uverbs_reg_mr(...)
{
	<...
+	ret = ib_rdmacg_charge_mr(uobj, cmd.length);
+	if (ret)
+		goto err_put;
	mr = pd->device->ops.reg_user_mr(pd, ...);
	...>
}

@@
identifier mr, new_mr, ib_dev;
@@
ib_uverbs_rereg_mr(...)
{
	<...
+	ret = ib_rdmacg_begin_rereg_mr(uobj, new_uobj, cmd.flags, cmd.length);
+	if (ret)
+		goto put_new_uobj;
	new_mr = ib_dev->ops.rereg_user_mr(mr, ...);
+	ib_rdmacg_end_rereg_mr(uobj, new_uobj, new_mr);
	...>
}

@@
identifier mr, pd;
@@
+	ret = ib_rdmacg_charge_mr(uobj, attr.length);
+	if (ret)
+		return ret;
	mr = pd->device->ops.reg_dm_mr(pd, ...);

@@
identifier mr, pd, ret;
@@
	ret = ib_check_mr_access(...);
	if (ret)
		return ret;
+
+	ret = ib_rdmacg_charge_mr(uobj, length);
+	if (ret)
+		return ret;
	mr = pd->device->ops.reg_user_mr_dmabuf(pd, ...);
