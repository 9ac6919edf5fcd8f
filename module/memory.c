// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks for user memory that a device may reach. The charge precedes the checks
 * of the kernel, since they are inside the function that pins the memory.
 */
#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ib_verbs.h>

#include "hook.h"
#include "record.h"

/* No machine can pin this much, so it stands for the whole address space. */
#define RDMACG_ENDLESS_LENGTH BIT_ULL(48)

/* The key of a record is the umem, with which these structs begin. */
static_assert(!offsetof(struct ib_umem_dmabuf, umem) && !offsetof(struct ib_umem_odp, umem));

/* The kernel refuses no bytes, and bytes beyond the end, with other errors. */
static struct rdmacg_record *rdmacg_charge_mem(struct ib_device *device, unsigned long addr,
					       u64 length)
{
	u64 pages = PAGE_ALIGN(addr + length) - (addr & PAGE_MASK);

	if (!length || addr + length < addr)
		return NULL;
	return rdmacg_record_charge(device, NULL, RDMACG_MR_MEM,
				    length >= RDMACG_ENDLESS_LENGTH ? RDMACG_ENDLESS : pages);
}

/*
 * RDMACG_GET(NAME, TYPE, (PARAMETERS), CHARGE, ARGUMENTS...) defines a wrapper
 * of a function that gets a umem.
 */
#define RDMACG_GET(_name, _type, _params, _charge, ...)				\
RDMACG_CALLED(_name, _type *, RDMACG_UNPACK _params);				\
static _type *rdmacg_hook_##_name _params					\
{										\
	struct rdmacg_record *record;						\
	_type *got;								\
										\
	rdmacg_enter();								\
	record = _charge;							\
	got = IS_ERR(record) ? ERR_CAST(record) : rdmacg_call(_name)(__VA_ARGS__); \
	rdmacg_record_keep(record, got);					\
	rdmacg_leave();								\
	return got;								\
}

#define RDMACG_UNPACK(...) __VA_ARGS__

/* The wrapper of a function that releases a umem, which may be NULL. */
#define RDMACG_RELEASE(_name, _type)						\
RDMACG_CALLED(_name, void, _type *umem);					\
static void rdmacg_hook_##_name(_type *umem)					\
{										\
	struct rdmacg_record *record;						\
										\
	rdmacg_enter();								\
	/* Take the charge first: later another umem may have this address. */ \
	record = umem ? rdmacg_record_take(umem) : NULL;			\
	rdmacg_call(_name)(umem);						\
	rdmacg_record_return(record);						\
	rdmacg_leave();								\
}

/* Linux 7.3 has several functions that get a umem, which share one function. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
#define RDMACG_UMEM_GET "__ib_umem_get_va"
#else
#define RDMACG_UMEM_GET "ib_umem_get"
#endif

RDMACG_GET(umem_get, struct ib_umem,
	   (struct ib_device *device, unsigned long addr, size_t size, int access),
	   rdmacg_charge_mem(device, addr, size), device, addr, size, access)
RDMACG_RELEASE(umem_release, struct ib_umem)

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

RDMACG_GET(dmabuf_get, struct ib_umem_dmabuf,
	   (struct ib_device *device, RDMACG_DMABUF_PARAM unsigned long offset, size_t size, int fd,
	    int access, const struct dma_buf_attach_ops *ops),
	   rdmacg_charge_mem(device, offset, size),
	   device, RDMACG_DMABUF_ARG offset, size, fd, access, ops)
RDMACG_GET(odp_get, struct ib_umem_odp,
	   (struct ib_device *device, unsigned long addr, size_t size, int access,
	    const struct mmu_interval_notifier_ops *ops),
	   rdmacg_charge_mem(device, addr, size), device, addr, size, access, ops)
RDMACG_GET(odp_implicit, struct ib_umem_odp, (struct ib_device *device, int access),
	   rdmacg_record_charge(device, NULL, RDMACG_MR_MEM, RDMACG_ENDLESS), device, access)
RDMACG_RELEASE(odp_release, struct ib_umem_odp)

struct rdmacg_hook rdmacg_memory_hooks[] = {
	RDMACG_HOOK(umem_get, RDMACG_UMEM_GET,
		    "ib_umem*(ib_device*,long unsigned int,long unsigned int,int)"),
	RDMACG_HOOK(umem_release, "ib_umem_release", "void(ib_umem*)"),
	RDMACG_HOOK(dmabuf_get, RDMACG_DMABUF_GET,
		    "ib_umem_dmabuf*(ib_device*," RDMACG_DMABUF_DEVICE
		    "long unsigned int,long unsigned int,int,int,dma_buf_attach_ops*)"),
	RDMACG_HOOK(odp_get, "ib_umem_odp_get",
		    "ib_umem_odp*(ib_device*,long unsigned int,long unsigned int,int,"
		    "mmu_interval_notifier_ops*)"),
	RDMACG_HOOK(odp_implicit, "ib_umem_odp_alloc_implicit", "ib_umem_odp*(ib_device*,int)"),
	RDMACG_HOOK(odp_release, "ib_umem_odp_release", "void(ib_umem_odp*)"),
	{}
};
