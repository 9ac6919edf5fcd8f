// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan ucx: UCX, which Open MPI and MPICH use. tests/plan-programs.py runs ucx_perftest,
 * Open MPI and MPICH on Soft-RoCE with exactly these limits, and with each limit lower by one. No
 * test covers DC, which needs mlx5.
 */
#include "plan/plan.h"

#define UCX	"uct/ib/"

/* The inputs, as the formulas name them. */
static __int128 processes = 1, endpoints, self = 1, opens = 1, lanes = 1, dci = 32;
static __int128 rc_max_num_eps = 256, ib_num_paths = 1;
static const char *transport;

static struct plan_input ucx_inputs[] = {
	{ "processes", &processes, 1, PLAN_MOST, "processes in the cgroup (1)" },
	{ "endpoints", &endpoints, 0, PLAN_MOST,
	  "other processes to which each process connects", .is_needed = true },
	{ "self", &self, 0, 1,
	  "1 if each process has an endpoint to itself, as a rank of MPI has" },
	{ "opens", &opens, 1, PLAN_MOST,
	  "times that a process opens the device (1; Open MPI with libfabric: 2)" },
	{ "lanes", &lanes, 1, PLAN_MOST, "lanes of an endpoint on this device (1)" },
	{ "rc-max-num-eps", &rc_max_num_eps, 0, PLAN_MOST,
	  "UCX_RC_MAX_NUM_EPS (256); UCX uses DC for more endpoints" },
	{ "dci", &dci, 1, PLAN_MOST, "UCX_DC_MLX5_NUM_DCI, initiators of DC (32; UCX 1.13: 8)" },
	{ "ib-num-paths", &ib_num_paths, 1, 16, "UCX_IB_NUM_PATHS (1; UCX takes 2 on a bond)" },
	{ "transport", .text = &transport, .arg = "UCX_TLS",
	  .doc = "words of UCX_TLS, such as rc_x,sm (all: rc, or dc above --rc-max-num-eps)" },
	{ 0 }
};

/* The words of UCX_TLS for each transport, and the words that need no queue of a device. */
static const char * const ucx_words[] = {
	"rc rc_v rc_verbs rc_x rc_mlx5 ib all", "dc dc_x dc_mlx5 ib all",
	"ud ud_v ud_verbs ud_x ud_mlx5 ib all",
	"self sm shm mm posix sysv xpmem cma knem tcp cuda cuda_copy cuda_ipc gdr_copy rocm rocm_copy rocm_ipc ze ze_copy ze_ipc ud:aux",
};

/* The transport that UCX selects from the words of UCX_TLS. */
static const char *ucx_select(const char *words)
{
	char *copy __autofree = memory_string(words), *rest = copy, *word;
	bool has[ARRAY_SIZE(ucx_words)] = { false };
	size_t i;

	while ((word = strsep(&rest, ","))) {
		bool known = false;

		for (i = 0; i < ARRAY_SIZE(ucx_words); i++)
			if (hierarchy_has_word(ucx_words[i], word)) {
				has[i] = true;
				known = true;
			}
		if (!known)
			options_fail(word, "there is no such transport of UCX; write rc_x, ...");
	}
	if (has[0] && (!has[1] || endpoints + self <= rc_max_num_eps))
		return "rc";
	if (!has[1] && !has[2])
		options_fail(words, "no transport of RDMA; write also rc, ud or dc");
	return has[1] ? "dc" : "ud";
}

static void ucx_add(void)
{
	plan_add_part("UCX, on each device");
	transport = ucx_select(transport ? transport : "all");
	PLAN_LIMIT(hca_handle, processes * opens,
		   UCX "base, uct_ib_md_open(): UCX opens the device once in a process");
	if (*transport == 'r') {
		PLAN_LIMIT(qp, processes * ((endpoints + self) * lanes * ib_num_paths + 1), UCX
			   "rc, uct_rc_iface_qp_create(): a QP for each path of a lane of an endpoint, at most; ud, uct_ud_iface_create_qp(): one QP to find peers");
		PLAN_LIMIT(srq, processes, UCX
			   "rc, uct_rc_iface_init_rx(): all RC QPs of a process share a receive queue");
	} else if (*transport == 'u') {
		PLAN_LIMIT(qp, processes, UCX
			   "ud, uct_ud_iface_create_qp(): one QP for all endpoints of a process");
	} else {
		PLAN_LIMIT(qp, processes * (dci * ib_num_paths + 1), UCX
			   "mlx5/dc: initiators of each path, at most, for any number of endpoints, and one target");
		PLAN_LIMIT(srq, processes, UCX "mlx5/dc: the target's receive queue");
	}
	plan_notice("These are the queues of %s. UCX also creates the queues of each other transport that UCX_TLS allows.",
		    transport);
	plan_notice("pd, cq, mr and hca_object are not in the formula: " PLAN_MEASURE);
	plan_notice("Open MPI also opens the device for libfabric. Give --opens 2, or mpirun --mca btl ^ofi --mca mtl ^ofi.");
	plan_notice("On mlx5, UCX creates its queues through DevX. They count as qp, cq and srq (with the module, only as driver_object), and the memory that UCX registers for them counts as driver_object and mr_mem.");
}

const struct plan_form ucx_form = {
	.name = "plan ucx",
	.example = "rdmacg plan ucx --processes 32 --endpoints 63 --transport rc_x",
	.doc = "Limits for processes that use UCX, such as ranks of Open MPI or MPICH.",
	.read = "UCX 1.13.1, src/uct/ib; rc and ud were run on Soft-RoCE, dc was not",
	.inputs = ucx_inputs, .has_limits = true, .add = ucx_add,
};
