// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: what Lustre's o2iblnd takes from a device, for each release of Lustre,
 * and what two nodes agree on.
 *
 * o2iblnd is a kernel user: no cgroup pays for it, and no limit holds it back. So this
 * plans nothing for a cgroup; it says what to subtract from the device before it is shared.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "plan/lnet.h"

#define LNET_INT	.min = 0, .max = INT32_MAX

const struct plan_input lnet_inputs[] = {
	[LNET_PEERS] = { "peers", "peers", 0, PLAN_SOME, .is_needed = true,
			 .doc = "peers of the node's interface" },
	[LNET_PEER_CREDITS] = { "peer-credits", "peer_credits", 8, LNET_INT,
				.doc = "module parameter peer_credits (8)" },
	[LNET_CREDITS] = { "credits", "credits", 256, .min = 1, .max = INT32_MAX,
			   .doc = "module parameter credits (256)" },
	[LNET_CONNS] = { "conns-per-peer", "conns_per_peer", 1, .min = 0, .max = 127,
			 .doc = "module parameter conns_per_peer (1)" },
	[LNET_SENDS] = { "concurrent-sends", "concurrent_sends", 0, LNET_INT,
			 .doc = "module parameter concurrent_sends (0: by peer_credits)" },
	[LNET_MAP] = { "map-on-demand", "map_on_demand", 1, LNET_INT,
		       .doc = "module parameter map_on_demand (1, and 0 up to 2.10)" },
	[LNET_NTX] = { "ntx", "ntx", 512, LNET_INT, .doc = "module parameter ntx (512)" },
	[LNET_FMR_POOL] = { "fmr-pool-size", "fmr_pool_size", 512, LNET_INT,
			    .doc = "module parameter fmr_pool_size (512)" },
	[LNET_SGE] = { "wrq-sge", "wrq_sge", 2, LNET_INT, .doc = "module parameter wrq_sge (2)" },
	[LNET_CPTS] = { "cpts", "cpts", 1, .min = 1, .max = 4096,
			.doc = "CPTs of the interface (1)" },
	[LNET_MAX_WR] = { "max-qp-wr", "W", 0, .min = 1, .max = INT32_MAX,
			  .doc = "max_qp_wr of the device (enough)" },
	[LNET_PROTOCOL] = { "protocol", "protocol", 2, .min = 1, .max = 2,
			    .doc = "version of o2iblnd's protocol (2)" },
};

/* The profile that lustre/config/ko2iblnd.conf has for OPA; 0 where it sets nothing. */
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

static unsigned int lnet_parse_release(const char *text)
{
	size_t length = strncmp(text, "2.", 2) ? 0 : strcspn(text + 2, ".");
	uint64_t minor;

	if (!length || !number_parse(text + 2, length, &minor) || !minor || minor > 999)
		options_fail(text, "is no release of Lustre; give one such as 2.15");
	return minor;
}

static bool lnet_parse_flag(const char *text)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		options_fail(text, "fmr and dma_mr are 0 or 1");
	return *text == '1';
}

/* "KEY=VALUE": an input by its option's name, with - or _; or release, fmr, dma_mr. */
static void lnet_set_remote(struct lnet_side *side, char *word)
{
	char *value = strchr(word, '=');
	size_t i;

	if (!value)
		options_fail(word, "write KEY=VALUE, such as peer_credits=16,release=2.12");
	*value++ = '\0';
	for (i = 0; word[i]; i++)
		word[i] = word[i] == '_' ? '-' : word[i];
	for (i = 0; i < LNET_NR_INPUTS; i++) {
		if (strcmp(word, lnet_inputs[i].option))
			continue;
		side->given[i] = true;
		side->in[i] = plan_parse_number(&lnet_inputs[i], value);
		return;
	}
	if (!strcmp(word, "release"))
		side->release = lnet_parse_release(value);
	else if (!strcmp(word, "fmr"))
		side->fmr = lnet_parse_flag(value);
	else if (!strcmp(word, "dma-mr"))
		side->dma_mr = lnet_parse_flag(value);
	else
		options_fail(word,
			     "is not known in --remote; its keys are the options of this command");
}

static void lnet_parse_remote(struct lnet_options *options, const char *text)
{
	char *words = memory_string(text);
	char *rest = words;
	char *word;

	options->has_far = true;
	while ((word = strsep(&rest, ",")))
		lnet_set_remote(&options->far, word);
	free(words);
}

enum lnet_key { LNET_KEY_RELEASE = OPTIONS_KEY, LNET_KEY_FMR, LNET_KEY_DMA_MR, LNET_KEY_PROFILE,
		LNET_KEY_REMOTE };

static const struct argp_option lnet_argp_options[] = {
	{ "release", LNET_KEY_RELEASE, "2.N", 0, "release of Lustre (2.17)", 10 },
	{ "fmr", LNET_KEY_FMR, NULL, 0, "the device registers by FMR, not by FastReg", 10 },
	{ "dma-mr", LNET_KEY_DMA_MR, NULL, 0,
	  "the kernel has ib_get_dma_mr(), as those before 4.9 do", 10 },
	{ "profile", LNET_KEY_PROFILE, "opa", 0, "parameters as Lustre ships them for OPA", 10 },
	{ "remote", LNET_KEY_REMOTE, "KEY=VALUE[,KEY=VALUE...]", 0,
	  "parameters of the other end, by the names of these options; what both agree on", 10 },
	{ 0 }
};

static error_t lnet_parse_key(int key, char *arg, struct argp_state *state)
{
	struct lnet_options *options = state->input;

	switch (key) {
	case LNET_KEY_RELEASE:
		options->near.release = lnet_parse_release(arg);
		return 0;
	case LNET_KEY_FMR:
		options->near.fmr = true;
		return 0;
	case LNET_KEY_DMA_MR:
		options->near.dma_mr = true;
		return 0;
	case LNET_KEY_PROFILE:
		if (strcmp(arg, "opa"))
			options_fail(arg, "is no profile; there is opa only");
		options->opa = true;
		return 0;
	case LNET_KEY_REMOTE:
		lnet_parse_remote(options, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* --- the plan --- */

/* One node alone: its connections are as it would make them itself. */
static bool lnet_plan_node(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "One connection of Lustre 2.%u",
					       side->release);

	return lnet_setup(plan, part, side) &&
	       lnet_add_end(plan, part, side, plan_get(&side->vars, "own_qd"),
			    plan_get(&side->vars, "own_F")) &&
	       lnet_add_node(plan, plan_add_part(plan, "All of the node, peers: %" PRIu64,
						 side->in[LNET_PEERS]), side);
}

/* A connection that @active asks for, and its two ends. */
static bool lnet_plan_link(struct plan *plan, struct lnet_side *active, struct lnet_side *passive)
{
	struct plan_part *part = plan_add_part(plan, "%s connects", active->name);
	struct lnet_link link;

	lnet_connect(part, active, passive, &link);
	if (!link.is_made)
		return true;
	return lnet_add_end(plan, plan_add_part(plan, "%s connects: its end", active->name),
			    active, link.wanted, link.frags) &&
	       lnet_add_end(plan, plan_add_part(plan, "%s connects: %s's end", active->name,
						passive->name), passive, link.asked, link.frags);
}

/* All of a node that has made both kinds of connections, as if each were the larger one. */
static bool lnet_plan_total(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "All of %s, peers: %" PRIu64,
					       side->name, side->in[LNET_PEERS]);

	return lnet_add_end(plan, part, side, side->depth, side->frags) &&
	       lnet_add_node(plan, part, side);
}

/* Who connects decides how many connections there are, and either may. */
static void lnet_share_conns(struct lnet_options *options)
{
	uint64_t near = options->near.in[LNET_CONNS];
	uint64_t far = options->far.in[LNET_CONNS];

	plan_set(&options->near.vars, "conns_per_peer", near > far ? near : far);
	plan_set(&options->far.vars, "conns_per_peer", near > far ? near : far);
}

static bool lnet_start(struct plan *plan, struct lnet_side *side)
{
	return lnet_setup(plan, plan_add_part(plan, "%s, Lustre 2.%u", side->name, side->release),
			  side);
}

static bool lnet_plan_pair(struct plan *plan, struct lnet_options *options)
{
	struct lnet_side *near = &options->near;
	struct lnet_side *far = &options->far;

	if (!lnet_start(plan, near) || !lnet_start(plan, far) ||
	    !lnet_plan_link(plan, near, far) || !lnet_plan_link(plan, far, near))
		return false;
	/* Both have made a queue, or none has. */
	if (!near->send_wr)
		return true;
	lnet_share_conns(options);
	return lnet_plan_total(plan, near) && lnet_plan_total(plan, far);
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

static void lnet_check_pair(const struct lnet_options *options)
{
	if (options->near.in[LNET_PROTOCOL] != 2 || options->far.in[LNET_PROTOCOL] != 2)
		options_fail("--remote",
			     "how protocol 1 negotiates is not known here; give protocol 2");
	if (options->near.release < 8 || options->far.release < 8)
		options_fail("--remote",
			     "how releases before 2.8 negotiate is not known here; give 2.8 or later");
}

static bool lnet_run(struct lnet_options *options, const struct plan_args *args)
{
	struct plan plan = { .form = args->form };
	bool done;

	if (options->has_far)
		done = lnet_plan_pair(&plan, options);
	else
		done = lnet_plan_node(&plan, &options->near);
	if (done)
		plan_print(&plan, args);
	plan_free(&plan);
	if (done && !options->near.send_wr) {
		say_error(args->form,
			  "the two ends cannot connect; the plan says why, make their parameters alike");
		return false;
	}
	return done;
}

bool plan_lnet(int argc, char **argv)
{
	static const struct argp own = { .options = lnet_argp_options, .parser = lnet_parse_key };
	struct lnet_options options = { .has_far = false };
	struct plan_args args = {
		.form = "plan lnet",
		.doc = "What Lustre's o2iblnd takes from a device. No cgroup pays for it.",
		.inputs = lnet_inputs, .nr_inputs = ARRAY_SIZE(lnet_inputs),
		.own = &own, .own_input = &options,
	};
	bool done;

	lnet_init_side(&options.near, "this node");
	lnet_init_side(&options.far, "the other end");
	plan_parse(&args, argc, argv);
	lnet_take_values(&options, &args);
	if (options.has_far)
		lnet_check_pair(&options);
	done = lnet_run(&options, &args);
	plan_free_args(&args);
	return done;
}
