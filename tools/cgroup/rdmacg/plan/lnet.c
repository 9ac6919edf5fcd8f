// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan lnet: what Lustre's o2iblnd takes from a device, for each release of Lustre,
 * and what two nodes agree on.
 *
 * o2iblnd is a kernel user: no cgroup pays for it, and no limit holds it back. So this
 * plans nothing for a cgroup; it says what to subtract from the device before it is shared.
 */
#include "lib/lib.h"
#include "plan/lnet.h"

struct lnet_options {
	struct lnet_side near;
	struct lnet_side far;
	bool has_far;
	bool opa;
	char **words;
	size_t nr_words;
};

enum lnet_key { LNET_KEY_RELEASE = OPTIONS_KEY, LNET_KEY_FMR, LNET_KEY_DMA_MR, LNET_KEY_PROFILE,
		LNET_KEY_REMOTE };

static const struct argp_option lnet_argp_options[] = {
	{ "release", LNET_KEY_RELEASE, "2.N", 0, "release of Lustre (2.17)", 10 },
	{ "fmr", LNET_KEY_FMR, NULL, 0, "the device registers by FMR, not by FastReg", 10 },
	{ "dma-mr", LNET_KEY_DMA_MR, NULL, 0,
	  "the kernel has ib_get_dma_mr(), as those before 4.9 do", 10 },
	{
	"profile", LNET_KEY_PROFILE, "opa", 0, "parameters as the release ships them for OPA", 10 },
	{ "remote", LNET_KEY_REMOTE, "KEY=VALUE[,KEY=VALUE...]", 0,
	  "parameters of the other end, by the names of these options; what both agree on", 10 },
	{ 0 }
};

static error_t lnet_parse_key(int key, char *arg, struct argp_state *state)
{
	struct lnet_options *options = state->input;

	switch (key) {
	case ARGP_KEY_ARGS:
		options->words = state->argv + state->next;
		options->nr_words = state->argc - state->next;
		return 0;
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
			options_fail(arg, "there is no such profile, only opa");
		options->opa = true;
		return 0;
	case LNET_KEY_REMOTE:
		options->has_far = true;
		lnet_set_remote(&options->far, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* --- the plan --- */

/* One node alone: its connections are as it would make them itself. */
static void lnet_plan_node(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "One connection of Lustre 2.%u",
					       side->release);

	lnet_setup(part, side);
	lnet_add_end(part, side, side->own_depth, side->own_frags);
	lnet_add_node(plan_add_part(plan, "All of the node, peers: %" PRIu64,
				    side->in[LNET_PEERS]), side);
}

/* A connection that @active asks for, and its two ends. */
static void lnet_plan_link(struct plan *plan, struct lnet_side *active, struct lnet_side *passive)
{
	struct plan_part *part = plan_add_part(plan, "%s connects", active->name);
	struct lnet_link link;

	lnet_connect(part, active, passive, &link);
	if (!link.is_made)
		return;
	lnet_add_end(plan_add_part(plan, "%s connects: its end", active->name), active,
		     link.wanted, link.frags);
	lnet_add_end(plan_add_part(plan, "%s connects: %s's end", active->name, passive->name),
		     passive, link.asked, link.frags);
}

/* All of a node that has made both kinds of connections, as if each were the larger one. */
static void lnet_plan_total(struct plan *plan, struct lnet_side *side)
{
	struct plan_part *part = plan_add_part(plan, "All of %s, peers: %" PRIu64,
					       side->name, side->in[LNET_PEERS]);

	lnet_add_end(part, side, side->depth, side->frags);
	lnet_add_node(part, side);
}

static void lnet_start(struct plan *plan, struct lnet_side *side)
{
	lnet_setup(plan_add_part(plan, "%s, Lustre 2.%u", side->name, side->release), side);
}

static void lnet_plan_pair(struct plan *plan, struct lnet_side *near, struct lnet_side *far)
{
	lnet_start(plan, near);
	lnet_start(plan, far);
	lnet_plan_link(plan, near, far);
	lnet_plan_link(plan, far, near);
	/* Both have made a queue, or none has. */
	if (!near->send_wr)
		return;
	/* Who connects decides how many connections there are, and either may. */
	near->in[LNET_CONNS] = max(near->in[LNET_CONNS], far->in[LNET_CONNS]);
	far->in[LNET_CONNS] = near->in[LNET_CONNS];
	lnet_plan_total(plan, near);
	lnet_plan_total(plan, far);
}

/* --- the form --- */

/* What was said of this node: the profile, then what modprobe reads, then options. */
static void lnet_take(struct lnet_options *options, const struct plan_args *args)
{
	struct lnet_side *near = &options->near;
	size_t i;

	if (options->opa)
		lnet_set_profile(near);
	lnet_set_words(near, options->words, options->nr_words, options->opa);
	for (i = 0; i < LNET_NR_INPUTS; i++) {
		if (!args->given[i])
			continue;
		near->in[i] = args->values[i];
		near->given[i] = true;
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

int plan_lnet(int argc, char **argv)
{
	static const struct argp own = { .options = lnet_argp_options, .parser = lnet_parse_key };
	struct lnet_options options = { .has_far = false };
	struct plan_args args = {
		.form = "plan lnet",
		.args_doc = "[FILE...]\noptions ko2iblnd KEY=VALUE...",
		.doc =
		"What Lustre's o2iblnd takes from a device. No cgroup pays for it. Its parameters are options, a line of /etc/modprobe.d or a FILE of such lines, - for standard input.",
		.inputs = lnet_inputs, .nr_inputs = LNET_NR_INPUTS,
		.own = &own, .own_input = &options,
	};
	struct plan plan = {
		.form = args.form,
		.read = "Lustre 2.10.0 to 2.17.0, lnet/klnds/o2iblnd; a model of it was run",
	};

	lnet_init(&options.near, args.form, "this node");
	lnet_init(&options.far, args.form, "the other end");
	plan_parse(&args, argc, argv);
	lnet_take(&options, &args);
	if (options.has_far) {
		lnet_check_pair(&options);
		lnet_plan_pair(&plan, &options.near, &options.far);
	} else {
		lnet_plan_node(&plan, &options.near);
	}
	plan_finish(&plan, &args);
	free(options.near.idle);
	free(options.far.idle);
	if (!options.near.send_wr)
		plan_fail(args.form,
			  "the two ends cannot connect; the plan says why, make their parameters alike");
	return EXIT_DONE;
}
