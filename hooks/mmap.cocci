// SPDX-License-Identifier: GPL-2.0
/// Keep charged what a program has mapped after it has destroyed the object. mlx5 frees device
/// memory, and the pages of UAR and VAR objects, when the last mapping goes; else a program
/// could map, destroy, and have the adapter's all without ever using more than one.
//
// Finds: rdma_user_mmap_entry_free rdma_user_mmap_entry_insert_range mlx5_ib_dm_memic mmap_obj_cleanup
// Expect: 8 +cg_obj
// Expect: 3 +ib_rdmacg_move_charge
// Expect: 2 +ib_rdmacg_uncharge_object

@@ @@
struct rdma_user_mmap_entry {
	...
	bool driver_removed;
+	/* What its object was charged for: set before that goes, read by who frees the entry. */
+	struct ib_rdmacg_object cg_obj;
	...
};

@ free @
identifier entry, ucontext;
@@
rdma_user_mmap_entry_free(...)
{
	...
	struct ib_ucontext *ucontext = entry->ucontext;
+	struct ib_rdmacg_object cg_obj = entry->cg_obj;
	...
	if (ucontext->device->ops.mmap_free)
		ucontext->device->ops.mmap_free(entry);
+	ib_rdmacg_uncharge_object(ucontext->device, &cg_obj);
}

@ cleanup @
identifier uobject, obj;
@@
mmap_obj_cleanup(struct ib_uobject *uobject, ...)
{
	<...
+	ib_rdmacg_move_charge(uobject, &obj->rdma_entry.cg_obj);
	rdma_user_mmap_entry_remove(&obj->rdma_entry);
	...>
}

@@ @@
struct mlx5_ib_dm_memic {
	...
	struct kref                 ref;
+	/* What its object was charged for: set before that goes, read by who frees the memory. */
+	struct ib_rdmacg_object     cg_obj;
	...
};

@ memic @
identifier dm;
@@
mlx5_dm_memic_dealloc(struct mlx5_ib_dm_memic *dm)
{
+	ib_rdmacg_move_charge(dm->base.ibdm.uobject, &dm->cg_obj);
	...
}

// Another thread may have mapped it by then.
@ depends on memic @
identifier dm, attrs;
@@
handle_alloc_dm_memic(..., struct uverbs_attr_bundle *attrs)
{
	<...
+	ib_rdmacg_move_charge(uverbs_attr_get_uobject(attrs, UVERBS_ATTR_ALLOC_DM_HANDLE),
+			      &dm->cg_obj);
	rdma_user_mmap_entry_remove(&dm->mentry.rdma_entry);
	...>
}

@ depends on memic @
identifier dm, dev;
@@
mlx5_ib_dm_memic_free(...)
{
	<...
	mlx5_cmd_dealloc_memic(&dev->dm, ...);
+	ib_rdmacg_uncharge_object(&dev->ib_dev, &dm->cg_obj);
	kfree(dm);
	...>
}

@ depends on cleanup || memic @
@@
 #include <rdma/uverbs_std_types.h>
+#include <rdma/ib_rdmacg.h>
