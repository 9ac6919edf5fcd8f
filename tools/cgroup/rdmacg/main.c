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
	{ "top", cmd_top, "which cgroup is how close to a limit, live" },
	{ "doctor", cmd_doctor, "check this machine" },
	{ "export", cmd_export, "numbers for a machine that scrapes" },
	{ "plan", cmd_plan, "say which limits a program needs, and why" },
	{ "oci-hook", cmd_oci_hook, "set the limits of a container that is about to start" },
	{ "slurm-step", cmd_slurm_step, "set the limits of a job of Slurm and its step" },
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
	char *help = NULL;
	size_t size, i;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	to = memory_check(open_memstream(&help, &size));
	fputs("Commands:\n", to);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\nrdmacg COMMAND --help says more, and rdmacg(8).", to);
	fclose(to);
	return help;
}

static void main_print_version(const char *text, void *to)
{
	(void)text;
	(void)to;
	puts("rdmacg 0.1");
	exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

static const struct choice main_choices[] = {
	{ "version", 'V', NULL, "the version", main_print_version, NULL },
	{ 0 }
};

static const struct syntax main_syntax = {
	.lists = { main_choices },
	.most = INT_MAX,
	.in_order = true,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "Limits and usage of RDMA resources by cgroup.\v",
	.help_filter = main_help,
};

int main(int argc, char **argv)
{
	char *help[3] = { NULL, (char *)"--help" };
	const struct command *command;
	char **words;
	int status;

	setlocale(LC_CTYPE, "");
	argv[0] = (char *)"rdmacg";
	words = options_read(&main_syntax, argc, argv);
	argc -= words - argv;
	if (!argc) {
		say_note("no command given; see rdmacg --help");
		return EXIT_USAGE;
	}
	/* "rdmacg help" and "rdmacg help COMMAND" are --help. */
	if (!strcmp(words[0], "help")) {
		help[0] = argc > 1 ? words[1] : argv[0];
		words = help;
		if (argc == 1)
			options_read(&main_syntax, 2, words);
		argc = 2;
	}
	command = main_find(words[0]);
	if (!command) {
		main_say_unknown(words[0]);
		return EXIT_USAGE;
	}
	words[0] = memory_format("rdmacg %s", command->name);
	status = command->run(argc, words);
	if (!say_finish() && status == EXIT_DONE)
		status = EXIT_FAILED;
	free(words[0]);
	return status;
}
