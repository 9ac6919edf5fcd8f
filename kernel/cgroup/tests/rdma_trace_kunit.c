// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for tracepoints of the RDMA cgroup controller with endless amounts, which user space
 * cannot cause on every machine. All other tests of tracepoints are in
 * tools/testing/selftests/cgroup/test_rdma_trace.c.
 */
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <trace/events/rdmacg.h>

#include "rdma_kunit.h"

/* The latest event of a kind, and the number of events. */
struct rdmacg_told {
	unsigned int count;
	char device[16];
	char resource[RDMACG_KEY_SIZE];
	u64 amount;
};

struct rdmacg_trace_test {
	struct task_struct *task;
	struct rdma_cgroup root, cg;
	struct rdmacg_device dev;
	struct rdmacg_told charge, uncharge, refuse;
};

static const struct rdmacg_amount rdmacg_endless = { .slot = OBJECT, .amount = RDMACG_ENDLESS };

/* Record an event of the test. Ignore events of other processes on the machine's own devices. */
static void rdmacg_tell(struct rdmacg_trace_test *t, struct rdmacg_told *told,
			const char *device, const char *resource, u64 amount)
{
	if (current != t->task)
		return;
	told->count++;
	strscpy(told->device, device, sizeof(told->device));
	strscpy(told->resource, resource, sizeof(told->resource));
	told->amount = amount;
}

static void rdmacg_on_charge(void *data, const char *device, const char *resource, u64 amount,
			     u64 cgroup)
{
	struct rdmacg_trace_test *t = data;

	rdmacg_tell(t, &t->charge, device, resource, amount);
}

static void rdmacg_on_uncharge(void *data, const char *device, const char *resource, u64 amount,
			       u64 cgroup)
{
	struct rdmacg_trace_test *t = data;

	rdmacg_tell(t, &t->uncharge, device, resource, amount);
}

static void rdmacg_on_refuse(void *data, const char *device, const char *resource, u64 amount,
			     u64 cgroup, u64 usage, u64 limit, u64 limit_cgroup,
			     unsigned int limit_level)
{
	struct rdmacg_trace_test *t = data;

	rdmacg_tell(t, &t->refuse, device, resource, amount);
}

static void rdmacg_stop_listening(void *data)
{
	unregister_trace_rdmacg_charge(rdmacg_on_charge, data);
	unregister_trace_rdmacg_uncharge(rdmacg_on_uncharge, data);
	unregister_trace_rdmacg_refuse(rdmacg_on_refuse, data);
	tracepoint_synchronize_unregister();
}

static int rdmacg_trace_test_init(struct kunit *test)
{
	struct rdmacg_trace_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "there are no tracepoints");
	t->task = current;
	rdmacg_test_create_cgroup(test, &t->root, NULL);
	rdmacg_test_create_cgroup(test, &t->cg, &t->root);
	rdmacg_test_register(test, &t->dev, "kunit0", 100);
	KUNIT_ASSERT_EQ(test, register_trace_rdmacg_charge(rdmacg_on_charge, t), 0);
	KUNIT_ASSERT_EQ(test, register_trace_rdmacg_uncharge(rdmacg_on_uncharge, t), 0);
	KUNIT_ASSERT_EQ(test, register_trace_rdmacg_refuse(rdmacg_on_refuse, t), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_stop_listening, t), 0);
	test->priv = t;
	return 0;
}

static void rdmacg_expect_told(struct kunit *test, const struct rdmacg_told *told, u64 amount)
{
	KUNIT_EXPECT_EQ(test, told->count, 1);
	KUNIT_EXPECT_STREQ(test, told->device, "kunit0");
	KUNIT_EXPECT_STREQ(test, told->resource, "hca_object");
	KUNIT_EXPECT_EQ(test, told->amount, amount);
}

/* An endless amount appears as 0, so the sum of charges minus the sum of uncharges is the usage. */
static void rdmacg_test_endless_charge_is_traced_as_zero(struct kunit *test)
{
	struct rdmacg_trace_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->cg, &t->dev, &rdmacg_endless, 1), 0);
	rdmacg_expect_told(test, &t->charge, 0);
	rdmacg_uncharge_set(&t->cg, &t->dev, &rdmacg_endless, 1);
	rdmacg_expect_told(test, &t->uncharge, 0);
}

/* The event has the amount of the resource that was refused, not of the first one in the set. */
static void rdmacg_test_endless_refusal_is_traced_as_endless(struct kunit *test)
{
	const struct rdmacg_amount set[] = { { .slot = HANDLE, .amount = 1 }, rdmacg_endless };
	struct rdmacg_trace_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->cg, "kunit0 hca_object=5"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->cg, &t->dev, set, 2), -EAGAIN);
	rdmacg_expect_told(test, &t->refuse, RDMACG_ENDLESS);
	KUNIT_EXPECT_EQ(test, t->charge.count, 0);
}

static void rdmacg_test_charge_above_a_limit_is_traced(struct kunit *test)
{
	const struct rdmacg_amount set = { .slot = OBJECT, .amount = 6 };
	struct rdmacg_trace_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->cg, "kunit0 hca_object=5"), 0);
	rdmacg_charge(&t->cg, &t->dev, &set, 1);
	rdmacg_expect_told(test, &t->charge, 6);
	rdmacg_uncharge_set(&t->cg, &t->dev, &set, 1);
}

static struct kunit_case rdmacg_trace_cases[] = {
	KUNIT_CASE(rdmacg_test_endless_charge_is_traced_as_zero),
	KUNIT_CASE(rdmacg_test_endless_refusal_is_traced_as_endless),
	KUNIT_CASE(rdmacg_test_charge_above_a_limit_is_traced),
	{ }
};

static struct kunit_suite rdmacg_trace_suite = {
	.name = "cgroup_rdma_trace",
	.init = rdmacg_trace_test_init,
	.test_cases = rdmacg_trace_cases,
};

kunit_test_suite(rdmacg_trace_suite);

MODULE_DESCRIPTION("KUnit tests for the tracepoints of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
