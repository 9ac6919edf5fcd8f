// SPDX-License-Identifier: GPL-2.0
/// Charge an RDS memory region to the process that maps memory with it, from before that
/// until the pages are unpinned. The pools keep regions for whoever comes next, so it is
/// the use that is charged. The base unpins those that are free once it has many; with us it does so
/// soon, and counts a region before a flush can find it, not after one may have freed it.
//
// Finds: rds_ib_mr rds_ib_get_mr rds_ib_free_frmr
// Expect: 2 +ib_rdmacg_charge
// Expect: 2 +rds_ib_charge_mr
// Expect: 3 +ib_rdmacg_uncharge_objects
// Expect: 4 +ibmr->charge
// Expect: 1 +rds_ib_flush_soon
// Expect: 1 -rds_ib_free_frmr_list
// Expect: 1 +rds_ib_free_frmr_list
// Expect: 1 -atomic_inc
// Expect: 1 +atomic_inc

@@ @@
struct rds_ib_mr {
	...
	struct rds_ib_connection	*ic;
+	/* While memory is mapped; belongs to who has the MR, as @sg does. */
+	struct ib_rdmacg_charge		charge;
	...
};

@ get @
identifier ib_mr, rds_ibdev, ic, length;
@@
rds_ib_get_mr(..., u64 length, int need_odp)
{
	...
	struct rds_ib_connection *ic = NULL;
+	struct ib_rdmacg_charge charge = { };
	int ret;
	<...
+	ret = rds_ib_charge_mr(&charge, rds_ibdev, length);
+	if (ret)
+		goto out;
	ib_mr = ib_reg_user_mr(rds_ibdev->pd, ...);
	...>
}

@ depends on get @
identifier rds_ibdev;
@@
rds_ib_get_mr(...)
{
	<...
+	ib_rdmacg_uncharge_objects(&charge);
	if (rds_ibdev)
		rds_ib_dev_put(rds_ibdev);
	return ERR_PTR(...);
	...>
}

@ depends on get @
identifier ibmr;
@@
rds_ib_get_mr(...)
{
	<...
	ibmr->odp = 1;
+	ibmr->charge = charge;
	...>
}

@ depends on get @
identifier conn, ic;
@@
rds_ib_get_mr(..., struct rds_connection *conn, ...)
{
	<...
+	/* This sleeps; the connection, which can go meanwhile, is looked at afterwards. */
+	ret = rds_ib_charge_mr(&charge, rds_ibdev, length);
+	if (ret)
+		goto out;
	ic = conn->c_transport_data;
	...>
}

@ depends on get @
identifier ibmr, rds_ibdev, ic;
@@
rds_ib_get_mr(...)
{
	<...
	ibmr = rds_ib_reg_frmr(rds_ibdev, ic, ...);
	if (IS_ERR(ibmr)) {
		...
	} else {
+		ibmr->charge = charge;
		return ibmr;
	}
	...>
}

@ depends on get @
identifier ibmr;
@@
__rds_ib_teardown_mr(struct rds_ib_mr *ibmr)
{
	...
+	ib_rdmacg_uncharge_objects(&ibmr->charge);
}

@ depends on get @
identifier ibmr;
@@
rds_ib_odp_mr_worker(...)
{
	...
	ib_dereg_mr(ibmr->u.mr);
+	ib_rdmacg_uncharge_objects(&ibmr->charge);
	kfree(ibmr);
}

@ depends on get @
identifier ibmr, pool;
@@
rds_ib_free_mr(...)
{
	<...
-	rds_ib_free_frmr_list(ibmr);
	atomic_add(ibmr->sg_len, &pool->free_pinned);
	atomic_inc(&pool->dirty_count);
+	rds_ib_free_frmr_list(ibmr);
+	rds_ib_flush_soon(pool);
	...>
}

@@
identifier ibmr, pool, drop;
@@
rds_ib_free_frmr(struct rds_ib_mr *ibmr, bool drop)
{
	...
-	if (drop)
-		llist_add(&ibmr->llnode, &pool->drop_list);
-	else
-		llist_add(&ibmr->llnode, &pool->free_list);
	atomic_add(ibmr->sg_len, &pool->free_pinned);
	atomic_inc(&pool->dirty_count);
+	if (drop)
+		llist_add(&ibmr->llnode, &pool->drop_list);
+	else
+		llist_add(&ibmr->llnode, &pool->free_list);
	...
}

@ depends on get @
@@
 #include "ib_mr.h"
+#include "ib_cgroup.h"
