/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: charges for attachments to multicast groups. */
#ifndef _CORE_CGROUP_MCAST_H
#define _CORE_CGROUP_MCAST_H

#include <rdma/ib_verbs.h>

#ifdef CONFIG_CGROUP_RDMA

int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device);
void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner, struct ib_device *device);
void ib_rdmacg_keep_mcast(struct ib_device *device);

#else /* CONFIG_CGROUP_RDMA */

static inline int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device)
{
	*owner = NULL;
	return 0;
}

static inline void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner,
					    struct ib_device *device)
{
}

static inline void ib_rdmacg_keep_mcast(struct ib_device *device)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_MCAST_H */
