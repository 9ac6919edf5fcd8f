// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg: limits and usage of RDMA resources by cgroup.
 *
 * This file finds the command and calls it. Each command is a function in a file of its own.
 */
#include <locale.h>

#include "lib/lib.h"

static const struct command main_list[] = {
	{ "show", cmd_show, "usage, limits, peaks and refusals of cgroups" },
	{ "set", cmd_set, "set limits" },
	{ "why", cmd_why, "say which limits refused, or which other cause it was" },
	{ "run", cmd_run, "run a command in a cgroup of its own, and say what it needed" },
	{ "watch", cmd_watch, "a line for each refusal, as it happens" },
	{ "apply", cmd_apply, "bring the limits of files into effect, also of later devices" },
	{ "top", cmd_top, "which cgroup is how close to a limit, live" },
	{ "doctor", cmd_doctor, "check this machine" },
	{ "export", cmd_export, "numbers for a machine that scrapes" },
	{ "plan", cmd_plan, "say which limits a program needs, and why" },
	{ "oci-hook", cmd_oci_hook, "set the limits of a container that is about to start" },
	{ "slurm-step", cmd_slurm_step, "set the limits of a job of Slurm and its step" },
	{ 0 }
};

static const struct commands main_commands = { "Commands", "command", main_list };

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
	.doc =
		"Limits and usage of RDMA resources by cgroup.\vrdmacg COMMAND --help says more, and rdmacg(8).",
	.commands = &main_commands,
};

int main(int argc, char **argv)
{
	char *help[3] = { NULL, (char *)"--help" };
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
	status = command_run(&main_commands, "rdmacg", argc, words);
	if (!say_finish() && status == EXIT_DONE)
		status = EXIT_FAILED;
	return status;
}
