// SPDX-License-Identifier: GPL-2.0
/*
 * What two nodes with Lustre's o2iblnd agree on: o2iblnd_cb.c, protocol 2. Who asks has
 * made its QP before; who is asked accepts less than its own, or rejects and says its own.
 */
#include "plan/lnet.h"

/* Whether @passive takes so many fragments; if not, it answers with its own number. */
static bool lnet_takes_frags(const struct lnet_side *passive, uint64_t frags)
{
	uint64_t own = passive->own_frags;

	if (frags > own)
		return false;
	/* Up to 2.10: kiblnd_passive_connect() without net->ibn_fmr_ps. */
	return frags == own || !lnet_is_old(passive) || lnet_has_pools(passive);
}

/* kiblnd_check_reconnect(): whether to connect again with what the other has answered. */
static bool lnet_retry_frags(struct plan_part *part, const struct lnet_side *active,
			     const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t own = passive->own_frags;

	plan_add_note(part, "%s rejects it: RDMA_FRAGS (6), it wants %" PRIu64 " fragments.",
		      passive->name, own);
	if (own >= link->frags) {
		plan_add_note(part, "%s gives up: it cannot ask for more fragments than before.",
			      active->name);
		return false;
	}
	if (!lnet_has_pools(active)) {
		plan_add_note(part, "%s gives up: map_on_demand must be set there.", active->name);
		return false;
	}
	link->frags = own;
	return true;
}

/* kiblnd_passive_connect(): whether @passive accepts, or @active tries again or gives up. */
enum lnet_answer { LNET_ACCEPTED, LNET_AGAIN, LNET_GIVEN_UP };

static enum lnet_answer lnet_ask(struct plan_part *part, const struct lnet_side *active,
				 const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t depth = passive->own_depth;

	link->asked = lnet_reduce(active, link->frags, link->wanted);
	if (!link->asked) {
		plan_add_note(part,
			      "%s cannot make its QP for %" PRIu64
			      " fragments on its device: ENOMEM.",
			      active->name, link->frags);
		return LNET_GIVEN_UP;
	}
	plan_add_note(part, "%s asks for a depth of %" PRIu64 " and %" PRIu64 " fragments.",
		      active->name, link->asked, link->frags);
	if (link->asked > depth) {
		plan_add_note(part, "%s rejects it: MSG_QUEUE_SIZE (7), its depth is %" PRIu64 ".",
			      passive->name, depth);
		link->wanted = depth;
		return LNET_AGAIN;
	}
	if (!lnet_takes_frags(passive, link->frags))
		return lnet_retry_frags(part, active, passive, link) ? LNET_AGAIN : LNET_GIVEN_UP;
	link->depth = lnet_reduce(passive, link->frags, link->asked);
	if (link->depth)
		return LNET_ACCEPTED;
	plan_add_note(part,
		      "%s rejects it: NO_RESOURCES (2), its device makes no such QP; no second attempt.",
		      passive->name);
	return LNET_GIVEN_UP;
}

/* Each rejection lowers the depth or the fragments, once each; so this ends. */
void lnet_connect(struct plan_part *part, const struct lnet_side *active,
		  const struct lnet_side *passive, struct lnet_link *link)
{
	enum lnet_answer answer;

	link->wanted = active->own_depth;
	link->frags = active->own_frags;
	while ((answer = lnet_ask(part, active, passive, link)) == LNET_AGAIN)
		plan_add_note(part, "%s tries again, if it still has something to send.",
			      active->name);
	link->is_made = answer == LNET_ACCEPTED;
	if (link->is_made)
		plan_add_note(part,
			      "%s accepts: both use a depth of %" PRIu64 " and %" PRIu64
			      " fragments.",
			      passive->name, link->depth, link->frags);
	else
		plan_add_note(part, "They do not connect in this direction.");
}
