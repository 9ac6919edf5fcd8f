/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who pays, in the RDMA cgroup controller, for what RDS takes of an RDMA device:
 *
 * - A connection, one QP and two CQs while it is up or coming up: the cgroup of the process
 *   whose message made RDS open it. At a limit the messages wait, and the connection comes
 *   up when there is room, or when a process of another cgroup sends, which pays then.
 *   Nobody pays for what a peer opens: the module's parameter max_peer_conns bounds how many
 *   of those a device has.
 * - A memory region, while a process's memory is mapped: the cgroup of that process. Those
 *   that wait in a pool to be used are shared and free.
 */
#ifndef _RDS_CGROUP_H
#define _RDS_CGROUP_H

#include <linux/cgroup_rdma.h>

#include "rds.h"

/* That of a connection; of the active end, for both ends of one to the own address. */
static inline struct rds_payer *rds_conn_payer(struct rds_connection *conn)
{
	return conn->c_active ? &conn->c_active->c_payer : &conn->c_payer;
}

/*
 * Settle who pays for a new connection. @active is the end of one to the own address of which
 * this is the passive one. Other transports take nothing.
 */
static inline void rds_conn_init_payer(struct rds_connection *conn,
				       const struct rds_transport *trans,
				       struct rds_connection *active, bool is_outgoing)
{
	spin_lock_init(&conn->c_payer.lock);
	conn->c_active = active;
	if (active || trans->t_type != RDS_TRANS_IB)
		return;
	if (is_outgoing)
		conn->c_payer.cg = rdmacg_get_current();
	else
		conn->c_payer.is_peer = true;
}

static inline void rds_conn_exit_payer(struct rds_connection *conn)
{
	if (conn->c_payer.cg)
		rdmacg_put(conn->c_payer.cg);
}

/*
 * The current process sends over a connection that is there: it may have to pay. Whoever pays
 * now does not: else one that sends all the time would keep the place for its own refusals.
 */
static inline void rds_conn_offer_payer(struct rds_connection *conn)
{
	struct rds_payer *payer = rds_conn_payer(conn);
	struct rdma_cgroup *cg;

	if (conn->c_trans->t_type != RDS_TRANS_IB || !READ_ONCE(payer->is_free))
		return;
	cg = rdmacg_get_current();
	spin_lock(&payer->lock);
	if (payer->is_free && (payer->cg != cg || payer->is_peer)) {
		swap(payer->cg, cg);
		payer->is_peer = false;
		WRITE_ONCE(payer->is_free, false);
	}
	spin_unlock(&payer->lock);
	if (cg)
		rdmacg_put(cg);
}

/* Who pays for it now, with a reference; NULL for nobody. */
static inline struct rdma_cgroup *rds_conn_get_payer(struct rds_connection *conn, bool *is_peer)
{
	struct rds_payer *payer = rds_conn_payer(conn);
	struct rdma_cgroup *cg;

	spin_lock(&payer->lock);
	cg = payer->cg;
	if (cg)
		rdmacg_get(cg);
	*is_peer = payer->is_peer;
	spin_unlock(&payer->lock);
	return cg;
}

/* It was refused or is down; who pays goes on, unless another process sends. */
static inline void rds_conn_free_payer(struct rds_connection *conn)
{
	WRITE_ONCE(rds_conn_payer(conn)->is_free, true);
}

/* It is coming up, and stays with who pays. */
static inline void rds_conn_keep_payer(struct rds_connection *conn)
{
	WRITE_ONCE(rds_conn_payer(conn)->is_free, false);
}

#endif /* _RDS_CGROUP_H */
