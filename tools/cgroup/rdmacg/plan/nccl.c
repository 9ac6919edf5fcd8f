// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan nccl: NCCL over InfiniBand or RoCE. It does not run in the tests. */
#include "lib/lib.h"
#include "plan/plan.h"

#define NCCL_CONNECT	"net_ib/connect.cc, "

enum nccl_input { NCCL_RANKS, NCCL_LOCAL, NCCL_PROCESSES, NCCL_USERS, NCCL_CHANNELS, NCCL_SEND,
		  NCCL_RECEIVE, NCCL_QPS, NCCL_FLUSH, NCCL_BUFFERS };

static const struct plan_input nccl_inputs[] = {
	[NCCL_RANKS] = { "ranks", 0, PLAN_ANY,
			 .doc =
			 "ranks of the job, each of which talks to all (alltoall without PXN)" },
	[NCCL_LOCAL] = { "local", 1, PLAN_SOME,
			 .doc =
			 "ranks on this node; they reach each other without an adapter (1)" },
	[NCCL_PROCESSES] = { "processes", 1, PLAN_SOME,
			     .doc =
			     "processes in the cgroup that open the device (those of --local)" },
	[NCCL_USERS] = { "users", 1, PLAN_SOME,
			 .doc =
			 "processes among them that use the device (1: each has its own adapter)" },
	[NCCL_CHANNELS] = { "channels", 1, PLAN_SOME, .doc = "channels to each peer (1)" },
	[NCCL_SEND] = { "send", 0, PLAN_ANY,
			.doc = "connections of a process that send, instead of --ranks" },
	[NCCL_RECEIVE] = { "receive", 0, PLAN_ANY,
			   .doc = "connections of a process that receive, instead of --ranks" },
	[NCCL_QPS] = { "qps-per-connection", 1, PLAN_SOME,
		       .doc = "NCCL_IB_QPS_PER_CONNECTION (1)" },
	[NCCL_FLUSH] = { "flush", 1, .min = 0, .max = 1,
			 .doc = "1 where GPUDirect flushes by a QP of its own, else 0 (1)" },
	[NCCL_BUFFERS] = { "buffers", 0, PLAN_ANY, .doc = "buffers that a process registers (0)" },
};

static void nccl_check(struct plan_args *args)
{
	bool by_connections = args->given[NCCL_SEND] || args->given[NCCL_RECEIVE];
	uint64_t *values = args->values;

	if (args->given[NCCL_RANKS] == by_connections)
		options_fail(args->form, "give --ranks, or --send and --receive");
	if (!by_connections && values[NCCL_LOCAL] > values[NCCL_RANKS])
		options_fail(args->form, "--local %" PRIu64 " is more than --ranks %" PRIu64,
			     values[NCCL_LOCAL], values[NCCL_RANKS]);
	if (!args->given[NCCL_PROCESSES])
		values[NCCL_PROCESSES] = max(values[NCCL_LOCAL], values[NCCL_USERS]);
	if (values[NCCL_USERS] > values[NCCL_PROCESSES])
		options_fail(args->form, "--users %" PRIu64 " is more than --processes %" PRIu64,
			     values[NCCL_USERS], values[NCCL_PROCESSES]);
}

/* @S connections of a process send, @R receive. */
static void nccl_add_limits(struct plan_part *part, const uint64_t *values, __int128 S, __int128 R)
{
	PLAN_NAME(part, processes, values[NCCL_PROCESSES]);
	PLAN_NAME(part, users, values[NCCL_USERS]);
	PLAN_NAME(part, Q, values[NCCL_QPS]);
	PLAN_NAME(part, F, values[NCCL_FLUSH]);
	PLAN_NAME(part, buffers, values[NCCL_BUFFERS]);

	PLAN_LIMIT(part, hca_handle, processes,
		   "net_ib, ncclIbInit(): each process opens every device");
	PLAN_LIMIT(part, pd, processes,
		   "net_ib, ncclIbDmaBufSupport(): a PD on every device, for a moment at least");
	PLAN_LIMIT(part, cq, users * (S + R),
		   NCCL_CONNECT "ncclIbInitCommDevBase(): a CQ for each connection");
	PLAN_LIMIT(part, qp, users * (S * Q + R * (Q + F)),
		   NCCL_CONNECT
		   "ncclIbConnectImpl(), ncclIbAccept(): Q QPs for each connection, and F to flush where it receives");
	PLAN_LIMIT(part, mr, users * (3 * S + (2 + F) * R + buffers),
		   NCCL_CONNECT
		   "3 MRs for each connection that sends, 2 + F for each that receives, and the buffers");
	PLAN_LIMIT(part, hca_object, pd + cq + qp + mr,
		   "each has an id: Linux, rdma_core.c, alloc_begin_idr_uobject()");
}

static void nccl_add(struct plan_part *part, const struct plan_args *args)
{
	const uint64_t *values = args->values;

	if (args->given[NCCL_RANKS]) {
		PLAN_NAME(part, ranks, values[NCCL_RANKS]);
		PLAN_NAME(part, local, values[NCCL_LOCAL]);
		PLAN_NAME(part, channels, values[NCCL_CHANNELS]);
		PLAN_STEP(part, S, (ranks - local) * channels, "to each peer, by each channel");
		PLAN_STEP(part, R, (ranks - local) * channels, "from each peer, by each channel");
		nccl_add_limits(part, values, S, R);
	} else {
		PLAN_NAME(part, S, values[NCCL_SEND]);
		PLAN_NAME(part, R, values[NCCL_RECEIVE]);
		nccl_add_limits(part, values, S, R);
	}
}

int plan_nccl(int argc, char **argv)
{
	struct plan plan = { 0 };
	struct plan_args args = {
		.form = "plan nccl", .has_limits = true,
		.doc = "Limits for processes that use NCCL over InfiniBand or RoCE.",
		.read = "NCCL at 0456df2069, src/transport, by its source; NCCL was not run",
		.inputs = nccl_inputs, .nr_inputs = ARRAY_SIZE(nccl_inputs),
	};
	struct plan_part *part;

	plan_parse(&args, argc, argv);
	nccl_check(&args);
	part = plan_begin(&plan, &args, "NCCL, on each device");
	plan_add_note(part,
		      "%" PRIu64 " processes open the device, %" PRIu64
		      " of them use it; where processes share an adapter, give --users.",
		      args.values[NCCL_PROCESSES], args.values[NCCL_USERS]);
	plan_add_note(part,
		      "A process opens every device that NCCL_IB_HCA does not exclude.");
	plan_add_note(part, "mr_mem is not in the formula: " PLAN_MEASURE);
	nccl_add(part, &args);
	plan_finish(&plan, &args);
	return EXIT_DONE;
}
