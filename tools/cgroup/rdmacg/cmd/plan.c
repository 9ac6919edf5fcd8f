// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: limits that a program needs, each with its formula and source. */
#include "lib/lib.h"
#include "plan/plan.h"

static const struct plan_form * const plan_list[] = {
	&lnet_form, &qemu_form, &nccl_form, &ucx_form, &libfabric_form, &ceph_form, &share_form,
};

/* The forms as commands. An empty command ends the list. */
static struct command plan_commands[ARRAY_SIZE(plan_list) + 1];

static const struct commands plan_forms = { "Forms", "form", plan_commands };

static const struct syntax plan_syntax = {
	.needs = "a FORM is missing",
	.in_order = true,
	.args_doc = "FORM [ARGUMENT...]",
	.doc =
		"Print the limits that a program needs as lines of a file of limits, and with --explain the formula of each number and its source.\vSee also rdmacg plan FORM --help.",
	.commands = &plan_forms,
};

/* argv[0] is "rdmacg plan FORM". */
static int plan_run_form(int argc, char **argv)
{
	size_t i = 0;

	while (strcmp(plan_list[i]->name, strchr(argv[0], ' ') + 1))
		i++;
	return plan_run(plan_list[i], argc, argv);
}

int cmd_plan(int argc, char **argv)
{
	char **words;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plan_list); i++)
		plan_commands[i] = (struct command){ strchr(plan_list[i]->name, ' ') + 1,
						     plan_run_form, plan_list[i]->help };
	words = options_read(&plan_syntax, argc, argv);
	return command_run(&plan_forms, argv[0], argc - (words - argv), words);
}
