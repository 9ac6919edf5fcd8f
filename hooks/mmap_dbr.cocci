// SPDX-License-Identifier: GPL-2.0
/// As mmap.cocci does for mlx5: a doorbell page of bnxt_re, of which the adapter has so many for
/// all programs, is freed when the last mapping goes.
//
// Only: bnxt_re_dbr_cleanup
// Finds: bnxt_re_dbr_cleanup
// Expect: 1 +ib_rdmacg_move_charge

@ cleanup @
identifier uobject, obj;
@@
bnxt_re_dbr_cleanup(struct ib_uobject *uobject, ...)
{
	<...
+	ib_rdmacg_move_charge(uobject, &obj->entry->rdma_entry.cg_obj);
	kref_put(&obj->usecnt, ...);
	...>
}

@ depends on cleanup @
@@
 #include <rdma/uverbs_std_types.h>
+#include <rdma/ib_rdmacg.h>
