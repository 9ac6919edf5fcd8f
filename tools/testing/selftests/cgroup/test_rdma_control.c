// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of limits on commands in the RDMA cgroup controller: rates, classes of commands, and
 * waiting processes. The tests need root, one RDMA device, and ip and rdma of iproute2 for a second
 * device.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "rdma_opened.h"

#define RDMACG_WAITERS 1000

/*
 * The timeout of a test in seconds. In a debug kernel on a busy machine, it takes minutes until all
 * RDMACG_WAITERS threads wait, and minutes more until all have ended.
 */
#define RDMACG_TIMEOUT 600

static int rdmacg_limit_control(struct rdmacg_tree *tree, const char *cgroup, const char *limits)
{
	return rdmacg_limit_in(tree, cgroup, "rdma.control.max", limits);
}

static long long rdmacg_stat(struct rdmacg_tree *tree, const char *cgroup, const char *key)
{
	return rdmacg_value(tree, cgroup, "rdma.control.stat", key);
}

static double rdmacg_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Create and destroy a PD @times times, by two commands each time. */
static int rdmacg_churn(struct ibv_context *context, int times)
{
	struct ibv_pd *pd;

	while (times--) {
		pd = ibv_alloc_pd(context);
		if (!pd || ibv_dealloc_pd(pd))
			return -1;
	}
	return 0;
}

/* Count the sleeping threads of a process, except the first thread, which waits for the others. */
static int rdmacg_sleeping(pid_t pid)
{
	char path[NAME_MAX + 64], text[512], *state;
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, entry->d_name);
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == pid ||
		    read_text(path, text, sizeof(text)) <= 0)
			continue;
		state = strrchr(text, ')');
		count += state && (state[2] == 'S' || state[2] == 'D');
	}
	if (dir)
		closedir(dir);
	return count;
}

/*
 * A test shares this struct with its child. The threads of the child create PDs until @is_enough is
 * true.
 */
static struct rdmacg_shared {
	atomic_int ready;
	atomic_bool is_enough;
} *rdmacg_shared;

static void *rdmacg_make_pds(void *context)
{
	/*
	 * Allocate memory before the test begins, because a thread's first allocation waits for
	 * other threads. The test could not distinguish this wait from a wait at the limit.
	 */
	closedir(opendir("/proc"));
	rdmacg_shared->ready++;
	while (!rdmacg_shared->is_enough)
		ibv_alloc_pd(context);
	return NULL;
}

/* Start threads that create PDs. End the child when the last thread has ended. */
static void rdmacg_crowd(struct ibv_context *context)
{
	pthread_t threads[RDMACG_WAITERS];
	int i;

	for (i = 0; i < RDMACG_WAITERS; i++)
		if (pthread_create(&threads[i], NULL, rdmacg_make_pds, context))
			_exit(2);
	for (i = 0; i < RDMACG_WAITERS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* Wait until all threads of the child wait at the limit. Two of them may be executing a command. */
static bool rdmacg_crowd_sleeps(pid_t child)
{
	int tries;

	for (tries = 0; tries < 6; tries++)
		if (RDMACG_WAIT_FOR(rdmacg_shared->ready == RDMACG_WAITERS &&
				    rdmacg_sleeping(child) >= RDMACG_WAITERS - 2))
			return true;
	return false;
}

/*
 * Limit the cgroup @limited to one create command per second. Start a child in "right" whose
 * threads all wait at this limit. Returns -1 if the limit cannot be set, or if a thread does not
 * wait in time.
 */
static pid_t rdmacg_start_crowd(struct rdmacg_tree *tree, const char *limited)
{
	struct ibv_context *context;
	pid_t child;

	rdmacg_shared = mmap(NULL, sizeof(*rdmacg_shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rdmacg_shared == MAP_FAILED || rdmacg_limit_control(tree, limited, "ops=2 burst=2"))
		return -1;
	child = rdmacg_fork();
	if (!child) {
		if (cg_enter_current(tree->right))
			_exit(1);
		context = rdmacg_open(tree);
		if (!context)
			_exit(1);
		rdmacg_crowd(context);
	}
	if (child < 0 || rdmacg_crowd_sleeps(child))
		return child;
	kill(child, SIGKILL);
	rdmacg_wait(child);
	return -1;
}

/*
 * All commands together are never faster than the rate and its burst. One round may be faster, as
 * the rate makes up for an earlier delay. In at least one round, the commands are at most two
 * percent slower than the rate. The machine may be busy in the other rounds.
 */
TEST_F_TIMEOUT(rdmacg_opened, rate_is_kept, RDMACG_TIMEOUT)
{
	struct rdmacg_tree *tree = &self->tree;
	double begin = rdmacg_now(), since, took;
	int round = 0;

	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->left, "ops=200 burst=20"));
	do {
		/* Use up the burst first. */
		ASSERT_EQ(0, rdmacg_churn(self->context, 15));
		since = rdmacg_now();
		ASSERT_EQ(0, rdmacg_churn(self->context, 100));
		took = rdmacg_now() - since;
		TH_LOG("200 commands took %.3f s at 200/s", took);
		/* The burst is 20. A create command counts twice, even if one unit is left. */
		EXPECT_LE(++round * 230, 21 + 200 * (rdmacg_now() - begin));
	} while (took > 1.02 && round < 20);
	EXPECT_GT(1.02, took);
}

/* A destroy command is counted, but does not wait and does not use the rate. */
TEST_F(rdmacg_opened, destroying_takes_nothing)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd[200];
	double since;
	int i;

	for (i = 0; i < 200; i++)
		ASSERT_NE(NULL, pd[i] = ibv_alloc_pd(self->context));
	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->top, "ops=10 burst=1"));
	since = rdmacg_now();
	for (i = 0; i < 200; i++)
		EXPECT_EQ(0, ibv_dealloc_pd(pd[i]));
	EXPECT_LT(rdmacg_now() - since, 2);
	EXPECT_EQ(200, rdmacg_stat(tree, tree->left, "ops"));
	EXPECT_EQ(0, rdmacg_stat(tree, tree->left, "throttled"));
	/* If the destroy commands had used the rate, this command would wait for 20 seconds. */
	since = rdmacg_now();
	EXPECT_EQ(0, rdmacg_churn(self->context, 1));
	EXPECT_LT(rdmacg_now() - since, 1);
}

/*
 * Any kind of system call counts a command once. A query counts only if the driver asks the adapter
 * for the answer, as for the state of a port.
 */
TEST_F(rdmacg_opened, commands_are_counted_once)
{
	struct rdmacg_alloc_async_event alloc;
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	int i, fd, async_fd = -1;

	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->left, "ops=1000000"));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, ibv_query_device(self->context, &attr));
	EXPECT_EQ(0, rdmacg_stat(tree, tree->left, "ops"));
	/* This command uses write(2). */
	fd = rdmacg_open_file(tree);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rdmacg_get_context(fd, &async_fd));
	EXPECT_EQ(1, rdmacg_stat(tree, tree->left, "ops"));
	/* This command has an ioctl method of its own. */
	ASSERT_EQ(0, rdmacg_alloc_async_event(self->context, &alloc));
	EXPECT_EQ(2, rdmacg_stat(tree, tree->left, "ops"));
	/* This command uses the ioctl method that stands for write(2). */
	ASSERT_EQ(0, rdmacg_churn(self->context, 1));
	EXPECT_EQ(4, rdmacg_stat(tree, tree->left, "ops"));
	ASSERT_EQ(0, ibv_query_port(self->context, 1, &port));
	EXPECT_EQ(5, rdmacg_stat(tree, tree->left, "ops"));
	EXPECT_EQ(5, rdmacg_stat(tree, tree->top, "ops"));
	EXPECT_EQ(0, rdmacg_stat(tree, tree->right, "ops"));
	close(alloc.attr.data_s64);
	close(async_fd);
	close(fd);
}

/* The command of a killed process leaves the queue immediately, and no charge is left. */
TEST_F_TIMEOUT(rdmacg_opened, killed_waiters_leave_at_once, RDMACG_TIMEOUT)
{
	struct rdmacg_tree *tree = &self->tree;
	double since;
	pid_t child;

	child = rdmacg_start_crowd(tree, tree->top);
	ASSERT_LT(0, child);
	kill(child, SIGKILL);
	EXPECT_EQ(-1, rdmacg_wait(child));
	/* If the killed threads were still in the queue, this command would wait for a minute. */
	since = rdmacg_now();
	EXPECT_EQ(0, rdmacg_churn(self->context, 1));
	EXPECT_LT(rdmacg_now() - since, 2);
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_handles(tree, tree->right)));
}

static bool rdmacg_is_frozen(const char *cgroup)
{
	return !cg_read_strstr(cgroup, "cgroup.events", "frozen 1");
}

/* Create and destroy PDs with the 20 commands that a rate of 20 allows in a second. */
static double rdmacg_second(struct ibv_context *context)
{
	double since = rdmacg_now();

	return rdmacg_churn(context, 10) ? -1 : rdmacg_now() - since;
}

/*
 * Beside a crowd in another cgroup, a process has half of the rate that both share. It has the
 * whole rate while the crowd is stopped or frozen.
 */
TEST_F_TIMEOUT(rdmacg_opened, crowd_gets_one_turn, RDMACG_TIMEOUT)
{
	struct rdmacg_tree *tree = &self->tree;
	pid_t child;

	child = rdmacg_start_crowd(tree, tree->top);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->top, "ops=20 burst=1"));
	EXPECT_GT(3, rdmacg_second(self->context));
	ASSERT_EQ(0, kill(child, SIGSTOP));
	ASSERT_TRUE(RDMACG_WAIT_FOR(!rdmacg_sleeping(child)));
	EXPECT_GT(1.7, rdmacg_second(self->context));
	ASSERT_EQ(0, kill(child, SIGCONT));
	if (tree->v2) {
		ASSERT_EQ(0, cg_write(tree->right, "cgroup.freeze", "1"));
		ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_is_frozen(tree->right)));
		EXPECT_GT(1.7, rdmacg_second(self->context));
		ASSERT_EQ(0, cg_write(tree->right, "cgroup.freeze", "0"));
	}
	kill(child, SIGKILL);
	EXPECT_EQ(-1, rdmacg_wait(child));
}

static void rdmacg_ignore(int signal)
{
}

/* A process gets its turn even if signals wake it all the time, and none of its calls fails. */
TEST_F_TIMEOUT(rdmacg_opened, signals_cost_no_turn, RDMACG_TIMEOUT)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { };
	struct sigaction action = { .sa_handler = rdmacg_ignore };
	struct rdmacg_tree *tree = &self->tree;
	double since;

	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->left, "ops=10 burst=1"));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	since = rdmacg_now();
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(0, rdmacg_churn(self->context, 6)) TH_LOG("%m");
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	TH_LOG("six in %.1f s", rdmacg_now() - since);
	EXPECT_GT(rdmacg_now() - since, 0.9);
	EXPECT_LT(rdmacg_now() - since, 10);
}

/*
 * Returns the seconds in which RDMACG_WAITERS threads must freeze. Kernels with lockdep, with which
 * kernels with KASAN are built, and kernels with KCSAN are slower.
 */
static double rdmacg_freeze_seconds(void)
{
	return access("/proc/sys/kernel/prove_locking", F_OK) &&
	       access("/sys/module/kcsan", F_OK) ? 2 : 10;
}

/*
 * Waiting processes can be frozen, and continue after that. In at least one round, this takes less
 * than rdmacg_freeze_seconds(). In the other rounds, the kernel's lock for a change of a task's
 * frozen state may be slow: on a busy machine, it delays even 1,000 threads in pause() by seconds.
 */
TEST_F_TIMEOUT(rdmacg_opened, waiters_freeze, RDMACG_TIMEOUT)
{
	struct rdmacg_tree *tree = &self->tree;
	double since, seconds;
	int round = 0;
	pid_t child;

	if (!tree->v2)
		SKIP(return, "v1 has no cgroup.freeze");
	child = rdmacg_start_crowd(tree, tree->top);
	ASSERT_LT(0, child);
	do {
		ASSERT_TRUE(rdmacg_crowd_sleeps(child));
		since = rdmacg_now();
		ASSERT_EQ(0, cg_write(tree->right, "cgroup.freeze", "1"));
		ASSERT_TRUE(RDMACG_WAIT_FOR(rdmacg_is_frozen(tree->right)));
		seconds = rdmacg_now() - since;
		TH_LOG("frozen in %.1f s", seconds);
		ASSERT_EQ(0, cg_write(tree->right, "cgroup.freeze", "0"));
	} while (seconds >= rdmacg_freeze_seconds() && ++round < 5);
	EXPECT_LT(seconds, rdmacg_freeze_seconds());
	rdmacg_shared->is_enough = true;
	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->top, "max"));
	EXPECT_EQ(0, rdmacg_wait(child));
}

/* Waiting processes do not prevent a suspend of the machine, which freezes all processes. */
TEST_F_TIMEOUT(rdmacg_opened, waiters_let_the_machine_sleep, RDMACG_TIMEOUT)
{
	struct rdmacg_tree *tree = &self->tree;
	double since, seconds;
	pid_t child;

	if (access("/sys/power/pm_test", W_OK))
		SKIP(return, "needs CONFIG_PM_SLEEP_DEBUG");
	child = rdmacg_start_crowd(tree, tree->top);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, cg_write("/sys/module/suspend/parameters", "pm_test_delay", "0"));
	ASSERT_EQ(0, cg_write("/sys/power", "pm_test", "freezer"));
	since = rdmacg_now();
	EXPECT_EQ(0, cg_write("/sys/power", "state", "freeze"));
	seconds = rdmacg_now() - since;
	TH_LOG("asleep and awake in %.1f s", seconds);
	EXPECT_LT(seconds, rdmacg_freeze_seconds());
	EXPECT_EQ(0, cg_write("/sys/power", "pm_test", "none"));
	rdmacg_shared->is_enough = true;
	ASSERT_EQ(0, rdmacg_limit_control(tree, tree->top, "max"));
	EXPECT_EQ(0, rdmacg_wait(child));
}

/* The removal of a device does not wait until limits let the waiting commands begin. */
TEST_F_TIMEOUT(rdmacg_opened, removed_device_ends_the_waits, RDMACG_TIMEOUT)
{
	struct rdmacg_tree second = self->tree;
	double since;
	pid_t child;

	ASSERT_TRUE(rdmacg_add_link() && rdmacg_add_device(second.type));
	snprintf(second.device, sizeof(second.device), RDMACG_SECOND);
	child = rdmacg_start_crowd(&second, second.top);
	ASSERT_LT(0, child);
	rdmacg_shared->is_enough = true;
	since = rdmacg_now();
	EXPECT_TRUE(rdmacg_remove_device());
	EXPECT_EQ(0, rdmacg_wait(child));
	TH_LOG("%.1f s after the device", rdmacg_now() - since);
	EXPECT_TRUE(RDMACG_WAIT_FOR(!strstr(rdmacg_read(second.root, "rdma.capacity"),
					    RDMACG_SECOND)));
	/*
	 * The limit lets one command begin per second, the last after 1,000 s. On a busy machine,
	 * 1,000 threads that wait for nothing can take 60 s to end under User-Mode Linux.
	 */
	EXPECT_LT(rdmacg_now() - since, 300);
	EXPECT_TRUE(rdmacg_remove_link());
}

TEST_HARNESS_MAIN
