/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the programs with verbs: an open device, and pairs of commands on it. */
#ifndef RDMACG_BENCH_VERBS_H
#define RDMACG_BENCH_VERBS_H

#include <infiniband/verbs.h>

struct bench_verbs {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;		/* tells @channel */
	struct ibv_qp *qp;
};

/* Two commands: create and destroy an object, or change it to and fro. */
struct bench_pair {
	const char *name;
	void (*run)(struct bench_verbs *verbs);
	int commands;		/* where there are more */
};

/* The last pair has no name. Only the first pair opens a context. */
#define BENCH_FIRST_INSIDE 2
extern const struct bench_pair bench_pairs[];

/* Say what failed, and end. */
void bench_die(const char *what);
long long bench_now(void);
void bench_open(struct bench_verbs *verbs, const char *device);
struct ibv_qp *bench_create_qp(struct bench_verbs *verbs, int depth);
void bench_modify_to_init(struct ibv_qp *qp);
/* Sort, and return the value above which one in @of of the @count values lies. */
long long bench_percentile(long long *samples, int count, int of);

#endif
