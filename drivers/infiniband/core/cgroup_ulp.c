// SPDX-License-Identifier: GPL-2.0-only
/* RDMA cgroup controller: charges for the objects of ULPs in the kernel. */
#include "cgroup_device.h"

/* The number of fields of struct ib_rdmacg_objects. */
#define IB_RDMACG_OBJECT_KINDS 8

static struct rdmacg_amount *ib_rdmacg_add_hca(struct rdmacg_amount *next, unsigned int slot,
					       u64 amount)
{
	if (amount)
		*next++ = (struct rdmacg_amount) { slot, amount };
	return next;
}

/*
 * Fill @set with the objects that the device counts. Returns the number of
 * amounts in @set.
 */
static unsigned int ib_rdmacg_objects_set(const struct ib_device *device,
					  const struct ib_rdmacg_objects *objects,
					  struct rdmacg_amount *set)
{
	struct rdmacg_amount *next = set;

	next = ib_rdmacg_add_hca(next, RDMACG_RESOURCE_HCA_HANDLE, objects->hca_handle);
	next = ib_rdmacg_add_hca(next, RDMACG_RESOURCE_HCA_OBJECT, objects->hca_object);
	next = ib_rdmacg_add(next, device, IB_RDMACG_PD, objects->pd);
	next = ib_rdmacg_add(next, device, IB_RDMACG_CQ, objects->cq);
	next = ib_rdmacg_add(next, device, IB_RDMACG_QP, objects->qp);
	next = ib_rdmacg_add(next, device, IB_RDMACG_SRQ, objects->srq);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR, objects->mr);
	next = ib_rdmacg_add(next, device, IB_RDMACG_MR_MEM, ib_rdmacg_mem(objects->mr_mem));
	return next - set;
}

/**
 * ib_rdmacg_try_charge_objects() - charge a cgroup for objects that a ULP is
 *	about to create
 * @cg: the cgroup, for example from rdmacg_get_current(). The caller keeps its
 *	reference. The function charges nothing and succeeds if @cg is NULL
 * @device: a device of the ULP's ib_client, until the client's remove() returns
 * @objects: the objects
 *
 * All of @objects are charged, or none. Objects that the device does not count
 * are not charged. The ULP calls this function before the driver creates the
 * objects. The ULP later returns a successful charge by
 * ib_rdmacg_uncharge_objects() with the same arguments. The charge holds a
 * reference to @cg until then.
 *
 * Context: Process context, perhaps of a kernel thread; may sleep. Allocates
 * with GFP_KERNEL_ACCOUNT.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_try_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				 const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (!cg || !count)
		return 0;
	return rdmacg_try_charge_cgroup(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_try_charge_objects);

/**
 * ib_rdmacg_charge_objects() - charge a cgroup for objects, even above a limit
 * @cg: see ib_rdmacg_try_charge_objects()
 * @device: see ib_rdmacg_try_charge_objects()
 * @objects: see ib_rdmacg_try_charge_objects()
 *
 * Use this only if a refusal would break a connection in use. The events are
 * those of rdmacg_charge().
 *
 * Context: Process context, perhaps of a kernel thread; may sleep.
 */
void ib_rdmacg_charge_objects(struct rdma_cgroup *cg, struct ib_device *device,
			      const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (cg && count)
		rdmacg_charge(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_objects);

/**
 * ib_rdmacg_uncharge_objects() - return a charge of a ULP
 * @cg: the same cgroup, perhaps NULL
 * @device: the same device, still registered
 * @objects: the same objects
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_objects(struct rdma_cgroup *cg, struct ib_device *device,
				const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_amount set[IB_RDMACG_OBJECT_KINDS];
	unsigned int count = ib_rdmacg_objects_set(device, objects, set);

	if (cg && count)
		rdmacg_uncharge_set(cg, &device->cg_device, set, count);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_objects);

/**
 * ib_rdmacg_current_is_limited() - check whether the current process has a
 *	limit that a ULP without charges would bypass
 * @device: a registered device
 *
 * Context: Process context.
 * Return: true if the cgroup of the process, or an ancestor, has a limit of qp,
 * mr or mr_mem.
 */
bool ib_rdmacg_current_is_limited(struct ib_device *device)
{
	return ib_rdmacg_type_limit(device, IB_RDMACG_QP) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, IB_RDMACG_MR) != RDMACG_NO_LIMIT ||
	       ib_rdmacg_type_limit(device, IB_RDMACG_MR_MEM) != RDMACG_NO_LIMIT;
}
EXPORT_SYMBOL_GPL(ib_rdmacg_current_is_limited);
