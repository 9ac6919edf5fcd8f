// SPDX-License-Identifier: GPL-2.0
/* rdmacg: columns. */
#include <ctype.h>

#include "lib/lib.h"

/* A shortened name keeps this many columns. */
#define TABLE_NARROWEST	8

#define TABLE_BOLD	"\033[1m"
#define TABLE_RED	"\033[31m"
#define TABLE_PLAIN	"\033[0m"

static const char *table_wanted;
static bool table_bare;

const struct choice table_choices[] = {
	{ "columns", 'o', "NAMES", "only these columns, such as resource,limit_of",
	  options_take_text, &table_wanted },
	{ "no-headings", 0, NULL, "no line with the names of the columns", NULL, &table_bare },
	{ 0 }
};

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

static void table_add_wanted(struct table *table, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < table->columns; i++)
		if (table_is_heading(table->headings[i], name, length))
			break;
	if (i == table->columns)
		options_fail(name, "there is no such column; the heading has the names");
	table->order[table->nr_order++] = i;
}

void table_init(struct table *table, const char *align, const char * const *headings,
		size_t width)
{
	const char *name = table_wanted;

	memset(table, 0, sizeof(*table));
	table->align = align;
	table->headings = headings;
	table->columns = strlen(align);
	table->width = width;
	while (!name && table->nr_order < table->columns) {
		table->order[table->nr_order] = table->nr_order;
		table->nr_order++;
	}
	while (name && table->nr_order < TABLE_COLUMNS) {
		size_t length = strcspn(name, ",");

		table_add_wanted(table, name, length);
		name = name[length] ? name + length + 1 : NULL;
	}
}

void table_cell(struct table *table, const char *text)
{
	struct cell *cell = memory_append(&table->cells, &table->nr_cells, sizeof(*cell));

	cell->text = text_escape(text);
}

void table_number(struct table *table, bool known, uint64_t value, bool human)
{
	table_cell(table, known ? number_text(value, human) : "-");
}

void table_alarm(struct table *table, bool alarm)
{
	table->cells[table->nr_cells - 1].alarm = alarm;
}

/* The layout of a table. */
struct layout {
	FILE *to;
	bool colours;
	/* The width of each column of the table. */
	size_t widths[TABLE_COLUMNS];
	/* Each name of the first column is on a line above its rows. */
	bool grouped;
};

static size_t table_total(const struct table *table, const struct layout *layout)
{
	size_t total = 0, i;

	for (i = layout->grouped; i < table->nr_order; i++)
		total += layout->widths[table->order[i]] + 2;
	return layout->grouped ? total : total - 2;
}

/* The widest column of names that may still be cut, or NULL. */
static size_t *table_widest(const struct table *table, struct layout *layout)
{
	size_t *widest = NULL, i;

	for (i = 0; i < table->columns; i++)
		if (table->align[i] == 'n' && layout->widths[i] > TABLE_NARROWEST &&
		    (!widest || layout->widths[i] > *widest))
			widest = &layout->widths[i];
	return widest;
}

/* Cut names until the table fits; begin with the widest column. */
static void table_fit(struct table *table, struct layout *layout)
{
	size_t *widest, i;

	layout->grouped = table->width && table_total(table, layout) > table->width &&
			  *table->align == 'g' && !table_wanted;
	while (table->width && table_total(table, layout) > table->width) {
		widest = table_widest(table, layout);
		if (!widest)
			break;
		--*widest;
	}
	for (i = 0; i < table->nr_cells; i++) {
		size_t column = i % table->columns;

		if (table->align[column] == 'n')
			text_clip_middle(table->cells[i].text, layout->widths[column]);
		else if (layout->grouped && !column)
			text_clip_middle(table->cells[i].text, table->width);
	}
}

static void table_print_text(const struct layout *layout, const char *text, const char *colour)
{
	bool coloured = layout->colours && colour;

	fprintf(layout->to, "%s%s%s", coloured ? colour : "", text, coloured ? TABLE_PLAIN : "");
}

/* Print a row, or the heading if @cells is NULL. Print no blanks after the last text. */
static void table_print_row(const struct table *table, const struct layout *layout,
			    const struct cell *cells)
{
	size_t blanks = layout->grouped ? 2 : 0, i;

	if (layout->grouped && cells && *cells[0].text)
		fprintf(layout->to, "%s\n", cells[0].text);
	for (i = layout->grouped; i < table->nr_order; i++) {
		size_t column = table->order[i];
		const char *text = cells ? cells[column].text : table->headings[column];
		const char *colour = !cells ? TABLE_BOLD : cells[column].alarm ? TABLE_RED : NULL;
		size_t padding = layout->widths[column] - text_width(text);
		bool right = table->align[column] == 'r';

		blanks += (i > layout->grouped ? 2 : 0) + (right ? padding : 0);
		if (*text) {
			fprintf(layout->to, "%*s", (int)blanks, "");
			table_print_text(layout, text, colour);
			blanks = 0;
		}
		blanks += right ? 0 : padding;
	}
	/* The line of a group's name does not need a row after it. */
	if (!layout->grouped || !cells || *cells[1].text)
		fputc('\n', layout->to);
}

/* Use colours if stdout is a terminal, and NO_COLOR is not set. */
static bool table_in_colour(void)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(none && *none) &&
	       terminal && strcmp(terminal, "dumb");
}

void table_print(struct table *table, FILE *to)
{
	struct layout layout = { .to = to, .colours = to == stdout && table_in_colour() };
	size_t i, width;

	for (i = 0; i < table->columns; i++)
		layout.widths[i] = table_bare ? 0 : text_width(table->headings[i]);
	for (i = 0; i < table->nr_cells; i++) {
		width = text_width(table->cells[i].text);
		if (width > layout.widths[i % table->columns])
			layout.widths[i % table->columns] = width;
	}
	table_fit(table, &layout);
	if (!table_bare)
		table_print_row(table, &layout, NULL);
	for (i = 0; i < table->nr_cells; i += table->columns)
		table_print_row(table, &layout, table->cells + i);
	while (table->nr_cells)
		free(table->cells[--table->nr_cells].text);
	free(table->cells);
	table->cells = NULL;
}
