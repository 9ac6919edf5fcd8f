// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the tracepoints. Callers read the values of an event under the
 * controller's locks, and emit the event without locks.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>
