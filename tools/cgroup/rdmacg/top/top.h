/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of top, on a screen or as text. */
#ifndef RDMACG_TOP_H
#define RDMACG_TOP_H

#include "core/core.h"

#define TOP_ORDERS 4

extern const char * const top_orders[TOP_ORDERS];

/* A resource of a device in a cgroup. There can be a million rows, so they share their texts. */
struct top_row {
	const char *cgroup;	/* in top.names */
	const struct pool *pool;	/* in top.known, for the device */
	const char *key;	/* in top.known */
	const char *limit_of;	/* the cgroup that has the limit, or NULL */
	uint64_t usage, limit;
	uint64_t refused;	/* attempts since the read before */
};

/* The refused attempts in a row, if any. A new cgroup with an old name has another inode. */
struct top_count {
	uint64_t inode;
	const char *key;	/* in top.known */
	uint64_t refused;
};

extern struct top {
	const char *cgroup;	/* the topmost cgroup, or NULL */
	unsigned int order;	/* in top_orders */
	bool batch;
	uint64_t count;		/* the number of reads, or 0 for no limit */
	uint64_t delay_ms;
	struct top_row *rows;	/* in the order that is shown */
	size_t nr_rows;
	size_t first;		/* the first row on the screen */
	int64_t when;		/* the time of the last read, in milliseconds */
	int64_t elapsed;	/* since the read before, or 0 if there was none */
	struct pools known;	/* the names of all devices and keys that were read */
	char **names;		/* of cgroups, in the rows */
	size_t nr_names;
	struct top_count *counts;	/* of the last read, sorted by inode and key */
	struct top_count *next;		/* of the present read */
	size_t nr_counts, nr_next;
} top;

/* Read all rows again. Prints an error and returns false on a failure. */
bool top_read(void);
/* Usage divided by limit, or -1 without a limit. */
double top_use(const struct top_row *row);
/* Refused attempts in a second, or -1 if unknown. */
double top_rate(const struct top_row *row);
/* Sort the rows by top.order. */
void top_sort(void);
/* Print at most @rows rows from top.first on. If @width is not 0, cut names to this width. */
void top_print_table(FILE *to, size_t rows, size_t width);
/* Show the rows on the terminal until a key or a signal ends top. */
bool top_screen(void);

#endif /* RDMACG_TOP_H */
