// SPDX-License-Identifier: GPL-2.0
/// Charge one cm_id to the creator of a user's connection identifier, or of the
/// listener that it came from, while it is bound to a device. The identifiers that
/// a listener on all addresses has on each device are not charged: who plugs a
/// device in would fail on another's limit.
//
// Finds: cma_release_dev rdma_id_private
// Expect: 1 +is_charged
// Expect: 2 +ib_rdmacg_init_cm_id
// Expect: 1 +ib_rdmacg_exit_cm_id
// Expect: 5 +ib_rdmacg_charge_cm_id
// Expect: 1 +ib_rdmacg_uncharge_cm_id

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

@ depends on cma @
@@
 #include "cma_priv.h"
+#include "cgroup.h"

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
identifier id_priv, cma_dev, sgid_attr;
@@
cma_acquire_dev_by_src_ip(struct rdma_id_private *id_priv)
{
	<...
	if (!IS_ERR(sgid_attr)) {
+		ret = ib_rdmacg_charge_cm_id(id_priv, cma_dev->device);
+		if (ret) {
+			rdma_put_gid_attr(sgid_attr);
+			goto out;
+		}
		id_priv->id.port_num = port;
		cma_bind_sgid_attr(id_priv, sgid_attr);
		cma_attach_to_dev(id_priv, cma_dev);
		...
	}
	...>
}

@@
identifier id_priv, listen, req, sgid_attr, gid;
@@
cma_ib_acquire_dev(struct rdma_id_private *id_priv, const struct rdma_id_private *listen, struct cma_req_info *req)
{
	<...
	union ib_gid gid;
+	int ret;
	...
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
+
+	ret = ib_rdmacg_charge_cm_id(id_priv, listen->cma_dev->device);
+	if (ret) {
+		rdma_put_gid_attr(sgid_attr);
+		return ret;
+	}
	...>
}

@@
identifier id_priv, listen;
@@
cma_iw_acquire_dev(struct rdma_id_private *id_priv, const struct rdma_id_private *listen)
{
	<...
	mutex_unlock(&lock);
+	if (!ret)
+		ret = ib_rdmacg_charge_cm_id(id_priv, id_priv->id.device);
	return ret;
	...>
}

@@
identifier id_priv, cma_dev;
@@
cma_resolve_ib_dev(struct rdma_id_private *id_priv)
{
	<...
+	ret = ib_rdmacg_charge_cm_id(id_priv, cma_dev->device);
+	if (ret) {
+		mutex_unlock(&lock);
+		return ret;
+	}
	cma_attach_to_dev(id_priv, cma_dev);
	...>
}

@@
identifier id_priv, cma_dev;
@@
cma_bind_loopback(struct rdma_id_private *id_priv)
{
	<...
	id_priv->id.port_num = p;
+	ret = ib_rdmacg_charge_cm_id(id_priv, cma_dev->device);
+	if (ret)
+		goto out;
	cma_attach_to_dev(id_priv, cma_dev);
	...>
}
