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
 * A rate of commands, in a generic cell rate algorithm: a command may begin from @due -
 * @tolerance on. So a pause saves up no more than a burst. Times are of CLOCK_MONOTONIC in
 * nanoseconds; they do not overflow within 292 years. The gate's lock.
 */
struct rdmacg_rate {
	u64			interval;	/* of one command; 0 without a limit */
	u64			tolerance;
	u64			due;		/* when the next command is due */
};

/* What rdma.control.stat shows, of the cgroup and all below it. */
struct rdmacg_control_stat {
	u64			ops;		/* commands that began */
	u64			throttled;	/* commands that had to wait */
	u64			throttled_ns;	/* how long they did */
};

/* How many processes of a cgroup that a signal has woken can come back to their place. */
#define RDMACG_PLACES 16

/* When a process that a signal has woken came; task is NULL for none. The gate's lock. */
struct rdmacg_place {
	const struct task_struct *task;		/* never followed */
	u64			since;
};

/*
 * The commands of one cgroup and those below it on one device. It comes with the first
 * command while any cgroup on the way up limits commands, each ancestor below the root has
 * one as well, and it goes with its pool.
 *
 * A command begins at one instant on all levels, or waits in the queue of the lowest level that
 * does not let it begin, and is tried again when it is the first one there and the level may
 * have become ready.
 */
struct rdmacg_control {
	struct rdmacg_gate	*gate;		/* set once */
	struct rdmacg_control	*parent;	/* set once */
	const u64		*limits;	/* of the pool; set once */
	u64			ops, burst;	/* the limits that @rate has; gate->lock */
	struct rdmacg_rate	rate;		/* gate->lock */
	/* Commands that began and did not end, and how many may; gate->lock. */
	u64			inflight;
	u64			inflight_max;
	/* Commands that wait at this level, by the time since when; gate->lock. */
	struct rb_root_cached	queue;
	struct rdmacg_control_stat stat;	/* gate->lock; READ_ONCE */
	/* Of processes of this cgroup alone; the next one is overwritten. gate->lock. */
	struct rdmacg_place	places[RDMACG_PLACES];
	unsigned int		next_place;	/* gate->lock */
};

/* rdma-control.c is there with CONFIG_CGROUP_RDMA_CONTROL alone, and so are its calls. */
void rdmacg_rate_set(struct rdmacg_rate *rate, u64 ops, u64 burst, u64 now);
u64 rdmacg_rate_begins(const struct rdmacg_rate *rate);
void rdmacg_rate_take(struct rdmacg_rate *rate, unsigned int cost, u64 now, bool has_waited);

struct rdmacg_control *rdmacg_control_alloc(void);
struct rdmacg_control *rdmacg_control_get(struct rdma_cgroup *cg, struct rdmacg_desc *desc);
int rdmacg_control_begin(struct rdmacg_control *control, enum rdmacg_command_kind kind,
			 u64 *waited_ns);
void rdmacg_control_end(struct rdmacg_control *control);
void rdmacg_control_set(struct rdmacg_control *control);
void rdmacg_control_refresh(struct rdma_cgroup *cg);
bool rdmacg_gate_open(struct rdmacg_gate *gate);
void rdmacg_gate_close(struct rdmacg_gate *gate);

bool rdmacg_is_limited(struct rdma_cgroup *cg, const struct rdmacg_desc *desc);
void rdmacg_control_key_drop_later(void);
void rdmacg_control_key_sync(void);

#endif /* _KERNEL_CGROUP_RDMA_CONTROL_H */
