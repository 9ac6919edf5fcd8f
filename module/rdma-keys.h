/* SPDX-License-Identifier: GPL-2.0-only */
/* The keys of the verb class that rdma.default knows, for kernel/cgroup/rdma-default.c. */
#define RDMACG_TYPE(_type, _key, _op) { RDMACG_CLASS_VERB, _key },
#include "types.h"
#undef RDMACG_TYPE
{ RDMACG_CLASS_VERB, "driver_object" },
{ RDMACG_CLASS_VERB, "mr_mem" },
{ RDMACG_CLASS_VERB, "dm_mem" },
{ RDMACG_CLASS_VERB, "mcast" },
