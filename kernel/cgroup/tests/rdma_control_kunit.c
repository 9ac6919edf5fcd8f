// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for limits on commands in the RDMA cgroup controller. Tests of rates do not
 * use the clock. In other tests, processes wait.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/sched/signal.h>

#include "rdma_kunit.h"

#define MS		((u64)NSEC_PER_MSEC)
#define SECOND		((u64)NSEC_PER_SEC)
/* An arbitrary time. */
#define START		(1000 * SECOND)
#define UNLIMITED	RDMACG_NO_LIMIT

/* Try to begin a command, which may have waited for the rate. Returns whether it begins. */
static bool rdmacg_rate_try(struct rdmacg_rate *rate, u64 now, bool has_waited)
{
	if (rdmacg_rate_begins(rate) > now)
		return false;
	rdmacg_rate_take(rate, 1, now, has_waited);
	return true;
}

/* Let commands begin at @now while the rate allows it, at most 10,000. Returns their number. */
static unsigned int rdmacg_at_once(struct rdmacg_rate *rate, u64 now)
{
	unsigned int count = 0;

	while (count < 10000 && rdmacg_rate_try(rate, now, false))
		count++;
	return count;
}

/* A rate and its burst, a later write of both, and when the next command begins after the write. */
struct rdmacg_rate_case {
	const char *name;
	u64 ops, burst;
	/* The time before any command, and the number of commands that may begin then. */
	u64 idle;
	unsigned int at_once;
	u64 new_ops, new_burst;
	u64 begins;
};

/* Without a burst, commands of a tenth of a second may begin at once, and one at least. */
static const struct rdmacg_rate_case rdmacg_rate_cases[] = {
	{ "one command", 1000, 1, 0, 1, 1000, 1, MS },
	{ "a burst", 10, 5, 0, 5, 10, 5, 100 * MS },
	{ "a burst after an hour", 10, 5, 3600 * SECOND, 5, 10, 5, 100 * MS },
	{ "no burst", 1000, UNLIMITED, 0, 100, 1000, UNLIMITED, MS },
	{ "no burst of a low rate", 2, UNLIMITED, 0, 1, 2, UNLIMITED, 500 * MS },
	{ "a raised rate", 1, 3, 0, 3, 1000, 3, MS },
	{ "a lowered rate", 1000, 1, 0, 1, 2, 1, 500 * MS },
	{ "a smaller burst", 1, 1000, 0, 1000, 1, 1, SECOND },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_rate, rdmacg_rate_cases, name);

static void rdmacg_test_rate_lets_a_burst_begin_at_once(struct kunit *test)
{
	const struct rdmacg_rate_case *param = test->param_value;
	u64 now = START + param->idle;
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, param->ops, param->burst, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, now), param->at_once);
	rdmacg_rate_set(&rate, param->new_ops, param->new_burst, now);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), now + param->begins);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, now + param->begins - 1), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, now + param->begins), 1);
	rdmacg_rate_set(&rate, UNLIMITED, param->new_burst, now);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, now), 10000);
}

/*
 * The interval is a whole number of nanoseconds, so the real rate is at most a thousandth too high.
 */
static void rdmacg_test_rate_is_kept_if_a_second_is_not_a_multiple(struct kunit *test)
{
	static const u64 limits[] = { 3, 7, 999, 333333, 666667, 999999, RDMACG_OPS_MAX };
	struct rdmacg_rate rate;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		rate = (struct rdmacg_rate) { };
		rdmacg_rate_set(&rate, limits[i], 1, START);
		for (j = 0; j < 7000; j++)
			KUNIT_ASSERT_EQ(test, rdmacg_at_once(&rate, max(rdmacg_rate_begins(&rate),
									START)), 1);
		KUNIT_EXPECT_LE(test, rdmacg_rate_begins(&rate) - START,
				7000 * SECOND / limits[i]);
		KUNIT_EXPECT_GE(test, rdmacg_rate_begins(&rate) - START,
				7000 * SECOND / limits[i] / 1000 * 999);
	}
}

/* The rate makes up for the delays of timers, but forgets a delay of more than a second. */
static void rdmacg_test_rate_loses_nothing_where_a_waiter_begins_late(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int count = 0;
	u64 now = START;

	rdmacg_rate_set(&rate, 1000, 1, START);
	/* Each timer is up to 13 ms late, and lets all due commands begin. */
	while (count < 500) {
		now = rdmacg_rate_begins(&rate) + (count % 14) * MS;
		while (rdmacg_rate_try(&rate, now, true))
			count++;
	}
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + count * MS);
	for (count = 0; rdmacg_rate_try(&rate, START + 3600 * SECOND, true); count++)
		;
	KUNIT_EXPECT_EQ(test, count, 1001);
}

/* No valid limit makes the times overflow, for any value of the clock. */
static void rdmacg_test_rate_takes_any_limit_after_years(struct kunit *test)
{
	static const u64 rates[] = { 1, 2, 999, RDMACG_OPS_MAX };
	static const u64 bursts[] = { 1, 2, 999, SECOND, BIT_ULL(55) + 1, UNLIMITED - 1 };
	static const u64 clocks[] = { 0, 1, SECOND, S64_MAX - 2 * SECOND };
	struct rdmacg_rate rate;
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(bursts); j++) {
			for (k = 0; k < ARRAY_SIZE(clocks); k++) {
				rate = (struct rdmacg_rate) { };
				rdmacg_rate_set(&rate, rates[i], bursts[j], clocks[k]);
				KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, clocks[k]),
						min(bursts[j], 10000));
				/* Change to the slowest rate and the smallest burst. */
				rdmacg_rate_set(&rate, 1, 1, clocks[k]);
				KUNIT_EXPECT_LE(test, rdmacg_rate_begins(&rate),
						clocks[k] + SECOND);
				KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, clocks[k] + 2 * SECOND),
						1);
			}
		}
	}
}

/*
 *   parent
 *    |-- child
 *    `-- sibling
 */
struct rdmacg_levels {
	struct rdmacg_gate gate;
	bool bypass;
	struct rdmacg_control *parent, *child, *sibling;
	/* The limits of the three controls, in the same order. */
	u64 limits[3][RDMACG_CONTROL_LIMITS];
};

KUNIT_DEFINE_ACTION_WRAPPER(rdmacg_control_free, kfree, const void *);

static void rdmacg_set(struct rdmacg_control *control, u64 ops, u64 burst, u64 inflight)
{
	u64 *limits = (u64 *)control->limits;

	limits[RDMACG_CONTROL_OPS] = ops;
	limits[RDMACG_CONTROL_BURST] = burst;
	limits[RDMACG_CONTROL_INFLIGHT] = inflight;
	rdmacg_control_set(control);
}

static struct rdmacg_control *rdmacg_control(struct kunit *test, struct rdmacg_levels *levels,
					     struct rdmacg_control *parent, u64 *limits)
{
	struct rdmacg_control *control = rdmacg_control_alloc();

	KUNIT_ASSERT_NOT_NULL(test, control);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_control_free, control), 0);
	control->gate = &levels->gate;
	control->bypass = &levels->bypass;
	control->parent = parent;
	control->limits = limits;
	rdmacg_set(control, UNLIMITED, UNLIMITED, UNLIMITED);
	return control;
}

static struct rdmacg_levels *rdmacg_levels(struct kunit *test)
{
	struct rdmacg_levels *levels = kunit_kzalloc(test, sizeof(*levels), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, levels);
	spin_lock_init(&levels->gate.lock);
	INIT_LIST_HEAD(&levels->gate.waiters);
	levels->parent = rdmacg_control(test, levels, NULL, levels->limits[0]);
	levels->child = rdmacg_control(test, levels, levels->parent, levels->limits[1]);
	levels->sibling = rdmacg_control(test, levels, levels->parent, levels->limits[2]);
	return levels;
}

static int begin_kind(struct rdmacg_control *control, enum rdmacg_command_kind kind)
{
	u64 waited_ns;

	return rdmacg_control_begin(control, kind, &waited_ns);
}

static int begin(struct rdmacg_control *control)
{
	return begin_kind(control, RDMACG_COMMAND_CHANGE);
}

static void end(struct rdmacg_control *control)
{
	rdmacg_control_end(control);
}

/* A process that wants to run one command. */
struct rdmacg_process {
	struct rdmacg_control *control;
	struct task_struct *task;
	struct completion has_begun;
	unsigned int run_ms;	/* How long the command runs, or 0 if the test ends it. */
	int ret;
};

/* After SIGUSR1, restart the command, as a system call after a signal handler. */
static int rdmacg_process(void *arg)
{
	struct rdmacg_process *process = arg;

	allow_signal(SIGKILL);
	allow_signal(SIGUSR1);
	do {
		process->ret = begin(process->control);
	} while (process->ret == -ERESTARTNOINTR && kernel_dequeue_signal() == SIGUSR1);
	complete(&process->has_begun);
	if (!process->ret && process->run_ms) {
		msleep(process->run_ms);
		end(process->control);
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void rdmacg_stop_process(void *arg)
{
	struct rdmacg_process *process = arg;

	/* The process may still wait after a failed assertion. */
	send_sig(SIGKILL, process->task, 1);
	kthread_stop_put(process->task);
}

static unsigned int rdmacg_waiting(struct rdmacg_gate *gate)
{
	unsigned int count;

	spin_lock_irq(&gate->lock);
	count = list_count_nodes(&gate->waiters);
	spin_unlock_irq(&gate->lock);
	return count;
}

/* Sleep until @count processes wait at the gate, but not much longer than five seconds. */
static void rdmacg_await(struct rdmacg_gate *gate, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < 5000 && rdmacg_waiting(gate) != count; i++)
		usleep_range(1000, 2000);
}

static struct rdmacg_process *rdmacg_start(struct kunit *test, struct rdmacg_control *control,
					   unsigned int run_ms)
{
	struct rdmacg_process *process = kunit_kzalloc(test, sizeof(*process), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, process);
	process->control = control;
	process->run_ms = run_ms;
	init_completion(&process->has_begun);
	process->task = kthread_create(rdmacg_process, process, "rdmacg");
	KUNIT_ASSERT_FALSE(test, IS_ERR(process->task));
	get_task_struct(process->task);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_stop_process, process), 0);
	wake_up_process(process->task);
	return process;
}

/* Start a process, and wait until it is in the queue. */
static struct rdmacg_process *rdmacg_wait(struct kunit *test, struct rdmacg_control *control)
{
	unsigned int waiting = rdmacg_waiting(control->gate);
	struct rdmacg_process *process = rdmacg_start(test, control, 0);

	rdmacg_await(control->gate, waiting + 1);
	KUNIT_ASSERT_EQ(test, rdmacg_waiting(control->gate), waiting + 1);
	return process;
}

/*
 * Returns the result of the process's command, or -EBUSY if the command still waits after five
 * seconds.
 */
static int rdmacg_outcome(struct rdmacg_process *process)
{
	return wait_for_completion_timeout(&process->has_begun, 5 * HZ) ? process->ret : -EBUSY;
}

static bool rdmacg_still_waits(struct rdmacg_process *process)
{
	msleep(20);
	return !completion_done(&process->has_begun);
}

static void rdmacg_test_free_place_goes_to_the_first_waiter(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *first, *second;

	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	first = rdmacg_wait(test, levels->sibling);
	second = rdmacg_wait(test, levels->child);
	end(levels->child);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(first), 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(second));
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 1);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(second), 0);
	end(levels->child);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 0);
	KUNIT_EXPECT_EQ(test, levels->child->inflight, 0);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.ops, 3);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.throttled, 2);
	KUNIT_EXPECT_EQ(test, levels->child->stat.throttled, 1);
	KUNIT_EXPECT_GT(test, levels->child->stat.throttled_ns, 0);
	KUNIT_EXPECT_GT(test, levels->parent->stat.throttled_ns, levels->child->stat.throttled_ns);
}

/*
 * A place becomes free for a process that sleeps. Returns whether this process uses the place
 * before the other process runs. The sleeper then gets the next place, before @later.
 */
static bool rdmacg_takes_over(struct kunit *test, struct rdmacg_control *control)
{
	struct rdmacg_process *sleeper, *later;
	bool takes_over;

	KUNIT_ASSERT_EQ(test, begin(control), 0);
	sleeper = rdmacg_start(test, control, 200);
	rdmacg_await(control->gate, 1);
	later = rdmacg_start(test, control, 1);
	rdmacg_await(control->gate, 2);
	end(control);
	KUNIT_ASSERT_EQ(test, begin(control), 0);
	takes_over = !completion_done(&sleeper->has_begun);
	KUNIT_EXPECT_EQ(test, control->inflight, 1);
	end(control);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(sleeper), 0);
	KUNIT_EXPECT_TRUE(test, !takes_over || !completion_done(&later->has_begun));
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(later), 0);
	return takes_over;
}

static void rdmacg_test_running_process_uses_the_place_of_a_sleeper(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	unsigned int tries = 0;

	rdmacg_set(levels->child, UNLIMITED, UNLIMITED, 1);
	/* The sleeper may run at once on another processor. */
	while (tries < 20 && !rdmacg_takes_over(test, levels->child))
		tries++;
	KUNIT_EXPECT_LT(test, tries, 20);
	KUNIT_EXPECT_EQ(test, levels->child->stat.ops, 4 * (tries + 1));
}

/*
 * A destroy command is counted, but uses no place in flight and no rate. It does not wait, even if
 * other commands wait.
 */
static void rdmacg_test_destroy_command_uses_no_rate(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiter;
	unsigned int i;
	u64 begins;

	rdmacg_set(levels->parent, 1000, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	waiter = rdmacg_wait(test, levels->child);
	begins = rdmacg_rate_begins(&levels->parent->rate);
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, begin_kind(levels->sibling, RDMACG_COMMAND_DESTROY), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&levels->parent->rate), begins);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 1);
	KUNIT_EXPECT_EQ(test, levels->sibling->inflight, 0);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.ops, 1001);
	KUNIT_EXPECT_EQ(test, levels->sibling->stat.ops, 1000);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiter));
	end(levels->child);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
}

static void rdmacg_test_create_command_uses_the_rate_twice(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	u64 due, before = ktime_get_ns();

	rdmacg_set(levels->parent, 10, 3, UNLIMITED);
	KUNIT_ASSERT_EQ(test, begin_kind(levels->child, RDMACG_COMMAND_CREATE), 0);
	due = levels->parent->rate.due;
	KUNIT_EXPECT_GE(test, due, before + 200 * MS);
	KUNIT_ASSERT_EQ(test, begin_kind(levels->child, RDMACG_COMMAND_CHANGE), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->rate.due, due + 100 * MS);
	KUNIT_ASSERT_EQ(test, begin_kind(levels->child, RDMACG_COMMAND_DESTROY), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->rate.due, due + 100 * MS);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 2);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.ops, 3);
}

/*
 * All places of the parent are taken. Many processes wait in the given controls, and after them one
 * process of the sibling. Check that the sibling's process is the second to begin.
 */
static void rdmacg_expect_turn(struct kunit *test, struct rdmacg_levels *levels,
			       struct rdmacg_control * const *many, unsigned int nr)
{
	struct rdmacg_process *first, *last;
	unsigned int i;

	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	first = rdmacg_wait(test, many[0]);
	for (i = 1; i < 3 * nr; i++)
		rdmacg_wait(test, many[i % nr]);
	last = rdmacg_wait(test, levels->sibling);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(first), 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(last));
	end(many[0]);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(last), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_waiting(&levels->gate), 3 * nr - 1);
}

/*
 * A child with many processes gets the same turn as a child with one, whatever its own limits. So
 * do the processes of the parent itself.
 */
static void rdmacg_test_each_child_gets_a_turn(struct kunit *test)
{
	static const u64 limits[][3] = {
		{ UNLIMITED, UNLIMITED, UNLIMITED },
		{ UNLIMITED, UNLIMITED, 1 },
		{ RDMACG_OPS_MAX, UNLIMITED, UNLIMITED },
	};
	struct rdmacg_levels *levels;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		levels = rdmacg_levels(test);
		rdmacg_set(levels->child, limits[i][0], limits[i][1], limits[i][2]);
		rdmacg_expect_turn(test, levels, &levels->child, 1);
	}
	levels = rdmacg_levels(test);
	rdmacg_expect_turn(test, levels, &levels->parent, 1);
}

static void rdmacg_test_cgroups_of_a_child_get_one_turn(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_control *many[4];
	u64 limits[ARRAY_SIZE(many)][RDMACG_CONTROL_LIMITS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = rdmacg_control(test, levels, levels->child, limits[i]);
	rdmacg_expect_turn(test, levels, many, ARRAY_SIZE(many));
	/* The other cgroups of the child follow, each with one process. */
	for (i = 1; i < ARRAY_SIZE(many); i++) {
		end(i == 1 ? levels->sibling : many[i - 1]);
		rdmacg_await(&levels->gate, 3 * ARRAY_SIZE(many) - 1 - i);
		KUNIT_EXPECT_EQ(test, many[i]->inflight, 1);
	}
}

/* The command of the killed process was the first at the parent. */
static void rdmacg_test_killed_waiter_gives_the_turn_to_its_cgroup(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *killed, *sibling, *child;

	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	killed = rdmacg_wait(test, levels->child);
	child = rdmacg_wait(test, levels->child);
	sibling = rdmacg_wait(test, levels->sibling);
	send_sig(SIGKILL, killed->task, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(killed), -ERESTARTNOINTR);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(sibling), 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(child));
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(child), 0);
	KUNIT_EXPECT_EQ(test, levels->child->inflight, 1);
	/* Nothing waits, so nothing is ahead of later commands. */
	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(rdmacg_start(test, levels->child, 0)), 0);
}

/* A command that waits at the parent does not exceed a limit that the child gets meanwhile. */
static void rdmacg_test_lowered_limit_takes_the_turn(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *child, *sibling;

	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 2);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	child = rdmacg_wait(test, levels->child);
	sibling = rdmacg_wait(test, levels->sibling);
	rdmacg_set(levels->child, UNLIMITED, UNLIMITED, 1);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(sibling), 0);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(child));
	end(levels->child);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(child), 0);
}

static void rdmacg_test_raised_limit_lets_all_begin(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	/* There are more waiters than one run of the queue can handle. */
	struct rdmacg_process *waiters[70];
	unsigned int i;

	rdmacg_set(levels->parent, 1, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = rdmacg_wait(test, levels->child);
	/* The rate no longer limits the commands, but they still wait for a place in flight. */
	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiters[0]));
	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, UNLIMITED);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiters[i]), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, ARRAY_SIZE(waiters) + 1);
}

/* The rate has no credit for the time in which no place in flight was free. */
static void rdmacg_test_burst_is_kept_after_a_lack_of_places(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *process;
	u64 free;

	rdmacg_set(levels->parent, 1000, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	process = rdmacg_wait(test, levels->child);
	msleep(100);
	free = ktime_get_ns();
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(process), 0);
	KUNIT_EXPECT_GE(test, levels->parent->rate.due, free);
}

static void rdmacg_test_removed_device_lets_all_commands_begin(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *first, *second;

	rdmacg_set(levels->child, 1, 1, UNLIMITED);
	rdmacg_set(levels->sibling, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	first = rdmacg_wait(test, levels->child);
	second = rdmacg_wait(test, levels->sibling);
	levels->bypass = true;
	while (rdmacg_gate_open(&levels->gate))
		;
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(first), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(second), 0);
	KUNIT_EXPECT_EQ(test, begin(levels->child), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 5);
	levels->bypass = false;
	/* Only the first command, which did not bypass the limit, delays the next command. */
	KUNIT_EXPECT_LE(test, rdmacg_rate_begins(&levels->child->rate), ktime_get_ns() + SECOND);
	rdmacg_wait(test, levels->child);
}

/*
 * A waiting command does not count on any level, even if a signal interrupts the wait. When the
 * command begins, each level counts it once.
 */
static void rdmacg_test_signal_costs_nothing_at_home(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *process;
	unsigned int i;

	rdmacg_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	rdmacg_set(levels->child, 100, 1, UNLIMITED);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling), 0);
	process = rdmacg_start(test, levels->child, 0);
	for (i = 0; i < 20; i++) {
		usleep_range(1000, 2000);
		send_sig(SIGUSR1, process->task, 1);
	}
	KUNIT_EXPECT_EQ(test, levels->child->stat.ops, 0);
	KUNIT_EXPECT_LE(test, rdmacg_rate_begins(&levels->child->rate), ktime_get_ns());
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(process), 0);
	KUNIT_EXPECT_EQ(test, levels->child->stat.ops, 1);
}

/*
 * End a command in a hard interrupt, as if the adapter had completed the command. With PREEMPT_RT,
 * the timer and the adapter's interrupt run in threads.
 */
struct rdmacg_hard_end {
	struct hrtimer timer;
	struct rdmacg_control *control;
	bool was_hard;
};

static enum hrtimer_restart rdmacg_end_hard(struct hrtimer *timer)
{
	struct rdmacg_hard_end *hard = container_of(timer, struct rdmacg_hard_end, timer);

	hard->was_hard = in_hardirq();
	rdmacg_control_end(hard->control);
	return HRTIMER_NORESTART;
}

static void rdmacg_test_command_ends_in_a_hard_interrupt(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiter;
	struct rdmacg_hard_end hard = { .control = levels->child };

	hrtimer_setup_on_stack(&hard.timer, rdmacg_end_hard, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL);
	rdmacg_set(levels->parent, 1000, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child), 0);
	waiter = rdmacg_wait(test, levels->sibling);
	hrtimer_start(&hard.timer, ms_to_ktime(1), HRTIMER_MODE_REL);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
	hrtimer_cancel(&hard.timer);
	destroy_hrtimer_on_stack(&hard.timer);
	KUNIT_EXPECT_TRUE(test, hard.was_hard);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 1);
}

/*
 *   root
 *    `-- top
 *         |-- leaf
 *         `-- idle
 */
struct rdmacg_tree {
	struct rdma_cgroup root, top, leaf, idle;
	struct rdma_cgroup *current_cg;
	struct rdmacg_device dev;
	struct rdmacg_command earlier;
};

static struct rdma_cgroup *rdmacg_test_get_current(void)
{
	struct rdmacg_tree *t = kunit_get_current_test()->priv;

	rdmacg_get(t->current_cg);
	return t->current_cg;
}

static int rdmacg_command_test_init(struct kunit *test)
{
	struct rdmacg_tree *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	kunit_activate_static_stub(test, rdmacg_get_current, rdmacg_test_get_current);
	rdmacg_test_create_cgroup(test, &t->root, NULL);
	rdmacg_test_create_cgroup(test, &t->top, &t->root);
	rdmacg_test_create_cgroup(test, &t->leaf, &t->top);
	rdmacg_test_create_cgroup(test, &t->idle, &t->top);
	t->current_cg = &t->leaf;
	rdmacg_test_register(test, &t->dev, "kunit0", 100);
	return 0;
}

static int rdmacg_limit_control(struct rdma_cgroup *cg, const char *text)
{
	return rdmacg_test_set_max(cg, RDMACG_CLASS_CONTROL, text);
}

static char *rdmacg_stat(struct kunit *test, struct rdma_cgroup *cg)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_CONTROL, RDMACG_FILE_STAT);
}

static char *rdmacg_control_max(struct kunit *test, struct rdma_cgroup *cg)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_CONTROL, RDMACG_FILE_MAX);
}

/* Run a command, and expect that it is counted only if @is_counted is true. */
static void rdmacg_run(struct kunit *test, struct rdmacg_tree *t, bool is_counted)
{
	struct rdmacg_command command;

	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&command, &t->dev, RDMACG_COMMAND_CHANGE), 0);
	KUNIT_EXPECT_EQ(test, !!command.control, is_counted);
	rdmacg_end_command(&command);
}

static void rdmacg_test_control_limits_are_shown(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=max burst=max inflight=max\n");
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "kunit0 inflight=4 ops=1000"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=1000 burst=max inflight=4\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_stat(test, &t->leaf),
			   "kunit0 ops=0 throttled=0 throttled_usec=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_test_show(test, &t->leaf, 0, RDMACG_FILE_CAPACITY),
			   "kunit0 hca_handle=max hca_object=max\n");
}

static void rdmacg_test_control_limit_of_nothing_is_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"kunit0 ops=0", "kunit0 burst=0", "kunit0 ops=5 inflight=0", "kunit0 ops=1000001",
		"kunit0 hca_object=1", "kunit0 qp=1", "kunit0 ops=-1",
	};
	struct rdmacg_tree *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, rdmacg_limit_control(&t->leaf, bad[i]), -EINVAL, "%s",
				    bad[i]);
	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=max burst=max inflight=max\n");
	/* In other classes, a limit of 0 is valid. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=0"), 0);
}

static void rdmacg_test_control_cannot_be_charged_or_registered(struct kunit *test)
{
	static const struct rdmacg_resource resource = {
		.name = "many", .class = RDMACG_CLASS_CONTROL, .capacity = RDMACG_NO_LIMIT,
	};
	struct rdmacg_table table = { .resources = &resource, .count = 1 };
	struct rdmacg_amount charge = { .slot = 2, .amount = 1 };
	struct rdmacg_device other = { .name = "kunit1", .index = 101 };
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *owner;

	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev, &charge, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, rdmacg_register_tables(&other, &table, 1), 0);
	KUNIT_EXPECT_EQ(test, table.first_slot, -EINVAL);
	rdmacg_unregister_device(&other);
}

static void rdmacg_test_command_is_counted_where_a_limit_is(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_run(test, t, false);
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->idle, "kunit0 ops=1000"), 0);
	rdmacg_run(test, t, false);
	/* A burst alone is not a limit. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "kunit0 burst=1"), 0);
	rdmacg_run(test, t, false);
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->top, "kunit0 inflight=1"), 0);
	rdmacg_run(test, t, true);
	t->current_cg = &t->top;
	rdmacg_run(test, t, true);
	t->current_cg = &t->root;
	rdmacg_run(test, t, false);
	KUNIT_EXPECT_STREQ(test, rdmacg_stat(test, &t->leaf),
			   "kunit0 ops=1 throttled=0 throttled_usec=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_stat(test, &t->top),
			   "kunit0 ops=2 throttled=0 throttled_usec=0\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_stat(test, &t->idle),
			   "kunit0 ops=0 throttled=0 throttled_usec=0\n");
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->top, "kunit0 max"), 0);
	t->current_cg = &t->leaf;
	rdmacg_run(test, t, false);
}

/* Returns the number of commands that may begin together, at most 9. */
static unsigned int rdmacg_room(struct kunit *test, struct rdmacg_tree *t)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(t->current_cg, t->dev.key);
	struct rdmacg_control *control;
	unsigned int room = 0;
	struct rdmacg_rate rate;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	control = rcu_dereference_protected(pool->control, true);
	rdmacg_pool_unlock(pool);
	KUNIT_ASSERT_NOT_NULL(test, control);
	rate = control->rate;
	while (room < 9 && rdmacg_rate_try(&rate, ktime_get_ns(), false))
		room++;
	return room;
}

static void rdmacg_test_default_limits_commands(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	/* The cgroup has no pool yet. The rate is so low that only a burst begins in this test. */
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "ops=1 burst=5"), 0);
	rdmacg_run(test, t, true);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 4);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "ops=1 burst=3"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 2);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 9);
	rdmacg_run(test, t, false);
}

static struct rdmacg_control *rdmacg_no_memory(void)
{
	return NULL;
}

static void rdmacg_test_command_without_memory_leaves_no_pool(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command command;

	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->leaf, "inflight=1"), 0);
	kunit_activate_static_stub(test, rdmacg_control_alloc, rdmacg_no_memory);
	KUNIT_EXPECT_EQ(test, rdmacg_begin_command(&command, &t->dev, RDMACG_COMMAND_CHANGE),
			-ENOMEM);
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->leaf, t->dev.key));
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->top, t->dev.key));
	/* Without memory, a destroy command does not fail and is not counted. */
	KUNIT_EXPECT_EQ(test, rdmacg_begin_command(&command, &t->dev, RDMACG_COMMAND_DESTROY), 0);
	KUNIT_EXPECT_NULL(test, command.control);
	kunit_deactivate_static_stub(test, rdmacg_control_alloc);
	rdmacg_run(test, t, true);
	KUNIT_EXPECT_TRUE(test, rdmacg_has_pool(&t->leaf, t->dev.key));
}

/* Another command creates the controls while the first command allocates its control. */
static struct rdmacg_control *rdmacg_allocate_late(void)
{
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_tree *t = test->priv;

	kunit_deactivate_static_stub(test, rdmacg_control_alloc);
	KUNIT_EXPECT_EQ(test, rdmacg_begin_command(&t->earlier, &t->dev, RDMACG_COMMAND_CHANGE),
			0);
	return rdmacg_control_alloc();
}

static void rdmacg_test_commands_at_once_share_a_control(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command later;

	t->current_cg = &t->top;
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->top, "inflight=2"), 0);
	kunit_activate_static_stub(test, rdmacg_control_alloc, rdmacg_allocate_late);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&later, &t->dev, RDMACG_COMMAND_CHANGE), 0);
	KUNIT_EXPECT_NOT_NULL(test, later.control);
	KUNIT_EXPECT_PTR_EQ(test, later.control, t->earlier.control);
	rdmacg_end_command(&later);
	rdmacg_end_command(&t->earlier);
	rdmacg_run(test, t, true);
}

/* A default creates neither a pool nor a domain for "idle" before its first command. */
static void rdmacg_test_device_keeps_its_limits_while_it_moves(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *cgroups[] = { &t->leaf, &t->idle };
	struct rdmacg_command first, second;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "kunit0 inflight=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_default(&t->idle, "inflight=1"), 0);
	rdmacg_stop_waiting(&t->dev);
	for (i = 0; i < ARRAY_SIZE(cgroups); i++) {
		t->current_cg = cgroups[i];
		KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&first, &t->dev,
							   RDMACG_COMMAND_CHANGE), 0);
		KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&second, &t->dev,
							   RDMACG_COMMAND_CHANGE), 0);
		rdmacg_end_command(&second);
		rdmacg_end_command(&first);
		KUNIT_EXPECT_FALSE(test, first.control);
	}
	rdmacg_resume_waiting(&t->dev);
	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=max burst=max inflight=1\n");
	rdmacg_run(test, t, true);
}

/*
 * A command that the adapter completes later keeps its place in flight after the end of the call
 * that began the command. It keeps its cgroup, even if its process moves.
 */
static void rdmacg_test_moved_command_keeps_its_place(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command call, later;
	struct rdmacg_control *control;
	struct rdmacg_process *waiter;

	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "kunit0 inflight=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&call, &t->dev, RDMACG_COMMAND_CHANGE), 0);
	control = call.control;
	KUNIT_ASSERT_NOT_NULL(test, control);
	rdmacg_move_command(&later, &call);
	rdmacg_end_command(&call);
	t->current_cg = &t->idle;
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 1);
	KUNIT_EXPECT_EQ(test, control->inflight, 1);
	waiter = rdmacg_wait(test, control);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiter));
	rdmacg_end_command(&later);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 0);
	end(control);
	KUNIT_EXPECT_EQ(test, control->inflight, 0);
}

static struct kunit_case rdmacg_control_test_cases[] = {
	KUNIT_CASE(rdmacg_test_rate_is_kept_if_a_second_is_not_a_multiple),
	KUNIT_CASE_PARAM(rdmacg_test_rate_lets_a_burst_begin_at_once, rdmacg_rate_gen_params),
	KUNIT_CASE(rdmacg_test_rate_loses_nothing_where_a_waiter_begins_late),
	KUNIT_CASE(rdmacg_test_rate_takes_any_limit_after_years),
	KUNIT_CASE(rdmacg_test_free_place_goes_to_the_first_waiter),
	KUNIT_CASE(rdmacg_test_running_process_uses_the_place_of_a_sleeper),
	KUNIT_CASE(rdmacg_test_destroy_command_uses_no_rate),
	KUNIT_CASE(rdmacg_test_create_command_uses_the_rate_twice),
	KUNIT_CASE(rdmacg_test_each_child_gets_a_turn),
	KUNIT_CASE(rdmacg_test_cgroups_of_a_child_get_one_turn),
	KUNIT_CASE(rdmacg_test_killed_waiter_gives_the_turn_to_its_cgroup),
	KUNIT_CASE(rdmacg_test_lowered_limit_takes_the_turn),
	KUNIT_CASE(rdmacg_test_raised_limit_lets_all_begin),
	KUNIT_CASE(rdmacg_test_burst_is_kept_after_a_lack_of_places),
	KUNIT_CASE(rdmacg_test_removed_device_lets_all_commands_begin),
	KUNIT_CASE(rdmacg_test_signal_costs_nothing_at_home),
	KUNIT_CASE(rdmacg_test_command_ends_in_a_hard_interrupt),
	{ }
};

static struct kunit_suite rdmacg_control_test_suite = {
	.name = "cgroup_rdma_control",
	.test_cases = rdmacg_control_test_cases,
};

static struct kunit_case rdmacg_command_test_cases[] = {
	KUNIT_CASE(rdmacg_test_control_limits_are_shown),
	KUNIT_CASE(rdmacg_test_control_limit_of_nothing_is_refused),
	KUNIT_CASE(rdmacg_test_control_cannot_be_charged_or_registered),
	KUNIT_CASE(rdmacg_test_command_is_counted_where_a_limit_is),
	KUNIT_CASE(rdmacg_test_default_limits_commands),
	KUNIT_CASE(rdmacg_test_command_without_memory_leaves_no_pool),
	KUNIT_CASE(rdmacg_test_commands_at_once_share_a_control),
	KUNIT_CASE(rdmacg_test_device_keeps_its_limits_while_it_moves),
	KUNIT_CASE(rdmacg_test_moved_command_keeps_its_place),
	{ }
};

static struct kunit_suite rdmacg_command_test_suite = {
	.name = "cgroup_rdma_command",
	.init = rdmacg_command_test_init,
	.test_cases = rdmacg_command_test_cases,
};

kunit_test_suites(&rdmacg_control_test_suite, &rdmacg_command_test_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's limits on commands");
MODULE_LICENSE("GPL");
