// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit stress test for the RDMA cgroup controller.
 *
 * Several threads make random calls on the same cgroups, devices, domains and pools. Each thread
 * has its own slot in every pool. A model predicts the result of each charge of this slot, and its
 * counters. All threads also charge one slot with a limit, and a reader checks that its usage is
 * never above the limit. All threads charge one more slot, which has no limit. At the end, no slot
 * has any usage.
 *
 *   root
 *    |-- cg0
 *    |    |-- cg1
 *    |    |    `-- cg2
 *    |    `-- cg3
 *    `-- cg4
 *         `-- cg5
 *
 * Each round has new cgroups and devices, so the threads create domains and pools at the same time.
 * The reader runs until the domains and pools are freed.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/stdarg.h>

#include "rdma_kunit.h"

#define RDMACG_THREADS		4
#define RDMACG_ROUNDS		60
#define RDMACG_STEPS		2000
#define RDMACG_CGROUPS		6
#define RDMACG_DEVICES		2
#define RDMACG_HELD		48
/*
 * The indices of the test's devices begin with this number. The machine's own devices have lower
 * indices.
 */
#define RDMACG_TEST_INDEX	0x40000000

/* Each thread has one slot. Two more slots follow, which all threads share. */
#define RDMACG_CONTESTED	RDMACG_THREADS
#define RDMACG_COMMON		(RDMACG_THREADS + 1)
#define RDMACG_TEST_SLOTS	(RDMACG_THREADS + 2)
#define RDMACG_CONTESTED_MAX	5

static u64 rdmacg_seed;
module_param_named(seed, rdmacg_seed, ullong, 0444);
MODULE_PARM_DESC(seed, "Draw the random numbers of this seed again; 0 takes a new one");

/* The index of each cgroup's parent in the tree above; -1 stands for the root. */
static const int rdmacg_parents[RDMACG_CGROUPS] = { -1, 0, 1, 0, -1, 4 };

static const struct rdmacg_resource rdmacg_stress_resources[RDMACG_TEST_SLOTS] = {
	[0] = RDMACG_TEST_RESOURCE("own0", RDMACG_CLASS_HCA),
	[1] = RDMACG_TEST_RESOURCE("own1", RDMACG_CLASS_HCA),
	[2] = RDMACG_TEST_RESOURCE("own2", RDMACG_CLASS_HCA),
	[3] = RDMACG_TEST_RESOURCE("own3", RDMACG_CLASS_HCA),
	[RDMACG_CONTESTED] = RDMACG_TEST_RESOURCE("contested", RDMACG_CLASS_HCA),
	[RDMACG_COMMON] = RDMACG_TEST_RESOURCE("common", RDMACG_CLASS_HCA),
};

struct rdmacg_stress {
	struct rdma_cgroup root;
	struct rdma_cgroup cg[RDMACG_CGROUPS];
	/* The pools of the last device stay idle. */
	struct rdmacg_device dev[RDMACG_DEVICES + 1];
	char names[RDMACG_DEVICES + 1][16];
	bool stop;
};

/* A charge that its thread has not uncharged yet. */
struct rdmacg_held {
	unsigned int cg;
	unsigned int dev;
	struct rdmacg_amount set[2];
};

struct rdmacg_thread {
	struct rdmacg_stress *stress;
	struct completion done;
	struct rnd_state rnd;
	unsigned int number;
	/* The expected counters of the thread's own slot. */
	struct rdmacg_slot model[RDMACG_DEVICES][RDMACG_CGROUPS];
	struct rdmacg_held held[RDMACG_HELD];
	unsigned int nr_held;
	/* Refusals of the contested resource. */
	u64 refused;
	/* The first mistake that the thread has found, or an empty string. */
	char wrong[160];
};

static int rdmacg_stress_register(struct rdmacg_device *device, const char *name, u32 index)
{
	struct rdmacg_table table = {
		.resources = rdmacg_stress_resources,
		.count = RDMACG_TEST_SLOTS,
	};

	device->name = name;
	device->index = index;
	return rdmacg_register_tables(device, &table, 1);
}

static __printf(2, 3) void rdmacg_wrong(struct rdmacg_thread *t, const char *format, ...)
{
	va_list args;

	if (t->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(t->wrong, sizeof(t->wrong), format, args);
	va_end(args);
}

static u32 rdmacg_random(struct rdmacg_thread *t, u32 below)
{
	return prandom_u32_state(&t->rnd) % below;
}

static bool rdmacg_model_try_charge(struct rdmacg_thread *t, unsigned int dev,
				    unsigned int cg, u64 amount)
{
	struct rdmacg_slot *slots = t->model[dev];
	int level;

	for (level = cg; level >= 0; level = rdmacg_parents[level])
		if (slots[level].usage + amount > slots[level].max)
			return false;
	for (level = cg; level >= 0; level = rdmacg_parents[level]) {
		slots[level].usage += amount;
		slots[level].peak = max(slots[level].peak, slots[level].usage);
	}
	return true;
}

static void rdmacg_model_uncharge(struct rdmacg_thread *t, unsigned int dev,
				  unsigned int cg, u64 amount)
{
	int level;

	for (level = cg; level >= 0; level = rdmacg_parents[level])
		t->model[dev][level].usage -= amount;
}

static void rdmacg_step_charge(struct rdmacg_thread *t)
{
	struct rdmacg_stress *s = t->stress;
	struct rdmacg_held *held = &t->held[t->nr_held];
	u64 own = 1 + rdmacg_random(t, 3), common = 1 + rdmacg_random(t, 3);
	struct rdmacg_refusal refusal;
	int ret, want;

	if (t->nr_held == RDMACG_HELD)
		return;
	held->cg = rdmacg_random(t, RDMACG_CGROUPS);
	held->dev = rdmacg_random(t, RDMACG_DEVICES);
	held->set[0] = (struct rdmacg_amount){ .slot = t->number, .amount = own };
	held->set[1] = (struct rdmacg_amount){ .slot = RDMACG_COMMON, .amount = common };
	if (rdmacg_random(t, 2))
		swap(held->set[0], held->set[1]);

	ret = rdmacg_test_charge(&s->cg[held->cg], &s->dev[held->dev], held->set,
				 ARRAY_SIZE(held->set), &refusal);
	want = rdmacg_model_try_charge(t, held->dev, held->cg, own) ? 0 : -EAGAIN;
	if (ret != want)
		rdmacg_wrong(t, "charge of cg%u returned %d, wanted %d", held->cg, ret, want);
	if (!ret)
		t->nr_held++;
}

static void rdmacg_step_contend(struct rdmacg_thread *t)
{
	struct rdmacg_stress *s = t->stress;
	struct rdmacg_held *held = &t->held[t->nr_held];
	struct rdmacg_refusal refusal;
	int ret;

	if (t->nr_held == RDMACG_HELD)
		return;
	/* The contested resource has its limit in cg0, on the first device. */
	held->cg = rdmacg_random(t, 4);
	held->dev = 0;
	held->set[0] = (struct rdmacg_amount){ .slot = RDMACG_COMMON, .amount = 1 };
	held->set[1] = (struct rdmacg_amount){ .slot = RDMACG_CONTESTED,
					       .amount = 1 + rdmacg_random(t, 2) };
	ret = rdmacg_test_charge(&s->cg[held->cg], &s->dev[0], held->set,
				 ARRAY_SIZE(held->set), &refusal);
	if (!ret) {
		t->nr_held++;
		return;
	}
	t->refused++;
	if (ret != -EAGAIN || refusal.slot != RDMACG_CONTESTED)
		rdmacg_wrong(t, "a contested charge returned %d for slot %u", ret, refusal.slot);
}

static void rdmacg_uncharge_held(struct rdmacg_thread *t, unsigned int number)
{
	struct rdmacg_stress *s = t->stress;
	struct rdmacg_held *held = &t->held[number];
	unsigned int i;

	rdmacg_test_uncharge(&s->cg[held->cg], &s->dev[held->dev], held->set,
			     ARRAY_SIZE(held->set));
	for (i = 0; i < ARRAY_SIZE(held->set); i++)
		if (held->set[i].slot == t->number)
			rdmacg_model_uncharge(t, held->dev, held->cg, held->set[i].amount);
	*held = t->held[--t->nr_held];
}

static void rdmacg_step_uncharge(struct rdmacg_thread *t)
{
	if (t->nr_held)
		rdmacg_uncharge_held(t, rdmacg_random(t, t->nr_held));
}

/* Remove and set the contested limit in one write, so that the limit always exists. */
static void rdmacg_step_limit_again(struct rdmacg_thread *t)
{
	char text[80];

	snprintf(text, sizeof(text), "stress0 contested=max\nstress0 contested=%u\n",
		 RDMACG_CONTESTED_MAX);
	if (rdmacg_test_set_max(&t->stress->cg[0], RDMACG_CLASS_HCA, text))
		rdmacg_wrong(t, "a write of two lines fails");
}

/*
 * Set the limits of both devices in one write. The write must change nothing if one line is
 * invalid.
 */
static void rdmacg_step_limit(struct rdmacg_thread *t)
{
	struct rdmacg_stress *s = t->stress;
	unsigned int cg = rdmacg_random(t, RDMACG_CGROUPS);
	u64 max = rdmacg_random(t, 3) ? rdmacg_random(t, 12) : RDMACG_NO_LIMIT;
	bool bad = !rdmacg_random(t, 4);
	char text[128], value[24];
	int ret;

	snprintf(value, sizeof(value), max == RDMACG_NO_LIMIT ? "max" : "%llu", max);
	snprintf(text, sizeof(text), "%s own%u=%s\n%s own%u=%s%s\n", s->names[0], t->number,
		 value, s->names[1], t->number, value, bad ? " nokey=1" : "");
	ret = rdmacg_test_set_max(&s->cg[cg], RDMACG_CLASS_HCA, text);
	if (ret != (bad ? -EINVAL : 0))
		rdmacg_wrong(t, "a write returned %d", ret);
	if (bad)
		return;
	t->model[0][cg].max = max;
	t->model[1][cg].max = max;
}

static void rdmacg_step_compare(struct rdmacg_thread *t)
{
	unsigned int dev = rdmacg_random(t, RDMACG_DEVICES);
	unsigned int cg = rdmacg_random(t, RDMACG_CGROUPS);
	const struct rdmacg_slot *want = &t->model[dev][cg];
	struct rdmacg_slot slot = { .max = RDMACG_NO_LIMIT };
	const struct rdmacg_pool *pool;

	rcu_read_lock();
	pool = rdmacg_pool_find_rcu(&t->stress->cg[cg], t->stress->dev[dev].key);
	if (pool)
		slot = pool->slots[t->number];
	rcu_read_unlock();
	if (memcmp(&slot, want, sizeof(slot)))
		rdmacg_wrong(t, "cg%u has %llu of %llu, peak %llu; wanted %llu of %llu, peak %llu",
			     cg, slot.usage, slot.max, slot.peak,
			     want->usage, want->max, want->peak);
}

/*
 * Set and remove a limit, or charge and uncharge an endless amount, which leaves no usage. Each
 * thread creates missing pools and gives back idle pools, sometimes after another thread has found
 * the pool. No write and no charge may fail.
 */
static void rdmacg_step_idle(struct rdmacg_thread *t)
{
	const struct rdmacg_amount charge = { .slot = RDMACG_COMMON, .amount = RDMACG_ENDLESS };
	struct rdmacg_device *device = &t->stress->dev[RDMACG_DEVICES];
	struct rdma_cgroup *cg = &t->stress->cg[2];
	struct rdmacg_refusal refusal;

	if (rdmacg_random(t, 2)) {
		if (rdmacg_test_set_max(cg, RDMACG_CLASS_HCA, "stress2 own0=100") ||
		    rdmacg_test_set_max(cg, RDMACG_CLASS_HCA, "stress2 max"))
			rdmacg_wrong(t, "a write fails");
	} else if (rdmacg_test_charge(cg, device, &charge, 1, &refusal)) {
		rdmacg_wrong(t, "an endless charge fails");
	} else {
		rdmacg_test_uncharge(cg, device, &charge, 1);
	}
}

/* Register, use, rename and unregister a device that only this thread charges. */
static void rdmacg_step_device(struct rdmacg_thread *t)
{
	static const char *const names[] = { "passing", "passing_by" };
	const struct rdmacg_amount charge = { .slot = 1, .amount = 2 };
	struct rdma_cgroup *cg = &t->stress->cg[rdmacg_random(t, RDMACG_CGROUPS)];
	struct rdmacg_device device = { };
	struct rdmacg_refusal refusal;
	char text[64];
	int ret;

	if (rdmacg_stress_register(&device, names[0], RDMACG_TEST_INDEX + t->number))
		return;
	ret = rdmacg_test_charge(cg, &device, &charge, 1, &refusal);
	if (ret)
		rdmacg_wrong(t, "a new device refuses: %d", ret);
	device.name = names[1];
	rdmacg_rename_device(&device);
	snprintf(text, sizeof(text), "%s index=%u own1=1", device.name, device.index);
	if (rdmacg_test_set_max(cg, RDMACG_CLASS_HCA, text))
		rdmacg_wrong(t, "a renamed device is not found");
	if (rdmacg_test_charge(cg, &device, &charge, 1, &refusal) != -EAGAIN)
		rdmacg_wrong(t, "a device has no limit after its renaming");
	if (!ret)
		rdmacg_test_uncharge(cg, &device, &charge, 1);
	rdmacg_unregister_device(&device);
}

static int rdmacg_stress_worker(void *data)
{
	struct rdmacg_thread *t = data;
	unsigned int step;

	for (step = 0; step < RDMACG_STEPS && !t->wrong[0]; step++) {
		u32 choice = rdmacg_random(t, 100);

		if (choice < 5)
			rdmacg_step_idle(t);
		else if (choice < 40)
			rdmacg_step_charge(t);
		else if (choice < 50)
			rdmacg_step_contend(t);
		else if (choice < 80)
			rdmacg_step_uncharge(t);
		else if (choice < 84)
			rdmacg_step_limit(t);
		else if (choice < 85)
			rdmacg_step_limit_again(t);
		else if (choice < 99)
			rdmacg_step_compare(t);
		else
			rdmacg_step_device(t);
		cond_resched();
	}
	while (t->nr_held)
		rdmacg_uncharge_held(t, t->nr_held - 1);
	complete(&t->done);
	return 0;
}

static void rdmacg_check_line(struct rdmacg_thread *t, const struct rdmacg_desc *desc,
			      struct rdma_cgroup *cg)
{
	const struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, desc->key);
	const char *name = rdmacg_desc_name_rcu(desc);
	unsigned int looks = rdmacg_random(t, 4) ? 1 : 400;
	u64 usage;

	/* Ignore the machine's own devices. */
	if (desc->index < RDMACG_TEST_INDEX)
		return;
	if (strncmp(name, "stress", 6) && strcmp(name, "passing") && strcmp(name, "passing_by"))
		rdmacg_wrong(t, "a device is called %s", name);
	if (!pool)
		return;
	/* Sometimes look many times, so that another task can remove the pool meanwhile. */
	while (looks--) {
		usage = READ_ONCE(pool->slots[RDMACG_CONTESTED].usage);
		if (usage > RDMACG_CONTESTED_MAX)
			rdmacg_wrong(t, "a reader sees a usage of %llu over its limit", usage);
		cpu_relax();
	}
}

/*
 * Read counters while devices and pools are created and removed. The memory of the cgroups stays.
 */
static int rdmacg_stress_reader(void *data)
{
	struct rdmacg_thread *t = data;
	struct rdmacg_stress *s = t->stress;
	struct seq_file sf = { };
	struct rdmacg_desc *desc;
	unsigned long id;

	sf.size = PAGE_SIZE;
	sf.buf = kmalloc(sf.size, GFP_KERNEL);
	if (!sf.buf)
		rdmacg_wrong(t, "there is no memory to read");
	while (sf.buf && !READ_ONCE(s->stop)) {
		struct rdma_cgroup *cg = &s->cg[rdmacg_random(t, RDMACG_CGROUPS)];

		sf.count = 0;
		rcu_read_lock();
		for (id = 0; (desc = rdmacg_desc_next(&id)); id++) {
			rdmacg_check_line(t, desc, cg);
			rdmacg_show_line(&sf, cg, desc, RDMACG_CLASS_HCA,
					 rdmacg_random(t, RDMACG_FILES));
		}
		rcu_read_unlock();
		cond_resched();
	}
	kfree(sf.buf);
	complete(&t->done);
	return 0;
}

static void rdmacg_stress_start(struct kunit *test, struct rdmacg_stress *s)
{
	char limit[32];
	unsigned int i;

	memset(s, 0, sizeof(*s));
	rdmacg_test_init_cgroup(&s->root, NULL);
	for (i = 0; i < RDMACG_CGROUPS; i++)
		rdmacg_test_init_cgroup(&s->cg[i], rdmacg_parents[i] < 0 ? &s->root :
					&s->cg[rdmacg_parents[i]]);
	for (i = 0; i <= RDMACG_DEVICES; i++) {
		snprintf(s->names[i], sizeof(s->names[i]), "stress%u", i);
		KUNIT_ASSERT_EQ(test, rdmacg_stress_register(&s->dev[i], s->names[i],
							     RDMACG_TEST_INDEX), 0);
	}
	snprintf(limit, sizeof(limit), "stress0 contested=%u", RDMACG_CONTESTED_MAX);
	KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&s->cg[0], RDMACG_CLASS_HCA, limit), 0);
}

static void rdmacg_thread_start(struct rdmacg_thread *t, struct rdmacg_stress *s,
				unsigned int number, u64 seed, int (*run)(void *data))
{
	struct task_struct *task;
	unsigned int dev, cg;

	memset(t, 0, sizeof(*t));
	t->stress = s;
	t->number = number;
	init_completion(&t->done);
	prandom_seed_state(&t->rnd, seed);
	for (dev = 0; dev < RDMACG_DEVICES; dev++)
		for (cg = 0; cg < RDMACG_CGROUPS; cg++)
			t->model[dev][cg].max = RDMACG_NO_LIMIT;
	task = kthread_run(run, t, "rdmacg_stress/%u", number);
	if (IS_ERR(task)) {
		rdmacg_wrong(t, "cannot start: %ld", PTR_ERR(task));
		complete(&t->done);
	}
}

/*
 * Compare the counters with the models. After all uncharges, pools have no usage, but keep their
 * peaks and refusals.
 */
static void rdmacg_stress_compare(struct kunit *test, struct rdmacg_stress *s,
				  struct rdmacg_thread *threads)
{
	const struct rdmacg_counts *events;
	const struct rdmacg_slot *slots;
	struct rdmacg_pool *pool;
	unsigned int dev, cg, i;
	u64 refused = 0, counted = 0, peak = 0;

	for (i = 0; i < RDMACG_THREADS; i++)
		refused += threads[i].refused;
	for (dev = 0; dev < RDMACG_DEVICES; dev++) {
		for (cg = 0; cg < RDMACG_CGROUPS; cg++) {
			pool = rdmacg_pool_lock(&s->cg[cg], s->dev[dev].key);
			if (!pool)
				continue;
			slots = pool->slots;
			for (i = 0; i < RDMACG_TEST_SLOTS; i++)
				KUNIT_EXPECT_EQ(test, slots[i].usage, 0);
			for (i = 0; i < RDMACG_THREADS; i++)
				KUNIT_EXPECT_EQ(test, slots[i].peak,
						threads[i].model[dev][cg].peak);
			KUNIT_EXPECT_LE(test, slots[RDMACG_CONTESTED].peak, RDMACG_CONTESTED_MAX);
			if (!dev && !cg)
				peak = slots[RDMACG_CONTESTED].peak;
			events = rcu_dereference_protected(pool->events, true);
			if (events)
				counted += events[RDMACG_CONTESTED].local_alloc_fail;
			rdmacg_pool_unlock(pool);
		}
	}
	KUNIT_EXPECT_EQ(test, counted, refused);
	KUNIT_EXPECT_EQ(test, peak, RDMACG_CONTESTED_MAX);
}

/* Free cgroups and devices while the reader runs. @devices_first selects the order. */
static void rdmacg_stress_end(struct kunit *test, struct rdmacg_stress *s, bool devices_first)
{
	int i;

	for (i = 0; i <= RDMACG_DEVICES && devices_first; i++)
		rdmacg_unregister_device(&s->dev[i]);
	for (i = RDMACG_CGROUPS - 1; i >= 0; i--)
		rdmacg_pools_free(&s->cg[i]);
	for (i = 0; i <= RDMACG_DEVICES && !devices_first; i++) {
		KUNIT_EXPECT_TRUE(test, list_empty(&s->dev[i].desc->domains));
		rdmacg_unregister_device(&s->dev[i]);
	}
	for (i = 0; i < RDMACG_CGROUPS; i++)
		KUNIT_EXPECT_FALSE(test, rdmacg_test_has_pools(&s->cg[i]));
}

static void rdmacg_test_stress(struct kunit *test)
{
	u64 seed = rdmacg_seed ?: get_random_u32();
	struct rdmacg_thread *threads, *reader;
	struct rdmacg_stress *s;
	unsigned int round, i;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	threads = kunit_kcalloc(test, RDMACG_THREADS + 1, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	reader = &threads[RDMACG_THREADS];
	kunit_info(test, "rdma_concurrent_kunit.seed=%llu draws the same random numbers\n", seed);

	for (round = 0; round < RDMACG_ROUNDS; round++) {
		rdmacg_stress_start(test, s);
		for (i = 0; i <= RDMACG_THREADS; i++)
			rdmacg_thread_start(&threads[i], s, i, seed + round * 64 + i,
					    &threads[i] == reader ? rdmacg_stress_reader :
					    rdmacg_stress_worker);
		for (i = 0; i < RDMACG_THREADS; i++)
			wait_for_completion(&threads[i].done);
		rdmacg_stress_compare(test, s, threads);
		rdmacg_stress_end(test, s, round % 2);
		/* Let the reader run until the memory is freed. */
		rcu_barrier();
		usleep_range(1000, 2000);
		WRITE_ONCE(s->stop, true);
		wait_for_completion(&reader->done);
		for (i = 0; i <= RDMACG_THREADS; i++)
			KUNIT_EXPECT_STREQ(test, threads[i].wrong, "");
	}
}

#define RDMACG_CHAIN		48
#define RDMACG_CHAIN_ROUNDS	400
#define RDMACG_CHAIN_UNITS	200

/* A chain of cgroups. One thread charges the lowest cgroup, while another thread reads. */
struct rdmacg_chain {
	struct rdma_cgroup root;
	struct rdma_cgroup cg[RDMACG_CHAIN];
	struct rdmacg_device dev;
	struct completion done;
	/* Odd while the usage only grows, even while the usage only shrinks. */
	unsigned int phase;
	int failed;
};

static int rdmacg_chain_worker(void *data)
{
	const struct rdmacg_amount charge = { .slot = RDMACG_COMMON, .amount = 1 };
	struct rdmacg_chain *chain = data;
	struct rdma_cgroup *leaf = &chain->cg[RDMACG_CHAIN - 1];
	struct rdmacg_refusal refusal;
	unsigned int round, unit;

	for (round = 0; round < RDMACG_CHAIN_ROUNDS; round++) {
		/*
		 * The barrier orders this store before later charges. Pairs with
		 * rdmacg_chain_read().
		 */
		smp_store_mb(chain->phase, 2 * round + 1);
		for (unit = 0; unit < RDMACG_CHAIN_UNITS + round; unit++)
			if (rdmacg_test_charge(leaf, &chain->dev, &charge, 1, &refusal))
				chain->failed++;
		/*
		 * The barrier orders this store before later uncharges. Pairs with
		 * rdmacg_chain_read().
		 */
		smp_store_mb(chain->phase, 2 * round + 2);
		for (unit = 0; unit < RDMACG_CHAIN_UNITS + round; unit++)
			rdmacg_test_uncharge(leaf, &chain->dev, &charge, 1);
		cond_resched();
	}
	complete(&chain->done);
	return 0;
}

/*
 * Compare the usage of a child with the usage of its parent. While the usage grows, read the child
 * first, because the parent's usage can only grow between the two reads. While the usage shrinks,
 * read the child last, because its usage can only shrink between the two reads.
 */
static bool rdmacg_chain_look(const struct rdmacg_slot *parent, const struct rdmacg_slot *child,
			      bool grows)
{
	u64 usage, above;

	if (!grows) {
		above = rdmacg_slot_usage(parent);
		return rdmacg_slot_usage(child) <= above;
	}
	usage = rdmacg_slot_usage(child);
	return usage <= READ_ONCE(child->peak) && usage <= rdmacg_slot_usage(parent);
}

/*
 * Read until the worker ends or another task needs the processor. Returns the number of wrong
 * reads. A read does not count if the phase has changed during the read.
 */
static unsigned int rdmacg_chain_read(struct rdmacg_chain *chain, unsigned int *looks)
{
	const struct rdmacg_pool *parent, *child;
	unsigned int phase, wrong = 0;
	bool is_right;

	rcu_read_lock();
	parent = rdmacg_pool_find_rcu(&chain->cg[0], chain->dev.key);
	child = rdmacg_pool_find_rcu(&chain->cg[RDMACG_CHAIN - 1], chain->dev.key);
	for (*looks = 0; !completion_done(&chain->done) && !need_resched(); ) {
		phase = READ_ONCE(chain->phase);
		/* Pairs with rdmacg_chain_worker(). */
		smp_rmb();
		is_right = rdmacg_chain_look(&parent->slots[RDMACG_COMMON],
					     &child->slots[RDMACG_COMMON], phase % 2);
		/* Pairs with rdmacg_chain_worker(). */
		smp_rmb();
		if (READ_ONCE(chain->phase) != phase)
			continue;
		++*looks;
		wrong += !is_right;
	}
	rcu_read_unlock();
	cond_resched();
	return wrong;
}

/*
 * Read the highest and the lowest cgroup of a chain. The usage in the lowest cgroup is never above
 * the usage in the highest cgroup. While usage grows, no usage is above its peak.
 */
static void rdmacg_test_readers_see_parents_first(struct kunit *test)
{
	const struct rdmacg_amount charge = { .slot = RDMACG_COMMON, .amount = 1 };
	struct rdmacg_chain *chain = kunit_kzalloc(test, sizeof(*chain), GFP_KERNEL);
	unsigned int i, looks, seen = 0, wrong = 0;
	struct rdmacg_refusal refusal;
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, chain);
	init_completion(&chain->done);
	rdmacg_test_init_cgroup(&chain->root, NULL);
	for (i = 0; i < RDMACG_CHAIN; i++)
		rdmacg_test_init_cgroup(&chain->cg[i], i ? &chain->cg[i - 1] : &chain->root);
	KUNIT_ASSERT_EQ(test, rdmacg_stress_register(&chain->dev, "chain", RDMACG_TEST_INDEX), 0);
	/* Charge one unit during the whole test, so that the pools stay. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_charge(&chain->cg[RDMACG_CHAIN - 1], &chain->dev,
						 &charge, 1, &refusal), 0);
	task = kthread_run(rdmacg_chain_worker, chain, "rdmacg_chain");
	if (IS_ERR(task))
		complete(&chain->done);
	while (!completion_done(&chain->done)) {
		wrong += rdmacg_chain_read(chain, &looks);
		seen += looks;
	}
	wait_for_completion(&chain->done);
	kunit_info(test, "%u looks\n", seen);
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, chain->failed, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	rdmacg_test_uncharge(&chain->cg[RDMACG_CHAIN - 1], &chain->dev, &charge, 1);
	rdmacg_unregister_device(&chain->dev);
	for (i = RDMACG_CHAIN; i--;)
		rdmacg_pools_free(&chain->cg[i]);
}

static struct kunit_case rdmacg_concurrent_cases[] = {
	KUNIT_CASE_SLOW(rdmacg_test_stress),
	KUNIT_CASE(rdmacg_test_readers_see_parents_first),
	{}
};

static struct kunit_suite rdmacg_concurrent_suite = {
	.name = "cgroup_rdma_concurrent",
	.test_cases = rdmacg_concurrent_cases,
};

kunit_test_suite(rdmacg_concurrent_suite);

MODULE_DESCRIPTION("KUnit stress test for the RDMA cgroup controller");
MODULE_LICENSE("GPL");
