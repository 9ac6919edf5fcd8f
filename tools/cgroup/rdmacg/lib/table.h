/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Columns for people: as wide as their widest cell, numbers to the right. Where the screen is
 * narrower, names are cut in the middle, and those of the first column stand above their rows.
 */
#ifndef RDMACG_TABLE_H
#define RDMACG_TABLE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/compiler.h"

#define TABLE_COLUMNS 12

struct table {
	/*
	 * One letter a column: "l" to the left, "r" to the right, "n" a name, which may be cut,
	 * "g" a name that may stand above the rows that have it or an empty cell.
	 */
	const char *align;
	const char * const *headings;
	size_t columns;
	char **cells;
	/* By cell; NULL, or an escape sequence for its colour. */
	const char **colours;
	size_t nr_cells;
	/* In columns of the screen; 0 for as wide as the table is. */
	size_t width;
};

/* --columns and --no-headings, for the children of a command's argp; for all its tables. */
extern const struct argp table_argp;

/* Columns that --columns does not have end the command with status 2. */
void table_init(struct table *table, const char *align, const char * const *headings);
/* The next cell, row by row. What it shows is escaped. */
void table_cell(struct table *table, const char *format, ...) __printf(2, 3);
/* Make the last cell red, where there are colours. */
void table_alarm(struct table *table);
/* Print the heading and all rows, and free them. */
void table_print(struct table *table, FILE *to);
void table_free(struct table *table);

#endif /* RDMACG_TABLE_H */
