/* SPDX-License-Identifier: GPL-2.0 */
/* Columns for people: as wide as their widest cell, numbers to the right. */
#ifndef RDMACG_TABLE_H
#define RDMACG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/compiler.h"

#define TABLE_COLUMNS 12

struct table {
	/*
	 * One letter a column: "l" to the left, "r" to the right, "n" for names, which are cut
	 * in the middle where the table is wider than @width.
	 */
	const char *align;
	size_t columns;
	char **cells;
	/* By cell; NULL, or an escape sequence for its colour. */
	const char **colours;
	size_t nr_cells;
	/* In columns of the screen; 0 for as wide as the table is. */
	size_t width;
};

/* The columns of the terminal that stdout is, or of COLUMNS; 0 where there is neither. */
size_t table_screen_width(void);
void table_init(struct table *table, const char *align);
/* The next cell, row by row. What it shows is escaped. */
void table_cell(struct table *table, const char *format, ...) __printf(2, 3);
/* Make the last cell red, where there are colours. */
void table_alarm(struct table *table);
/* Print all rows, the first one as a heading; and free them. */
void table_print(struct table *table, FILE *to);
void table_free(struct table *table);

#endif /* RDMACG_TABLE_H */
