// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan nccl: NCCL over InfiniBand or RoCE. No test runs NCCL. */
#include "plan/plan.h"

#define NCCL_CONNECT	"net_ib/connect.cc, "

/* The inputs, as the formulas name them. */
static __int128 local = 1, users = 1, channels = 1, qps_per_connection = 1, flush = 1, buffers;
/* -1 means that the option is not given. */
static __int128 ranks = -1, processes = -1, send = -1, receive = -1;

static struct plan_input nccl_inputs[] = {
	{ "ranks", &ranks, 0, PLAN_MOST,
	  "ranks of the job; each rank connects to all ranks (alltoall without PXN)" },
	{ "local", &local, 1, PLAN_MOST,
	  "ranks on this node, which connect to each other without an adapter (1)" },
	{ "processes", &processes, 1, PLAN_MOST,
	  "processes in the cgroup that open the device (as many as --local)" },
	{ "users", &users, 1, PLAN_MOST,
	  "processes in the cgroup that use the device (1: each has its own adapter)" },
	{ "channels", &channels, 1, PLAN_MOST, "channels to each peer (1)" },
	{ "send", &send, 0, PLAN_MOST, "sending connections of a process, instead of --ranks" },
	{ "receive", &receive, 0, PLAN_MOST,
	  "receiving connections of a process, instead of --ranks" },
	{ "qps-per-connection", &qps_per_connection, 1, PLAN_MOST,
	  "NCCL_IB_QPS_PER_CONNECTION (1)" },
	{ "flush", &flush, 0, 1, "1 if GPUDirect flushes through a QP of its own, else 0 (1)" },
	{ "buffers", &buffers, 0, PLAN_MOST, "buffers that a process registers (0)" },
	{ 0 }
};

static void nccl_add(void)
{
	/* The sending and the receiving connections of a process. */
	__int128 S, R;
	bool has_ranks = ranks >= 0, has_ends = send >= 0 || receive >= 0;

	plan_add_part("NCCL, on each device");
	if (has_ranks == has_ends)
		options_fail(plan.form->name, "give --ranks, or --send and --receive");
	if (ranks >= 0 && local > ranks)
		options_fail(plan.form->name, "--local %s is more than --ranks %s",
			     plan_text(local), plan_text(ranks));
	if (processes < 0)
		processes = max(local, users);
	if (users > processes)
		options_fail(plan.form->name, "--users %s is more than --processes %s",
			     plan_text(users), plan_text(processes));
	plan_notice("%s processes open the device, %s of them use it; if processes share an adapter, give --users.",
		    plan_text(processes), plan_text(users));
	plan_notice("A process opens every device that NCCL_IB_HCA does not exclude.");
	plan_notice("mr_mem is not in the formula: " PLAN_MEASURE);
	if (ranks >= 0) {
		PLAN_SET(STEP, S, (ranks - local) * channels, "to each peer, by each channel");
		PLAN_SET(STEP, R, (ranks - local) * channels, "from each peer, by each channel");
	} else {
		PLAN_SET(NAME, S, max(send, 0), NULL);
		PLAN_SET(NAME, R, max(receive, 0), NULL);
	}
	PLAN_NAME(Q, qps_per_connection);
	PLAN_NAME(F, flush);
	PLAN_LIMIT(hca_handle, processes, "net_ib, ncclIbInit(): each process opens every device");
	PLAN_LIMIT(pd, processes,
		   "net_ib, ncclIbDmaBufSupport(): a PD on every device, at least for a moment");
	PLAN_LIMIT(cq, users * (S + R),
		   NCCL_CONNECT "ncclIbInitCommDevBase(): a CQ for each connection");
	PLAN_LIMIT(qp, users * (S * Q + R * (Q + F)), NCCL_CONNECT
		   "ncclIbConnectImpl(), ncclIbAccept(): Q QPs for each connection, and F QPs to flush for each receiving one");
	PLAN_LIMIT(mr, users * (3 * S + (2 + F) * R + buffers), NCCL_CONNECT
		   "3 MRs for each sending connection, 2 + F for each receiving one, and the buffers");
	PLAN_LIMIT(hca_object, pd + cq + qp + mr,
		   "each object has an id: Linux, rdma_core.c, alloc_begin_idr_uobject()");
}

const struct plan_form nccl_form = {
	.name = "plan nccl",
	.example = "rdmacg plan nccl --ranks 64 --local 8",
	.doc = "Limits for processes that use NCCL over InfiniBand or RoCE.",
	.read = "the source of NCCL at 0456df2069, src/transport; NCCL was not run",
	.inputs = nccl_inputs, .has_limits = true, .add = nccl_add,
};
