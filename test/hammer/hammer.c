// SPDX-License-Identifier: GPL-2.0
/*
 * hammer KIND SECONDS CHAIN: in a guest of its own, let the processes of one delegated
 * cgroup hammer its files, and time what a stranger in another top-level cgroup does
 * meanwhile:
 *
 *   open    the first ibv_open_device() of a process in a new top-level cgroup
 *   mkdir   mkdir() and rmdir() of one more top-level cgroup
 *   link    "rdma link add" and "rdma link delete" of a second device, exec included
 *   rename  "rdma dev set name" of that device
 *
 * It prints one line for each of them. This is not a benchmark: a sample contains the
 * time that the stranger waits for a processor, so it says something only beside that
 * of a kind whose processes do nothing but burn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define ROOT	"/sys/fs/cgroup"
/* What is delegated. Its processes are in HOME, for one that delegates takes none. */
#define TOP	ROOT "/hammer"
#define HOME	TOP "/home"
#define CHAIN	TOP "/chain"
/* Where this process is, and what it makes. */
#define STRANGER	ROOT "/stranger"
#define DEVICE	"rxe0"
/* The second device has a link and two names. */
#define LINK	"hammer0"
#define OTHER	"hammer_a"
#define RENAMED	"hammer_b"

#define FEW		4
#define MANY		500
#define MOST_PROCESSES	(MANY + 1)
#define MOST_SAMPLES	65536
/* No step takes longer on a kernel that is well, however slow the machine. */
#define PATIENCE_MS	120000

/* A text of limits, as large as the file takes; or one whose last line is wrong. */
#define LINE		DEVICE " max\n"
#define WRONG_LINE	DEVICE " mix\n"
static char text[256 * 1024];
static size_t text_len;

/* Shared by all processes. */
static struct hammer_shared {
	atomic_bool failed;
	char reason[256];	/* of the first process that failed */
	atomic_ulong done[MOST_PROCESSES];
} *shared;

struct hammer_kind {
	const char *name;
	/* What each process does again and again until it is killed; NULL: nothing. */
	void (*act)(unsigned int number);
	unsigned int processes;
	/* What is there before the processes come, and goes after them. */
	void (*set_up)(void);
	void (*clean_up)(void);
	bool is_in_leaf;	/* of the chain, instead of HOME */
};

static pid_t main_pid;
static pid_t pids[MOST_PROCESSES];
static unsigned int nr_pids;
static struct ibv_device *device;
static unsigned int chain_depth;
static int leaf = -1;

static void end_processes(void);

/* Say what went wrong, and end. In a process that hammers, main() says it. */
[[gnu::noreturn, gnu::format(printf, 1, 2)]] static void fail(const char *format, ...)
{
	char reason[sizeof(shared->reason)];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (getpid() != main_pid) {
		if (!atomic_exchange(&shared->failed, true))
			strcpy(shared->reason, reason);
		_exit(1);
	}
	printf("# hammer: %s\n", reason);
	end_processes();
	exit(1);
}

static unsigned long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* Open below @dir, or fail. */
static int must_open(int dir, const char *path, int flags)
{
	int fd = openat(dir, path, flags | O_CLOEXEC);

	if (fd < 0)
		fail("%s: wanted it open, got %m", path);
	return fd;
}

static void must_write(int dir, const char *path, const char *string)
{
	int fd = must_open(dir, path, O_WRONLY);

	if (write(fd, string, strlen(string)) < 0)
		fail("%s: wanted \"%s\" written, got %m", path, string);
	close(fd);
}

static void must_mkdir(int dir, const char *path)
{
	if (mkdirat(dir, path, 0755))
		fail("%s: wanted a new cgroup, got %m", path);
}

/* A cgroup may count as populated for a moment after its last process was reaped. */
static void must_rmdir(int dir, const char *path)
{
	unsigned long long end = now_ns() + PATIENCE_MS * 1000000ULL;

	while (unlinkat(dir, path, AT_REMOVEDIR)) {
		if (errno != EBUSY || now_ns() > end)
			fail("%s: wanted it removed, got %m", path);
		sleep_ms(1);
	}
}

/* A child that begins in the cgroup @dir, or in ours for -1, and ends with its parent. */
static pid_t spawn(int dir)
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
		fail("clone3: wanted a child, got %m");
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
	bool has_ended = end.fd >= 0 && poll(&end, 1, PATIENCE_MS) == 1;

	close(end.fd);
	return has_ended && waitpid(pid, status, 0) == pid;
}

static void must_end(const char *what, pid_t pid)
{
	int status;

	if (!wait_child(pid, &status)) {
		kill(pid, SIGKILL);
		fail("%s: wanted its end within %d s, got none", what, PATIENCE_MS / 1000);
	}
	if (shared->failed)
		fail("%s", shared->reason);
	if (status)
		fail("%s: wanted status 0, got 0x%x", what, status);
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
			fail("process %d: wanted its end within %d s of SIGKILL, got none",
			     pids[i], PATIENCE_MS / 1000);
}

/* What the delegatee does. */

static void act_burn(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		asm volatile("");
}

/* Each call of a process writes to the same file, which it opens once. */
static void write_own(unsigned int number, const char *string, size_t len, int wanted)
{
	static int file = -1;
	char path[64];
	int error;

	if (file < 0) {
		snprintf(path, sizeof(path), TOP "/own%u/rdma.max", number);
		file = must_open(AT_FDCWD, path, O_WRONLY);
	}
	error = write(file, string, len) == (ssize_t)len ? 0 : errno;
	if (error != wanted)
		fail("own%u/rdma.max: wanted %s of %zu bytes, got %s", number,
		     strerrorname_np(wanted), len, strerrorname_np(error));
}

static void act_write(unsigned int number)
{
	write_own(number, text, text_len, 0);
}

static void act_write_wrong(unsigned int number)
{
	write_own(number, text, text_len, EINVAL);
}

static void write_leaf(const char *string)
{
	static int file = -1;

	if (file < 0)
		file = must_open(leaf, "rdma.max", O_WRONLY);
	if (write(file, string, strlen(string)) < 0)
		fail("rdma.max of the leaf: wanted \"%s\" written, got %m", string);
}

static void act_chain_max(unsigned int number)
{
	write_leaf(LINE);
}

static void act_chain_limit(unsigned int number)
{
	write_leaf(DEVICE " hca_object=5\n");
	write_leaf(LINE);
}

static void act_chain_refuse(unsigned int number)
{
	errno = 0;
	if (ibv_open_device(device) || errno != EAGAIN)
		fail("open in the leaf: wanted EAGAIN, got %m");
}

/* Process 0 makes and removes the cgroups that the others write to. */
static void remove_and_make(void)
{
	char path[64];
	unsigned int i;

	for (i = 1; i <= MANY; i++) {
		snprintf(path, sizeof(path), TOP "/own%u", i);
		must_rmdir(AT_FDCWD, path);
	}
	for (i = 1; i <= MANY; i++) {
		snprintf(path, sizeof(path), TOP "/own%u", i);
		must_mkdir(AT_FDCWD, path);
	}
}

/* Write until the cgroup goes. It is not there yet, or no longer, now and then. */
static void write_removed(unsigned int number, const char *const *strings,
			  unsigned int count, size_t len)
{
	unsigned int next = 0;
	char path[64];
	int file;

	snprintf(path, sizeof(path), TOP "/own%u/rdma.max", number);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0) {
		if (errno != ENOENT && errno != ENODEV)
			fail("%s: wanted it open or ENOENT, got %m", path);
		sleep_ms(2);
		return;
	}
	while (write(file, strings[next], len ?: strlen(strings[next])) > 0) {
		shared->done[number]++;
		next = (next + 1) % count;
	}
	if (errno != ENODEV)
		fail("%s: wanted ENODEV after its removal, got %m", path);
	close(file);
}

static void act_removed(unsigned int number)
{
	static const char *const limits[] = { DEVICE " hca_object=5\n", LINE };

	if (number)
		write_removed(number, limits, ARRAY_SIZE(limits), 0);
	else
		remove_and_make();
}

static void act_removed_text(unsigned int number)
{
	const char *all = text;

	if (number)
		write_removed(number, &all, 1, text_len);
	else
		remove_and_make();
}

/* What it needs for that. */

static void make_own(unsigned int first, unsigned int count)
{
	char path[64];

	while (count--) {
		snprintf(path, sizeof(path), TOP "/own%u", first + count);
		must_mkdir(AT_FDCWD, path);
	}
}

/* Some may be gone, if it is they who are removed all the time. */
static void remove_own(void)
{
	char path[64];
	unsigned int i;

	for (i = 0; i <= MANY; i++) {
		snprintf(path, sizeof(path), TOP "/own%u", i);
		if (!access(path, F_OK))
			must_rmdir(AT_FDCWD, path);
	}
}

/* Lines up to @size bytes; whether the file takes them. */
static bool takes_text(const char *path, size_t size)
{
	int file = must_open(AT_FDCWD, path, O_WRONLY);
	ssize_t written;

	text_len = 0;
	while (text_len + strlen(LINE) <= size) {
		memcpy(text + text_len, LINE, strlen(LINE));
		text_len += strlen(LINE);
	}
	written = write(file, text, text_len);
	if (written < 0 && errno != E2BIG)
		fail("%s: wanted %zu bytes written or E2BIG, got %m", path, text_len);
	close(file);
	return written > 0;
}

static void fill_text(const char *path)
{
	if (!takes_text(path, sizeof(text)) && !takes_text(path, 64 * 1024 - 1))
		fail("%s: wanted %zu bytes written, got E2BIG", path, text_len);
}

static void set_up_write(void)
{
	make_own(0, FEW);
	fill_text(TOP "/own0/rdma.max");
}

static void set_up_write_wrong(void)
{
	set_up_write();
	memcpy(text + text_len - strlen(WRONG_LINE), WRONG_LINE, strlen(WRONG_LINE));
}

static void set_up_removed(void)
{
	make_own(1, MANY);
	fill_text(TOP "/own1/rdma.max");
}

/* Deeper than a path is long, so each step begins in the cgroup of the last one. */
static void make_chain(void)
{
	unsigned int level;
	int next;

	must_mkdir(AT_FDCWD, CHAIN);
	leaf = must_open(AT_FDCWD, CHAIN, O_DIRECTORY);
	for (level = 1; level < chain_depth; level++) {
		must_write(leaf, "cgroup.subtree_control", "+rdma");
		must_mkdir(leaf, "c");
		next = must_open(leaf, "c", O_DIRECTORY);
		close(leaf);
		leaf = next;
	}
}

static void make_refusing_chain(void)
{
	make_chain();
	must_write(AT_FDCWD, CHAIN "/rdma.max", DEVICE " hca_handle=0");
}

static void remove_chain(void)
{
	unsigned int level;
	int next;

	for (level = 1; level < chain_depth; level++) {
		next = must_open(leaf, "..", O_DIRECTORY);
		close(leaf);
		leaf = next;
		must_rmdir(leaf, "c");
	}
	close(leaf);
	must_rmdir(AT_FDCWD, CHAIN);
}

static const struct hammer_kind hammer_kinds[] = {
	{ "idle" },
	{ "burn",	act_burn,	FEW },
	{ "burn-many",	act_burn,	MANY + 1 },
	{ "write-max",	act_write,	FEW, set_up_write, remove_own },
	{ "write-wrong", act_write_wrong, FEW, set_up_write_wrong, remove_own },
	{ "chain-max",	act_chain_max,	FEW, make_chain, remove_chain },
	{ "chain-limit", act_chain_limit, FEW, make_chain, remove_chain },
	{ "chain-refuse", act_chain_refuse, FEW, make_refusing_chain, remove_chain,
	  .is_in_leaf = true },
	{ "writers-rmdir", act_removed,	MANY + 1, set_up_removed, remove_own },
	{ "texts-rmdir", act_removed_text, MANY + 1, set_up_removed, remove_own },
};

static void start_processes(const struct hammer_kind *kind)
{
	int home = must_open(AT_FDCWD, HOME, O_DIRECTORY);
	unsigned int i;
	pid_t child;

	for (i = 0; i < kind->processes; i++) {
		child = spawn(kind->is_in_leaf ? leaf : home);
		if (!child) {
			while (1) {
				kind->act(i);
				shared->done[i]++;
			}
		}
		pids[nr_pids++] = child;
	}
	close(home);
}

/* A hammer that does not fall measures nothing: each process has to have done something. */
static void await_processes(const struct hammer_kind *kind)
{
	unsigned long long end = now_ns() + PATIENCE_MS * 1000000ULL;
	unsigned int i = 0;

	while (i < kind->processes) {
		if (shared->failed)
			fail("%s: %s", kind->name, shared->reason);
		if (now_ns() > end)
			fail("%s: wanted something done by process %u in %d s, got nothing",
			     kind->name, i, PATIENCE_MS / 1000);
		if (shared->done[i])
			i++;
		else
			sleep_ms(5);
	}
}

/* What the stranger does. */

enum hammer_op { OPEN, MKDIR, LINK_OP, RENAME, OPS };

static const char *const op_names[] = { "open", "mkdir", "link", "rename" };

static struct hammer_samples {
	unsigned int count;
	unsigned long long ns[MOST_SAMPLES];
} samples[OPS];

static void add_sample(enum hammer_op op, unsigned long long ns)
{
	struct hammer_samples *all = &samples[op];

	if (all->count == MOST_SAMPLES)
		fail("%s: wanted at most %d samples, got more", op_names[op], MOST_SAMPLES);
	all->ns[all->count++] = ns;
}

/* How long it takes to open the device, told through a pipe. */
[[gnu::noreturn]] static void time_open(int out)
{
	unsigned long long begin = now_ns(), ns;
	struct ibv_context *context = ibv_open_device(device);

	ns = now_ns() - begin;
	if (!context)
		fail("stranger's open: wanted " DEVICE ", got %m");
	if (write(out, &ns, sizeof(ns)) != sizeof(ns))
		fail("stranger's pipe: wanted %zu bytes written, got %m", sizeof(ns));
	ibv_close_device(context);
	_exit(0);
}

static void do_open(void)
{
	static unsigned int number;
	unsigned long long ns;
	char path[64];
	int ends[2];
	int dir;
	pid_t child;

	snprintf(path, sizeof(path), STRANGER "-%u", ++number);
	must_mkdir(AT_FDCWD, path);
	dir = must_open(AT_FDCWD, path, O_DIRECTORY);
	if (pipe2(ends, O_CLOEXEC))
		fail("pipe: wanted one, got %m");
	child = spawn(dir);
	if (!child)
		time_open(ends[1]);
	close(ends[1]);
	must_end("stranger's open", child);
	if (read(ends[0], &ns, sizeof(ns)) != sizeof(ns))
		fail("stranger's pipe: wanted %zu bytes, got less", sizeof(ns));
	add_sample(OPEN, ns);
	close(ends[0]);
	close(dir);
	must_rmdir(AT_FDCWD, path);
}

static void do_mkdir(void)
{
	unsigned long long begin = now_ns();

	must_mkdir(AT_FDCWD, STRANGER "-made");
	must_rmdir(AT_FDCWD, STRANGER "-made");
	add_sample(MKDIR, now_ns() - begin);
}

/* The time that the tool "rdma" takes, for that is what an administrator waits for. */
static unsigned long long time_rdma(const char *const *words)
{
	unsigned long long begin = now_ns();
	pid_t child = spawn(-1);

	if (!child) {
		execvp("rdma", (char **)words);
		_exit(127);
	}
	must_end("rdma", child);
	return now_ns() - begin;
}

#define RDMA(...) time_rdma((const char *const []) { "rdma", __VA_ARGS__, NULL })

static void do_link(void)
{
	unsigned long long ns;

	ns = RDMA("link", "add", OTHER, "type", "rxe", "netdev", LINK);
	add_sample(RENAME, RDMA("dev", "set", OTHER, "name", RENAMED));
	ns += RDMA("link", "delete", RENAMED);
	add_sample(LINK_OP, ns);
}

static void measure(const struct hammer_kind *kind, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * 1000000000ULL;
	unsigned int i;

	do {
		for (i = 0; i < 16; i++) {
			do_open();
			do_mkdir();
		}
		do_link();
		if (shared->failed)
			fail("%s: %s", kind->name, shared->reason);
	} while (now_ns() < end);
}

static int compare(const void *a, const void *b)
{
	unsigned long long left = *(const unsigned long long *)a;
	unsigned long long right = *(const unsigned long long *)b;

	return (left > right) - (left < right);
}

static void report(const struct hammer_kind *kind)
{
	unsigned long done = 0;
	unsigned int op, i, count;
	unsigned long long *ns;

	for (i = 0; i < kind->processes; i++)
		done += shared->done[i];
	for (op = 0; op < OPS; op++) {
		ns = samples[op].ns;
		count = samples[op].count;
		qsort(ns, count, sizeof(*ns), compare);
		printf("hammer kind=%s op=%s samples=%u median_us=%llu p99_us=%llu worst_us=%llu blows=%lu\n",
		       kind->name, op_names[op], count, ns[count / 2] / 1000,
		       ns[count * 99 / 100] / 1000, ns[count - 1] / 1000, done);
	}
}

static void find_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), DEVICE))
			device = *list;
	if (!device)
		fail(DEVICE ": wanted an RDMA device, got none");
}

static void enter(const char *cgroup)
{
	int dir = must_open(AT_FDCWD, cgroup, O_DIRECTORY);

	must_write(dir, "cgroup.procs", "0");
	close(dir);
}

static void set_up(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		printf("# hammer: no shared memory: %m\n");
		exit(1);
	}
	main_pid = getpid();
	find_device();
	must_mkdir(AT_FDCWD, TOP);
	must_write(AT_FDCWD, TOP "/cgroup.subtree_control", "+rdma");
	must_mkdir(AT_FDCWD, HOME);
	must_mkdir(AT_FDCWD, STRANGER);
	enter(STRANGER);
}

static void clean_up(void)
{
	enter(ROOT);
	must_rmdir(AT_FDCWD, STRANGER);
	must_rmdir(AT_FDCWD, HOME);
	must_rmdir(AT_FDCWD, TOP);
}

static void hammer(const struct hammer_kind *kind, unsigned int seconds)
{
	if (kind->set_up)
		kind->set_up();
	start_processes(kind);
	await_processes(kind);
	measure(kind, seconds);
	end_processes();
	report(kind);
	if (kind->clean_up)
		kind->clean_up();
}

static const struct hammer_kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hammer_kinds); i++)
		if (!strcmp(hammer_kinds[i].name, name))
			return &hammer_kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct hammer_kind *kind = argc == 4 ? find_kind(argv[1]) : NULL;
	unsigned int seconds;

	if (!kind) {
		fprintf(stderr, "usage: hammer KIND SECONDS CHAIN\n");
		return 2;
	}
	seconds = atoi(argv[2]);
	chain_depth = atoi(argv[3]);
	set_up();
	hammer(kind, seconds);
	clean_up();
	return 0;
}
