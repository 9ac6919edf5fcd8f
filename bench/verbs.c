// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs.h"

static char memory[1 << 20];

void bench_die(const char *what)
{
	perror(what);
	exit(1);
}

long long bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

long long bench_percentile(long long *samples, int count, int of)
{
	qsort(samples, count, sizeof(samples[0]), compare);
	return samples[count - 1 - count / of];
}

struct ibv_qp *bench_create_qp(struct bench_verbs *verbs, int depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = verbs->cq,
		.recv_cq = verbs->cq,
		.cap = {
			.max_send_wr = depth, .max_recv_wr = depth,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(verbs->pd, &init);

	if (!qp)
		bench_die("qp");
	return qp;
}

void bench_modify_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		bench_die("modify");
}

static void pair_context(struct bench_verbs *verbs)
{
	struct ibv_context *one = ibv_open_device(verbs->context->device);

	if (!one || ibv_close_device(one))
		bench_die("context");
}

static void pair_pd(struct bench_verbs *verbs)
{
	struct ibv_pd *one = ibv_alloc_pd(verbs->context);

	if (!one || ibv_dealloc_pd(one))
		bench_die("pd");
}

static void pair_cq(struct bench_verbs *verbs)
{
	struct ibv_cq *one = ibv_create_cq(verbs->context, 1, NULL, NULL, 0);

	if (!one || ibv_destroy_cq(one))
		bench_die("cq");
}

static void pair_qp(struct bench_verbs *verbs)
{
	if (ibv_destroy_qp(bench_create_qp(verbs, 1)))
		bench_die("qp");
}

static void pair_modify(struct bench_verbs *verbs)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	bench_modify_to_init(verbs->qp);
	if (ibv_modify_qp(verbs->qp, &attr, IBV_QP_STATE))
		bench_die("modify");
}

static void pair_mr(struct bench_verbs *verbs, size_t length)
{
	struct ibv_mr *one = ibv_reg_mr(verbs->pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	if (!one || ibv_dereg_mr(one))
		bench_die("mr");
}

static void pair_mr_4k(struct bench_verbs *verbs)
{
	pair_mr(verbs, 4096);
}

static void pair_mr_1m(struct bench_verbs *verbs)
{
	pair_mr(verbs, sizeof(memory));
}

static void pair_ah(struct bench_verbs *verbs)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *one;

	if (ibv_query_gid(verbs->context, 1, 0, &attr.grh.dgid))
		bench_die("gid");
	one = ibv_create_ah(verbs->pd, &attr);
	if (!one || ibv_destroy_ah(one))
		bench_die("ah");
}

/*
 * The setup of a program before it can send: a context with one object of each type, and the
 * cleanup. Threads that do nothing else are the attack on the control path that Husky (NSDI '23)
 * calls RdmaCtrlTest.
 */
static void pair_program(struct bench_verbs *verbs)
{
	struct bench_verbs own = { .context = ibv_open_device(verbs->context->device) };
	struct ibv_mr *mr;

	own.pd = own.context ? ibv_alloc_pd(own.context) : NULL;
	own.cq = own.pd ? ibv_create_cq(own.context, 16, NULL, NULL, 0) : NULL;
	if (!own.cq)
		bench_die("program");
	own.qp = bench_create_qp(&own, 1);
	mr = ibv_reg_mr(own.pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	if (!mr || ibv_dereg_mr(mr) || ibv_destroy_qp(own.qp) || ibv_destroy_cq(own.cq) ||
	    ibv_dealloc_pd(own.pd) || ibv_close_device(own.context))
		bench_die("program");
}

const struct bench_pair bench_pairs[] = {
	{ "context", pair_context },
	{ "program", pair_program, .commands = 9 },
	{ "pd", pair_pd },
	{ "cq", pair_cq },
	{ "qp", pair_qp },
	{ "modify-qp", pair_modify },
	{ "mr-4k", pair_mr_4k },
	{ "mr-1m", pair_mr_1m },
	{ "ah", pair_ah },
	{ }
};

void bench_open(struct bench_verbs *verbs, const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	verbs->context = NULL;
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			verbs->context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	verbs->pd = verbs->context ? ibv_alloc_pd(verbs->context) : NULL;
	verbs->channel = verbs->pd ? ibv_create_comp_channel(verbs->context) : NULL;
	verbs->cq = verbs->channel ?
		    ibv_create_cq(verbs->context, 256, NULL, verbs->channel, 0) : NULL;
	if (!verbs->cq)
		bench_die(device);
	verbs->qp = bench_create_qp(verbs, 1);
	/* Touch the pages, so that registering allocates none. */
	memset(memory, 1, sizeof(memory));
}
