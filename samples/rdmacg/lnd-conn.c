// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection: its queue pair and completion queue, what they cost, and its end.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "lnd.h"

static void lnd_conn_poll(struct kthread_work *work)
{
	struct lnd_conn *conn = container_of(work, struct lnd_conn, poll_work);

	ib_process_cq_direct(conn->cq, -1);
	if (ib_req_notify_cq(conn->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		kthread_queue_work(&conn->ni->worker, &conn->poll_work);
}

/* Called in whatever context the driver has. */
static void lnd_conn_notify(struct ib_cq *cq, void *context)
{
	struct lnd_conn *conn = context;

	kthread_queue_work(&conn->ni->worker, &conn->poll_work);
}

/**
 * lnd_conn_alloc() - begin a connection, which has nothing yet that costs anything
 * @ni: its NI
 * @id: the connection manager's identifier of it; NULL for one that is made later
 *
 * Context: Process context, of the connection manager for one that comes in.
 * Return: the connection, or NULL.
 */
struct lnd_conn *lnd_conn_alloc(struct lnd_ni *ni, struct rdma_cm_id *id)
{
	struct lnd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);

	if (!conn)
		return NULL;
	conn->ni = ni;
	conn->id = id;
	conn->failed.done = lnd_failed;
	INIT_LIST_HEAD(&conn->waiting);
	INIT_LIST_HEAD(&conn->sent);
	INIT_LIST_HEAD(&conn->answers);
	kthread_init_work(&conn->poll_work, lnd_conn_poll);
	kthread_init_work(&conn->event_work, lnd_conn_event);
	spin_lock(&ni->conns_lock);
	list_add_tail(&conn->entry, &ni->conns);
	spin_unlock(&ni->conns_lock);
	return conn;
}

/* The completion queue has the size for the depth that is wanted, also if it shrinks. */
static int lnd_conn_make_cq(struct lnd_conn *conn)
{
	struct ib_cq_init_attr attr = { };
	struct ib_cq *cq;

	conn->cqes = lnd_recv_wrs(conn->depth) + lnd_send_wrs(conn->depth, conn->frags);
	attr.cqe = conn->cqes;
	cq = ib_create_cq(conn->ni->device, lnd_conn_notify, NULL, conn, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	return ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
}

static int lnd_conn_try_qp(struct lnd_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = conn->cq,
		.recv_cq = conn->cq,
	};

	conn->send_wrs = lnd_send_wrs(conn->depth, conn->frags);
	conn->recv_wrs = lnd_recv_wrs(conn->depth);
	attr.cap.max_send_wr = conn->send_wrs;
	attr.cap.max_recv_wr = conn->recv_wrs;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	return rdma_create_qp(conn->id, conn->ni->pd, &attr);
}

/*
 * A device that lacks memory for a large queue pair may have enough for a smaller one. A
 * refusal of the cgroup is another matter: it is about the number of queue pairs.
 */
static int lnd_conn_make_qp(struct lnd_conn *conn)
{
	int ret;

	while ((ret = lnd_conn_try_qp(conn)) == -ENOMEM && conn->depth > 1)
		conn->depth--;
	return ret;
}

static int lnd_conn_make_rx(struct lnd_conn *conn, struct lnd_rx *rx)
{
	struct ib_device *device = conn->ni->device;

	rx->msg = kzalloc(LND_MSG_SIZE, GFP_KERNEL_ACCOUNT);
	if (!rx->msg)
		return -ENOMEM;
	rx->dma = ib_dma_map_single(device, rx->msg, LND_MSG_SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(device, rx->dma)) {
		kfree(rx->msg);
		rx->msg = NULL;
		return -EIO;
	}
	rx->conn = conn;
	lnd_rx_init(rx);
	return lnd_rx_post(rx);
}

static int lnd_conn_make_rxs(struct lnd_conn *conn)
{
	unsigned int i;
	int ret = 0;

	conn->rxs = kvcalloc(conn->recv_wrs, sizeof(*conn->rxs), GFP_KERNEL_ACCOUNT);
	if (!conn->rxs)
		return -ENOMEM;
	for (i = 0; !ret && i < conn->recv_wrs; i++)
		ret = lnd_conn_make_rx(conn, &conn->rxs[i]);
	return ret;
}

static const struct ib_rdmacg_objects lnd_queues = { .qp = 1, .cq = 1 };

/**
 * lnd_conn_make() - charge and make what a connection needs of the device
 * @conn: a connection with an identifier, and the depth and fragments that are wanted;
 *	gets those that are possible
 *
 * This is the pattern for every kernel user: charge first, all that belongs together in one
 * charge; make it; and give the charge back only once it is destroyed again, whether that
 * is after a failure or at the end. Here lnd_conn_free() does the latter for both.
 *
 * Return: 0; -EAGAIN if the cgroup that asked is at a limit; or the device's error.
 */
int lnd_conn_make(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;
	int ret;

	conn->cpt = &ni->cpts[ni->next_cpt++ % ni->param.cpts];
	conn->depth = lnd_fit_depth(ni->device, conn->depth, conn->frags);
	if (!conn->depth)
		return -EINVAL;
	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &lnd_queues);
	conn->is_charged = !ret;
	if (!ret)
		ret = lnd_conn_make_cq(conn);
	if (!ret)
		ret = lnd_conn_make_qp(conn);
	if (!ret)
		ret = lnd_conn_make_rxs(conn);
	conn->room = conn->send_wrs;
	return ret;
}

/**
 * lnd_conn_establish() - let a connection carry transfers, with the depth that it has now
 * @conn: a connection that lnd_conn_make() has made
 */
void lnd_conn_establish(struct lnd_conn *conn)
{
	conn->credits = conn->depth;
	conn->state = LND_ESTABLISHED;
}

/**
 * lnd_conn_die() - begin the end of a connection
 * @conn: a connection, perhaps a dead one
 * @error: why; 0 if that was wanted
 *
 * The rest is done by lnd_ni_reap(), for what calls this may be what has to be ended.
 */
void lnd_conn_die(struct lnd_conn *conn, int error)
{
	if (conn->state == LND_DEAD)
		return;
	conn->state = LND_DEAD;
	conn->error = error;
	kthread_queue_work(&conn->ni->worker, &conn->ni->reap_work);
}

static void lnd_conn_free_rxs(struct lnd_conn *conn)
{
	unsigned int i;

	for (i = 0; conn->rxs && i < conn->recv_wrs && conn->rxs[i].msg; i++) {
		ib_dma_unmap_single(conn->ni->device, conn->rxs[i].dma, LND_MSG_SIZE,
				    DMA_BIDIRECTIONAL);
		kfree(conn->rxs[i].msg);
	}
	kvfree(conn->rxs);
}

/**
 * lnd_conn_free() - destroy a connection and give back what it was charged
 * @conn: a connection
 *
 * Without its queue pair, the device touches none of its memory; without its completion
 * queue and identifier, nobody queues its works any more.
 *
 * Context: The NI's thread, but none of the works of @conn.
 */
void lnd_conn_free(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;

	if (conn->id && conn->id->qp) {
		rdma_disconnect(conn->id);
		rdma_destroy_qp(conn->id);
	}
	if (conn->cq)
		ib_destroy_cq(conn->cq);
	if (conn->id)
		rdma_destroy_id(conn->id);
	if (conn->is_charged)
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &lnd_queues);
	kthread_cancel_work_sync(&conn->poll_work);
	kthread_cancel_work_sync(&conn->event_work);
	lnd_get_abort(conn);
	lnd_conn_free_rxs(conn);
	spin_lock(&ni->conns_lock);
	list_del(&conn->entry);
	spin_unlock(&ni->conns_lock);
	kfree(conn);
}
