// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan ceph: Ceph's messenger over RDMA. It does not run in the tests. */
#include "lib/lib.h"
#include "plan/plan.h"

#define CEPH	"Infiniband.cc, "

enum ceph_input { CEPH_DAEMONS, CEPH_CONNECTIONS, CEPH_RECEIVE, CEPH_SEND, CEPH_SIZE };

static const struct plan_input ceph_inputs[] = {
	[CEPH_DAEMONS] = { "daemons", 1, PLAN_SOME, .doc = "daemons in the cgroup (1)" },
	[CEPH_CONNECTIONS] = { "connections", 0, PLAN_ANY, .is_needed = true,
			       .doc = "connections of a daemon" },
	[CEPH_RECEIVE] = { "receive-buffers", 32768, PLAN_ANY,
			   .doc = "ms_async_rdma_receive_buffers (32768)" },
	[CEPH_SEND] = { "send-buffers", 1024, PLAN_ANY,
			.doc = "ms_async_rdma_send_buffers (1024)" },
	[CEPH_SIZE] = { "buffer-size", 128 << 10, PLAN_SOME,
			.doc = "ms_async_rdma_buffer_size (128K)" },
};

static void ceph_add(struct plan_part *part, const struct plan_args *args)
{
	const uint64_t *values = args->values;

	PLAN_NAME(part, daemons, values[CEPH_DAEMONS]);
	PLAN_NAME(part, connections, values[CEPH_CONNECTIONS]);
	PLAN_NAME(part, receive_buffers, values[CEPH_RECEIVE]);
	PLAN_NAME(part, send_buffers, values[CEPH_SEND]);
	PLAN_NAME(part, buffer_size, values[CEPH_SIZE]);

	PLAN_LIMIT(part, hca_handle, daemons,
		   CEPH
		   "DeviceList: each daemon opens every device, also one that it does not use");
	PLAN_LIMIT(part, pd, daemons, CEPH "Infiniband::init()");
	PLAN_LIMIT(part, qp, daemons * connections,
		   CEPH "create_queue_pair(): a QP for each connection");
	PLAN_LIMIT(part, mr_mem, daemons * (receive_buffers + send_buffers) * buffer_size,
		   CEPH "create_tx_pool(), RxAllocator: the most that the buffers grow to");
	plan_add_rings(part, args, NULL);
}

int plan_ceph(int argc, char **argv)
{
	struct plan plan = { 0 };
	struct plan_args args = {
		.form = "plan ceph", .has_limits = true, .has_memory = true,
		.doc = "Limits for Ceph daemons whose messenger uses RDMA.",
		.read = "Ceph at 009ec81832, src/msg/async/rdma, by its source; Ceph was not run",
		.inputs = ceph_inputs, .nr_inputs = ARRAY_SIZE(ceph_inputs),
	};
	struct plan_part *part;

	plan_parse(&args, argc, argv);
	part = plan_begin(&plan, &args, "Ceph, on each device");
	ceph_add(part, &args);
	plan_add_note(part,
		      "cq, srq, mr and hca_object are not in the formula: " PLAN_MEASURE);
	plan_finish(&plan, &args);
	return EXIT_DONE;
}
