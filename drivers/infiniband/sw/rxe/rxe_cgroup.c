// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resource that rxe has in the RDMA cgroup controller: the memory of queues. rxe allocates this
 * memory in the kernel, so it is not charged as a umem. The process that creates a queue is charged
 * before the allocation. The charge is returned after the queue and its last mapping are removed.
 * If the device is removed, its mappings are emptied. Queues of kernel users are not charged.
 */
#include <linux/vmalloc.h>

#include "rxe.h"
#include "rxe_queue.h"

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

/* The IB core calls this when a mapping and all its copies are removed. */
static void rxe_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct rxe_mmap_info *ip = container_of(entry, struct rxe_mmap_info, entry);

	kref_put(&ip->ref, rxe_mmap_release);
}

static const struct ib_device_ops rxe_mmap_ops = {
	.mmap_free = rxe_mmap_free,
};

/**
 * rxe_set_resources() - declare the resources of rxe, and the callback that frees a mapping
 * @rxe: a device that is not registered yet
 *
 * Context: Any context.
 */
void rxe_set_resources(struct rxe_dev *rxe)
{
	ib_rdmacg_set_hw_resources(&rxe->ib_dev, rxe_resources, ARRAY_SIZE(rxe_resources));
	ib_set_device_ops(&rxe->ib_dev, &rxe_mmap_ops);
}

static int rxe_charge_queue(struct rxe_mmap_info *ip)
{
	return ib_rdmacg_try_charge_hw(&ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
				       ip->info.size);
}

/**
 * rxe_alloc_queue() - charge the current process for the memory of a queue, and allocate it
 * @q: a queue without memory
 * @ip: the program's mapping of the queue. It keeps the owner. NULL for a kernel user
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After a failure, the caller uncharges @ip.
 */
int rxe_alloc_queue(struct rxe_queue *q, struct rxe_mmap_info *ip)
{
	int ret = ip ? rxe_charge_queue(ip) : 0;

	if (ret)
		return ret;
	q->buf = vmalloc_user(q->buf_size);
	if (!q->buf)
		return -ENOMEM;
	q->buf->log2_elem_size = q->log2_elem_size;
	q->buf->index_mask = q->index_mask;
	if (ip)
		ip->obj = q->buf;
	return 0;
}

/**
 * rxe_uncharge_queue() - return the charge for the memory of a queue
 * @ip: the same mapping, perhaps without a charge, or NULL
 *
 * Context: Process context; may sleep.
 */
void rxe_uncharge_queue(struct rxe_mmap_info *ip)
{
	if (ip)
		ib_rdmacg_uncharge_hw(ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
				      ip->info.size);
}

/**
 * rxe_map_queue() - map a queue, and keep it charged until the mapping is removed
 * @ip: the queue. The function takes over a reference of the caller
 * @vma: the mapping
 *
 * This function is not called on 6.12, where rxe has mapping operations of its own.
 *
 * Context: Process context; may sleep.
 * Return: 0 or a negative errno.
 */
int rxe_map_queue(struct rxe_mmap_info *ip, struct vm_area_struct *vma)
{
	int ret = remap_vmalloc_range(vma, ip->obj, 0);

	ip->entry = (struct rdma_user_mmap_entry) { .ucontext = ip->context };
	kref_init(&ip->entry.ref);
	if (!ret)
		ret = ib_rdmacg_hold_mmap_entry(vma, &ip->entry);
	rdma_user_mmap_entry_put(&ip->entry);
	return ret;
}
