/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the RDMA cgroup controller: charges, uncharges, refusals, limits,
 * and commands that wait.
 *
 * An event has the id of a cgroup, which is the inode number of the cgroup's
 * directory. Amounts, usages and limits are in the unit of the resource, and
 * RDMACG_NO_LIMIT means no limit. All values of an event are from the same
 * moment. The event is emitted later, so two events can appear in reverse
 * order. A write emits its events under the cgroup's max_lock.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdmacg

#if !defined(_TRACE_RDMACG_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RDMACG_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/* A module for kernels with another __assign_str() has its own macro. */
#ifndef rdmacg_assign_str
#define rdmacg_assign_str(_field) __assign_str(_field)
#endif

DECLARE_EVENT_CLASS(rdmacg_amount,

	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup),

	TP_ARGS(device, resource, amount, cgroup),

	TP_STRUCT__entry(
		__string(device, device)
		__string(resource, resource)
		__field(u64, amount)
		__field(u64, cgroup)
	),

	TP_fast_assign(
		rdmacg_assign_str(device);
		rdmacg_assign_str(resource);
		__entry->amount = amount;
		__entry->cgroup = cgroup;
	),

	TP_printk("device=%s resource=%s amount=%llu cgroup=%llu",
		  __get_str(device), __get_str(resource), __entry->amount, __entry->cgroup)
);

/*
 * A cgroup and all its ancestors were charged. There is one event for each
 * resource. An endless amount is not counted, so its event shows 0.
 */
DEFINE_EVENT(rdmacg_amount, rdmacg_charge,
	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup),
	TP_ARGS(device, resource, amount, cgroup)
);

/* A cgroup and all its ancestors were uncharged, as in rdmacg_charge. */
DEFINE_EVENT(rdmacg_amount, rdmacg_uncharge,
	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup),
	TP_ARGS(device, resource, amount, cgroup)
);

/*
 * A charge was refused because a cgroup had no room for this amount of this
 * resource. Usage and limit belong to the cgroup without room, which is the
 * charged cgroup or an ancestor. A child of the root has level 1. The event
 * shows RDMACG_ENDLESS for an endless amount.
 */
TRACE_EVENT(rdmacg_refuse,

	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup,
		 u64 usage, u64 limit, u64 limit_cgroup, unsigned int limit_level),

	TP_ARGS(device, resource, amount, cgroup, usage, limit, limit_cgroup, limit_level),

	TP_STRUCT__entry(
		__string(device, device)
		__string(resource, resource)
		__field(u64, amount)
		__field(u64, cgroup)
		__field(u64, usage)
		__field(u64, limit)
		__field(u64, limit_cgroup)
		__field(unsigned int, limit_level)
	),

	TP_fast_assign(
		rdmacg_assign_str(device);
		rdmacg_assign_str(resource);
		__entry->amount = amount;
		__entry->cgroup = cgroup;
		__entry->usage = usage;
		__entry->limit = limit;
		__entry->limit_cgroup = limit_cgroup;
		__entry->limit_level = limit_level;
	),

	TP_printk("device=%s resource=%s amount=%llu cgroup=%llu usage=%llu limit=%llu limit_cgroup=%llu limit_level=%u",
		  __get_str(device), __get_str(resource), __entry->amount, __entry->cgroup,
		  __entry->usage, __entry->limit, __entry->limit_cgroup, __entry->limit_level)
);

/*
 * The effective limit of a resource has changed. A write of the device's own
 * limit emits the event. A write of a default emits the event if the cgroup has
 * counters for the device. Otherwise, the default emits the event when these
 * counters are created. A write of an unchanged limit emits no event.
 */
TRACE_EVENT(rdmacg_set_max,

	TP_PROTO(const char *device, const char *resource, u64 old, u64 new, u64 usage,
		 u64 cgroup),

	TP_ARGS(device, resource, old, new, usage, cgroup),

	TP_STRUCT__entry(
		__string(device, device)
		__string(resource, resource)
		__field(u64, old)
		__field(u64, new)
		__field(u64, usage)
		__field(u64, cgroup)
	),

	TP_fast_assign(
		rdmacg_assign_str(device);
		rdmacg_assign_str(resource);
		__entry->old = old;
		__entry->new = new;
		__entry->usage = usage;
		__entry->cgroup = cgroup;
	),

	TP_printk("device=%s resource=%s old=%llu new=%llu usage=%llu cgroup=%llu",
		  __get_str(device), __get_str(resource), __entry->old, __entry->new,
		  __entry->usage, __entry->cgroup)
);

/*
 * A command has waited because of a limit of its cgroup or of an ancestor. The
 * command begins now, or its process was killed.
 */
TRACE_EVENT(rdmacg_throttle,

	TP_PROTO(const char *device, u64 cgroup, u64 usec),

	TP_ARGS(device, cgroup, usec),

	TP_STRUCT__entry(
		__string(device, device)
		__field(u64, cgroup)
		__field(u64, usec)
	),

	TP_fast_assign(
		rdmacg_assign_str(device);
		__entry->cgroup = cgroup;
		__entry->usec = usec;
	),

	TP_printk("device=%s cgroup=%llu usec=%llu",
		  __get_str(device), __entry->cgroup, __entry->usec)
);

#endif /* _TRACE_RDMACG_H */

#include <trace/define_trace.h>
