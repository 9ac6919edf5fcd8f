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
	char *help = NULL;
	size_t size, i;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	to = memory_check(open_memstream(&help, &size));
	fputs("Forms:\n", to);
	for (i = 0; i < ARRAY_SIZE(plan_forms); i++)
		fprintf(to, "  %-10s %s\n", plan_forms[i].name, plan_forms[i].help);
	fputs("\nrdmacg plan FORM --help says more.", to);
	fclose(to);
	return help;
}

static const struct syntax plan_syntax = {
	.needs = "which form?",
	.most = INT_MAX,
	.in_order = true,
	.args_doc = "FORM [ARGUMENT...]",
	.doc =
		"Say which limits a program needs: the lines of a file of limits, each with --explain by its formula and the source of that.\v",
	.help_filter = plan_help,
};

int cmd_plan(int argc, char **argv)
{
	char **words = options_read(&plan_syntax, argc, argv);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plan_forms); i++) {
		if (strcmp(words[0], plan_forms[i].name))
			continue;
		words[0] = memory_format("%s %s", argv[0], plan_forms[i].name);
		plan_forms[i].run(argc - (words - argv), words);
		free(words[0]);
		return EXIT_DONE;
	}
	options_fail(words[0], "plan has no such form");
}
