// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers: one end has its memory registered and asks for it to be filled, the other
 * end writes into it and says so. A message goes out only where the other end has a buffer
 * for it, which its answer gives back (a credit), and where the send queue has room.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "lnd.h"

/* The message of a transfer, its registration, and the end of that. */
#define LND_REQUEST_WRS	(1 + LND_FR_WRS)

/* --- what the device is told --- */

static int lnd_tx_post(struct lnd_tx *tx)
{
	struct lnd_conn *conn = tx->conn;
	struct ib_mr *mr = tx->mr->mr;
	struct ib_sge sge = {
		.addr = tx->dma,
		.length = sizeof(*tx->msg),
		.lkey = conn->ni->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &tx->sent,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_reg_wr reg = {
		.wr = {
			.next = &send,
			.wr_cqe = &conn->failed,
			.opcode = IB_WR_REG_MR,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	ib_dma_sync_single_for_device(conn->ni->device, tx->dma, sizeof(*tx->msg),
				      DMA_TO_DEVICE);
	return ib_post_send(conn->id->qp, &reg.wr, NULL);
}

static int lnd_tx_post_invalidate(struct lnd_tx *tx)
{
	struct ib_send_wr wr = {
		.wr_cqe = &tx->invalidated,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = tx->mr->mr->rkey,
	};

	return ib_post_send(tx->conn->id->qp, &wr, NULL);
}

/* The source is one page: each fragment is all of it, the last one perhaps less. */
static struct ib_send_wr *lnd_rx_chain(struct lnd_rx *rx, struct ib_send_wr *last)
{
	struct lnd_ni *ni = rx->conn->ni;
	unsigned int bytes = le32_to_cpu(rx->msg->bytes), frags = rx->wrs - 1, i;
	u64 addr = le64_to_cpu(rx->msg->addr);

	for (i = 0; i < frags; i++)
		ni->writes[i] = (struct ib_rdma_wr) {
			.wr = {
				.next = i + 1 < frags ? &ni->writes[i + 1].wr : last,
				.wr_cqe = &rx->conn->failed,
				.opcode = IB_WR_RDMA_WRITE,
				.sg_list = &ni->sges[i + 1 == frags],
				.num_sge = 1,
			},
			.remote_addr = addr + i * PAGE_SIZE,
			.rkey = le32_to_cpu(rx->msg->rkey),
		};
	ni->sges[0] = (struct ib_sge) { ni->source_dma, PAGE_SIZE, ni->pd->local_dma_lkey };
	ni->sges[1] = ni->sges[0];
	ni->sges[1].length = bytes - (frags - 1) * PAGE_SIZE;
	return &ni->writes[0].wr;
}

static int lnd_rx_post_answer(struct lnd_rx *rx)
{
	struct lnd_conn *conn = rx->conn;
	struct ib_sge sge = {
		.addr = rx->dma,
		.length = sizeof(*rx->msg),
		.lkey = conn->ni->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &rx->answered,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_send_wr *first = lnd_rx_chain(rx, &send);

	rx->msg->type = cpu_to_le32(LND_MSG_DONE);
	ib_dma_sync_single_for_device(conn->ni->device, rx->dma, sizeof(*rx->msg),
				      DMA_BIDIRECTIONAL);
	return ib_post_send(conn->id->qp, first, NULL);
}

/**
 * lnd_rx_post() - let a message come in
 * @rx: one whose memory nobody uses
 *
 * Return: 0, or the device's error.
 */
int lnd_rx_post(struct lnd_rx *rx)
{
	struct ib_sge sge = {
		.addr = rx->dma,
		.length = LND_MSG_SIZE,
		.lkey = rx->conn->ni->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &rx->received,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(rx->conn->id->qp, &wr, NULL);
}

/* --- what waits for room --- */

static bool lnd_conn_take_room(struct lnd_conn *conn, unsigned int wrs)
{
	if (conn->room < wrs || conn->posted >= conn->ni->param.sends)
		return false;
	conn->room -= wrs;
	conn->posted++;
	return true;
}

/* Answers go first, and need no credit: two ends that only ask would wait for each other. */
static int lnd_conn_push_answers(struct lnd_conn *conn)
{
	struct lnd_rx *rx, *next;
	int ret = 0;

	list_for_each_entry_safe(rx, next, &conn->answers, entry) {
		if (ret || !lnd_conn_take_room(conn, rx->wrs))
			break;
		list_del(&rx->entry);
		ret = lnd_rx_post_answer(rx);
	}
	return ret;
}

static int lnd_conn_push_requests(struct lnd_conn *conn)
{
	struct lnd_tx *tx, *next;
	int ret = 0;

	list_for_each_entry_safe(tx, next, &conn->waiting, entry) {
		if (ret || !conn->credits || !lnd_conn_take_room(conn, LND_REQUEST_WRS))
			break;
		conn->credits--;
		list_move_tail(&tx->entry, &conn->sent);
		tx->is_asked = true;
		ret = lnd_tx_post(tx);
	}
	return ret;
}

static void lnd_conn_push(struct lnd_conn *conn)
{
	int ret;

	if (conn->state != LND_ESTABLISHED)
		return;
	ret = lnd_conn_push_answers(conn);
	if (!ret)
		ret = lnd_conn_push_requests(conn);
	if (ret)
		lnd_conn_die(conn, ret);
}

/* --- a transfer, from its registration to its end --- */

/* The connections take turns. */
static struct lnd_conn *lnd_next_conn(struct lnd_ni *ni)
{
	struct lnd_conn *conn, *found = NULL;

	spin_lock(&ni->conns_lock);
	list_for_each_entry(conn, &ni->conns, entry) {
		if (conn->state != LND_ESTABLISHED)
			continue;
		list_move_tail(&conn->entry, &ni->conns);
		found = conn;
		break;
	}
	spin_unlock(&ni->conns_lock);
	return found;
}

static int lnd_get_one(struct lnd_ni *ni)
{
	struct lnd_conn *conn = lnd_next_conn(ni);
	struct lnd_tx *tx;
	int ret;

	if (!conn)
		return -ENOTCONN;
	if (DIV_ROUND_UP(ni->bytes, PAGE_SIZE) > conn->frags)
		return -EMSGSIZE;
	tx = list_first_entry_or_null(&conn->cpt->free_txs, struct lnd_tx, entry);
	if (!tx)
		return -EAGAIN;
	ret = lnd_tx_map(ni, tx);
	if (ret)
		return ret;
	tx->conn = conn;
	list_move_tail(&tx->entry, &conn->waiting);
	ni->inflight++;
	lnd_conn_push(conn);
	return 0;
}

/*
 * Begin as many transfers as there is room for. Where something is short, in the NI or in
 * its cgroup, those under way will make room; without any, the command has failed.
 */
static void lnd_get_more(struct lnd_ni *ni)
{
	int ret = 0;

	while (ni->todo && !ni->get_error && !ret) {
		ret = lnd_get_one(ni);
		if (!ret)
			ni->todo--;
	}
	if (ret && !(ni->inflight && (ret == -EAGAIN || ret == -ENOMEM)))
		ni->get_error = ret;
	if (!ni->inflight && (ni->get_error || !ni->todo))
		lnd_ni_done(ni, ni->get_error);
}

/**
 * lnd_get_begin() - do the command "get"
 * @ni: an NI
 */
void lnd_get_begin(struct lnd_ni *ni)
{
	ni->todo = ni->command.count;
	ni->bytes = ni->command.bytes;
	ni->get_error = 0;
	lnd_get_more(ni);
}

static void lnd_tx_end(struct lnd_tx *tx, int error)
{
	struct lnd_ni *ni = tx->conn->ni;

	lnd_tx_unmap(ni, tx);
	if (!error && !lnd_tx_is_filled(tx))
		error = -EBADMSG;
	if (!error)
		ni->received += ni->bytes;
	else if (!ni->get_error)
		ni->get_error = error;
	lnd_tx_free(ni, tx);
	ni->inflight--;
}

/**
 * lnd_get_abort() - end the transfers of a connection that is no more
 * @conn: a connection without a queue pair
 */
void lnd_get_abort(struct lnd_conn *conn)
{
	struct lnd_ni *ni = conn->ni;
	struct lnd_tx *tx, *next;
	unsigned int before = ni->inflight;

	list_for_each_entry_safe(tx, next, &conn->waiting, entry)
		lnd_tx_end(tx, -ECONNRESET);
	list_for_each_entry_safe(tx, next, &conn->sent, entry) {
		lnd_mr_renew(ni, tx->mr);
		lnd_tx_end(tx, -ECONNRESET);
	}
	if (before && !ni->inflight)
		lnd_ni_done(ni, ni->get_error);
}

/* --- completions --- */

/* Those of a dead connection mean nothing any more. */
static bool lnd_completed(struct lnd_conn *conn, const struct ib_wc *wc)
{
	if (conn->state == LND_ESTABLISHED && wc->status == IB_WC_SUCCESS)
		return true;
	lnd_conn_die(conn, -ECONNRESET);
	return false;
}

/**
 * lnd_failed() - end a connection of which a work request has failed
 * @cq: its completion queue
 * @wc: a completion of a work request that completes only if it fails
 */
void lnd_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	lnd_conn_die(container_of(wc->wr_cqe, struct lnd_conn, failed), -ECONNRESET);
}

static void lnd_tx_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_tx *tx = container_of(wc->wr_cqe, struct lnd_tx, sent);

	if (!lnd_completed(tx->conn, wc))
		return;
	tx->conn->posted--;
	lnd_conn_push(tx->conn);
}

/* Nobody but this end can reach the memory any more: it may be looked at and freed. */
static void lnd_tx_invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_tx *tx = container_of(wc->wr_cqe, struct lnd_tx, invalidated);
	struct lnd_conn *conn = tx->conn;

	if (!lnd_completed(conn, wc))
		return;
	lnd_tx_end(tx, 0);
	conn->room += LND_REQUEST_WRS;
	lnd_conn_push(conn);
	lnd_get_more(conn->ni);
}

/* The other end says that it has written; trust neither that nor which transfer it names. */
static int lnd_rx_done(struct lnd_rx *rx)
{
	struct lnd_conn *conn = rx->conn;
	struct lnd_ni *ni = conn->ni;
	unsigned int cookie = le32_to_cpu(rx->msg->cookie);
	struct lnd_tx *tx;
	int ret;

	if (cookie >= ni->param.cpts * ni->param.txs)
		return -EPROTO;
	tx = &ni->txs[cookie];
	if (tx->conn != conn || !tx->is_asked)
		return -EPROTO;
	tx->is_asked = false;
	conn->credits++;
	ret = lnd_tx_post_invalidate(tx);
	return ret ?: lnd_rx_post(rx);
}

static int lnd_rx_get(struct lnd_rx *rx)
{
	unsigned int frags = DIV_ROUND_UP(le32_to_cpu(rx->msg->bytes), PAGE_SIZE);

	if (!frags || frags > rx->conn->frags)
		return -EPROTO;
	rx->wrs = 1 + frags;
	list_add_tail(&rx->entry, &rx->conn->answers);
	return 0;
}

static int lnd_rx_handle(struct lnd_rx *rx)
{
	switch (le32_to_cpu(rx->msg->type)) {
	case LND_MSG_GET:
		return lnd_rx_get(rx);
	case LND_MSG_DONE:
		return lnd_rx_done(rx);
	default:
		return -EPROTO;
	}
}

static void lnd_rx_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_rx *rx = container_of(wc->wr_cqe, struct lnd_rx, received);
	struct lnd_conn *conn = rx->conn;
	int ret = -EPROTO;

	if (!lnd_completed(conn, wc))
		return;
	ib_dma_sync_single_for_cpu(conn->ni->device, rx->dma, sizeof(*rx->msg),
				   DMA_BIDIRECTIONAL);
	if (wc->byte_len == sizeof(*rx->msg))
		ret = lnd_rx_handle(rx);
	if (ret)
		lnd_conn_die(conn, ret);
	lnd_conn_push(conn);
}

static void lnd_rx_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_rx *rx = container_of(wc->wr_cqe, struct lnd_rx, answered);
	struct lnd_conn *conn = rx->conn;
	int ret;

	if (!lnd_completed(conn, wc))
		return;
	conn->posted--;
	conn->room += rx->wrs;
	ret = lnd_rx_post(rx);
	if (ret)
		lnd_conn_die(conn, ret);
	lnd_conn_push(conn);
}

/**
 * lnd_rx_init() - set what becomes of a message
 * @rx: a message
 */
void lnd_rx_init(struct lnd_rx *rx)
{
	rx->received.done = lnd_rx_received;
	rx->answered.done = lnd_rx_answered;
}

/**
 * lnd_tx_init() - set what becomes of a transfer
 * @tx: a transfer
 */
void lnd_tx_init(struct lnd_tx *tx)
{
	tx->sent.done = lnd_tx_sent;
	tx->invalidated.done = lnd_tx_invalidated;
}
