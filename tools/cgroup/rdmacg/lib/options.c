// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the options of commands. */
#include "lib/lib.h"

enum { OPTIONS_USAGE = OPTIONS_KEY - 1 };

struct options options;

static const struct argp_option options_common[] = {
	{ "json", 'j', NULL, 0, "JSON instead of text", -1 },
	{ "pretty", 'p', NULL, 0, "JSON on several lines", -1 },
	{ "help", 'h', NULL, 0, "this text", -1 },
	{ "usage", OPTIONS_USAGE, NULL, 0, "a short list of all options", -1 },
	{ 0 }
};

static error_t options_parse_common(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case 'j':
		options.json = true;
		return 0;
	case 'p':
		options.json = true;
		options.pretty = true;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
		exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
	case OPTIONS_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE);
		exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp options_argp = {
	.options = options_common,
	.parser = options_parse_common,
};

const struct argp_child options_child[] = {
	{ .argp = &options_argp },
	{ 0 }
};

void options_fail(const char *where, const char *format, ...)
{
	va_list args;
	char *reason;

	va_start(args, format);
	reason = memory_vformat(format, args);
	va_end(args);
	say_error(where, "%s; see --help", reason);
	free(reason);
	exit(EXIT_USAGE);
}

/*
 * glibc prints an unknown option without escapes, so refuse such an option before glibc sees it.
 * @in_order means that a command with words of its own may follow.
 */
static void options_check(char * const *words, bool in_order)
{
	for (words++; *words && strcmp(*words, "--") && !(in_order && **words != '-'); words++) {
		char *escaped __autofree = text_escape(*words);

		if (**words == '-' && strcmp(*words, escaped))
			options_fail(*words, "there is no such option");
	}
}

void options_parse(const struct argp *argp, unsigned int flags, int argc, char **argv, void *input)
{
	error_t error;

	options_check(argv, flags & ARGP_IN_ORDER);
	argp_err_exit_status = EXIT_USAGE;
	error = argp_parse(argp, argc, argv, flags | ARGP_NO_HELP, NULL, input);
	if (error) {
		say_error(argv[0], "%s", strerror(error));
		exit(EXIT_USAGE);
	}
}

/* The state while a syntax is parsed. */
struct reading {
	const struct syntax *syntax;
	/* The choices of all lists in the form of argp, in the same order. */
	struct argp_option *options;
	size_t nr_options;
	char **args;
};

static const struct choice *options_choice(const struct syntax *syntax, size_t number)
{
	const struct choice *choice;
	size_t i;

	for (i = 0; i < SYNTAX_LISTS && syntax->lists[i]; i++)
		for (choice = syntax->lists[i]; choice->name; choice++)
			if (!number--)
				return choice;
	return NULL;
}

static error_t options_take(int key, char *arg, struct argp_state *state)
{
	struct reading *reading = state->input;
	const struct choice *choice;
	size_t i;

	if (key == ARGP_KEY_ARGS && state->argc - state->next <= reading->syntax->most) {
		reading->args = state->argv + state->next;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS && reading->syntax->needs)
		options_fail(strrchr(state->argv[0], ' ') + 1, "%s", reading->syntax->needs);
	for (i = 0; i < reading->nr_options; i++) {
		if (key != reading->options[i].key)
			continue;
		choice = options_choice(reading->syntax, i);
		if (choice->take)
			choice->take(arg, choice->to);
		else
			*(bool *)choice->to = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *options_help(int key, const char *text, void *input)
{
	struct reading *reading = input;

	return command_help(key, text, (void *)reading->syntax->commands);
}

char **options_read(const struct syntax *syntax, int argc, char **argv)
{
	struct reading reading = { .syntax = syntax, .args = argv + argc };
	struct argp argp = {
		.parser = options_take, .args_doc = syntax->args_doc, .doc = syntax->doc,
		.children = options_child, .help_filter = options_help,
	};
	const struct choice *choice;
	struct argp_option *option;

	while ((choice = options_choice(syntax, reading.nr_options))) {
		option = memory_append(&reading.options, &reading.nr_options, sizeof(*option));
		option->name = choice->name;
		option->key = choice->letter ? choice->letter :
					       OPTIONS_KEY + (int)reading.nr_options;
		option->arg = choice->arg;
		option->doc = choice->help;
	}
	/* An empty option ends argp's list. argp does not accept a list without other options. */
	if (reading.nr_options) {
		reading.options = memory_grow(reading.options, reading.nr_options,
					      sizeof(*reading.options));
		argp.options = reading.options;
	}
	options_parse(&argp, syntax->in_order ? ARGP_IN_ORDER : 0, argc, argv, &reading);
	free(reading.options);
	return reading.args;
}

void options_take_text(const char *text, void *to)
{
	*(const char **)to = text;
}

void options_take_count(const char *text, void *to)
{
	uint64_t *count = to;

	if (!number_parse(text, strlen(text), count) || !*count)
		options_fail("-n", "%s: must be a number of at least 1", text);
}

void options_take_margin(const char *text, void *to)
{
	size_t length = strlen(text);

	if (length && text[length - 1] == '%')
		length--;
	if (!number_parse_thousandths(text, length, to))
		options_fail(text, "the margin must be a percentage, such as 20%%");
}
