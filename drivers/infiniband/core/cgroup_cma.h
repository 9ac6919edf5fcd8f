/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: charges for identifiers of the connection manager. */
#ifndef _CORE_CGROUP_CMA_H
#define _CORE_CGROUP_CMA_H

struct rdma_id_private;

#ifdef CONFIG_CGROUP_RDMA

void ib_rdmacg_init_cm_id(struct rdma_id_private *id, const struct rdma_id_private *parent);
void ib_rdmacg_exit_cm_id(struct rdma_id_private *id);
int ib_rdmacg_charge_cm_id(struct rdma_id_private *id);
void ib_rdmacg_uncharge_cm_id(struct rdma_id_private *id);

#else /* CONFIG_CGROUP_RDMA */

static inline void ib_rdmacg_init_cm_id(struct rdma_id_private *id,
					const struct rdma_id_private *parent)
{
}

static inline void ib_rdmacg_exit_cm_id(struct rdma_id_private *id)
{
}

static inline int ib_rdmacg_charge_cm_id(struct rdma_id_private *id)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_cm_id(struct rdma_id_private *id)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_CMA_H */
