/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of "rdmacg plan lnet", from the lowest: parameters of a node, its sizes, the
 * command with the agreement of two nodes.
 */
#ifndef RDMACG_PLAN_LNET_H
#define RDMACG_PLAN_LNET_H

#include "plan/plan.h"

/* The inputs: the parameters of the module are the first, then other numbers and flags. */
#define LNET_NR_PARAMETERS	8
#define LNET_NR_NUMBERS		14
extern const struct plan_input lnet_inputs[];

/* One node: its parameters, and the sizes that follow. */
struct lnet_side {
	const char *name;
	struct plan_args args;		/* its numbers and flags */
	char *idle;			/* parameters that were given and change no size */
	unsigned int release;		/* N of 2.N */
	/* Set by lnet_setup(). */
	uint64_t own_depth;
	uint64_t own_frags;
	uint64_t sends;			/* up to 2.10 */
	/* Its largest connection so far. */
	uint64_t send_wr, recv_wr, rx_bytes;
	uint64_t depth;
	uint64_t frags;
};

/* --- lnet-params.c: parameters. A wrong parameter ends the program with an error. --- */

void lnet_init(struct lnet_side *side, const struct plan_form *form, const char *name);
void lnet_free(struct lnet_side *side);
unsigned int lnet_parse_release(const char *text);
/* The parameters that the release ships for OPA. */
void lnet_set_profile(struct lnet_side *side);
/* "KEY=VALUE,..." of --remote: numbers and flags of the command, parameters, and release. */
void lnet_set_remote(struct lnet_side *side, const char *text);
/*
 * Lines "options ko2iblnd KEY=VALUE...", and those of ko2iblnd-opa if @opa: of the files
 * that the words of @args name, or of one line that they are.
 */
void lnet_set_words(struct lnet_side *side, const struct plan_args *args, bool opa);

/* --- lnet-size.c: sizes --- */

/* The number of an input. */
uint64_t lnet_get(const struct lnet_side *side, const char *name);
/* Take the parameters as o2iblnd does; before all others. */
void lnet_setup(struct plan_part *part, struct lnet_side *side);
/* The queues of a connection that @side makes with this depth and these fragments. */
void lnet_add_end(struct plan_part *part, struct lnet_side *side, uint64_t depth, uint64_t frags);
/* All that a node has, @conns for each peer; its connections are as lnet_add_end() left them. */
void lnet_add_node(struct plan_part *part, const struct lnet_side *side, uint64_t conns);
/* The depth that the device leaves of @depth; 0 if the device cannot create the QP. */
uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth);
/* Whether it is 2.10 or before. */
bool lnet_is_old(const struct lnet_side *side);
/* Without pools of MRs it can neither send fewer fragments nor take them. */
bool lnet_has_pools(const struct lnet_side *side);

#endif /* RDMACG_PLAN_LNET_H */
