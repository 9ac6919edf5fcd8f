/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: charges for the memory of a umem. */
#ifndef _CORE_CGROUP_UMEM_H
#define _CORE_CGROUP_UMEM_H

#include <rdma/ib_umem.h>

#ifdef CONFIG_CGROUP_RDMA

int ib_rdmacg_charge_umem(struct ib_umem *umem);
void ib_rdmacg_uncharge_umem(struct ib_umem *umem);

#else /* CONFIG_CGROUP_RDMA */

static inline int ib_rdmacg_charge_umem(struct ib_umem *umem)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_umem(struct ib_umem *umem)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_UMEM_H */
