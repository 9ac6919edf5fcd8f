// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the tracepoints themselves. What they show is taken under the
 * controller's locks, and traced without them.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>
