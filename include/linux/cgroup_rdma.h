/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: what the IB core and kernel ULPs call.
 */
#ifndef _LINUX_CGROUP_RDMA_H
#define _LINUX_CGROUP_RDMA_H

#include <linux/cgroup.h>
#include <linux/list.h>
#include <linux/types.h>

struct rdma_cgroup;

/**
 * enum rdmacg_resource_type - the resources of the hca class
 * @RDMACG_RESOURCE_HCA_HANDLE: open uverbs contexts
 * @RDMACG_RESOURCE_HCA_OBJECT: uverbs objects that have an id
 * @RDMACG_RESOURCE_MAX: how many there are
 */
enum rdmacg_resource_type {
	RDMACG_RESOURCE_HCA_HANDLE,
	RDMACG_RESOURCE_HCA_OBJECT,
	RDMACG_RESOURCE_MAX,
};

/**
 * struct rdmacg_device - one RDMA device, as the controller knows it
 * @name: what users call the device; set by the caller before registration and
 *	valid until unregistration has returned
 * @index: system-wide number that tells devices of the same name apart; set by
 *	the caller before registration
 *
 * Embedded in the caller's device. The controller keeps the rest.
 */
struct rdmacg_device {
	const char		*name;
	u32			index;
	/* private: */
	/* Key of the device's pools in each cgroup; set once at registration. */
	u32			id;
	/* Its pools in all cgroups; rdmacg_mutex. */
	struct list_head	pools;
};

#ifdef CONFIG_CGROUP_RDMA

int rdmacg_register_device(struct rdmacg_device *device);
void rdmacg_unregister_device(struct rdmacg_device *device);

int rdmacg_try_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
		      enum rdmacg_resource_type index);
void rdmacg_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
		     enum rdmacg_resource_type index);

#else /* CONFIG_CGROUP_RDMA */

static inline int rdmacg_register_device(struct rdmacg_device *device)
{
	return 0;
}

static inline void rdmacg_unregister_device(struct rdmacg_device *device)
{
}

static inline int rdmacg_try_charge(struct rdma_cgroup **owner,
				    struct rdmacg_device *device,
				    enum rdmacg_resource_type index)
{
	*owner = NULL;
	return 0;
}

static inline void rdmacg_uncharge(struct rdma_cgroup *owner,
				   struct rdmacg_device *device,
				   enum rdmacg_resource_type index)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _LINUX_CGROUP_RDMA_H */
