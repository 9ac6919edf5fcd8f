// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resource of rxe for the RDMA cgroup controller, which is the memory of queues. rxe allocates
 * this memory in the kernel, so it is not charged as a umem. The process that creates a queue is
 * charged until the queue and its last mapping are removed. Queues of kernel users are not charged.
 */
#include "rxe.h"

enum {
	RXE_RESOURCE_QUEUE_MEM,
};

static const struct rdmacg_resource rxe_resources[] = {
	[RXE_RESOURCE_QUEUE_MEM] = {
		.name		= "queue_mem",
		.class		= RDMACG_CLASS_HW,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/**
 * rxe_set_resources() - declare the resources of rxe
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
 * @ip: the mapping of the queue for the program, which keeps the owner
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
 * rxe_uncharge_queue() - return the charge for the memory of a queue
 * @ip: the same mapping
 *
 * Context: Process context; may sleep.
 */
void rxe_uncharge_queue(struct rxe_mmap_info *ip)
{
	ib_rdmacg_uncharge_hw(ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
			      ip->info.size);
}
