// SPDX-License-Identifier: GPL-2.0
/// Charge an object whose type does not tell what it counts as, once all attributes of its
/// method are there, in whatever order the program gives them, and before the method runs:
/// device memory with its length, and what a driver's own interface makes as what it is.
//
// Finds: ib_uverbs_run_method
// Expect: 1 +ib_rdmacg_charge_new_uobjects

@ run @
identifier pbundle, bundle, destroy_bkey, attr, ret;
@@
ib_uverbs_run_method(struct bundle_priv *pbundle, ...)
{
	<...
+	ret = ib_rdmacg_charge_new_uobjects(bundle, pbundle->uobj_finalize);
+	if (ret)
+		return ret;
	if (destroy_bkey != UVERBS_API_ATTR_BKEY_LEN) {
		struct uverbs_obj_attr *attr = &bundle->attrs[destroy_bkey].obj_attr;
		...
		ret = uobj_destroy(attr->uobject, bundle);
		...
	} else {
		...
	}
	...>
}

@ depends on run @
@@
 #include "uverbs.h"
+#include "cgroup.h"
