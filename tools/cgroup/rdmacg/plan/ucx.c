// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan ucx: UCX, such as below Open MPI and MPICH. tests/plan-programs.py runs
 * ucx_perftest, Open MPI and MPICH on Soft-RoCE with exactly these limits and with one less
 * of each; DC needs an mlx5.
 */
#include "lib/lib.h"
#include "plan/plan.h"

#define UCX	"uct/ib/"

enum ucx_input { UCX_PROCESSES, UCX_ENDPOINTS, UCX_SELF, UCX_OPENS, UCX_LANES, UCX_RC_MAX,
		 UCX_DCI };

static const struct plan_input ucx_inputs[] = {
	[UCX_PROCESSES] = { "processes", 1, PLAN_SOME, .doc = "processes in the cgroup (1)" },
	[UCX_ENDPOINTS] = { "endpoints", 0, PLAN_ANY, .is_needed = true,
			    .doc = "other processes that each process talks to" },
	[UCX_SELF] = { "self", 1, .min = 0, .max = 1,
		       .doc =
		       "1 where a process has an endpoint to itself, as a rank of MPI has" },
	[UCX_OPENS] = { "opens", 1, PLAN_SOME,
			.doc =
			"times that a process opens the device (1; Open MPI with libfabric: 2)" },
	[UCX_LANES] = { "lanes", 1, PLAN_SOME,
			.doc = "lanes of an endpoint on this device (1)" },
	[UCX_RC_MAX] = { "rc-max-num-eps", 256, PLAN_ANY,
			 .doc = "UCX_RC_MAX_NUM_EPS (256): with more endpoints it takes DC" },
	[UCX_DCI] = { "dci", 32, PLAN_SOME,
		      .doc = "UCX_DC_MLX5_NUM_DCI, initiators of DC (32, in 1.13 8)" },
};

static void ucx_add_rc(struct plan_part *part, __int128 processes, const uint64_t *values)
{
	PLAN_NAME(part, endpoints, values[UCX_ENDPOINTS]);
	PLAN_NAME(part, self, values[UCX_SELF]);
	PLAN_NAME(part, lanes, values[UCX_LANES]);

	PLAN_LIMIT(part, qp, processes * ((endpoints + self) * lanes + 1),
		   UCX
		   "rc, uct_rc_iface_qp_create(): a QP for each lane of an endpoint; and ud, uct_ud_iface_create_qp(): one by which they find each other");
	PLAN_LIMIT(part, srq, processes,
		   UCX "rc, uct_rc_iface_init_rx(): all RC QPs of a process share a receive queue");
}

static void ucx_add_ud(struct plan_part *part, __int128 processes)
{
	PLAN_LIMIT(part, qp, processes,
		   UCX "ud, uct_ud_iface_create_qp(): one QP for all endpoints of a process");
}

static void ucx_add_dc(struct plan_part *part, __int128 processes, const uint64_t *values)
{
	PLAN_NAME(part, dci, values[UCX_DCI]);

	PLAN_LIMIT(part, qp, processes * (dci + 1),
		   UCX "mlx5/dc: initiators, whatever the number of endpoints, and one target");
	PLAN_LIMIT(part, srq, processes, UCX "mlx5/dc: the target's receive queue");
}

static void ucx_add(struct plan_part *part, const struct plan_args *args, const char *transport)
{
	const uint64_t *values = args->values;

	PLAN_NAME(part, processes, values[UCX_PROCESSES]);

	PLAN_NAME(part, opens, values[UCX_OPENS]);
	PLAN_LIMIT(part, hca_handle, processes * opens,
		   UCX "base, uct_ib_md_open(): UCX opens the device once in a process");
	if (!transport)
		transport = values[UCX_ENDPOINTS] + values[UCX_SELF] <= values[UCX_RC_MAX] ?
			"rc" : "dc";
	if (!strcmp(transport, "rc"))
		ucx_add_rc(part, processes, values);
	else if (!strcmp(transport, "ud"))
		ucx_add_ud(part, processes);
	else
		ucx_add_dc(part, processes, values);
	plan_add_note(part,
		      "These are the queues of %s. UCX makes those of each transport that UCX_TLS allows, used or not.",
		      transport);
}

static error_t ucx_parse(int key, char *arg, struct argp_state *state)
{
	const char **transport = state->input;

	if (key != OPTIONS_KEY)
		return ARGP_ERR_UNKNOWN;
	if (strcmp(arg, "rc") && strcmp(arg, "ud") && strcmp(arg, "dc"))
		options_fail(arg, "--transport is rc, ud or dc");
	*transport = arg;
	return 0;
}

int plan_ucx(int argc, char **argv)
{
	static const struct argp_option own_options[] = {
		{ "transport", OPTIONS_KEY, "rc|ud|dc", 0,
		  "of UCX_TLS (rc, with more endpoints than --rc-max-num-eps dc)", 10 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = ucx_parse };
	const char *transport = NULL;
	struct plan plan = { 0 };
	struct plan_args args = {
		.form = "plan ucx", .has_limits = true,
		.doc = "Limits for processes that use UCX, such as ranks of Open MPI or MPICH.",
		.read = "UCX 1.13.1, src/uct/ib; rc and ud were run on Soft-RoCE, dc was not",
		.inputs = ucx_inputs, .nr_inputs = ARRAY_SIZE(ucx_inputs),
		.own = &own, .own_input = &transport,
	};
	struct plan_part *part;

	plan_parse(&args, argc, argv);
	part = plan_begin(&plan, &args, "UCX, on each device");
	ucx_add(part, &args, transport);
	plan_add_note(part, "pd, cq, mr and hca_object are not in the formula: " PLAN_MEASURE);
	plan_add_note(part,
		      "Open MPI opens the device for libfabric as well, so give --opens 2, or mpirun --mca btl ^ofi --mca mtl ^ofi.");
	plan_add_note(part,
		      "On mlx5 UCX makes its queues through DevX. They count as qp, cq and srq all the same; the memory that it registers for them counts as driver_object and mr_mem.");
	plan_finish(&plan, &args);
	return EXIT_DONE;
}
