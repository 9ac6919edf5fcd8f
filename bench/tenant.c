// SPDX-License-Identifier: GPL-2.0
/*
 * tenant DEVICE THREADS ACTION [ARG...]: a process whose threads repeat an action. The victims and
 * the attackers of all benchmarks are such processes (bench/lib.py).
 *
 * The process opens DEVICE, prints "open", and waits for a line, so that its caller can first set
 * limits. The process prints "ready" when all threads exist and one has completed the action.
 * When standard input ends, the process prints these numbers: the completed actions, the time since
 * "ready" in ns and in ticks of the time stamp counter, and the ticks of each action.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST		1048576
#define STACK		(64 * 1024)
#define LEAVES		1000	/* bench/guest-beside has the same number */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* A context, and an object of each type in it. */
struct verbs {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static const struct action {
	const char *name;
	void (*run)(void);
	void (*prepare)(void);
	void (*finish)(void);
	size_t length;		/* of a registration */
	int errors[2];		/* which a write may return */
} *action;

static struct verbs verbs;
static char memory[1 << 20];
static volatile char spacer[sizeof(memory)];
static char **args;
static unsigned int threads;
static __thread unsigned int number;	/* the number of this thread */

static unsigned long long ticks[MOST];
static atomic_ulong runs;
static atomic_bool has_run;
static pthread_barrier_t all_exist;

/* Unless the call has succeeded, print its name, and end the process. */
static void check(bool succeeded, const char *call)
{
	if (succeeded)
		return;
	fprintf(stderr, "tenant: %s: %m\n", call);
	_exit(1);
}

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	check(qp, "create QP");
	return qp;
}

static void create_verbs(struct verbs *created, struct ibv_device *device)
{
	created->context = ibv_open_device(device);
	check(created->context, "open");
	created->pd = ibv_alloc_pd(created->context);
	check(created->pd, "PD");
	created->cq = ibv_create_cq(created->context, 1, NULL, NULL, 0);
	check(created->cq, "CQ");
	created->qp = create_qp(created->pd, created->cq);
}

static void destroy_verbs(struct verbs *created)
{
	check(!ibv_destroy_qp(created->qp) && !ibv_destroy_cq(created->cq) &&
	      !ibv_dealloc_pd(created->pd) && !ibv_close_device(created->context), "destroy");
}

static void modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, enum ibv_qp_state state,
		      int mask)
{
	attr->qp_state = state;
	check(!ibv_modify_qp(qp, attr, IBV_QP_STATE | mask), "modify QP");
}

static void modify_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	modify_qp(qp, &attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void run_context(void)
{
	struct ibv_context *one = ibv_open_device(verbs.context->device);

	check(one && !ibv_close_device(one), "context");
}

static void run_pd(void)
{
	struct ibv_pd *one = ibv_alloc_pd(verbs.context);

	check(one && !ibv_dealloc_pd(one), "PD");
}

static void run_cq(void)
{
	struct ibv_cq *one = ibv_create_cq(verbs.context, 1, NULL, NULL, 0);

	check(one && !ibv_destroy_cq(one), "CQ");
}

static void run_qp(void)
{
	check(!ibv_destroy_qp(create_qp(verbs.pd, verbs.cq)), "destroy QP");
}

static void run_modify_qp(void)
{
	struct ibv_qp_attr attr = { };

	modify_to_init(verbs.qp);
	modify_qp(verbs.qp, &attr, IBV_QPS_RESET, 0);
}

static void register_memory(struct ibv_pd *pd, size_t length)
{
	struct ibv_mr *one = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	check(one && !ibv_dereg_mr(one), "MR");
}

static void run_mr(void)
{
	register_memory(verbs.pd, action->length);
}

static void run_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *one;

	check(!ibv_query_gid(verbs.context, 1, 0, &attr.grh.dgid), "GID");
	one = ibv_create_ah(verbs.pd, &attr);
	check(one && !ibv_destroy_ah(one), "AH");
}

static void run_refused(void)
{
	errno = 0;
	check(!ibv_alloc_pd(verbs.context) && errno == EAGAIN, "PD, which was to be refused");
}

/* Destroy a PD that does not exist. */
static void run_bogus(void)
{
	struct ibv_pd bogus = *verbs.pd;

	bogus.handle = 0x7ffffff;
	check(ibv_dealloc_pd(&bogus), "PD that does not exist");
}

static void run_burn(void)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		asm volatile("");
}

static void connect_to(struct ibv_qp *qp, struct ibv_qp *other)
{
	struct ibv_qp_attr attr = {
		.path_mtu = IBV_MTU_1024, .dest_qp_num = other->qp_num,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 1,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 1 },
	};

	check(!ibv_query_gid(qp->context, 1, 0, &attr.ah_attr.grh.dgid), "GID");
	modify_to_init(qp);
	modify_qp(qp, &attr, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify_qp(qp, &attr, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/*
 * Create everything that a program needs to send, and connect two QPs. Then destroy all. Without
 * the connection, Husky (NSDI '23) describes this as an attack on the control path, RdmaCtrlTest.
 */
static void run_connect(void)
{
	struct ibv_qp *other;
	struct verbs own;

	create_verbs(&own, verbs.context->device);
	register_memory(own.pd, 4096);
	other = create_qp(own.pd, own.cq);
	connect_to(own.qp, other);
	connect_to(other, own.qp);
	check(!ibv_destroy_qp(other), "destroy QP");
	destroy_verbs(&own);
}

/* Returns 0 in the child, which ends with the thread that forks. */
static pid_t fork_child(void)
{
	pid_t parent = getpid(), child = fork();

	check(child >= 0, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

static void *repeat_pd(void *unused)
{
	while (1)
		run_pd();
	return unused;
}

/*
 * Argument: SIGNAL. Send the signal to a child that creates and destroys PDs, and then kill the
 * child. The child is one of few that share a rate, so it is often the first that waits.
 */
static void run_signal(void)
{
	pid_t child = fork_child();

	if (!child)
		repeat_pd(NULL);
	usleep(10000);
	check(!kill(child, atoi(args[0])), "signal");
	usleep(10000);
	kill(child, SIGKILL);
	check(waitpid(child, NULL, 0) == child, "wait");
}

static int warm;

/* Write a byte after the first time, which includes the page faults of a new process. */
static void *warm_up(void *unused)
{
	run_pd();
	check(write(warm, "", 1) == 1, "pipe");
	return repeat_pd(unused);
}

/* Enter the cgroup and start the threads. */
static void begin_apart(unsigned int in_path)
{
	char path[4096];
	pthread_t thread;
	int i;

	snprintf(path, sizeof(path), args[0], in_path);
	check(write(open(path, O_WRONLY), "0", 1) == 1, path);
	for (i = 1; i < atoi(args[2]); i++)
		check(!pthread_create(&thread, NULL, warm_up, NULL), "thread");
	warm_up(NULL);
}

/*
 * Arguments: PATTERN COUNT THREADS. Let COUNT children create and destroy PDs, each in a cgroup of
 * its own. PATTERN is the file to enter it, in which the number of the child replaces "%u".
 */
static void run_apart(void)
{
	static bool has_begun;
	int i, fds[2];
	char byte;

	if (has_begun)
		pause();
	check(!pipe(fds), "pipe");
	warm = fds[1];
	for (i = 0; i < atoi(args[1]); i++)
		if (!fork_child())
			begin_apart(i);
	for (i = 0; i < atoi(args[1]) * atoi(args[2]); i++)
		check(read(fds[0], &byte, 1) == 1, "child");
	has_begun = true;
}

/* Write the texts in turn to the file PATTERN, in which the number replaces "%u". */
static void write_texts(unsigned int in_path)
{
	static int files[LEAVES];
	int *fd = &files[in_path], error = 0;
	char path[4096], **text;

	snprintf(path, sizeof(path), args[0], in_path);
	/*
	 * Keep the file open. An open takes locks of kernfs, and tenants that open a file in a loop
	 * delay each new cgroup and device, whichever file they open.
	 */
	if (*fd <= 0)
		*fd = open(path, O_WRONLY | O_CLOEXEC);
	for (text = args + 1; *text; text++) {
		error = *fd < 0 || write(*fd, *text, strlen(*text)) < 0 ? errno : 0;
		check(!error || error == action->errors[0] || error == action->errors[1], path);
	}
	/* The cgroup was removed. */
	if (error == ENODEV) {
		close(*fd);
		*fd = -1;
	}
}

/* Arguments: PATTERN TEXT... Write to the file with the number of the thread. */
static void run_write(void)
{
	write_texts(number);
}

/* Arguments: PATTERN TEXT... Write to the next of many files, all of which the first run opens. */
static void run_write_leaves(void)
{
	static unsigned int leaf;

	do {
		leaf = (leaf + 1) % LEAVES;
		write_texts(leaf);
	} while (!has_run && leaf);
}

/*
 * Write to a cgroup that may be removed meanwhile. Then sleep, because hundreds of busy threads
 * would delay all other processes. The sleep is the processor time of the texts, multiplied by the
 * number of threads.
 */
static void run_write_removed(void)
{
	static __thread unsigned long long before;
	unsigned long long now;

	run_write();
	now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* Ignore the first time, which includes the page faults of a new thread. */
	usleep(before ? (now - before) * threads / 1000 : 1000);
	before = now;
}

/* What a writer of a long text does, without the text. */
static void run_burn_removed(void)
{
	int i;

	for (i = 0; i < 50; i++)
		run_burn();
	run_write_removed();
}

/* Arguments: PATTERN COUNT. Remove and create COUNT cgroups. */
static void run_remake(void)
{
	unsigned int i, count = atoi(args[1]);
	char path[4096];

	for (i = 0; i < 2 * count; i++) {
		snprintf(path, sizeof(path), args[0], i % count);
		check(i < count ? !rmdir(path) : !mkdir(path, 0755), path);
	}
}

#ifdef WITH_MPI
static atomic_bool is_last, last_is_sent;

/*
 * Send 64 bytes to the second process of the MPI job, which sends them back.
 * The first byte of the last message is 1.
 */
static void run_mpi(void)
{
	memory[0] = is_last;
	MPI_Send(memory, 64, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	MPI_Recv(memory, 64, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	last_is_sent = memory[0];
	while (last_is_sent)
		pause();
}

static void begin_mpi(void)
{
	int supported, rank;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &supported);
	check(supported >= MPI_THREAD_SERIALIZED, "MPI with threads");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		return;
	for (memory[0] = 0; !memory[0];) {
		MPI_Recv(memory, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(memory, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	exit(0);
}

static void end_mpi(void)
{
	is_last = true;
	while (!last_is_sent)
		usleep(1000);
	MPI_Finalize();
}
#endif

static const struct action actions[] = {
#ifdef WITH_MPI
	{ "mpi", run_mpi, begin_mpi, end_mpi },
#endif
	{ "context", run_context },
	{ "connect", run_connect },
	{ "pd", run_pd },
	{ "cq", run_cq },
	{ "qp", run_qp },
	{ "modify-qp", run_modify_qp },
	{ "mr-4k", run_mr, .length = 4096 },
	{ "mr-1m", run_mr, .length = sizeof(memory) },
	{ "ah", run_ah },
	{ "refused", run_refused },
	{ "bogus", run_bogus },
	{ "signal", run_signal },
	{ "apart", run_apart },
	{ "burn", run_burn },
	{ "write", run_write },
	{ "write-leaves", run_write_leaves },
	{ "write-wrong", run_write, .errors = { EINVAL } },
	{ "write-removed", run_write_removed, .errors = { ENOENT, ENODEV } },
	{ "burn-removed", run_burn_removed, .errors = { ENOENT, ENODEV } },
	{ "remake", run_remake },
};

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			create_verbs(&verbs, list[i]);
	check(verbs.context, name);
	/*
	 * Touch the pages, so that a registration does not allocate them. The pages of @spacer lie
	 * between them. Otherwise the cost of a registration would depend on the number of pages
	 * that happen to lie side by side.
	 */
	for (i = 0; i < (int)sizeof(memory); i += 4096) {
		memory[i] = 1;
		spacer[i] = 1;
	}
	if (action->prepare)
		action->prepare();
}

static void *repeat(void *argument)
{
	unsigned long long start, end;
	unsigned long at;

	number = (uintptr_t)argument;
	/* Running threads would starve the thread that creates the others. */
	pthread_barrier_wait(&all_exist);
	action->run();
	has_run = true;
	while (1) {
		start = __builtin_ia32_rdtsc();
		action->run();
		end = __builtin_ia32_rdtsc();
		at = runs++;
		if (at < MOST)
			ticks[at] = end - start;
	}
	return NULL;
}

static void start_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	uintptr_t i;

	pthread_barrier_init(&all_exist, NULL, threads + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < threads; i++)
		check(!pthread_create(&thread, &attr, repeat, (void *)i), "thread");
	pthread_barrier_wait(&all_exist);
	while (!has_run)
		usleep(1000);
}

int main(int argc, char **argv)
{
	unsigned long long start_ns, start_ticks, ns, elapsed;
	unsigned long done, i;

	for (i = 0; argc > 3 && i < ARRAY_SIZE(actions); i++)
		if (!strcmp(actions[i].name, argv[3]))
			action = &actions[i];
	threads = action ? atoi(argv[2]) : 0;
	if (!threads) {
		fprintf(stderr, "usage: tenant DEVICE THREADS ACTION [ARG...]\n");
		return 2;
	}
	args = argv + 4;
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_device(argv[1]);
	puts("open");
	if (getchar() != '\n')
		return 1;
	start_threads();
	/* A thousand threads must not delay the thread that ends them. */
	setpriority(PRIO_PROCESS, 0, -20);
	runs = 0;
	start_ns = clock_ns(CLOCK_MONOTONIC);
	start_ticks = __builtin_ia32_rdtsc();
	puts("ready");
	if (getchar() != EOF)
		return 1;
	done = runs;
	ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	elapsed = __builtin_ia32_rdtsc() - start_ticks;
	printf("%lu %llu %llu", done, ns, elapsed);
	for (i = 0; i < done && i < MOST; i++)
		printf(" %llu", ticks[i]);
	puts("");
	fflush(stdout);
	if (action->finish)
		action->finish();
	/* Do not wait for the threads, which may wait for a limit. */
	_exit(0);
}
