// SPDX-License-Identifier: GPL-2.0
/// Charge rxe's multicast groups to who makes them, and each attachment of a QP to
/// who attaches it, outside the spinlock of the groups. After rxe_addr.cocci and rxe_gone.cocci.
//
// Finds: rxe_mcg rxe_register_device
// Expect: 1 +rxe_set_resources
// Expect: 2 +ib_rdmacg_try_charge_hw
// Expect: 7 +ib_rdmacg_uncharge_hw
// Doc: rxe_attach_mcg cg who pays for the attachment; NULL afterwards if there is a new one
// Expect: 1 +@cg

@@ @@
struct rxe_mcg {
	...
+	/* Who pays; NULL when it is gone. rxe->mcg_lock. */
+	struct rdma_cgroup *cg;
};

@@ @@
struct rxe_mca {
	...
+	/* Who pays. */
+	struct rdma_cgroup *cg;
};

@ set @
identifier rxe, dev;
@@
rxe_register_device(struct rxe_dev *rxe, ...)
{
	<...
+	rxe_set_resources(rxe);
	ib_set_device_ops(dev, ...);
	...>
}

@ depends on set @
@@
 #include "rxe.h"
+#include "rxe_cgroup.h"

@ get @
identifier rxe, mcg, err;
@@
rxe_get_mcg(struct rxe_dev *rxe, ...)
{
	<...
+	struct rdma_cgroup *cg;
	int err;
	...
	if (mcg)
		return mcg;
+
+	err = ib_rdmacg_try_charge_hw(&cg, &rxe->ib_dev, RXE_RESOURCE_MCAST_GRP);
+	if (err)
+		return ERR_PTR(err);
	...>
}

@@
identifier rxe, mcg;
@@
rxe_get_mcg(struct rxe_dev *rxe, ...)
{
	<...
	__rxe_init_mcg(rxe, ..., mcg);
+	mcg->cg = cg;
	...>
}

@@
identifier rxe;
@@
rxe_get_mcg(struct rxe_dev *rxe, ...)
{
	<...
	atomic_dec(&rxe->mcg_num);
+	ib_rdmacg_uncharge_hw(cg, &rxe->ib_dev, RXE_RESOURCE_MCAST_GRP);
	...>
}

@ depends on get @
@@
 #include "rxe.h"
+#include "rxe_cgroup.h"

@@
identifier mcg;
@@
rxe_destroy_mcg(struct rxe_mcg *mcg)
{
+	struct rdma_cgroup *cg;
	<...
	__rxe_destroy_mcg(mcg);
+	cg = mcg->cg;
+	mcg->cg = NULL;
	spin_unlock_bh(...);
+	ib_rdmacg_uncharge_hw(cg, &mcg->rxe->ib_dev, RXE_RESOURCE_MCAST_GRP);
	...>
}

@@
identifier mcg, mca, qp, err;
@@
rxe_attach_mcg(struct rxe_mcg *mcg, struct rxe_qp *qp
+	       , struct rdma_cgroup **cg
 )
{
	<...
	err = __rxe_init_mca(qp, mcg, mca);
-	if (err)
-		kfree(mca);
+	if (err)
+		kfree(mca);
+	else
+		swap(mca->cg, *cg);
	...>
}

@@
identifier rxe, mcg, qp, err;
@@
rxe_attach_mcast(...)
{
	<...
+	struct rdma_cgroup *cg;
	int err;
	...
	struct rxe_mcg *mcg;
+
+	/* Not when others can see the group: a refusal would take it away again. */
+	err = ib_rdmacg_try_charge_hw(&cg, &rxe->ib_dev, RXE_RESOURCE_MCAST_ATTACH);
+	if (err)
+		return err;
	...
	mcg = rxe_get_mcg(rxe, ...);
-	if (IS_ERR(mcg))
+	if (IS_ERR(mcg)) {
+		ib_rdmacg_uncharge_hw(cg, &rxe->ib_dev, RXE_RESOURCE_MCAST_ATTACH);
		return PTR_ERR(mcg);
+	}
	err = rxe_attach_mcg(mcg, qp
+			     , &cg
	      );
	...>
}

@@
identifier err;
@@
rxe_attach_mcast(...)
{
	<...
	if (err == -ESTALE)
		goto again;
+	/* Left if the QP is not attached, or was already. */
+	ib_rdmacg_uncharge_hw(cg, &rxe->ib_dev, RXE_RESOURCE_MCAST_ATTACH);
	...>
}

@@
identifier rxe, mcg, mca, qp, is_last;
@@
rxe_detach_mcg(struct rxe_mcg *mcg, struct rxe_qp *qp)
{
	struct rxe_dev *rxe = mcg->rxe;
+	struct rdma_cgroup *group = NULL;
+	struct rdma_cgroup *attach;
	<...
+	attach = mca->cg;
	__rxe_cleanup_mca(mca, mcg);
	if (atomic_read(&mcg->qp_num) <= 0) {
		__rxe_destroy_mcg(mcg);
+		swap(group, mcg->cg);
		...
	}
	spin_unlock_bh(...);
+	ib_rdmacg_uncharge_hw(attach, &rxe->ib_dev, RXE_RESOURCE_MCAST_ATTACH);
+	ib_rdmacg_uncharge_hw(group, &rxe->ib_dev, RXE_RESOURCE_MCAST_GRP);
	if (is_last)
		rxe_mcast_del(...);
	return 0;
	...>
}
