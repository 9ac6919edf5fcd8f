// SPDX-License-Identifier: GPL-2.0
/*
 * neighbours_bench DEVICE attack KIND THREADS CGROUP: run THREADS threads in CGROUP. The threads
 * issue commands without pause: pairs of KIND (verbs.c); or for "all", each kind in turn that opens
 * no context. Prints "ready" when the threads run, and "commands=N ns=N" at SIGTERM.
 * neighbours_bench DEVICE create MS: time to register and deregister 4 KiB.
 * neighbours_bench DEVICE pingpong MS: round-trip time of a message between two QPs.
 * neighbours_bench DEVICE write MS: throughput of writes of 64 KiB, with 16 writes in flight.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

#define MOST 1000000
/* Until a burst is used up, and before a neighbour's figures count. */
#define WARM_NS 300000000ll
#define BLOCK 65536
#define DEPTH 16

static const char *device;
static char memory[BLOCK];

struct attacker {
	struct bench_verbs verbs;
	const struct bench_pair *only;		/* NULL: all in turn */
	long long pairs;
};

static void *attack(void *argument)
{
	const struct bench_pair *pair = &bench_pairs[BENCH_FIRST_INSIDE];
	struct attacker *attacker = argument;

	while (1) {
		(attacker->only ?: pair)->run(&attacker->verbs);
		__atomic_add_fetch(&attacker->pairs, 1, __ATOMIC_RELAXED);
		if (!(++pair)->name)
			pair = &bench_pairs[BENCH_FIRST_INSIDE];
	}
	return NULL;
}

static void enter(const char *cgroup)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "w");
	if (!file || fputs("0", file) < 0 || fclose(file))
		bench_die(path);
}

/* The controller's count, which exists only with limits; otherwise 0. */
static long long read_stat(const char *cgroup)
{
	char path[4096], name[64];
	long long ops, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/rdma.control.stat", cgroup);
	file = fopen(path, "r");
	if (!file)
		bench_die(path);
	while (fscanf(file, "%63s ops=%lld%*[^\n]", name, &ops) == 2)
		if (!strcmp(name, device))
			found = ops;
	fclose(file);
	return found;
}

/* Without limits, count the commands of the completed pairs. */
static long long count(const char *cgroup, const struct attacker *attackers, int threads)
{
	long long commands = read_stat(cgroup);
	int i;

	if (commands)
		return commands;
	for (i = 0; i < threads; i++)
		commands += __atomic_load_n(&attackers[i].pairs, __ATOMIC_RELAXED) *
			    (attackers[i].only && attackers[i].only->commands ?
			     attackers[i].only->commands : 2);
	return commands;
}

static void attack_in(const char *cgroup, const char *kind, int threads)
{
	struct attacker *attackers = calloc(threads, sizeof(*attackers));
	const struct bench_pair *pair = bench_pairs;
	long long commands, since;
	pthread_t thread;
	sigset_t term;
	int i, got;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	while (pair->name && strcmp(pair->name, kind))
		pair++;
	if (!pair->name && strcmp(kind, "all"))
		bench_die(kind);
	for (i = 0; i < threads; i++) {
		attackers[i].only = pair->name ? pair : NULL;
		bench_open(&attackers[i].verbs, device);
	}
	enter(cgroup);
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, attack, &attackers[i]))
			bench_die("thread");
	usleep(WARM_NS / 1000);
	puts("ready");
	fflush(stdout);
	commands = count(cgroup, attackers, threads);
	since = bench_now();
	sigwait(&term, &got);
	commands = count(cgroup, attackers, threads) - commands;
	printf("commands=%lld ns=%lld\n", commands, bench_now() - since);
}

static void print_samples(long long *samples, int count)
{
	long long p50 = bench_percentile(samples, count, 2);

	/* They are sorted now. */
	printf("samples=%d p50=%lld p99=%lld p999=%lld worst=%lld\n", count, p50,
	       bench_percentile(samples, count, 100), bench_percentile(samples, count, 1000),
	       samples[count - 1]);
}

/* Time each operation for @ns. */
static void sample(struct bench_verbs *verbs, void (*run)(struct bench_verbs *verbs), long long ns)
{
	static long long samples[MOST];
	long long end = bench_now() + ns, start, now = 0;
	int count = 0;

	while (count < MOST && now < end) {
		start = bench_now();
		run(verbs);
		now = bench_now();
		samples[count++] = now - start;
	}
	print_samples(samples, count);
}

static void create(struct bench_verbs *verbs)
{
	struct ibv_mr *mr = ibv_reg_mr(verbs->pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);

	if (!mr || ibv_dereg_mr(mr))
		bench_die("mr");
}

/* Two connected QPs, and their messages. */
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
		bench_die("gid");
	bench_modify_to_init(qp);
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		bench_die("to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		bench_die("to RTS");
}

static void connect_ends(struct bench_verbs *verbs)
{
	int i;

	for (i = 0; i < 2; i++)
		ends[i] = bench_create_qp(verbs, DEPTH);
	for (i = 0; i < 2; i++)
		connect_to(ends[i], ends[!i]);
	mr = ibv_reg_mr(verbs->pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr || ibv_req_notify_cq(verbs->cq, 0))
		bench_die("mr");
}

/* The next completion. Sleep, because polling would take the processor from rxe. */
static enum ibv_wc_opcode complete(struct bench_verbs *verbs)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int got;

	while (!(got = ibv_poll_cq(verbs->cq, 1, &wc))) {
		if (ibv_get_cq_event(verbs->channel, &cq, &context))
			bench_die("event");
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			bench_die("notify");
	}
	if (got < 0 || wc.status) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
	return wc.opcode;
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
		bench_die("send");
}

static void send_to(struct bench_verbs *verbs, int end)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	int i;

	if (ibv_post_recv(ends[end], &wr, &bad))
		bench_die("receive");
	post(ends[!end], IBV_WR_SEND, 64);
	/* The completions of the send and of the receive. */
	for (i = 0; i < 2; i++)
		complete(verbs);
}

static void pingpong(struct bench_verbs *verbs)
{
	send_to(verbs, 1);
	send_to(verbs, 0);
}

static void write_blocks(struct bench_verbs *verbs, long long ns)
{
	long long start = bench_now(), now, blocks = 0;
	int i;

	for (i = 0; i < DEPTH; i++)
		post(ends[0], IBV_WR_RDMA_WRITE, BLOCK);
	do {
		complete(verbs);
		blocks++;
		post(ends[0], IBV_WR_RDMA_WRITE, BLOCK);
		now = bench_now();
	} while (now - start < ns);
	printf("bytes_per_s=%lld\n", blocks * BLOCK * 1000 / ((now - start) / 1000000));
}

int main(int argc, char **argv)
{
	struct bench_verbs verbs;
	long long ns;

	device = argc > 2 ? argv[1] : NULL;
	if (argc == 6 && !strcmp(argv[2], "attack") && atoi(argv[4]) > 0) {
		attack_in(argv[5], argv[3], atoi(argv[4]));
		return 0;
	}
	ns = argc == 4 ? atoll(argv[3]) * 1000000 : 0;
	if (ns <= 0) {
		fprintf(stderr, "usage: neighbours_bench DEVICE create|pingpong|write MS,\n"
			"or neighbours_bench DEVICE attack KIND THREADS CGROUP\n");
		return 2;
	}
	bench_open(&verbs, device);
	memset(memory, 1, sizeof(memory));
	if (!strcmp(argv[2], "create")) {
		sample(&verbs, create, ns);
		return 0;
	}
	connect_ends(&verbs);
	if (!strcmp(argv[2], "pingpong"))
		sample(&verbs, pingpong, ns);
	else
		write_blocks(&verbs, ns);
	return 0;
}
