/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller of this module, for the files with hooks. They also see the
 * running kernel's <linux/cgroup_rdma.h>, since the layout of struct ib_device
 * depends on it. So the names that both headers have get another name here.
 */
#ifndef _RDMACG_OURS_H
#define _RDMACG_OURS_H

#include <rdma/ib_verbs.h>

#define rdma_cgroup			rdmacg_owner
#define rdmacg_device			rdmacg_our_device
#define rdmacg_resource_type		rdmacg_our_type
#define RDMACG_RESOURCE_HCA_HANDLE	RDMACG_OUR_HANDLE
#define RDMACG_RESOURCE_HCA_OBJECT	RDMACG_OUR_OBJECT
#define RDMACG_RESOURCE_MAX		RDMACG_OUR_MAX
#define rdmacg_register_device		rdmacg_our_register
#define rdmacg_unregister_device	rdmacg_our_unregister
#define rdmacg_try_charge		rdmacg_our_try_charge
#define rdmacg_uncharge			rdmacg_our_uncharge
#include "../include/linux/cgroup_rdma.h"
/* The hooks of the kernel's functions have these parameters. */
#undef rdmacg_resource_type
#undef RDMACG_RESOURCE_HCA_OBJECT

/* css.c */
struct rdma_cgroup *rdmacg_owner_of(struct cgroup_subsys_state *css);

#endif /* _RDMACG_OURS_H */
