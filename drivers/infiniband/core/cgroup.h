/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMA cgroup controller: charges for contexts and objects of user space. */
#ifndef _CORE_CGROUP_H
#define _CORE_CGROUP_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_std_types.h>

#include "rdma_core.h"

#ifdef CONFIG_CGROUP_RDMA

int ib_rdmacg_charge_ucontext(struct ib_ucontext *ucontext);
void ib_rdmacg_uncharge_ucontext(struct ib_ucontext *ucontext);

int ib_rdmacg_charge_idr_uobject(struct ib_uobject *uobj);
int ib_rdmacg_charge_fd_uobject(struct ib_uobject *uobj);
void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj);
void ib_rdmacg_keep_uobject(struct ib_uobject *uobj);

/*
 * Returns whether the driver did not destroy an object, so that charges may be
 * left.
 */
static inline bool ib_rdmacg_keeps_charges(const struct ib_device *device)
{
	return READ_ONCE(device->cg_device.keeps_charges);
}

/* Returns the driver's definition of an object's type, or NULL. */
static inline const struct ib_rdmacg_object_def *
ib_rdmacg_find_def(struct ib_uobject *uobj)
{
	const struct ib_rdmacg_object_def *def = uobj->context->device->cg_objects;
	u32 id = uobj_get_object_id(uobj);

	for (; def && def->describe; def++)
		if (def->id == id)
			return def;
	return NULL;
}

/* Returns whether the charge of an object depends on more than its type. */
static inline bool ib_rdmacg_is_described(struct ib_uobject *uobj)
{
	return uobj_get_object_id(uobj) == UVERBS_OBJECT_DM || ib_rdmacg_find_def(uobj);
}

/* For cgroup_driver.c. */
int ib_rdmacg_charge_uobject(struct ib_uobject *uobj);

/* For cgroup_mcast.c. */
void ib_rdmacg_keep(struct ib_device *device, unsigned int type);

#else /* CONFIG_CGROUP_RDMA */

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

static inline void ib_rdmacg_uncharge_uobject(struct ib_uobject *uobj)
{
}

static inline void ib_rdmacg_keep_uobject(struct ib_uobject *uobj)
{
}

static inline bool ib_rdmacg_keeps_charges(const struct ib_device *device)
{
	return false;
}

#endif /* CONFIG_CGROUP_RDMA */
#endif /* _CORE_CGROUP_H */
