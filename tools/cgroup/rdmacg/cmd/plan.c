// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: sizes for limits, each with its formula and source. */
#include "lib/lib.h"
#include "plan/plan.h"

static const struct command plan_list[] = {
	{ "lnet", plan_lnet, "what Lustre's o2iblnd takes from a device, by release" },
	{ "qemu", plan_qemu, "migration of a virtual machine over RDMA" },
	{ "nccl", plan_nccl, "NCCL over InfiniBand or RoCE" },
	{ "ucx", plan_ucx, "UCX, such as below Open MPI" },
	{ "libfabric", plan_libfabric, "libfabric with the verbs provider" },
	{ "ceph", plan_ceph, "Ceph's messenger over RDMA" },
	{ "share", plan_share, "a device shared among cgroups" },
	{ 0 }
};

static const struct commands plan_forms = { "Forms", "form", plan_list };

static const struct syntax plan_syntax = {
	.needs = "which form?",
	.most = INT_MAX,
	.in_order = true,
	.args_doc = "FORM [ARGUMENT...]",
	.doc =
		"Say which limits a program needs: the lines of a file of limits, each with --explain by its formula and the source of that.\vrdmacg plan FORM --help says more.",
	.commands = &plan_forms,
};

int cmd_plan(int argc, char **argv)
{
	char **words = options_read(&plan_syntax, argc, argv);

	return command_run(&plan_forms, argv[0], argc - (words - argv), words);
}
