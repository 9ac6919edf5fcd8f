// SPDX-License-Identifier: GPL-2.0
/// Charge PD and QP of an SMC-R link to the payer of the socket for which the link's group
/// was made. At a limit a connection that needs a new group falls back to TCP and says why;
/// a group that lives goes on without a second link.
//
// Finds: smcr_link_init smc_rtoken
// Expect: 1 +cg
// Expect: 1 +charge
// Expect: 1 +smc_rdmacg_init_lgr
// Expect: 2 +smc_rdmacg_exit_lgr
// Expect: 1 +smc_rdmacg_charge_link
// Expect: 2 +smc_rdmacg_uncharge_link
// Expect: 1 +SMC_CLC_DECL_RDMACG

@ group @ @@
struct smc_link_group {
	...
+	/* Who pays for links, with a reference; NULL for SMC-D. Set once. */
+	struct rdma_cgroup	*cg;
	bool			is_smcd;
	...
};

@ depends on group @ @@
struct smc_link {
	...
+	/* Of PD and QP; belongs to who makes or clears the link. */
+	struct ib_rdmacg_charge	charge;
	struct ib_qp		*roce_qp;
	...
};

@ depends on group @ @@
 #include <rdma/ib_verbs.h>
+#include <rdma/ib_rdmacg.h>

@ link @
identifier lgr, lnk, rc;
@@
smcr_link_init(struct smc_link_group *lgr, struct smc_link *lnk, ...)
{
	<...
+	rc = smc_rdmacg_charge_link(lnk);
+	if (rc)
+		goto out;
	rc = smc_llc_link_init(lnk);
	...>
}

@ depends on link @
identifier lnk;
@@
smcr_link_init(...)
{
	<...
+	smc_rdmacg_uncharge_link(lnk);
	smc_ibdev_cnt_dec(lnk);
	put_device(...);
	...>
}

@ depends on link @
identifier lnk;
@@
smcr_link_clear(struct smc_link *lnk, ...)
{
	...
	smc_ib_dealloc_protection_domain(lnk);
+	smc_rdmacg_uncharge_link(lnk);
	...
}

@ depends on link @
identifier lgr, smc, rc;
@@
smc_lgr_create(struct smc_sock *smc, ...)
{
	<...
(
	smc_llc_lgr_init(lgr, smc);
+	smc_rdmacg_init_lgr(lgr, smc);
|
+	if (rc == -EDQUOT)
+		rc = SMC_CLC_DECL_RDMACG;
	if (rc < 0) { ... }
)
	...>
}

@ depends on link @
identifier lgr, f = { smc_lgr_create, __smc_lgr_free };
@@
f(...)
{
	<...
+	smc_rdmacg_exit_lgr(lgr);
	kfree(lgr);
	...>
}

@ depends on link @
@@
 #include "smc_netlink.h"
+#include "smc_rdmacg.h"
