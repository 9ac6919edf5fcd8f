// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: what Lustre's o2iblnd takes from a device, for each release of Lustre,
 * and what two nodes agree on.
 *
 * o2iblnd is a kernel user: no cgroup pays for it, and no limit holds it back. So this
 * plans nothing for a cgroup; it says what to subtract from the device before it is shared.
 *
 * Formulas: lnet/klnds/o2iblnd/ of lustre-release, tags 2.10.0 to 2.17.0 and master at
 * c881f8ebcb; the functions are named at each row.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define LNET_INT	.min = 0, .max = INT32_MAX

enum lnet_input {
	LNET_PEERS, LNET_PEER_CREDITS, LNET_CREDITS, LNET_CONNS, LNET_SENDS, LNET_MAP, LNET_NTX,
	LNET_FMR_POOL, LNET_SGE, LNET_CPTS, LNET_MAX_WR, LNET_PROTOCOL, LNET_NR_INPUTS
};

static const struct plan_input lnet_inputs[] = {
	[LNET_PEERS] = { "peers", "peers", 0, .min = 1, .max = UINT64_MAX, .is_needed = true,
			 .doc = "Peers of the node's interface" },
	[LNET_PEER_CREDITS] = { "peer-credits", "peer_credits", 8, LNET_INT,
				.doc = "Module parameter peer_credits (8)" },
	[LNET_CREDITS] = { "credits", "credits", 256, .min = 1, .max = INT32_MAX,
			   .doc = "Module parameter credits (256)" },
	[LNET_CONNS] = { "conns-per-peer", "conns_per_peer", 1, .min = 0, .max = 127,
			 .doc = "Module parameter conns_per_peer (1)" },
	[LNET_SENDS] = { "concurrent-sends", "concurrent_sends", 0, LNET_INT,
			 .doc = "Module parameter concurrent_sends (0: by peer_credits)" },
	[LNET_MAP] = { "map-on-demand", "map_on_demand", 1, LNET_INT,
		       .doc = "Module parameter map_on_demand (1, and 0 up to 2.10)" },
	[LNET_NTX] = { "ntx", "ntx", 512, LNET_INT, .doc = "Module parameter ntx (512)" },
	[LNET_FMR_POOL] = { "fmr-pool-size", "fmr_pool_size", 512, LNET_INT,
			    .doc = "Module parameter fmr_pool_size (512)" },
	[LNET_SGE] = { "wrq-sge", "wrq_sge", 2, LNET_INT, .doc = "Module parameter wrq_sge (2)" },
	[LNET_CPTS] = { "cpts", "cpts", 1, .min = 1, .max = 4096,
			.doc = "CPTs of the interface (1)" },
	[LNET_MAX_WR] = { "max-qp-wr", "W", 0, .min = 1, .max = INT32_MAX,
			  .doc = "max_qp_wr of the device (enough)" },
	[LNET_PROTOCOL] = { "protocol", "protocol", 2, .min = 1, .max = 2,
			    .doc = "Version of o2iblnd's protocol (2)" },
};

/* The profile that lustre/conf/ko2iblnd.conf has for OPA; 0 where it sets nothing. */
static const uint64_t lnet_opa[LNET_NR_INPUTS] = {
	[LNET_PEER_CREDITS] = 32, [LNET_CREDITS] = 1024, [LNET_CONNS] = 4, [LNET_SENDS] = 64,
	[LNET_MAP] = 256, [LNET_NTX] = 2048, [LNET_FMR_POOL] = 2048,
};

/* One node: what was said of it, and its names for formulas. */
struct lnet_side {
	const char *name;
	uint64_t in[LNET_NR_INPUTS];
	bool given[LNET_NR_INPUTS];
	unsigned int release;		/* N of 2.N */
	bool fmr;			/* registers by FMR instead of FastReg */
	bool dma_mr;			/* its kernel has ib_get_dma_mr() */
	struct plan_vars vars;
	/* Its largest connection so far. */
	uint64_t send_wr;
	uint64_t depth;
	uint64_t frags;
};

struct lnet_options {
	struct lnet_side near;
	struct lnet_side far;
	bool has_far;
	bool opa;
};

/* A connection that two sides have agreed on. */
struct lnet_link {
	bool is_made;
	uint64_t wanted;	/* the active side's depth, before its device */
	uint64_t asked;		/* with which the passive side makes its QP */
	uint64_t depth;		/* what is used */
	uint64_t frags;
};

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

/* --- what was said of the two nodes --- */

static int lnet_parse_release(const char *where, const char *text, unsigned int *release)
{
	char shown[PLAN_SHOWN];
	uint64_t minor = 0;
	const char *c;

	if (!strncmp(text, "2.", 2) && text[2] != '.') {
		for (c = text + 2; *c >= '0' && *c <= '9' && minor < 1000; c++)
			minor = minor * 10 + (uint64_t)(*c - '0');
		if ((!*c || *c == '.') && minor >= 1 && minor < 1000) {
			*release = (unsigned int)minor;
			return 0;
		}
	}
	return plan_misuse(where, "'%s' is no release of Lustre; give one such as 2.15",
			   plan_show(shown, text, strlen(text)));
}

/* "KEY=VALUE": an input by its option's name, with - or _; or release, fmr, dma_mr. */
static int lnet_set_remote(struct lnet_side *side, char *word)
{
	static const char where[] = "plan lnet --remote";
	char *value = strchr(word, '=');
	char shown[PLAN_SHOWN];
	size_t i;

	plan_show(shown, word, strlen(word));
	if (!value)
		return plan_misuse(where,
				   "'%s' is not KEY=VALUE; give such as peer_credits=16,release=2.12",
				   shown);
	*value++ = '\0';
	for (i = 0; word[i]; i++)
		word[i] = word[i] == '_' ? '-' : word[i];
	if (!strcmp(word, "release"))
		return lnet_parse_release(where, value, &side->release);
	if (!strcmp(word, "fmr") || !strcmp(word, "dma-mr")) {
		*(*word == 'f' ? &side->fmr : &side->dma_mr) = !strcmp(value, "1");
		return strcmp(value, "0") && strcmp(value, "1") ?
			plan_misuse(where, "'%s' is neither 0 nor 1; give one of them", shown) : 0;
	}
	for (i = 0; i < LNET_NR_INPUTS; i++) {
		if (strcmp(word, lnet_inputs[i].option))
			continue;
		side->given[i] = true;
		return plan_set_input(&lnet_inputs[i], where, value, &side->in[i]);
	}
	return plan_misuse(where,
			   "'%s' is not known there; its keys are the options of this command",
			   shown);
}

static int lnet_parse_remote(struct lnet_options *options, const char *text)
{
	char *words = plan_copy(text, strlen(text));
	char *rest = words;
	char *word;
	int ret = 0;

	options->has_far = true;
	while (!ret && (word = strsep(&rest, ",")))
		ret = lnet_set_remote(&options->far, word);
	free(words);
	return ret;
}

enum lnet_key { LNET_KEY_RELEASE = 0x200, LNET_KEY_FMR, LNET_KEY_DMA_MR, LNET_KEY_PROFILE,
		LNET_KEY_REMOTE };

static const struct argp_option lnet_argp_options[] = {
	{ "release", LNET_KEY_RELEASE, "2.N", 0, "Release of Lustre (2.17)", 10 },
	{ "fmr", LNET_KEY_FMR, NULL, 0, "The device registers by FMR, not by FastReg", 10 },
	{ "dma-mr", LNET_KEY_DMA_MR, NULL, 0,
	  "The kernel has ib_get_dma_mr(), as those before 4.9 do", 10 },
	{ "profile", LNET_KEY_PROFILE, "opa", 0, "Parameters as Lustre ships them for OPA", 10 },
	{ "remote", LNET_KEY_REMOTE, "KEY=VALUE[,KEY=VALUE...]", 0,
	  "Parameters of the other end, by the names of these options; what both agree on", 10 },
	{ 0 }
};

static error_t lnet_parse_key(int key, char *arg, struct argp_state *state)
{
	struct lnet_options *options = state->input;
	int status = 0;

	switch (key) {
	case LNET_KEY_RELEASE:
		status = lnet_parse_release("plan lnet --release", arg, &options->near.release);
		break;
	case LNET_KEY_FMR:
		options->near.fmr = true;
		break;
	case LNET_KEY_DMA_MR:
		options->near.dma_mr = true;
		break;
	case LNET_KEY_PROFILE:
		options->opa = true;
		if (strcmp(arg, "opa"))
			status = plan_misuse("plan lnet --profile",
					     "there is opa only; give that, or none");
		break;
	case LNET_KEY_REMOTE:
		status = lnet_parse_remote(options, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return status ? PLAN_REFUSED : 0;
}

/* --- what one node makes of its parameters --- */

static bool lnet_is_old(const struct lnet_side *side)
{
	return side->release <= 10;
}

/* Without pools it can neither send fewer fragments nor take them. */
static bool lnet_has_pools(const struct lnet_side *side)
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
			      "peer_credits=%ju is taken as %ju: at least 8, at most 255 and credits.",
			      side->in[LNET_PEER_CREDITS], depth);
	if (!lnet_is_old(side) && side->in[LNET_SENDS])
		plan_add_note(part, "concurrent_sends changes no size since 2.11; it throttles.");
	if (!lnet_is_old(side) && side->given[LNET_MAP] && !side->dma_mr)
		plan_add_note(part, "map_on_demand changes no size since 2.11.");
}

static int lnet_setup(const struct plan *plan, struct plan_part *part, struct lnet_side *side)
{
	int ret;

	lnet_set_vars(side);
	if (lnet_has_pools(side) && side->in[LNET_FMR_POOL] < side->in[LNET_NTX] / 4)
		return plan_error(plan->form,
				  "%s: the interface does not start, for fmr_pool_size=%ju is less than a quarter of ntx=%ju (kiblnd_net_init_pools()); raise the former",
				  side->name, side->in[LNET_FMR_POOL], side->in[LNET_NTX]);
	ret = plan_add_rows(plan, part, &side->vars, &lnet_depth_row, 1);
	if (!ret)
		ret = plan_add_rows(plan, part, &side->vars, lnet_frag_row(side), 1);
	if (!ret && lnet_is_old(side))
		ret = plan_add_rows(plan, part, &side->vars, lnet_sends_row(side), 1);
	if (ret)
		return ret;
	/* These stay, while qd and F become those of one connection. */
	plan_set(&side->vars, "own_qd", plan_get(&side->vars, "qd"));
	plan_set(&side->vars, "own_F", plan_get(&side->vars, "F"));
	lnet_add_setup_notes(part, side);
	return 0;
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

/* The depth that the device leaves of @depth; 0 where it makes no QP. */
static uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth)
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

/* The queues of a connection that @side makes with this depth and these fragments. */
static int lnet_add_end(const struct plan *plan, struct plan_part *part, struct lnet_side *side,
			uint64_t depth, uint64_t frags)
{
	int ret;

	if (!lnet_reduce(side, frags, depth))
		return plan_error(plan->form,
				  "%s: max_qp_wr=%ju is too small for any connection; the device cannot be used",
				  side->name, side->in[LNET_MAX_WR]);
	plan_set(&side->vars, "qd", depth);
	plan_set(&side->vars, "F", frags);
	if (lnet_is_old(side))
		plan_set(&side->vars, "cut", lnet_cut(side, frags));
	ret = plan_add_rows(plan, part, &side->vars, lnet_queue_rows(side), 2);
	if (!ret)
		ret = plan_add_rows(plan, part, &side->vars, lnet_cq_row(side), 1);
	if (!ret)
		ret = plan_add_rows(plan, part, &side->vars, lnet_end_rows,
				    PLAN_COUNT(lnet_end_rows));
	if (!ret && plan_get(&side->vars, "send_wr") > side->send_wr) {
		side->send_wr = plan_get(&side->vars, "send_wr");
		side->depth = depth;
		side->frags = frags;
	}
	return ret;
}

/* All that a node has; its connections are as lnet_add_end() left them. */
static int lnet_add_node(const struct plan *plan, struct plan_part *part, struct lnet_side *side)
{
	int ret = plan_add_rows(plan, part, &side->vars, lnet_node_rows,
				PLAN_COUNT(lnet_node_rows));

	if (!ret)
		ret = plan_add_rows(plan, part, &side->vars, &lnet_mr_rows[!lnet_has_pools(side)],
				    1);
	if (!ret)
		ret = plan_add_rows(plan, part, &side->vars, lnet_sum_rows,
				    PLAN_COUNT(lnet_sum_rows));
	if (ret)
		return ret;
	plan_add_note(part,
		      "No cgroup pays for a kernel user: subtract this before the device is shared, with");
	plan_add_note(part,
		      "rdmacg plan share DEVICE --kernel pd=1,qp=%ju,cq=%ju,mr=%ju --among CGROUP...",
		      plan_get(&side->vars, "qp"),
		      plan_get(&side->vars, "cq"), plan_get(&side->vars, "mr"));
	if (lnet_has_pools(side))
		plan_add_note(part,
			      "An empty pool grows by another %ju MRs on its CPT, without an upper bound.",
			      plan_get(&side->vars, "mr") / side->in[LNET_CPTS]);
	return 0;
}

/* --- what two nodes agree on (o2iblnd_cb.c, protocol 2) --- */

/* Whether @passive takes so many fragments; if not, it answers with its own number. */
static bool lnet_takes_frags(const struct lnet_side *passive, uint64_t frags)
{
	uint64_t own = plan_get(&passive->vars, "own_F");

	if (frags > own)
		return false;
	/* Up to 2.10: kiblnd_passive_connect() without net->ibn_fmr_ps. */
	return frags == own || !lnet_is_old(passive) || lnet_has_pools(passive);
}

/* kiblnd_check_reconnect(): whether to connect again with what the other has answered. */
static bool lnet_retry_frags(struct plan_part *part, const struct lnet_side *active,
			     const struct lnet_side *passive, struct lnet_link *link)
{
	uint64_t own = plan_get(&passive->vars, "own_F");

	plan_add_note(part, "%s rejects it: RDMA_FRAGS (6), it wants %ju fragments.",
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
	uint64_t depth = plan_get(&passive->vars, "own_qd");

	link->asked = lnet_reduce(active, link->frags, link->wanted);
	if (!link->asked) {
		plan_add_note(part,
			      "%s cannot make its QP for %ju fragments on its device: ENOMEM.",
			      active->name, link->frags);
		return LNET_GIVEN_UP;
	}
	plan_add_note(part, "%s asks for a depth of %ju and %ju fragments.",
		      active->name, link->asked, link->frags);
	if (link->asked > depth) {
		plan_add_note(part, "%s rejects it: MSG_QUEUE_SIZE (7), its depth is %ju.",
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
static void lnet_connect(struct plan_part *part, const struct lnet_side *active,
			 const struct lnet_side *passive, struct lnet_link *link)
{
	enum lnet_answer answer;

	link->wanted = plan_get(&active->vars, "own_qd");
	link->frags = plan_get(&active->vars, "own_F");
	do {
		answer = lnet_ask(part, active, passive, link);
	} while (answer == LNET_AGAIN);
	link->is_made = answer == LNET_ACCEPTED;
	if (link->is_made)
		plan_add_note(part,
			      "%s accepts: both use a depth of %ju and %ju fragments.",
			      passive->name, link->depth, link->frags);
	else
		plan_add_note(part, "They do not connect in this direction.");
}

/* One node alone: its connections are as it would make them itself. */
static int lnet_plan_node(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "One connection of Lustre 2.%u",
					       side->release);
	int ret = lnet_setup(plan, part, side);

	if (!ret)
		ret = lnet_add_end(plan, part, side, plan_get(&side->vars, "own_qd"),
				   plan_get(&side->vars, "own_F"));
	if (!ret)
		ret = lnet_add_node(plan, plan_add_part(plan, "All of the node, peers: %ju",
							side->in[LNET_PEERS]), side);
	return ret;
}

/* A connection that @active asks for, and its two ends. */
static int lnet_plan_link(struct plan *plan, struct lnet_side *active, struct lnet_side *passive,
			  bool *is_made)
{
	struct plan_part *part = plan_add_part(plan, "%s connects", active->name);
	struct lnet_link link;
	int ret;

	lnet_connect(part, active, passive, &link);
	*is_made = link.is_made;
	if (!link.is_made)
		return 0;
	ret = lnet_add_end(plan, plan_add_part(plan, "%s connects: its end", active->name), active,
			   link.wanted, link.frags);
	if (ret)
		return ret;
	return lnet_add_end(plan, plan_add_part(plan, "%s connects: %s's end", active->name,
						passive->name), passive, link.asked, link.frags);
}

/* All of a node that has made both kinds of connections, as if each were the larger one. */
static int lnet_plan_total(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "All of %s, peers: %ju",
					       side->name, side->in[LNET_PEERS]);
	int ret = lnet_add_end(plan, part, side, side->depth, side->frags);

	return ret ? ret : lnet_add_node(plan, part, side);
}

/* Who connects decides how many connections there are, and either may. */
static void lnet_share_conns(struct lnet_options *options)
{
	uint64_t near = options->near.in[LNET_CONNS];
	uint64_t far = options->far.in[LNET_CONNS];

	plan_set(&options->near.vars, "conns_per_peer", near > far ? near : far);
	plan_set(&options->far.vars, "conns_per_peer", near > far ? near : far);
}

static int lnet_plan_pair(struct plan *plan, struct lnet_options *options)
{
	struct lnet_side *near = &options->near;
	struct lnet_side *far = &options->far;
	bool there = false;
	bool back = false;
	int ret = lnet_setup(plan, plan_add_part(plan, "%s, Lustre 2.%u", near->name,
						 near->release), near);

	if (!ret)
		ret = lnet_setup(plan, plan_add_part(plan, "%s, Lustre 2.%u", far->name,
						     far->release), far);
	if (!ret)
		ret = lnet_plan_link(plan, near, far, &there);
	if (!ret)
		ret = lnet_plan_link(plan, far, near, &back);
	if (ret || (!there && !back))
		return ret;
	lnet_share_conns(options);
	ret = lnet_plan_total(plan, near);
	return ret ? ret : lnet_plan_total(plan, far);
}

/* --- the form --- */

static void lnet_init_side(struct lnet_side *side, const char *name)
{
	size_t i;

	side->name = name;
	side->release = 17;
	for (i = 0; i < LNET_NR_INPUTS; i++)
		side->in[i] = lnet_inputs[i].value;
	side->in[LNET_PEERS] = 1;
}

/* What the options said of this node; the profile stands back behind them. */
static void lnet_take_values(struct lnet_options *options, const struct plan_args *args)
{
	struct lnet_side *near = &options->near;
	size_t i;

	for (i = 0; i < LNET_NR_INPUTS; i++) {
		near->in[i] = args->values[i];
		near->given[i] = args->given[i];
		if (options->opa && !args->given[i] && lnet_opa[i]) {
			near->in[i] = lnet_opa[i];
			near->given[i] = true;
		}
	}
}

static int lnet_check_pair(const struct lnet_options *options)
{
	if (options->near.in[LNET_PROTOCOL] != 2 || options->far.in[LNET_PROTOCOL] != 2)
		return plan_misuse("plan lnet --remote",
				   "how protocol 1 negotiates is not known here; give protocol 2");
	if (options->near.release < 8 || options->far.release < 8)
		return plan_misuse("plan lnet --remote",
				   "how releases before 2.8 negotiate is not known here; give 2.8 or later");
	return 0;
}

static int lnet_run(struct lnet_options *options, const struct plan_args *args)
{
	struct plan plan = { .form = args->form };
	int ret;

	if (options->has_far)
		ret = lnet_plan_pair(&plan, options);
	else
		ret = lnet_plan_node(&plan, &options->near);
	if (!ret)
		ret = plan_print(&plan, args);
	if (!ret && options->has_far && !options->near.send_wr)
		ret = plan_error("plan lnet --remote",
				 "the two ends cannot connect; the plan says why, make their parameters alike");
	plan_free(&plan);
	return ret;
}

int plan_lnet(int argc, char **argv)
{
	static const struct argp own = { .options = lnet_argp_options, .parser = lnet_parse_key };
	struct lnet_options options = { .has_far = false };
	struct plan_args args = {
		.form = "plan lnet",
		.doc = "What Lustre's o2iblnd takes from a device. No cgroup pays for it.",
		.inputs = lnet_inputs, .nr_inputs = PLAN_COUNT(lnet_inputs),
		.own = &own, .own_input = &options,
	};
	int ret;

	lnet_init_side(&options.near, "this node");
	lnet_init_side(&options.far, "the other end");
	ret = plan_parse(&args, argc, argv);
	if (!ret) {
		lnet_take_values(&options, &args);
		ret = options.has_far ? lnet_check_pair(&options) : 0;
	}
	if (!ret)
		ret = lnet_run(&options, &args);
	plan_free_args(&args);
	return ret;
}
