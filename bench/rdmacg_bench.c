// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark of the RDMA cgroup controller, kernel part. One source for this
 * project's controller and for the one in the base.
 *
 * Measured: charge and uncharge, as the IB core calls them, by the process that
 * writes a line of words to /proc/rdmacg_bench, in its cgroup. The result is read
 * from the same open file.
 *
 *	device=N	which of the made-up devices (parameter devices=, 1)
 *	slots=N		resources in one charge, of one unit each (1; else ours only)
 *	ms=N		for how long (200)
 *	threads=N	wait until so many processes have come, then start at once (1)
 *	latency=1	time each charge alone, and give percentiles
 *	counter=N	charge a chain of N page counters instead, N levels deep
 *
 * A charge takes a reference to the cgroup, an uncharge drops it; page counters do
 * not. It is switched from per-CPU to a plain atomic on both sides alike, because
 * User-Mode Linux with SMP makes two system calls of each per-CPU reference, which
 * would hide everything else. Processes of one cgroup share that atomic here, and
 * nowhere else. Not measured: the IB core and the driver around a charge.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/parser.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

/* The yardstick. It exports nothing, so it is compiled in here once more. */
#include "../mm/page_counter.c"

#define BENCH_BATCH	512
#define BENCH_SAMPLES	400000
#define BENCH_LEVELS	16

static unsigned int devices = 1;
module_param(devices, uint, 0444);

static struct rdmacg_device *bench_devices;
static char (*bench_names)[16];
static atomic_t bench_waiting;

#ifdef RDMACG_MAX_SLOTS /* this project's */

#define BENCH_SLOTS 6

static struct rdmacg_charge bench_set[BENCH_SLOTS];

static int bench_register(struct rdmacg_device *device)
{
	static const char *const names[BENCH_SLOTS] = {
		"hca_handle", "hca_object", "c", "d", "e", "f",
	};
	struct rdmacg_resource resources[BENCH_SLOTS] = { };
	struct rdmacg_table table = { .resources = resources, .count = BENCH_SLOTS };
	unsigned int i;

	for (i = 0; i < BENCH_SLOTS; i++) {
		resources[i].name = names[i];
		resources[i].class = i < RDMACG_RESOURCE_MAX ? RDMACG_CLASS_HCA : RDMACG_CLASS_VERB;
		resources[i].capacity = RDMACG_NO_LIMIT;
		bench_set[i].slot = (i + RDMACG_RESOURCE_HCA_OBJECT) % BENCH_SLOTS;
		bench_set[i].amount = 1;
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
	unsigned int device, slots, ms, threads, latency, counter;
	struct page_counter *chain;
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

/* One pair; false if the charge is refused. */
static bool bench_pair(const struct bench_run *run)
{
	struct rdmacg_device *device = &bench_devices[run->device];
	struct page_counter *fail;
	struct rdma_cgroup *owner;

	if (run->chain) {
		struct page_counter *last = &run->chain[run->counter - 1];

		if (!page_counter_try_charge(last, 1, &fail))
			return false;
		page_counter_uncharge(last, 1);
		return true;
	}
	if (bench_charge(&owner, device, run->slots))
		return false;
	bench_uncharge(owner, device, run->slots);
	return true;
}

static void bench_throughput(struct bench_run *run)
{
	u64 start = ktime_get_ns(), now, end = start + run->ms * (u64)NSEC_PER_MSEC;
	u64 pairs = 0, refused = 0;
	unsigned int i;

	do {
		for (i = 0; i < BENCH_BATCH; i++)
			if (!bench_pair(run))
				refused++;
		pairs += BENCH_BATCH;
		now = ktime_get_ns();
	} while (now < end && !signal_pending(current));
	snprintf(run->result, sizeof(run->result), "pairs=%llu refused=%llu ps=%llu bytes=%zu\n",
		 pairs, refused, div64_u64((now - start) * 1000, pairs),
		 run->chain ? sizeof(struct page_counter) : 0);
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
	unsigned int n = 0, i;
	u64 start;

	do {
		for (i = 0; i < BENCH_BATCH && n < BENCH_SAMPLES; i++) {
			start = __builtin_ia32_rdtsc();
			if (bench_charge(&owner, device, run->slots))
				continue;
			run->samples[n++] = __builtin_ia32_rdtsc() - start;
			bench_uncharge(owner, device, run->slots);
		}
	} while (n < BENCH_SAMPLES && ktime_get_ns() < end && !signal_pending(current));
	if (!n)
		return -EAGAIN;
	sort(run->samples, n, sizeof(u32), bench_compare, NULL);
	snprintf(run->result, sizeof(run->result), "samples=%u p50=%u p99=%u p999=%u max=%u\n",
		 n, run->samples[n / 2], run->samples[n - 1 - n / 100],
		 run->samples[n - 1 - n / 1000], run->samples[n - 1]);
	return 0;
}

static int bench_wait_for_others(unsigned int threads)
{
	if (threads < 2)
		return 0;
	atomic_inc(&bench_waiting);
	/* A count that all have to reach, and that the next run starts from again. */
	while (atomic_read(&bench_waiting) % threads) {
		if (signal_pending(current)) {
			atomic_dec(&bench_waiting);
			return -EINTR;
		}
		cond_resched();
	}
	return 0;
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
	ret = bench_wait_for_others(run->threads);
	if (ret)
		goto put;
	if (run->latency)
		ret = bench_latency(run);
	else
		bench_throughput(run);
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
	static const char *const keys[] = { "device", "slots", "ms", "threads", "latency",
					    "counter" };
	unsigned int *const values[] = { &run->device, &run->slots, &run->ms, &run->threads,
					 &run->latency, &run->counter };
	char *word, *value;
	int key;

	*run = (struct bench_run){ .slots = 1, .ms = 200, .threads = 1 };
	while ((word = strsep(&text, "\n "))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		key = match_string(keys, ARRAY_SIZE(keys), word);
		if (key < 0 || kstrtouint(value, 10, values[key]))
			return -EINVAL;
	}
	return run->device < devices && run->slots && run->slots <= BENCH_SLOTS &&
	       run->ms && run->threads && run->counter <= BENCH_LEVELS ? 0 : -EINVAL;
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
	kvfree(bench_names);
	kvfree(bench_devices);
}

static int __init bench_init(void)
{
	unsigned int i;
	int ret = 0;

	bench_devices = kvcalloc(devices, sizeof(*bench_devices), GFP_KERNEL);
	bench_names = kvcalloc(devices, sizeof(*bench_names), GFP_KERNEL);
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
