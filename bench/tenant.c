// SPDX-License-Identifier: GPL-2.0
/*
 * tenant DEVICE THREADS ACTION [ARG...]: a process whose threads repeat an action. The victims and
 * the attackers of all benchmarks are such processes (bench/lib.py).
 *
 * The process opens DEVICE, prints "open", and waits for a line, so that its caller can first set
 * limits. The process prints "ready" when all threads exist, and a thread has completed the action.
 * When standard input ends, the process prints:
 *
 *	runs	completed actions
 *	rate	completed actions in a second
 *	p50...	percentiles of their times, in ns
 *	ticks	the least ticks of the time stamp counter for an action; on a machine whose clock
 *		counts instructions, ticks are instructions
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/rds.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../tools/testing/selftests/cgroup/rdma_smc_util.h"

#ifndef AF_RDS
#define AF_RDS 21
#endif

#define MOST		1048576
#define BLOCK		65536
#define DEPTH		16
#define MESSAGE		8192
#define PORT		4712
#define STACK		(64 * 1024)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct verbs {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;		/* completion events of the CQ go to @channel */
	struct ibv_qp *qp;
};

static struct verbs verbs;
static char memory[1 << 20];
static char **args;
static unsigned int threads;
static __thread unsigned int number;	/* the number of this thread */

static unsigned long long ticks[MOST];
static atomic_ulong runs;
static atomic_bool has_run;
static pthread_barrier_t all_exist;

/* Print the call that failed, and end the process. */
[[gnu::noreturn]] static void die(const char *what)
{
	fprintf(stderr, "tenant: %s: %m\n", what);
	_exit(1);
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct ibv_qp *create_qp(const struct verbs *in, int depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = in->cq,
		.recv_cq = in->cq,
		.cap = {
			.max_send_wr = depth, .max_recv_wr = depth,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(in->pd, &init);

	if (!qp)
		die("create QP");
	return qp;
}

static void modify_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("modify QP to INIT");
}

static void run_context(void)
{
	struct ibv_context *one = ibv_open_device(verbs.context->device);

	if (!one || ibv_close_device(one))
		die("context");
}

static void run_pd(void)
{
	struct ibv_pd *one = ibv_alloc_pd(verbs.context);

	if (!one || ibv_dealloc_pd(one))
		die("PD");
}

static void run_cq(void)
{
	struct ibv_cq *one = ibv_create_cq(verbs.context, 1, NULL, NULL, 0);

	if (!one || ibv_destroy_cq(one))
		die("CQ");
}

static void run_qp(void)
{
	if (ibv_destroy_qp(create_qp(&verbs, 1)))
		die("destroy QP");
}

static void run_modify_qp(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	modify_to_init(verbs.qp);
	if (ibv_modify_qp(verbs.qp, &attr, IBV_QP_STATE))
		die("modify QP to RESET");
}

static void register_memory(struct ibv_pd *pd, size_t length)
{
	struct ibv_mr *one = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	if (!one || ibv_dereg_mr(one))
		die("MR");
}

static void run_mr_4k(void)
{
	register_memory(verbs.pd, 4096);
}

static void run_mr_1m(void)
{
	register_memory(verbs.pd, sizeof(memory));
}

static void run_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *one;

	if (ibv_query_gid(verbs.context, 1, 0, &attr.grh.dgid))
		die("GID");
	one = ibv_create_ah(verbs.pd, &attr);
	if (!one || ibv_destroy_ah(one))
		die("AH");
}

/*
 * Create everything that a program needs to send: a context and one object of each type. Then
 * destroy these objects. Husky (NSDI '23) describes this attack on the control path as
 * RdmaCtrlTest.
 */
static void run_program(void)
{
	struct verbs own = { .context = ibv_open_device(verbs.context->device) };

	own.pd = own.context ? ibv_alloc_pd(own.context) : NULL;
	own.cq = own.pd ? ibv_create_cq(own.context, 16, NULL, NULL, 0) : NULL;
	if (!own.cq)
		die("program");
	own.qp = create_qp(&own, 1);
	register_memory(own.pd, 4096);
	if (ibv_destroy_qp(own.qp) || ibv_destroy_cq(own.cq) || ibv_dealloc_pd(own.pd) ||
	    ibv_close_device(own.context))
		die("program");
}

/* Run each kind of command in turn, except commands that open a context. */
static void run_all(void)
{
	static void (*const kinds[])(void) = {
		run_pd, run_cq, run_qp, run_modify_qp, run_mr_4k, run_mr_1m, run_ah,
	};
	static __thread unsigned int next;

	kinds[next++ % ARRAY_SIZE(kinds)]();
}

static void run_refused(void)
{
	errno = 0;
	if (ibv_alloc_pd(verbs.context) || errno != EAGAIN)
		die("PD, which was to be refused");
}

/* Destroy a PD that does not exist. */
static void run_bogus(void)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_dealloc_pd command;
	} request = {
		.header = {
			.command = IB_USER_VERBS_CMD_DEALLOC_PD,
			.in_words = sizeof(request) / 4,
		},
		.command.pd_handle = 0x7ffffff,
	};

	if (write(verbs.context->cmd_fd, &request, sizeof(request)) > 0)
		die("a PD that does not exist was destroyed");
}

static void run_burn(void)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		asm volatile("");
}

/* Two connected QPs, and the MR of their messages. */
static struct ibv_qp *ends[2];
static struct ibv_mr *mr;

static void connect_to(struct ibv_qp *qp, struct ibv_qp *other)
{
	struct ibv_qp_attr attr = {
		.path_mtu = IBV_MTU_1024, .dest_qp_num = other->qp_num,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 1,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 1 },
	};

	if (ibv_query_gid(qp->context, 1, 0, &attr.ah_attr.grh.dgid))
		die("GID");
	modify_to_init(qp);
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("modify QP to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("modify QP to RTS");
}

static void connect_ends(void)
{
	int i;

	for (i = 0; i < 2; i++)
		ends[i] = create_qp(&verbs, DEPTH);
	for (i = 0; i < 2; i++)
		connect_to(ends[i], ends[!i]);
	mr = ibv_reg_mr(verbs.pd, memory, BLOCK, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr || ibv_req_notify_cq(verbs.cq, 0))
		die("MR of the messages");
}

/* Wait for a completion. Sleep, because polling would take the processor from rxe. */
static void complete(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int got;

	while (!(got = ibv_poll_cq(verbs.cq, 1, &wc))) {
		if (ibv_get_cq_event(verbs.channel, &cq, &context))
			die("event");
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			die("notify");
	}
	if (got < 0 || wc.status)
		die("completion");
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, int length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory, .length = length, .lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)memory, .rkey = mr->rkey },
	};

	if (ibv_post_send(qp, &wr, &bad))
		die("send");
}

/* Send 64 bytes to each end, one after the other. */
static void run_pingpong(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	int to;

	for (to = 1; to >= 0; to--) {
		if (ibv_post_recv(ends[to], &wr, &bad))
			die("receive");
		post(ends[!to], IBV_WR_SEND, 64);
		/* Wait for the completions of the send and of the receive. */
		complete();
		complete();
	}
}

static void begin_blocks(void)
{
	int i;

	connect_ends();
	for (i = 0; i < DEPTH; i++)
		post(ends[0], IBV_WR_RDMA_WRITE, BLOCK);
}

/* Wait until one of 16 RDMA writes of 64 KiB is complete, and post the next one. */
static void run_block(void)
{
	complete();
	post(ends[0], IBV_WR_RDMA_WRITE, BLOCK);
}

/* Copy @pattern to @path, with @at instead of a "@". */
static void expand(char *path, size_t size, const char *pattern, unsigned int at)
{
	const char *mark = strchr(pattern, '@');

	if (mark)
		snprintf(path, size, "%.*s%u%s", (int)(mark - pattern), pattern, at, mark + 1);
	else
		snprintf(path, size, "%s", pattern);
}

/*
 * Arguments: PATTERN TEXT... Write the texts in turn to the file PATTERN, in which the number of
 * the thread replaces a "@". The error must be @wanted; 0 means no error.
 */
static void write_texts(int wanted)
{
	static __thread int fd = -1;
	char path[4096], **text;
	int error;

	expand(path, sizeof(path), args[0], number);
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	for (text = args + 1; *text; text++) {
		error = write(fd, *text, strlen(*text)) < 0 ? errno : 0;
		if (error != wanted) {
			errno = error;
			die(path);
		}
	}
}

static void run_write(void)
{
	write_texts(0);
}

static void run_write_wrong(void)
{
	write_texts(EINVAL);
}

/*
 * Open the file for each text, because its cgroup may be removed meanwhile. After its texts, each
 * thread sleeps, because hundreds of busy threads would delay all other processes. The sleep is the
 * processor time of the texts, multiplied by the number of threads.
 */
static void run_write_removed(void)
{
	struct timespec used;
	static __thread unsigned long long last;
	unsigned long long ns;
	char path[4096], **text;
	int fd;

	expand(path, sizeof(path), args[0], number);
	for (text = args + 1; *text; text++) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT && errno != ENODEV)
			die(path);
		if (fd >= 0 && write(fd, *text, strlen(*text)) < 0 && errno != ENODEV)
			die(path);
		if (fd >= 0)
			close(fd);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	ns = used.tv_sec * 1000000000ULL + used.tv_nsec;
	/* Ignore the first time, which includes the page faults of a new thread. */
	usleep(last ? (ns - last) * threads / 1000 : 1000);
	last = ns;
}

/* Arguments: PATTERN COUNT. Remove and create COUNT cgroups. */
static void run_remake(void)
{
	unsigned int i, count = atoi(args[1]);
	char path[4096];

	for (i = 0; i < count; i++) {
		expand(path, sizeof(path), args[0], i);
		if (rmdir(path))
			die(path);
	}
	for (i = 0; i < count; i++) {
		expand(path, sizeof(path), args[0], i);
		if (mkdir(path, 0755))
			die(path);
	}
}

/* The socket, which sends messages to itself, and its address. */
static int messages;
static struct sockaddr_in own = { .sin_family = AF_INET };

static void *receive(void *listener)
{
	static char buffer[MESSAGE];
	int fd = accept(*(int *)listener, NULL, NULL);

	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	die("SMC: read");
}

/* Arguments: ADDRESS DEVICE. Connect over SMC-R, as soon as SMC uses the device of the address. */
static void connect_smc(void)
{
	static int listener, one = 1;
	pthread_t thread;

	/* Wait for SMC's worker, which handles a new device later than other users. */
	while (!rdmacg_smc_sees(args[1]))
		usleep(10000);
	listener = socket(AF_SMC, SOCK_STREAM, 0);
	messages = socket(AF_SMC, SOCK_STREAM, 0);
	inet_pton(AF_INET, args[0], &own.sin_addr);
	own.sin_port = htons(PORT);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!rdmacg_add_eid() || bind(listener, (void *)&own, sizeof(own)) || listen(listener, 1) ||
	    pthread_create(&thread, NULL, receive, &listener) ||
	    connect(messages, (void *)&own, sizeof(own)))
		die("SMC: connect");
	if (rdmacg_smc_sockets(0).smcr < 2)
		die("SMC: a connection over TCP");
}

static void run_smc(void)
{
	if (write(messages, memory, MESSAGE) != MESSAGE)
		die("SMC: send");
}

/* Arguments: ADDRESS TOS. Each type of service (TOS) has its own connection. */
static void bind_rds(void)
{
	unsigned char tos = atoi(args[1]);

	messages = socket(AF_RDS, SOCK_SEQPACKET, 0);
	inet_pton(AF_INET, args[0], &own.sin_addr);
	own.sin_port = htons(PORT);
	if (bind(messages, (void *)&own, sizeof(own)) || ioctl(messages, SIOCRDSSETTOS, &tos))
		die("RDS: bind");
}

static void run_rds(void)
{
	if (sendto(messages, memory, MESSAGE, 0, (void *)&own, sizeof(own)) != MESSAGE ||
	    recv(messages, memory, MESSAGE, 0) != MESSAGE)
		die("RDS: send and receive");
}

static const struct action {
	const char *name;
	void (*run)(void);
	void (*prepare)(void);
} actions[] = {
	{ "context", run_context },
	{ "program", run_program },
	{ "pd", run_pd },
	{ "cq", run_cq },
	{ "qp", run_qp },
	{ "modify-qp", run_modify_qp },
	{ "mr-4k", run_mr_4k },
	{ "mr-1m", run_mr_1m },
	{ "ah", run_ah },
	{ "all", run_all },
	{ "refused", run_refused },
	{ "bogus", run_bogus },
	{ "burn", run_burn },
	{ "pingpong", run_pingpong, connect_ends },
	{ "block", run_block, begin_blocks },
	{ "smc", run_smc, connect_smc },
	{ "rds", run_rds, bind_rds },
	{ "write", run_write },
	{ "write-wrong", run_write_wrong },
	{ "write-removed", run_write_removed },
	{ "remake", run_remake },
};

static const struct action *action;

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			verbs.context = ibv_open_device(list[i]);
	verbs.pd = verbs.context ? ibv_alloc_pd(verbs.context) : NULL;
	verbs.channel = verbs.pd ? ibv_create_comp_channel(verbs.context) : NULL;
	verbs.cq = verbs.channel ?
		   ibv_create_cq(verbs.context, 256, NULL, verbs.channel, 0) : NULL;
	if (!verbs.cq)
		die(name);
	verbs.qp = create_qp(&verbs, 1);
	/* Touch the pages, so that a registration does not allocate them. */
	memset(memory, 1, sizeof(memory));
	if (action->prepare)
		action->prepare();
}

static void *repeat(void *argument)
{
	unsigned long long start, end;
	unsigned long at;

	number = (uintptr_t)argument;
	/*
	 * Wait until all threads exist, because running threads would starve the thread that
	 * creates them.
	 */
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
		if (pthread_create(&thread, &attr, repeat, (void *)i))
			die("thread");
	pthread_barrier_wait(&all_exist);
	while (!has_run)
		usleep(1000);
}

static int compare(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

static void print_figures(unsigned long done, unsigned long long ns, double ns_per_tick)
{
	static const struct {
		const char *name;
		unsigned int of;	/* one sample in @of is longer than the percentile */
	} ranks[] = {
		{ "p50", 2 }, { "p75", 4 }, { "p99", 100 }, { "p999", 1000 }, { "worst", -1u },
	};
	unsigned long count = done < MOST ? done : MOST;
	unsigned int i;

	printf("runs=%lu rate=%.1f", done, done * 1e9 / ns);
	qsort(ticks, count, sizeof(ticks[0]), compare);
	for (i = 0; count && i < ARRAY_SIZE(ranks); i++)
		printf(" %s=%.0f", ranks[i].name,
		       ticks[count - 1 - count / ranks[i].of] * ns_per_tick);
	printf(" ticks=%llu\n", count ? ticks[0] : 0);
}

int main(int argc, char **argv)
{
	unsigned long long start_ns, start_ticks, ns, elapsed;
	unsigned long before;
	unsigned int i;

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
	before = runs;
	start_ns = now_ns();
	start_ticks = __builtin_ia32_rdtsc();
	puts("ready");
	if (getchar() != EOF)
		return 1;
	ns = now_ns() - start_ns;
	elapsed = __builtin_ia32_rdtsc() - start_ticks;
	print_figures(runs - before, ns, (double)ns / elapsed);
	fflush(stdout);
	/* Do not wait for the threads, which may wait for a limit. */
	_exit(0);
}
