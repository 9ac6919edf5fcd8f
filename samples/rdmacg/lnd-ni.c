// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network interface: what it has from "listen" until its file is closed or its device
 * goes, and the commands that are written to the file.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "lnd.h"

/**
 * lnd_ni_done() - end the command that is under way
 * @ni: an NI, perhaps without a command
 * @result: 0 or the error that the writer gets
 */
void lnd_ni_done(struct lnd_ni *ni, int result)
{
	if (!ni->is_busy)
		return;
	ni->is_busy = false;
	ni->result = result;
	complete_all(&ni->done);
}

/* --- listen --- */

static int lnd_ni_bind(struct lnd_ni *ni)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(ni->net, lnd_listen_handler, ni, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ni->listener = id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&ni->command.addr);
	if (ret)
		return ret;
	/* An address that stands for all of them has no device. */
	ni->device = id->device;
	if (!ni->device)
		return -EADDRNOTAVAIL;
	return ni->device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS ? 0 : -EOPNOTSUPP;
}

static const struct ib_rdmacg_objects lnd_pd = { .pd = 1 };

static int lnd_ni_make_pd(struct lnd_ni *ni)
{
	struct ib_pd *pd;
	int ret;

	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &lnd_pd);
	if (ret)
		return ret;
	ni->is_charged = true;
	pd = ib_alloc_pd(ni->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ni->pd = pd;
	return 0;
}

static int lnd_ni_make_cpts(struct lnd_ni *ni)
{
	unsigned int i;

	ni->cpts = kcalloc(ni->param.cpts, sizeof(*ni->cpts), GFP_KERNEL_ACCOUNT);
	if (!ni->cpts)
		return -ENOMEM;
	for (i = 0; i < ni->param.cpts; i++) {
		INIT_LIST_HEAD(&ni->cpts[i].pools);
		INIT_LIST_HEAD(&ni->cpts[i].free_txs);
	}
	return 0;
}

static int lnd_ni_make(struct lnd_ni *ni)
{
	int ret = lnd_param_take(&ni->param);

	if (!ret)
		ret = lnd_ni_bind(ni);
	if (!ret)
		ret = lnd_ni_make_pd(ni);
	if (!ret)
		ret = lnd_ni_make_cpts(ni);
	if (!ret)
		ret = lnd_pools_make(ni);
	if (!ret)
		ret = lnd_txs_make(ni);
	if (!ret)
		ret = rdma_listen(ni->listener, 0);
	return ret;
}

static void lnd_ni_free_conns(struct lnd_ni *ni)
{
	struct lnd_conn *conn;

	do {
		spin_lock(&ni->conns_lock);
		conn = list_first_entry_or_null(&ni->conns, struct lnd_conn, entry);
		spin_unlock(&ni->conns_lock);
		if (conn)
			lnd_conn_free(conn);
	} while (conn);
}

/*
 * Free all that an NI has, which may be nothing, and give back what it was charged. The
 * device waits for the listener: so everything else goes before that, and while it is there,
 * new requests may come in. Those get nothing more, and end with a second look at the list.
 */
static void lnd_ni_clear(struct lnd_ni *ni)
{
	lnd_ni_free_conns(ni);
	if (ni->device) {
		lnd_txs_free(ni);
		lnd_pools_free(ni);
	}
	kfree(ni->cpts);
	ni->cpts = NULL;
	if (ni->pd)
		ib_dealloc_pd(ni->pd);
	ni->pd = NULL;
	if (ni->is_charged)
		ib_rdmacg_uncharge_objects(ni->cg, ni->device, &lnd_pd);
	ni->is_charged = false;
	if (ni->listener)
		rdma_destroy_id(ni->listener);
	lnd_ni_free_conns(ni);
	ni->listener = NULL;
	ni->device = NULL;
	ni->peer = (struct lnd_peer) { };
}

/**
 * lnd_ni_unmake() - end an NI, because its file is closed or its device goes
 * @work: of an NI, perhaps of one that has nothing
 *
 * Context: The NI's thread.
 */
void lnd_ni_unmake(struct kthread_work *work)
{
	struct lnd_ni *ni = container_of(work, struct lnd_ni, unmake_work);

	lnd_ni_clear(ni);
	lnd_ni_done(ni, -ENODEV);
}

static void lnd_ni_listen(struct lnd_ni *ni)
{
	int ret = -EISCONN;

	if (!ni->listener) {
		ret = lnd_ni_make(ni);
		if (ret)
			lnd_ni_clear(ni);
	}
	lnd_ni_done(ni, ret);
}

/* --- connect --- */

/**
 * lnd_ni_settle() - take note of what became of a connection that was asked for
 * @ni: an NI with a peer, of which this connection was pending
 * @error: 0 if it was made
 *
 * A peer with fewer connections than wanted is one; without any, the command has failed.
 */
void lnd_ni_settle(struct lnd_ni *ni, int error)
{
	struct lnd_peer *peer = &ni->peer;

	if (error)
		peer->error = error;
	else
		peer->made++;
	if (!--peer->pending)
		lnd_ni_done(ni, peer->made ? 0 : peer->error);
}

static void lnd_ni_connect(struct lnd_ni *ni)
{
	struct lnd_peer *peer = &ni->peer;
	unsigned int i;

	if (!ni->pd || peer->made) {
		lnd_ni_done(ni, ni->pd ? -EISCONN : -ENOTCONN);
		return;
	}
	*peer = (struct lnd_peer) {
		.addr = ni->command.addr,
		.depth = ni->param.depth,
		.frags = ni->param.frags,
		.pending = ni->param.conns,
	};
	for (i = 0; i < ni->param.conns; i++)
		lnd_conn_start(ni);
}

static struct lnd_conn *lnd_ni_find_dead(struct lnd_ni *ni)
{
	struct lnd_conn *conn, *found = NULL;

	spin_lock(&ni->conns_lock);
	list_for_each_entry(conn, &ni->conns, entry) {
		if (conn->state == LND_DEAD) {
			found = conn;
			break;
		}
	}
	spin_unlock(&ni->conns_lock);
	return found;
}

/**
 * lnd_ni_reap() - free the connections that have died, and try those again that may be
 * @work: of an NI
 *
 * What the next attempt needs has been given back by then, so that it fits where the
 * first one did.
 *
 * Context: The NI's thread.
 */
void lnd_ni_reap(struct kthread_work *work)
{
	struct lnd_ni *ni = container_of(work, struct lnd_ni, reap_work);
	struct lnd_conn *conn;

	while ((conn = lnd_ni_find_dead(ni))) {
		bool is_pending = conn->is_active && !conn->is_settled;
		bool was_made = conn->is_active && conn->is_settled;
		bool reconnect = conn->reconnect;
		int error = conn->error;

		lnd_conn_free(conn);
		if (was_made)
			ni->peer.made--;
		else if (is_pending && reconnect)
			lnd_conn_start(ni);
		else if (is_pending)
			lnd_ni_settle(ni, error);
	}
}

/* --- commands --- */

/**
 * lnd_ni_run() - do what was written to the file
 * @work: of an NI with a command
 *
 * Context: The NI's thread.
 */
void lnd_ni_run(struct kthread_work *work)
{
	struct lnd_ni *ni = container_of(work, struct lnd_ni, command_work);

	ni->is_busy = true;
	switch (ni->command.verb) {
	case LND_LISTEN:
		lnd_ni_listen(ni);
		break;
	case LND_CONNECT:
		lnd_ni_connect(ni);
		break;
	case LND_GET:
		lnd_get_begin(ni);
		break;
	}
}

/* IPv6 addresses have it at the same place. */
static unsigned int lnd_ni_port(const struct lnd_ni *ni)
{
	const struct sockaddr_storage *addr = &ni->listener->route.addr.src_addr;

	return be16_to_cpu(((const struct sockaddr_in *)addr)->sin_port);
}

static int lnd_report_conn(const struct lnd_conn *conn, char *text, size_t size)
{
	return scnprintf(text, size, "depth=%u frags=%u send_wr=%u recv_wr=%u cqe=%u\n",
			 conn->depth, conn->frags, conn->send_wrs, conn->recv_wrs, conn->cqes);
}

/**
 * lnd_ni_report() - write down what the file shows
 * @work: of an NI
 *
 * Context: The NI's thread.
 */
void lnd_ni_report(struct kthread_work *work)
{
	struct lnd_ni *ni = container_of(work, struct lnd_ni, report_work);
	struct lnd_conn *conn;
	char *text = ni->report;
	size_t size = sizeof(ni->report);
	int used;

	if (!ni->pd) {
		*text = '\0';
		return;
	}
	used = scnprintf(text, size, "device=%s port=%u received=%llu\n", ni->device->name,
			 lnd_ni_port(ni), ni->received);
	spin_lock(&ni->conns_lock);
	list_for_each_entry(conn, &ni->conns, entry)
		if (conn->state == LND_ESTABLISHED)
			used += lnd_report_conn(conn, text + used, size - used);
	spin_unlock(&ni->conns_lock);
}
