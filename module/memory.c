// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks for user memory that a device may reach. The charge precedes the checks of
 * the kernel, since they are inside the function that pins the memory.
 */
#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ib_verbs.h>

#include "hook.h"
#include "parts.h"
#include "record.h"

/* No machine can pin this much, so this length stands for the whole address space. */
#define RDMACG_ENDLESS_LENGTH BIT_ULL(48)

static u64 rdmacg_pages(unsigned long addr, u64 length)
{
	return length >= RDMACG_ENDLESS_LENGTH ? RDMACG_TARGET_ENDLESS :
	       PAGE_ALIGN(addr + length) - (addr & PAGE_MASK);
}

/* The kernel refuses no memory, and memory beyond the end, with its own errors. */
static struct rdmacg_record *rdmacg_charge_mem(struct ib_device *device, unsigned long addr,
					       u64 length)
{
	if (!length || addr + length < addr)
		return NULL;
	return rdmacg_record_charge(device, NULL, RDMACG_MR_MEM, rdmacg_pages(addr, length));
}

/*
 * Return the charge if @umem is an error, and else keep it. Wrappers end with this macro, since
 * each has another type.
 */
#define rdmacg_keep_charge(_record, _got, _umem)				\
do {										\
	if (IS_ERR(_got))							\
		rdmacg_record_return(_record);					\
	else if (_record)							\
		rdmacg_record_add(_record, _umem);				\
	rdmacg_leave();								\
} while (0)

/* Linux 7.3 has several functions that get a umem, which share one function. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
#define RDMACG_UMEM_GET "__ib_umem_get_va"
#else
#define RDMACG_UMEM_GET "ib_umem_get"
#endif

RDMACG_CALLED(umem_get, struct ib_umem *, struct ib_device *device, unsigned long addr,
	      size_t size, int access);

static struct ib_umem *rdmacg_hook_umem_get(struct ib_device *device, unsigned long addr,
					    size_t size, int access)
{
	struct rdmacg_record *record;
	struct ib_umem *umem;

	rdmacg_enter();
	record = rdmacg_charge_mem(device, addr, size);
	if (IS_ERR(record)) {
		rdmacg_leave();
		return ERR_CAST(record);
	}
	umem = rdmacg_call(umem_get)(device, addr, size, access);
	rdmacg_keep_charge(record, umem, umem);
	return umem;
}

static void rdmacg_hook_umem_release(struct ib_umem *umem)
{
	struct rdmacg_record *record;

	rdmacg_enter();
	/* Take the charge first: afterwards another umem may have this address. */
	record = umem ? rdmacg_record_take(umem) : NULL;
	ib_umem_release(umem);
	rdmacg_record_return(record);
	rdmacg_leave();
}

/* Linux before 6.12 has one device for the mapping. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define RDMACG_DMABUF_GET "ib_umem_dmabuf_get_with_dma_device"
#define RDMACG_DMABUF_DEVICE "device*,"
#define RDMACG_DMABUF_PARAM struct device *dma_device,
#define RDMACG_DMABUF_ARG dma_device,
#else
#define RDMACG_DMABUF_GET "ib_umem_dmabuf_get"
#define RDMACG_DMABUF_DEVICE
#define RDMACG_DMABUF_PARAM
#define RDMACG_DMABUF_ARG
#endif

RDMACG_CALLED(dmabuf_get, struct ib_umem_dmabuf *, struct ib_device *device,
	      RDMACG_DMABUF_PARAM unsigned long offset, size_t size, int fd, int access,
	      const struct dma_buf_attach_ops *ops);

static struct ib_umem_dmabuf *rdmacg_hook_dmabuf_get(struct ib_device *device,
						     RDMACG_DMABUF_PARAM unsigned long offset,
						     size_t size, int fd, int access,
						     const struct dma_buf_attach_ops *ops)
{
	struct ib_umem_dmabuf *dmabuf;
	struct rdmacg_record *record;

	rdmacg_enter();
	record = rdmacg_charge_mem(device, offset, size);
	if (IS_ERR(record)) {
		rdmacg_leave();
		return ERR_CAST(record);
	}
	dmabuf = rdmacg_call(dmabuf_get)(device, RDMACG_DMABUF_ARG offset, size, fd, access, ops);
	rdmacg_keep_charge(record, dmabuf, &dmabuf->umem);
	return dmabuf;
}

static struct ib_umem_odp *rdmacg_hook_odp_get(struct ib_device *device, unsigned long addr,
					       size_t size, int access,
					       const struct mmu_interval_notifier_ops *ops)
{
	struct rdmacg_record *record;
	struct ib_umem_odp *odp;

	rdmacg_enter();
	record = rdmacg_charge_mem(device, addr, size);
	if (IS_ERR(record)) {
		rdmacg_leave();
		return ERR_CAST(record);
	}
	odp = ib_umem_odp_get(device, addr, size, access, ops);
	rdmacg_keep_charge(record, odp, &odp->umem);
	return odp;
}

static struct ib_umem_odp *rdmacg_hook_odp_implicit(struct ib_device *device, int access)
{
	struct rdmacg_record *record;
	struct ib_umem_odp *odp;

	rdmacg_enter();
	record = rdmacg_record_charge(device, NULL, RDMACG_MR_MEM, RDMACG_TARGET_ENDLESS);
	if (IS_ERR(record)) {
		rdmacg_leave();
		return ERR_CAST(record);
	}
	odp = ib_umem_odp_alloc_implicit(device, access);
	rdmacg_keep_charge(record, odp, &odp->umem);
	return odp;
}

static void rdmacg_hook_odp_release(struct ib_umem_odp *odp)
{
	struct rdmacg_record *record;

	rdmacg_enter();
	record = rdmacg_record_take(&odp->umem);
	ib_umem_odp_release(odp);
	rdmacg_record_return(record);
	rdmacg_leave();
}

static struct rdmacg_hook rdmacg_memory_hooks[] = {
	{ RDMACG_UMEM_GET, "ib_umem*(ib_device*,long unsigned int,long unsigned int,int)",
	  rdmacg_hook_umem_get },
	{ "ib_umem_release", "void(ib_umem*)", rdmacg_hook_umem_release },
	{ RDMACG_DMABUF_GET, "ib_umem_dmabuf*(ib_device*," RDMACG_DMABUF_DEVICE
	  "long unsigned int,long unsigned int,int,int,dma_buf_attach_ops*)",
	  rdmacg_hook_dmabuf_get },
	{ "ib_umem_odp_get",
	  "ib_umem_odp*(ib_device*,long unsigned int,long unsigned int,int,mmu_interval_notifier_ops*)",
	  rdmacg_hook_odp_get },
	{ "ib_umem_odp_alloc_implicit", "ib_umem_odp*(ib_device*,int)", rdmacg_hook_odp_implicit },
	{ "ib_umem_odp_release", "void(ib_umem_odp*)", rdmacg_hook_odp_release },
};

int rdmacg_memory_init(void)
{
	if (!rdmacg_find_called(umem_get, RDMACG_UMEM_GET) ||
	    !rdmacg_find_called(dmabuf_get, RDMACG_DMABUF_GET))
		return -ENOENT;
	return rdmacg_hooks_add(rdmacg_memory_hooks, ARRAY_SIZE(rdmacg_memory_hooks));
}
