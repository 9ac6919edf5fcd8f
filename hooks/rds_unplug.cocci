// SPDX-License-Identifier: GPL-2.0
/// Let a device go that RDS uses. The base waits, while a connection shuts down, for each
/// process that holds a memory region of it, and so does who unplugs the device; and it
/// frees regions and the PD after the device is unregistered, which warns. What processes
/// hold loses its connection, and the device before that goes on.
//
// Finds: rds_ib_refill_cache rds_ib_frmr rds_ib_setup_qp rds_ib_remove_one rds_ib_sync_mr
// Expect: 3 +mrs
// Expect: 1 +dev_node
// Expect: 1 +rds_ib_init_mrs
// Expect: 1 +rds_ib_settle
// Expect: 1 -rds_ib_get_mr
// Expect: 1 +rds_ib_bind_mr
// Expect: 1 +rds_ib_add_mr
// Expect: 1 +rds_ib_del_mr
// Expect: 2 +rds_ib_revoke_mrs
// Expect: 1 +srcu_read_lock
// Expect: 2 +srcu_read_unlock
// Expect: 2 -static

@@ @@
struct rds_ib_device {
	...
+	/* All MRs that it has, also those in its pools; mrs_lock. */
+	struct list_head	mrs;
+	/* Of @mrs and each MR's place there. */
+	spinlock_t		mrs_lock;
	struct rds_ib_mr_pool	*mr_1m_pool;
	...
};

@@ @@
struct rds_ib_mr {
	...
+	/* On device->mrs; mrs_lock. Empty once the device has taken its MR back. */
+	struct list_head	dev_node;
	struct llist_node	llnode;
	...
};

@ remove @
identifier rds_ibdev;
@@
rds_ib_remove_one(...)
{
	<...
	synchronize_rcu();
+	rds_ib_settle(rds_ibdev);
	rds_ib_dev_put(rds_ibdev);
	...>
}

@ depends on remove @
identifier rds_ibdev;
@@
rds_ib_add_one(...)
{
	<...
	spin_lock_init(&rds_ibdev->spinlock);
+	rds_ib_init_mrs(rds_ibdev);
	...>
}

@ depends on remove @
identifier rds_ibdev;
@@
-static
void rds_ib_dev_shutdown(struct rds_ib_device *rds_ibdev)
{
	...
}

@ depends on remove @
@@
struct rds_transport rds_ib_transport = {
-	.get_mr = rds_ib_get_mr,
+	.get_mr = rds_ib_bind_mr,
};

@ frmr @
identifier ibmr, old_state, new_state;
@@
-static inline
void rds_transition_frwr_state(struct rds_ib_mr *ibmr, enum rds_ib_fr_state old_state,
	enum rds_ib_fr_state new_state)
{
	...
}

@ depends on frmr @
identifier ibmr, pool, rds_ibdev;
@@
rds_ib_alloc_frmr(struct rds_ib_device *rds_ibdev, ...)
{
	<...
	ibmr->pool = pool;
+	rds_ib_add_mr(rds_ibdev, ibmr);
	...>
}

@ depends on frmr @
identifier ibmr;
@@
rds_ib_unreg_frmr(...)
{
	<...
	list_del(&ibmr->unmap_list);
+	rds_ib_del_mr(ibmr);
	...>
}

@ setup @
identifier dev, conn, rds_ibdev;
@@
rds_ib_setup_qp(struct rds_connection *conn)
{
	...
	unsigned long max_wrs;
+	int index;
	...
+	index = srcu_read_lock(&rds_ib_binding);
	rds_ibdev = rds_ib_get_client_data(dev);
-	if (!rds_ibdev)
+	if (!rds_ibdev) {
+		srcu_read_unlock(&rds_ib_binding, index);
		return -EOPNOTSUPP;
+	}
	...
	rds_ib_add_conn(rds_ibdev, conn);
+	srcu_read_unlock(&rds_ib_binding, index);
	...
}

@ depends on setup @
identifier ic;
expression idle;
@@
rds_ib_conn_path_shutdown(...)
{
	...
	struct rds_ib_connection *ic = ...;
	<...
(
	rds_ib_flush_mrs();
+	rds_ib_revoke_mrs(ic);
|
	tasklet_schedule(&ic->i_recv_tasklet);
+	rds_ib_revoke_mrs(ic);
|
// Up to its 107th update, 6.12 waits once, and for a region of a process for ever.
-	wait_event
+	while (!wait_event_timeout
	(rds_ib_ring_empty_wait, idle
+	, msecs_to_jiffies(1000)))
-	);
+	{
+		tasklet_schedule(&ic->i_send_tasklet);
+		tasklet_schedule(&ic->i_recv_tasklet);
+		rds_ib_revoke_mrs(ic);
+	}
)
	...>
}

@ depends on setup || frmr || remove @
@@
 #include "ib_mr.h"
+#include "ib_unplug.h"

@@
identifier ibmr;
@@
rds_ib_sync_mr(...)
{
	<...
-	if (ibmr->odp)
+	if (ibmr->odp || !ibmr->u.frmr.mr)
		return;
	...>
}
