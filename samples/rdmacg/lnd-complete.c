// SPDX-License-Identifier: GPL-2.0-only
/* Events of a connection, the commands that wait for them, and completions. */
#include "lnd.h"

/* Report an event to a command that waits for the connection. */
void lnd_conn_tell(struct lnd_conn *conn, int event)
{
	WRITE_ONCE(conn->event, event);
	wake_up(&conn->ni->wait);
}

/*
 * Mark a connection as dead, in any context. Do not overwrite an earlier event.
 */
void lnd_conn_die(struct lnd_conn *conn)
{
	WRITE_ONCE(conn->state, LND_DEAD);
	cmpxchg(&conn->event, LND_NO_EVENT, RDMA_CM_EVENT_DISCONNECTED);
	wake_up(&conn->ni->wait);
	schedule_work(&conn->ni->work);
}

/*
 * Wait for an event of the connection, for its end, or for the end of the NI.
 */
int lnd_conn_wait(struct lnd_conn *conn, int wanted)
{
	struct lnd_ni *ni = conn->ni;
	int event;

	if (wait_event_killable(ni->wait, READ_ONCE(conn->event) != LND_NO_EVENT ||
				READ_ONCE(ni->is_gone)))
		return -EINTR;
	event = READ_ONCE(conn->event);
	if (event == wanted) {
		WRITE_ONCE(conn->event, LND_NO_EVENT);
		return 0;
	}
	if (event == LND_NO_EVENT)
		return -ENODEV;
	return event == RDMA_CM_EVENT_REJECTED ? -ECONNREFUSED : -ECONNRESET;
}

/*
 * If the peer refuses a connection, the connection manager flushes the receives
 * before it reports why. So only its event ends what is not yet established.
 */
static bool lnd_completed(struct lnd_conn *conn, const struct ib_wc *wc)
{
	enum lnd_state state = READ_ONCE(conn->state);

	if (state != LND_DEAD && wc->status == IB_WC_SUCCESS)
		return true;
	if (state == LND_ESTABLISHED)
		lnd_conn_die(conn);
	return false;
}

static void lnd_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_conn *conn = container_of(wc->wr_cqe, struct lnd_conn, sent);

	if (lnd_completed(conn, wc))
		lnd_conn_tell(conn, LND_SENT);
}

/* All messages are received into one page, because no code reads them. */
static int lnd_post_recv(struct lnd_conn *conn)
{
	struct ib_sge sge = {
		.addr = conn->ni->sink_dma,
		.length = PAGE_SIZE,
		.lkey = conn->ni->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &conn->received,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(conn->id->qp, &wr, NULL);
}

static void lnd_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_conn *conn = container_of(wc->wr_cqe, struct lnd_conn, received);

	if (!lnd_completed(conn, wc))
		return;
	atomic64_add(wc->byte_len, &conn->ni->received);
	if (lnd_post_recv(conn))
		lnd_conn_die(conn);
}

/* Post the receives of a new queue pair. */
int lnd_conn_post_recvs(struct lnd_conn *conn)
{
	unsigned int i;
	int ret = 0;

	conn->received.done = lnd_received;
	conn->sent.done = lnd_sent;
	for (i = 0; !ret && i < conn->ni->recv_wrs; i++)
		ret = lnd_post_recv(conn);
	return ret;
}
