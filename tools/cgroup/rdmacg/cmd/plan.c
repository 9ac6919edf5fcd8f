// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan FORM: limits that a program needs, each with its formula and source. */
#include "plan/plan.h"

static const struct command plan_list[] = {
	{ "lnet", plan_run, "objects of Lustre's o2iblnd on a device, by release" },
	{ "qemu", plan_run, "migration of a virtual machine over RDMA" },
	{ "nccl", plan_run, "NCCL over InfiniBand or RoCE" },
	{ "ucx", plan_run, "UCX, for example with Open MPI" },
	{ "libfabric", plan_run, "libfabric with the verbs provider" },
	{ "ceph", plan_run, "Ceph's messenger over RDMA" },
	{ "share", plan_run, "divide a device among cgroups" },
	{ 0 }
};

static const struct syntax plan_syntax = {
	.needs = "a FORM is missing", .in_order = true, .args_doc = "FORM [ARGUMENT...]",
	.example = "rdmacg plan ucx --processes 32 --endpoints 63",
	.doc =
		"Print the limits that a program needs as lines of a file of limits, and with --explain the formula of each number and its source.\vSee also rdmacg plan FORM --help.",
	.commands = plan_list, .kind = "form",
};

int cmd_plan(int argc, char **argv)
{
	return command_run(&plan_syntax, argv[0], options_read(&plan_syntax, argc, argv));
}
