// SPDX-License-Identifier: GPL-2.0
/* rdmacg: columns. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/message.h"
#include "lib/table.h"
#include "lib/text.h"

/* A name keeps so many columns. */
#define TABLE_NARROWEST	8

#define TABLE_BOLD	"\033[1m"
#define TABLE_RED	"\033[31m"
#define TABLE_PLAIN	"\033[0m"

void table_init(struct table *table, const char *align)
{
	memset(table, 0, sizeof(*table));
	table->align = align;
	table->columns = strlen(align);
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *raw;

	va_start(args, format);
	raw = memory_vformat(format, args);
	va_end(args);
	table->cells = memory_grow(table->cells, table->nr_cells, sizeof(*table->cells));
	table->colours = memory_grow(table->colours, table->nr_cells, sizeof(*table->colours));
	table->cells[table->nr_cells++] = text_escape(raw);
	free(raw);
}

void table_alarm(struct table *table)
{
	table->colours[table->nr_cells - 1] = TABLE_RED;
}

/*
 * Print a cell @width wide. Blanks are only printed when something follows them in the
 * line: *@blanks are still to come.
 */
static void table_print_cell(const struct table *table, FILE *to, size_t cell, size_t width,
			     const char *colour, int *blanks)
{
	bool right = table->align[cell % table->columns] == 'r';
	const char *text = table->cells[cell];
	int padding = width - text_width(text);

	if (cell % table->columns)
		*blanks += 2;
	if (right)
		*blanks += padding;
	if (*text) {
		fprintf(to, "%*s%s%s%s", *blanks, "", colour ? colour : "", text,
			colour ? TABLE_PLAIN : "");
		*blanks = 0;
	}
	if (!right)
		*blanks += padding;
}

size_t table_screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return columns ? strtoul(columns, NULL, 10) : 0;
}

/* Cut names in the middle, those of the widest column first, until the table fits. */
static void table_fit(struct table *table, size_t *widths)
{
	size_t total = 2 * (table->columns - 1), widest, i;

	for (i = 0; i < table->columns; i++)
		total += widths[i];
	while (table->width && total > table->width) {
		widest = table->columns;
		for (i = 0; i < table->columns; i++)
			if (table->align[i] == 'n' && widths[i] > TABLE_NARROWEST &&
			    (widest == table->columns || widths[i] > widths[widest]))
				widest = i;
		if (widest == table->columns)
			break;
		widths[widest]--;
		total--;
	}
	/* Not the heading. */
	for (i = table->columns; i < table->nr_cells; i++)
		if (table->align[i % table->columns] == 'n')
			text_clip_middle(table->cells[i], widths[i % table->columns]);
}

void table_print(struct table *table, FILE *to)
{
	bool colours = to == stdout && say_in_colour();
	size_t widths[TABLE_COLUMNS] = { 0 };
	int blanks = 0;
	size_t i;

	for (i = 0; i < table->nr_cells; i++) {
		size_t width = text_width(table->cells[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	table_fit(table, widths);
	for (i = 0; i < table->nr_cells; i++) {
		const char *colour = i < table->columns ? TABLE_BOLD : table->colours[i];

		table_print_cell(table, to, i, widths[i % table->columns],
				 colours ? colour : NULL, &blanks);
		if ((i + 1) % table->columns)
			continue;
		fputc('\n', to);
		blanks = 0;
	}
	table_free(table);
}

void table_free(struct table *table)
{
	size_t i;

	for (i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->colours);
	table_init(table, table->align);
}
