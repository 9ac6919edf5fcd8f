// SPDX-License-Identifier: GPL-2.0
/// Make room for what the IB core keeps of an object's charge, and of a device's
/// resources.
//
// Finds: ib_rdmacg_object
// Expect: 1 +mr_mem
// Expect: 1 +is_idr
// Expect: 1 +cg_types
// Expect: 1 +cg_hw

@@
@@
struct ib_rdmacg_object {
	...
+	/* An MR's length in bytes, as it is charged, or RDMACG_ENDLESS. */
+	u64 mr_mem;
+	/* Charged as hca_object, too. */
+	bool is_idr;
	struct rdma_cgroup *cg;
	...
};

@@
@@
struct ib_device {
	...
	struct rdmacg_device cg_device;
+	/* Which types of objects are counted on it, and where its driver's own are. */
+	u64 cg_types;
+	struct rdmacg_table cg_hw;
	...
};
