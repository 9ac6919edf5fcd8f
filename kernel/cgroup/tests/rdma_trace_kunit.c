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

struct rdmacg_trace_test {
	struct task_struct *task;
	struct rdma_cgroup root, cg;
	struct rdmacg_device dev;
	/* A line for each event. */
	char events[256];
};

static const struct rdmacg_amount rdmacg_endless = { .slot = OBJECT, .amount = RDMACG_ENDLESS };

/* Record an event of the test. Ignore events of other processes on the machine's own devices. */
static void rdmacg_tell(struct rdmacg_trace_test *t, const char *event, const char *device,
			const char *resource, u64 amount)
{
	char line[64];

	if (current != t->task)
		return;
	scnprintf(line, sizeof(line), "%s %s %s %llu\n", event, device, resource, amount);
	strlcat(t->events, line, sizeof(t->events));
}

static void rdmacg_on_charge(void *data, const char *device, const char *resource, u64 amount,
			     u64 cgroup)
{
	rdmacg_tell(data, "charge", device, resource, amount);
}

static void rdmacg_on_uncharge(void *data, const char *device, const char *resource, u64 amount,
			       u64 cgroup)
{
	rdmacg_tell(data, "uncharge", device, resource, amount);
}

static void rdmacg_on_refuse(void *data, const char *device, const char *resource, u64 amount,
			     u64 cgroup, u64 usage, u64 limit, u64 limit_cgroup,
			     unsigned int limit_level)
{
	rdmacg_tell(data, "refuse", device, resource, amount);
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

/*
 * An endless amount appears as 0, so the sum of charges minus the sum of uncharges is the usage. A
 * refusal has the endless amount of the resource that was refused, not of the first one in the set.
 * A charge above a limit is a charge.
 */
static void rdmacg_test_endless_charge_is_traced_as_zero(struct kunit *test)
{
	const struct rdmacg_amount set[] = { { .slot = HANDLE, .amount = 1 }, rdmacg_endless };
	const struct rdmacg_amount six = { .slot = OBJECT, .amount = 6 };
	struct rdmacg_trace_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->cg, &t->dev, &rdmacg_endless, 1), 0);
	rdmacg_uncharge_set(&t->cg, &t->dev, &rdmacg_endless, 1);
	KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&t->cg, "kunit0 hca_object=5"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_try_charge_cgroup(&t->cg, &t->dev, set, 2), -EAGAIN);
	rdmacg_charge(&t->cg, &t->dev, &six, 1);
	rdmacg_uncharge_set(&t->cg, &t->dev, &six, 1);
	KUNIT_EXPECT_STREQ(test, t->events,
			   "charge kunit0 hca_object 0\n"
			   "uncharge kunit0 hca_object 0\n"
			   "refuse kunit0 hca_object 18446744073709551615\n"
			   "charge kunit0 hca_object 6\n"
			   "uncharge kunit0 hca_object 6\n");
}

static struct kunit_case rdmacg_trace_cases[] = {
	KUNIT_CASE(rdmacg_test_endless_charge_is_traced_as_zero),
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
