// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes of Lustre's o2iblnd: one connection, and all of a node, for each release.
 *
 * Formulas: lnet/klnds/o2iblnd/ of lustre-release, tags 2.10.0 to 2.17.0 and master at
 * c881f8ebcb; each source names the function. qd is the queue depth, F the fragments, X
 * concurrent_sends, W the device's max_qp_wr, fr 2 with FastReg and 0 with FMR, oob the
 * messages out of band.
 */
#include "plan/lnet.h"

#define LNET_SETUP	"o2iblnd_modparams.c, kiblnd_tunables_setup()"
#define LNET_CONN	"o2iblnd.c, kiblnd_create_conn()"
#define LNET_SEND	"2.11 on: o2iblnd.c, kiblnd_send_wrs() (LU-10213)"
#define LNET_CQ		"o2iblnd.h, IBLND_CQ_ENTRIES"

bool lnet_is_old(const struct lnet_side *side)
{
	return side->release <= 10;
}

bool lnet_has_pools(const struct lnet_side *side)
{
	return !side->dma_mr || side->in[LNET_MAP];
}

/* --- parameters --- */

/* peer_credits is u8 on the wire, hence 255. */
static uint64_t lnet_add_depth(struct plan_part *part, const struct lnet_side *side)
{
	PLAN_NAME(part, peer_credits, side->in[LNET_PEER_CREDITS]);
	PLAN_NAME(part, credits, side->in[LNET_CREDITS]);
	PLAN_STEP(part, qd, min(min(max(peer_credits, 8), 255), credits), LNET_SETUP);

	if (qd != peer_credits)
		plan_add_note(part,
			      "peer_credits=%" PRIu64 " is taken as %" PRIu64
			      ": at least 8, at most 255 and credits.",
			      (uint64_t)peer_credits, (uint64_t)qd);
	return qd;
}

static uint64_t lnet_add_frags(struct plan_part *part, const struct lnet_side *side)
{
	PLAN_NAME(part, map_on_demand, side->in[LNET_MAP]);

	if (side->release >= 15) {
		PLAN_STEP(part, F, 257, "2.15 on: o2iblnd.h, IBLND_MAX_RDMA_FRAGS (LU-15092)");
		return F;
	}
	if (lnet_is_old(side) && map_on_demand >= 1 && map_on_demand <= 256) {
		PLAN_STEP(part, F, max(map_on_demand, 2),
			  "up to 2.10, map_on_demand of 1 to 256: o2iblnd.h, kiblnd_cfg_rdma_frags()");
		return F;
	}
	PLAN_STEP(part, F, 256, "up to 2.14: o2iblnd.h, IBLND_MAX_RDMA_FRAGS");
	return F;
}

/* Up to 2.10. Since then X only throttles, in kiblnd_post_tx_locked(). */
static uint64_t lnet_add_sends(struct plan_part *part, const struct lnet_side *side,
			       __int128 qd)
{
	uint64_t map = side->in[LNET_MAP];

	PLAN_NAME(part, concurrent_sends, side->in[LNET_SENDS]);

	if (concurrent_sends) {
		PLAN_STEP(part, X, max(min(concurrent_sends, 2 * qd), qd / 2), LNET_SETUP);
		return X;
	}
	if (map >= 1 && map <= 256 / 8) {
		PLAN_STEP(part, X, 2 * qd, "map_on_demand of 1 to 32: " LNET_SETUP);
		return X;
	}
	PLAN_STEP(part, X, qd, LNET_SETUP);
	return X;
}

static void lnet_add_idle_notes(struct plan_part *part, const struct lnet_side *side)
{
	if (side->idle)
		plan_add_note(part, "No size depends on %s.", side->idle);
	if (lnet_is_old(side))
		return;
	if (side->in[LNET_SENDS])
		plan_add_note(part, "concurrent_sends changes no size since 2.11; it throttles.");
	if (side->given[LNET_MAP] && !side->dma_mr)
		plan_add_note(part, "map_on_demand changes no size since 2.11.");
}

void lnet_setup(struct plan_part *part, struct lnet_side *side)
{
	if (!side->given[LNET_MAP])
		side->in[LNET_MAP] = !lnet_is_old(side) && !side->dma_mr;
	if (lnet_has_pools(side) && side->in[LNET_FMR_POOL] < side->in[LNET_NTX] / 4)
		plan_fail(side->form,
			  "%s: the interface does not start, for fmr_pool_size=%" PRIu64
			  " is less than a quarter of ntx=%" PRIu64
			  " (kiblnd_net_init_pools()); raise the former",
			  side->name, side->in[LNET_FMR_POOL], side->in[LNET_NTX]);
	side->own_depth = lnet_add_depth(part, side);
	side->own_frags = lnet_add_frags(part, side);
	if (lnet_is_old(side))
		side->sends = lnet_add_sends(part, side, side->own_depth);
	lnet_add_idle_notes(part, side);
}

/* --- one end of a connection --- */

/*
 * The send queue that releases up to 2.10 get for so many fragments: 0 if none. 2.9 and
 * 2.10 ask for a quarter less, again and again, while it was 16 or more; older ones fail.
 */
static uint64_t lnet_cut(const struct lnet_side *side, uint64_t frags)
{
	uint64_t queue = (frags + 1) * side->sends;
	uint64_t most = side->given[LNET_MAX_WR] ? side->in[LNET_MAX_WR] : queue;

	while (queue > most) {
		if (side->release < 9 || queue < 16)
			return 0;
		queue -= queue / 4;
	}
	return queue;
}

uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth)
{
	if (!side->given[LNET_MAX_WR])
		return depth;
	if (lnet_is_old(side))
		return lnet_cut(side, frags) ? depth : 0;
	return min(depth, side->in[LNET_MAX_WR] / (1 + frags + (side->fmr ? 0 : 2)));
}

/* What the rows of one end have in common. */
struct lnet_end {
	const struct lnet_side *side;
	__int128 qd, F, fr, oob;
	__int128 queue_depth, send_wr;		/* what the device makes of it */
};

/* Queues of releases up to 2.10. The CQ is made for what was asked, before the QP. */
static void lnet_add_old(struct plan_part *part, struct lnet_end *end)
{
	const __int128 qd = end->qd, F = end->F, oob = end->oob;

	PLAN_NAME(part, X, end->side->sends);
	PLAN_FIGURE(part, queue_depth, qd, LNET_CONN);

	end->queue_depth = queue_depth;
	if (end->side->given[LNET_MAX_WR]) {
		PLAN_NAME(part, cut, lnet_cut(end->side, F));
		PLAN_FIGURE(part, send_wr, min((F + 1) * X, cut),
			    "2.9 and 2.10: a quarter less until the device makes the QP (LU-7124)");
		end->send_wr = send_wr;
	} else {
		PLAN_FIGURE(part, send_wr, (F + 1) * X, "up to 2.10: o2iblnd.h, IBLND_SEND_WRS");
		end->send_wr = send_wr;
	}
	PLAN_FIGURE(part, cqe, 2 * qd + oob + (F + 1) * X, "up to 2.10: " LNET_CQ);
}

static void lnet_add_cqe(struct plan_part *part, const struct lnet_end *end)
{
	const __int128 qd = end->qd, F = end->F, fr = end->fr, oob = end->oob;
	const struct lnet_side *side = end->side;

	if (side->release == 12) {
		PLAN_FIGURE(part, cqe, 2 * qd + oob + 2 * qd, "2.12: " LNET_CQ " (LU-9810)");
	} else if (side->release >= 13 && side->given[LNET_MAX_WR]) {
		PLAN_NAME(part, W, side->in[LNET_MAX_WR]);
		/* C leaves open whether the receive queue is counted before or after it shrinks. */
		PLAN_FIGURE(part, cqe, 2 * qd + oob + min((1 + F + fr) * qd, W),
			    "2.13 on: " LNET_CQ);
	} else {
		PLAN_FIGURE(part, cqe, 2 * qd + oob + (1 + F + fr) * qd,
			    "2.11 and from 2.13 on: " LNET_CQ);
	}
}

/* Queues of releases from 2.11 on. */
static void lnet_add_new(struct plan_part *part, struct lnet_end *end)
{
	const __int128 qd = end->qd, F = end->F, fr = end->fr;

	if (end->side->given[LNET_MAX_WR]) {
		PLAN_NAME(part, W, end->side->in[LNET_MAX_WR]);
		PLAN_FIGURE(part, queue_depth, min(qd, W / (1 + F + fr)),
			    "2.13 on: o2iblnd.c, kiblnd_send_wrs() (LU-12279); before, one less for each refusal");
		PLAN_FIGURE(part, send_wr, (1 + F + fr) * queue_depth, LNET_SEND);
		end->queue_depth = queue_depth;
		end->send_wr = send_wr;
	} else {
		PLAN_FIGURE(part, queue_depth, qd, LNET_CONN);
		PLAN_FIGURE(part, send_wr, (1 + F + fr) * qd, LNET_SEND);
		end->queue_depth = queue_depth;
		end->send_wr = send_wr;
	}
	lnet_add_cqe(part, end);
}

void lnet_add_end(struct plan_part *part, struct lnet_side *side, uint64_t depth, uint64_t frags)
{
	PLAN_NAME(part, qd, depth);
	PLAN_NAME(part, F, frags);
	PLAN_NAME(part, fr, side->fmr ? 0 : 2);
	PLAN_NAME(part, oob, side->in[LNET_PROTOCOL] == 2 ? 2 : 0);
	PLAN_NAME(part, wrq_sge, side->in[LNET_SGE]);
	struct lnet_end end = { side, qd, F, fr, oob, 0, 0 };

	if (!lnet_reduce(side, frags, depth))
		plan_fail(side->form,
			  "%s: max_qp_wr=%" PRIu64
			  " is too small for any connection; the device cannot be used",
			  side->name, side->in[LNET_MAX_WR]);
	if (lnet_is_old(side))
		lnet_add_old(part, &end);
	else
		lnet_add_new(part, &end);
	const __int128 queue_depth = end.queue_depth;

	PLAN_FIGURE(part, recv_wr, 2 * queue_depth + oob, "o2iblnd.h, IBLND_RECV_WRS");
	PLAN_FIGURE(part, send_sge, wrq_sge, LNET_CONN);
	PLAN_FIGURE(part, recv_sge, 1, LNET_CONN);
	PLAN_FIGURE(part, rx_bytes, (2 * qd + oob) * 4096, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	if (end.send_wr > side->send_wr) {
		side->depth = depth;
		side->frags = frags;
		side->send_wr = end.send_wr;
		side->recv_wr = recv_wr;
		side->rx_bytes = rx_bytes;
	}
}

/* --- all of a node --- */

static __int128 lnet_add_mrs(struct plan_part *part, const struct lnet_side *side)
{
	PLAN_NAME(part, cpts, side->in[LNET_CPTS]);
	PLAN_NAME(part, fmr_pool_size, side->in[LNET_FMR_POOL]);

	if (!lnet_has_pools(side)) {
		PLAN_FIGURE(part, mr, 1,
			    "map_on_demand=0 and a kernel with ib_get_dma_mr(): o2iblnd.c, kiblnd_net_init_pools()");
		return mr;
	}
	PLAN_FIGURE(part, mr, cpts * max(256, fmr_pool_size / cpts),
		    "at start: o2iblnd.c, kiblnd_init_fmr_poolset(), kiblnd_fmr_pool_size()");
	plan_add_note(part,
		      "An empty pool grows by another %" PRIu64
		      " MRs on its CPT, without an upper bound.",
		      (uint64_t)(mr / cpts));
	return mr;
}

void lnet_add_node(struct plan_part *part, const struct lnet_side *side)
{
	PLAN_NAME(part, peers, side->in[LNET_PEERS]);
	PLAN_NAME(part, conns_per_peer, side->in[LNET_CONNS]);
	PLAN_NAME(part, ntx, side->in[LNET_NTX]);
	PLAN_NAME(part, send_wr, side->send_wr);
	PLAN_NAME(part, recv_wr, side->recv_wr);
	PLAN_NAME(part, rx_bytes, side->rx_bytes);
	PLAN_FIGURE(part, connections, peers * max(conns_per_peer, 1),
		    "o2iblnd_cb.c, kiblnd_launch_tx(): the active side's conns_per_peer, on both ends");
	PLAN_FIGURE(part, pd, 1, "for an interface: o2iblnd.c, kiblnd_dev_failover()");
	PLAN_FIGURE(part, qp, connections, "1 RC without an SRQ: " LNET_CONN);
	PLAN_FIGURE(part, cq, connections, "1 for both directions: " LNET_CONN);
	const __int128 mr = lnet_add_mrs(part, side);

	plan_add_note(part,
		      "No cgroup pays for a kernel user: subtract this before the device is shared, with");
	plan_add_note(part,
		      "rdmacg plan share DEVICE --kernel pd=1,qp=%" PRIu64 ",cq=%" PRIu64
		      ",mr=%" PRIu64 " --among CGROUP...",
		      (uint64_t)qp, (uint64_t)cq, (uint64_t)mr);
	PLAN_FIGURE(part, objects, pd + mr + qp + cq, "the sum; no AH, SRQ or MW is made");
	PLAN_FIGURE(part, wrs, qp * (send_wr + recv_wr),
		    "the sum of all send and receive queues");
	PLAN_FIGURE(part, cm_id, 1 + connections,
		    "1 listens: kiblnd_dev_failover(); 1 for each connection: kiblnd_connect_peer()");
	PLAN_FIGURE(part, rx_memory, connections * rx_bytes, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	PLAN_NAME(part, cpts, side->in[LNET_CPTS]);
	PLAN_FIGURE(part, tx_memory, cpts * max(256, ntx / cpts) * 4096,
		    "o2iblnd.c, kiblnd_tx_pool_size(); messages of 4 KiB: o2iblnd.h, IBLND_MSG_SIZE");
}
