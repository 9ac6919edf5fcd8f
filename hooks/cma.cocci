// SPDX-License-Identifier: GPL-2.0
/// Charge one cm_id to the creator of a user's connection identifier, or of the
/// listener that it came from, while it is bound to a device. The identifiers that
/// a listener on all addresses has on each device are not charged: who plugs a
/// device in would fail on another's limit. A refused identifier loses its device
/// again: charged outside of the lock of all identifiers, nobody else waits for it.
//
// Finds: cma_release_dev rdma_id_private
// Expect: 1 +is_charged
// Expect: 2 +ib_rdmacg_init_cm_id
// Expect: 1 +ib_rdmacg_exit_cm_id
// Expect: 1 +ib_rdmacg_charge_cm_id
// Expect: 6 +cma_charge_dev
// Expect: 1 +ib_rdmacg_uncharge_cm_id
// Expect: 3 -rdma_restrack_add
// Expect: 3 +rdma_restrack_add

@@ @@
struct rdma_id_private {
	...
+	/* Who pays for it, or NULL for one of the kernel's; set once. */
+	struct rdma_cgroup *cg;
+	/* Charged for cma_dev's device. */
+	bool is_charged;
};

@ cma @
identifier id_priv;
@@
cma_release_dev(struct rdma_id_private *id_priv)
{
+	ib_rdmacg_uncharge_cm_id(id_priv);
	mutex_lock(&lock);
	...
}
+
+static int cma_charge_dev(struct rdma_id_private *id_priv)
+{
+	int ret = ib_rdmacg_charge_cm_id(id_priv);
+
+	if (ret)
+		cma_release_dev(id_priv);
+	return ret;
+}

@ depends on cma @
@@
 #include "cma_priv.h"
+#include "cma_cgroup.h"

@@
identifier id_priv, parent;
@@
	rdma_restrack_parent_name(&id_priv->res, &parent->res);
+	ib_rdmacg_init_cm_id(id_priv, parent);

@@
identifier id;
@@
rdma_create_user_id(...)
{
	<...
	rdma_restrack_set_name(&id->res, NULL);
+	ib_rdmacg_init_cm_id(id, NULL);
	...>
}

@@
identifier id_priv;
@@
_destroy_id(struct rdma_id_private *id_priv, ...)
{
	<...
+	ib_rdmacg_exit_cm_id(id_priv);
	kfree(id_priv);
	...>
}

@@
identifier id_priv;
@@
cma_acquire_dev_by_src_ip(struct rdma_id_private *id_priv)
{
	<...
	mutex_unlock(&lock);
+	if (!ret)
+		ret = cma_charge_dev(id_priv);
	return ret;
	...>
}

@@
identifier id_priv, listen, req, gid;
@@
cma_ib_acquire_dev(struct rdma_id_private *id_priv, const struct rdma_id_private *listen, struct cma_req_info *req)
{
	<...
	union ib_gid gid;
+	int ret;
	...
	mutex_unlock(&lock);
+	ret = cma_charge_dev(id_priv);
+	if (ret)
+		return ret;
	rdma_restrack_add(&id_priv->res);
	...>
}

@@
identifier id_priv, listen;
@@
cma_iw_acquire_dev(struct rdma_id_private *id_priv, const struct rdma_id_private *listen)
{
	<...
-	if (!ret) {
-		cma_attach_to_dev(id_priv, cma_dev);
-		rdma_restrack_add(&id_priv->res);
-	}
+	if (!ret)
+		cma_attach_to_dev(id_priv, cma_dev);

	mutex_unlock(&lock);
+	if (!ret)
+		ret = cma_charge_dev(id_priv);
+	if (!ret)
+		rdma_restrack_add(&id_priv->res);
	return ret;
	...>
}

@@
identifier id_priv, cma_dev;
@@
cma_resolve_ib_dev(struct rdma_id_private *id_priv)
{
	<...
	cma_attach_to_dev(id_priv, cma_dev);
-	rdma_restrack_add(&id_priv->res);
	mutex_unlock(&lock);
+	ret = cma_charge_dev(id_priv);
+	if (ret)
+		return ret;
+	rdma_restrack_add(&id_priv->res);
	...>
}

@@
identifier id_priv, cma_dev;
@@
cma_bind_loopback(struct rdma_id_private *id_priv)
{
	<...
	cma_attach_to_dev(id_priv, cma_dev);
-	rdma_restrack_add(&id_priv->res);
-	cma_set_loopback(cma_src_addr(id_priv));
out:
	mutex_unlock(&lock);
+	if (!ret)
+		ret = cma_charge_dev(id_priv);
+	if (!ret) {
+		rdma_restrack_add(&id_priv->res);
+		cma_set_loopback(cma_src_addr(id_priv));
+	}
	return ret;
	...>
}
