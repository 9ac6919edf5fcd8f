/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The IB core calls these functions to charge contexts, objects, memory and identifiers. Their
 * descriptions are in cgroup.c and cma_cgroup.c.
 */
#ifndef _CORE_CGROUP_H
#define _CORE_CGROUP_H

#include <rdma/ib_rdmacg.h>

struct ib_umem;
struct rdma_id_private;
struct uverbs_attr_bundle;

#ifdef CONFIG_CGROUP_RDMA

void ib_rdmacg_rename_device(struct ib_device *device);

int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext);
void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext);

int ib_rdmacg_charge_idr_uobject(struct ib_uobject *uobj);
int ib_rdmacg_charge_fd_uobject(struct ib_uobject *uobj);
int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
				  const unsigned long *uobjs);
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj);
void ib_rdmacg_keep_uobject(struct ib_uobject *uobj);

int ib_rdmacg_charge_umem(struct ib_umem *umem);
void ib_rdmacg_uncharge_umem(struct ib_umem *umem);

int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device);
void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner, struct ib_device *device);

void ib_rdmacg_limit_attr(struct ib_device *device, struct ib_device_attr *attr);

int ib_rdmacg_cm_id_slot(const struct ib_device *device);

/* cma_cgroup.c */
void ib_rdmacg_init_cm_id(struct rdma_id_private *id, const struct rdma_id_private *parent);
void ib_rdmacg_exit_cm_id(struct rdma_id_private *id);
int ib_rdmacg_charge_cm_id(struct rdma_id_private *id);
void ib_rdmacg_uncharge_cm_id(struct rdma_id_private *id);

#else /* CONFIG_CGROUP_RDMA */

static inline void ib_rdmacg_rename_device(struct ib_device *device)
{
}

static inline int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext)
{
}

static inline int ib_rdmacg_charge_fd_uobject(struct ib_uobject *uobj)
{
	return 0;
}

static inline int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
						const unsigned long *uobjs)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
}

static inline void ib_rdmacg_keep_uobject(struct ib_uobject *uobj)
{
}

static inline int ib_rdmacg_charge_umem(struct ib_umem *umem)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_umem(struct ib_umem *umem)
{
}

static inline int ib_rdmacg_charge_mcast(struct rdma_cgroup **owner, struct ib_device *device)
{
	*owner = NULL;
	return 0;
}

static inline void ib_rdmacg_uncharge_mcast(struct rdma_cgroup *owner,
					    struct ib_device *device)
{
}

static inline void ib_rdmacg_limit_attr(struct ib_device *device,
					struct ib_device_attr *attr)
{
}

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
#endif /* _CORE_CGROUP_H */
