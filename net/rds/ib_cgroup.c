// SPDX-License-Identifier: GPL-2.0-only
/*
 * What RDS charges to RDMA cgroups, and the bound on what it cannot charge to any: cgroup.h
 * says who pays for what.
 */
#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/ratelimit.h>
#include <linux/workqueue.h>

#include "cgroup.h"
#include "ib_cgroup.h"
#include "ib_mr.h"
#include "rds_single_path.h"

static unsigned int rds_ib_max_peer_conns = 1024;
module_param_named(max_peer_conns, rds_ib_max_peer_conns, uint, 0644);
MODULE_PARM_DESC(max_peer_conns, "Connections that peers opened, at most on each device");

/* The bound can be lowered under what is there, which then stays. */
static int rds_ib_count_peer(struct rds_ib_connection *ic)
{
	atomic_t *nr = &ic->rds_ibdev->nr_peer_conns;

	if (atomic_inc_return(nr) > READ_ONCE(rds_ib_max_peer_conns)) {
		atomic_dec(nr);
		return -EAGAIN;
	}
	ic->i_is_counted = true;
	return 0;
}

/*
 * Charge what a connection is about to take, which is bound to its device by now. Called
 * by who brings it up, in a worker. 0, or -EAGAIN for no room, -ENOMEM, -ENODEV.
 */
int rds_ib_charge_conn(struct rds_connection *conn)
{
	static const struct ib_rdmacg_objects objects = { .cq = 2, .qp = 1 };
	struct rds_ib_connection *ic = conn->c_transport_data;
	struct rdma_cgroup *cg;
	bool is_peer;
	int ret;

	cg = rds_conn_get_payer(conn, &is_peer);
	if (is_peer)
		ret = rds_ib_count_peer(ic);
	else
		ret = ib_rdmacg_try_charge_objects(&ic->i_charge, cg, ic->rds_ibdev->dev,
						   &objects);
	if (!ret)
		rds_conn_keep_payer(conn);
	if (cg)
		rdmacg_put(cg);
	return ret;
}

/*
 * Give that back, if it is charged: the connection is down, or there was no room for it.
 * Called while it is still bound to its device, or after an attempt that has given it back.
 */
void rds_ib_uncharge_conn(struct rds_connection *conn)
{
	struct rds_ib_connection *ic = conn->c_transport_data;

	if (!ic->rds_ibdev)
		return;
	if (ic->i_is_counted)
		atomic_dec(&ic->rds_ibdev->nr_peer_conns);
	ic->i_is_counted = false;
	ib_rdmacg_uncharge_objects(&ic->i_charge);
	rds_conn_free_payer(conn);
}

/*
 * Drop a connection that could not be set up; RDS will try again. One without room does so
 * each second for as long as its payer likes, so that is not told each time.
 */
void rds_ib_setup_failed(struct rds_connection *conn, int err)
{
	if (err != -EAGAIN) {
		rds_ib_conn_error(conn, "rds_ib_setup_qp failed (%d)\n", err);
		return;
	}
	rds_conn_drop(conn);
	pr_notice_ratelimited("RDS/IB: connection <%pI6c,%pI6c,%d> waits for %s\n",
			      &conn->c_laddr, &conn->c_faddr, conn->c_tos,
			      READ_ONCE(rds_conn_payer(conn)->is_peer) ?
			      "those of other peers to go" : "room in its RDMA cgroup");
}

/*
 * Charge a region of so many bytes to the current process. Regions that are free stay
 * charged until their pages are unpinned, so that is done at a limit. 0, or -EDQUOT for no
 * room, for -EAGAIN tells RDS users to wait for the connection; -ENOMEM, -ENODEV.
 */
int rds_ib_charge_mr(struct ib_rdmacg_charge *charge, struct rds_ib_device *rds_ibdev,
		     u64 length)
{
	const struct ib_rdmacg_objects objects = { .mr = 1, .mr_mem = length };
	struct rdma_cgroup *cg = rdmacg_get_current();
	int ret = ib_rdmacg_try_charge_objects(charge, cg, rds_ibdev->dev, &objects);

	if (ret == -EAGAIN) {
		if (rds_ibdev->mr_8k_pool)
			rds_ib_flush_mr_pool(rds_ibdev->mr_8k_pool, 0, NULL);
		if (rds_ibdev->mr_1m_pool)
			rds_ib_flush_mr_pool(rds_ibdev->mr_1m_pool, 0, NULL);
		ret = ib_rdmacg_try_charge_objects(charge, cg, rds_ibdev->dev, &objects);
	}
	if (cg)
		rdmacg_put(cg);
	return ret == -EAGAIN ? -EDQUOT : ret;
}

/*
 * A region was freed into its pool, and stays mapped and charged until that is flushed. The
 * delay is what the base takes when it has pinned too much, so that this never puts its own
 * flush off. Who frees all the time makes one flush in that time, in a worker: less than with
 * RDS_RDMA_INVALIDATE, which flushes for each region. Any context.
 */
void rds_ib_flush_soon(struct rds_ib_mr_pool *pool)
{
	queue_delayed_work(rds_ib_mr_wq, &pool->flush_worker, 10);
}
