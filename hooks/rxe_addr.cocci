// SPDX-License-Identifier: GPL-2.0
/// Take a multicast group's address from the network device when the group's last QP is
/// detached. The base does that only where an attachment fails, so each group that
/// anybody ever joined leaves an address, and memory, to the device for ever.
//
// Finds: rxe_mcg rxe_mcast_del
// Expect: 3 +is_last
// Expect: 1 -rxe_mcast_del
// Expect: 2 +rxe_mcast_del

@@
identifier rxe, mcg, qp;
@@
rxe_detach_mcg(struct rxe_mcg *mcg, struct rxe_qp *qp)
{
	struct rxe_dev *rxe = mcg->rxe;
+	bool is_last = false;
	<...
-	if (atomic_read(&mcg->qp_num) <= 0)
+	if (atomic_read(&mcg->qp_num) <= 0) {
		__rxe_destroy_mcg(mcg);
+		is_last = true;
+	}
	spin_unlock_bh(...);
+	if (is_last)
+		rxe_mcast_del(rxe, &mcg->mgid);
	return 0;
	...>
}

// Not before it is settled who takes the group out of the tree.
@@
identifier mcg;
expression lock;
@@
rxe_destroy_mcg(struct rxe_mcg *mcg)
{
-	rxe_mcast_del(mcg->rxe, &mcg->mgid);
	spin_lock_bh(lock);
	...
	spin_unlock_bh(lock);
+
+	/* Outside of the lock, for it may sleep. */
+	rxe_mcast_del(rxe, &mcg->mgid);
}

@@
identifier mcg;
@@
rxe_destroy_mcg(struct rxe_mcg *mcg)
{
+	struct rxe_dev *rxe = mcg->rxe;
	...
}
