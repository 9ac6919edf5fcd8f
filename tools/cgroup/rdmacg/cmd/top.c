// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg top: who is how close to a limit, and who is refused.
 *
 * Numbers come before names in a row, for names are as long as their owners like.
 */
#include "core/core.h"
#include "top/top.h"

#define TOP_SHORTEST_MS	100
#define TOP_LONGEST_MS	86400000

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

static const struct argp_child top_children[] = {
	{ .argp = &options_argp },
	{ .argp = &filter_argp },
	{ .argp = &table_argp },
	{ 0 }
};

static const struct argp top_argp = {
	.options = top_options,
	.parser = top_parse,
	.children = top_children,
	.args_doc = "[CGROUP]",
	.doc =
		"Show who is how close to a limit, the closest first, and how many attempts are refused each second.\vKeys: q ends it, space looks at once, + and - change the delay, l, r, u and p the order, h shows them all. Without a terminal, one table is printed unless -n or -b says otherwise.",
};

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
		top_fill(top, &table, SIZE_MAX, say_width());
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
