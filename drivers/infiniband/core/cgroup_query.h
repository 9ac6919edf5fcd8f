/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: the limits that a query of a device shows. */
#ifndef _CORE_CGROUP_QUERY_H
#define _CORE_CGROUP_QUERY_H

#include <rdma/ib_verbs.h>

#ifdef CONFIG_CGROUP_RDMA

void ib_rdmacg_limit_attr(struct ib_device *device, struct ib_device_attr *attr);

#else /* CONFIG_CGROUP_RDMA */

static inline void ib_rdmacg_limit_attr(struct ib_device *device,
					struct ib_device_attr *attr)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_QUERY_H */
