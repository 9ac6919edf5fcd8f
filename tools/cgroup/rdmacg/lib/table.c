// SPDX-License-Identifier: GPL-2.0
/* rdmacg: columns. */
#include <ctype.h>

#include "lib/lib.h"

/* A name keeps so many columns. */
#define TABLE_NARROWEST	8

#define TABLE_BOLD	"\033[1m"
#define TABLE_RED	"\033[31m"
#define TABLE_PLAIN	"\033[0m"

static const char *table_wanted;
static bool table_bare;

enum { TABLE_KEY_COLUMNS = 'o', TABLE_KEY_BARE = OPTIONS_KEY + 200 };

static const struct argp_option table_options[] = {
	{ "columns", TABLE_KEY_COLUMNS, "NAMES", 0,
	  "only these columns, such as resource,limit_of", 0 },
	{ "no-headings", TABLE_KEY_BARE, NULL, 0, "no line with the names of the columns", 0 },
	{ 0 }
};

static error_t table_parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	if (key == TABLE_KEY_COLUMNS)
		table_wanted = arg;
	else if (key == TABLE_KEY_BARE)
		table_bare = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

const struct argp table_argp = { .options = table_options, .parser = table_parse };

/* "limit_of" or "LIMIT OF" is the heading "LIMIT OF". */
static bool table_is_heading(const char *heading, const char *name, size_t length)
{
	size_t i;

	if (strlen(heading) != length)
		return false;
	for (i = 0; i < length; i++)
		if (toupper((unsigned char)name[i]) != heading[i] &&
		    !(name[i] == '_' && heading[i] == ' '))
			return false;
	return true;
}

/* Which columns to print, in their order; returns how many. */
static size_t table_order(const struct table *table, size_t *order)
{
	const char *name = table_wanted;
	size_t count = 0, i;

	for (i = 0; i < table->columns && !name; i++)
		order[count++] = i;
	while (name && count < TABLE_COLUMNS) {
		size_t length = strcspn(name, ",");

		for (i = 0; i < table->columns; i++)
			if (table_is_heading(table->headings[i], name, length))
				break;
		if (i == table->columns)
			options_fail(name, "there is no such column; the heading names them");
		order[count++] = i;
		name = name[length] ? name + length + 1 : NULL;
	}
	return count;
}

void table_init(struct table *table, const char *align, const char * const *headings)
{
	size_t order[TABLE_COLUMNS];

	memset(table, 0, sizeof(*table));
	table->align = align;
	table->headings = headings;
	table->columns = strlen(align);
	table_order(table, order);
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

/* How a table is laid out. */
struct layout {
	FILE *to;
	bool colours;
	size_t order[TABLE_COLUMNS];
	size_t columns;
	/* By column of the table. */
	size_t widths[TABLE_COLUMNS];
	/* The first column stands above its rows. */
	bool grouped;
};

static size_t table_total(const struct layout *layout)
{
	size_t total = 0, i;

	for (i = layout->grouped; i < layout->columns; i++)
		total += layout->widths[layout->order[i]] + 2;
	return layout->grouped ? total : total - 2;
}

/* Cut names, those of the widest column first, until the table fits. */
static void table_fit(struct table *table, struct layout *layout)
{
	size_t total = table_total(layout), widest, i;

	layout->grouped = table->width && total > table->width && *table->align == 'g' &&
			  !table_wanted;
	total = table_total(layout);
	while (table->width && total > table->width) {
		widest = table->columns;
		for (i = 0; i < table->columns; i++)
			if (table->align[i] == 'n' && layout->widths[i] > TABLE_NARROWEST &&
			    (widest == table->columns ||
			     layout->widths[i] > layout->widths[widest]))
				widest = i;
		if (widest == table->columns)
			break;
		layout->widths[widest]--;
		total--;
	}
	for (i = 0; i < table->nr_cells; i++) {
		if (table->align[i % table->columns] == 'n')
			text_clip_middle(table->cells[i], layout->widths[i % table->columns]);
		else if (layout->grouped && !(i % table->columns))
			text_clip_middle(table->cells[i], table->width);
	}
}

static void table_print_text(const struct layout *layout, const char *text, const char *colour)
{
	colour = layout->colours ? colour : NULL;
	fprintf(layout->to, "%s%s%s", colour ? colour : "", text, colour ? TABLE_PLAIN : "");
}

/* A row of texts. Blanks are only printed when something follows them in the line. */
static void table_print_row(const struct table *table, const struct layout *layout,
			    char * const *cells, const char * const *colours)
{
	size_t blanks = layout->grouped ? 2 : 0, i;

	if (layout->grouped && cells != (char * const *)table->headings && *cells[0]) {
		table_print_text(layout, cells[0], NULL);
		fputc('\n', layout->to);
	}
	for (i = layout->grouped; i < layout->columns; i++) {
		size_t column = layout->order[i];
		size_t padding = layout->widths[column] - text_width(cells[column]);
		bool right = table->align[column] == 'r';

		blanks += (i > layout->grouped ? 2 : 0) + (right ? padding : 0);
		if (*cells[column]) {
			fprintf(layout->to, "%*s", (int)blanks, "");
			table_print_text(layout, cells[column],
					 colours ? colours[column] : TABLE_BOLD);
			blanks = 0;
		}
		blanks += right ? 0 : padding;
	}
	/* The name of a group alone is the line already. */
	if (!layout->grouped || *cells[1])
		fputc('\n', layout->to);
}

void table_print(struct table *table, FILE *to)
{
	struct layout layout = { .to = to, .colours = to == stdout && say_in_colour() };
	size_t i, width;

	layout.columns = table_order(table, layout.order);
	for (i = 0; i < table->columns; i++)
		layout.widths[i] = table_bare ? 0 : text_width(table->headings[i]);
	for (i = 0; i < table->nr_cells; i++) {
		width = text_width(table->cells[i]);
		if (width > layout.widths[i % table->columns])
			layout.widths[i % table->columns] = width;
	}
	table_fit(table, &layout);
	if (!table_bare)
		table_print_row(table, &layout, (char * const *)table->headings, NULL);
	for (i = 0; i < table->nr_cells; i += table->columns)
		table_print_row(table, &layout, table->cells + i, table->colours + i);
	table_free(table);
}

void table_free(struct table *table)
{
	size_t i;

	for (i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->colours);
	table->cells = NULL;
	table->colours = NULL;
	table->nr_cells = 0;
}
