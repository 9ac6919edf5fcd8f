/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file of rdmacg_kunit.ko: the controller and its KUnit
 * suites. Their cgroups have the css inside, and a process is in a root of ours.
 */
/* As in module/core.h, before the first header. */
#define pr_fmt(fmt) "cgroup: rdma: " fmt
#define __DISABLE_EXPORTS
#include <kunit/static_stub.h>
#include <linux/cgroup.h>

/* As in module/core.h. */
#define _CGROUP_RDMA_H
#define rdmacg_unregister_device rdmacg_our_unregister
#include "../include/linux/cgroup_rdma.h"

extern struct cgroup_subsys rdmacg_kunit_subsys;
struct cgroup_subsys_state *rdmacg_kunit_get_root(void);
#define rdma_cgrp_subsys rdmacg_kunit_subsys
#define task_get_css(...) rdmacg_kunit_get_root()
#include "../kernel/cgroup/rdma-css.h"
#include "core.h"
