// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: what Lustre's o2iblnd takes from a device, for each release of Lustre,
 * and what two nodes agree on.
 *
 * o2iblnd is a kernel user: no cgroup pays for it, and no limit holds it back. So this
 * plans nothing for a cgroup; it says what to subtract from the device before it is shared.
 */
#include <stdlib.h>
#include <string.h>

#include "plan-lnet.h"

#define LNET_INT	.min = 0, .max = INT32_MAX

const struct plan_input lnet_inputs[] = {
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

struct lnet_options {
	struct lnet_side near;
	struct lnet_side far;
	bool has_far;
	bool opa;
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

/* --- the plan --- */

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
