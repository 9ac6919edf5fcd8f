// SPDX-License-Identifier: GPL-2.0-only
/* RDMA cgroup controller: the limits that a query of a device shows. */
#include <linux/minmax.h>

#include "cgroup_device.h"
#include "cgroup_query.h"

/*
 * Returns whether a query may report attributes below those of the device. The
 * providers of these drivers do not size, mask or index anything by these
 * attributes.
 */
static bool ib_rdmacg_may_limit_attr(const struct ib_device *device)
{
	switch (device->ops.driver_id) {
	case RDMA_DRIVER_BNXT_RE:
	case RDMA_DRIVER_ERDMA:
	case RDMA_DRIVER_HFI1:
	case RDMA_DRIVER_HNS:
	case RDMA_DRIVER_IRDMA:
	case RDMA_DRIVER_MANA:
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_MTHCA:
	case RDMA_DRIVER_OCRDMA:
	case RDMA_DRIVER_QEDR:
	case RDMA_DRIVER_QIB:
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
	case RDMA_DRIVER_VMW_PVRDMA:
		return true;
	default:
		return false;
	}
}

/**
 * ib_rdmacg_limit_attr() - lower the capabilities of a device to the limits of
 *	the current process
 * @device: the device. The function does nothing if the device's provider in
 *	user space may depend on the values
 * @attr: a copy of its attributes, for user space
 *
 * Context: Process context.
 */
void ib_rdmacg_limit_attr(struct ib_device *device, struct ib_device_attr *attr)
{
	unsigned int type;
	u64 objects, limit;
	u32 *max;

	if (!ib_rdmacg_may_limit_attr(device))
		return;
	objects = rdmacg_current_limit(&device->cg_device, RDMACG_RESOURCE_HCA_OBJECT);
	for (type = 0; type < IB_RDMACG_DRIVER_OBJECT; type++) {
		max = ib_rdmacg_object_max(attr, type);
		if (!max)
			continue;
		limit = min(objects, ib_rdmacg_type_limit(device, type));
		/*
		 * A maximum of 0 address handles would mean "not stated" to
		 * programs.
		 */
		if (limit || type != IB_RDMACG_AH)
			*max = min(*max, limit);
	}
}
EXPORT_SYMBOL_GPL(ib_rdmacg_limit_attr);
