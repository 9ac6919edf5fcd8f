// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: sizes for limits, each with its formula and source. */
#include "lib/lib.h"
#include "plan/plan.h"

static const struct {
	const char *name;
	void (*run)(int argc, char **argv);
	const char *help;
} plan_forms[] = {
	{ "lnet", plan_lnet, "what Lustre's o2iblnd takes from a device, by release" },
	{ "qemu", plan_qemu, "migration of a virtual machine over RDMA" },
	{ "nccl", plan_nccl, "NCCL over InfiniBand or RoCE" },
	{ "ucx", plan_ucx, "UCX, such as below Open MPI" },
	{ "libfabric", plan_libfabric, "libfabric with the verbs provider" },
	{ "ceph", plan_ceph, "Ceph's messenger over RDMA" },
	{ "share", plan_share, "a device shared among cgroups" },
};

/* The table of forms, at the end of the help. */
static char *plan_help(int key, const char *text, void *input)
{
	char *help, *more;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	help = memory_string("Forms:\n");
	for (i = 0; i < ARRAY_SIZE(plan_forms); i++) {
		more = memory_format("%s  %-10s %s\n", help, plan_forms[i].name,
				     plan_forms[i].help);
		free(help);
		help = more;
	}
	more = memory_format("%s\nrdmacg plan FORM --help says more.", help);
	free(help);
	return more;
}

/* Where the form stands among the words. */
static error_t plan_parse_form(int key, char *arg, struct argp_state *state)
{
	int *form = state->input;

	(void)arg;
	if (key == ARGP_KEY_ARGS) {
		*form = state->next;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS)
		options_fail("plan", "which form?");
	return ARGP_ERR_UNKNOWN;
}

static const struct argp plan_argp = {
	.parser = plan_parse_form,
	.children = options_child,
	.args_doc = "FORM [ARGUMENT...]",
	.doc =
		"Say which limits a program needs: the lines of a file of limits, each with --explain by its formula and the source of that.\v",
	.help_filter = plan_help,
};

int cmd_plan(int argc, char **argv)
{
	int first;
	size_t i;

	options_parse(&plan_argp, ARGP_IN_ORDER, argc, argv, &first);
	for (i = 0; i < ARRAY_SIZE(plan_forms); i++) {
		if (strcmp(argv[first], plan_forms[i].name))
			continue;
		argv[first] = memory_format("%s %s", argv[0], plan_forms[i].name);
		plan_forms[i].run(argc - first, argv + first);
		free(argv[first]);
		return EXIT_DONE;
	}
	options_fail(argv[first], "plan has no such form");
}
