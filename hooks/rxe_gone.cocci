// SPDX-License-Identifier: GPL-2.0
/// Attach a QP to no multicast group that has just left the tree, because its last QP
/// was detached meanwhile: nobody would find the group to detach the QP from. Look for the
/// group again instead. A group that left is not taken out a second time either, after a
/// failed attachment.
//
// Finds: rxe_mcg
// Expect: 1 +bool
// Expect: 4 +is_gone
// Expect: 3 +ESTALE

@@ @@
struct rxe_mcg {
	...
+	/* No longer in the tree. rxe->mcg_lock. */
+	bool is_gone;
};

@@
identifier mcg;
@@
__rxe_destroy_mcg(struct rxe_mcg *mcg)
{
	<...
	__rxe_remove_mcg(mcg);
+	mcg->is_gone = true;
	...>
}

@@
identifier mcg, mca, qp, err;
@@
rxe_attach_mcg(struct rxe_mcg *mcg, struct rxe_qp *qp, ...)
{
	<...
+	if (mcg->is_gone) {
+		kfree(mca);
+		err = -ESTALE;
+		goto out;
+	}
	err = __rxe_init_mca(qp, mcg, mca);
	...>
}

@@
identifier mcg;
expression lock;
@@
rxe_destroy_mcg(struct rxe_mcg *mcg)
{
	...
	spin_lock_bh(lock);
+
+	/* Others may have attached a QP meanwhile, or detached the last one. */
+	if (mcg->is_gone || atomic_read(&mcg->qp_num)) {
+		spin_unlock_bh(lock);
+		return;
+	}
	__rxe_destroy_mcg(mcg);
	...
}

@@
identifier mcg, rxe;
@@
rxe_attach_mcast(...)
{
	<...
+again:
	mcg = rxe_get_mcg(rxe, ...);
	...>
}

@@
identifier mcg, err, qp;
@@
rxe_attach_mcast(...)
{
	<...
	err = rxe_attach_mcg(mcg, qp, ...);
-	if (atomic_read(&mcg->qp_num) == 0)
+	if (err != -ESTALE && atomic_read(&mcg->qp_num) == 0)
		rxe_destroy_mcg(mcg);
	kref_put(&mcg->ref_cnt, rxe_cleanup_mcg);
+	if (err == -ESTALE)
+		goto again;
	...>
}
