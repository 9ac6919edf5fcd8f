// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel part of the benchmark of the RDMA cgroup controller. Both this project's controller
 * and stock are measured with this source.
 *
 * A process writes a line "DEVICE SPREAD SLOTS MS THREADS LATENCY" to /proc/rdmacg_bench, and reads
 * the result from the same open file. The write charges and uncharges the process for MS
 * milliseconds, as the IB core does, and measures the time:
 *
 *	DEVICE		the number of the first test device
 *	SPREAD		the number of devices, which are charged in turn
 *	SLOTS		resources in one charge, of one unit each (more than 1 only for ours)
 *	THREADS		wait until this number of processes has arrived, then start at once
 *	LATENCY		0, or 1: time each charge alone, and print percentiles of the last charges
 *
 * Without LATENCY, the result has the number of pairs of a charge and an uncharge, the number of
 * refused pairs, the start and the end in ns, and the least ticks of the time stamp counter for a
 * pair. Ticks are instructions if the machine's clock counts instructions.
 *
 * During the measurement, a unit of each resource of each device stays charged, as if a program had
 * the device open.
 *
 * A charge takes a reference to its cgroup. User-Mode Linux with SMP makes two system calls for
 * each per-CPU reference, which would hide all other costs. So for ours and for stock, the
 * benchmark makes the counter of references a plain atomic, which all processes of a cgroup share.
 * The benchmark does not measure the IB core and the driver around a charge.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define BENCH_BATCH	512
#define BENCH_SAMPLES	400000

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "how many devices to make up: bench0, bench1, ...");

static struct rdmacg_device *bench_devices;
static char (*bench_names)[16];
static atomic_t bench_come, bench_gone;

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
	return rdmacg_register_device(device, &table, 1);
}

static int bench_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
			unsigned int slots)
{
	if (slots == 1)
		return rdmacg_try_charge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
	return rdmacg_try_charge_set(owner, device, bench_set, slots);
}

static void bench_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
			   unsigned int slots)
{
	if (slots == 1)
		rdmacg_uncharge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
	else
		rdmacg_uncharge_set(owner, device, bench_set, slots);
}

#else /* stock */

#define BENCH_SLOTS 1

static int bench_register(struct rdmacg_device *device)
{
	rdmacg_register_device(device);
	return 0;
}

static int bench_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
			unsigned int slots)
{
	return rdmacg_try_charge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
}

static void bench_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
			   unsigned int slots)
{
	rdmacg_uncharge(owner, device, RDMACG_RESOURCE_HCA_OBJECT);
}

#endif

struct bench_run {
	unsigned int device, spread, slots, ms, threads, latency;
	struct rdma_cgroup **held;
	u32 *samples;
	char result[128];
};

/* Run a batch of pairs, after @first earlier pairs. Returns the number of refusals. */
static unsigned int bench_batch(const struct bench_run *run, unsigned int first)
{
	struct rdmacg_device *device = &bench_devices[run->device];
	struct rdma_cgroup *owner;
	unsigned int i, refused = 0;

	for (i = 0; i < BENCH_BATCH; i++) {
		if (run->spread > 1)
			device = &bench_devices[run->device + (first + i) % run->spread];
		if (bench_charge(&owner, device, run->slots))
			refused++;
		else
			bench_uncharge(owner, device, run->slots);
	}
	return refused;
}

static void bench_pairs(struct bench_run *run)
{
	u64 start = ktime_get_ns(), now, end = start + run->ms * (u64)NSEC_PER_MSEC;
	u64 pairs = 0, refused = 0, least = U64_MAX, ticks;

	do {
		ticks = __builtin_ia32_rdtsc();
		refused += bench_batch(run, pairs);
		/* Interrupts and cold caches make some batches longer. */
		least = min(least, __builtin_ia32_rdtsc() - ticks);
		pairs += BENCH_BATCH;
		/* Let other processes run, because there may be more processes than processors. */
		cond_resched();
		now = ktime_get_ns();
	} while (now < end && !signal_pending(current));
	snprintf(run->result, sizeof(run->result),
		 "pairs=%llu refused=%llu start=%llu end=%llu ticks=%llu\n",
		 pairs, refused, start, now, least / BENCH_BATCH);
}

static int bench_compare(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

static int bench_latency(struct bench_run *run)
{
	u64 end = ktime_get_ns() + run->ms * (u64)NSEC_PER_MSEC;
	struct rdmacg_device *device = &bench_devices[run->device];
	struct rdma_cgroup *owner;
	u64 start, count = 0;
	unsigned int n, i;

	do {
		/* Keep the batch short, because each charge may wait long. */
		for (i = 0; i < 16; i++) {
			start = __builtin_ia32_rdtsc();
			if (bench_charge(&owner, device, run->slots))
				continue;
			run->samples[count++ % BENCH_SAMPLES] =
				min_t(u64, __builtin_ia32_rdtsc() - start, U32_MAX);
			bench_uncharge(owner, device, run->slots);
		}
		/* Let other processes run, because there may be more processes than processors. */
		cond_resched();
	} while (ktime_get_ns() < end && !signal_pending(current));
	if (!count)
		return -EAGAIN;
	n = min_t(u64, count, BENCH_SAMPLES);
	sort(run->samples, n, sizeof(u32), bench_compare, NULL);
	snprintf(run->result, sizeof(run->result),
		 "samples=%llu p50=%u p99=%u p999=%u worst=%u\n",
		 count, run->samples[n / 2], run->samples[n - 1 - n / 100],
		 run->samples[n - 1 - n / 1000], run->samples[n - 1]);
	return 0;
}

/* The last process to arrive starts all processes, and the last to leave cleans up. */
static int bench_wait_for_others(unsigned int threads)
{
	int ret = 0;

	atomic_inc(&bench_come);
	while (atomic_read(&bench_come) < threads && !ret) {
		if (signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	if (atomic_inc_return(&bench_gone) == threads) {
		atomic_set(&bench_come, 0);
		atomic_set(&bench_gone, 0);
	}
	return ret;
}

static int bench_measure(struct bench_run *run)
{
	int ret = run->threads > 1 ? bench_wait_for_others(run->threads) : 0;

	if (ret)
		return ret;
	if (run->latency)
		return bench_latency(run);
	bench_pairs(run);
	return 0;
}

static void bench_release_held(struct bench_run *run, unsigned int count)
{
	while (count--)
		bench_uncharge(run->held[count], &bench_devices[run->device + count], run->slots);
	kvfree(run->held);
}

static int bench_hold(struct bench_run *run)
{
	unsigned int i;
	int ret = 0;

	run->held = kvcalloc(run->spread, sizeof(run->held[0]), GFP_KERNEL);
	if (!run->held)
		return -ENOMEM;
	for (i = 0; i < run->spread && !ret; i++)
		ret = bench_charge(&run->held[i], &bench_devices[run->device + i], run->slots);
	if (ret)
		bench_release_held(run, i - 1);
	return ret;
}

static int bench_go(struct bench_run *run)
{
	struct cgroup_subsys_state *css = task_get_css(current, rdma_cgrp_id);
	int ret = -ENOMEM;

	/* The root cgroup has no counter of references. */
	if (css->parent)
		percpu_ref_switch_to_atomic_sync(&css->refcnt);
	if (run->latency) {
		run->samples = vmalloc_array(BENCH_SAMPLES, sizeof(u32));
		if (!run->samples)
			goto put;
	}
	ret = bench_hold(run);
	if (ret)
		goto put;
	ret = bench_measure(run);
	bench_release_held(run, run->spread);
put:
	vfree(run->samples);
	run->samples = NULL;
	css_put(css);
	return ret;
}

static int bench_parse(struct bench_run *run, const char *text)
{
	if (sscanf(text, "%u %u %u %u %u %u", &run->device, &run->spread, &run->slots, &run->ms,
		   &run->threads, &run->latency) != 6)
		return -EINVAL;
	if (run->device >= devices || !run->spread || run->spread > devices - run->device)
		return -EINVAL;
	return run->slots && run->slots <= BENCH_SLOTS && run->threads ? 0 : -EINVAL;
}

static ssize_t bench_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	struct bench_run *run = file->private_data;
	char *text = memdup_user_nul(from, size);
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = bench_parse(run, text);
	kfree(text);
	ret = ret ?: bench_go(run);
	*pos = 0;
	return ret ?: size;
}

static ssize_t bench_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct bench_run *run = file->private_data;

	return simple_read_from_buffer(to, size, pos, run->result, strlen(run->result));
}

static int bench_open(struct inode *inode, struct file *file)
{
	struct bench_run *run = kcalloc(1, sizeof(*run), GFP_KERNEL);

	file->private_data = run;
	return run ? 0 : -ENOMEM;
}

static int bench_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct proc_ops bench_ops = {
	.proc_open	= bench_open,
	.proc_release	= bench_release,
	.proc_write	= bench_write,
	.proc_read	= bench_read,
	.proc_lseek	= default_llseek,
};

static void bench_unregister(unsigned int count)
{
	while (count--)
		rdmacg_unregister_device(&bench_devices[count]);
	vfree(bench_names);
	vfree(bench_devices);
}

static int __init bench_init(void)
{
	unsigned int i;
	int ret = 0;

	/* Do not use the slab, because its growth is measured. */
	bench_devices = vcalloc(devices, sizeof(*bench_devices));
	bench_names = vcalloc(devices, sizeof(*bench_names));
	if (!bench_devices || !bench_names) {
		bench_unregister(0);
		return -ENOMEM;
	}
	for (i = 0; i < devices && !ret; i++) {
		snprintf(bench_names[i], sizeof(bench_names[i]), "bench%u", i);
		bench_devices[i].name = bench_names[i];
		ret = bench_register(&bench_devices[i]);
	}
	if (ret) {
		bench_unregister(i - 1);
		return ret;
	}
	if (!proc_create("rdmacg_bench", 0600, NULL, &bench_ops)) {
		bench_unregister(devices);
		return -ENOMEM;
	}
	return 0;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("rdmacg_bench", NULL);
	bench_unregister(devices);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmark of the RDMA cgroup controller");
MODULE_LICENSE("GPL");
