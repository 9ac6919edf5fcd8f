/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: rates of commands, and commands in flight.
 */
#ifndef _KERNEL_CGROUP_RDMA_CONTROL_H
#define _KERNEL_CGROUP_RDMA_CONTROL_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "rdma-pool.h"

/*
 * A rate of commands, by a generic cell rate algorithm. The next command may begin at the time @due
 * minus @tolerance. @due does not change during a pause, so a burst of commands may begin after the
 * pause. Times are CLOCK_MONOTONIC in nanoseconds, and do not overflow within 292 years. Without a
 * limit, @interval is 0. The gate's lock protects this struct.
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

/* The number of threads of a cgroup that keep their place in the queue after a signal. */
#define RDMACG_PLACES 16

/* The place of a command whose wait a signal has interrupted. The gate's lock protects this. */
struct rdmacg_place {
	const struct task_struct *task;		/* Not dereferenced. */
	u64			born;		/* Start of @task, whose address may be reused. */
	u64			since;		/* Start of the first wait; 0 in a free place. */
	u64			waited_ns;	/* The sum of all waits. */
};

/*
 * The state of the commands of one cgroup and its descendants on one device. The first command
 * under a limit creates the control, and the missing controls of all ancestors except the root. A
 * control is freed with its pool.
 *
 * A command begins on all levels at the same time. Until then, it waits in the queue of the lowest
 * level that does not let it begin. The first command in a queue tries again as soon as the level
 * may let it begin.
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
	/* Commands that wait at this level, in the order of their arrival; gate->lock. */
	struct rb_root_cached	queue;
	struct rdmacg_control_stat stat;	/* gate->lock; READ_ONCE. */
	/*
	 * The places of this cgroup's own processes. If no place is free, a new place overwrites
	 * the place with the earliest @since. gate->lock.
	 */
	struct rdmacg_place	places[RDMACG_PLACES];
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
