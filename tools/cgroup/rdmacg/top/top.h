/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of top, on a screen or as text. */
#ifndef RDMACG_TOP_H
#define RDMACG_TOP_H

#include "core/core.h"

enum top_order {
	TOP_USE,
	TOP_REFUSALS,
	TOP_USAGE,
	TOP_PATH,
	TOP_ORDERS,
};

extern const char * const top_orders[TOP_ORDERS];

/* A resource of a device in a cgroup. */
struct top_row {
	char *cgroup;
	struct device device;
	char *key;
	/* Whose limit it is, or NULL. */
	char *limit_of;
	uint64_t usage;
	uint64_t limit;
	/* Usage as a part of the limit; -1 without a limit. */
	double use;
	/* Attempts that were refused so far, and in a second; -1 if that is not known. */
	uint64_t refused;
	double rate;
	/* Other rows are only kept to see their refusals grow. */
	bool shown;
};

extern struct top {
	/* The cgroup to begin with, or NULL. */
	const char *cgroup;
	enum top_order order;
	bool batch;
	/* How often to look; 0 for no end. */
	uint64_t count;
	uint64_t delay_ms;
	/* Shown rows come first, in their order. */
	struct top_row *rows;
	size_t nr_rows;
	size_t nr_shown;
	/* The first row on the screen. */
	size_t first;
	/* When the rows were read, in milliseconds. */
	int64_t when;
} top;

/* Read all again. False, and an error is said, if that fails. */
bool top_read(void);
void top_sort(void);
/*
 * The first @rows as a table. If @width is not 0, it is that of a screen; names are cut
 * then, so that a long name does not push the numbers of other rows off it.
 */
void top_fill(struct table *table, size_t rows, size_t width);
/* Show them on the terminal until a key or a signal ends it. */
bool top_screen(void);

#endif /* RDMACG_TOP_H */
