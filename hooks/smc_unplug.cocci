// SPDX-License-Identifier: GPL-2.0
/// Let a device go that SMC-R sockets use. The base ends their connections, but who unplugs
/// the device waits until processes close the sockets, for ever if one does not. Nothing of a
/// link is on the device once its QP and PD are gone, so the link lets go of the device
/// there; the rest of it stays for the sockets.
//
// Finds: smcr_link_init smc_ib_remove_dev
// Expect: 5 -smcibdev
// Expect: 1 -lnks_deleted
// Expect: 1 +lnks_deleted
// Expect: 1 +put_device
// Expect: 1 +synchronize_rcu

@ clear @
identifier lnk, lgr, smcibdev;
@@
__smcr_link_clear(struct smc_link *lnk)
{
	struct smc_link_group *lgr = lnk->lgr;
-	struct smc_ib_device *smcibdev;

	smc_wr_free_link_mem(lnk);
-	smc_ibdev_cnt_dec(lnk);
-	put_device(&lnk->smcibdev->ibdev->dev);
-	smcibdev = lnk->smcibdev;
	memset(lnk, 0, sizeof(struct smc_link));
	lnk->state = SMC_LNK_UNUSED;
-	if (!atomic_dec_return(&smcibdev->lnk_cnt))
-		wake_up(&smcibdev->lnks_deleted);
	smc_lgr_put(lgr);
}

@ depends on clear @
identifier lnk;
@@
smcr_link_clear(struct smc_link *lnk, ...)
{
	<...
+	smc_ibdev_cnt_dec(lnk);
+	put_device(&lnk->smcibdev->ibdev->dev);
+	/* Who waits for that frees the device. */
+	rcu_read_lock();
+	if (!atomic_dec_return(&lnk->smcibdev->lnk_cnt))
+		wake_up(&lnk->smcibdev->lnks_deleted);
+	rcu_read_unlock();
	smcr_link_put(lnk);
	...>
}

@@
identifier smcibdev;
@@
smc_ib_remove_dev(...)
{
	<...
	smc_smcr_terminate_all(smcibdev);
+	/* Also for smc_diag, which reads names of devices with a spinlock held. */
+	synchronize_rcu();
	...>
}
