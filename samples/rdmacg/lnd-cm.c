// SPDX-License-Identifier: GPL-2.0-only
/*
 * How two ends agree on a connection. Who asks makes its queue pair before it does, and
 * names its depth and fragments. Who is asked takes less than it has, and refuses more
 * with what it has, with which the other one asks again. Either may shrink the depth
 * to what its device makes; the smaller one is used.
 */
#include <linux/string.h>
#include <rdma/ib_cm.h>

#include "lnd.h"

static struct lnd_hello lnd_hello(unsigned int reason, unsigned int depth, unsigned int frags)
{
	return (struct lnd_hello) {
		.magic = cpu_to_le32(LND_MAGIC),
		.reason = cpu_to_le16(reason),
		.depth = cpu_to_le16(depth),
		.frags = cpu_to_le16(frags),
		.msg_size = cpu_to_le16(LND_MSG_SIZE),
	};
}

static bool lnd_hello_is_valid(const struct lnd_hello *hello)
{
	return hello->magic == cpu_to_le32(LND_MAGIC) && hello->depth && hello->frags;
}

static struct rdma_conn_param lnd_conn_param(const struct lnd_hello *hello)
{
	return (struct rdma_conn_param) {
		.private_data = hello,
		.private_data_len = sizeof(*hello),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 5,
		.rnr_retry_count = 5,
	};
}

/* --- who asks --- */

static int lnd_conn_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

static int lnd_conn_resolve(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;
	struct sockaddr_storage from = ni->listener->route.addr.src_addr;
	struct rdma_cm_id *id;

	id = rdma_create_id(ni->net, lnd_conn_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->id = id;
	/* From the NI's address and so from its device, but from any port, IPv6 alike. */
	((struct sockaddr_in *)&from)->sin_port = 0;
	return rdma_resolve_addr(id, (struct sockaddr *)&from,
				 (struct sockaddr *)&ni->peer.addr, LND_TIMEOUT_MS);
}

/**
 * lnd_conn_start() - ask the peer for one connection
 * @ni: an NI with a peer, of which one connection more is pending
 *
 * lnd_ni_settle() is told what becomes of it.
 */
void lnd_conn_start(struct lnd_ni *ni)
{
	struct lnd_conn *conn = lnd_conn_alloc(ni, NULL);
	int ret;

	if (!conn) {
		lnd_ni_settle(ni, -ENOMEM);
		return;
	}
	conn->is_active = true;
	conn->depth = ni->peer.depth;
	conn->frags = ni->peer.frags;
	ret = lnd_conn_resolve(conn);
	if (ret)
		lnd_conn_die(conn, ret);
}

static int lnd_conn_resolved(struct lnd_conn *conn)
{
	if (conn->id->device != conn->ni->device)
		return -EHOSTUNREACH;
	return rdma_resolve_route(conn->id, LND_TIMEOUT_MS);
}

static int lnd_conn_ask(struct lnd_conn *conn)
{
	struct rdma_conn_param param;
	struct lnd_hello hello;
	int ret = lnd_conn_make(conn);

	if (ret)
		return ret;
	/* What the device could not make once is not tried for the next connection. */
	conn->ni->peer.depth = min(conn->ni->peer.depth, conn->depth);
	hello = lnd_hello(0, conn->depth, conn->frags);
	param = lnd_conn_param(&hello);
	return rdma_connect(conn->id, &param);
}

/* The answer names what is used; the queue pair keeps the size that it has. */
static int lnd_conn_accepted(struct lnd_conn *conn)
{
	unsigned int depth = le16_to_cpu(conn->hello.depth);
	unsigned int frags = le16_to_cpu(conn->hello.frags);

	if (!lnd_hello_is_valid(&conn->hello) || depth > conn->depth || frags > conn->frags)
		return -EPROTO;
	conn->depth = depth;
	conn->frags = frags;
	lnd_conn_establish(conn);
	conn->is_settled = true;
	lnd_ni_settle(conn->ni, 0);
	return 0;
}

/* Ask again with what the other end has, if that is less: so this ends. */
static bool lnd_conn_may_retry(struct lnd_conn *conn)
{
	unsigned int depth = le16_to_cpu(conn->hello.depth);
	unsigned int frags = le16_to_cpu(conn->hello.frags);
	struct lnd_peer *peer = &conn->ni->peer;

	if (!lnd_hello_is_valid(&conn->hello))
		return false;
	switch (le16_to_cpu(conn->hello.reason)) {
	case LND_REJECT_QUEUE_SIZE:
		peer->depth = min(peer->depth, depth);
		return depth < conn->depth;
	case LND_REJECT_FRAGS:
		peer->frags = min(peer->frags, frags);
		return frags < conn->frags;
	default:
		return false;
	}
}

static int lnd_conn_rejected(struct lnd_conn *conn)
{
	conn->reconnect = lnd_conn_may_retry(conn);
	return -ECONNREFUSED;
}

/* --- who is asked --- */

/* Why the request cannot be met; 0: it can. */
static unsigned int lnd_conn_check(const struct lnd_conn *conn)
{
	const struct lnd_param *param = &conn->ni->param;
	const struct lnd_hello *hello = &conn->hello;

	if (!lnd_hello_is_valid(hello) || le16_to_cpu(hello->msg_size) > LND_MSG_SIZE)
		return LND_REJECT_FATAL;
	if (le16_to_cpu(hello->depth) > param->depth)
		return LND_REJECT_QUEUE_SIZE;
	if (le16_to_cpu(hello->frags) > param->frags)
		return LND_REJECT_FRAGS;
	return 0;
}

static int lnd_conn_reject(struct lnd_conn *conn, unsigned int reason)
{
	const struct lnd_param *param = &conn->ni->param;
	struct lnd_hello hello = lnd_hello(reason, param->depth, param->frags);

	rdma_reject(conn->id, &hello, sizeof(hello), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static int lnd_conn_requested(struct lnd_conn *conn)
{
	struct rdma_conn_param param;
	struct lnd_hello hello;
	unsigned int reason;
	int ret;

	/* The NI may have gone since. */
	reason = conn->ni->pd ? lnd_conn_check(conn) : LND_REJECT_FATAL;
	if (reason)
		return lnd_conn_reject(conn, reason);
	conn->depth = le16_to_cpu(conn->hello.depth);
	conn->frags = le16_to_cpu(conn->hello.frags);
	if (lnd_conn_make(conn))
		return lnd_conn_reject(conn, LND_REJECT_NO_RESOURCES);
	hello = lnd_hello(0, conn->depth, conn->frags);
	param = lnd_conn_param(&hello);
	/* The first message may come before the last word of the connection manager. */
	lnd_conn_establish(conn);
	rdma_lock_handler(conn->id);
	ret = rdma_accept(conn->id, &param);
	rdma_unlock_handler(conn->id);
	return ret;
}

/* --- events --- */

static int lnd_conn_handle(struct lnd_conn *conn)
{
	int status = READ_ONCE(conn->status);

	switch (READ_ONCE(conn->event)) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return lnd_conn_resolved(conn);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return lnd_conn_ask(conn);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return lnd_conn_requested(conn);
	case RDMA_CM_EVENT_ESTABLISHED:
		return conn->is_active ? lnd_conn_accepted(conn) : 0;
	case RDMA_CM_EVENT_REJECTED:
		return lnd_conn_rejected(conn);
	default:
		return status < 0 ? status : -ECONNRESET;
	}
}

/**
 * lnd_conn_event() - do what the connection manager's last event asks for
 * @work: of a connection
 *
 * Context: The NI's thread.
 */
void lnd_conn_event(struct kthread_work *work)
{
	struct lnd_conn *conn = container_of(work, struct lnd_conn, event_work);
	int ret;

	if (conn->state == LND_DEAD)
		return;
	ret = lnd_conn_handle(conn);
	if (ret)
		lnd_conn_die(conn, ret);
}

static void lnd_conn_take_hello(struct lnd_conn *conn, const void *data, u8 len)
{
	conn->hello = (struct lnd_hello) { };
	if (data && len >= sizeof(conn->hello))
		memcpy(&conn->hello, data, sizeof(conn->hello));
}

static void lnd_conn_tell(struct lnd_conn *conn, const struct rdma_cm_event *event)
{
	WRITE_ONCE(conn->status, event->status);
	WRITE_ONCE(conn->event, event->event);
	kthread_queue_work(&conn->ni->worker, &conn->event_work);
}

/* Called in the connection manager's threads, never twice at once for an id. */
static int lnd_conn_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct lnd_conn *conn = id->context;
	const void *data;
	u8 len = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		kthread_queue_work(&conn->ni->worker, &conn->ni->unmake_work);
		return 0;
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_REJECTED:
		data = rdma_consumer_reject_data(id, event, &len);
		lnd_conn_take_hello(conn, data, len);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->is_active)
			lnd_conn_take_hello(conn, event->param.conn.private_data,
					    event->param.conn.private_data_len);
		break;
	default:
		break;
	}
	lnd_conn_tell(conn, event);
	return 0;
}

/**
 * lnd_listen_handler() - take requests for connections
 * @id: the listener, or what the connection manager made for a request
 * @event: the event
 *
 * The device waits for the listener, which goes last: so its end is the NI's end.
 *
 * Context: A thread of the connection manager.
 * Return: 0, or an error, with which a request is refused.
 */
int lnd_listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct lnd_ni *ni = id->context;
	struct lnd_conn *conn;

	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		kthread_queue_work(&ni->worker, &ni->unmake_work);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	conn = lnd_conn_alloc(ni, id);
	if (!conn)
		return -ENOMEM;
	id->context = conn;
	id->event_handler = lnd_conn_handler;
	lnd_conn_take_hello(conn, event->param.conn.private_data,
			    event->param.conn.private_data_len);
	lnd_conn_tell(conn, event);
	return 0;
}
