// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the tracepoints. Their values are read under the controller's locks, and
 * emitted without locks.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>
