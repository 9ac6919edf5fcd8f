// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: sizes for limits, each with its formula and source. */
#include "lib/lib.h"
#include "plan/plan.h"

static const struct plan_form * const plan_list[] = {
	&lnet_form, &qemu_form, &nccl_form, &ucx_form, &libfabric_form, &ceph_form, &share_form,
};

/* The forms as commands; the last one stays empty. */
static struct command plan_commands[ARRAY_SIZE(plan_list) + 1];

static const struct commands plan_forms = { "Forms", "form", plan_commands };

static const struct syntax plan_syntax = {
	.needs = "which form?",
	.most = INT_MAX,
	.in_order = true,
	.args_doc = "FORM [ARGUMENT...]",
	.doc =
		"Say which limits a program needs: the lines of a file of limits, each with --explain by its formula and the source of that.\vrdmacg plan FORM --help says more.",
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
