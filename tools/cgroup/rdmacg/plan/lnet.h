/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of "rdmacg plan lnet". Each uses the parts before it: the parameters of a node, its
 * sizes, and the command with the agreement of two nodes.
 */
#ifndef RDMACG_PLAN_LNET_H
#define RDMACG_PLAN_LNET_H

#include "plan/plan.h"

/* The inputs: first the parameters of the module, then other numbers and flags. */
#define LNET_NR_PARAMETERS	8
#define LNET_NR_NUMBERS		14
extern struct plan_input lnet_inputs[];

/* One node: its parameters, and the sizes that follow from them. */
struct lnet_side {
	const char *name;
	struct plan_input *inputs;	/* numbers and flags of the node */
	char *idle;			/* the given parameters that change no size */
	unsigned int release;		/* N of 2.N */
	/* Set by lnet_setup(). */
	uint64_t own_depth;
	uint64_t own_frags;
	uint64_t sends;			/* up to 2.10 */
	/* The node's largest connection so far. */
	uint64_t send_wr, recv_wr, rx_bytes;
	uint64_t depth;
	uint64_t frags;
};

/* --- lnet-params.c: parameters. A wrong parameter ends the program with an error. --- */

/* Give the node the default parameters. */
void lnet_init(struct lnet_side *side);
unsigned int lnet_parse_release(const char *text);
/* Set the parameters of the release for OPA. */
void lnet_set_profile(struct lnet_side *side);
/* Set "KEY=VALUE,..." of --remote: numbers and flags of the command, parameters, and release. */
void lnet_set_remote(struct lnet_side *side, const char *text);
/*
 * Read lines "options ko2iblnd KEY=VALUE...", and also lines of ko2iblnd-opa if @opa. The words of
 * the command are names of files with such lines, or the words of such a line.
 */
void lnet_set_words(struct lnet_side *side, bool opa);

/* --- lnet-size.c: sizes --- */

/* The number of an input. */
uint64_t lnet_get(const struct lnet_side *side, const char *name);
/* Apply the parameters as o2iblnd does. Must be the first call for a side. */
void lnet_setup(struct plan_part *part, struct lnet_side *side);
/* Add the queues that @side creates for a connection with @depth and @frags. */
void lnet_add_end(struct plan_part *part, struct lnet_side *side, uint64_t depth, uint64_t frags);
/* Add all objects of a node, with @conns connections of lnet_add_end() for each peer. */
void lnet_add_node(struct plan_part *part, const struct lnet_side *side, uint64_t conns);
/* Reduce @depth to a depth that the device supports, or to 0 if it cannot create the QP. */
uint64_t lnet_reduce(const struct lnet_side *side, uint64_t frags, uint64_t depth);
/* Whether the release is 2.10 or before. */
bool lnet_is_old(const struct lnet_side *side);
/* Whether the node has pools of MRs. A node without them cannot send or accept fewer fragments. */
bool lnet_has_pools(const struct lnet_side *side);

#endif /* RDMACG_PLAN_LNET_H */
