/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file of kernel/cgroup, and before files of the module
 * that call them. They see this project's <linux/cgroup_rdma.h>. Other files of
 * the module see the running kernel's, because the layout of struct ib_device
 * depends on it. ours.h shows them this project's header too.
 */
#ifndef _RDMACG_CORE_H
#define _RDMACG_CORE_H

/* As in kernel/cgroup/rdma-device.c, which defines it before its headers. */
#ifndef pr_fmt
#define pr_fmt(fmt) "cgroup: rdma: " fmt
#endif

#include <linux/version.h>

/* Nothing is exported, so functions may have the names of stock's functions. */
#define __DISABLE_EXPORTS

/* A kernel of a distribution has no KUnit. */
#ifndef _KUNIT_STATIC_STUB_H
#define _KUNIT_STATIC_STUB_H
#define KUNIT_STATIC_STUB_REDIRECT(...) do { } while (0)
#endif

/* Take this project's header instead of the running kernel's. */
#define _CGROUP_RDMA_H
/* As in ours.h. */
#define rdmacg_unregister_device rdmacg_our_unregister
#include "../include/linux/cgroup_rdma.h"
#include "css.h"

#include <linux/hrtimer.h>
#include <linux/slab.h>

#ifndef kzalloc_obj
#define kzalloc_obj(object, gfp) kzalloc(sizeof(object), gfp)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define hrtimer_setup_on_stack(timer, callback, clock_id, mode) \
	(hrtimer_init_on_stack(timer, clock_id, mode), (timer)->function = (callback))
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define rdmacg_assign_str(_field) __assign_str(_field, _field)
#endif

#endif /* _RDMACG_CORE_H */
