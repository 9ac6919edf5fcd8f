// SPDX-License-Identifier: GPL-2.0
/// Make room for what the IB core keeps of an object's charge, and of a device's
/// resources.
//
// Finds: ib_rdmacg_object
// Expect: 1 +mem
// Expect: 1 +type
// Expect: 1 +is_idr
// Expect: 1 +cg_types
// Expect: 1 +cg_objects
// Expect: 1 +cg_hw

@@
@@
struct ib_rdmacg_object {
	...
+	/* The bytes that are charged, for an MR its length, or RDMACG_ENDLESS. */
+	u64 mem;
+	/* What the verb class counts it as; set before the charge. */
+	u32 type;
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
+	/* What its driver's own objects count as; set once before registration, or NULL. */
+	const struct ib_rdmacg_object_def *cg_objects;
	...
};
