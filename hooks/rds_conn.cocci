// SPDX-License-Identifier: GPL-2.0
/// Charge an RDS connection over RDMA to the cgroup of the process that made RDS open it:
/// known where a process sends, charged where a worker brings the connection up, for each
/// time that it does. One that finds no room is dropped as any failed one is, and tried again; the log
/// is not told each time.
//
// Finds: rds_conn_net_set rds_sendmsg rds_ib_refill_cache rds_ib_setup_qp rds_rdma_cm_event_handler_cmn
// Expect: 1 +c_payer
// Expect: 1 +rds_conn_init_payer
// Expect: 1 +rds_conn_offer_payer
// Expect: 1 +i_is_counted
// Expect: 2 +nr_peer_conns
// Expect: 7 +rds_conn_exit_payer
// Expect: 1 +rds_ib_charge_conn
// Expect: 2 +rds_ib_uncharge_conn
// Expect: 2 -rds_ib_conn_error
// Expect: 2 +rds_ib_setup_failed
// Expect: 1 +pr_warn_ratelimited

@@ @@
+/* Who pays for a connection: see cgroup.h. */
+struct rds_payer {
+	/* Of @cg and @is_peer. */
+	spinlock_t		lock;
+	/* With a reference; NULL for nobody. @lock. */
+	struct rdma_cgroup	*cg;
+	/* A peer has opened it. @lock. */
+	bool			is_peer;
+	/* The next process that sends pays instead. READ_ONCE, WRITE_ONCE; may be stale. */
+	bool			is_free;
+};
+
struct rds_connection {
	...
	struct rds_connection	*c_passive;
+	/* The other end of one to the own address, which has its payer. Set once. */
+	struct rds_connection	*c_active;
+	struct rds_payer	c_payer;
	...
};

@ ibconn @ @@
struct rds_ib_connection {
	...
	struct ib_cq		*i_recv_cq;
+	/*
+	 * Of the QP and CQs, or counted in nr_peer_conns. Both belong to who sets the
+	 * connection up or shuts it down: cp_state lets one do so at a time.
+	 */
+	struct ib_rdmacg_charge	i_charge;
+	bool			i_is_counted;
	...
};

@ depends on ibconn @ @@
struct rds_ib_device {
	...
	struct ib_pd		*pd;
+	/* Connections on it that peers have opened, bounded by max_peer_conns; atomic. */
+	atomic_t		nr_peer_conns;
	...
};

@ depends on ibconn @ @@
 #include <rdma/rdma_cm.h>
+#include <rdma/ib_rdmacg.h>

@ create @
identifier conn, net, trans, gfp, tos, is_outgoing;
@@
__rds_conn_create(..., struct rds_transport *trans, gfp_t gfp, u8 tos, int is_outgoing, ...)
{
	<...
	rds_conn_net_set(conn, net);
+	rds_conn_init_payer(conn, trans, parent, is_outgoing);
	...>
}

@ offer @
symbol cpath;
identifier conn;
statement multipath;
@@
+	rds_conn_offer_payer(conn);
	if (conn->c_trans->t_mp_capable)
		multipath
	else
(
		cpath = &conn->c_path[0];
|
		{ cpath = &conn->c_path[0]; }
)

@ depends on offer @
@@
 #include "rds.h"
+#include "cgroup.h"

@ depends on create @
identifier f = { __rds_conn_create, rds_conn_destroy };
identifier conn;
@@
f(...)
{
	<...
+	rds_conn_exit_payer(conn);
	kmem_cache_free(rds_conn_slab, conn);
	...>
}

@ depends on create @
@@
 #include "rds.h"
+#include "cgroup.h"

@ setup @
identifier ic, rds_ibdev, conn;
@@
rds_ib_setup_qp(struct rds_connection *conn)
{
	<...
	ic->i_pd = rds_ibdev->pd;
+	ret = rds_ib_charge_conn(conn);
+	if (ret)
+		goto rds_ibdev_out;
	...>
}

@ depends on setup @
identifier rds_ibdev, conn;
@@
rds_ib_setup_qp(...)
{
	<...
+	rds_ib_uncharge_conn(conn);
	rds_ib_remove_conn(rds_ibdev, conn);
	...>
}

@ depends on setup @
identifier ic;
@@
rds_ib_conn_path_shutdown(...)
{
	<...
+	rds_ib_uncharge_conn(conn);
	rdma_destroy_id(ic->i_cm_id);
	...>
}

@ depends on setup @
identifier conn, err;
@@
	err = rds_ib_setup_qp(conn);
	if (err) {
-		rds_ib_conn_error(conn, "rds_ib_setup_qp failed (%d)\n", err);
+		rds_ib_setup_failed(conn, err);
		...
	}

@ depends on setup @
@@
 #include "ib.h"
+#include "ib_cgroup.h"

@@
expression list args;
@@
rds_rdma_cm_event_handler_cmn(...)
{
	<...
-	pr_warn(args);
+	pr_warn_ratelimited(args);
	...>
}
