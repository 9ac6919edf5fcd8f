// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan libfabric: verbs;ofi_rxm. tests/plan-programs.py runs fi_pingpong with its limits. */
#include "plan/plan.h"

/* The inputs, as the formulas name them. */
static __int128 processes = 1, targets;

static struct plan_input libfabric_inputs[] = {
	{ "processes", &processes, 1, PLAN_MOST, "processes in the cgroup (1)" },
	{ "targets", &targets, 0, PLAN_MOST,
	  "peers to which each process connects", .is_needed = true },
	{ 0 }
};

static void libfabric_add(void)
{
	plan_add_part("libfabric, on each device");
	PLAN_LIMIT(hca_handle, processes,
		   "prov/verbs, vrb_open_device_by_name(): each process opens every device, even a device that it does not use (issue 8256); fi_getinfo() opens it again for a moment, but does not need to");
	PLAN_LIMIT(qp, processes * targets,
		   "prov/verbs, vrb_ep_enable(): verbs;ofi_rxm has a QP for each peer");
	plan_notice("pd, cq, mr and hca_object are not in the formula: " PLAN_MEASURE);
	plan_notice("A device may have fewer QPs than the max_qp that it reports: 2^17 of 2^18 in issue 7368.");
}

const struct plan_form libfabric_form = {
	.name = "plan libfabric",
	.example = "rdmacg plan libfabric --processes 32 --targets 63",
	.doc = "Limits for processes that use libfabric's verbs;ofi_rxm.",
	.read = "libfabric 1.17.0, prov/verbs and prov/rxm; fi_pingpong was run on Soft-RoCE",
	.inputs = libfabric_inputs, .has_limits = true, .add = libfabric_add,
};
