/* SPDX-License-Identifier: GPL-2.0 */
/* What top shows, on a screen or as text. */
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
	struct device id;
	/* The same as the files have it. */
	char *device;
	char *key;
	/* Whose limit it is, or NULL. */
	char *limit_of;
	uint64_t usage;
	uint64_t limit;
	/* Usage as a part of the limit; -1 without a limit. */
	double use;
	/* Attempts that were refused so far, and in a second; -1 where nobody knows. */
	uint64_t refused;
	double rate;
	/* Others are only kept to see their refusals grow. */
	bool shown;
};

struct top {
	const char *cgroup;
	enum top_order order;
	bool batch;
	/* How often to look; 0 for no end. */
	uint64_t count;
	uint64_t delay_ms;
	struct hierarchy hierarchy;
	/* Those to be shown come first, in their order. */
	struct top_row *rows;
	size_t nr_rows;
	size_t nr_shown;
	/* The first row on the screen. */
	size_t first;
	/* When they were read, in milliseconds. */
	long long when;
};

/* Read all again. False, and an error is said, where that fails. */
bool top_read(struct top *top);
void top_sort(struct top *top);
void top_free_rows(struct top_row *rows, size_t count);
/*
 * The first @rows as a table. Where @width is not 0, it is that of a screen; names are cut
 * then, so that nobody's long name pushes the numbers of others off it.
 */
void top_fill(const struct top *top, struct table *table, size_t rows, size_t width);
/* Show them on the terminal until a key or a signal ends it. */
bool top_screen(struct top *top);

#endif /* RDMACG_TOP_H */
