// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the rates of the RDMA cgroup controller, which take the time from the test,
 * and for who waits for them.
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
/* Any time. */
#define START		(1000 * SECOND)
#define UNLIMITED	RDMACG_NO_LIMIT

/* How many commands begin at that moment; 10,000 at most. */
static unsigned int rdmacg_at_once(struct rdmacg_rate *rate, u64 now)
{
	unsigned int count = 0;

	while (count < 10000 && rdmacg_rate_try_take(rate, now))
		count++;
	return count;
}

static void rdmacg_test_rate_lets_one_begin_each_interval(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 1000, 1, START);
	KUNIT_EXPECT_TRUE(test, rdmacg_rate_try_take(&rate, START));
	KUNIT_EXPECT_FALSE(test, rdmacg_rate_try_take(&rate, START));
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + MS);
	KUNIT_EXPECT_FALSE(test, rdmacg_rate_try_take(&rate, START + MS - 1));
	KUNIT_EXPECT_TRUE(test, rdmacg_rate_try_take(&rate, START + MS));
}

static void rdmacg_test_rate_is_exact_where_the_interval_is_no_whole_number(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int i;

	rdmacg_rate_set(&rate, 7, 1, START);
	for (i = 0; i < 7000; i++)
		KUNIT_ASSERT_TRUE(test, rdmacg_rate_try_take(&rate, rdmacg_rate_begins(&rate)));
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + 1000 * SECOND);
}

static void rdmacg_test_rate_lets_a_burst_begin_at_once(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 10, 5, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 5);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + 100 * MS);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START + 200 * MS), 2);
}

static void rdmacg_test_rate_without_a_burst_has_a_tenth_of_a_second(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 1000, UNLIMITED, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 100);
	rdmacg_rate_set(&rate, UNLIMITED, UNLIMITED, START);
	rdmacg_rate_set(&rate, 3, UNLIMITED, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 1);
}

static void rdmacg_test_rate_saves_no_idle_time_beyond_the_burst(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 10, 5, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START + 3600 * SECOND), 5);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START + 3600 * SECOND + 99 * MS), 0);
}

static void rdmacg_test_rate_loses_nothing_where_a_waiter_begins_late(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int count = 0;
	u64 now = START;

	rdmacg_rate_set(&rate, 1000, 1, START);
	/* Each timer is late, by up to 13 intervals, and lets all begin whose time has come. */
	while (count < 500) {
		now = rdmacg_rate_begins(&rate) + (count % 14) * MS;
		while (rdmacg_rate_take_next(&rate, now))
			count++;
	}
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + count * MS);
}

static void rdmacg_test_rate_forgets_a_delay_of_more_than_a_second(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int count = 0;

	rdmacg_rate_set(&rate, 100, 1, START);
	while (rdmacg_rate_take_next(&rate, START + 3600 * SECOND))
		count++;
	KUNIT_EXPECT_EQ(test, count, 101);
}

static void rdmacg_test_rate_that_is_raised_lets_begin_sooner(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 1, 3, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 3);
	rdmacg_rate_set(&rate, 1000, 3, START);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + MS);
	rdmacg_rate_set(&rate, UNLIMITED, 3, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 10000);
}

static void rdmacg_test_rate_that_is_lowered_lets_begin_later(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 1000, 1, START);
	KUNIT_ASSERT_TRUE(test, rdmacg_rate_try_take(&rate, START));
	rdmacg_rate_set(&rate, 2, 1, START);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + 500 * MS);
}

static void rdmacg_test_rate_with_a_smaller_burst_waits_an_interval_at_most(struct kunit *test)
{
	struct rdmacg_rate rate = { };

	rdmacg_rate_set(&rate, 1, 1000, START);
	KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, START), 1000);
	rdmacg_rate_set(&rate, 1, 1, START);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), START + SECOND);
}

/* Limits that can be written, and a clock that can be read, without an overflow. */
static void rdmacg_test_rate_takes_any_limit_after_years(struct kunit *test)
{
	static const u64 limits[] = { 1, 2, 999, SECOND - 1, SECOND, SECOND + 1, UNLIMITED - 1 };
	static const u64 clocks[] = { 0, 1, SECOND, S64_MAX - 2 * SECOND };
	struct rdmacg_rate rate;
	unsigned int i, j, k;
	u64 burst;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		for (j = 0; j < ARRAY_SIZE(limits); j++) {
			for (k = 0; k < ARRAY_SIZE(clocks); k++) {
				rate = (struct rdmacg_rate) { };
				rdmacg_rate_set(&rate, limits[i], limits[j], clocks[k]);
				burst = min(limits[j], 10000);
				KUNIT_EXPECT_EQ(test, rdmacg_at_once(&rate, clocks[k]), burst);
				rdmacg_rate_take_anyway(&rate, clocks[k], false);
				/* The limits change places. */
				rdmacg_rate_set(&rate, limits[j], limits[i], clocks[k]);
				KUNIT_EXPECT_LE(test, rdmacg_rate_begins(&rate),
						clocks[k] + SECOND);
				KUNIT_EXPECT_TRUE(test, rdmacg_rate_try_take(&rate, clocks[k] +
									     2 * SECOND));
			}
		}
	}
}

static void rdmacg_test_debt_is_a_second_at_most(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int i;
	u64 now = START;

	rdmacg_rate_set(&rate, 100, 1, START);
	for (i = 0; i < 10000; i++)
		rdmacg_rate_take_anyway(&rate, START, false);
	KUNIT_EXPECT_EQ(test, rate.debt, 100);
	/* Who waits meanwhile gets half of the rate, and all of it after two seconds. */
	for (i = 0; i < 100; i++) {
		now = rdmacg_rate_begins(&rate);
		KUNIT_ASSERT_TRUE(test, rdmacg_rate_take_next(&rate, now));
	}
	KUNIT_EXPECT_EQ(test, now, START + 1990 * MS);
	KUNIT_EXPECT_EQ(test, rate.debt, 0);
	now = rdmacg_rate_begins(&rate);
	KUNIT_ASSERT_TRUE(test, rdmacg_rate_take_next(&rate, now));
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&rate), now + 10 * MS);
}

static void rdmacg_test_who_waits_gets_half_whatever_others_destroy(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int i, j;
	u64 now = START;

	rdmacg_rate_set(&rate, 100, 1, START);
	for (i = 0; i < 50; i++) {
		for (j = 0; j < 1000; j++)
			rdmacg_rate_take_anyway(&rate, now, true);
		now = rdmacg_rate_begins(&rate);
		KUNIT_ASSERT_TRUE(test, rdmacg_rate_take_next(&rate, now));
	}
	KUNIT_EXPECT_LE(test, now, START + 50 * 20 * MS);
}

static void rdmacg_test_debt_is_paid_while_nobody_comes(struct kunit *test)
{
	struct rdmacg_rate rate = { };
	unsigned int i;

	rdmacg_rate_set(&rate, 100, 1, START);
	for (i = 0; i < 61; i++)
		rdmacg_rate_take_anyway(&rate, START, false);
	KUNIT_EXPECT_EQ(test, rate.debt, 60);
	KUNIT_EXPECT_TRUE(test, rdmacg_rate_try_take(&rate, START + 510 * MS));
	KUNIT_EXPECT_EQ(test, rate.debt, 9);
	KUNIT_EXPECT_TRUE(test, rdmacg_rate_try_take(&rate, START + SECOND));
	KUNIT_EXPECT_EQ(test, rate.debt, 0);
}

/*
 *   parent
 *    |-- child
 *    `-- sibling
 */
struct rdmacg_levels {
	struct rdmacg_gate gate;
	struct rdmacg_control *parent, *child, *sibling;
};

KUNIT_DEFINE_ACTION_WRAPPER(rdmacg_control_free, kfree, const void *);

static struct rdmacg_control *rdmacg_control(struct kunit *test, struct rdmacg_levels *levels,
					     struct rdmacg_control *parent)
{
	struct rdmacg_control *control = rdmacg_control_alloc();
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, control);
	ret = kunit_add_action_or_reset(test, rdmacg_control_free, control);
	KUNIT_ASSERT_EQ(test, ret, 0);
	control->gate = &levels->gate;
	control->parent = parent;
	return control;
}

static struct rdmacg_levels *rdmacg_levels(struct kunit *test)
{
	struct rdmacg_levels *levels = kunit_kzalloc(test, sizeof(*levels), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, levels);
	rdmacg_gate_init(&levels->gate, false);
	levels->parent = rdmacg_control(test, levels, NULL);
	levels->child = rdmacg_control(test, levels, levels->parent);
	levels->sibling = rdmacg_control(test, levels, levels->parent);
	return levels;
}

static int begin(struct rdmacg_control *control, bool may_wait)
{
	struct rdmacg_turn turn = { .may_wait = may_wait };

	return rdmacg_control_begin(control, &turn);
}

/* The command has a place in flight at each level. */
static void end(struct rdmacg_control *control)
{
	rdmacg_control_end(control, NULL);
}

/* A process that wants to run one command. */
struct rdmacg_process {
	struct rdmacg_control *control;
	struct task_struct *task;
	struct completion has_begun;
	int ret;
};

static int rdmacg_process(void *arg)
{
	struct rdmacg_process *process = arg;

	allow_signal(SIGKILL);
	process->ret = begin(process->control, true);
	complete(&process->has_begun);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void rdmacg_stop_process(void *arg)
{
	struct rdmacg_process *process = arg;

	/* Where an assertion has failed, it may still wait. */
	send_sig(SIGKILL, process->task, 1);
	kthread_stop_put(process->task);
}

static unsigned int rdmacg_waiting(struct rdmacg_gate *gate)
{
	unsigned int count;

	spin_lock_bh(&gate->lock);
	count = list_count_nodes(&gate->waiters);
	spin_unlock_bh(&gate->lock);
	return count;
}

static struct rdmacg_process *rdmacg_start_process(struct kunit *test,
						   struct rdmacg_control *control)
{
	struct rdmacg_process *process = kunit_kzalloc(test, sizeof(*process), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, process);
	process->control = control;
	init_completion(&process->has_begun);
	process->task = kthread_create(rdmacg_process, process, "rdmacg");
	KUNIT_ASSERT_FALSE(test, IS_ERR(process->task));
	get_task_struct(process->task);
	ret = kunit_add_action_or_reset(test, rdmacg_stop_process, process);
	KUNIT_ASSERT_EQ(test, ret, 0);
	wake_up_process(process->task);
	return process;
}

/* Start a process that has to wait behind all others. */
static struct rdmacg_process *rdmacg_wait(struct kunit *test, struct rdmacg_control *control)
{
	unsigned int waiting = rdmacg_waiting(control->gate);
	struct rdmacg_process *process = rdmacg_start_process(test, control);
	unsigned int i;

	for (i = 0; i < 5000 && rdmacg_waiting(control->gate) == waiting; i++)
		usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, rdmacg_waiting(control->gate), waiting + 1);
	return process;
}

/* What its command has got; -EBUSY if it still waits after five seconds. */
static int rdmacg_outcome(struct rdmacg_process *process)
{
	return wait_for_completion_timeout(&process->has_begun, 5 * HZ) ? process->ret : -EBUSY;
}

static bool rdmacg_still_waits(struct rdmacg_process *process)
{
	msleep(20);
	return !completion_done(&process->has_begun);
}

static void rdmacg_test_place_in_flight_goes_to_who_came_first(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *first, *second;

	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
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
}

static void rdmacg_test_what_destroys_never_waits(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiter;

	rdmacg_control_set(levels->parent, 1, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	waiter = rdmacg_wait(test, levels->child);
	KUNIT_EXPECT_EQ(test, begin(levels->child, false), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 2);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.ops, 2);
	KUNIT_EXPECT_EQ(test, levels->parent->rate.debt, 1);
	end(levels->child);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiter));
}

static void rdmacg_test_what_destroys_leaves_a_sibling_its_places(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_turn destroys[4] = { };
	struct rdmacg_process *waiter;
	unsigned int i;

	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 4);
	rdmacg_control_set(levels->child, UNLIMITED, UNLIMITED, 2);
	rdmacg_control_set(levels->sibling, UNLIMITED, UNLIMITED, 2);
	for (i = 0; i < ARRAY_SIZE(destroys); i++)
		KUNIT_ASSERT_EQ(test, rdmacg_control_begin(levels->child, &destroys[i]), 0);
	KUNIT_EXPECT_EQ(test, levels->child->inflight, 4);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 2);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, rdmacg_outcome(rdmacg_start_process(test, levels->sibling)),
				0);
	/* The child's own creations come after all that it destroys. */
	waiter = rdmacg_wait(test, levels->child);
	for (i = 4; i-- > 2;)
		rdmacg_control_end(levels->child, destroys[i].above);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 4);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiter));
	for (i = 0; i < 2; i++)
		rdmacg_control_end(levels->child, destroys[i].above);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
	end(levels->child);
	end(levels->sibling);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, levels->child->inflight, 0);
	KUNIT_EXPECT_EQ(test, levels->sibling->inflight, 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 0);
}

static void rdmacg_test_what_destroys_gives_back_what_it_took(struct kunit *test)
{
	/* Of each command, the child's limit when it begins, and what the parent has then. */
	static const struct {
		u64 limit, inflight;
	} begins[] = { { 1, 1 }, { 1, 1 }, { UNLIMITED, 2 }, { 2, 2 }, { 5, 3 }, { 5, 3 } };
	/* What the parent has when they end, in the same order. */
	static const u64 ends[] = { 2, 2, 1, 1, 0, 0 };
	struct rdmacg_turn destroys[ARRAY_SIZE(begins)] = { };
	struct rdmacg_levels *levels = rdmacg_levels(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		rdmacg_control_set(levels->child, UNLIMITED, UNLIMITED, begins[i].limit);
		KUNIT_ASSERT_EQ(test, rdmacg_control_begin(levels->child, &destroys[i]), 0);
		KUNIT_EXPECT_EQ(test, levels->child->inflight, i + 1);
		KUNIT_EXPECT_EQ(test, levels->parent->inflight, begins[i].inflight);
	}
	rdmacg_control_set(levels->child, UNLIMITED, UNLIMITED, 1);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		rdmacg_control_end(levels->child, destroys[i].above);
		KUNIT_EXPECT_EQ(test, levels->child->inflight, ARRAY_SIZE(ends) - 1 - i);
		KUNIT_EXPECT_EQ(test, levels->parent->inflight, ends[i]);
	}
}

static void rdmacg_test_who_waits_at_home_keeps_no_sibling_waiting(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	u64 begins;

	rdmacg_control_set(levels->parent, 100, 1, UNLIMITED);
	rdmacg_control_set(levels->child, 1, 1, UNLIMITED);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	begins = rdmacg_rate_begins(&levels->parent->rate);
	rdmacg_wait(test, levels->child);
	rdmacg_wait(test, levels->child);
	KUNIT_EXPECT_EQ(test, rdmacg_rate_begins(&levels->parent->rate), begins);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(rdmacg_start_process(test, levels->sibling)), 0);
}

static void rdmacg_test_killed_waiter_leaves_nothing(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *killed, *next;

	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling, true), 0);
	killed = rdmacg_wait(test, levels->child);
	next = rdmacg_wait(test, levels->child);
	send_sig(SIGKILL, killed->task, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(killed), -ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, rdmacg_waiting(&levels->gate), 1);
	/* Only who is still there has a place in the child. */
	KUNIT_EXPECT_EQ(test, levels->child->inflight, 1);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 1);
	end(levels->sibling);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(next), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->stat.ops, 2);
}

static void rdmacg_test_killed_first_waiter_leaves_its_time_to_the_next(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *killed, *next;

	rdmacg_control_set(levels->parent, 2, 1, UNLIMITED);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	killed = rdmacg_wait(test, levels->child);
	next = rdmacg_wait(test, levels->child);
	send_sig(SIGKILL, killed->task, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(killed), -ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(next), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_waiting(&levels->gate), 0);
}

static void rdmacg_test_raised_limit_lets_all_begin(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiters[70];
	unsigned int i;

	/* More than begin under one hold of the lock. */
	rdmacg_control_set(levels->parent, 1, 1, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = rdmacg_wait(test, levels->child);
	/* Now for the next limit. */
	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiters[0]));
	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, UNLIMITED);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiters[i]), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, ARRAY_SIZE(waiters) + 1);
}

/* Who waits for a place in flight has no timer: nothing but the write lets it begin. */
static void rdmacg_test_raised_limit_makes_room_in_flight(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiter;

	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	waiter = rdmacg_wait(test, levels->child);
	rdmacg_control_set(levels->parent, UNLIMITED, UNLIMITED, 2);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 2);
}

static void rdmacg_test_lowered_limit_lets_begin_later(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *waiter;

	rdmacg_control_set(levels->parent, 2, 1, UNLIMITED);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	waiter = rdmacg_wait(test, levels->child);
	rdmacg_control_set(levels->parent, 1, 1, UNLIMITED);
	/* Longer than before, and shorter than now. */
	msleep(600);
	KUNIT_EXPECT_TRUE(test, rdmacg_still_waits(waiter));
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(waiter), 0);
}

static void rdmacg_test_nobody_waits_while_a_device_goes(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	struct rdmacg_process *first, *second;

	rdmacg_control_set(levels->child, 1, 1, UNLIMITED);
	rdmacg_control_set(levels->sibling, UNLIMITED, UNLIMITED, 1);
	KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
	KUNIT_ASSERT_EQ(test, begin(levels->sibling, true), 0);
	first = rdmacg_wait(test, levels->child);
	second = rdmacg_wait(test, levels->sibling);
	KUNIT_EXPECT_FALSE(test, rdmacg_gate_open(&levels->gate));
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(first), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_outcome(second), 0);
	KUNIT_EXPECT_EQ(test, begin(levels->child, true), 0);
	KUNIT_EXPECT_EQ(test, levels->parent->inflight, 5);
	rdmacg_gate_close(&levels->gate);
	rdmacg_wait(test, levels->child);
}

static void rdmacg_test_timer_keeps_the_rate(struct kunit *test)
{
	struct rdmacg_levels *levels = rdmacg_levels(test);
	u64 since = ktime_get_ns(), took;
	unsigned int i;

	rdmacg_control_set(levels->parent, 200, 1, UNLIMITED);
	for (i = 0; i < 41; i++) {
		KUNIT_ASSERT_EQ(test, begin(levels->child, true), 0);
		end(levels->child);
	}
	took = ktime_get_ns() - since;
	KUNIT_EXPECT_GE(test, took, 200 * MS);
	/* The machine may be busy. */
	KUNIT_EXPECT_LE(test, took, SECOND);
	KUNIT_EXPECT_GE(test, levels->parent->stat.throttled, 20);
	KUNIT_EXPECT_LE(test, levels->parent->stat.throttled_ns, took);
	KUNIT_EXPECT_GE(test, levels->parent->stat.throttled_ns, 50 * MS);
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
	return rdmacg_set_max(cg, RDMACG_CLASS_CONTROL, text);
}

static char *rdmacg_stat(struct kunit *test, struct rdma_cgroup *cg)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_CONTROL, RDMACG_FILE_STAT);
}

static char *rdmacg_control_max(struct kunit *test, struct rdma_cgroup *cg)
{
	return rdmacg_test_show(test, cg, RDMACG_CLASS_CONTROL, RDMACG_FILE_MAX);
}

/* Run a command, and expect that it was counted, or that it was not. */
static void rdmacg_run(struct kunit *test, struct rdmacg_tree *t, bool is_counted)
{
	struct rdmacg_command command;

	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&command, &t->dev, true), 0);
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
		"kunit0 ops=0", "kunit0 burst=0", "kunit0 ops=5 inflight=0", "default ops=0",
		"kunit0 hca_object=1", "kunit0 qp=1", "default qp=1", "kunit0 ops=-1",
	};
	struct rdmacg_tree *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, rdmacg_limit_control(&t->leaf, bad[i]), -EINVAL, "%s",
				    bad[i]);
	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=max burst=max inflight=max\n");
	/* In other classes there can be none of something. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_limit(&t->leaf, "kunit0 hca_object=0"), 0);
}

static void rdmacg_test_control_cannot_be_charged_or_registered(struct kunit *test)
{
	static const struct rdmacg_resource resource = {
		.name = "many", .class = RDMACG_CLASS_CONTROL, .capacity = RDMACG_NO_LIMIT,
	};
	struct rdmacg_table table = { .resources = &resource, .count = 1 };
	struct rdmacg_charge charge = { .slot = 2, .amount = 1 };
	struct rdmacg_device other = { .name = "kunit1", .index = 101 };
	struct rdmacg_tree *t = test->priv;
	struct rdma_cgroup *owner;

	KUNIT_EXPECT_EQ(test, rdmacg_try_charge_set(&owner, &t->dev, &charge, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, rdmacg_register_device(&other, &table, 1), 0);
	KUNIT_EXPECT_EQ(test, table.first_slot, -EINVAL);
	rdmacg_unregister_device(&other);
}

static void rdmacg_test_command_is_counted_where_a_limit_is(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	rdmacg_run(test, t, false);
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->idle, "kunit0 ops=1000"), 0);
	rdmacg_run(test, t, false);
	/* A burst alone is none. */
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

/* How many commands begin at once, 9 at most. */
static unsigned int rdmacg_room(struct kunit *test, struct rdmacg_tree *t)
{
	struct rdmacg_pool *pool = rdmacg_pool_lock(t->current_cg, t->dev.key);
	struct rdmacg_control *control;
	unsigned int room = 0;
	struct rdmacg_rate rate;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	control = rcu_dereference_protected(*rdmacg_pool_control(pool), true);
	rdmacg_pool_unlock(pool);
	KUNIT_ASSERT_NOT_NULL(test, control);
	rate = control->rate;
	while (room < 9 && rdmacg_rate_try_take(&rate, ktime_get_ns()))
		room++;
	return room;
}

static void rdmacg_test_default_limits_commands(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;

	/* The cgroup has no pool yet, and a rate that lets nothing more begin in this test. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "default ops=1 burst=5"), 0);
	rdmacg_run(test, t, true);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 4);
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "default ops=1 burst=3"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 2);
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "default max"), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_room(test, t), 9);
	rdmacg_run(test, t, false);
}

static struct rdmacg_control *rdmacg_no_memory(void)
{
	return NULL;
}

static bool rdmacg_has_pool(struct rdma_cgroup *cg, const struct rdmacg_device *device)
{
	bool has_pool;

	rcu_read_lock();
	has_pool = rdmacg_pool_find_rcu(cg, device->key);
	rcu_read_unlock();
	return has_pool;
}

static void rdmacg_test_command_without_memory_leaves_no_pool(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command command;

	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "default inflight=1"), 0);
	kunit_activate_static_stub(test, rdmacg_control_alloc, rdmacg_no_memory);
	KUNIT_EXPECT_EQ(test, rdmacg_begin_command(&command, &t->dev, true), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->leaf, &t->dev));
	KUNIT_EXPECT_FALSE(test, rdmacg_has_pool(&t->top, &t->dev));
	/* What destroys something does not fail for that, and is not counted. */
	KUNIT_EXPECT_EQ(test, rdmacg_begin_command(&command, &t->dev, false), 0);
	KUNIT_EXPECT_NULL(test, command.control);
	kunit_deactivate_static_stub(test, rdmacg_control_alloc);
	rdmacg_run(test, t, true);
	KUNIT_EXPECT_TRUE(test, rdmacg_has_pool(&t->leaf, &t->dev));
}

static void rdmacg_test_device_keeps_its_limits_while_it_moves(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command first, second;

	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "kunit0 inflight=1"), 0);
	rdmacg_stop_waiting(&t->dev);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&first, &t->dev, true), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&second, &t->dev, true), 0);
	rdmacg_end_command(&second);
	rdmacg_end_command(&first);
	rdmacg_resume_waiting(&t->dev);
	KUNIT_EXPECT_FALSE(test, first.control);
	KUNIT_EXPECT_STREQ(test, rdmacg_control_max(test, &t->leaf),
			   "kunit0 ops=max burst=max inflight=1\n");
	rdmacg_run(test, t, true);
}

static void rdmacg_test_nobody_waits_in_a_cgroup_that_comes_late(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command command;
	struct rdmacg_pool *pool;

	/* A default makes no pool, and so no domain. */
	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->leaf, "default inflight=1"), 0);
	rdmacg_stop_waiting(&t->dev);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&command, &t->dev, true), 0);
	pool = rdmacg_pool_lock(&t->leaf, t->dev.key);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_EXPECT_TRUE(test, pool->domain->gate.is_open);
	rdmacg_pool_unlock(pool);
	rdmacg_end_command(&command);
}

static void rdmacg_test_command_keeps_its_cgroup(struct kunit *test)
{
	struct rdmacg_tree *t = test->priv;
	struct rdmacg_command command;

	KUNIT_ASSERT_EQ(test, rdmacg_limit_control(&t->top, "kunit0 inflight=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_begin_command(&command, &t->dev, true), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 1);
	/* The process moves, and gives the place back that it took. */
	t->current_cg = &t->idle;
	rdmacg_end_command(&command);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&t->leaf), 0);
	rdmacg_run(test, t, true);
	KUNIT_EXPECT_STREQ(test, rdmacg_stat(test, &t->top),
			   "kunit0 ops=2 throttled=0 throttled_usec=0\n");
}

static struct kunit_case rdmacg_control_test_cases[] = {
	KUNIT_CASE(rdmacg_test_rate_lets_one_begin_each_interval),
	KUNIT_CASE(rdmacg_test_rate_is_exact_where_the_interval_is_no_whole_number),
	KUNIT_CASE(rdmacg_test_rate_lets_a_burst_begin_at_once),
	KUNIT_CASE(rdmacg_test_rate_without_a_burst_has_a_tenth_of_a_second),
	KUNIT_CASE(rdmacg_test_rate_saves_no_idle_time_beyond_the_burst),
	KUNIT_CASE(rdmacg_test_rate_loses_nothing_where_a_waiter_begins_late),
	KUNIT_CASE(rdmacg_test_rate_forgets_a_delay_of_more_than_a_second),
	KUNIT_CASE(rdmacg_test_rate_that_is_raised_lets_begin_sooner),
	KUNIT_CASE(rdmacg_test_rate_that_is_lowered_lets_begin_later),
	KUNIT_CASE(rdmacg_test_rate_with_a_smaller_burst_waits_an_interval_at_most),
	KUNIT_CASE(rdmacg_test_rate_takes_any_limit_after_years),
	KUNIT_CASE(rdmacg_test_debt_is_a_second_at_most),
	KUNIT_CASE(rdmacg_test_who_waits_gets_half_whatever_others_destroy),
	KUNIT_CASE(rdmacg_test_debt_is_paid_while_nobody_comes),
	KUNIT_CASE(rdmacg_test_place_in_flight_goes_to_who_came_first),
	KUNIT_CASE(rdmacg_test_what_destroys_never_waits),
	KUNIT_CASE(rdmacg_test_what_destroys_leaves_a_sibling_its_places),
	KUNIT_CASE(rdmacg_test_what_destroys_gives_back_what_it_took),
	KUNIT_CASE(rdmacg_test_who_waits_at_home_keeps_no_sibling_waiting),
	KUNIT_CASE(rdmacg_test_killed_waiter_leaves_nothing),
	KUNIT_CASE(rdmacg_test_killed_first_waiter_leaves_its_time_to_the_next),
	KUNIT_CASE(rdmacg_test_raised_limit_lets_all_begin),
	KUNIT_CASE(rdmacg_test_raised_limit_makes_room_in_flight),
	KUNIT_CASE(rdmacg_test_lowered_limit_lets_begin_later),
	KUNIT_CASE(rdmacg_test_nobody_waits_while_a_device_goes),
	KUNIT_CASE(rdmacg_test_timer_keeps_the_rate),
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
	KUNIT_CASE(rdmacg_test_device_keeps_its_limits_while_it_moves),
	KUNIT_CASE(rdmacg_test_nobody_waits_in_a_cgroup_that_comes_late),
	KUNIT_CASE(rdmacg_test_command_keeps_its_cgroup),
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
