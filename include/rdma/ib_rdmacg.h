/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drivers call these functions for resources that the IB core does not know and
 * that a user can exhaust. These resources appear in rdma.hw.*. Drivers also
 * use this header to describe the objects of their own interfaces.
 *
 * ULPs in the kernel call these functions for objects that they create for a
 * user. Such objects appear in the same files as objects from uverbs. In a
 * system call, rdmacg_get_current() returns the cgroup to charge. The ULP keeps
 * this cgroup if a worker creates the objects later.
 */
#ifndef _RDMA_IB_RDMACG_H
#define _RDMA_IB_RDMACG_H

#include <linux/cgroup_rdma.h>

struct ib_device;
struct ib_rdmacg_object;
struct ib_ucontext;
struct ib_uobject;
struct uverbs_attr_bundle;

/*
 * The type of an object that attaches a QP to a multicast group. No object of
 * verbs has this id.
 */
#define IB_RDMACG_CONTENT_MCAST U32_MAX

/**
 * struct ib_rdmacg_content - the charges for a uverbs object, except hca_object
 * @type: a value of enum uverbs_default_objects, or IB_RDMACG_CONTENT_MCAST.
 *	The object is charged as a driver_object if this is another value, or a
 *	type that the device does not have
 * @dm_mem: the bytes of device memory in the object
 */
struct ib_rdmacg_content {
	u32			type;
	u64			dm_mem;
};

/**
 * struct ib_rdmacg_object_def - a type of objects whose charges depend on
 * attributes
 * @id: the type of object
 * @describe: the function that sets the charge of an object. It is called with
 *	the attributes of the method that is about to create the object. Before
 *	the call, @content has the type of the object and no device memory. The
 *	function returns 0 or the error of the method
 */
struct ib_rdmacg_object_def {
	u32			id;
	int (*describe)(const struct uverbs_attr_bundle *attrs,
			struct ib_rdmacg_content *content);
};

/**
 * struct ib_rdmacg_objects - numbers of objects that a ULP is about to create
 * @hca_handle: uses of the device, in place of the open contexts of a process
 * @hca_object: objects of any type. Set @hca_handle and @hca_object if the
 *	limits of rdma.max must also hold for the ULP; container runtimes set
 *	only these limits
 * @pd: protection domains
 * @cq: completion queues
 * @qp: queue pairs
 * @srq: shared receive queues
 * @mr: memory regions
 * @mr_mem: the bytes that the device can access through these objects. An
 *	amount of 2^48 bytes or more is refused if there is a limit, and
 *	otherwise not counted
 */
struct ib_rdmacg_objects {
	u32			hca_handle;
	u32			hca_object;
	u32			pd;
	u32			cq;
	u32			qp;
	u32			srq;
	u32			mr;
	u64			mr_mem;
};

#ifdef CONFIG_CGROUP_RDMA

void ib_rdmacg_set_hw_resources(struct ib_device *device,
				const struct rdmacg_resource *resources, unsigned int count);
void ib_rdmacg_set_object_defs(struct ib_device *device,
			       const struct ib_rdmacg_object_def *defs);

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
