// SPDX-License-Identifier: GPL-2.0-only
/*
 * rxe's resources for the RDMA cgroup controller: a user can attach a QP to as many
 * multicast groups as the device has, and no uverbs object tells of it.
 */
#include "rxe.h"
#include "rxe_cgroup.h"

static const struct rdmacg_resource rxe_resources[] = {
	[RXE_RESOURCE_MCAST_GRP] = {
		.name		= "mcast_grp",
		.class		= RDMACG_CLASS_HW,
		.unit		= RDMACG_OBJECTS,
		.capacity	= RXE_MAX_MCAST_GRP,
	},
	[RXE_RESOURCE_MCAST_ATTACH] = {
		.name		= "mcast_attach",
		.class		= RDMACG_CLASS_HW,
		.unit		= RDMACG_OBJECTS,
		.capacity	= RXE_MAX_TOT_MCAST_QP_ATTACH,
	},
};

/**
 * rxe_set_resources() - state what rxe wants to have accounted
 * @rxe: a device that is not registered yet
 *
 * Context: Any context.
 */
void rxe_set_resources(struct rxe_dev *rxe)
{
	ib_rdmacg_set_hw_resources(&rxe->ib_dev, rxe_resources, ARRAY_SIZE(rxe_resources));
}
