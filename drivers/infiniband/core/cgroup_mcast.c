// SPDX-License-Identifier: GPL-2.0-only
/* RDMA cgroup controller: charges for attachments to multicast groups. */
#include "cgroup.h"
#include "cgroup_device.h"
#include "cgroup_mcast.h"

/**
 * ib_rdmacg_charge_mcast() - charge an attachment to a multicast group to the
 *	current process
 * @owner: set on success to the owner, or to NULL if attachments are not
 *	counted
 * @device: a registered device
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. The caller passes the @owner of a
 * successful charge to ib_rdmacg_uncharge_mcast() once, from any process.
 */
int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device)
{
	*owner = NULL;
	if (!ib_rdmacg_counts_type(device, IB_RDMACG_MCAST))
		return 0;
	return rdmacg_try_charge(owner, &device->cg_device,
				 ib_rdmacg_type_slot(device, IB_RDMACG_MCAST));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_charge_mcast);

/**
 * ib_rdmacg_uncharge_mcast() - return the charge for an attachment to a
 *	multicast group
 * @owner: the owner from ib_rdmacg_charge_mcast(), perhaps NULL
 * @device: the same device, still registered
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner, struct ib_device *device)
{
	if (owner)
		rdmacg_uncharge(owner, &device->cg_device,
				ib_rdmacg_type_slot(device, IB_RDMACG_MCAST));
}
EXPORT_SYMBOL_GPL(ib_rdmacg_uncharge_mcast);

/**
 * ib_rdmacg_keep_mcast() - keep the charge for an attachment that the driver
 *	did not detach
 * @device: the device, whose table still has the attachment
 *
 * Context: Any context.
 */
void ib_rdmacg_keep_mcast(struct ib_device *device)
{
	ib_rdmacg_keep(device, IB_RDMACG_MCAST);
}
EXPORT_SYMBOL_GPL(ib_rdmacg_keep_mcast);
