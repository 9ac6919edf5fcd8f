/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a QEMU says of itself: its RAM blocks, and the protocol by which it is asked. Both
 * are untrusted: a guest's owner may choose names, and whoever made the socket its answers.
 */
#ifndef RDMACG_QEMU_H
#define RDMACG_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* QEMU numbers blocks with 14 bits in a work request: migration/rdma.c, RDMA_WRID_BLOCK_MASK. */
#define PLAN_BLOCKS_MAX	((size_t)1 << 14)
/* A line for each block has 200 characters. */
#define PLAN_TEXT_MAX	((size_t)4 << 20)

struct plan_block {
	char *name;
	uint64_t used;
	bool is_zero;		/* known to hold nothing but zeros */
};

struct plan_blocks {
	struct plan_block *block;
	size_t count;
	size_t nr_local;	/* blocks without a name, which do not migrate */
};

/* plan-ramblock.c: the text of "info ramblock". */

void plan_add_block(struct plan_blocks *blocks, const char *name, size_t length, uint64_t used);
/* Add the blocks of a text. False: an error was said. */
bool plan_parse_blocks(const char *where, const char *text, size_t length,
		       struct plan_blocks *blocks);
void plan_free_blocks(struct plan_blocks *blocks);

/* plan-qmp.c: the QEMU machine protocol. */

enum plan_qmp_state { PLAN_QMP_GREETING, PLAN_QMP_MODE, PLAN_QMP_BLOCKS, PLAN_QMP_DONE };

/* A conversation that ends with the text of "info ramblock". */
struct plan_qmp {
	const char *where;		/* the socket */
	struct json_tokener *tokener;
	enum plan_qmp_state state;
	size_t received;
	struct json_object *text;	/* NULL until it is there */
};

void plan_qmp_begin(struct plan_qmp *qmp, const char *where);
void plan_qmp_end(struct plan_qmp *qmp);
/*
 * Take what QEMU has sent. *@answer is what to send next, or NULL. State says whether the
 * conversation is over. False: an error was said.
 */
bool plan_qmp_take(struct plan_qmp *qmp, const char *data, size_t length, const char **answer);
/* The blocks of the text that has come. */
bool plan_qmp_parse(const struct plan_qmp *qmp, struct plan_blocks *blocks);
/* All of it over a socket, within so many seconds. */
bool plan_qmp_read_blocks(const char *path, uint64_t seconds, struct plan_blocks *blocks);

#endif /* RDMACG_QEMU_H */
