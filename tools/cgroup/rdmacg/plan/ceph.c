// SPDX-License-Identifier: GPL-2.0
/* rdmacg plan ceph: Ceph's messenger over RDMA. No test runs Ceph. */
#include "plan/plan.h"

#define CEPH	"Infiniband.cc, "

/* The inputs, as the formulas name them. */
static __int128 daemons = 1, connections, receive_buffers = 32768, send_buffers = 1024;
static __int128 buffer_size = 128 << 10;

static struct plan_input ceph_inputs[] = {
	{ "daemons", &daemons, 1, PLAN_MOST, "daemons in the cgroup (1)" },
	{ "connections", &connections, 0, PLAN_MOST, "connections of a daemon", .is_needed = true },
	{ "receive-buffers", &receive_buffers, 0, PLAN_MOST,
	  "ms_async_rdma_receive_buffers (32768)" },
	{ "send-buffers", &send_buffers, 0, PLAN_MOST, "ms_async_rdma_send_buffers (1024)" },
	{ "buffer-size", &buffer_size, 1, PLAN_MOST, "ms_async_rdma_buffer_size (128K)" },
	{ 0 }
};

static void ceph_add(void)
{
	plan_add_part("Ceph, on each device");
	PLAN_LIMIT(hca_handle, daemons, CEPH
		   "DeviceList: each daemon opens every device, even a device that it does not use");
	PLAN_LIMIT(pd, daemons, CEPH "Infiniband::init()");
	PLAN_LIMIT(qp, daemons * connections, CEPH "create_queue_pair(): a QP for each connection");
	PLAN_LIMIT(mr_mem, daemons * (receive_buffers + send_buffers) * buffer_size,
		   CEPH "create_tx_pool(), RxAllocator: the largest size of the buffers");
	plan_has_driver(NULL);
	plan_notice("cq, srq, mr and hca_object are not in the formula: " PLAN_MEASURE);
}

const struct plan_form ceph_form = {
	.name = "plan ceph",
	.example = "rdmacg plan ceph --connections 100 --daemons 12",
	.doc = "Limits for Ceph daemons whose messenger uses RDMA.",
	.read = "the source of Ceph at 009ec81832, src/msg/async/rdma; Ceph was not run",
	.inputs = ceph_inputs, .has_limits = true, .has_memory = true, .add = ceph_add,
};
