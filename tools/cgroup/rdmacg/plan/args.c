// SPDX-License-Identifier: GPL-2.0
/*
 * What the forms of "rdmacg plan" have in common on the command line: the options that say
 * where limits go and how they are shown, and inputs of formulas as options of their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse-line.h"
#include "lib/memory.h"
#include "lib/number.h"
#include "lib/options.h"
#include "plan/plan.h"

enum plan_key {
	PLAN_KEY_EXPLAIN = OPTIONS_KEY,
	PLAN_KEY_CGROUP,
	PLAN_KEY_DEVICE,
	PLAN_KEY_INPUT,		/* of the first input; the others follow */
};

static const struct argp_option plan_explain_option = {
	"explain", PLAN_KEY_EXPLAIN, NULL, 0, "the formula and the source of each number", 100
};

static const struct argp_option plan_limit_options[] = {
	{ "cgroup", PLAN_KEY_CGROUP, "CGROUP", 0, "the cgroup that the limits are for", 90 },
	{ "device", PLAN_KEY_DEVICE, "DEVICE", 0, "the device that the limits are for", 90 },
};

uint64_t plan_parse_number(const struct plan_input *input, const char *text)
{
	uint64_t value;

	if (!number_parse_human(text, true, &value))
		options_fail(text,
			     "--%s is a number, or one with K, M, G, T, P or E; at most %" PRIu64,
			     input->option, NUMBER_LARGEST);
	if (value < input->min || value > input->max)
		options_fail(text, "--%s is %" PRIu64 " to %" PRIu64, input->option, input->min,
			     input->max);
	return value;
}

bool plan_is_name(const char *text)
{
	const char *c;

	for (c = text; *c; c++) {
		if (*c <= ' ' || *c >= 0x7f || strchr("#[]", *c))
			return false;
	}
	return *text;
}

void plan_check_cgroup(const char *name)
{
	if (!plan_is_name(name))
		options_fail(name,
			     "cannot stand in a file of limits: a cgroup is printable ASCII without blanks, #, [ and ]");
}

void plan_parse_device(struct device *device, const char *text)
{
	/* Where a line ends its device is known in one place; it looks for an amount. */
	char *copy = memory_format("%s =", text);
	char *rest = copy;
	struct line line;

	if (!line_next(&rest, &line) || *line.rest != '=' || !plan_is_name(line.device.name))
		options_fail(text, "is no device; write NAME or 'NAME index=N'");
	device_copy(device, &line.device);
	free(copy);
}

/* All options were seen: those that are needed have to be among them. */
static void plan_check_needed(const struct plan_args *args)
{
	size_t i;

	for (i = 0; i < args->nr_inputs; i++) {
		if (args->inputs[i].is_needed && !args->given[i])
			options_fail(args->form, "--%s is missing", args->inputs[i].option);
	}
}

static error_t plan_parse_key(int key, char *arg, struct argp_state *state)
{
	struct plan_args *args = state->input;
	size_t input = key - PLAN_KEY_INPUT;

	switch (key) {
	case ARGP_KEY_INIT:
		if (args->own)
			state->child_inputs[1] = args->own_input;
		return 0;
	case PLAN_KEY_EXPLAIN:
		args->explain = true;
		return 0;
	case PLAN_KEY_CGROUP:
		plan_check_cgroup(arg);
		args->cgroup = arg;
		return 0;
	case PLAN_KEY_DEVICE:
		device_free(&args->device);
		plan_parse_device(&args->device, arg);
		return 0;
	case ARGP_KEY_END:
		plan_check_needed(args);
		return 0;
	}
	if (key < PLAN_KEY_INPUT || input >= args->nr_inputs)
		return ARGP_ERR_UNKNOWN;
	args->values[input] = plan_parse_number(&args->inputs[input], arg);
	args->given[input] = true;
	return 0;
}

/* The inputs, then what all forms have. To be freed. */
static struct argp_option *plan_make_options(const struct plan_args *args)
{
	size_t nr_limits = args->has_limits ? ARRAY_SIZE(plan_limit_options) : 0;
	/* One for --explain, and one that ends the list. */
	struct argp_option *options = memory_zeroed(args->nr_inputs + nr_limits + 2,
						    sizeof(*options));
	size_t i;

	for (i = 0; i < args->nr_inputs; i++) {
		options[i].name = args->inputs[i].option;
		options[i].key = PLAN_KEY_INPUT + (int)i;
		options[i].arg = "N";
		options[i].doc = args->inputs[i].doc;
	}
	memcpy(options + i, plan_limit_options, nr_limits * sizeof(*options));
	options[i + nr_limits] = plan_explain_option;
	return options;
}

void plan_parse(struct plan_args *args, int argc, char **argv)
{
	struct argp_option *options = plan_make_options(args);
	struct argp_child children[] = { { .argp = &options_argp }, { .argp = args->own }, { 0 } };
	struct argp argp = {
		.options = options, .parser = plan_parse_key, .args_doc = args->args_doc,
		.doc = args->doc, .children = children,
	};
	size_t i;

	args->values = memory_zeroed(args->nr_inputs, sizeof(*args->values));
	args->given = memory_zeroed(args->nr_inputs, sizeof(*args->given));
	for (i = 0; i < args->nr_inputs; i++)
		args->values[i] = args->inputs[i].value;
	options_parse(&argp, 0, argc, argv, args);
	free(options);
}

void plan_free_args(struct plan_args *args)
{
	free(args->values);
	free(args->given);
	device_free(&args->device);
}

void plan_set_inputs(const struct plan_args *args, struct plan_vars *vars)
{
	size_t i;

	for (i = 0; i < args->nr_inputs; i++)
		plan_set(vars, args->inputs[i].name, args->values[i]);
}

void plan_set_target(struct plan_part *part, const struct plan_args *args)
{
	if (args->cgroup)
		part->cgroup = memory_string(args->cgroup);
	if (args->device.name)
		part->device = device_format(&args->device);
}
