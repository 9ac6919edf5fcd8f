// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark of the RDMA cgroup controller, kernel part. One source for this project's controller
 * and for stock.
 *
 * A process writes a line of words to /proc/rdmacg_bench, and reads the result from the same open
 * file. The write charges and uncharges the process, as the IB core does, and measures the time.
 *
 *	device=N	the test device (parameter devices=, 1)
 *	spread=N	N devices in turn, beginning with device= (1)
 *	slots=N		resources in one charge, of one unit each (1; more only for ours)
 *	ms=N		duration (200)
 *	threads=N	wait until N processes have arrived, then start at once (1)
 *	latency=1	time each charge alone, and print the count, percentiles and the worst of
 *			the last ones
 *	ticks=1		the least ticks of the time stamp counter for a pair, which are
 *			instructions if the machine's clock counts instructions
 *	counter=N	charge a chain of N page counters instead
 *	reference=1	only the first part of a charge: find the cgroup and take a reference, and
 *			drop it
 *
 * During the measurement, a unit of each resource of each device stays charged, as if a program had
 * the device open.
 *
 * A charge takes a reference to the cgroup, and an uncharge drops the reference; page counters do
 * not. For ours and for stock, the benchmark switches this reference from per-CPU to a plain
 * atomic, because User-Mode Linux with SMP makes two system calls for each per-CPU reference. These
 * would hide all other costs. So processes of one cgroup share an atomic. The IB core and the
 * driver around a charge are not measured.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/page_counter.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define BENCH_BATCH	512
#define BENCH_TICKS	64
#define BENCH_SAMPLES	400000
#define BENCH_LEVELS	16

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "how many devices to make up: bench0, bench1, ...");

static struct rdmacg_device *bench_devices;
static char (*bench_names)[16];
static atomic_t bench_come, bench_gone;

#ifdef RDMACG_MAX_SLOTS /* this project's */

#define BENCH_SLOTS 3 /* in one charge */

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

#else /* the base's */

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
	unsigned int device, spread, slots, ms, threads, latency, ticks, counter, reference;
	struct page_counter *chain;
	struct rdma_cgroup **held;
	u32 *samples;
	char result[128];
};

static struct page_counter *bench_chain(unsigned int levels)
{
	struct page_counter *chain = kcalloc(BENCH_LEVELS, sizeof(*chain), GFP_KERNEL);
	unsigned int i;

	for (i = 0; chain && i < levels; i++)
		page_counter_init(&chain[i], i ? &chain[i - 1] : NULL, false);
	return chain;
}

/* The @n-th pair; false if the charge is refused. */
static bool bench_pair(const struct bench_run *run, unsigned int n)
{
	struct rdmacg_device *device = &bench_devices[run->device];
	struct rdma_cgroup *owner;

	if (run->spread > 1)
		device += n % run->spread;
	if (bench_charge(&owner, device, run->slots))
		return false;
	bench_uncharge(owner, device, run->slots);
	return true;
}

static bool bench_counter_pair(const struct bench_run *run, unsigned int n)
{
	struct page_counter *last = &run->chain[run->counter - 1], *fail;

	if (!page_counter_try_charge(last, 1, &fail))
		return false;
	page_counter_uncharge(last, 1);
	return true;
}

static bool bench_reference_pair(const struct bench_run *run, unsigned int n)
{
	css_put(task_get_css(current, rdma_cgrp_id));
	return true;
}

/* Run @count pairs. Returns the number of refusals. Inlined for each kind of pair. */
static __always_inline unsigned int
bench_pairs(const struct bench_run *run, unsigned int first, unsigned int count,
	    bool (*pair)(const struct bench_run *run, unsigned int n))
{
	unsigned int i, refused = 0;

	for (i = 0; i < count; i++)
		if (!pair(run, first + i))
			refused++;
	return refused;
}

static unsigned int bench_batch(const struct bench_run *run, unsigned int first,
				unsigned int count)
{
	if (run->chain)
		return bench_pairs(run, first, count, bench_counter_pair);
	if (run->reference)
		return bench_pairs(run, first, count, bench_reference_pair);
	return bench_pairs(run, first, count, bench_pair);
}

static void bench_throughput(struct bench_run *run)
{
	u64 start = ktime_get_ns(), now, end = start + run->ms * (u64)NSEC_PER_MSEC;
	u64 pairs = 0, refused = 0;

	do {
		refused += bench_batch(run, pairs, BENCH_BATCH);
		pairs += BENCH_BATCH;
		/* There may be more processes than processors. */
		cond_resched();
		now = ktime_get_ns();
	} while (now < end && !signal_pending(current));
	snprintf(run->result, sizeof(run->result), "pairs=%llu refused=%llu start=%llu end=%llu\n",
		 pairs, refused, start, now);
}

/* The shortest of many, because interrupts and cold caches make some longer. */
static void bench_ticks(struct bench_run *run)
{
	u64 end = ktime_get_ns() + run->ms * (u64)NSEC_PER_MSEC;
	u64 least = U64_MAX, refused = 0, start;

	do {
		start = __builtin_ia32_rdtsc();
		refused += bench_batch(run, 0, BENCH_TICKS);
		least = min(least, __builtin_ia32_rdtsc() - start);
	} while (ktime_get_ns() < end);
	snprintf(run->result, sizeof(run->result), "ticks=%llu refused=%llu\n",
		 least / BENCH_TICKS, refused);
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
		/* Few, because each may wait long. */
		for (i = 0; i < 16; i++) {
			start = __builtin_ia32_rdtsc();
			if (bench_charge(&owner, device, run->slots))
				continue;
			run->samples[count++ % BENCH_SAMPLES] =
				min_t(u64, __builtin_ia32_rdtsc() - start, U32_MAX);
			bench_uncharge(owner, device, run->slots);
		}
		/* There may be more processes than processors. */
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

/* The last process to arrive starts all, and the last to leave cleans up. */
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
	if (run->ticks)
		bench_ticks(run);
	else
		bench_throughput(run);
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

	/* The root has no references. */
	if (css->parent)
		percpu_ref_switch_to_atomic_sync(&css->refcnt);
	if (run->counter) {
		run->chain = bench_chain(run->counter);
		if (!run->chain)
			goto put;
	}
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
	kfree(run->chain);
	run->samples = NULL;
	run->chain = NULL;
	css_put(css);
	return ret;
}

static int bench_parse(struct bench_run *run, char *text)
{
	const struct {
		const char *key;
		unsigned int *value;
	} words[] = {
		{ "device", &run->device }, { "spread", &run->spread },
		{ "slots", &run->slots }, { "ms", &run->ms },
		{ "threads", &run->threads }, { "latency", &run->latency },
		{ "ticks", &run->ticks }, { "counter", &run->counter },
		{ "reference", &run->reference },
	};
	char *word, *value;
	unsigned int i;

	*run = (struct bench_run){ .spread = 1, .slots = 1, .ms = 200, .threads = 1 };
	while ((word = strsep(&text, "\n "))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		for (i = 0; i < ARRAY_SIZE(words) && strcmp(words[i].key, word); i++)
			;
		if (i == ARRAY_SIZE(words) || kstrtouint(value, 10, words[i].value))
			return -EINVAL;
	}
	if (run->device >= devices || !run->spread || run->spread > devices - run->device)
		return -EINVAL;
	return run->slots && run->slots <= BENCH_SLOTS && run->ms && run->threads &&
	       run->counter <= BENCH_LEVELS ? 0 : -EINVAL;
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

	/* Not from the slab, whose growth is measured. */
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
