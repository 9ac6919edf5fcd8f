// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the usage of cgroups in relation to their limits, and refusals. */
#include "top/top.h"

static void top_take_order(const char *text, void *to)
{
	for (top.order = 0; top.order < TOP_ORDERS; top.order++)
		if (!strcmp(top_orders[top.order], text))
			return;
	options_fail(text, "is not an order; the orders are use, refusals, usage and path");
}

static void top_take_delay(const char *text, void *to)
{
	/* Thousandths of a second are milliseconds. */
	if (!number_parse_thousandths(text, strlen(text), &top.delay_ms) ||
	    top.delay_ms < 100 || top.delay_ms > 86400000)
		options_fail(text, "the delay must be 0.1 to 86400 seconds");
}

static const struct syntax top_syntax = {
	.choices = {
		{ "batch", 'b', "print tables instead of using the whole screen", &top.batch },
		{ "iterations", 'n', "end after N updates", &top.count, "N" },
		{ "delay", 'd', "time between two updates (1)", NULL, "SECONDS", top_take_delay },
		{ "order", 'o', "use, refusals, usage or path", NULL, "ORDER", top_take_order },
	},
	.lists = { filter_choices, table_choices }, .single = true, .args_doc = "[CGROUP]",
	.example = "rdmacg top --device mlx5_0 tenants",
	.doc =
		"Show how close cgroups are to their limits, the closest first, and how many attempts are refused each second.\vKeys: q ends top, space updates at once, + and - change the delay, l, r, u and p change the order, h shows all keys. Without a terminal, top prints one table unless there is -n or -b.",
};

static void top_print(void)
{
	struct json_object *json;
	const struct top_row *row;
	size_t i;

	if (!options.json) {
		top_print_table(stdout, SIZE_MAX, say_width());
		return;
	}
	for (i = 0; i < top.nr_rows; i++) {
		row = &top.rows[i];
		json = json_pack("cgroup:s device:s index:o resource:s usage:u limit:l limit_of:s",
				 row->cgroup, row->pool->device.name,
				 device_index(&row->pool->device), row->key, row->usage, row->limit,
				 row->limit_of);
		json_fill(json, "use:d refused_per_second:d", top_use(row), top_rate(row));
		json_print_element(stdout, "rows", i, json);
	}
	json_print_rest(stdout, "rows", i, json_object_new_object());
}

static bool top_batch(void)
{
	bool good, failed = false;
	uint64_t looks = 0;

	for (;;) {
		good = top_read();
		failed |= !good;
		/* Show the other cgroups even if a cgroup cannot be read. */
		if (!good && !top.nr_rows)
			return false;
		if (looks++ && !options.json)
			putchar('\n');
		top_print();
		if (!say_finish())
			return false;
		if (looks == top.count)
			return !failed;
		clock_sleep(top.delay_ms);
	}
}

int cmd_top(int argc, char **argv)
{
	top.cgroup = *options_read(&top_syntax, argc, argv);
	top.batch |= options.json;
	if (!top.batch && !isatty(STDOUT_FILENO)) {
		top.batch = true;
		top.count = top.count ? top.count : 1;
	}
	hierarchy_open(EXIT_FAILED);
	return (top.batch ? top_batch() : top_screen()) ? EXIT_DONE : EXIT_FAILED;
}
