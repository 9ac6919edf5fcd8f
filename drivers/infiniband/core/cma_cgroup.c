// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which cgroup pays for each identifier of the connection manager that user space has.
 */
#include <linux/cgroup_rdma.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "cgroup.h"
#include "cma_cgroup.h"
#include "cma_priv.h"

/**
 * ib_rdmacg_init_cm_id() - settle who pays for a connection identifier
 * @id: an identifier of user space, not bound to a device yet
 * @parent: the listener that it comes from, whose payer is its payer, too; or NULL
 *	for one that the current process makes
 *
 * The payer is pinned until ib_rdmacg_exit_cm_id(). An identifier without this
 * call, or whose @parent has no payer, is one of the kernel's and never charged.
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
 * ib_rdmacg_exit_cm_id() - let go of who paid for a connection identifier
 * @id: an identifier that is not charged any more
 *
 * Context: Any context.
 */
void ib_rdmacg_exit_cm_id(struct rdma_id_private *id)
{
	if (id->cg)
		rdmacg_put(id->cg);
}

/**
 * ib_rdmacg_charge_cm_id() - charge one cm_id for an identifier that has got a device
 * @id: an identifier that has just been bound to a device
 *
 * Context: Process context, perhaps of a kernel thread; may sleep. Called without the
 * connection manager's lock, which others would wait for.
 * Return: 0, -EAGAIN at a limit of the payer, or -ENOMEM.
 */
int ib_rdmacg_charge_cm_id(struct rdma_id_private *id)
{
	int slot = ib_rdmacg_cm_id_slot(id->id.device);
	struct rdmacg_amount charge = { .slot = slot, .amount = 1 };
	int ret;

	if (!id->cg || slot < 0)
		return 0;
	ret = rdmacg_try_charge_cgroup(id->cg, &id->id.device->cg_device, &charge, 1);
	id->is_charged = !ret;
	return ret;
}

/**
 * ib_rdmacg_uncharge_cm_id() - give back what ib_rdmacg_charge_cm_id() took, if it did
 * @id: an identifier that is still bound to its device
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_cm_id(struct rdma_id_private *id)
{
	struct rdmacg_amount charge = { .amount = 1 };

	if (!id->is_charged)
		return;
	id->is_charged = false;
	charge.slot = ib_rdmacg_cm_id_slot(id->id.device);
	rdmacg_uncharge_set(id->cg, &id->id.device->cg_device, &charge, 1);
}
