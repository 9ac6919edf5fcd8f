/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: rates of commands, and commands in flight.
 */
#ifndef _KERNEL_CGROUP_RDMA_CONTROL_H
#define _KERNEL_CGROUP_RDMA_CONTROL_H

#include <linux/list.h>
#include <linux/types.h>

#include "rdma-pool.h"

/*
 * A rate of commands, by a generic cell rate algorithm. The next command may
 * begin at the time @due minus @tolerance. @due does not change during a pause,
 * so a burst of commands may begin after the pause. Times are CLOCK_MONOTONIC
 * in nanoseconds, and do not overflow within 292 years. Without a limit,
 * @interval is 0. The gate's lock protects this struct.
 */
struct rdmacg_rate {
	u64			interval;	/* The time between two commands. */
	u64			tolerance;
	u64			due;		/* The time at which the next command is due. */
};

/* The values of rdma.control.stat, for the cgroup and its descendants. */
struct rdmacg_control_stat {
	u64			ops;		/* The number of commands that began. */
	u64			throttled;	/* The number of commands that waited. */
	u64			throttled_ns;	/* The time of all waits. */
};

struct rdmacg_waiter;

/*
 * Counts and queues the commands that a cgroup and its descendants give to one
 * device. The first command under a limit creates the control, and the missing
 * controls of all ancestors except the root. A control is freed with its pool.
 *
 * A command begins on all levels at the same time. Until then, it waits in the
 * queue of the lowest level that does not let it begin, and is @ahead of all
 * lower levels. A level with a command ahead lets no other command pass. So the
 * queue of a level contains at most one command of each child, and at most one
 * of the cgroup's own processes: the first in @own.
 */
struct rdmacg_control {
	struct rdmacg_gate	*gate;		/* Set once. */
	const bool		*bypass;	/* The device's bypass; set once; READ_ONCE. */
	struct rdmacg_control	*parent;	/* Set once. */
	const u64		*limits;	/* The pool's limits; set once. */
	struct rdmacg_rate	rate;		/* gate->lock. */
	/* Commands in flight, and their limit; gate->lock. */
	u64			inflight;
	u64			inflight_max;
	/*
	 * The waiting commands of the cgroup's own processes, in order of
	 * arrival; gate->lock.
	 */
	struct list_head	own;
	/*
	 * The commands that wait at this level, in order of arrival here;
	 * gate->lock.
	 */
	struct list_head	queue;
	/* The command that waits at an ancestor, or NULL; gate->lock. */
	struct rdmacg_waiter	*ahead;
	/*
	 * The last command of an own process that has waited and begun, or NULL
	 * if the process has run since; gate->lock.
	 */
	struct rdmacg_waiter	*late;
	struct rdmacg_control_stat stat;	/* gate->lock; READ_ONCE. */
};

#ifdef CONFIG_CGROUP_RDMA_CONTROL
void rdmacg_control_refresh(struct rdma_cgroup *cg);
#else
static inline void rdmacg_control_refresh(struct rdma_cgroup *cg)
{
}
#endif

/* The following functions exist only with CONFIG_CGROUP_RDMA_CONTROL. */
void rdmacg_rate_set(struct rdmacg_rate *rate, u64 ops, u64 burst, u64 now);
u64 rdmacg_rate_begins(const struct rdmacg_rate *rate);
void rdmacg_rate_take(struct rdmacg_rate *rate, unsigned int cost, u64 now, bool has_waited);

struct rdmacg_control *rdmacg_control_alloc(void);
struct rdmacg_control *rdmacg_control_get(struct rdma_cgroup *cg, struct rdmacg_desc *desc);
int rdmacg_control_begin(struct rdmacg_control *control, enum rdmacg_command_kind kind,
			 u64 *waited_ns);
void rdmacg_control_end(struct rdmacg_control *control);
void rdmacg_control_set(struct rdmacg_control *control);
bool rdmacg_gate_open(struct rdmacg_gate *gate);

bool rdmacg_is_limited(struct rdma_cgroup *cg, const struct rdmacg_desc *desc);

#endif /* _KERNEL_CGROUP_RDMA_CONTROL_H */
