// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the rows, their order, and their table. */
#include "top/top.h"

#define TOP_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) | POOL_BIT(POOL_EVENTS))

const char * const top_orders[TOP_ORDERS] = { "use", "refusals", "usage", "path" };

struct top top = { .delay_ms = 1000 };

static int top_compare(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	uint32_t index = one->device.index, other_index = other->device.index;
	/* Numbers of bytes and of objects cannot be compared. */
	int bytes = number_is_bytes(other->key) - number_is_bytes(one->key);
	int usage = bytes ?: (one->usage < other->usage) - (one->usage > other->usage);
	int use = (one->use < other->use) - (one->use > other->use);
	int rate = (one->rate < other->rate) - (one->rate > other->rate);
	const int orders[TOP_ORDERS] = { use ?: rate, rate ?: use, usage };

	return orders[top.order] ?:
	       strcmp(one->cgroup, other->cgroup) ?:
	       strcmp(one->device.name, other->device.name) ?:
	       (index > other_index) - (index < other_index) ?: strcmp(one->key, other->key);
}

void top_sort(void)
{
	if (top.nr_rows)
		qsort(top.rows, top.nr_rows, sizeof(*top.rows), top_compare);
}

/* Add a row for a resource that is in use, is limited by the cgroup itself, or was just refused. */
static void top_add(const struct cgroup *cgroup, const struct slot *slot,
		    struct json_object *refused, int64_t elapsed)
{
	char *name __autofree = memory_format("%s\n%s\n%s", cgroup_name(cgroup),
					      device_text(&slot->pool->device), slot->key);
	uint64_t before = json_object_get_uint64(json_object_object_get(top.refused, name));
	uint64_t more = slot->events.alloc_fail;
	struct top_row *row;

	json_object_object_add(refused, name, json_object_new_uint64(more));
	/* A smaller counter than before belongs to a new cgroup or device with the old name. */
	if (before <= more)
		more -= before;
	if (!slot->usage && slot->max == NUMBER_MAX && !(top.refused && more))
		return;
	row = memory_append(top.rows, top.nr_rows);
	row->cgroup = memory_string(cgroup_name(cgroup));
	row->device = slot->pool->device;
	row->device.name = memory_string(row->device.name);
	row->key = memory_string(slot->key);
	row->limit_of = slot->limit_of ? memory_string(cgroup_name(slot->limit_of)) : NULL;
	row->usage = slot->usage;
	row->limit = slot->limit;
	/* A limit of 0 is always reached. */
	row->use = slot->limit == NUMBER_MAX ? -1 :
		   slot->limit ? (double)slot->usage / slot->limit : 1;
	row->rate = top.refused ? more * 1000.0 / max(elapsed, 1) : -1;
}

bool top_read(void)
{
	struct walk walk = { .top = cgroup_open_argument(top.cgroup), .files = TOP_FILES };
	struct json_object *refused = json_object_new_object();
	int64_t now = clock_now();
	const struct slot *slot = NULL;
	struct cgroup *cgroup;

	while (top.nr_rows) {
		struct top_row *row = &top.rows[--top.nr_rows];

		free(row->cgroup);
		free(row->device.name);
		free(row->key);
		free(row->limit_of);
	}
	free(top.rows);
	top.rows = NULL;
	while (walk.top && (cgroup = walk_next(&walk)))
		while ((slot = pools_next(&cgroup->pools, slot)))
			/* Skip rates of commands and defaults, which have no usage. */
			if ((slot->has & POOL_BIT(POOL_CURRENT)) && slot_is_telling(slot))
				top_add(cgroup, slot, refused, now - top.when);
	json_object_put(top.refused);
	top.refused = refused;
	top.when = now;
	top_sort();
	cgroup_close_path(walk.top);
	return walk.top && !walk.failed;
}

void top_print_table(FILE *to, size_t rows, size_t width)
{
	static const char * const headings[] = {
		"USE%", "REFUSED/S", "USAGE", "LIMIT", "RESOURCE", "DEVICE", "CGROUP", "LIMIT OF",
	};
	const struct top_row *row;
	struct table table;

	table_init(&table, "rrrrnnnn", headings, width);
	for (row = top.rows + top.first; row < top.rows + top.nr_rows && rows--; row++) {
		char *rate __autofree = memory_format(row->rate < 0 ? "-" : "%.1f", row->rate);
		bool human = number_is_bytes(row->key);

		/* Round down, so that 100 means that the limit is reached. */
		table_number(&table, row->use >= 0,
			     row->limit ? (__uint128_t)row->usage * 100 / row->limit : 100, false);
		table_alarm(&table, row->use >= 1);
		table_cell(&table, rate);
		table_alarm(&table, row->rate > 0);
		table_number(&table, true, row->usage, human);
		table_cell(&table, cgroup_limit_text(row->limit, human));
		table_cell(&table, row->key);
		table_cell(&table, device_text(&row->device));
		table_cell(&table, row->cgroup);
		table_cell(&table, cgroup_relative(row->limit_of, row->cgroup, width));
	}
	table_print(&table, to);
}
