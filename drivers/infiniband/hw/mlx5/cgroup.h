/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MLX5_IB_CGROUP_H
#define MLX5_IB_CGROUP_H

#include <rdma/ib_rdmacg.h>

void mlx5_ib_set_object_defs(struct ib_device *device);
void mlx5_ib_set_resources(struct ib_device *device);
int mlx5_ib_charge_uars(struct ib_ucontext *ucontext, unsigned int pages);
void mlx5_ib_uncharge_uars(struct ib_ucontext *ucontext, unsigned int pages);

#endif /* MLX5_IB_CGROUP_H */
