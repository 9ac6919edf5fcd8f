// SPDX-License-Identifier: GPL-2.0-only
/*
 * rxe's resource for the RDMA cgroup controller: the memory of its queues, which it allocates in
 * the kernel, so that no umem tells of it. It belongs to whoever lets a program map it, until
 * both the queue and the last mapping are gone. Queues of the kernel are nobody's.
 */
#include "rxe.h"
#include "rxe_cgroup.h"

enum {
	RXE_RESOURCE_QUEUE_MEM,
};

static const struct rdmacg_resource rxe_resources[] = {
	[RXE_RESOURCE_QUEUE_MEM] = {
		.name		= "queue_mem",
		.class		= RDMACG_CLASS_HW,
		.unit		= RDMACG_BYTES,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/**
 * rxe_set_resources() - state what rxe wants to have accounted
 * @rxe: a device that is not registered yet
 *
 * Context: Any context.
 */
void rxe_set_resources(struct rxe_dev *rxe)
{
	ib_rdmacg_set_hw_resources(&rxe->ib_dev, rxe_resources, ARRAY_SIZE(rxe_resources));
}

/**
 * rxe_charge_queue() - charge the memory of a queue to the current process
 * @ip: what a program is about to be told of the queue; keeps who pays
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int rxe_charge_queue(struct rxe_mmap_info *ip)
{
	return ib_rdmacg_try_charge_hw(&ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
				       ip->info.size);
}

/**
 * rxe_uncharge_queue() - give the memory of a queue back
 * @ip: what rxe_charge_queue() charged
 *
 * Context: Process context; may sleep.
 */
void rxe_uncharge_queue(struct rxe_mmap_info *ip)
{
	ib_rdmacg_uncharge_hw(ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
			      ip->info.size);
}
