// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections, the charges for their queues, and events of the connection
 * manager.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "lnd.h"

#define LND_TIMEOUT_MS	5000

static struct lnd_conn *lnd_conn_alloc(struct lnd_ni *ni)
{
	struct lnd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);

	if (!conn)
		return NULL;
	conn->ni = ni;
	conn->event = LND_NO_EVENT;
	spin_lock(&ni->conns_lock);
	list_add_tail(&conn->entry, &ni->conns);
	spin_unlock(&ni->conns_lock);
	return conn;
}

static const struct ib_rdmacg_objects lnd_queues = { .hca_object = 2, .qp = 1, .cq = 1 };

/*
 * The order for a kernel user: charge all objects of a connection together,
 * create them, destroy them, and uncharge them. lnd_conn_free() does the last
 * two steps, even if this function fails.
 */
static int lnd_conn_make(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		/* ib_drain_qp() needs one more send and one more receive. */
		.cap.max_send_wr = ni->send_wrs + 1,
		.cap.max_recv_wr = ni->recv_wrs + 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};
	struct ib_cq *cq;
	int ret;

	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &lnd_queues);
	if (ret)
		return ret;
	conn->is_charged = true;
	cq = ib_alloc_cq(ni->device, conn, attr.cap.max_send_wr + attr.cap.max_recv_wr, 0,
			 IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	/* Let the peer send a page again soon if it found no posted receive. */
	rdma_set_min_rnr_timer(conn->id, IB_RNR_TIMER_000_01);
	ret = rdma_create_qp(conn->id, ni->pd, &attr);
	return ret ?: lnd_conn_post_recvs(conn);
}

static void lnd_conn_free(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;

	if (conn->id && conn->id->qp) {
		rdma_disconnect(conn->id);
		ib_drain_qp(conn->id->qp);
		rdma_destroy_qp(conn->id);
	}
	if (conn->cq)
		ib_free_cq(conn->cq);
	if (conn->is_charged)
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &lnd_queues);
	/* The last identifier keeps the device, so return the charge before. */
	if (conn->id)
		rdma_destroy_id(conn->id);
	kfree(conn);
}

/* Free the dead connections, or all connections if @all is true. */
void lnd_conns_free(struct lnd_ni *ni, bool all)
{
	struct lnd_conn *conn, *next;
	LIST_HEAD(dead);

	spin_lock(&ni->conns_lock);
	list_for_each_entry_safe(conn, next, &ni->conns, entry)
		if (all || READ_ONCE(conn->state) == LND_DEAD)
			list_move_tail(&conn->entry, &dead);
	spin_unlock(&ni->conns_lock);
	list_for_each_entry_safe(conn, next, &dead, entry)
		lnd_conn_free(conn);
}

/*
 * Handle an event. The connection manager handles one event of an identifier at
 * a time.
 */
static int lnd_conn_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct lnd_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_DEVICE_REMOVAL:	/* the listener's event ends the NI */
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (cmpxchg(&conn->state, LND_CONNECTING, LND_ESTABLISHED) != LND_CONNECTING)
			break;
		fallthrough;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		lnd_conn_tell(conn, event->event);
		break;
	default:
		lnd_conn_tell(conn, event->event);
		lnd_conn_die(conn);
		break;
	}
	return 0;
}

/*
 * Accept a connection that a peer requests, and charge the NI. The connection
 * manager destroys the identifier if this function fails.
 */
static int lnd_conn_requested(struct lnd_ni *ni, struct rdma_cm_id *id)
{
	struct lnd_conn *conn = READ_ONCE(ni->is_gone) ? NULL : lnd_conn_alloc(ni);
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	if (!conn)
		return -ECONNREFUSED;
	conn->id = id;
	id->context = conn;
	id->event_handler = lnd_conn_handler;
	if (lnd_conn_make(conn)) {
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		lnd_conn_die(conn);
		return 0;
	}
	/* The first message may arrive before rdma_accept() returns. */
	WRITE_ONCE(conn->state, LND_ESTABLISHED);
	if (rdma_accept(id, &param))
		lnd_conn_die(conn);
	return 0;
}

/*
 * Handle an event of the listener. The caller holds the handler lock of the
 * listener.
 */
int lnd_listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct lnd_ni *ni = id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return lnd_conn_requested(ni, id);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		WRITE_ONCE(ni->is_gone, true);
		wake_up(&ni->wait);
		schedule_work(&ni->work);
	}
	return 0;
}

static int lnd_conn_resolve(struct lnd_conn *conn, const struct sockaddr_storage *to)
{
	struct lnd_ni *ni = conn->ni;
	struct sockaddr_storage from = ni->listener->route.addr.src_addr;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(ni->net, lnd_conn_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->id = id;
	/*
	 * Bind to any port of the NI's address, to get the NI's device. An IPv6
	 * address has its port at the same place.
	 */
	((struct sockaddr_in *)&from)->sin_port = 0;
	ret = rdma_resolve_addr(id, (struct sockaddr *)&from, (const struct sockaddr *)to,
				LND_TIMEOUT_MS);
	if (!ret)
		ret = lnd_conn_wait(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!ret && id->device != ni->device)
		ret = -EHOSTUNREACH;
	if (!ret)
		ret = rdma_resolve_route(id, LND_TIMEOUT_MS);
	return ret ?: lnd_conn_wait(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int lnd_connect_one(struct lnd_ni *ni, const struct sockaddr_storage *to)
{
	struct rdma_conn_param param = { .retry_count = 5, .rnr_retry_count = 7 };
	struct lnd_conn *conn = lnd_conn_alloc(ni);
	int ret;

	if (!conn)
		return -ENOMEM;
	ret = lnd_conn_resolve(conn, to);
	if (!ret)
		ret = lnd_conn_make(conn);
	if (!ret)
		ret = rdma_connect(conn->id, &param);
	if (!ret)
		ret = lnd_conn_wait(conn, RDMA_CM_EVENT_ESTABLISHED);
	if (ret) {
		lnd_conn_die(conn);
		lnd_conns_free(ni, false);
	}
	return ret;
}

/* Connect to a peer. Returns 0 if there is at least one connection. */
int lnd_connect(struct lnd_ni *ni, const struct sockaddr_storage *to)
{
	unsigned int i, made = 0;
	int ret = 0;

	if (!ni->listener)
		return -ENOTCONN;
	for (i = 0; i < ni->conns_per_peer; i++) {
		ret = lnd_connect_one(ni, to);
		made += !ret;
	}
	return made ? 0 : ret;
}
