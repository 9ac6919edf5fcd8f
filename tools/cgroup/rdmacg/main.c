// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg: limits and usage of RDMA resources by cgroup.
 *
 * This finds the command and calls it; each one is a function in a file of its own.
 */
#include <locale.h>

#include "lib/lib.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{ "show", cmd_show, "usage, limits, peaks and refusals of cgroups" },
	{ "set", cmd_set, "set limits" },
	{ "why", cmd_why, "say which limits refused, or what else it was" },
	{ "run", cmd_run, "run a command in a cgroup of its own, and say what it needed" },
	{ "watch", cmd_watch, "a line for each refusal, as it happens" },
	{ "apply", cmd_apply, "bring the limits of files into effect, also when devices come" },
	{ "top", cmd_top, "who is how close to a limit, live" },
	{ "doctor", cmd_doctor, "check this machine" },
	{ "export", cmd_export, "numbers for a machine that scrapes" },
	{ "plan", cmd_plan, "say which limits a program needs, and why" },
	{ "oci-hook", cmd_oci_hook, "set the limits of a container that is about to start" },
	{ "slurm-step", cmd_slurm_step, "set the limits of a job of Slurm and its step" },
};

#define MAIN_VERSION "rdmacg 0.1"

static const struct argp_option main_options[] = {
	{ "version", 'V', NULL, 0, "the version", -1 },
	{ 0 }
};

static const struct command *main_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* How many letters differ, are missing or too many, at most one in each place. */
static size_t main_distance(const char *a, const char *b)
{
	size_t best, other;

	if (!*a || !*b)
		return strlen(a) + strlen(b);
	if (*a == *b)
		return main_distance(a + 1, b + 1);
	best = main_distance(a + 1, b + 1);
	other = main_distance(a + 1, b);
	best = other < best ? other : best;
	other = main_distance(a, b + 1);
	return 1 + (other < best ? other : best);
}

/* The command that was meant, where one is close; NULL where none is. */
static const char *main_suggest(const char *name)
{
	const char *closest = NULL;
	size_t least = 3, distance, i;

	/* The search takes exponential time in the length. */
	if (strlen(name) > 10)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		distance = main_distance(name, commands[i].name);
		if (distance >= least || distance >= strlen(name))
			continue;
		least = distance;
		closest = commands[i].name;
	}
	return closest;
}

static void main_say_unknown(const char *name)
{
	const char *meant = main_suggest(name);

	if (meant)
		say_error(name, "there is no such command; did you mean %s?", meant);
	else
		say_error(name, "there is no such command; rdmacg --help lists them");
}

/* The table of commands, at the end of the help. */
static char *main_help(int key, const char *text, void *input)
{
	char *help, *more;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	help = memory_string("Commands:\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		more = memory_format("%s  %-10s %s\n", help, commands[i].name, commands[i].help);
		free(help);
		help = more;
	}
	more = memory_format("%s\nrdmacg COMMAND --help says more, and rdmacg(8).", help);
	free(help);
	return more;
}

/* Where the command stands among the words. */
static error_t main_parse(int key, char *arg, struct argp_state *state)
{
	int *command = state->input;

	(void)arg;
	if (key == 'V') {
		puts(MAIN_VERSION);
		exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
	}
	if (key == ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (key == ARGP_KEY_ARGS) {
		*command = state->next;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS) {
		say_note("no command given; see rdmacg --help");
		exit(EXIT_USAGE);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp main_argp = {
	.options = main_options,
	.parser = main_parse,
	.children = options_child,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "Limits and usage of RDMA resources by cgroup.\v",
	.help_filter = main_help,
};

int main(int argc, char **argv)
{
	const struct command *command;
	char *help[3] = { NULL, (char *)"--help" };
	int first = argc;
	int status;

	setlocale(LC_CTYPE, "");
	argv[0] = (char *)"rdmacg";
	options_parse(&main_argp, ARGP_IN_ORDER, argc, argv, &first);
	/* "rdmacg help" and "rdmacg help COMMAND" are --help. */
	if (!strcmp(argv[first], "help")) {
		argv[first] = argc - first > 1 ? argv[first + 1] : argv[first];
		help[0] = argv[first];
		argv = help;
		argc = 2;
		if (!strcmp(argv[0], "help")) {
			argv[0] = (char *)"rdmacg";
			options_parse(&main_argp, ARGP_IN_ORDER, argc, argv, &first);
		}
		first = 0;
	}
	command = main_find(argv[first]);
	if (!command) {
		main_say_unknown(argv[first]);
		return EXIT_USAGE;
	}
	argv[first] = memory_format("rdmacg %s", command->name);
	status = command->run(argc - first, argv + first);
	if (!say_finish() && status == EXIT_DONE)
		status = EXIT_FAILED;
	free(argv[first]);
	return status;
}
