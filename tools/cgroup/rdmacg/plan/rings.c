// SPDX-License-Identifier: GPL-2.0
/* The memory of a driver's queues, which counts as mr_mem in whole pages if it is user memory. */
#include "plan/plan.h"

#define RINGS_PAGE	4096
#define RINGS_PVRDMA	"rdma-core at 2a79cbb4a7, providers/vmw_pvrdma, "

/*
 * Drivers that keep all queues in kernel memory or on the device: in Linux 7.3, drivers/infiniband,
 * they call ib_umem_get() only for memory regions.
 */
#define RINGS_IN_KERNEL	"rxe siw software hfi1 cxgb4 efa"

/* The driver of --driver or, from sysfs, of the device, or NULL. A process calls this once. */
static const char *rings_driver(const char *device)
{
	char *class __autofree = memory_format("/sys/class/infiniband/%s", device);
	char *path __autofree = memory_format("%s/device/driver", class);
	static char target[256];

	if (plan.driver)
		return plan.driver;
	if (!*device || strchr(device, '/') || access(class, F_OK))
		return NULL;
	/* sysfs shows no driver for a device without hardware: rxe and siw. */
	return readlink(path, target, sizeof(target) - 1) < 0 ? "software" : basename(target);
}

/* The provider uses a page for the state of each CQ and of each QP, and memory for the entries. */
static __int128 rings_add_pvrdma(struct plan_part *part, const struct plan_queues *queues)
{
	PLAN_NAME(part, page, RINGS_PAGE);
	PLAN_NAME(part, cqs, queues->cqs);
	PLAN_NAME(part, cqe, queues->cqe);
	PLAN_NAME(part, qps, queues->qps);
	PLAN_NAME(part, send_wr, queues->send_wr);
	PLAN_NAME(part, send_sge, queues->send_sge);
	PLAN_NAME(part, recv_wr, queues->recv_wr);
	PLAN_NAME(part, recv_sge, queues->recv_sge);
	PLAN_STEP(part, cq_bytes, (1 + div_up(pow2(cqe) * 64, page)) * page,
		  RINGS_PVRDMA "cq.c, pvrdma_create_cq()");
	PLAN_STEP(part, send_bytes,
		  (1 + div_up(pow2(send_wr) * pow2(80 + 16 * pow2(send_sge)), page)) * page,
		  RINGS_PVRDMA "qp.c, pvrdma_create_qp()");
	PLAN_STEP(part, recv_bytes,
		  div_up(pow2(recv_wr) * pow2(16 + 16 * pow2(recv_sge)), page) * page,
		  RINGS_PVRDMA "qp.c, pvrdma_create_qp()");
	PLAN_STEP(part, queue_bytes, cqs * cq_bytes + qps * (send_bytes + recv_bytes),
		  "the queues of a process, in user memory of vmw_pvrdma");
	return queue_bytes;
}

__int128 plan_add_rings(struct plan_part *part, const struct plan_queues *queues)
{
	const char *driver = rings_driver(part->device.name ? part->device.name : "");

	if (!driver) {
		plan_add_note(part,
			      "mr_mem is a lower bound: it does not include the queues of the driver; give --driver, or a --device of this machine.");
		return 0;
	}
	if (queues && !strcmp(driver, "vmw_pvrdma"))
		return rings_add_pvrdma(part, queues);
	if (!hierarchy_has_word(RINGS_IN_KERNEL, driver))
		plan_add_note(part,
			      "mr_mem is a lower bound: it does not include the queues of the driver, and their size with %s is unknown.",
			      driver);
	return 0;
}
