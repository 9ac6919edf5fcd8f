/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of include/linux, with the types of objects that Linux 7.3 adds. */
#include <linux/version.h>

#ifndef RDMACG_OBJECT
#define RDMACG_OBJECT RDMACG_VERB
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
RDMACG_OBJECT(DMAH, "dmah", RDMACG_HAS(ops.dealloc_dmah), 0)
RDMACG_OBJECT(DMABUF, "dmabuf", RDMACG_HAS(ops.mmap_get_pfns), 0)
RDMACG_OBJECT(COMP_CNTR, "comp_cntr", RDMACG_HAS(ops.destroy_comp_cntr), 0)
#endif

#include "../../../include/linux/cgroup_rdma_verbs.h"
