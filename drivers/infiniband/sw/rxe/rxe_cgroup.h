/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RXE_CGROUP_H
#define RXE_CGROUP_H

#include <rdma/ib_rdmacg.h>

struct rxe_dev;
struct rxe_mmap_info;

void rxe_set_resources(struct rxe_dev *rxe);
int rxe_charge_queue(struct rxe_mmap_info *ip);
void rxe_uncharge_queue(struct rxe_mmap_info *ip);

#endif /* RXE_CGROUP_H */
