// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: sizes for limits, each with its formula and source. */
#include <stdio.h>
#include <string.h>

#include "plan.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *doc;
} plan_forms[] = {
	{ "lnet", plan_lnet, "what Lustre's o2iblnd takes from a device, by release" },
	{ "qemu", plan_qemu, "migration of a virtual machine over RDMA" },
	{ "nccl", plan_nccl, "NCCL over InfiniBand or RoCE" },
	{ "ucx", plan_ucx, "UCX, such as below Open MPI" },
	{ "libfabric", plan_libfabric, "libfabric with the verbs provider" },
	{ "ceph", plan_ceph, "Ceph's messenger over RDMA" },
	{ "peak", plan_peak, "from what cgroups were seen to use" },
	{ "share", plan_share, "a device shared among cgroups" },
};

static void plan_help(void)
{
	size_t i;

	puts("Usage: rdmacg plan FORM [OPTION...]\n"
	     "Sizes for limits. The output is what \"rdmacg apply\" reads, or JSON with --json;\n"
	     "--explain says the formula and the source of each number.\n");
	for (i = 0; i < PLAN_COUNT(plan_forms); i++)
		printf("  %-10s %s\n", plan_forms[i].name, plan_forms[i].doc);
	puts("\nSee rdmacg plan FORM --help.");
}

int cmd_plan(int argc, char **argv)
{
	char shown[PLAN_SHOWN];
	size_t i;

	if (argc < 2)
		return plan_misuse("plan", "no form; see rdmacg plan --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?")) {
		plan_help();
		return 0;
	}
	for (i = 0; i < PLAN_COUNT(plan_forms); i++) {
		if (!strcmp(argv[1], plan_forms[i].name))
			return plan_forms[i].run(argc - 1, argv + 1);
	}
	return plan_misuse("plan", "there is no form '%s'; see rdmacg plan --help",
			   plan_show(shown, argv[1], strlen(argv[1])));
}
