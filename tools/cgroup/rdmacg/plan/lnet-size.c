// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes of Lustre's o2iblnd: one connection, and all of a node, for each release.
 *
 * Formulas: lnet/klnds/o2iblnd/ of lustre-release, tags 2.10.0 to 2.17.0 and master at
 * c881f8ebcb; each row names the function. qd is the queue depth, F the fragments, X
 * concurrent_sends, W the device's max_qp_wr, fr 2 with FastReg and 0 with FMR, oob the
 * messages out of band.
 */
#include <inttypes.h>

#include "lib/message.h"
#include "plan/lnet.h"

#define LNET_SETUP	"o2iblnd_modparams.c, kiblnd_tunables_setup()"

/* peer_credits as the module takes it; it is u8 on the wire, hence 255. */
static const struct plan_row lnet_depth_row = {
	"qd", PLAN_STEP, "min(min(max(peer_credits, 8), 255), credits)", LNET_SETUP
};

static const struct plan_row lnet_frag_rows[] = {
	{ "F", PLAN_STEP, "257", "2.15 on: o2iblnd.h, IBLND_MAX_RDMA_FRAGS (LU-15092)" },
	{ "F", PLAN_STEP, "256", "up to 2.14: o2iblnd.h, IBLND_MAX_RDMA_FRAGS" },
	{ "F", PLAN_STEP, "max(map_on_demand, 2)",
	  "up to 2.10, map_on_demand of 1 to 256: o2iblnd.h, kiblnd_cfg_rdma_frags()" },
};

/* X has no part in sizes since 2.11: it only throttles, in kiblnd_post_tx_locked(). */
static const struct plan_row lnet_sends_rows[] = {
	{ "X", PLAN_STEP, "qd", LNET_SETUP },
	{ "X", PLAN_STEP, "2 * qd", "map_on_demand of 1 to 32: " LNET_SETUP },
	{ "X", PLAN_STEP, "max(min(concurrent_sends, 2 * qd), qd / 2)", LNET_SETUP },
};

#define LNET_OLD_SEND	"(F + 1) * X"
#define LNET_NEW_SEND	"(1 + F + fr) * qd"
#define LNET_DEPTH	"o2iblnd.c, kiblnd_create_conn()"
#define LNET_SEND	"2.11 on: o2iblnd.c, kiblnd_send_wrs() (LU-10213)"
#define LNET_CUT	"2.9 and 2.10: a quarter less until the device makes the QP (LU-7124)"
#define LNET_CLAMP	"2.13 on: o2iblnd.c, kiblnd_send_wrs() (LU-12279); before, one less for each refusal"

static const struct plan_row lnet_queue_old[] = {
	{ "queue_depth", PLAN_FIGURE, "qd", LNET_DEPTH },
	{ "send_wr", PLAN_FIGURE, LNET_OLD_SEND, "up to 2.10: o2iblnd.h, IBLND_SEND_WRS" },
};

static const struct plan_row lnet_queue_cut[] = {
	{ "queue_depth", PLAN_FIGURE, "qd", LNET_DEPTH },
	{ "send_wr", PLAN_FIGURE, "min(" LNET_OLD_SEND ", cut)", LNET_CUT },
};

static const struct plan_row lnet_queue_new[] = {
	{ "queue_depth", PLAN_FIGURE, "qd", LNET_DEPTH },
	{ "send_wr", PLAN_FIGURE, LNET_NEW_SEND, LNET_SEND },
};

static const struct plan_row lnet_queue_clamp[] = {
	{ "queue_depth", PLAN_FIGURE, "min(qd, W / (1 + F + fr))", LNET_CLAMP },
	{ "send_wr", PLAN_FIGURE, "(1 + F + fr) * queue_depth", LNET_SEND },
};

#define LNET_CQ		"o2iblnd.h, IBLND_CQ_ENTRIES"

/* The CQ is made before the device is asked for a QP, with the depth as it was. */
static const struct plan_row lnet_cq_rows[] = {
	{ "cqe", PLAN_FIGURE, "2 * qd + oob + " LNET_OLD_SEND, "up to 2.10: " LNET_CQ },
	{ "cqe", PLAN_FIGURE, "2 * qd + oob + " LNET_NEW_SEND, "2.11 and from 2.13 on: " LNET_CQ },
	{ "cqe", PLAN_FIGURE, "2 * qd + oob + 2 * qd", "2.12: " LNET_CQ " (LU-9810)" },
	{ "cqe", PLAN_FIGURE, "2 * qd + oob + min(" LNET_NEW_SEND ", W)", "2.13 on: " LNET_CQ },
};

static const struct plan_row lnet_end_rows[] = {
	{ "recv_wr", PLAN_FIGURE, "2 * queue_depth + oob", "o2iblnd.h, IBLND_RECV_WRS" },
	{ "send_sge", PLAN_FIGURE, "wrq_sge", LNET_DEPTH },
	{ "recv_sge", PLAN_FIGURE, "1", LNET_DEPTH },
	{ "rx_bytes", PLAN_FIGURE, "(2 * qd + oob) * 4096", "o2iblnd.h, IBLND_RX_MSG_BYTES" },
};

static const struct plan_row lnet_mr_rows[] = {
	{ "mr", PLAN_FIGURE, "cpts * max(256, fmr_pool_size / cpts)",
	  "at start: o2iblnd.c, kiblnd_init_fmr_poolset(), kiblnd_fmr_pool_size()" },
	{ "mr", PLAN_FIGURE, "1",
	  "map_on_demand=0 and a kernel with ib_get_dma_mr(): o2iblnd.c, kiblnd_net_init_pools()" },
};

static const struct plan_row lnet_node_rows[] = {
	{ "connections", PLAN_FIGURE, "peers * max(conns_per_peer, 1)",
	  "o2iblnd_cb.c, kiblnd_launch_tx(): the active side's conns_per_peer, on both ends" },
	{ "pd", PLAN_FIGURE, "1", "for an interface: o2iblnd.c, kiblnd_dev_failover()" },
	{ "qp", PLAN_FIGURE, "connections", "1 RC without an SRQ: " LNET_DEPTH },
	{ "cq", PLAN_FIGURE, "connections", "1 for both directions: " LNET_DEPTH },
};

static const struct plan_row lnet_sum_rows[] = {
	{ "objects", PLAN_FIGURE, "pd + mr + qp + cq", "the sum; no AH, SRQ or MW is made" },
	{ "wrs", PLAN_FIGURE, "qp * (send_wr + recv_wr)",
	  "the sum of all send and receive queues" },
	{ "cm_id", PLAN_FIGURE, "1 + connections",
	  "1 listens: kiblnd_dev_failover(); 1 for each connection: kiblnd_connect_peer()" },
	{ "rx_memory", PLAN_FIGURE, "connections * rx_bytes", "o2iblnd.h, IBLND_RX_MSG_BYTES" },
	{ "tx_memory", PLAN_FIGURE, "cpts * max(256, ntx / cpts) * 4096",
	  "o2iblnd.c, kiblnd_tx_pool_size(); messages of 4 KiB: o2iblnd.h, IBLND_MSG_SIZE" },
};

/* --- parameters --- */

bool lnet_is_old(const struct lnet_side *side)
{
	return side->release <= 10;
}

bool lnet_has_pools(const struct lnet_side *side)
{
	return !side->dma_mr || side->in[LNET_MAP];
}

static const struct plan_row *lnet_frag_row(const struct lnet_side *side)
{
	uint64_t map = side->in[LNET_MAP];

	if (side->release >= 15)
		return &lnet_frag_rows[0];
	return lnet_is_old(side) && map >= 1 && map <= 256 ? &lnet_frag_rows[2] :
		&lnet_frag_rows[1];
}

/* Where concurrent_sends is 0, releases up to 2.10 look at the fragments. */
static const struct plan_row *lnet_sends_row(const struct lnet_side *side)
{
	uint64_t map = side->in[LNET_MAP];

	if (side->in[LNET_SENDS])
		return &lnet_sends_rows[2];
	return map >= 1 && map <= 256 / 8 ? &lnet_sends_rows[1] : &lnet_sends_rows[0];
}

static void lnet_set_vars(struct lnet_side *side)
{
	size_t i;

	if (!side->given[LNET_MAP])
		side->in[LNET_MAP] = !lnet_is_old(side) && !side->dma_mr;
	for (i = 0; i < LNET_NR_INPUTS; i++) {
		if (i != LNET_MAX_WR || side->given[i])
			plan_set(&side->vars, lnet_inputs[i].name, side->in[i]);
	}
	plan_set(&side->vars, "oob", side->in[LNET_PROTOCOL] == 2 ? 2 : 0);
	plan_set(&side->vars, "fr", side->fmr ? 0 : 2);
}

static void lnet_add_setup_notes(struct plan_part *part, const struct lnet_side *side)
{
	uint64_t depth = plan_get(&side->vars, "qd");

	if (depth != side->in[LNET_PEER_CREDITS])
		plan_add_note(part,
			      "peer_credits=%" PRIu64 " is taken as %" PRIu64
			      ": at least 8, at most 255 and credits.",
			      side->in[LNET_PEER_CREDITS], depth);
	if (!lnet_is_old(side) && side->in[LNET_SENDS])
		plan_add_note(part, "concurrent_sends changes no size since 2.11; it throttles.");
	if (!lnet_is_old(side) && side->given[LNET_MAP] && !side->dma_mr)
		plan_add_note(part, "map_on_demand changes no size since 2.11.");
}

bool lnet_setup(const struct plan *plan, struct plan_part *part, struct lnet_side *side)
{
	lnet_set_vars(side);
	if (lnet_has_pools(side) && side->in[LNET_FMR_POOL] < side->in[LNET_NTX] / 4) {
		say_error(plan->form,
			  "%s: the interface does not start, for fmr_pool_size=%" PRIu64
			  " is less than a quarter of ntx=%" PRIu64
			  " (kiblnd_net_init_pools()); raise the former",
			  side->name, side->in[LNET_FMR_POOL], side->in[LNET_NTX]);
		return false;
	}
	if (!plan_add_rows(plan, part, &side->vars, &lnet_depth_row, 1) ||
	    !plan_add_rows(plan, part, &side->vars, lnet_frag_row(side), 1) ||
	    (lnet_is_old(side) &&
	     !plan_add_rows(plan, part, &side->vars, lnet_sends_row(side), 1)))
		return false;
	/* These stay, while qd and F become those of one connection. */
	plan_set(&side->vars, "own_qd", plan_get(&side->vars, "qd"));
	plan_set(&side->vars, "own_F", plan_get(&side->vars, "F"));
	lnet_add_setup_notes(part, side);
	return true;
}

/* --- one end of a connection --- */

/*
 * The send queue that releases up to 2.10 get for so many fragments: 0 if none. 2.9 and
 * 2.10 ask for a quarter less, again and again, while it was 16 or more; older ones fail.
 */
static uint64_t lnet_cut(const struct lnet_side *side, uint64_t frags)
{
	uint64_t queue = (frags + 1) * plan_get(&side->vars, "X");
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
	uint64_t most;

	if (!side->given[LNET_MAX_WR])
		return depth;
	if (lnet_is_old(side))
		return lnet_cut(side, frags) ? depth : 0;
	most = side->in[LNET_MAX_WR] / (1 + frags + plan_get(&side->vars, "fr"));
	return depth < most ? depth : most;
}

static const struct plan_row *lnet_queue_rows(const struct lnet_side *side)
{
	bool is_bounded = side->given[LNET_MAX_WR];

	if (lnet_is_old(side))
		return is_bounded ? lnet_queue_cut : lnet_queue_old;
	return is_bounded ? lnet_queue_clamp : lnet_queue_new;
}

static const struct plan_row *lnet_cq_row(const struct lnet_side *side)
{
	if (lnet_is_old(side))
		return &lnet_cq_rows[0];
	if (side->release == 12)
		return &lnet_cq_rows[2];
	/* C leaves open whether the receive queue is counted before or after it shrinks. */
	return side->release >= 13 && side->given[LNET_MAX_WR] ? &lnet_cq_rows[3] :
		&lnet_cq_rows[1];
}

bool lnet_add_end(const struct plan *plan, struct plan_part *part, struct lnet_side *side,
		  uint64_t depth, uint64_t frags)
{
	if (!lnet_reduce(side, frags, depth)) {
		say_error(plan->form,
			  "%s: max_qp_wr=%" PRIu64
			  " is too small for any connection; the device cannot be used",
			  side->name, side->in[LNET_MAX_WR]);
		return false;
	}
	plan_set(&side->vars, "qd", depth);
	plan_set(&side->vars, "F", frags);
	if (lnet_is_old(side))
		plan_set(&side->vars, "cut", lnet_cut(side, frags));
	if (!plan_add_rows(plan, part, &side->vars, lnet_queue_rows(side), 2) ||
	    !plan_add_rows(plan, part, &side->vars, lnet_cq_row(side), 1) ||
	    !plan_add_rows(plan, part, &side->vars, lnet_end_rows, ARRAY_SIZE(lnet_end_rows)))
		return false;
	if (plan_get(&side->vars, "send_wr") > side->send_wr) {
		side->send_wr = plan_get(&side->vars, "send_wr");
		side->depth = depth;
		side->frags = frags;
	}
	return true;
}

bool lnet_add_node(const struct plan *plan, struct plan_part *part, struct lnet_side *side)
{
	struct plan_vars *vars = &side->vars;

	if (!plan_add_rows(plan, part, vars, lnet_node_rows, ARRAY_SIZE(lnet_node_rows)) ||
	    !plan_add_rows(plan, part, vars, &lnet_mr_rows[!lnet_has_pools(side)], 1) ||
	    !plan_add_rows(plan, part, vars, lnet_sum_rows, ARRAY_SIZE(lnet_sum_rows)))
		return false;
	plan_add_note(part,
		      "No cgroup pays for a kernel user: subtract this before the device is shared, with");
	plan_add_note(part,
		      "rdmacg plan share DEVICE --kernel pd=1,qp=%" PRIu64 ",cq=%" PRIu64
		      ",mr=%" PRIu64 " --among CGROUP...",
		      plan_get(vars, "qp"), plan_get(vars, "cq"), plan_get(vars, "mr"));
	if (lnet_has_pools(side))
		plan_add_note(part,
			      "An empty pool grows by another %" PRIu64
			      " MRs on its CPT, without an upper bound.",
			      plan_get(vars, "mr") / side->in[LNET_CPTS]);
	return true;
}
