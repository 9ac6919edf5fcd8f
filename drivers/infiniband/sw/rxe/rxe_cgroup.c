// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resource that rxe has in the RDMA cgroup controller: the memory of
 * queues. rxe allocates this memory in the kernel, so it is not charged as a
 * umem. The process that creates a queue is charged before the allocation,
 * until the queue is destroyed. A mapping keeps the pages longer, even after
 * the device is removed, so the memory cgroup of the process also pays for the
 * pages. Queues of kernel users are not charged as queue_mem.
 */
#include <linux/mm.h>
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

static int rxe_charge_queue(struct rxe_mmap_info *ip)
{
	return ib_rdmacg_try_charge_hw(&ip->cg, ip->context->device, RXE_RESOURCE_QUEUE_MEM,
				       ip->info.size);
}

/**
 * rxe_alloc_queue() - charge the current process for the memory of a queue, and
 * allocate it
 * @q: a queue without memory
 * @ip: the program's mapping of the queue. It keeps the owner. NULL for a
 *	kernel user
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After a failure, the caller
 * uncharges @ip.
 */
int rxe_alloc_queue(struct rxe_queue *q, struct rxe_mmap_info *ip)
{
	int ret = ip ? rxe_charge_queue(ip) : 0;

	if (ret)
		return ret;
	q->buf = __vmalloc(q->buf_size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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
 * rxe_map_queue() - map the pages of a queue
 * @ip: the queue
 * @vma: the mapping, which is not longer than the queue
 *
 * remap_vmalloc_range() maps only memory of vmalloc_user(), for which no memory
 * cgroup pays.
 *
 * Context: Process context; may sleep.
 * Return: 0 or a negative errno.
 */
int rxe_map_queue(struct rxe_mmap_info *ip, struct vm_area_struct *vma)
{
	unsigned long addr;
	void *buf = ip->obj;
	int ret = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (addr = vma->vm_start; !ret && addr < vma->vm_end; addr += PAGE_SIZE) {
		ret = vm_insert_page(vma, addr, vmalloc_to_page(buf));
		buf += PAGE_SIZE;
	}
	return ret;
}
