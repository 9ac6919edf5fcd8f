// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: charges for connection identifiers of user space.
 */
#include <linux/cgroup_rdma.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "cgroup_cma.h"
#include "cgroup_device.h"
#include "cma_priv.h"

/**
 * ib_rdmacg_init_cm_id() - set the cgroup to which a connection identifier is
 *	charged
 * @id: an identifier of user space that is not bound to a device yet
 * @parent: the listener that got the connection request, whose cgroup is
 *	charged. NULL if the current process creates the identifier
 *
 * The identifier holds a reference to the cgroup until ib_rdmacg_exit_cm_id().
 * Identifiers of the kernel are never charged: this function is not called for
 * them, or their @parent has no cgroup.
 *
 * Context: Process context.
 */
void ib_rdmacg_init_cm_id(struct rdma_id_private *id, const struct rdma_id_private *parent)
{
	if (!parent) {
		id->cg = rdmacg_get_current();
	} else if (parent->cg) {
		rdmacg_get(parent->cg);
		id->cg = parent->cg;
	}
}

/**
 * ib_rdmacg_exit_cm_id() - put the cgroup of a connection identifier
 * @id: an identifier without a charge
 *
 * Context: Any context.
 */
void ib_rdmacg_exit_cm_id(struct rdma_id_private *id)
{
	if (id->cg)
		rdmacg_put(id->cg);
}

/**
 * ib_rdmacg_charge_cm_id() - charge one cm_id for an identifier
 * @id: an identifier that has just been bound to a device
 *
 * Context: Process context, perhaps of a kernel thread; may sleep. The caller
 * does not hold the lock of the connection manager, so no other process waits
 * for the charge.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM.
 */
int ib_rdmacg_charge_cm_id(struct rdma_id_private *id)
{
	struct ib_device *device = id->id.device;
	const struct rdmacg_amount charge = { ib_rdmacg_type_slot(device, IB_RDMACG_CM_ID), 1 };
	int ret;

	if (!id->cg || !ib_rdmacg_counts_type(device, IB_RDMACG_CM_ID))
		return 0;
	ret = rdmacg_try_charge_cgroup(id->cg, &device->cg_device, &charge, 1);
	id->is_charged = !ret;
	return ret;
}

/**
 * ib_rdmacg_uncharge_cm_id() - return the charge of one cm_id for an identifier
 * @id: an identifier that is still bound to its device, perhaps without a
 *	charge
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_cm_id(struct rdma_id_private *id)
{
	struct ib_device *device = id->id.device;
	struct rdmacg_amount charge = { .amount = 1 };

	if (!id->is_charged)
		return;
	id->is_charged = false;
	charge.slot = ib_rdmacg_type_slot(device, IB_RDMACG_CM_ID);
	rdmacg_uncharge_set(id->cg, &device->cg_device, &charge, 1);
}
