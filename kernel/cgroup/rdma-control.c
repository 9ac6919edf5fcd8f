// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: rates of commands, and commands in flight.
 *
 * Whoever is over a limit waits in a queue, of which the first one has a timer, on its own
 * stack. The timer lets it begin, and not the waiting process when it runs next: one that is
 * stopped, or whose cgroup has no processor time left, keeps nobody behind it waiting.
 *
 * Functions whose names begin with rdmacg_rate take the time from their caller, and do nothing
 * but arithmetic.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "rdma-internal.h"

/* How many begin under one hold of the lock; then others get it. */
#define RDMACG_BATCH 64

/* Late by this much at most, timers of many queues can share an interrupt. */
#define RDMACG_SLACK_NS ((u64)(50 * NSEC_PER_USEC))

/* A rate that was behind by more than this forgets what it missed. */
#define RDMACG_LONGEST_DELAY ((u64)NSEC_PER_SEC)

/*
 * Set the limits, RDMACG_NO_LIMIT for none. Commands that began count as many of the new rate.
 * Without a burst, a tenth of a second's worth may begin at once.
 */
void rdmacg_rate_set(struct rdmacg_rate *rate, u64 ops, u64 burst, u64 now)
{
	u64 ahead = rate->due > now && rate->ops ? (rate->due - now) * rate->ops : 0;

	if (ops == RDMACG_NO_LIMIT) {
		*rate = (struct rdmacg_rate) { };
		return;
	}
	ops = min(ops, RDMACG_RATE_MAX);
	burst = burst == RDMACG_NO_LIMIT ? max(ops / 10, 1) : min(burst, RDMACG_RATE_MAX);
	rate->ops = ops;
	rate->interval = div64_u64_rem(NSEC_PER_SEC, ops, &rate->rest);
	rate->tolerance = div64_u64((burst - 1) * NSEC_PER_SEC, ops);
	rate->due = now + min(div64_u64(ahead, ops), rate->tolerance + rate->interval);
	rate->due_rest = 0;
	rate->debt = min(rate->debt, ops);
}

/* When the next command may begin; 0 where nothing limits it. */
u64 rdmacg_rate_begins(const struct rdmacg_rate *rate)
{
	return rate->ops && rate->due > rate->tolerance ? rate->due - rate->tolerance : 0;
}

static void rdmacg_rate_advance(struct rdmacg_rate *rate)
{
	rate->due += rate->interval;
	rate->due_rest += rate->rest;
	if (rate->due_rest >= rate->ops) {
		rate->due_rest -= rate->ops;
		rate->due++;
	}
}

static void rdmacg_rate_take(struct rdmacg_rate *rate)
{
	rdmacg_rate_advance(rate);
	if (rate->debt) {
		rate->debt--;
		rdmacg_rate_advance(rate);
	}
}

/* A rate that was not used pays its debt, and saves up no more than the burst. */
static void rdmacg_rate_rest(struct rdmacg_rate *rate, u64 now)
{
	u64 paid;

	rate->due = max(rate->due, now - min(now, RDMACG_LONGEST_DELAY));
	if (rate->debt && rate->due < now + rate->tolerance) {
		paid = div64_u64((now + rate->tolerance - rate->due) * rate->ops, NSEC_PER_SEC);
		paid = min(paid, rate->debt);
		rate->debt -= paid;
		rate->due += div64_u64(paid * NSEC_PER_SEC, rate->ops);
	}
	rate->due = max(rate->due, now);
}

/* Let a command begin if it is its time, where nobody waits. */
bool rdmacg_rate_try_take(struct rdmacg_rate *rate, u64 now)
{
	if (!rate->ops)
		return true;
	rdmacg_rate_rest(rate, now);
	if (rdmacg_rate_begins(rate) > now)
		return false;
	rdmacg_rate_take(rate);
	return true;
}

/* The same for the first of those who wait, whose time may have come a while ago. */
bool rdmacg_rate_take_next(struct rdmacg_rate *rate, u64 now)
{
	if (!rate->ops)
		return true;
	rate->due = max(rate->due, now - min(now, RDMACG_LONGEST_DELAY));
	if (rdmacg_rate_begins(rate) > now)
		return false;
	rdmacg_rate_take(rate);
	return true;
}

/* Count a command that does not wait, even if it is not its time. */
void rdmacg_rate_take_anyway(struct rdmacg_rate *rate, u64 now, bool has_queue)
{
	if (has_queue || !rdmacg_rate_try_take(rate, now))
		rate->debt = min(rate->debt + 1, rate->ops);
}

/* A process that waits. On its stack. */
struct rdmacg_waiter {
	struct list_head	node;		/* in one queue of @control; gate->lock */
	struct list_head	gate_node;	/* on gate->waiters; gate->lock */
	struct rdmacg_control	*control;	/* set once */
	bool			for_rate;	/* which of the two queues; set once */
	bool			may_begin;	/* gate->lock */
	struct completion	wakeup;
	/* Runs for the first one of a queue alone; started under gate->lock. */
	struct hrtimer		timer;
};

static struct rdmacg_waiter *rdmacg_first_waiter(struct list_head *queue)
{
	return list_first_entry_or_null(queue, struct rdmacg_waiter, node);
}

static void rdmacg_waiter_leave_locked(struct rdmacg_waiter *waiter)
{
	lockdep_assert_held(&waiter->control->gate->lock);
	list_del(&waiter->node);
	list_del(&waiter->gate_node);
}

/* Let the process go on. It takes the lock before its stack goes. */
static void rdmacg_waiter_begin_locked(struct rdmacg_waiter *waiter)
{
	rdmacg_waiter_leave_locked(waiter);
	if (!waiter->for_rate)
		waiter->control->inflight++;
	waiter->may_begin = true;
	complete(&waiter->wakeup);
}

static bool rdmacg_may_be_inflight_locked(const struct rdmacg_control *control)
{
	lockdep_assert_held(&control->gate->lock);
	return control->inflight < control->inflight_max;
}

static bool rdmacg_waiter_try_begin_locked(struct rdmacg_waiter *waiter, u64 now)
{
	struct rdmacg_control *control = waiter->control;

	lockdep_assert_held(&control->gate->lock);
	if (waiter->for_rate ? !rdmacg_rate_take_next(&control->rate, now) :
			       !rdmacg_may_be_inflight_locked(control))
		return false;
	rdmacg_waiter_begin_locked(waiter);
	return true;
}

/*
 * Let those of a queue begin whose turn it is, and see to it that the next one's timer runs. Of
 * those for a place in flight, that is because there were too many to begin now.
 */
static void rdmacg_queue_run_locked(struct list_head *queue, u64 now)
{
	struct rdmacg_waiter *waiter;
	u64 next, slack;
	unsigned int i;

	for (i = 0; (waiter = rdmacg_first_waiter(queue)); i++)
		if (i == RDMACG_BATCH || !rdmacg_waiter_try_begin_locked(waiter, now))
			break;
	if (!waiter)
		return;
	if (!waiter->for_rate && !rdmacg_may_be_inflight_locked(waiter->control))
		return;
	/* Not in the past, as that of a lifted rate: such timers run one after the other. */
	next = waiter->for_rate ? max(rdmacg_rate_begins(&waiter->control->rate), now) : now;
	slack = min(RDMACG_SLACK_NS, waiter->control->rate.interval / 2);
	hrtimer_start_range_ns(&waiter->timer, ns_to_ktime(next), slack, HRTIMER_MODE_ABS_SOFT);
}

static void rdmacg_control_run_locked(struct rdmacg_control *control)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&control->gate->lock);
	rdmacg_queue_run_locked(&control->rate_queue, now);
	rdmacg_queue_run_locked(&control->inflight_queue, now);
}

/* Whoever's timer it is has not left, for it waits until this is over. */
static enum hrtimer_restart rdmacg_waiter_timer(struct hrtimer *timer)
{
	struct rdmacg_waiter *waiter = container_of(timer, struct rdmacg_waiter, timer);
	struct rdmacg_control *control = waiter->control;

	spin_lock(&control->gate->lock);
	rdmacg_control_run_locked(control);
	spin_unlock(&control->gate->lock);
	return HRTIMER_NORESTART;
}

static void rdmacg_waiter_setup_timer(struct rdmacg_waiter *waiter)
{
	/* The build says so for Linux before 6.13. */
#ifdef RDMACG_HRTIMER_INIT
	hrtimer_init_on_stack(&waiter->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	waiter->timer.function = rdmacg_waiter_timer;
#else
	hrtimer_setup_on_stack(&waiter->timer, rdmacg_waiter_timer, CLOCK_MONOTONIC,
			       HRTIMER_MODE_ABS_SOFT);
#endif
}

/* Wait in a queue. Takes the lock that the caller has dropped; 0 or -ERESTARTSYS. */
static int rdmacg_wait(struct rdmacg_waiter *waiter)
{
	struct rdmacg_control *control = waiter->control;
	int ret = wait_for_completion_killable(&waiter->wakeup);

	spin_lock_bh(&control->gate->lock);
	if (waiter->may_begin) {
		ret = 0;
	} else {
		rdmacg_waiter_leave_locked(waiter);
		rdmacg_control_run_locked(control);
	}
	spin_unlock_bh(&control->gate->lock);
	hrtimer_cancel(&waiter->timer);
	destroy_hrtimer_on_stack(&waiter->timer);
	return ret;
}

/* Queue up at a level that cannot let the command begin. Drops the lock while it waits. */
static int rdmacg_queue_up_locked(struct rdmacg_control *control, struct list_head *queue,
				  struct rdmacg_turn *turn)
	__must_hold(&control->gate->lock)
{
	struct rdmacg_waiter waiter = {
		.control = control,
		.for_rate = queue == &control->rate_queue,
	};
	u64 since = ktime_get_ns();
	int ret;

	init_completion(&waiter.wakeup);
	rdmacg_waiter_setup_timer(&waiter);
	list_add_tail(&waiter.node, queue);
	list_add_tail(&waiter.gate_node, &control->gate->waiters);
	if (list_is_singular(queue))
		rdmacg_queue_run_locked(queue, since);
	spin_unlock_bh(&control->gate->lock);
	ret = rdmacg_wait(&waiter);
	turn->waited_ns += max(ktime_get_ns() - since, 1);
	spin_lock_bh(&control->gate->lock);
	return ret;
}

static int rdmacg_pass_rate_locked(struct rdmacg_control *control, struct rdmacg_turn *turn)
	__must_hold(&control->gate->lock)
{
	bool has_queue = !list_empty(&control->rate_queue);
	u64 now;

	if (!control->rate.ops && !has_queue)
		return 0;
	now = ktime_get_ns();
	if (!turn->may_wait || control->gate->is_open) {
		rdmacg_rate_take_anyway(&control->rate, now, has_queue);
		return 0;
	}
	if (!has_queue && rdmacg_rate_try_take(&control->rate, now))
		return 0;
	return rdmacg_queue_up_locked(control, &control->rate_queue, turn);
}

static int rdmacg_pass_inflight_locked(struct rdmacg_control *control, struct rdmacg_turn *turn)
	__must_hold(&control->gate->lock)
{
	bool has_room = list_empty(&control->inflight_queue) &&
			rdmacg_may_be_inflight_locked(control);

	if (has_room || !turn->may_wait || control->gate->is_open) {
		control->inflight++;
		return 0;
	}
	return rdmacg_queue_up_locked(control, &control->inflight_queue, turn);
}

/* Give the places in flight back, from @control up to below @above. */
static void rdmacg_leave_inflight_locked(struct rdmacg_control *control,
					 struct rdmacg_control *above)
{
	for (; control != above; control = control->parent) {
		lockdep_assert_held(&control->gate->lock);
		control->inflight--;
		rdmacg_queue_run_locked(&control->inflight_queue, ktime_get_ns());
	}
}

/* All rates come first: a place in flight is for who needs nothing else to begin. */
static int rdmacg_pass_locked(struct rdmacg_control *control, struct rdmacg_turn *turn)
	__must_hold(&control->gate->lock)
{
	struct rdmacg_control *level;
	int ret;

	for (level = control; level; level = level->parent) {
		ret = rdmacg_pass_rate_locked(level, turn);
		if (ret)
			return ret;
	}
	for (level = control; level != turn->above; level = level->parent) {
		ret = rdmacg_pass_inflight_locked(level, turn);
		if (ret) {
			rdmacg_leave_inflight_locked(control, level);
			return ret;
		}
		/* The ancestors' places beyond the limit are for others. */
		if (!turn->may_wait && level->inflight > level->inflight_max)
			turn->above = level->parent;
	}
	return 0;
}

static void rdmacg_add(u64 *counter, u64 amount)
{
	WRITE_ONCE(*counter, *counter + amount);
}

/* Count a command that begins, or not; and that it had to wait, if it had. */
static void rdmacg_control_count_locked(struct rdmacg_control *control, bool begins,
					const struct rdmacg_turn *turn)
{
	for (; control; control = control->parent) {
		lockdep_assert_held(&control->gate->lock);
		rdmacg_add(&control->stat.ops, begins);
		rdmacg_add(&control->stat.throttled, !!turn->waited_ns);
		rdmacg_add(&control->stat.throttled_ns, turn->waited_ns);
	}
}

/*
 * Let a command of a cgroup begin once the limits of the cgroup and its ancestors allow it, or
 * at once if it does not wait. 0, or -ERESTARTSYS for a process that is killed: that one is in
 * no queue, and has no place in flight. Its turn in the rates that it has passed is used up.
 */
int rdmacg_control_begin(struct rdmacg_control *control, struct rdmacg_turn *turn)
{
	int ret;

	spin_lock_bh(&control->gate->lock);
	ret = rdmacg_pass_locked(control, turn);
	rdmacg_control_count_locked(control, !ret, turn);
	spin_unlock_bh(&control->gate->lock);
	return ret;
}

/*
 * A command that began has ended: its places in flight go to who waits for one. @above is what
 * rdmacg_control_begin() has left in its turn.
 */
void rdmacg_control_end(struct rdmacg_control *control, struct rdmacg_control *above)
{
	spin_lock_bh(&control->gate->lock);
	rdmacg_leave_inflight_locked(control, above);
	spin_unlock_bh(&control->gate->lock);
}

/* Set limits. Those who wait and have not to by now, begin. */
void rdmacg_control_set(struct rdmacg_control *control, u64 ops, u64 burst, u64 inflight)
{
	spin_lock_bh(&control->gate->lock);
	/* To set a rate once more makes it late. */
	if (ops != control->ops_max || burst != control->burst_max)
		rdmacg_rate_set(&control->rate, ops, burst, ktime_get_ns());
	control->ops_max = ops;
	control->burst_max = burst;
	control->inflight_max = inflight;
	rdmacg_control_run_locked(control);
	spin_unlock_bh(&control->gate->lock);
}

void rdmacg_gate_init(struct rdmacg_gate *gate, bool is_open)
{
	spin_lock_init(&gate->lock);
	INIT_LIST_HEAD(&gate->waiters);
	gate->is_open = is_open;
}

/*
 * From now on nobody waits. Lets some of those who do so begin, and returns whether there are
 * others: to be called again.
 */
bool rdmacg_gate_open(struct rdmacg_gate *gate)
{
	struct rdmacg_waiter *waiter, *next;
	unsigned int i = 0;
	bool are_more;

	spin_lock_bh(&gate->lock);
	gate->is_open = true;
	list_for_each_entry_safe(waiter, next, &gate->waiters, gate_node) {
		if (i++ == RDMACG_BATCH)
			break;
		rdmacg_waiter_begin_locked(waiter);
	}
	are_more = !list_empty(&gate->waiters);
	spin_unlock_bh(&gate->lock);
	return are_more;
}

void rdmacg_gate_close(struct rdmacg_gate *gate)
{
	spin_lock_bh(&gate->lock);
	gate->is_open = false;
	spin_unlock_bh(&gate->lock);
}

/* No limits, no commands, and no gate yet. NULL: no memory. */
struct rdmacg_control *rdmacg_control_alloc(void)
{
	struct rdmacg_control *control;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_control_alloc);
	control = kzalloc_obj(*control, GFP_KERNEL_ACCOUNT);
	if (!control)
		return NULL;
	control->ops_max = RDMACG_NO_LIMIT;
	control->burst_max = RDMACG_NO_LIMIT;
	control->inflight_max = RDMACG_NO_LIMIT;
	INIT_LIST_HEAD(&control->rate_queue);
	INIT_LIST_HEAD(&control->inflight_queue);
	return control;
}
