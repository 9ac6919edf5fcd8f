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
	/* The cgroup that has the limit, or NULL. */
	char *limit_of;
	uint64_t usage;
	uint64_t limit;
	/* Usage divided by limit, or -1 without a limit. */
	double use;
	/* The number of refused attempts so far, and in a second, which is -1 if it is unknown. */
	uint64_t refused;
	double rate;
	/* The row is shown. Other rows exist to detect growing refusals. */
	bool shown;
};

extern struct top {
	/* The topmost cgroup, or NULL. */
	const char *cgroup;
	enum top_order order;
	bool batch;
	/* The number of reads, or 0 for no limit. */
	uint64_t count;
	uint64_t delay_ms;
	/* The shown rows are first, in their order. */
	struct top_row *rows;
	size_t nr_rows;
	size_t nr_shown;
	/* The first row on the screen. */
	size_t first;
	/* The time of the last read, in milliseconds. */
	int64_t when;
} top;

/* Read all rows again. Prints an error and returns false on a failure. */
bool top_read(void);
/* Sort the rows again, and scroll to the first row. */
void top_set_order(enum top_order order);
/*
 * Add at most @rows rows to a table, from top.first on. If @width is not 0, cut names for a screen
 * of this width.
 */
void top_fill(struct table *table, size_t rows, size_t width);
/* Show the rows on the terminal until a key or a signal ends top. */
bool top_screen(void);

#endif /* RDMACG_TOP_H */
