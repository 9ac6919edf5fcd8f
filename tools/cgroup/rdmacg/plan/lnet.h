/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of "rdmacg plan lnet": one node's sizes, and what two nodes agree on. */
#ifndef RDMACG_LNET_H
#define RDMACG_LNET_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

/* What can be said of a node, as options and in --remote. */
enum lnet_input {
	LNET_PEERS, LNET_PEER_CREDITS, LNET_CREDITS, LNET_CONNS, LNET_SENDS, LNET_MAP, LNET_NTX,
	LNET_FMR_POOL, LNET_SGE, LNET_CPTS, LNET_MAX_WR, LNET_PROTOCOL, LNET_NR_INPUTS
};

/* plan-lnet.c */
extern const struct plan_input lnet_inputs[LNET_NR_INPUTS];

/* One node: what was said of it, and its names for formulas. */
struct lnet_side {
	const char *name;
	uint64_t in[LNET_NR_INPUTS];
	bool given[LNET_NR_INPUTS];
	unsigned int release;		/* N of 2.N */
	bool fmr;			/* registers by FMR instead of FastReg */
	bool dma_mr;			/* its kernel has ib_get_dma_mr() */
	struct plan_vars vars;
	/* Its largest connection so far. */
	uint64_t send_wr;
	uint64_t depth;
	uint64_t frags;
};

/* plan-lnet-size.c: sizes. False: an error was said. */

/* Take the parameters as o2iblnd does; before all others. */
bool lnet_setup(const struct plan *plan, struct plan_part *part, struct lnet_side *side);
/* The queues of a connection that @side makes with this depth and these fragments. */
bool lnet_add_end(const struct plan *plan, struct plan_part *part, struct lnet_side *side,
		  uint64_t depth, uint64_t frags);
/* All that a node has; its connections are as lnet_add_end() left them. */
bool lnet_add_node(const struct plan *plan, struct plan_part *part, struct lnet_side *side);
/* The depth that the device leaves of @depth; 0 where it makes no QP. */
uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth);
/* Whether it is 2.10 or before. */
bool lnet_is_old(const struct lnet_side *side);
/* Without pools of MRs it can neither send fewer fragments nor take them. */
bool lnet_has_pools(const struct lnet_side *side);

/* plan-lnet-link.c: what two nodes agree on. */

/* A connection that two sides have agreed on. */
struct lnet_link {
	bool is_made;
	uint64_t wanted;	/* the active side's depth, before its device */
	uint64_t asked;		/* with which the passive side makes its QP */
	uint64_t depth;		/* what is used */
	uint64_t frags;
};

/* Let @active ask @passive for a connection; the part says what each of them answers. */
void lnet_connect(struct plan_part *part, const struct lnet_side *active,
		  const struct lnet_side *passive, struct lnet_link *link);

#endif /* RDMACG_LNET_H */
