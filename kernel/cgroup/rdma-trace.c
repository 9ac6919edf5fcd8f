// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the tracepoints.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>
