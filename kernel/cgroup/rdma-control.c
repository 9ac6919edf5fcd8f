// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: rates of commands, and commands in flight.
 *
 * A command belongs to the cgroup of its process at the time when the command
 * begins. The first command under a limit of the cgroup or an ancestor creates
 * the cgroup's pool and control. Without such a limit, commands are not
 * counted. Each command holds a reference to its cgroup, so a removed cgroup
 * keeps its limits until the last of its commands ends.
 *
 * A command that creates an object counts twice in each rate, once for the
 * later destruction. A command that destroys an object is counted in
 * rdma.control.stat, but does not use the rate and never waits. Any other
 * command counts once. So a process can always destroy its objects, and destroy
 * commands leave the rate to siblings.
 *
 * Each child of a level gets the same turn, whatever its number of processes:
 * only one command of the child, and one of the level's own processes, is in
 * the queue of the level or of an ancestor.
 *
 * A timer lets a waiting command begin, even if its process does not run. A
 * signal wakes a waiting process, which then returns to user space, where it
 * can be frozen. So a stopped process keeps no turn. The process restarts the
 * system call, and the command waits behind the other commands of its cgroup.
 *
 * Functions whose names begin with rdmacg_rate only compute, and get the time
 * from their caller.
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "rdma-control.h"

/*
 * The slack of timers. With slack, the timers of many queues can share an
 * interrupt.
 */
#define RDMACG_SLACK_NS ((u64)(50 * NSEC_PER_USEC))

/* A timer may fire late. A rate makes up for at most this delay. */
#define RDMACG_LONGEST_DELAY ((u64)NSEC_PER_SEC)

/*
 * If a process does not run, the other processes of its cgroup may use its turn
 * for this time.
 */
#define RDMACG_PATIENCE ((u64)NSEC_PER_MSEC)

/*
 * The largest burst. A larger burst is cut to this number. No adapter runs so
 * many commands at once, and the product of a larger burst and an interval
 * could overflow.
 */
#define RDMACG_BURST_MAX ((u64)NSEC_PER_SEC)

/*
 * Set a rate and its burst; RDMACG_NO_LIMIT stands for no limit. The number of
 * commands that have begun ahead of time stays the same, but is at most the new
 * burst. If no burst is set, as many commands may begin together as the rate
 * allows in a tenth of a second.
 */
void rdmacg_rate_set(struct rdmacg_rate *rate, u64 ops, u64 burst, u64 now)
{
	u64 ahead = rate->due > now ? rate->due - now : 0;
	u64 interval, tolerance;

	if (ops == RDMACG_NO_LIMIT) {
		*rate = (struct rdmacg_rate) { };
		return;
	}
	burst = burst == RDMACG_NO_LIMIT ? max(div_u64(ops, 10), 1) : min(burst, RDMACG_BURST_MAX);
	interval = div64_u64(NSEC_PER_SEC, ops);
	tolerance = (burst - 1) * interval;
	/*
	 * If the rate does not change, keep @due. It may be in the past, so that
	 * the rate makes up for a late timer.
	 */
	if (interval == rate->interval && tolerance == rate->tolerance)
		return;
	if (rate->interval)
		ahead = mul_u64_u64_div_u64(ahead, interval, rate->interval);
	rate->interval = interval;
	rate->tolerance = tolerance;
	rate->due = now + min(ahead, tolerance + interval);
}

/* Returns the time when the next command may begin, or 0 without a limit. */
u64 rdmacg_rate_begins(const struct rdmacg_rate *rate)
{
	return rate->interval && rate->due > rate->tolerance ? rate->due - rate->tolerance : 0;
}

/*
 * Use the rate for a command that begins. If the command has waited for this
 * rate, its timer may have been late, and the rate makes up for the delay.
 */
void rdmacg_rate_take(struct rdmacg_rate *rate, unsigned int cost, u64 now, bool has_waited)
{
	u64 earliest = has_waited ? now - min(now, RDMACG_LONGEST_DELAY) : now;

	if (rate->interval)
		rate->due = max(rate->due, earliest) + cost * rate->interval;
}

/*
 * A waiting command, on the stack of its process. The process takes the gate's
 * lock before it reuses its stack.
 */
struct rdmacg_waiter {
	struct list_head	gate_node;	/* On gate->waiters; gate->lock. */
	struct list_head	own_node;	/* On home->own; gate->lock. */
	struct list_head	node;		/* On level->queue; gate->lock. */
	struct rdmacg_control	*home;		/* The control of the process's cgroup; set once. */
	/*
	 * The level in whose queue the command is, or NULL if another command
	 * of @home is in a queue. All lower levels have this command as @ahead.
	 * gate->lock.
	 */
	struct rdmacg_control	*level;
	enum rdmacg_command_kind kind;		/* Set once. */
	u64			start;		/* Set once. */
	u64			turn;		/* When the command first began; gate->lock. */
	u64			waited_ns;	/* Set at the end of the wait. */
	bool			has_begun;	/* gate->lock. */
	struct task_struct	*process;	/* Waits for @has_begun; set once. */
	/* Runs for the first command of a queue; started under gate->lock. */
	struct hrtimer		timer;
};

/*
 * Returns the command that passes the level next, or NULL if no command waits
 * for the level.
 */
static struct rdmacg_waiter *rdmacg_next_locked(struct rdmacg_control *level)
{
	lockdep_assert_held(&level->gate->lock);
	return level->ahead ?: list_first_entry_or_null(&level->queue, struct rdmacg_waiter, node);
}

static bool rdmacg_has_room_locked(const struct rdmacg_control *level, u64 now)
{
	return level->inflight < level->inflight_max && rdmacg_rate_begins(&level->rate) <= now;
}

/*
 * Returns the lowest level that does not let the command begin, or NULL if all
 * levels let it begin.
 */
static struct rdmacg_control *rdmacg_blocking_level_locked(const struct rdmacg_waiter *waiter,
							   u64 now)
{
	struct rdmacg_control *level;
	struct rdmacg_waiter *next;

	if (READ_ONCE(*waiter->home->bypass))
		return NULL;
	for (level = waiter->home; level; level = level->parent) {
		next = rdmacg_next_locked(level);
		if ((next && next != waiter) || !rdmacg_has_room_locked(level, now))
			return level;
	}
	return NULL;
}

/* Count a command that begins now, on all levels. */
static void rdmacg_begin_locked(const struct rdmacg_waiter *waiter, u64 now)
{
	struct rdmacg_control *level;

	for (level = waiter->home; level; level = level->parent) {
		lockdep_assert_held(&level->gate->lock);
		rdmacg_count(&level->stat.ops, 1);
		if (waiter->kind == RDMACG_COMMAND_DESTROY)
			continue;
		level->inflight++;
		/*
		 * A command that begins because its device is removed or moved
		 * does not delay later commands.
		 */
		if (!READ_ONCE(*level->bypass))
			rdmacg_rate_take(&level->rate, waiter->kind, now, level == waiter->level);
	}
}

/* Remove a command from the queue of its level, if it is in a queue. */
static void rdmacg_waiter_step_back_locked(struct rdmacg_waiter *waiter)
{
	struct rdmacg_control *level;

	lockdep_assert_held(&waiter->home->gate->lock);
	if (!waiter->level)
		return;
	for (level = waiter->home; level != waiter->level; level = level->parent)
		level->ahead = NULL;
	list_del(&waiter->node);
	waiter->level = NULL;
}

/*
 * End the wait of a command. Afterwards, call rdmacg_run() or
 * rdmacg_gate_open().
 */
static void rdmacg_waiter_leave_locked(struct rdmacg_waiter *waiter)
{
	rdmacg_waiter_step_back_locked(waiter);
	list_del(&waiter->own_node);
	list_del(&waiter->gate_node);
}

/*
 * Let the command begin, or put it into the queue of the level that blocks it.
 * Returns the process of a command that begins. Wake it after the unlock,
 * because it needs the lock at once. RCU keeps it until then.
 */
static struct task_struct *rdmacg_waiter_move_locked(struct rdmacg_waiter *waiter, u64 now)
{
	struct rdmacg_control *level, *to = rdmacg_blocking_level_locked(waiter, now);

	if (!to) {
		rdmacg_begin_locked(waiter, now);
		rdmacg_waiter_leave_locked(waiter);
		waiter->turn = waiter->turn ?: now;
		waiter->has_begun = true;
		waiter->home->late = waiter;
		return waiter->process;
	}
	rdmacg_waiter_step_back_locked(waiter);
	for (level = waiter->home; level != to; level = level->parent)
		level->ahead = waiter;
	list_add_tail(&waiter->node, &to->queue);
	waiter->level = to;
	return NULL;
}

/*
 * Returns a command that can move: a command of a process in @home, or a
 * command in the queue of @home or an ancestor. Starts the timer of each lower
 * queue that a rate blocks. If no place in flight is free, the end of another
 * command calls rdmacg_run().
 */
static struct rdmacg_waiter *rdmacg_movable_locked(struct rdmacg_control *home, u64 now)
{
	struct rdmacg_waiter *first;
	struct rdmacg_control *level;

	first = list_first_entry_or_null(&home->own, struct rdmacg_waiter, own_node);
	if (first && !first->level)
		return first;
	for (level = home; level; level = level->parent) {
		first = rdmacg_next_locked(level);
		if (!first || first == level->ahead)
			continue;
		if (rdmacg_has_room_locked(level, now))
			return first;
		if (level->inflight < level->inflight_max)
			hrtimer_start_range_ns(&first->timer,
					       ns_to_ktime(rdmacg_rate_begins(&level->rate)),
					       min(RDMACG_SLACK_NS, level->rate.interval / 2),
					       HRTIMER_MODE_ABS_SOFT);
	}
	return NULL;
}

/*
 * Move at most RDMACG_BATCH of the commands that wait at @home and its
 * ancestors. Each begins, or joins the queue of a higher level. The timer of the
 * next command moves the others. This function releases the lock after each
 * command, and runs in any context, except hard interrupts on PREEMPT_RT.
 */
static void rdmacg_run(struct rdmacg_control *home)
{
	struct rdmacg_gate *gate = home->gate;
	struct rdmacg_waiter *waiter;
	unsigned int i;
	u64 now;

	/*
	 * The process of a command that has begun may end and remove its
	 * cgroup.
	 */
	guard(rcu)();
	for (i = 0; i <= RDMACG_BATCH; i++) {
		struct task_struct *process = NULL;

		scoped_guard(spinlock_irqsave, &gate->lock) {
			now = ktime_get_ns();
			waiter = rdmacg_movable_locked(home, now);
			if (!waiter)
				return;
			/*
			 * The command moves up. At the levels that it leaves,
			 * others may take a turn.
			 */
			home = waiter->home;
			if (i < RDMACG_BATCH)
				process = rdmacg_waiter_move_locked(waiter, now);
			else
				hrtimer_start(&waiter->timer, ns_to_ktime(now),
					      HRTIMER_MODE_ABS_SOFT);
		}
		if (process)
			wake_up_process(process);
	}
}

/*
 * The waiter is on the stack of its process. Before the process returns, it
 * calls hrtimer_cancel(), which waits until this function has ended.
 */
static enum hrtimer_restart rdmacg_waiter_timer(struct hrtimer *timer)
{
	rdmacg_run(container_of(timer, struct rdmacg_waiter, timer)->home);
	return HRTIMER_NORESTART;
}

/*
 * An earlier command of the cgroup may have got its turn while its process
 * still sleeps. Let this command begin in its place, and let the earlier one
 * wait again, as the first of the cgroup. Otherwise, the place would stay empty
 * until the scheduler runs the process that sleeps. If it waited behind the
 * others, each end of a command would wake another process for nothing.
 */
static bool rdmacg_take_over_locked(struct rdmacg_waiter *waiter)
{
	struct rdmacg_waiter *first, *late = waiter->home->late;

	lockdep_assert_held(&waiter->home->gate->lock);
	if (!late || late->kind != waiter->kind || waiter->start - late->turn > RDMACG_PATIENCE)
		return false;
	waiter->home->late = NULL;
	swap(waiter->has_begun, late->has_begun);
	first = list_first_entry_or_null(&waiter->home->own, struct rdmacg_waiter, own_node);
	if (first)
		rdmacg_waiter_step_back_locked(first);
	list_add(&late->own_node, &waiter->home->own);
	list_add(&late->gate_node, &late->home->gate->waiters);
	return true;
}

/*
 * Wait until the command has begun. Returns 0, or -ERESTARTNOINTR if a signal
 * ends the wait.
 */
static int rdmacg_wait(struct rdmacg_waiter *waiter)
{
	struct rdmacg_control *level, *home = waiter->home;
	struct rdmacg_gate *gate = home->gate;
	int ret;

	hrtimer_setup_on_stack(&waiter->timer, rdmacg_waiter_timer, CLOCK_MONOTONIC,
			       HRTIMER_MODE_ABS_SOFT);
	scoped_guard(spinlock_irq, &gate->lock) {
		if (!rdmacg_take_over_locked(waiter)) {
			list_add_tail(&waiter->gate_node, &gate->waiters);
			list_add_tail(&waiter->own_node, &home->own);
		}
	}
	rdmacg_run(home);

	scoped_guard(spinlock_irq, &gate->lock) {
		while (!waiter->has_begun && !signal_pending(current)) {
			set_current_state(TASK_INTERRUPTIBLE);
			/* Sleep without the lock of the guard. */
			spin_unlock_irq(&gate->lock);
			schedule();
			spin_lock_irq(&gate->lock);
		}
		ret = waiter->has_begun ? 0 : -ERESTARTNOINTR;
		waiter->waited_ns = max(ktime_get_ns() - waiter->start, 1);
		if (ret)
			rdmacg_waiter_leave_locked(waiter);
		else if (home->late == waiter)
			home->late = NULL;
		for (level = home; level; level = level->parent) {
			rdmacg_count(&level->stat.throttled, 1);
			rdmacg_count(&level->stat.throttled_ns, waiter->waited_ns);
		}
	}
	if (ret)
		rdmacg_run(home);
	hrtimer_cancel(&waiter->timer);
	destroy_hrtimer_on_stack(&waiter->timer);
	return ret;
}

/*
 * Let a command begin as soon as the limits of the cgroup and its ancestors
 * allow it. Returns 0, or -ERESTARTNOINTR if a signal ends the wait. An
 * interrupted command uses no rate and no place in flight. *@waited_ns is 0 for
 * a command that did not wait.
 */
int rdmacg_control_begin(struct rdmacg_control *control, enum rdmacg_command_kind kind,
			 u64 *waited_ns)
{
	struct rdmacg_waiter waiter = { .home = control, .kind = kind, .process = current };
	bool begins;
	int ret;

	scoped_guard(spinlock_irq, &control->gate->lock) {
		waiter.start = ktime_get_ns();
		begins = kind == RDMACG_COMMAND_DESTROY ||
			 !rdmacg_blocking_level_locked(&waiter, waiter.start);
		if (begins)
			rdmacg_begin_locked(&waiter, waiter.start);
	}
	ret = begins ? 0 : rdmacg_wait(&waiter);
	*waited_ns = waiter.waited_ns;
	return ret;
}

/*
 * End a command that has begun, and let waiting commands begin. A destroy
 * command has no place in flight, so it needs no such call. This function runs
 * in any context, except hard interrupts on PREEMPT_RT.
 */
void rdmacg_control_end(struct rdmacg_control *control)
{
	struct rdmacg_control *level;

	/*
	 * A rate makes up for late timers, but not for the time without a free
	 * place.
	 */
	scoped_guard(spinlock_irqsave, &control->gate->lock)
		for (level = control; level; level = level->parent)
			if (level->inflight-- >= level->inflight_max)
				level->rate.due = max(level->rate.due, ktime_get_ns());
	/*
	 * No lock is needed: a command that waits after the unlock sees the
	 * free place.
	 */
	if (!list_empty(&control->gate->waiters))
		rdmacg_run(control);
}

/*
 * Apply the pool's limits to its control. If two writes call this function at
 * the same time, the later call applies the limits of both.
 */
void rdmacg_control_set(struct rdmacg_control *control)
{
	const u64 *limits = control->limits;

	scoped_guard(spinlock_irq, &control->gate->lock) {
		rdmacg_rate_set(&control->rate, READ_ONCE(limits[RDMACG_CONTROL_OPS]),
				READ_ONCE(limits[RDMACG_CONTROL_BURST]), ktime_get_ns());
		control->inflight_max = READ_ONCE(limits[RDMACG_CONTROL_INFLIGHT]);
	}
	rdmacg_run(control);
}

static struct rdmacg_control *rdmacg_control_find_rcu(struct rdma_cgroup *cg, u32 key)
{
	struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, key);

	return pool ? rcu_dereference(pool->control) : NULL;
}

/* Apply the cgroup's limits to all its controls after a write. */
void rdmacg_control_refresh(struct rdma_cgroup *cg)
{
	u32 key, nr = rdmacg_nr_keys(cg);
	struct rdmacg_control *control;

	/*
	 * Pairs with cmpxchg() in rdmacg_pool_add_control(). This function
	 * finds a new control, or rdmacg_pool_add_control() sees the limits.
	 */
	smp_mb();
	for (key = 0; key < nr; key++) {
		scoped_guard(rcu) {
			control = rdmacg_control_find_rcu(cg, key);
			if (control)
				rdmacg_control_set(control);
		}
		cond_resched();
	}
}

/*
 * Let one waiting command begin. Returns whether a command was waiting. No new
 * command waits, because rdmacg_stop_waiting() has set @bypass.
 */
bool rdmacg_gate_open(struct rdmacg_gate *gate)
{
	struct rdmacg_waiter *waiter;
	struct task_struct *process;

	guard(rcu)();
	scoped_guard(spinlock_irq, &gate->lock) {
		waiter = list_first_entry_or_null(&gate->waiters, struct rdmacg_waiter, gate_node);
		process = waiter ? rdmacg_waiter_move_locked(waiter, ktime_get_ns()) : NULL;
	}
	if (process)
		wake_up_process(process);
	return process;
}

/*
 * Allocate a control that has no limits, no commands and no gate. Returns NULL
 * if there is no memory.
 */
struct rdmacg_control *rdmacg_control_alloc(void)
{
	struct rdmacg_control *control;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_control_alloc);
	control = kzalloc_obj(*control, GFP_KERNEL_ACCOUNT);
	if (!control)
		return NULL;
	control->inflight_max = RDMACG_NO_LIMIT;
	INIT_LIST_HEAD(&control->own);
	INIT_LIST_HEAD(&control->queue);
	return control;
}

/*
 * Create the control of a pool. The caller has pinned the pool. If another task
 * creates a control meanwhile, this function returns that control.
 */
static struct rdmacg_control *rdmacg_pool_add_control(struct rdmacg_pool *pool,
						      struct rdmacg_control *parent)
{
	struct rdmacg_control *new = rdmacg_control_alloc(), *old;

	if (!new)
		return NULL;
	new->gate = &pool->domain->gate;
	new->bypass = &pool->domain->desc->bypass;
	new->parent = parent;
	new->limits = pool->control_max;
	rdmacg_control_set(new);
	old = unrcu_pointer(cmpxchg(&pool->control, NULL, RCU_INITIALIZER(new)));
	if (old)
		kfree(new);
	else
		/*
		 * A write may have missed this control: see
		 * rdmacg_control_refresh().
		 */
		rdmacg_control_set(new);
	return old ?: new;
}

/*
 * Create the missing controls of a pool and of its ancestors. The caller has
 * pinned the pool, so all these pools stay. Returns NULL if there is no memory.
 */
static struct rdmacg_control *rdmacg_pool_add_controls(struct rdmacg_pool *pool)
{
	struct rdmacg_control *control = NULL, *parent;
	unsigned int level = pool->cg->depth;

	do {
		parent = control;
		/* A control remains as long as its pool. */
		control = rcu_dereference_check(pool->levels[--level]->control, true) ?:
			  rdmacg_pool_add_control(pool->levels[level], parent);
	} while (control && level);
	return control;
}

/*
 * Get or create the control of a cgroup. The caller holds a reference to the
 * cgroup, and the device stays registered. Returns -ENOMEM if there is no
 * memory.
 */
struct rdmacg_control *rdmacg_control_get(struct rdma_cgroup *cg, struct rdmacg_desc *desc)
{
	struct rdmacg_control *control;
	struct rdmacg_pool *pool;

	scoped_guard(rcu)
		control = rdmacg_control_find_rcu(cg, desc->key);
	if (control)
		return control;
	pool = rdmacg_pool_pin(cg, desc);
	if (IS_ERR(pool))
		return ERR_CAST(pool);
	control = rdmacg_pool_add_controls(pool);
	/*
	 * A pool without a control may be idle. This call frees an idle pool.
	 */
	rdmacg_pool_unpin(cg, desc);
	return control ?: ERR_PTR(-ENOMEM);
}

/* Returns whether the cgroup or an ancestor limits commands on the device. */
bool rdmacg_is_limited(struct rdma_cgroup *cg, const struct rdmacg_desc *desc)
{
	const unsigned int first = desc->control_slot;

	if (first == desc->nr_slots)
		return false;
	guard(rcu)();
	/* A burst without a rate has no effect. */
	for (; cg->depth; cg = rdmacg_parent(cg))
		if (rdmacg_limit_rcu(cg, desc, first + RDMACG_CONTROL_OPS) != RDMACG_NO_LIMIT ||
		    rdmacg_limit_rcu(cg, desc, first + RDMACG_CONTROL_INFLIGHT) != RDMACG_NO_LIMIT)
			return true;
	return false;
}

/**
 * rdmacg_stop_waiting() - let all present and later commands on a device begin
 * @device: a registered device that is about to be removed
 *
 * The removal of the device waits for all commands, and must not wait until
 * their limits let them begin. The IB core makes these commands fail.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_stop_waiting(struct rdmacg_device *device)
{
	struct rdmacg_desc *desc = device->desc;
	struct rdmacg_domain *domain;
	bool has_waiters;

	/*
	 * A command that begins after the last rdmacg_gate_open() of its domain
	 * sees this store.
	 */
	WRITE_ONCE(desc->bypass, true);
	do {
		has_waiters = false;
		/*
		 * Release the lock after each command, because the creator of a
		 * domain needs it.
		 */
		scoped_guard(spinlock, &desc->lock) {
			list_for_each_entry(domain, &desc->domains, desc_node) {
				has_waiters = rdmacg_gate_open(&domain->gate);
				if (has_waiters)
					break;
			}
		}
		cond_resched();
	} while (has_waiters);
}
EXPORT_SYMBOL(rdmacg_stop_waiting);

/**
 * rdmacg_resume_waiting() - apply limits on commands again after
 * rdmacg_stop_waiting()
 * @device: a registered device that stays, such as a device that has moved to
 *	another network namespace. An earlier rdmacg_stop_waiting() must have
 *	returned
 *
 * Context: Process context; may sleep.
 */
void rdmacg_resume_waiting(struct rdmacg_device *device)
{
	WRITE_ONCE(device->desc->bypass, false);
}
EXPORT_SYMBOL(rdmacg_resume_waiting);
