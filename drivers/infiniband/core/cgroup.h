/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the IB core calls to have its contexts and objects accounted; the functions
 * are described in cgroup.c.
 */
#ifndef _CORE_CGROUP_H
#define _CORE_CGROUP_H

#include <rdma/ib_rdmacg.h>

struct uverbs_attr_bundle;

#ifdef CONFIG_CGROUP_RDMA

int ib_rdmacg_register_device(struct ib_device *device);
void ib_rdmacg_unregister_device(struct ib_device *device);
void ib_rdmacg_rename_device(struct ib_device *device);

int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext);
void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext);

int ib_rdmacg_charge_idr_uobject(struct ib_uobject *uobj);
int ib_rdmacg_charge_fd_uobject(struct ib_uobject *uobj);
int ib_rdmacg_charge_new_uobjects(const struct uverbs_attr_bundle *attrs,
				  const unsigned long *uobjs);
int ib_rdmacg_charge_mr(struct ib_uobject *uobj, u64 length);
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj);

int ib_rdmacg_begin_rereg_mr(struct ib_uobject *uobj, struct ib_uobject *new_uobj,
			     int flags, u64 length);
void ib_rdmacg_end_rereg_mr(struct ib_uobject *uobj, struct ib_uobject *new_uobj,
			    struct ib_mr *new_mr);

void ib_rdmacg_limit_attr(struct ib_device *device, struct ib_device_attr *attr);

int ib_rdmacg_cm_id_slot(const struct ib_device *device);

#else /* CONFIG_CGROUP_RDMA */

static inline int ib_rdmacg_register_device(struct ib_device *device)
{
	return 0;
}

static inline void ib_rdmacg_unregister_device(struct ib_device *device)
{
}

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

static inline int ib_rdmacg_charge_idr_uobject(struct ib_uobject *uobj)
{
	return 0;
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

static inline int ib_rdmacg_charge_mr(struct ib_uobject *uobj, u64 length)
{
	return 0;
}

static inline void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
}

static inline int ib_rdmacg_begin_rereg_mr(struct ib_uobject *uobj,
					   struct ib_uobject *new_uobj,
					   int flags, u64 length)
{
	return 0;
}

static inline void ib_rdmacg_end_rereg_mr(struct ib_uobject *uobj,
					  struct ib_uobject *new_uobj,
					  struct ib_mr *new_mr)
{
}

static inline void ib_rdmacg_limit_attr(struct ib_device *device,
					struct ib_device_attr *attr)
{
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_H */
