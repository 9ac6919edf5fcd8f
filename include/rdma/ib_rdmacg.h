/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers call to have resources of their own accounted: things that the IB
 * core does not know and that a user can exhaust. They appear in rdma.hw.*. And what those
 * state whose own interface makes objects under another name.
 *
 * What ULPs in the kernel call for objects that a user makes them have: they appear in
 * rdma.verb.*, as those do that the user makes through uverbs. rdmacg_get_current() tells
 * whom to charge, where a system call does the work; where a worker does it later, the ULP
 * keeps what that returned until then.
 */
#ifndef _RDMA_IB_RDMACG_H
#define _RDMA_IB_RDMACG_H

#include <rdma/ib_verbs.h>

struct uverbs_attr_bundle;

/**
 * struct ib_rdmacg_content - what an object of uverbs counts as, beside hca_object
 * @type: of enum uverbs_default_objects; any other, or one that the device does not have, is a
 *	driver_object
 * @dm_mem: the bytes of device memory that it takes
 */
struct ib_rdmacg_content {
	u32			type;
	u64			dm_mem;
};

/**
 * struct ib_rdmacg_object_def - an object whose type does not tell what it counts as
 * @id: the type of object
 * @describe: called before the method that makes one; finds out from the method's
 *	attributes. @content comes with the object's own type and without device memory. Returns
 *	0, or an error, with which the method fails
 */
struct ib_rdmacg_object_def {
	u32			id;
	int (*describe)(const struct uverbs_attr_bundle *attrs,
			struct ib_rdmacg_content *content);
};

/**
 * struct ib_rdmacg_objects - what a ULP is about to make, each 0 for none
 * @pd: protection domains
 * @cq: completion queues
 * @qp: queue pairs
 * @srq: shared receive queues
 * @mr: memory regions
 * @mr_mem: the bytes that those can register; from 2^48 on they are not counted, and
 *	refused where there is a limit
 */
struct ib_rdmacg_objects {
	u32			pd;
	u32			cq;
	u32			qp;
	u32			srq;
	u32			mr;
	u64			mr_mem;
};

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

/**
 * ib_rdmacg_set_object_defs() - state which of a driver's own objects are more than that
 * @device: a device that is not registered yet
 * @defs: ends with one that is empty; needed as long as the device is registered
 *
 * Context: Any context.
 */
static inline void ib_rdmacg_set_object_defs(struct ib_device *device,
					     const struct ib_rdmacg_object_def *defs)
{
	device->cg_objects = defs;
}

int ib_rdmacg_try_charge_hw(struct rdma_cgroup **owner, struct ib_device *device,
			    unsigned int resource, u64 amount);
void ib_rdmacg_uncharge_hw(struct rdma_cgroup *owner, struct ib_device *device,
			   unsigned int resource, u64 amount);

int ib_rdmacg_try_charge_ucontext_hw(struct ib_ucontext *ucontext, unsigned int resource,
				     u64 amount);
void ib_rdmacg_uncharge_ucontext_hw(struct ib_ucontext *ucontext, unsigned int resource,
				    u64 amount);

int ib_rdmacg_charge_mem(struct rdma_cgroup **owner, struct ib_device *device, u64 addr,
			 u64 length);
void ib_rdmacg_uncharge_mem(struct rdma_cgroup *owner, struct ib_device *device, u64 addr,
			    u64 length);

void ib_rdmacg_move_charge(struct ib_uobject *uobj, struct ib_rdmacg_object *to);
void ib_rdmacg_uncharge_object(struct ib_device *device, struct ib_rdmacg_object *obj);

int ib_rdmacg_try_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				 const struct ib_rdmacg_objects *objects);
void ib_rdmacg_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
			      const struct ib_rdmacg_objects *objects);
void ib_rdmacg_uncharge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				const struct ib_rdmacg_objects *objects);

bool ib_rdmacg_current_is_limited(struct ib_device *device);

#else /* CONFIG_CGROUP_RDMA */

static inline void ib_rdmacg_set_hw_resources(struct ib_device *device,
					      const struct rdmacg_resource *resources,
					      unsigned int count)
{
}

static inline void ib_rdmacg_set_object_defs(struct ib_device *device,
					     const struct ib_rdmacg_object_def *defs)
{
}

static inline int ib_rdmacg_try_charge_hw(struct rdma_cgroup **owner,
					  struct ib_device *device,
					  unsigned int resource, u64 amount)
{
	*owner = NULL;
	return 0;
}

static inline void ib_rdmacg_uncharge_hw(struct rdma_cgroup *owner,
					 struct ib_device *device,
					 unsigned int resource, u64 amount)
{
}

static inline int ib_rdmacg_try_charge_ucontext_hw(struct ib_ucontext *ucontext,
						   unsigned int resource, u64 amount)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_ucontext_hw(struct ib_ucontext *ucontext,
						  unsigned int resource, u64 amount)
{
}

static inline int ib_rdmacg_charge_mem(struct rdma_cgroup **owner,
				       struct ib_device *device, u64 addr, u64 length)
{
	*owner = NULL;
	return 0;
}

static inline void ib_rdmacg_uncharge_mem(struct rdma_cgroup *owner,
					  struct ib_device *device, u64 addr, u64 length)
{
}

static inline void ib_rdmacg_move_charge(struct ib_uobject *uobj,
					 struct ib_rdmacg_object *to)
{
}

static inline void ib_rdmacg_uncharge_object(struct ib_device *device,
					     struct ib_rdmacg_object *obj)
{
}

static inline int ib_rdmacg_try_charge_objects(struct rdma_cgroup *cg,
					       struct ib_device *device,
					       const struct ib_rdmacg_objects *objects)
{
	return 0;
}

static inline void ib_rdmacg_charge_objects(struct rdma_cgroup *cg,
					    struct ib_device *device,
					    const struct ib_rdmacg_objects *objects)
{
}

static inline void ib_rdmacg_uncharge_objects(struct rdma_cgroup *cg,
					      struct ib_device *device,
					      const struct ib_rdmacg_objects *objects)
{
}

static inline bool ib_rdmacg_current_is_limited(struct ib_device *device)
{
	return false;
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _RDMA_IB_RDMACG_H */
