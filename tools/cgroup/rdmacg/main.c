// SPDX-License-Identifier: GPL-2.0
/* rdmacg: limits and usage of RDMA resources by cgroup. The commands are in other folders. */
#include <sys/auxv.h>

#include "lib/lib.h"

static const struct command main_list[] = {
	{ "show", cmd_show, "show usage, limits, peaks and refusals of cgroups" },
	{ "set", cmd_set, "set limits" },
	{ "why", cmd_why, "say which limit or other cause made a program fail" },
	{ "run", cmd_run, "run a command in a cgroup of its own, and report its peaks" },
	{ "watch", cmd_watch, "print a line for each refusal when it happens" },
	{ "apply", cmd_apply, "set the limits in files, also for devices that appear later" },
	{ "save", cmd_save, "print the present limits in the form of such a file" },
	{ "top", cmd_top, "show live which cgroups are close to a limit" },
	{ "doctor", cmd_doctor, "check this machine" },
	{ "export", cmd_export, "print metrics for Prometheus" },
	{ "plan", cmd_plan, "say which limits a program needs, and why" },
	{ 0 }
};

static void main_print_version(const char *text, void *to)
{
	puts("rdmacg " RDMACG_VERSION);
	exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

static const struct syntax main_syntax = {
	.choices = {
		{ "version", 'V', "the version", NULL, NULL, main_print_version },
	},
	.in_order = true, .args_doc = "COMMAND [ARGUMENT...]",
	.example = "rdmacg show --help",
	.doc =
		"Limits and usage of RDMA resources by cgroup.\vSee also rdmacg COMMAND --help and rdmacg(8).",
	.commands = main_list, .kind = "command",
};

static int main_command(int argc, char **argv)
{
	int names = argc > 3 && !strcmp(argv[2], "plan") ? 2 : min(argc - 2, 1);
	char **words;

	/* "rdmacg help", "rdmacg help COMMAND" and "rdmacg help plan FORM" are --help. */
	if (argc > 1 && !strcmp(argv[1], "help")) {
		memmove(&argv[1], &argv[2], names * sizeof(*argv));
		argv[names + 1] = (char *)"--help";
	}
	words = options_read(&main_syntax, argc, argv);
	if (!words[0])
		say_and_exit(EXIT_USAGE, NULL, "no command given; see rdmacg --help");
	if (!strcmp(words[0], "oci-hook") || !strcmp(words[0], "slurm-step"))
		say_and_exit(EXIT_USAGE, words[0], "is a program of its own, in libexec/rdmacg");
	return command_run(&main_syntax, "rdmacg", words);
}

/* Container runtimes and Slurm run the programs in libexec, which are links to rdmacg. */
static const struct command main_programs[] = {
	{ "oci-hook", cmd_oci_hook }, { "slurm-step", cmd_slurm_step }, { "rdmacg", main_command },
};

int main(int argc, char **argv)
{
	/* A container runtime may set any argv[0], so take the program's name from its path. */
	const char *name = basename((const char *)getauxval(AT_EXECFN));
	const struct command *program = main_programs;
	int status;

	text_init();
	while (program->run != main_command && strcmp(program->name, name))
		program++;
	argv[0] = (char *)program->name;
	status = program->run(argc, argv);
	return say_finish() || (status && status != EXIT_DIFFERS) ? status : EXIT_FAILED;
}
