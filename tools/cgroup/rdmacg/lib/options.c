// SPDX-License-Identifier: GPL-2.0
/* rdmacg: options that each command has. */
#include "lib/lib.h"

enum { OPTIONS_USAGE = OPTIONS_KEY - 1 };

struct options options;

static const struct argp_option options_common[] = {
	{ "json", 'j', NULL, 0, "JSON instead of text", -1 },
	{ "pretty", 'p', NULL, 0, "JSON on several lines", -1 },
	{ "help", 'h', NULL, 0, "this text", -1 },
	{ "usage", OPTIONS_USAGE, NULL, 0, "all options in short", -1 },
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
	say_error(where, "%s; --help says more", reason);
	free(reason);
	exit(EXIT_USAGE);
}

/*
 * glibc prints an option that it does not know as it is. So those that no terminal should
 * see do not get there. In order means that a command with words of its own may follow.
 */
static void options_check(char * const *words, bool in_order)
{
	for (words++; *words && strcmp(*words, "--") && !(in_order && **words != '-'); words++) {
		char *escaped = text_escape(*words);
		bool good = **words != '-' || !strcmp(*words, escaped);

		free(escaped);
		if (!good)
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

bool options_parse_pid(const char *text, int *pid)
{
	uint64_t number;

	if (!number_parse(text, strlen(text), &number) || !number || number > INT_MAX) {
		say_error(text, "is not the number of a process");
		return false;
	}
	*pid = number;
	return true;
}

uint64_t options_parse_margin(const char *text)
{
	size_t length = strlen(text);
	uint64_t margin;

	if (length && text[length - 1] == '%')
		length--;
	if (!number_parse_thousandths(text, length, &margin))
		options_fail(text, "a margin is a percentage, such as 20%%");
	return margin;
}
