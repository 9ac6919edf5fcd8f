// SPDX-License-Identifier: GPL-2.0-only
/* RDMA cgroup controller: charges for memory that a device can access. */
#include <rdma/ib_umem_odp.h>

#include "cgroup_device.h"
#include "cgroup_umem.h"

/*
 * Memory is charged by its bytes. An implicit ODP MR is charged for endless
 * memory and for an endless number of MRs, because the driver creates the child
 * MRs without uverbs.
 */
#define IB_RDMACG_MEM_SET 2

/*
 * Fill @set with the charges for @length bytes at @addr. Returns the number of
 * charges.
 */
static unsigned int ib_rdmacg_mem_set(const struct ib_device *device, u64 addr, u64 length,
				      struct rdmacg_amount *set)
{
	u64 mem = ib_rdmacg_mem(length);
	struct rdmacg_amount *next = set;

	if (mem == RDMACG_ENDLESS)
		next = ib_rdmacg_add(next, device, IB_RDMACG_MR, mem);
	else
		mem = PAGE_ALIGN(addr + length) - (addr & PAGE_MASK);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, mem);
	return next - set;
}

/**
 * ib_rdmacg_charge_mem() - charge the current process for memory that a device
 *	is about to access
 * @owner: set on success to the owner, or to NULL if memory is not counted
 * @device: a registered device
 * @addr: the first address of the memory
 * @length: the number of bytes. A part of a page counts as a page. A length of
 *	2^48 or more is refused if mr_mem or mr has a limit, and otherwise not
 *	counted
 *
 * Call this function before a page is pinned or mapped. The caller may check
 * the range later, and then uncharges a range that it refuses.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a
 * successful charge to ib_rdmacg_uncharge_mem() once, from any process.
 */
int ib_rdmacg_charge_mem(struct rdma_cgroup **owner, struct ib_device *device, u64 addr,
			 u64 length)
{
	struct rdmacg_amount set[IB_RDMACG_MEM_SET];
	unsigned int count = ib_rdmacg_mem_set(device, addr, length, set);

	*owner = NULL;
	return count ? rdmacg_try_charge_set(owner, &device->cg_device, set, count) : 0;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_mem);

/**
 * ib_rdmacg_uncharge_mem() - return the charge for memory that a device no
 *	longer accesses
 * @owner: the owner from ib_rdmacg_charge_mem(), perhaps NULL
 * @device: the device of the charge, still registered
 * @addr: the address of the charge
 * @length: the length of the charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_mem(struct rdma_cgroup *owner, struct ib_device *device, u64 addr,
			    u64 length)
{
	struct rdmacg_amount set[IB_RDMACG_MEM_SET];

	if (owner)
		rdmacg_uncharge_set(owner, &device->cg_device, set,
				    ib_rdmacg_mem_set(device, addr, length, set));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_mem);

/*
 * Returns the length to charge. An on-demand umem is endless if it covers the
 * whole address space, or if its array of page numbers is too long for
 * kvcalloc(). RLIMIT_MEMLOCK does not stop such a umem before the charge, so a
 * finite charge would remain as an absurd peak.
 */
static u64 ib_rdmacg_umem_length(struct ib_umem *umem)
{
	u64 longest = INT_MAX / sizeof(unsigned long) * PAGE_SIZE;

	if (umem->is_odp && (to_ib_umem_odp(umem)->is_implicit_odp || umem->length > longest))
		return U64_MAX;
	return umem->length;
}

/**
 * ib_rdmacg_charge_umem() - charge the current process for the memory of a umem
 * @umem: a umem that is not charged yet. It keeps the owner. Its device,
 *	address and length are set
 *
 * The charge does not depend on ib_umem_num_pages(), because drivers change the
 * address that ib_umem_num_pages() uses.
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_umem(struct ib_umem *umem)
{
	return ib_rdmacg_charge_mem(&umem->cg, umem->ibdev, umem->address,
				    ib_rdmacg_umem_length(umem));
}

/**
 * ib_rdmacg_uncharge_umem() - give back the charge of a umem
 * @umem: a umem whose memory the device no longer accesses. It may have no
 *	charge, for example if it is a child of an implicit umem
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_umem(struct ib_umem *umem)
{
	ib_rdmacg_uncharge_mem(umem->cg, umem->ibdev, umem->address,
			       ib_rdmacg_umem_length(umem));
}
