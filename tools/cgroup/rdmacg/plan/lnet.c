// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: the objects of Lustre's o2iblnd on a device in each release, and the sizes on
 * which two nodes agree.
 *
 * o2iblnd is a kernel user. The objects of o2iblnd are not charged to a cgroup, and no limit
 * applies to them. So the output has the objects to subtract from the capacity before the device is
 * shared, and no limits.
 */
#include "plan/plan.h"

#define LNET_CONNS	"conns-per-peer"

/*
 * --- the agreement of two nodes: o2iblnd_cb.c, protocol 2 ---
 *
 * The active node creates its QP before it sends a request. The passive node accepts numbers up to
 * its own numbers. The passive node rejects larger numbers, and answers with its own.
 */

/* The queues of a connection that the active side requests. */
struct lnet_link {
	uint64_t wanted;	/* the active side's depth, before its device reduces it */
	uint64_t asked;		/* the depth in the request */
	uint64_t frags;
};

/* Whether @passive accepts @frags. If @passive refuses, it answers with its own number. */
static bool lnet_takes_frags(const struct lnet_side *passive, uint64_t frags)
{
	uint64_t own = passive->own_frags;

	if (frags > own)
		return false;
	/* Up to 2.10, kiblnd_passive_connect() rejects fewer fragments without net->ibn_fmr_ps. */
	return frags == own || !lnet_is_old(passive) || lnet_has_pools(passive);
}

/*
 * kiblnd_check_reconnect(): whether @active connects again, with the @own fragments that @passive
 * has answered.
 */
static bool lnet_retry_frags(struct plan_part *part, const struct lnet_side *active, uint64_t frags,
			     uint64_t own)
{
	if (own >= frags)
		plan_add_note(part,
			      "%s gives up: it cannot ask for more fragments than before.",
			      active->name);
	else if (!lnet_has_pools(active))
		plan_add_note(part, "%s gives up: its map_on_demand must be set.", active->name);
	else
		return true;
	return false;
}

/*
 * kiblnd_passive_connect(): let @active connect, and return whether @passive accepts the queues.
 * This ignores the limits of the device of @passive. The loop ends, because @passive rejects the
 * depth at most once, and the fragments at most once.
 */
static bool lnet_ask(struct plan_part *part, const struct lnet_side *active,
		     const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t depth = passive->own_depth, frags = passive->own_frags;

	while ((link->asked = lnet_reduce(active, link->frags, link->wanted))) {
		plan_add_note(part, "%s asks for a depth of %" PRIu64 " and %" PRIu64
			      " fragments.", active->name, link->asked, link->frags);
		if (link->asked > depth) {
			plan_add_note(part,
				      "%s rejects the request: MSG_QUEUE_SIZE (7), its depth is %"
				      PRIu64 ".", passive->name, depth);
			link->wanted = depth;
		} else {
			if (lnet_takes_frags(passive, link->frags))
				return true;
			plan_add_note(part,
				      "%s rejects the request: RDMA_FRAGS (6), it wants %" PRIu64
				      " fragments.", passive->name, frags);
			if (!lnet_retry_frags(part, active, link->frags, frags))
				return false;
			link->frags = frags;
		}
		plan_add_note(part, "%s tries again if it still has messages to send.",
			      active->name);
	}
	plan_add_note(part, "%s cannot create its QP for %" PRIu64
		      " fragments on its device: ENOMEM.", active->name, link->frags);
	return false;
}

/* Whether the sides agree on a connection. */
static bool lnet_connect(struct plan_part *part, const struct lnet_side *active,
			 const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t depth = 0;

	link->wanted = active->own_depth;
	link->frags = active->own_frags;
	if (lnet_ask(part, active, passive, link)) {
		depth = lnet_reduce(passive, link->frags, link->asked);
		if (!depth)
			plan_add_note(part,
				      "%s rejects the request: NO_RESOURCES (2), its device cannot create this QP. There is no second attempt.",
				      passive->name);
	}
	if (depth)
		plan_add_note(part, "%s accepts: both use a depth of %" PRIu64 " and %" PRIu64
			      " fragments.", passive->name, depth, link->frags);
	else
		plan_add_note(part, "They do not connect in this direction.");
	return depth;
}

/* --- the plan --- */

/* Plan for a connection that @active requests, and for its two ends. */
static void lnet_plan_link(struct lnet_side *active, struct lnet_side *passive)
{
	struct plan_part *part = plan_add_part("%s connects", active->name);
	struct lnet_link link;

	if (!lnet_connect(part, active, passive, &link))
		return;
	lnet_add_end(plan_add_part("%s connects: its end", active->name), active,
		     link.wanted, link.frags);
	lnet_add_end(plan_add_part("%s connects: %s's end", active->name, passive->name),
		     passive, link.asked, link.frags);
}

/*
 * Plan for all objects of a node that has created both kinds of connections, as if each connection
 * had the larger size.
 */
static void lnet_plan_total(struct lnet_side *side, uint64_t conns)
{
	struct plan_part *part = plan_add_part("All of %s, peers: %" PRIu64, side->name,
					       lnet_get(side, "peers"));

	lnet_add_end(part, side, side->depth, side->frags);
	lnet_add_node(part, side, conns);
}

static void lnet_plan_pair(struct lnet_side *near, struct lnet_side *far)
{
	/*
	 * The active node determines the number of connections, and each of the two nodes can be
	 * active.
	 */
	uint64_t conns = max(lnet_get(near, LNET_CONNS), lnet_get(far, LNET_CONNS));

	if (lnet_get(near, "protocol") != 2 || lnet_get(far, "protocol") != 2)
		options_fail("--remote",
			     "the negotiation of protocol 1 is unknown; give protocol 2");
	if (near->release < 8 || far->release < 8)
		options_fail("--remote",
			     "the negotiation of releases before 2.8 is unknown; give 2.8 or later");
	lnet_setup(plan_add_part("%s, Lustre 2.%u", near->name, near->release), near);
	lnet_setup(plan_add_part("%s, Lustre 2.%u", far->name, far->release), far);
	lnet_plan_link(near, far);
	lnet_plan_link(far, near);
	/* Both nodes have created a queue, or none of them has. */
	if (!near->send_wr) {
		plan.failure =
			"the nodes cannot connect, as the plan says; give them equal parameters";
		return;
	}
	lnet_plan_total(near, conns);
	lnet_plan_total(far, conns);
}

static void lnet_add(struct plan_input *inputs)
{
	static struct lnet_side near = { .name = "this node" };
	static struct lnet_side far = { .name = "the other end" };
	struct plan_part *part;

	lnet_take(&near, inputs);
	if (plan_text("remote")) {
		lnet_take_remote(&far);
		lnet_plan_pair(&near, &far);
		return;
	}
	/* The connections have the sizes that the node itself would choose. */
	part = plan_add_part("One connection of Lustre 2.%u", near.release);
	lnet_setup(part, &near);
	lnet_add_end(part, &near, near.own_depth, near.own_frags);
	lnet_add_node(plan_add_part("All of the node, peers: %" PRIu64, lnet_get(&near, "peers")),
		      &near, lnet_get(&near, LNET_CONNS));
}

const struct plan_form lnet_form = {
	.name = "plan lnet",
	.help = "objects of Lustre's o2iblnd on a device, by release",
	.doc =
	"Print the objects of Lustre's o2iblnd on a device. They are not charged to a cgroup. The module's parameters are options, a line of /etc/modprobe.d, or a FILE of such lines; - is standard input.",
	.read = "Lustre 2.10.0 to 2.17.0, lnet/klnds/o2iblnd; a model of it was run",
	.args_doc = "[FILE...]\noptions ko2iblnd KEY=VALUE...",
	.inputs = lnet_inputs, .add = lnet_add,
};
