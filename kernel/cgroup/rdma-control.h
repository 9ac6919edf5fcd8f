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
 * A rate of commands, by a generic cell rate algorithm: a command may begin from @due - @tolerance
 * on, so a pause saves up at most a burst. Times are CLOCK_MONOTONIC in nanoseconds, which do not
 * overflow within 292 years. The gate's lock.
 */
struct rdmacg_rate {
	u64			interval;	/* of one command; 0 without a limit */
	u64			tolerance;
	u64			due;		/* when the next command is due */
};

/* The values of rdma.control.stat, for the cgroup and its descendants. */
struct rdmacg_control_stat {
	u64			ops;		/* commands that began */
	u64			throttled;	/* commands that waited */
	u64			throttled_ns;	/* for how long */
};

/* The number of processes of a cgroup that can return to their place after a signal. */
#define RDMACG_PLACES 16

/* The start of a wait that a signal has interrupted. The gate's lock. */
struct rdmacg_place {
	const struct task_struct *task;		/* never followed; NULL if the place is unused */
	u64			since;
};

/*
 * The commands of one cgroup and its descendants on one device. The first command under a limit
 * creates the control, and a control in each ancestor below the root. A control is freed with its
 * pool.
 *
 * A command begins at one instant on all levels, or waits in the queue of the lowest level that
 * does not let it begin. When the level may be ready, the first command in the queue tries again.
 */
struct rdmacg_control {
	struct rdmacg_gate	*gate;		/* set once */
	const bool		*bypass;	/* of the device; set once; READ_ONCE */
	struct rdmacg_control	*parent;	/* set once */
	const u64		*limits;	/* of the pool; set once */
	struct rdmacg_rate	rate;		/* gate->lock */
	/* Commands in flight, and their limit; gate->lock. */
	u64			inflight;
	u64			inflight_max;
	/* Commands that wait at this level, by their arrival; gate->lock. */
	struct rb_root_cached	queue;
	struct rdmacg_control_stat stat;	/* gate->lock; READ_ONCE */
	/* For processes of this cgroup only. A new place overwrites the oldest. gate->lock. */
	struct rdmacg_place	places[RDMACG_PLACES];
	unsigned int		next_place;	/* gate->lock */
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
