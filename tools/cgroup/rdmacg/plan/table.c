// SPDX-License-Identifier: GPL-2.0
/*
 * Forms of "rdmacg plan" that are tables of formulas: NCCL, UCX, libfabric, Ceph. They hold
 * for one NIC. The formulas were read in the consumers' source in 2026; what they do not
 * cover is said in a note and gets no limit.
 */
#include "lib/options.h"
#include "plan/plan.h"

/* One open of a uverbs device is one hca_handle, whatever the process does with it. */
#define PLAN_HANDLE { \
	"hca_handle", PLAN_LIMIT, "processes", \
	"each process opens the device once: Linux, uverbs_cmd.c, ib_init_ucontext()" }

#define PLAN_MEASURE "measure with rdmacg run, then rdmacg plan peak."

/* A way to use the device: its rows, and what they leave out. */
struct plan_table {
	const struct plan_row *rows;
	size_t nr_rows;
	const char *note;
};

/* Print what the table says for the options; it ends with their memory. */
static bool plan_table_print(struct plan_args *args, const struct plan_table *table)
{
	struct plan plan = { .form = args->form };
	struct plan_part *part = plan_add_part(&plan, "rdmacg %s, on each device", args->form);
	struct plan_vars vars = { .count = 0 };
	bool done;

	plan_set_inputs(args, &vars);
	plan_set_target(part, args);
	plan_add_note(part, "%s", table->note);
	done = plan_add_rows(&plan, part, &vars, table->rows, table->nr_rows);
	if (done)
		plan_print(&plan, args);
	plan_free(&plan);
	plan_free_args(args);
	return done;
}

/* --- NCCL --- */

#define NCCL "NCCL, net_ib: "
#define NCCL_NOTE \
	"A process opens every device that NCCL_IB_HCA does not exclude. " \
	"mr_mem is not in the formula: " PLAN_MEASURE

enum { NCCL_RANKS = 1, NCCL_LOCAL, NCCL_CHANNELS, NCCL_SEND, NCCL_RECEIVE };

static const struct plan_input nccl_inputs[] = {
	{ "processes", "processes", 1, PLAN_SOME, .doc = "processes in the cgroup (1)" },
	[NCCL_RANKS] = { "ranks", "ranks", 0, PLAN_ANY,
			 .doc =
			 "ranks of the job, of which each talks to all (alltoall without PXN)" },
	[NCCL_LOCAL] = { "local", "local", 1, PLAN_SOME,
			 .doc = "ranks on this node, which are reached without a NIC (1)" },
	[NCCL_CHANNELS] = { "channels", "channels", 1, PLAN_SOME,
			    .doc = "channels to each peer (1)" },
	[NCCL_SEND] = { "send", "S", 0, PLAN_ANY,
			.doc = "connections of a process that send, instead of --ranks" },
	[NCCL_RECEIVE] = { "receive", "R", 0, PLAN_ANY,
			   .doc = "connections of a process that receive, instead of --ranks" },
	{ "qps-per-connection", "Q", 1, PLAN_SOME, .doc = "NCCL_IB_QPS_PER_CONNECTION (1)" },
	{ "flush", "F", 1, .min = 0, .max = 1,
	  .doc = "1 where GPUDirect flushes by a QP of its own, else 0 (1)" },
	{ "buffers", "buffers", 0, PLAN_ANY, .doc = "buffers that a process registers (0)" },
};

/* The first two are left out where S and R were given. */
static const struct plan_row nccl_rows[] = {
	{ "S", PLAN_STEP, "(ranks - local) * channels", NCCL "to each peer, by each channel" },
	{ "R", PLAN_STEP, "(ranks - local) * channels", NCCL "from each peer, by each channel" },
	PLAN_HANDLE,
	{ "pd", PLAN_LIMIT, "processes", NCCL "a PD in each process" },
	{ "cq", PLAN_LIMIT, "processes * (S + R)", NCCL "a CQ for each connection" },
	{ "qp", PLAN_LIMIT, "processes * (S * Q + R * (Q + F))",
	  NCCL "Q QPs for each connection, and F to flush where it receives" },
	{ "mr", PLAN_LIMIT, "processes * (3 * S + (2 + F) * R + buffers)",
	  NCCL "3 MRs for each that sends, 2 + F for each that receives, and the buffers" },
	{ "hca_object", PLAN_LIMIT, "pd + cq + qp + mr",
	  "each has an id: Linux, rdma_core.c, alloc_begin_idr_uobject()" },
};

static const struct plan_table nccl_connections = {
	nccl_rows + 2, ARRAY_SIZE(nccl_rows) - 2, NCCL_NOTE
};

static const struct plan_table nccl_ranks = { nccl_rows, ARRAY_SIZE(nccl_rows), NCCL_NOTE };

bool plan_nccl(int argc, char **argv)
{
	struct plan_args args = {
		.form = "plan nccl", .has_limits = true,
		.doc = "Limits for processes that use NCCL over InfiniBand or RoCE.",
		.inputs = nccl_inputs, .nr_inputs = ARRAY_SIZE(nccl_inputs),
	};
	bool by_connections;

	plan_parse(&args, argc, argv);
	by_connections = args.given[NCCL_SEND] || args.given[NCCL_RECEIVE];
	if (args.given[NCCL_RANKS] == by_connections)
		options_fail(args.form, "give --ranks, or --send and --receive");
	return plan_table_print(&args, by_connections ? &nccl_connections : &nccl_ranks);
}

/* --- UCX --- */

#define UCX "UCX, uct/ib: "
#define UCX_NOTE \
	"pd, cq, mr and hca_object are not in the formula: " PLAN_MEASURE \
	" On mlx5 UCX makes its queues through DevX, and they count as qp, cq and srq all the same; the memory that it registers for them counts as driver_object and mr_mem."

enum { UCX_ENDPOINTS = 1, UCX_RC_MAX = 3 };

static const struct plan_input ucx_inputs[] = {
	{ "processes", "processes", 1, PLAN_SOME, .doc = "processes in the cgroup (1)" },
	[UCX_ENDPOINTS] = { "endpoints", "endpoints", 0, PLAN_ANY, .is_needed = true,
			    .doc = "endpoints of a process: the peers it talks to" },
	{ "lanes", "lanes", 1, PLAN_SOME, .doc = "lanes of an endpoint on this device (1)" },
	[UCX_RC_MAX] = { "rc-max-num-eps", "rc_max_num_eps", 256, PLAN_ANY,
			 .doc = "UCX_RC_MAX_NUM_EPS (256): with more endpoints it takes DC" },
	{ "dci", "dci", 32, PLAN_SOME, .doc = "DC initiators (32)" },
};

static const struct plan_row ucx_rc_rows[] = {
	PLAN_HANDLE,
	{ "qp", PLAN_LIMIT, "processes * (endpoints * lanes + 1)",
	  UCX "RC while endpoints <= RC_MAX_NUM_EPS, a QP for each lane of an endpoint; "
	  "and a UD QP, by which they find each other" },
	{ "srq", PLAN_LIMIT, "processes", UCX "all RC QPs of a process have one receive queue" },
};

static const struct plan_row ucx_dc_rows[] = {
	PLAN_HANDLE,
	{ "qp", PLAN_LIMIT, "processes * (dci + 1)",
	  UCX "DC with more endpoints than RC_MAX_NUM_EPS: initiators, and one target" },
	{ "srq", PLAN_LIMIT, "processes", UCX "the DC target's receive queue" },
};

static const struct plan_table ucx_rc = { ucx_rc_rows, ARRAY_SIZE(ucx_rc_rows), UCX_NOTE };
static const struct plan_table ucx_dc = { ucx_dc_rows, ARRAY_SIZE(ucx_dc_rows), UCX_NOTE };

bool plan_ucx(int argc, char **argv)
{
	struct plan_args args = {
		.form = "plan ucx", .has_limits = true,
		.doc = "Limits for processes that use UCX.",
		.inputs = ucx_inputs, .nr_inputs = ARRAY_SIZE(ucx_inputs),
	};

	plan_parse(&args, argc, argv);
	return plan_table_print(&args, args.values[UCX_ENDPOINTS] <= args.values[UCX_RC_MAX] ?
				&ucx_rc : &ucx_dc);
}

/* --- libfabric --- */

#define LIBFABRIC "libfabric, "

static const struct plan_input libfabric_inputs[] = {
	{ "processes", "processes", 1, PLAN_SOME, .doc = "processes in the cgroup (1)" },
	{ "targets", "targets", 0, PLAN_ANY, .is_needed = true,
	  .doc = "peers that each process talks to" },
};

static const struct plan_row libfabric_rows[] = {
	{ "hca_handle", PLAN_LIMIT, "processes",
	  LIBFABRIC "each process opens every device, also one that it does not use: issue 8256; "
	  "fi_getinfo() opens it once more for a moment, and does without" },
	{ "qp", PLAN_LIMIT, "processes * targets", LIBFABRIC "verbs;ofi_rxm: a QP for each peer" },
};

static const struct plan_table libfabric_table = {
	libfabric_rows, ARRAY_SIZE(libfabric_rows),
	"pd, cq, mr and hca_object are not in the formula: " PLAN_MEASURE
	" A device may stop before the max_qp that it reports: at 2^17 of 2^18 in issue 7368."
};

bool plan_libfabric(int argc, char **argv)
{
	struct plan_args args = {
		.form = "plan libfabric", .has_limits = true,
		.doc = "Limits for processes that use libfabric's verbs;ofi_rxm.",
		.inputs = libfabric_inputs, .nr_inputs = ARRAY_SIZE(libfabric_inputs),
	};

	plan_parse(&args, argc, argv);
	return plan_table_print(&args, &libfabric_table);
}

/* --- Ceph --- */

#define CEPH "Ceph, msg/async/rdma: "

static const struct plan_input ceph_inputs[] = {
	{ "daemons", "processes", 1, PLAN_SOME, .doc = "daemons in the cgroup (1)" },
	{ "connections", "connections", 0, PLAN_ANY, .is_needed = true,
	  .doc = "connections of a daemon" },
	{ "receive-buffers", "receive_buffers", 32768, PLAN_ANY,
	  .doc = "ms_async_rdma_receive_buffers (32768)" },
	{ "send-buffers", "send_buffers", 1024, PLAN_ANY,
	  .doc = "ms_async_rdma_send_buffers (1024)" },
	{ "buffer-size", "buffer_size", 128 << 10, PLAN_SOME,
	  .doc = "ms_async_rdma_buffer_size (128K)" },
};

static const struct plan_row ceph_rows[] = {
	PLAN_HANDLE,
	{ "qp", PLAN_LIMIT, "processes * connections", CEPH "a QP for each connection" },
	{ "mr_mem", PLAN_LIMIT, "processes * (receive_buffers + send_buffers) * buffer_size",
	  CEPH "the most that its buffers grow to" },
};

static const struct plan_table ceph_table = {
	ceph_rows, ARRAY_SIZE(ceph_rows),
	"pd, cq, srq, mr and hca_object are not in the formula: " PLAN_MEASURE
};

bool plan_ceph(int argc, char **argv)
{
	struct plan_args args = {
		.form = "plan ceph", .has_limits = true,
		.doc = "Limits for Ceph daemons whose messenger uses RDMA.",
		.inputs = ceph_inputs, .nr_inputs = ARRAY_SIZE(ceph_inputs),
	};

	plan_parse(&args, argc, argv);
	return plan_table_print(&args, &ceph_table);
}
