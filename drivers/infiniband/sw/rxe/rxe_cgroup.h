/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RXE_CGROUP_H
#define RXE_CGROUP_H

#include <rdma/ib_rdmacg.h>

struct rxe_dev;

/**
 * enum rxe_resource - what rxe has accounted beyond uverbs objects
 * @RXE_RESOURCE_MCAST_GRP: multicast groups; the first to attach a QP pays
 * @RXE_RESOURCE_MCAST_ATTACH: QPs attached to multicast groups
 */
enum rxe_resource {
	RXE_RESOURCE_MCAST_GRP,
	RXE_RESOURCE_MCAST_ATTACH,
};

void rxe_set_resources(struct rxe_dev *rxe);

#endif /* RXE_CGROUP_H */
