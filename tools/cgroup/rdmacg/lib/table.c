// SPDX-License-Identifier: GPL-2.0
/* rdmacg: columns. */
#include "lib/lib.h"

/* A shortened name keeps at least this many columns. */
#define TABLE_NARROWEST	8

#define TABLE_BOLD	"\033[1m"
#define TABLE_RED	"\033[31m"
#define TABLE_PLAIN	"\033[0m"

static const char *table_wanted;
bool table_bare;

const struct choice table_choices[] = {
	{ "columns", 'o', "only these columns, such as resource,limit_of", &table_wanted, "NAMES" },
	{ "no-headings", 0, "no line with the names of the columns", &table_bare },
	{ 0 }
};

/* Find the column of a name such as "limit_of", which stands for the heading "LIMIT OF". */
static size_t table_find(const struct table *table, const char *name)
{
	char *heading __autofree = memory_string(name), *gap;
	size_t i;

	while ((gap = strchr(heading, '_')))
		*gap = ' ';
	for (i = 0; i < table->columns; i++)
		if (!strcasecmp(heading, table->headings[i]))
			return i;
	options_fail(name, "there is no such column; the heading has the names");
}

void table_init(struct table *table, const char *align, const char * const *headings, size_t width)
{
	char *wanted __autofree = table_wanted ? memory_string(table_wanted) : NULL;
	char *rest = wanted, *name;
	size_t i;

	*table = (struct table){
		.align = align, .columns = strlen(align), .headings = headings, .width = width,
	};
	while ((name = strsep(&rest, ","))) {
		if (table->nr_order == TABLE_COLUMNS)
			options_fail(name, "is one column too many");
		table->order[table->nr_order++] = table_find(table, name);
	}
	for (i = 0; i < table->columns && !wanted; i++)
		table->order[table->nr_order++] = i;
}

void table_cell(struct table *table, const char *text)
{
	size_t *width = &table->widths[table->nr_cells % table->columns];
	struct cell *cell = memory_append(table->cells, table->nr_cells);

	cell->text = text_escape(text);
	if (!table->begun)
		*width = max(*width, text_width(cell->text));
}

void table_number(struct table *table, bool known, uint64_t value, bool human)
{
	table_cell(table, known ? number_text(value, human).s : "-");
}

void table_alarm(struct table *table, bool alarm)
{
	table->cells[table->nr_cells - 1].colour = alarm ? TABLE_RED : NULL;
}

/* Whether the table is wider than the screen. */
static bool table_is_too_wide(const struct table *table)
{
	size_t total = table->grouped ? 2 : 0, i;

	for (i = table->grouped; i < table->nr_order; i++)
		total += table->widths[table->order[i]] + 2;
	return table->width && total - 2 > table->width;
}

/* The widest column of names that may still be cut, or NULL. */
static size_t *table_widest(struct table *table)
{
	size_t *widest = NULL, i;

	for (i = 0; i < table->columns; i++)
		if (table->align[i] == 'n' && table->widths[i] > TABLE_NARROWEST &&
		    (!widest || table->widths[i] > *widest))
			widest = &table->widths[i];
	return widest;
}

/* Print a row without blanks after the last text. */
static void table_print_row(const struct table *table, FILE *to, const struct cell *cells)
{
	size_t blanks = table->grouped ? 2 : 0, i;

	if (table->grouped && *cells->text)
		fprintf(to, "%s\n", cells->text);
	for (i = table->grouped; i < table->nr_order; i++) {
		size_t column = table->order[i];
		const struct cell *cell = &cells[column];
		const char *colour = table->colours ? cell->colour : NULL;
		size_t padding = table->widths[column] - text_width(cell->text);
		bool right = table->align[column] == 'r';

		blanks += (i > table->grouped ? 2 : 0) + (right ? padding : 0);
		if (*cell->text) {
			fprintf(to, "%*s%s%s%s", (int)blanks, "", colour ? colour : "", cell->text,
				colour ? TABLE_PLAIN : "");
			blanks = 0;
		}
		blanks += right ? 0 : padding;
	}
	/* A row that has only the name of its group is already printed. */
	if (!table->grouped || *cells[1].text)
		fputc('\n', to);
}

/* Fit the columns, and print the headings. */
static void table_begin(struct table *table, FILE *to)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
	struct cell row[TABLE_COLUMNS];
	size_t *widest, i;

	for (i = 0; i < table->columns; i++) {
		row[i] = (struct cell){ (char *)table->headings[i], TABLE_BOLD };
		if (!table_bare)
			table->widths[i] = max(table->widths[i], strlen(table->headings[i]));
	}
	table->begun = true;
	table->colours = to == stdout && isatty(STDOUT_FILENO) && !(none && *none) &&
			 terminal && strcmp(terminal, "dumb");
	table->grouped = *table->align == 'g' && !table_wanted && table_is_too_wide(table);
	/* Cut names until the table fits; begin with the widest column. */
	while (table_is_too_wide(table) && (widest = table_widest(table)))
		--*widest;
	/* Names of groups are in lines of their own, so their column has no heading. */
	if (table->grouped)
		row->text = (char *)"";
	if (!table_bare)
		table_print_row(table, to, row);
}

void table_forget(struct table *table)
{
	while (table->nr_cells)
		free(table->cells[--table->nr_cells].text);
	free(table->cells);
	table->cells = NULL;
}

void table_print(struct table *table, FILE *to)
{
	size_t i, column;

	if (!table->begun)
		table_begin(table, to);
	for (i = 0; i < table->nr_cells; i++) {
		column = i % table->columns;
		if (table->align[column] == 'n')
			text_clip(table->cells[i].text, table->widths[column], true);
		else if (table->grouped && !column)
			text_clip(table->cells[i].text, table->width, true);
		if (column + 1 == table->columns)
			table_print_row(table, to, &table->cells[i - column]);
	}
	table_forget(table);
}
