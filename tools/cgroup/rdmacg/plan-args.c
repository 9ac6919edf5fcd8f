// SPDX-License-Identifier: GPL-2.0
/*
 * What the forms of "rdmacg plan" have in common on the command line: the options that say
 * where limits go and how they are shown, and inputs of formulas as options of their own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum plan_key {
	PLAN_KEY_HELP = 'h',
	PLAN_KEY_JSON = 'j',
	PLAN_KEY_PRETTY = 'p',
	PLAN_KEY_EXPLAIN = 0x100,
	PLAN_KEY_CGROUP,
	PLAN_KEY_DEVICE,
	PLAN_KEY_INPUT,		/* of the first input; the others follow */
};

static const struct argp_option plan_common_options[] = {
	{ "json", PLAN_KEY_JSON, NULL, 0, "Print JSON", 100 },
	{ "pretty", PLAN_KEY_PRETTY, NULL, 0, "Print JSON over several lines", 100 },
	{ "explain", PLAN_KEY_EXPLAIN, NULL, 0,
	  "Say the formula and the source of each number", 100 },
	{ "help", PLAN_KEY_HELP, NULL, 0, "Say this", 100 },
	{ 0 }
};

static const struct argp_option plan_limit_options[] = {
	{ "cgroup", PLAN_KEY_CGROUP, "CGROUP", 0, "The cgroup that the limits are for", 90 },
	{ "device", PLAN_KEY_DEVICE, "DEVICE", 0, "The device that the limits are for", 90 },
	{ 0 }
};

int plan_set_input(const struct plan_input *input, const char *where, const char *text,
		   uint64_t *value)
{
	int ret = plan_parse_number(text, value);
	char shown[PLAN_SHOWN];

	plan_show(shown, text, strlen(text));
	if (ret == -ERANGE)
		return plan_misuse(where, "'%s' does not fit in 64 bits; give a smaller number",
				   shown);
	if (ret)
		return plan_misuse(where,
				   "'%s' is no number; give digits, and K, M, G, T, P or E for powers of 1024",
				   shown);
	if (*value < input->min || *value > input->max)
		return plan_misuse(where, "'%s' is out of range; give %ju to %ju",
				   shown, input->min, input->max);
	return 0;
}

static error_t plan_parse_input(struct plan_args *args, size_t i, const char *text)
{
	char *where = plan_format("%s --%s", args->form, args->inputs[i].option);
	int status = plan_set_input(&args->inputs[i], where, text, &args->values[i]);

	free(where);
	args->given[i] = true;
	return status ? PLAN_REFUSED : 0;
}

/* A name goes into a file that apply reads: nothing in it may end its line or section. */
static error_t plan_parse_name(struct plan_args *args, int key, const char *text)
{
	bool is_device = key == PLAN_KEY_DEVICE;
	char shown[PLAN_SHOWN];
	char *where;

	if (is_device ? plan_is_device(text) : plan_is_name(text, strlen(text))) {
		*(is_device ? &args->device : &args->cgroup) = text;
		return 0;
	}
	where = plan_format("%s --%s", args->form, is_device ? "device" : "cgroup");
	plan_misuse(where,
		    "'%s' cannot stand in a file of limits; give a name of printable ASCII without blanks, #, [ and ]",
		    plan_show(shown, text, strlen(text)));
	free(where);
	return PLAN_REFUSED;
}

/* All options were seen: those that are needed have to be among them. */
static error_t plan_check_needed(struct plan_args *args)
{
	size_t i;

	for (i = 0; i < args->nr_inputs; i++) {
		if (!args->inputs[i].is_needed || args->given[i])
			continue;
		plan_misuse(args->form, "--%s is missing; give it, or see %s --help",
			    args->inputs[i].option, args->name);
		return PLAN_REFUSED;
	}
	return 0;
}

static error_t plan_parse_word(struct plan_args *args, const char *word)
{
	char shown[PLAN_SHOWN];

	plan_misuse(args->form, "'%s' is one word too many; see %s --help",
		    plan_show(shown, word, strlen(word)), args->name);
	return PLAN_REFUSED;
}

static void plan_help(const struct plan_args *args, const struct argp *argp)
{
	argp_help(argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
		  args->name);
	exit(fflush(stdout) ? PLAN_FAILED : 0);
}

static error_t plan_parse_key(int key, char *arg, struct argp_state *state)
{
	struct plan_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		if (args->own)
			state->child_inputs[0] = args->own_input;
		/* getopt says what is wrong with an option; argp's hint has another form. */
		state->err_stream = NULL;
		return 0;
	case PLAN_KEY_HELP:
		plan_help(args, state->root_argp);
		return 0;
	case PLAN_KEY_PRETTY:
		args->pretty = true;
		args->json = true;
		return 0;
	case PLAN_KEY_JSON:
		args->json = true;
		return 0;
	case PLAN_KEY_EXPLAIN:
		args->explain = true;
		return 0;
	case PLAN_KEY_CGROUP:
	case PLAN_KEY_DEVICE:
		return plan_parse_name(args, key, arg);
	case ARGP_KEY_ARG:
		return args->takes_words ? ARGP_ERR_UNKNOWN : plan_parse_word(args, arg);
	case ARGP_KEY_END:
		return plan_check_needed(args);
	}
	if (key >= PLAN_KEY_INPUT && key < PLAN_KEY_INPUT + (int)args->nr_inputs)
		return plan_parse_input(args, (size_t)(key - PLAN_KEY_INPUT), arg);
	return ARGP_ERR_UNKNOWN;
}

/* The inputs, then @limits if they make sense, then what all forms have. To be freed. */
static struct argp_option *plan_make_options(const struct plan_args *args)
{
	size_t nr_limits = args->has_limits ? 2 : 0;
	size_t nr = args->nr_inputs + nr_limits + PLAN_COUNT(plan_common_options);
	struct argp_option *options = plan_grow(NULL, nr, sizeof(*options));
	size_t i;

	memset(options, 0, nr * sizeof(*options));
	for (i = 0; i < args->nr_inputs; i++) {
		options[i].name = args->inputs[i].option;
		options[i].key = PLAN_KEY_INPUT + (int)i;
		options[i].arg = "N";
		options[i].doc = args->inputs[i].doc;
	}
	memcpy(options + i, plan_limit_options, nr_limits * sizeof(*options));
	memcpy(options + i + nr_limits, plan_common_options, sizeof(plan_common_options));
	return options;
}

/* The numbers as they are without options. */
static void plan_init_values(struct plan_args *args)
{
	size_t i;

	args->values = plan_grow(NULL, args->nr_inputs + 1, sizeof(*args->values));
	args->given = plan_grow(NULL, args->nr_inputs + 1, sizeof(*args->given));
	for (i = 0; i < args->nr_inputs; i++) {
		args->values[i] = args->inputs[i].value;
		args->given[i] = false;
	}
}

/* getopt repeats an option that it does not know as it is. */
static error_t plan_check_options(const struct plan_args *args, int argc, char **argv)
{
	char shown[PLAN_SHOWN];
	const char *c;
	int i;

	for (i = 1; i < argc; i++) {
		for (c = argv[i]; *argv[i] == '-' && *c; c++) {
			if (*c >= ' ' && *c != 0x7f)
				continue;
			plan_misuse(args->form, "'%s' is no option; see %s --help",
				    plan_show(shown, argv[i], strlen(argv[i])), args->name);
			return PLAN_REFUSED;
		}
	}
	return 0;
}

int plan_parse(struct plan_args *args, int argc, char **argv)
{
	struct argp_option *options = plan_make_options(args);
	struct argp_child children[] = { { args->own, 0, NULL, 0 }, { 0 } };
	struct argp argp = {
		options, plan_parse_key, args->args_doc, args->doc,
		args->own ? children : NULL, NULL, NULL
	};
	/* getopt sorts the words, so it gets a copy; the first one begins its messages. */
	char **words = plan_grow(NULL, (size_t)argc + 1, sizeof(*words));
	char *begin = plan_format("rdmacg: %s", args->form);
	error_t error;

	plan_init_values(args);
	args->name = plan_format("rdmacg %s", args->form);
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	words[0] = begin;
	error = plan_check_options(args, argc, argv);
	if (!error)
		error = argp_parse(&argp, argc, words, ARGP_NO_HELP | ARGP_NO_EXIT, NULL, args);
	if (error && error != PLAN_REFUSED)
		plan_misuse(args->form, "see %s --help", args->name);
	free(options);
	free(words);
	free(begin);
	return error ? PLAN_USAGE : 0;
}

void plan_free_args(struct plan_args *args)
{
	free(args->values);
	free(args->given);
	free(args->name);
}

void plan_set_inputs(const struct plan_args *args, struct plan_vars *vars)
{
	size_t i;

	for (i = 0; i < args->nr_inputs; i++)
		plan_set(vars, args->inputs[i].name, args->values[i]);
}
