/* SPDX-License-Identifier: GPL-2.0 */
/* The RAM blocks of a QEMU. The text is not trusted: the owner of a guest may choose names. */
#ifndef RDMACG_QEMU_H
#define RDMACG_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* QEMU numbers blocks with 14 bits in a work request: migration/rdma.c, RDMA_WRID_BLOCK_MASK. */
#define PLAN_BLOCKS_MAX	((size_t)1 << 14)

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

struct plan_block *plan_add_block(struct plan_blocks *blocks, const char *name, size_t length,
				  uint64_t used);
/* Add the blocks of the text of "info ramblock". False: an error was said. */
bool plan_parse_blocks(const char *where, const char *text, struct plan_blocks *blocks);
void plan_free_blocks(struct plan_blocks *blocks);

#endif /* RDMACG_QEMU_H */
