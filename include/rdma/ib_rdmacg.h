/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers call to have resources of their own accounted: things that the IB
 * core does not know and that a user can exhaust. They appear in rdma.hw.*.
 */
#ifndef _RDMA_IB_RDMACG_H
#define _RDMA_IB_RDMACG_H

#include <rdma/ib_verbs.h>

#ifdef CONFIG_CGROUP_RDMA

/**
 * ib_rdmacg_set_hw_resources() - state a device's own resources
 * @device: a device that is not registered yet
 * @resources: the resources, of RDMACG_CLASS_HW; needed until ib_register_device()
 *	returns
 * @count: how many
 *
 * If the controller refuses them, which it says in the log, or does not count this
 * class, nothing of them is charged.
 *
 * Context: Any context.
 */
static inline void ib_rdmacg_set_hw_resources(struct ib_device *device,
					      const struct rdmacg_resource *resources,
					      unsigned int count)
{
	device->cg_hw.resources = resources;
	device->cg_hw.count = count;
}

int ib_rdmacg_try_charge_hw(struct rdma_cgroup **owner, struct ib_device *device,
			    unsigned int resource);
void ib_rdmacg_uncharge_hw(struct rdma_cgroup *owner, struct ib_device *device,
			   unsigned int resource);

#else /* CONFIG_CGROUP_RDMA */

static inline void ib_rdmacg_set_hw_resources(struct ib_device *device,
					      const struct rdmacg_resource *resources,
					      unsigned int count)
{
}

static inline int ib_rdmacg_try_charge_hw(struct rdma_cgroup **owner,
					  struct ib_device *device,
					  unsigned int resource)
{
	*owner = NULL;
	return 0;
}

static inline void ib_rdmacg_uncharge_hw(struct rdma_cgroup *owner,
					 struct ib_device *device,
					 unsigned int resource)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _RDMA_IB_RDMACG_H */
