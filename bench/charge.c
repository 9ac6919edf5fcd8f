// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel part of the benchmark of this project's controller and of stock. A process writes a
 * line "SLOTS MS THREADS LATENCY" to /proc/rdmacg_bench, and reads the result from
 * the same open file. The write charges and uncharges the process for MS milliseconds, as the IB
 * core does, and measures the time:
 *
 *	SLOTS		resources in one charge, of one unit each (more than 1 only for ours)
 *	THREADS		wait until this number of processes has arrived, then start at once
 *	LATENCY		0, or 1: also time each charge alone, and print the 99th percentile in ticks
 *
 * The result has the number of pairs of a charge and an uncharge, the number of refused pairs, the
 * start and the end in ns, and the least ticks of the time stamp counter for a pair. Ticks are
 * instructions if the machine's clock counts instructions. During the measurement, a unit of each
 * resource of the device stays charged, as if a program had the device open.
 *
 * A charge takes a reference to its cgroup. User-Mode Linux with SMP makes two system calls for
 * each per-CPU reference, which would hide all other costs. So the benchmark makes the counter of
 * references a plain atomic, which all processes of a cgroup share. The benchmark does not measure
 * the IB core and the driver around a charge.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#define BENCH_DEVICES	1000U
#define BENCH_BATCH	512
#define BENCH_TIMED	16	/* a short batch, because each charge may wait long */
#define BENCH_MOST	65536	/* ticks of a charge; a longer charge counts as the longest */

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "how many devices to make up: bench0, bench1, ...");

static struct bench_device {
	struct rdmacg_device rdmacg;
	char name[16];
} bench_devices[BENCH_DEVICES];
static unsigned int bench_registered;
static struct proc_dir_entry *bench_file;
static atomic_t bench_come;
static atomic_t bench_started;	/* measurements */

#ifdef RDMACG_MAX_SLOTS /* this project's controller */

#define BENCH_SLOTS 3 /* the largest number of resources in one charge */

static unsigned int resources = 6;
module_param(resources, uint, 0444);
MODULE_PARM_DESC(resources, "how many each device has: hca_handle, hca_object, r2, r3, ...");

static const struct rdmacg_amount bench_set[] = {
	{ .slot = RDMACG_RESOURCE_HCA_OBJECT, .amount = 1 },
	{ .slot = RDMACG_RESOURCE_MAX, .amount = 1 },
	{ .slot = RDMACG_RESOURCE_MAX + 1, .amount = 1 },
};

static int bench_register(struct rdmacg_device *device)
{
	static const char *const names[] = {
		[RDMACG_RESOURCE_HCA_HANDLE] = "hca_handle",
		[RDMACG_RESOURCE_HCA_OBJECT] = "hca_object",
	};
	static struct rdmacg_resource all[RDMACG_MAX_SLOTS];
	static char other[RDMACG_MAX_SLOTS][8];
	struct rdmacg_table table = { .resources = all, .count = resources };
	unsigned int i;

	for (i = 0; i < resources; i++) {
		snprintf(other[i], sizeof(other[i]), "r%u", i);
		all[i].name = i < ARRAY_SIZE(names) ? names[i] : other[i];
		all[i].class = i < ARRAY_SIZE(names) ? RDMACG_CLASS_HCA : RDMACG_CLASS_VERB;
		all[i].capacity = RDMACG_NO_LIMIT;
	}
	return rdmacg_register_tables(device, &table, 1);
}

#else /* stock */

#define BENCH_SLOTS 1

static int bench_register(struct rdmacg_device *device)
{
	rdmacg_register_device(device);
	return 0;
}

#endif

static int bench_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
			unsigned int slots)
{
#ifdef RDMACG_MAX_SLOTS
	if (slots > 1)
		return rdmacg_try_charge_set(owner, device, bench_set, slots);
#endif
	return rdmacg_try_charge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
}

static void bench_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
			   unsigned int slots)
{
#ifdef RDMACG_MAX_SLOTS
	if (slots > 1) {
		rdmacg_uncharge_set(owner, device, bench_set, slots);
		return;
	}
#endif
	rdmacg_uncharge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
}

struct bench_run {
	unsigned int slots, ms, threads, latency;
};

static u32 bench_took[BENCH_MOST];	/* how many charges took this number of ticks */

/* Run pairs, and count the ticks of each charge if @timed. Returns the number of refusals. */
static __always_inline unsigned int bench_pairs(const struct bench_run *run, unsigned int pairs,
						bool timed)
{
	struct rdmacg_device *device = &bench_devices->rdmacg;
	unsigned int i, refused = 0;
	struct rdma_cgroup *owner;
	u64 start;

	for (i = 0; i < pairs; i++) {
		start = timed ? __builtin_ia32_rdtsc() : 0;
		if (bench_charge(&owner, device, run->slots)) {
			refused++;
			continue;
		}
		if (timed)
			bench_took[min_t(u64, __builtin_ia32_rdtsc() - start, BENCH_MOST - 1)]++;
		bench_uncharge(owner, device, run->slots);
	}
	return refused;
}

/* Not inline, because the compiler would make a faster loop for each number of slots. */
static noinline unsigned int bench_batch(const struct bench_run *run)
{
	return bench_pairs(run, BENCH_BATCH, false);
}

/* Returns the ticks that one of a hundred charges exceeds. */
static unsigned int bench_p99(u64 charges)
{
	unsigned int most = BENCH_MOST;
	u64 longer = 0;

	while (most && longer <= charges / 100)
		longer += bench_took[--most];
	return most;
}

static int bench_measure(const struct bench_run *run, char *result)
{
	u64 start = ktime_get_ns(), now, end = start + run->ms * (u64)NSEC_PER_MSEC;
	u64 pairs = 0, refused = 0, least = U64_MAX, ticks;
	unsigned int batch = run->latency ? BENCH_TIMED : BENCH_BATCH;
	int length;

	do {
		ticks = __builtin_ia32_rdtsc();
		refused += run->latency ? bench_pairs(run, BENCH_TIMED, true) : bench_batch(run);
		/* Interrupts and cold caches make some batches longer. */
		least = min(least, __builtin_ia32_rdtsc() - ticks);
		pairs += batch;
		/* Let other processes run, because there may be more processes than processors. */
		cond_resched();
		now = ktime_get_ns();
	} while (now < end && !signal_pending(current));
	length = sprintf(result, "pairs=%llu refused=%llu start=%llu end=%llu ticks=%llu",
			 pairs, refused, start, now, least / batch);
	if (run->latency)
		length += sprintf(result + length, " p99=%u", bench_p99(pairs - refused));
	return length;
}

/* The last process to arrive starts all processes. */
static void bench_wait_for_others(unsigned int threads)
{
	int started = atomic_read(&bench_started);

	if (atomic_inc_return(&bench_come) == threads) {
		atomic_set(&bench_come, 0);
		atomic_inc(&bench_started);
	}
	while (atomic_read(&bench_started) == started && !signal_pending(current))
		cond_resched();
}

/* Charge the device once, and measure. Returns the length of the result, or an error. */
static int bench_go(const struct bench_run *run, char *result)
{
	struct cgroup_subsys_state *css = task_get_css(current, rdma_cgrp_id);
	struct rdma_cgroup *owner;
	int ret;

	/* The root cgroup has no counter of references. */
	if (css->parent)
		percpu_ref_switch_to_atomic_sync(&css->refcnt);
	ret = bench_charge(&owner, &bench_devices->rdmacg, run->slots);
	if (!ret) {
		if (run->latency)
			memset(bench_took, 0, sizeof(bench_took));
		bench_wait_for_others(run->threads);
		ret = bench_measure(run, result);
		bench_uncharge(owner, &bench_devices->rdmacg, run->slots);
	}
	css_put(css);
	return ret;
}

static ssize_t bench_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	/* The page first has the written text, and then the result. */
	char *page = simple_transaction_get(file, from, size);
	struct bench_run run;
	int ret;

	if (IS_ERR(page))
		return PTR_ERR(page);
	if (sscanf(page, "%u %u %u %u", &run.slots, &run.ms, &run.threads, &run.latency) != 4 ||
	    !run.slots || run.slots > BENCH_SLOTS || !run.threads)
		return -EINVAL;
	ret = bench_go(&run, page);
	if (ret < 0)
		return ret;
	simple_transaction_set(file, ret);
	return size;
}

static const struct proc_ops bench_ops = {
	.proc_write	= bench_write,
	.proc_read	= simple_transaction_read,
	.proc_release	= simple_transaction_release,
	.proc_lseek	= default_llseek,
};

static void bench_exit(void)
{
	proc_remove(bench_file);
	while (bench_registered)
		rdmacg_unregister_device(&bench_devices[--bench_registered].rdmacg);
}

static int __init bench_init(void)
{
	struct bench_device *device;

	for (; bench_registered < min(devices, BENCH_DEVICES); bench_registered++) {
		device = &bench_devices[bench_registered];
		snprintf(device->name, sizeof(device->name), "bench%u", bench_registered);
		device->rdmacg.name = device->name;
		if (bench_register(&device->rdmacg))
			break;
	}
	if (bench_registered == devices)
		bench_file = proc_create("rdmacg_bench", 0600, NULL, &bench_ops);
	if (bench_file)
		return 0;
	bench_exit();
	return -ENOMEM;
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmark of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
