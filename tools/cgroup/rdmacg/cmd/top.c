// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg top: who is how close to a limit, and who is refused.
 *
 * Numbers come before names in a row, for names are as long as their owners like.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/compiler.h"
#include "lib/json.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "lib/rdmacg.h"
#include "lib/text.h"
#include "top/top.h"

#define TOP_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) | POOL_BIT(POOL_EVENTS))

#define TOP_SHORTEST_MS	100
#define TOP_LONGEST_MS	86400000

const char * const top_orders[TOP_ORDERS] = { "use", "refusals", "usage", "path" };

static const struct argp_option top_options[] = {
	{ "batch", 'b', NULL, 0, "print tables instead of taking the screen", 0 },
	{ "iterations", 'n', "N", 0, "end after so many looks", 0 },
	{ "delay", 'd', "SECONDS", 0, "from one look to the next; 1", 0 },
	{ "order", 'o', "ORDER", 0, "use, refusals, usage or path", 0 },
	{ 0 }
};

static void top_parse_order(struct top *top, const char *text)
{
	size_t i;

	for (i = 0; i < TOP_ORDERS; i++) {
		if (!strcmp(top_orders[i], text)) {
			top->order = i;
			return;
		}
	}
	/* As it was called before. */
	if (!strcmp(text, "pressure"))
		top->order = TOP_USE;
	else
		options_fail(text, "the orders are use, refusals, usage and path");
}

static error_t top_parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case 'b':
		top->batch = true;
		return 0;
	case 'n':
		if (!number_parse(arg, strlen(arg), &top->count) || !top->count)
			options_fail("-n", "%s: must be a number from 1 on", arg);
		return 0;
	case 'd':
		/* Seconds with three decimals are milliseconds. */
		if (!number_parse_thousandths(arg, strlen(arg), &top->delay_ms) ||
		    top->delay_ms < TOP_SHORTEST_MS || top->delay_ms > TOP_LONGEST_MS)
			options_fail(arg, "the delay is 0.1 to 86400 seconds");
		return 0;
	case 'o':
		top_parse_order(top, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		top->cgroup = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp top_argp = {
	.options = top_options,
	.parser = top_parse,
	.children = options_child,
	.args_doc = "[CGROUP]",
	.doc =
		"Show who is how close to a limit, the closest first, and how many attempts are refused each second.\vKeys: q ends it, space looks at once, + and - change the delay, l, r, u and p the order, h shows them all. Without a terminal, one table is printed unless -n or -b says otherwise.",
};

/* Which resource of what a row is of. */
static int top_compare_names(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	int difference = strcmp(one->cgroup, other->cgroup);

	if (!difference)
		difference = strcmp(one->device, other->device);
	return difference ? difference : strcmp(one->key, other->key);
}

/* For qsort(3), which passes nothing on. */
static enum top_order top_order;

static int top_compare_by(const struct top_row *one, const struct top_row *other,
			  enum top_order order)
{
	switch (order) {
	case TOP_USE:
		return (one->use < other->use) - (one->use > other->use);
	case TOP_REFUSALS:
		return (one->rate < other->rate) - (one->rate > other->rate);
	case TOP_USAGE:
		/* Bytes and objects do not compare. */
		if (number_is_bytes(one->key) != number_is_bytes(other->key))
			return number_is_bytes(one->key) ? -1 : 1;
		return (one->usage < other->usage) - (one->usage > other->usage);
	default:
		return 0;
	}
}

static int top_compare(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	int difference = other->shown - one->shown;

	if (!difference)
		difference = top_compare_by(one, other, top_order);
	if (!difference && top_order == TOP_USE)
		difference = top_compare_by(one, other, TOP_REFUSALS);
	if (!difference && top_order == TOP_REFUSALS)
		difference = top_compare_by(one, other, TOP_USE);
	return difference ? difference : top_compare_names(one, other);
}

void top_sort(struct top *top)
{
	top_order = top->order;
	if (top->nr_rows)
		qsort(top->rows, top->nr_rows, sizeof(*top->rows), top_compare);
}

static void top_free_rows(struct top_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(rows[i].cgroup);
		device_free(&rows[i].id);
		free(rows[i].device);
		free(rows[i].key);
		free(rows[i].limit_of);
	}
	free(rows);
}

/* Where nothing may be made, a first attempt is at the limit already. */
static double top_use(const struct slot *slot)
{
	if (slot->limit == NUMBER_MAX)
		return -1;
	return slot->limit ? (double)slot->usage / slot->limit : 1;
}

/* Rounded down, so that 100 is a limit that is reached. */
static uint64_t top_percent(const struct top_row *row)
{
	return row->limit ? (unsigned __int128)row->usage * 100 / row->limit : 100;
}

static void top_add(struct top *top, const struct cgroup *cgroup, const struct pool *pool,
		    const struct slot *slot)
{
	struct top_row *row;

	top->rows = memory_grow(top->rows, top->nr_rows, sizeof(*row));
	row = &top->rows[top->nr_rows++];
	row->cgroup = memory_string(cgroup_name(cgroup));
	device_copy(&row->id, &pool->device);
	row->device = device_format(&pool->device);
	row->key = memory_string(slot->key);
	row->limit_of = slot->limit_of ? memory_string(cgroup_name(slot->limit_of)) : NULL;
	row->usage = slot->usage;
	row->limit = slot->limit;
	row->use = top_use(slot);
	row->refused = slot->events.alloc_fail;
	row->rate = -1;
	row->shown = slot->usage || slot->max != NUMBER_MAX;
}

static bool top_visit(struct cgroup *cgroup, void *data)
{
	const struct pools *pools = &cgroup->pools;
	struct top *top = data;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		for (j = 0; j < pools->pools[i].nr_slots; j++) {
			const struct slot *slot = &pools->pools[i].slots[j];

			/* Rates of commands and defaults have no usage. */
			if ((slot->has & POOL_BIT(POOL_CURRENT)) &&
			    (slot->usage || slot->max != NUMBER_MAX || slot->events.alloc_fail))
				top_add(top, cgroup, &pools->pools[i], slot);
		}
	}
	return true;
}

/* A counter that has become smaller is of a new cgroup or device of the old name. */
static void top_rate(struct top_row *row, const struct top_row *before, long long elapsed)
{
	uint64_t more = row->refused;

	if (before && before->refused <= more)
		more -= before->refused;
	row->rate = more * 1000.0 / (elapsed > 0 ? elapsed : 1);
	row->shown |= more > 0;
}

static bool top_walk(struct top *top)
{
	char *name = top->cgroup ? hierarchy_resolve(&top->hierarchy, top->cgroup) :
		memory_string("");
	struct cgroup *cgroup = name ? cgroup_open(&top->hierarchy, name) : NULL;
	bool done;

	free(name);
	if (!cgroup)
		return false;
	done = !cgroup->parent || cgroup_read_path(cgroup->parent, POOL_BIT(POOL_MAX));
	done = done && cgroup_walk(cgroup, TOP_FILES, top_visit, top);
	cgroup_close_path(cgroup);
	return done;
}

bool top_read(struct top *top)
{
	struct top_row *old = top->rows;
	size_t nr_old = top->nr_rows;
	long long before = top->when;
	bool done;
	size_t i;

	top->rows = NULL;
	top->nr_rows = 0;
	top->nr_shown = 0;
	top->when = clock_now();
	done = top_walk(top);
	if (old)
		qsort(old, nr_old, sizeof(*old), top_compare_names);
	for (i = 0; i < top->nr_rows; i++) {
		struct top_row *row = &top->rows[i];

		if (before)
			top_rate(row, old ? bsearch(row, old, nr_old, sizeof(*old),
						    top_compare_names) : NULL,
				 top->when - before);
		top->nr_shown += row->shown;
	}
	top_free_rows(old, nr_old);
	top_sort(top);
	return done;
}

static void top_fill_row(const struct top_row *row, struct table *table, size_t width,
			 bool partial)
{
	bool human = number_is_bytes(row->key);
	char number[NUMBER_SIZE];

	if (row->use < 0)
		table_cell(table, "-");
	else
		table_cell(table, "%" PRIu64, top_percent(row));
	if (row->use >= 1)
		table_alarm(table);
	if (row->rate < 0)
		table_cell(table, "-");
	else
		table_cell(table, "%.1f", row->rate);
	if (row->rate > 0)
		table_alarm(table);
	table_cell(table, "%s", number_format(number, row->usage, human));
	if (row->limit == NUMBER_MAX && partial)
		table_cell(table, "unknown");
	else
		table_cell(table, "%s", number_format(number, row->limit, human));
	table_cell(table, "%s", row->key);
	table_cell(table, "%s", row->device);
	table_cell(table, "%s", row->cgroup);
	table_cell(table, "%s", !row->limit_of ? "-" :
		   width && !strcmp(row->limit_of, row->cgroup) ? "self" : row->limit_of);
}

void top_fill(const struct top *top, struct table *table, size_t rows, size_t width)
{
	static const char * const heading[] = {
		"USE%", "REFUSED/S", "USAGE", "LIMIT", "RESOURCE", "DEVICE", "CGROUP",
		"LIMIT OF",
	};
	size_t i;

	table_init(table, "rrrrlnnn");
	for (i = 0; i < ARRAY_SIZE(heading); i++)
		table_cell(table, "%s", heading[i]);
	table->width = width;
	for (i = top->first; i < top->nr_shown && i - top->first < rows; i++)
		top_fill_row(&top->rows[i], table, width, top->hierarchy.partial);
}

static struct json_object *top_row_json(const struct top_row *row)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "cgroup", json_text(row->cgroup));
	device_json(object, &row->id);
	json_add(object, "resource", json_text(row->key));
	json_add(object, "usage", json_number(row->usage));
	json_add(object, "limit", json_limit(row->limit));
	json_add(object, "limit_of", row->limit_of ? json_text(row->limit_of) : NULL);
	json_add(object, "use", row->use < 0 ? NULL :
		 json_object_new_double(row->use));
	json_add(object, "refused_per_second", row->rate < 0 ? NULL :
		 json_object_new_double(row->rate));
	return object;
}

static void top_print(const struct top *top)
{
	struct json_object *array;
	struct table table;
	size_t i;

	if (!options.json) {
		top_fill(top, &table, SIZE_MAX, isatty(STDOUT_FILENO) ? table_screen_width() : 0);
		table_print(&table, stdout);
		return;
	}
	array = json_object_new_array();
	for (i = 0; i < top->nr_shown; i++)
		json_object_array_add(array, top_row_json(&top->rows[i]));
	json_print(stdout, json_document("rows", array), options.pretty);
}

/* Tables, with an empty line between two of them. */
static bool top_batch(struct top *top)
{
	uint64_t looks = 0;

	bool good, failed = false;

	for (;;) {
		good = top_read(top);
		failed |= !good;
		/* One cgroup that cannot be read hides no other. */
		if (!good && !top->nr_rows)
			return false;
		if (looks++ && !options.json)
			putchar('\n');
		top_print(top);
		if (!say_finish())
			return false;
		if (looks == top->count)
			return !failed;
		clock_sleep(top->delay_ms);
	}
}

int cmd_top(int argc, char **argv)
{
	struct top top = { .delay_ms = 1000 };
	bool done;

	options_parse(&top_argp, 0, argc, argv, &top);
	top.batch |= options.json;
	if (!top.batch && !isatty(STDOUT_FILENO)) {
		top.batch = true;
		if (!top.count)
			top.count = 1;
	}
	if (!hierarchy_open(&top.hierarchy))
		return EXIT_FAILED;
	done = top.batch ? top_batch(&top) : top_screen(&top);
	top_free_rows(top.rows, top.nr_rows);
	hierarchy_close(&top.hierarchy);
	return done ? EXIT_DONE : EXIT_FAILED;
}
