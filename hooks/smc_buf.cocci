// SPDX-License-Identifier: GPL-2.0
/// Charge the MRs of an SMC-R connection's buffers, with their bytes, to the payer of its
/// socket, on each link of the group. Idle buffers stay with their last user until another
/// connection takes them. At a limit the connection falls back to TCP and says why.
//
// Finds: smcr_buf_map_link smc_rtoken smc_listen_rdma_init
// Expect: 5 +cg
// Expect: 1 +charges
// Expect: 1 +smc_rdmacg_own_slot
// Expect: 1 +smc_rdmacg_take_buf
// Expect: 1 +smc_rdmacg_exit_buf
// Expect: 1 +smc_rdmacg_charge_buf
// Expect: 2 +smc_rdmacg_uncharge_buf
// Expect: 2 -SMC_CLC_DECL_MEM
// Expect: 2 +smc_rdmacg_reason

@ desc @ @@
struct smc_buf_desc {
	...
+	/* Who pays, with a reference. Belongs to who has set @used; READ_ONCE by others. */
+	struct rdma_cgroup	*cg;
+	/* Of @mr; belong to who maps or unmaps it. */
+	struct ib_rdmacg_charge	charges[SMC_LINKS_PER_LGR_MAX];
	u32			used;
	...
};

@ map @
identifier buf_desc, lnk, rc;
@@
smcr_buf_map_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk)
{
	<...
+	rc = smc_rdmacg_charge_buf(buf_desc, lnk);
+	if (rc)
+		goto buf_unmap;
	rc = smc_ib_get_memory_region(lnk->roce_pd, ...);
	...>
}

@ depends on map @
identifier buf_desc, lnk;
@@
smcr_buf_map_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk)
{
	<...
+	smc_rdmacg_uncharge_buf(buf_desc, lnk);
	smc_ib_buf_unmap_sg(lnk, buf_desc, ...);
	...>
}

@ depends on map @
identifier buf_desc, lnk;
@@
-static void smcr_buf_unmap_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk)
+void smcr_buf_unmap_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk)
{
	...
	sg_free_table(&buf_desc->sgt[lnk->link_idx]);
+	smc_rdmacg_uncharge_buf(buf_desc, lnk);
	...
}

@ depends on map @
identifier buf_desc;
@@
smcr_buf_free(...)
{
	...
+	smc_rdmacg_exit_buf(buf_desc);
	kfree(buf_desc);
}

@ depends on map @
identifier buf_desc, lgr, is_rmb;
@@
smcr_buf_map_usable_links(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc, bool is_rmb
+			  , struct rdma_cgroup *cg
 )
{
	<...
	down_read(&lgr->llc_conf_mutex);
+	smc_rdmacg_take_buf(lgr, buf_desc, is_rmb, cg);
	...>
}

@ depends on map @
identifier buf_desc, lnk, rc;
@@
smcr_buf_map_usable_links(...)
{
	<...
-	if (smcr_buf_map_link(buf_desc, is_rmb, lnk)) {
-		rc = -ENOMEM;
+	rc = smcr_buf_map_link(buf_desc, is_rmb, lnk);
+	if (rc)
		goto out;
-	}
	...>
}

@ depends on map @
identifier smc, buf_desc;
expression list args;
@@
__smc_buf_create(struct smc_sock *smc, ...)
{
	<...
-	buf_desc = smc_buf_get_slot(args);
+	buf_desc = smc_rdmacg_own_slot(lock, buf_list, smc->cg);
+	if (!buf_desc)
+		buf_desc = smc_buf_get_slot(args);
	...>
}

@ depends on map @
identifier smc, buf_desc, lgr;
@@
__smc_buf_create(struct smc_sock *smc, ...)
{
	...
	if (!is_smcd) {
-		if (smcr_buf_map_usable_links(lgr, buf_desc, is_rmb)) {
+		int rc;
+
+		rc = smcr_buf_map_usable_links(lgr, buf_desc, is_rmb, smc->cg);
+		if (rc) {
			smcr_buf_unuse(buf_desc, is_rmb, lgr);
-			return -ENOMEM;
+			return rc == -EDQUOT ? rc : -ENOMEM;
		}
	}
	...
}

@ client @
identifier smc, reason_code;
@@
smc_connect_rdma(struct smc_sock *smc, ...)
{
	<...
-	if (smc_buf_create(smc, false)) {
-		reason_code = SMC_CLC_DECL_MEM;
+	reason_code = smc_buf_create(smc, false);
+	if (reason_code) {
+		reason_code = smc_rdmacg_reason(reason_code);
		goto connect_abort;
	}
	...>
}

@ depends on client @
identifier new_smc;
@@
smc_listen_rdma_init(...)
{
	<...
-	if (smc_buf_create(new_smc, false)) {
+	rc = smc_buf_create(new_smc, false);
+	if (rc) {
		smc_conn_abort(new_smc, ...);
-		return SMC_CLC_DECL_MEM;
+		return smc_rdmacg_reason(rc);
	}
	...>
}
