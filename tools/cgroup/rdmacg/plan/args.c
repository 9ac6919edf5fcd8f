// SPDX-License-Identifier: GPL-2.0
/*
 * What the forms of "rdmacg plan" have in common on the command line: the options that say
 * where limits go and how they are shown, and inputs of formulas as options of their own.
 */
#include "core/core.h"
#include "plan/plan.h"

enum plan_key {
	PLAN_KEY_EXPLAIN = OPTIONS_KEY,
	PLAN_KEY_CGROUP,
	PLAN_KEY_DEVICE,
	PLAN_KEY_DRIVER,
	PLAN_KEY_INPUT,		/* of the first input; the others follow */
};

static const struct argp_option plan_options[] = {
	{ "explain", PLAN_KEY_EXPLAIN, NULL, 0, "the formula and the source of each number", 100 },
	{ "cgroup", PLAN_KEY_CGROUP, "CGROUP", 0, "the cgroup that the limits are for", 90 },
	{ "device", PLAN_KEY_DEVICE, "DEVICE", 0, "the device that the limits are for", 90 },
	{ "driver", PLAN_KEY_DRIVER, "NAME", 0,
	  "the driver whose queues are added to mr_mem (that of --device)", 90 },
};

uint64_t plan_parse_number(const struct plan_input *input, const char *text)
{
	uint64_t value;

	if (!number_parse_human(text, true, &value))
		options_fail(text,
			     "--%s is a number, or one with K, M, G, T, P or E; at most %" PRIu64,
			     input->option, input->max);
	if (value < input->min || value > input->max)
		options_fail(text, "--%s is %" PRIu64 " to %" PRIu64, input->option, input->min,
			     input->max);
	return value;
}

void plan_parse_device(struct device *device, const char *text)
{
	/* Where a line ends its device is known in one place; it looks for an amount. */
	char *copy = memory_format("%s =", text);
	char *rest = copy;
	struct line line;

	if (!line_next(&rest, &line) || *line.rest != '=')
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
		args->cgroup = arg;
		return 0;
	case PLAN_KEY_DEVICE:
		device_free(&args->device);
		plan_parse_device(&args->device, arg);
		return 0;
	case PLAN_KEY_DRIVER:
		args->driver = arg;
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

/* The inputs, then what the form has of plan_options[]. To be freed. */
static struct argp_option *plan_make_options(const struct plan_args *args)
{
	size_t nr_common = args->has_memory ? 4 : args->has_limits ? 3 : 1;
	/* The last one stays zero, which ends the list. */
	struct argp_option *options = memory_zeroed(args->nr_inputs + nr_common + 1,
						    sizeof(*options));
	size_t i;

	for (i = 0; i < args->nr_inputs; i++) {
		options[i].name = args->inputs[i].option;
		options[i].key = PLAN_KEY_INPUT + (int)i;
		options[i].arg = "N";
		options[i].doc = args->inputs[i].doc;
	}
	memcpy(options + i, plan_options, nr_common * sizeof(*options));
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

struct plan_part *plan_begin(struct plan *plan, const struct plan_args *args, const char *title)
{
	struct plan_part *part;

	plan->form = args->form;
	plan->read = args->read;
	part = plan_add_part(plan, "%s", title);
	if (args->cgroup)
		part->cgroup = memory_string(args->cgroup);
	if (args->device.name)
		part->device = device_format(&args->device);
	return part;
}
