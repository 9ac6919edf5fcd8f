/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the RDMA cgroup controller does: charges, uncharges, refusals, limits, and commands
 * that wait.
 *
 * A cgroup is told by its id, which is the inode number of its folder. Amounts, usages and
 * limits are in the unit of the resource, and a limit of RDMACG_NO_LIMIT is none. The figures
 * of one event are those of one moment. Events are told after it, outside of the controller's
 * locks, so two of them can come in the other order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdmacg

#if !defined(_TRACE_RDMACG_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RDMACG_H

#include <linux/tracepoint.h>
#include <linux/types.h>

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
		__assign_str(device);
		__assign_str(resource);
		__entry->amount = amount;
		__entry->cgroup = cgroup;
	),

	TP_printk("device=%s resource=%s amount=%llu cgroup=%llu",
		  __get_str(device), __get_str(resource), __entry->amount, __entry->cgroup)
);

/*
 * A cgroup, and with it each of its ancestors, was charged: an event for each resource. What
 * has no end is not counted, and has an amount of 0.
 */
DEFINE_EVENT(rdmacg_amount, rdmacg_charge,
	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup),
	TP_ARGS(device, resource, amount, cgroup)
);

/* The same of what a cgroup gives back, also after the device has gone. */
DEFINE_EVENT(rdmacg_amount, rdmacg_uncharge,
	TP_PROTO(const char *device, const char *resource, u64 amount, u64 cgroup),
	TP_ARGS(device, resource, amount, cgroup)
);

/*
 * A cgroup was not charged, for there was no room for this amount of this resource. Usage and
 * limit are those of the cgroup whose limit it was, itself or an ancestor; a level of 1 is a
 * child of the root. What has no end has an amount of RDMACG_ENDLESS.
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
		__assign_str(device);
		__assign_str(resource);
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
 * The limit that holds for a resource of a device in a cgroup has changed: by a write of a
 * limit of the device's own; by a default where the cgroup has counters for the device; or
 * because it has some from now on, to which a default comes. Writing the same again is no
 * event.
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
		__assign_str(device);
		__assign_str(resource);
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
 * A command of a cgroup had to wait for so many microseconds, at its own level and at those
 * above: it begins now, or its process was killed.
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
		__assign_str(device);
		__entry->cgroup = cgroup;
		__entry->usec = usec;
	),

	TP_printk("device=%s cgroup=%llu usec=%llu",
		  __get_str(device), __entry->cgroup, __entry->usec)
);

#endif /* _TRACE_RDMACG_H */

#include <trace/define_trace.h>
