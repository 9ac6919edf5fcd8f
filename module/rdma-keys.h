/* SPDX-License-Identifier: GPL-2.0-only */
/* The keys of the verb class that rdma.default knows, for kernel/cgroup/rdma-default.c. */
#define RDMACG_VERB(_id, _name, ...) { RDMACG_CLASS_VERB, _name },
#include "verbs.h"
