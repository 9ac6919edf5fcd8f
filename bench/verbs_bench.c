// SPDX-License-Identifier: GPL-2.0
/*
 * verbs_bench DEVICE MS: how long it takes to create and destroy one object of
 * each type through libibverbs, and to open and close the device. Prints
 * "verbs/TYPE ps=..." each, the median of short runs within MS milliseconds.
 * Kernels differ in what they charge; all the rest is system calls, core and driver.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 20
#define MOST 100000

static struct ibv_device *device;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char memory[1 << 20];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pair_context(void)
{
	struct ibv_context *one = ibv_open_device(device);

	if (!one || ibv_close_device(one))
		die("context");
}

static void pair_pd(void)
{
	struct ibv_pd *one = ibv_alloc_pd(context);

	if (!one || ibv_dealloc_pd(one))
		die("pd");
}

static void pair_cq(void)
{
	struct ibv_cq *one = ibv_create_cq(context, 1, NULL, NULL, 0);

	if (!one || ibv_destroy_cq(one))
		die("cq");
}

static void pair_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *one = ibv_create_qp(pd, &init);

	if (!one || ibv_destroy_qp(one))
		die("qp");
}

static void pair_mr(size_t length)
{
	struct ibv_mr *one = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE);

	if (!one || ibv_dereg_mr(one))
		die("mr");
}

static void pair_mr_4k(void)
{
	pair_mr(4096);
}

static void pair_mr_1m(void)
{
	pair_mr(sizeof(memory));
}

static void pair_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *one;

	if (ibv_query_gid(context, 1, 0, &attr.grh.dgid))
		die("gid");
	one = ibv_create_ah(pd, &attr);
	if (!one || ibv_destroy_ah(one))
		die("ah");
}

static const struct type {
	const char *name;
	void (*pair)(void);
} types[] = {
	{ "context", pair_context },
	{ "pd", pair_pd },
	{ "cq", pair_cq },
	{ "qp", pair_qp },
	{ "mr-4k", pair_mr_4k },
	{ "mr-1m", pair_mr_1m },
	{ "ah", pair_ah },
	{ }
};

static long long now(void)
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

static void measure(const char *name, void (*pair)(void), long long ns)
{
	static long long runs[MOST];
	long long start, end;
	int count = 0, i;

	for (i = 0; i < BATCH; i++)
		pair();
	end = now() + ns;
	do {
		start = now();
		for (i = 0; i < BATCH; i++)
			pair();
		runs[count++] = now() - start;
	} while (count < MOST && now() < end);
	qsort(runs, count, sizeof(runs[0]), compare);
	printf("verbs/%s ps=%lld\n", name, runs[count / 2] * 1000 / BATCH);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	const struct type *type;
	size_t i;

	if (argc != 3) {
		fprintf(stderr, "usage: verbs_bench DEVICE MS\n");
		return 2;
	}
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			device = list[i];
	context = device ? ibv_open_device(device) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	if (!cq)
		die(argv[1]);
	/* Pages that are there, so that none is made while it is registered. */
	memset(memory, 1, sizeof(memory));
	for (type = types; type->name; type++)
		measure(type->name, type->pair, atoll(argv[2]) * 1000000);
	return 0;
}
