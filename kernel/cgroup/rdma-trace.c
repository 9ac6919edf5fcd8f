// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the tracepoints. Callers read the values of an event under the domain's
 * lock, and emit the event without it. Events of writes are emitted under the cgroup's max_lock.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>
