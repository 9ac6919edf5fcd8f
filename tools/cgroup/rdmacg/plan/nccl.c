// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan nccl: NCCL over InfiniBand or RoCE. No test runs NCCL. */
#include "plan/plan.h"

#define NCCL_CONNECT	"net_ib/connect.cc, "

static struct plan_input nccl_inputs[] = {
	{ "ranks", 0, PLAN_ANY,
	  .doc = "ranks of the job; each rank connects to all ranks (alltoall without PXN)" },
	{ "local", 1, PLAN_SOME,
	  .doc = "ranks on this node, which connect to each other without an adapter (1)" },
	{ "processes", 1, PLAN_SOME,
	  .doc = "processes in the cgroup that open the device (as many as --local)" },
	{ "users", 1, PLAN_SOME,
	  .doc = "processes among them that use the device (1: each has its own adapter)" },
	{ "channels", 1, PLAN_SOME, .doc = "channels to each peer (1)" },
	{ "send", 0, PLAN_ANY, .doc = "sending connections of a process, instead of --ranks" },
	{ "receive", 0, PLAN_ANY,
	  .doc = "receiving connections of a process, instead of --ranks" },
	{ "qps-per-connection", 1, PLAN_SOME, .doc = "NCCL_IB_QPS_PER_CONNECTION (1)" },
	{ "flush", 1, .max = 1,
	  .doc = "1 if GPUDirect flushes through a QP of its own, else 0 (1)" },
	{ "buffers", 0, PLAN_ANY, .doc = "buffers that a process registers (0)" },
	{ 0 }
};

static uint64_t nccl_processes(struct plan_input *inputs)
{
	return plan_is_given(inputs, "processes") ? plan_number(inputs, "processes") :
		max(plan_number(inputs, "local"), plan_number(inputs, "users"));
}

/* Check that the option @name is not more than @most, the value of @other. */
static void nccl_check_most(struct plan_input *inputs, const char *name, const char *other,
			    uint64_t most)
{
	if (plan_number(inputs, name) > most)
		options_fail(plan.form->name, "--%s %" PRIu64 " is more than --%s %" PRIu64,
			     name, plan_number(inputs, name), other, most);
}

static void nccl_check(struct plan_input *inputs)
{
	bool by_connections = plan_is_given(inputs, "send") || plan_is_given(inputs, "receive");

	if (plan_is_given(inputs, "ranks") == by_connections)
		options_fail(plan.form->name, "give --ranks, or --send and --receive");
	if (!by_connections)
		nccl_check_most(inputs, "local", "ranks", plan_number(inputs, "ranks"));
	nccl_check_most(inputs, "users", "processes", nccl_processes(inputs));
}

/* Add the limits for @S sending and @R receiving connections of a process. */
static void nccl_add_limits(struct plan_part *part, struct plan_input *inputs, __int128 S,
			    __int128 R)
{
	PLAN_NAME(part, processes, nccl_processes(inputs));
	PLAN_INPUT(part, inputs, users);
	PLAN_NAME(part, Q, plan_number(inputs, "qps-per-connection"));
	PLAN_NAME(part, F, plan_number(inputs, "flush"));
	PLAN_INPUT(part, inputs, buffers);

	PLAN_LIMIT(part, hca_handle, processes,
		   "net_ib, ncclIbInit(): each process opens every device");
	PLAN_LIMIT(part, pd, processes,
		   "net_ib, ncclIbDmaBufSupport(): a PD on every device, at least for a moment");
	PLAN_LIMIT(part, cq, users * (S + R),
		   NCCL_CONNECT "ncclIbInitCommDevBase(): a CQ for each connection");
	PLAN_LIMIT(part, qp, users * (S * Q + R * (Q + F)),
		   NCCL_CONNECT
		   "ncclIbConnectImpl(), ncclIbAccept(): Q QPs for each connection, and F QPs to flush for each receiving one");
	PLAN_LIMIT(part, mr, users * (3 * S + (2 + F) * R + buffers),
		   NCCL_CONNECT
		   "3 MRs for each sending connection, 2 + F for each receiving one, and the buffers");
	PLAN_LIMIT(part, hca_object, pd + cq + qp + mr,
		   "each object has an id: Linux, rdma_core.c, alloc_begin_idr_uobject()");
}

static void nccl_add(struct plan_input *inputs)
{
	struct plan_part *part = plan_add_part("NCCL, on each device");

	nccl_check(inputs);
	plan_add_note(part,
		      "%" PRIu64 " processes open the device, %" PRIu64
		      " of them use it; if processes share an adapter, give --users.",
		      nccl_processes(inputs), plan_number(inputs, "users"));
	plan_add_note(part,
		      "A process opens every device that NCCL_IB_HCA does not exclude.");
	plan_add_note(part, "mr_mem is not in the formula: " PLAN_MEASURE);
	if (plan_is_given(inputs, "ranks")) {
		PLAN_INPUT(part, inputs, ranks);
		PLAN_INPUT(part, inputs, local);
		PLAN_INPUT(part, inputs, channels);
		PLAN_STEP(part, S, (ranks - local) * channels, "to each peer, by each channel");
		PLAN_STEP(part, R, (ranks - local) * channels, "from each peer, by each channel");
		nccl_add_limits(part, inputs, S, R);
	} else {
		PLAN_NAME(part, S, plan_number(inputs, "send"));
		PLAN_NAME(part, R, plan_number(inputs, "receive"));
		nccl_add_limits(part, inputs, S, R);
	}
}

const struct plan_form nccl_form = {
	.name = "plan nccl",
	.doc = "Limits for processes that use NCCL over InfiniBand or RoCE.",
	.read = "the source of NCCL at 0456df2069, src/transport; NCCL was not run",
	.inputs = nccl_inputs, .has_limits = true, .add = nccl_add,
};
