// SPDX-License-Identifier: GPL-2.0
/*
 * hammer KIND MS CHAIN NICE: in a guest of its own, let the processes of one delegated cgroup
 * hammer its files. Meanwhile, time the operations of a sibling of that cgroup, for the kinds in
 * hammer-sibling.c:
 *
 *   pair    ibv_alloc_pd() and ibv_dealloc_pd()
 *
 * or those of a stranger in another top-level cgroup, for the other kinds:
 *
 *   open    the first ibv_open_device() of a process in a new top-level cgroup
 *   mkdir   mkdir() and rmdir() of one more top-level cgroup
 *   link    "rdma link add" and "rdma link delete" of a second device, exec included
 *   rename  "rdma dev set name" of that device
 *
 * It prints a line for each of them. This is not a benchmark: a sample contains the time that the
 * stranger waits for a processor. It has a meaning only beside the sample of a control, whose
 * processes keep the processors as busy and no lock of the controller. A NICE below 0 makes the
 * stranger wait less for a processor, so that waits for locks stand out.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "hammer.h"

#define MOST_SAMPLES	1048576

struct hammer_shared *hammer_shared;
struct ibv_device *hammer_device;

static pid_t main_pid;
static int stranger_nice;
static pid_t pids[HAMMER_MOST];
static unsigned int nr_pids;

static struct hammer_samples {
	unsigned int count;
	unsigned long long ns[MOST_SAMPLES];
} samples[HAMMER_OPS];
static unsigned long long measured_ns[HAMMER_OPS];

static const char *const op_names[] = { "open", "mkdir", "link", "rename", "pair" };

static void end_processes(void);

/* Report an error, and exit. In a hammering process, main() reports it. */
void hammer_fail(const char *format, ...)
{
	char reason[sizeof(hammer_shared->reason)];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (getpid() != main_pid) {
		if (!atomic_exchange(&hammer_shared->failed, true))
			snprintf(hammer_shared->reason, sizeof(reason), "%s", reason);
		_exit(1);
	}
	printf("# hammer: %s\n", reason);
	end_processes();
	exit(1);
}

unsigned long long hammer_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

void hammer_sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* Open below @dir, or fail. */
int hammer_open(int dir, const char *path, int flags)
{
	int fd = openat(dir, path, flags | O_CLOEXEC);

	if (fd < 0)
		hammer_fail("%s: wanted it open, got %m", path);
	return fd;
}

void hammer_write(int dir, const char *path, const char *string)
{
	int fd = hammer_open(dir, path, O_WRONLY);

	if (write(fd, string, strlen(string)) < 0)
		hammer_fail("%s: wanted \"%s\" written, got %m", path, string);
	close(fd);
}

void hammer_mkdir(int dir, const char *path)
{
	if (mkdirat(dir, path, 0755))
		hammer_fail("%s: wanted a new cgroup, got %m", path);
}

/* A cgroup may count as populated for a moment after its last process was reaped. */
void hammer_rmdir(int dir, const char *path)
{
	unsigned long long end = hammer_now() + HAMMER_PATIENCE * 1000000000ULL;

	while (unlinkat(dir, path, AT_REMOVEDIR)) {
		if (errno != EBUSY || hammer_now() > end)
			hammer_fail("%s: wanted it removed, got %m", path);
		hammer_sleep_ms(1);
	}
}

/* Fork a child in the cgroup @dir, or in ours for -1. It ends with its parent. */
pid_t hammer_spawn(int dir)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.flags = dir < 0 ? 0 : CLONE_INTO_CGROUP,
		.cgroup = dir < 0 ? 0 : dir,
	};
	pid_t parent = getpid();
	pid_t child;

	fflush(stdout);
	child = syscall(SYS_clone3, &args, sizeof(args));
	if (child < 0)
		hammer_fail("clone3: wanted a child, got %m");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
	}
	return child;
}

/* The status of a child as of waitpid(); false if it does not end in time. */
static bool wait_child(pid_t pid, int *status)
{
	struct pollfd end = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	bool has_ended = end.fd >= 0 && poll(&end, 1, HAMMER_PATIENCE * 1000) == 1;

	close(end.fd);
	return has_ended && waitpid(pid, status, 0) == pid;
}

void hammer_await(const char *what, pid_t pid)
{
	int status;

	if (!wait_child(pid, &status)) {
		kill(pid, SIGKILL);
		wait_child(pid, &status);
		hammer_fail("%s: wanted its end within %d s, got none", what, HAMMER_PATIENCE);
	}
	if (hammer_shared->failed)
		hammer_fail("%s", hammer_shared->reason);
	if (status)
		hammer_fail("%s: wanted status 0, got 0x%x", what, status);
}

static void end_processes(void)
{
	unsigned int i, count = nr_pids;
	int status;

	nr_pids = 0;
	for (i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < count; i++)
		if (!wait_child(pids[i], &status))
			hammer_fail("process %d: wanted its end within %d s of SIGKILL, got none",
				    pids[i], HAMMER_PATIENCE);
}

/* Whether there is room for another sample. */
bool hammer_sample(enum hammer_op op, unsigned long long ns)
{
	struct hammer_samples *all = &samples[op];

	all->ns[all->count++] = ns;
	measured_ns[op] += ns;
	return all->count < MOST_SAMPLES;
}

static void move_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		hammer_fail("wanted processor %d, got %m", cpu);
}

/* After a first call, all begin at once, when the other end of @start is closed. */
[[gnu::noreturn]] static void run_process(const struct hammer_kind *kind,
					  unsigned int number, const int start[2])
{
	char byte;

	setpriority(PRIO_PROCESS, 0, 0);
	if (kind->has_sibling)
		move_to_cpu(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	close(start[1]);
	kind->act(number);
	hammer_shared->blows[number]++;
	if (read(start[0], &byte, 1))
		hammer_fail("pipe to start with: wanted its end, got %m");
	while (1) {
		kind->act(number);
		hammer_shared->blows[number]++;
	}
}

static void start_processes(const struct hammer_kind *kind)
{
	int home = hammer_open(AT_FDCWD, HAMMER_HOME, O_DIRECTORY);
	int start[2];
	unsigned int i;
	pid_t child;

	if (pipe2(start, O_CLOEXEC))
		hammer_fail("pipe to start with: wanted one, got %m");
	for (i = 0; i < kind->processes; i++) {
		child = hammer_spawn(kind->is_in_leaf ? hammer_leaf : home);
		if (!child)
			run_process(kind, i, start);
		pids[nr_pids++] = child;
	}
	close(start[0]);
	close(start[1]);
	close(home);
}

/* A hammer that does not strike measures nothing: each process must have done something. */
static void await_processes(const struct hammer_kind *kind)
{
	unsigned long long end = hammer_now() + HAMMER_PATIENCE * 1000000000ULL;
	unsigned int i = 0;

	while (i < kind->processes) {
		if (hammer_shared->failed)
			hammer_fail("%s: %s", kind->name, hammer_shared->reason);
		if (hammer_now() > end)
			hammer_fail("%s: wanted something done by process %u in %d s, got nothing",
				    kind->name, i, HAMMER_PATIENCE);
		if (hammer_shared->blows[i])
			i++;
		else
			hammer_sleep_ms(5);
	}
}

static int compare(const void *a, const void *b)
{
	unsigned long long left = *(const unsigned long long *)a;
	unsigned long long right = *(const unsigned long long *)b;

	return (left > right) - (left < right);
}

static void report_op(const struct hammer_kind *kind, enum hammer_op op, unsigned long blows)
{
	static const struct {
		const char *name;
		unsigned int per_cent;
	} ranks[] = {
		{ "median", 50 }, { "p75", 75 }, { "p99", 99 },
	};
	unsigned long long *ns = samples[op].ns;
	unsigned int count = samples[op].count;
	unsigned int i;

	qsort(ns, count, sizeof(*ns), compare);
	printf("hammer kind=%s control=%s op=%s blows=%lu samples=%u rate=%llu", kind->name,
	       kind->control ?: "-", op_names[op], blows, count,
	       count * 1000000000ULL / measured_ns[op]);
	for (i = 0; i < ARRAY_SIZE(ranks); i++)
		printf(" %s_us=%llu", ranks[i].name, ns[count * ranks[i].per_cent / 100] / 1000);
	printf(" worst_us=%llu\n", ns[count - 1] / 1000);
}

static void report(const struct hammer_kind *kind)
{
	unsigned long blows = 0;
	unsigned int i;

	for (i = 0; i < kind->processes; i++)
		blows += hammer_shared->blows[i];
	for (i = 0; i < HAMMER_OPS; i++)
		if (samples[i].count)
			report_op(kind, i, blows);
}

static void find_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), HAMMER_DEVICE))
			hammer_device = *list;
	if (!hammer_device)
		hammer_fail(HAMMER_DEVICE ": wanted an RDMA device, got none");
}

static void enter(const char *cgroup)
{
	int dir = hammer_open(AT_FDCWD, cgroup, O_DIRECTORY);

	hammer_write(dir, "cgroup.procs", "0");
	close(dir);
}

static void set_up(bool has_sibling)
{
	hammer_shared = mmap(NULL, sizeof(*hammer_shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (hammer_shared == MAP_FAILED) {
		printf("# hammer: no shared memory: %m\n");
		exit(1);
	}
	main_pid = getpid();
	find_device();
	hammer_mkdir(AT_FDCWD, HAMMER_TOP);
	hammer_write(AT_FDCWD, HAMMER_TOP "/cgroup.subtree_control", "+rdma +pids");
	hammer_mkdir(AT_FDCWD, HAMMER_HOME);
	hammer_mkdir(AT_FDCWD, HAMMER_STRANGER);
	hammer_mkdir(AT_FDCWD, HAMMER_SIBLING);
	enter(has_sibling ? HAMMER_SIBLING : HAMMER_STRANGER);
	if (setpriority(PRIO_PROCESS, 0, stranger_nice))
		hammer_fail("wanted priority %d, got %m", stranger_nice);
}

static void clean_up(void)
{
	enter(HAMMER_ROOT);
	hammer_rmdir(AT_FDCWD, HAMMER_STRANGER);
	hammer_rmdir(AT_FDCWD, HAMMER_SIBLING);
	hammer_rmdir(AT_FDCWD, HAMMER_HOME);
	hammer_rmdir(AT_FDCWD, HAMMER_TOP);
}

static void hammer(const struct hammer_kind *kind, unsigned int ms)
{
	if (kind->set_up)
		kind->set_up();
	if (kind->control_max)
		hammer_write(AT_FDCWD, HAMMER_TOP "/rdma.control.max", kind->control_max);
	start_processes(kind);
	await_processes(kind);
	if (kind->has_sibling) {
		move_to_cpu(0);
		hammer_measure_sibling(kind, ms);
	} else {
		hammer_measure(kind, ms);
	}
	end_processes();
	report(kind);
	if (kind->clean_up)
		kind->clean_up();
}

int main(int argc, char **argv)
{
	const struct hammer_kind *kind = argc == 5 ? hammer_find_kind(argv[1]) : NULL;
	unsigned int ms;

	if (!kind) {
		printf("# hammer: wanted KIND MS CHAIN NICE, got %d words, %s first\n",
		       argc - 1, argc > 1 ? argv[1] : "none");
		return 2;
	}
	ms = atoi(argv[2]);
	hammer_depth = atoi(argv[3]);
	stranger_nice = atoi(argv[4]);
	set_up(kind->has_sibling);
	hammer(kind, ms);
	clean_up();
	return 0;
}
