/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: objects whose charges depend on the attributes of a
 * method. The functions for drivers are in <rdma/ib_rdmacg.h>.
 */
#ifndef _CORE_CGROUP_DRIVER_H
#define _CORE_CGROUP_DRIVER_H

#include <rdma/uverbs_ioctl.h>

#ifdef CONFIG_CGROUP_RDMA

int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
				  const unsigned long *uobjs);

#else /* CONFIG_CGROUP_RDMA */

static inline int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
						const unsigned long *uobjs)
{
	return 0;
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_DRIVER_H */
