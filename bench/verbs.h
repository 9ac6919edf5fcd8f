/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs with verbs share: a device that is open, and pairs of commands on it. */
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

/* Two commands: an object of that type is created and destroyed, or changed to and fro. */
struct bench_pair {
	const char *name;
	void (*run)(struct bench_verbs *verbs);
	int commands;		/* where there are more */
};

/* The last one has no name. Only those from the second on leave the context alone. */
#define BENCH_FIRST_INSIDE 2
extern const struct bench_pair bench_pairs[];

/* Say what failed, and end. */
void bench_die(const char *what);
long long bench_now(void);
void bench_open(struct bench_verbs *verbs, const char *device);
struct ibv_qp *bench_create_qp(struct bench_verbs *verbs, int depth);
void bench_modify_to_init(struct ibv_qp *qp);
/* Sort, and return the one of @count below which all but one in @of lie. */
long long bench_percentile(long long *samples, int count, int of);

#endif
