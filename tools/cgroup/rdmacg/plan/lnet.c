// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: the objects of Lustre's o2iblnd on a device in each release, and the sizes on
 * which two nodes agree. o2iblnd is a kernel user, so no cgroup is charged for its objects. The
 * output has no limits, but the objects to subtract from the capacity before the device is shared.
 *
 * Formulas: lnet/klnds/o2iblnd/ of lustre-release, tags 2.10.0 to 2.17.0 and master at
 * c881f8ebcb; each source names the function. The names in formulas: qd is the queue depth, F is
 * the number of fragments, X is concurrent_sends, W is the device's max_qp_wr, fr is 2 with FastReg
 * and 0 with FMR, and oob is the number of messages out of band.
 */
#include "plan/plan.h"

#define LNET_SETUP	"o2iblnd_modparams.c, kiblnd_tunables_setup()"
#define LNET_CONN	"o2iblnd.c, kiblnd_create_conn()"
#define LNET_SEND	"2.11 on: o2iblnd.c, kiblnd_send_wrs() (LU-10213)"
#define LNET_CQ		"o2iblnd.h, IBLND_CQ_ENTRIES"

static bool lnet_is_old(const struct lnet_side *side)
{
	return side->release <= 10;
}

/* Without pools of MRs, a node cannot ask for fewer fragments or, up to 2.10, accept fewer. */
static bool lnet_has_pools(const struct lnet_side *side)
{
	return !side->dma_mr || side->map_on_demand;
}

static uint64_t lnet_add_frags(struct plan_part *part, const struct lnet_side *side)
{
	PLAN_NAME(part, map_on_demand, side->map_on_demand);

	if (side->release >= 15)
		return PLAN_OF_KEY(part, STEP, "F", 257,
				   "2.15 on: o2iblnd.h, IBLND_MAX_RDMA_FRAGS (LU-15092)");
	if (lnet_is_old(side) && map_on_demand >= 1 && map_on_demand <= 256)
		return PLAN_OF_KEY(part, STEP, "F", max(map_on_demand, 2),
				   "up to 2.10, map_on_demand of 1 to 256: o2iblnd.h, kiblnd_cfg_rdma_frags()");
	return PLAN_OF_KEY(part, STEP, "F", 256, "up to 2.14: o2iblnd.h, IBLND_MAX_RDMA_FRAGS");
}

/* From 2.11 on, no size depends on concurrent_sends, which throttles kiblnd_post_tx_locked(). */
static uint64_t lnet_add_sends(struct plan_part *part, const struct lnet_side *side, __int128 qd)
{
	uint64_t map = side->map_on_demand;

	PLAN_NAME(part, concurrent_sends, side->concurrent_sends);

	if (concurrent_sends)
		return PLAN_OF_KEY(part, STEP, "X",
				   max(min(concurrent_sends, 2 * qd), qd / 2), LNET_SETUP);
	if (map >= 1 && map <= 256 / 8)
		return PLAN_OF_KEY(part, STEP, "X", 2 * qd,
				   "map_on_demand of 1 to 32: " LNET_SETUP);
	return PLAN_OF_KEY(part, STEP, "X", qd, LNET_SETUP);
}

/* Apply the parameters as o2iblnd does. Must be the first call for a side. */
static void lnet_setup(struct plan_part *part, struct lnet_side *side)
{
	bool has_map = side->map_on_demand >= 0;

	PLAN_NAME(part, peer_credits, side->peer_credits);
	PLAN_NAME(part, credits, side->credits);

	side->extra = side->fmr ? 0 : 2;
	if (!has_map)
		side->map_on_demand = !lnet_is_old(side) && !side->dma_mr;
	if (lnet_has_pools(side) && side->fmr_pool_size < side->ntx / 4)
		say_failure(plan.form->name,
			    "%s: the interface does not start, for fmr_pool_size=%s is less than a quarter of ntx=%s (kiblnd_net_init_pools()); raise fmr_pool_size",
			    side->name, number_text(side->fmr_pool_size, false),
			    number_text(side->ntx, false));
	/* The largest value is 255, because peer_credits is u8 on the wire. */
	PLAN_STEP(part, qd, min(min(max(peer_credits, 8), 255), credits), LNET_SETUP);
	if (qd != peer_credits)
		plan_add_note(part,
			      "peer_credits=%s becomes %s: at least 8, at most 255 and credits.",
			      number_text(peer_credits, false), number_text(qd, false));
	side->own_depth = qd;
	side->own_frags = lnet_add_frags(part, side);
	if (lnet_is_old(side))
		side->sends = lnet_add_sends(part, side, qd);
	if (side->idle)
		plan_add_note(part, "No size depends on %s.", side->idle);
	if (!lnet_is_old(side) && side->concurrent_sends)
		plan_add_note(part,
			      "concurrent_sends changes no size since 2.11, and only throttles.");
	if (!lnet_is_old(side) && has_map && !side->dma_mr)
		plan_add_note(part, "map_on_demand changes no size since 2.11.");
}

/*
 * The send queue of a release up to 2.10 for @frags fragments, or 0 if the device supports none.
 * Releases 2.9 and 2.10 try a quarter less until the device supports it, and give up below 16.
 */
static uint64_t lnet_cut(const struct lnet_side *side, uint64_t frags)
{
	uint64_t queue = (frags + 1) * side->sends;

	while (side->max_qp_wr && queue > side->max_qp_wr) {
		if (side->release < 9 || queue < 16)
			return 0;
		queue -= queue / 4;
	}
	return queue;
}

/* Reduce @depth to a depth that the device supports, or to 0 if it cannot create the QP. */
static uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth)
{
	if (!side->max_qp_wr)
		return depth;
	if (lnet_is_old(side))
		return lnet_cut(side, frags) ? depth : 0;
	return min(depth, side->max_qp_wr / (1 + frags + side->extra));
}

/* o2iblnd creates the CQ before the QP, so its size is for the queues before they are reduced. */
static void lnet_add_cqe(struct plan_part *part, const struct lnet_side *side, __int128 qd,
			 __int128 F, __int128 fr, __int128 oob, __int128 W)
{
	PLAN_NAME(part, X, side->sends);

	if (lnet_is_old(side))
		PLAN_OF_KEY(part, FIGURE, "cqe", 2 * qd + oob + (F + 1) * X,
			    "up to 2.10: " LNET_CQ);
	else if (side->release == 12)
		PLAN_OF_KEY(part, FIGURE, "cqe", 2 * qd + oob + 2 * qd,
			    "2.12: " LNET_CQ " (LU-9810)");
	else if (side->release >= 13 && W)
		/* C does not define whether the receive queue shrinks first, so count all of it. */
		PLAN_OF_KEY(part, FIGURE, "cqe", 2 * qd + oob + min((1 + F + fr) * qd, W),
			    "2.13 on: " LNET_CQ);
	else
		PLAN_OF_KEY(part, FIGURE, "cqe", 2 * qd + oob + (1 + F + fr) * qd,
			    "2.11 and from 2.13 on: " LNET_CQ);
}

static __int128 lnet_add_send_wr(struct plan_part *part, const struct lnet_side *side, __int128 F,
				 __int128 fr, __int128 W, __int128 queue_depth)
{
	PLAN_NAME(part, X, side->sends);
	PLAN_NAME(part, cut, lnet_cut(side, F));

	if (!lnet_is_old(side))
		return PLAN_OF_KEY(part, FIGURE, "send_wr", (1 + F + fr) * queue_depth, LNET_SEND);
	if (W)
		return PLAN_OF_KEY(part, FIGURE, "send_wr", min((F + 1) * X, cut),
				   "2.9 and 2.10: a quarter less until the device creates the QP (LU-7124)");
	return PLAN_OF_KEY(part, FIGURE, "send_wr", (F + 1) * X,
			   "up to 2.10: o2iblnd.h, IBLND_SEND_WRS");
}

/* Add the queues that @side creates for a connection with @depth and @frags. */
static void lnet_add_end(struct plan_part *part, struct lnet_side *side, uint64_t depth,
			 uint64_t frags)
{
	__int128 queue_depth;

	PLAN_NAME(part, qd, depth);
	PLAN_NAME(part, F, frags);
	PLAN_NAME(part, fr, side->extra);
	PLAN_NAME(part, oob, side->protocol == 2 ? 2 : 0);
	PLAN_NAME(part, W, side->max_qp_wr);
	PLAN_NAME(part, wrq_sge, side->wrq_sge);

	if (!lnet_reduce(side, frags, depth))
		say_failure(plan.form->name,
			    "%s: max_qp_wr=%s is too small for any connection; the device cannot be used",
			    side->name, number_text(W, false));
	if (W && !lnet_is_old(side))
		queue_depth = PLAN_OF_KEY(part, FIGURE, "queue_depth", min(qd, W / (1 + F + fr)),
					  "2.13 on: o2iblnd.c, kiblnd_send_wrs() (LU-12279); in 2.11 and 2.12, one less for each refusal");
	else
		queue_depth = PLAN_OF_KEY(part, FIGURE, "queue_depth", qd, LNET_CONN);
	__int128 send_wr = lnet_add_send_wr(part, side, F, fr, W, queue_depth);

	lnet_add_cqe(part, side, qd, F, fr, oob, W);
	PLAN_FIGURE(part, recv_wr, 2 * queue_depth + oob, "o2iblnd.h, IBLND_RECV_WRS");
	PLAN_FIGURE(part, send_sge, wrq_sge, LNET_CONN);
	PLAN_FIGURE(part, recv_sge, 1, LNET_CONN);
	PLAN_FIGURE(part, rx_bytes, (2 * qd + oob) * 4096, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	if (send_wr > side->send_wr) {
		side->depth = depth;
		side->frags = frags;
		side->send_wr = send_wr;
		side->recv_wr = recv_wr;
		side->rx_bytes = rx_bytes;
	}
}

static __int128 lnet_add_mrs(struct plan_part *part, const struct lnet_side *side, __int128 cpts)
{
	PLAN_NAME(part, fmr_pool_size, side->fmr_pool_size);

	if (!lnet_has_pools(side))
		return PLAN_OF_KEY(part, FIGURE, "mr", 1,
				   "map_on_demand=0 and a kernel with ib_get_dma_mr(): o2iblnd.c, kiblnd_net_init_pools()");
	PLAN_FIGURE(part, mr, cpts * max(256, fmr_pool_size / cpts),
		    "at start: o2iblnd.c, kiblnd_init_fmr_poolset(), kiblnd_fmr_pool_size()");
	plan_add_note(part,
		      "An empty pool grows by another %s MRs on its CPT, without an upper bound.",
		      number_text(mr / cpts, false));
	return mr;
}

/* Add all objects of a node, with @conns connections of lnet_add_end() for each peer. */
static void lnet_add_node(struct plan_part *part, const struct lnet_side *side, uint64_t conns)
{
	PLAN_NAME(part, peers, side->peers);
	PLAN_NAME(part, conns_per_peer, conns);
	PLAN_NAME(part, ntx, side->ntx);
	PLAN_NAME(part, cpts, side->cpts);
	PLAN_NAME(part, send_wr, side->send_wr);
	PLAN_NAME(part, recv_wr, side->recv_wr);
	PLAN_NAME(part, rx_bytes, side->rx_bytes);
	PLAN_FIGURE(part, connections, peers * max(conns_per_peer, 1),
		    "o2iblnd_cb.c, kiblnd_launch_tx(): the active side's conns_per_peer, on both ends");
	PLAN_FIGURE(part, pd, 1, "for an interface: o2iblnd.c, kiblnd_dev_failover()");
	PLAN_FIGURE(part, qp, connections, "1 RC QP without an SRQ: " LNET_CONN);
	PLAN_FIGURE(part, cq, connections, "1 CQ for both directions: " LNET_CONN);
	const __int128 mr = lnet_add_mrs(part, side, cpts);

	plan_add_note(part,
		      "No cgroup is charged for a kernel user. Subtract these objects before the device is shared, with");
	plan_add_note(part,
		      "rdmacg plan share DEVICE --kernel pd=1,qp=%s,cq=%s,mr=%s --among CGROUP...",
		      number_text(qp, false), number_text(cq, false), number_text(mr, false));
	PLAN_FIGURE(part, objects, pd + mr + qp + cq, "the sum; o2iblnd creates no AH, SRQ or MW");
	PLAN_FIGURE(part, wrs, qp * (send_wr + recv_wr),
		    "the sum of all send and receive queues");
	PLAN_FIGURE(part, cm_id, 1 + connections,
		    "1 to listen: kiblnd_dev_failover(); 1 for each connection: kiblnd_connect_peer()");
	PLAN_FIGURE(part, rx_memory, connections * rx_bytes, "o2iblnd.h, IBLND_RX_MSG_BYTES");
	PLAN_FIGURE(part, tx_memory, cpts * max(256, ntx / cpts) * 4096,
		    "o2iblnd.c, kiblnd_tx_pool_size(); messages of 4 KiB: o2iblnd.h, IBLND_MSG_SIZE");
}

/* The queues of a connection that the active side requests. */
struct lnet_link {
	uint64_t wanted;	/* the active side's depth, before its device reduces it */
	uint64_t asked;		/* the depth in the request */
	uint64_t frags;
};

/* Whether @passive accepts @frags. Up to 2.10, only a node with pools of MRs accepts fewer. */
static bool lnet_takes_frags(const struct lnet_side *passive, uint64_t frags)
{
	uint64_t own = passive->own_frags;

	return frags == own ||
	       (frags < own && (!lnet_is_old(passive) || lnet_has_pools(passive)));
}

/*
 * Let @active connect with protocol 2, as in o2iblnd_cb.c, and return whether @passive accepts. The
 * active node creates its QP before it sends a request. The passive node accepts numbers up to its
 * own, and answers a larger number with its own: kiblnd_passive_connect(). The active node may then
 * try again: kiblnd_check_reconnect(). The limits of the passive node's device do not count here.
 * The loop ends, because each number is rejected at most once.
 */
static bool lnet_ask(struct plan_part *part, const struct lnet_side *active,
		     const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t depth = passive->own_depth, frags = passive->own_frags;

	while ((link->asked = lnet_reduce(active, link->frags, link->wanted))) {
		plan_add_note(part, "%s asks for a depth of %s and %s fragments.", active->name,
			      number_text(link->asked, false), number_text(link->frags, false));
		if (link->asked <= depth && lnet_takes_frags(passive, link->frags))
			return true;
		if (link->asked > depth) {
			plan_add_note(part,
				      "%s rejects the request: MSG_QUEUE_SIZE (7), its depth is %s.",
				      passive->name, number_text(depth, false));
			link->wanted = depth;
		} else {
			plan_add_note(part,
				      "%s rejects the request: RDMA_FRAGS (6), it wants %s fragments.",
				      passive->name, number_text(frags, false));
			if (frags >= link->frags || !lnet_has_pools(active)) {
				plan_add_note(part, "%s gives up: %s.", active->name,
					      frags >= link->frags ?
					      "it cannot ask for more fragments than before" :
					      "its map_on_demand must be set");
				return false;
			}
			link->frags = frags;
		}
		plan_add_note(part, "%s tries again if it still has messages to send.",
			      active->name);
	}
	plan_add_note(part, "%s cannot create its QP for %s fragments on its device: ENOMEM.",
		      active->name, number_text(link->frags, false));
	return false;
}

/* Plan for a connection that @active requests, and for its two ends. */
static void lnet_plan_link(struct lnet_side *active, struct lnet_side *passive)
{
	struct plan_part *part = plan_add_part("%s connects", active->name);
	struct lnet_link link = { .wanted = active->own_depth, .frags = active->own_frags };
	bool accepted = lnet_ask(part, active, passive, &link);
	uint64_t depth = accepted ? lnet_reduce(passive, link.frags, link.asked) : 0;

	if (accepted && !depth)
		plan_add_note(part,
			      "%s rejects the request: NO_RESOURCES (2), its device cannot create this QP. There is no second attempt.",
			      passive->name);
	if (!depth) {
		plan_add_note(part, "They do not connect in this direction.");
		return;
	}
	plan_add_note(part, "%s accepts: both use a depth of %s and %s fragments.", passive->name,
		      number_text(depth, false), number_text(link.frags, false));
	lnet_add_end(plan_add_part("%s connects: its end", active->name), active, link.wanted,
		     link.frags);
	lnet_add_end(plan_add_part("%s connects: %s's end", active->name, passive->name), passive,
		     link.asked, link.frags);
}

/* Plan for all objects of a node, as if connections of both directions had the larger size. */
static void lnet_plan_total(struct lnet_side *side, uint64_t conns)
{
	struct plan_part *part = plan_add_part("All of %s, peers: %s", side->name,
					       number_text(side->peers, false));

	lnet_add_end(part, side, side->depth, side->frags);
	lnet_add_node(part, side, conns);
}

static void lnet_plan_pair(struct lnet_side *near, struct lnet_side *far)
{
	/* The active node determines the number of connections, and each node can be active. */
	uint64_t conns = max(near->conns_per_peer, far->conns_per_peer);

	if (near->protocol != 2 || far->protocol != 2)
		options_fail("--remote",
			     "the negotiation of protocol 1 is unknown; give protocol 2");
	if (near->release < 8 || far->release < 8)
		options_fail("--remote",
			     "the negotiation of releases before 2.8 is unknown; give 2.8 or later");
	lnet_setup(plan_add_part("%s, Lustre 2.%u", near->name, near->release), near);
	lnet_setup(plan_add_part("%s, Lustre 2.%u", far->name, far->release), far);
	lnet_plan_link(near, far);
	lnet_plan_link(far, near);
	/* If one node has created no queue, the other has created none either. */
	if (!near->send_wr) {
		plan.failure =
			"the nodes cannot connect, as the plan says; give them equal parameters";
		return;
	}
	lnet_plan_total(near, conns);
	lnet_plan_total(far, conns);
}

static void lnet_add(void)
{
	struct lnet_side *near = &lnet_near;
	struct plan_part *part;

	lnet_take();
	if (plan_text("remote")) {
		lnet_plan_pair(near, &lnet_far);
		return;
	}
	/* Without --remote, connections have the sizes that the node itself would choose. */
	part = plan_add_part("One connection of Lustre 2.%u", near->release);
	lnet_setup(part, near);
	lnet_add_end(part, near, near->own_depth, near->own_frags);
	part = plan_add_part("All of the node, peers: %s", number_text(near->peers, false));
	lnet_add_node(part, near, near->conns_per_peer);
}

const struct plan_form lnet_form = {
	.name = "plan lnet",
	.doc =
	"Print the objects of Lustre's o2iblnd on a device. They are not charged to a cgroup. The module's parameters are options, a line of /etc/modprobe.d, or a FILE of such lines; - is standard input.",
	.read = "Lustre 2.10.0 to 2.17.0, lnet/klnds/o2iblnd; a model of it was run",
	.args_doc = "[FILE...]\noptions ko2iblnd KEY=VALUE...",
	.inputs = lnet_inputs, .add = lnet_add,
};
