// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the rows, their order, and their table. */
#include "top/top.h"

#define TOP_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) | POOL_BIT(POOL_EVENTS))

const char * const top_orders[TOP_ORDERS] = { "use", "refusals", "usage", "path" };

struct top top = { .delay_ms = 1000 };

static int top_compare_names(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	uint32_t index = one->device.index, other_index = other->device.index;

	return strcmp(one->cgroup, other->cgroup) ?:
	       strcmp(one->device.name, other->device.name) ?:
	       (index > other_index) - (index < other_index) ?:
	       strcmp(one->key, other->key);
}

static int top_compare_by(const struct top_row *one, const struct top_row *other,
			  enum top_order order)
{
	switch (order) {
	case TOP_USE:
		return (one->use < other->use) - (one->use > other->use);
	case TOP_REFUSALS:
		return (one->rate < other->rate) - (one->rate > other->rate);
	case TOP_USAGE:
		/* Numbers of bytes and of objects cannot be compared. */
		if (number_is_bytes(one->key) != number_is_bytes(other->key))
			return number_is_bytes(one->key) ? -1 : 1;
		return (one->usage < other->usage) - (one->usage > other->usage);
	default:
		return 0;
	}
}

static int top_compare(const void *a, const void *b)
{
	static const enum top_order second[TOP_ORDERS] = {
		[TOP_USE] = TOP_REFUSALS, [TOP_REFUSALS] = TOP_USE,
		[TOP_USAGE] = TOP_PATH, [TOP_PATH] = TOP_PATH,
	};
	const struct top_row *one = a, *other = b;

	return other->shown - one->shown ?:
	       top_compare_by(one, other, top.order) ?:
	       top_compare_by(one, other, second[top.order]) ?: top_compare_names(one, other);
}

void top_set_order(enum top_order order)
{
	top.order = order;
	top.first = 0;
	if (top.nr_rows)
		qsort(top.rows, top.nr_rows, sizeof(*top.rows), top_compare);
}

static void top_add(const struct cgroup *cgroup, const struct slot *slot)
{
	struct top_row *row = memory_append(top.rows, top.nr_rows);

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
	row->refused = slot->events.alloc_fail;
	row->rate = -1;
	row->shown = slot->usage || slot->max != NUMBER_MAX;
}

/* A counter that is smaller than before belongs to a new cgroup or device with the old name. */
static void top_rate(struct top_row *row, const struct top_row *before, int64_t elapsed)
{
	uint64_t more = row->refused;

	if (before && before->refused <= more)
		more -= before->refused;
	row->rate = more * 1000.0 / (elapsed > 0 ? elapsed : 1);
	row->shown |= more > 0;
}

static bool top_walk(void)
{
	struct walk walk = { .top = cgroup_open_argument(top.cgroup), .files = TOP_FILES };
	const struct slot *slot = NULL;
	struct cgroup *cgroup;

	if (!walk.top)
		return false;
	while ((cgroup = walk_next(&walk)))
		while ((slot = pools_next(&cgroup->pools, slot)))
			/* Skip rates of commands and defaults, which have no usage. */
			if ((slot->has & POOL_BIT(POOL_CURRENT)) && slot_is_telling(slot))
				top_add(cgroup, slot);
	cgroup_close_path(walk.top);
	return !walk.failed;
}

bool top_read(void)
{
	struct top_row *old = top.rows, *row;
	size_t nr_old = top.nr_rows;
	int64_t before = top.when;
	bool done;

	top.rows = NULL;
	top.nr_rows = 0;
	top.nr_shown = 0;
	top.when = clock_now();
	done = top_walk();
	if (old)
		qsort(old, nr_old, sizeof(*old), top_compare_names);
	for (row = top.rows; row < top.rows + top.nr_rows; row++) {
		if (before)
			top_rate(row, old ? bsearch(row, old, nr_old, sizeof(*old),
						    top_compare_names) : NULL, top.when - before);
		top.nr_shown += row->shown;
	}
	for (row = old; row < old + nr_old; row++) {
		free(row->cgroup);
		free(row->device.name);
		free(row->key);
		free(row->limit_of);
	}
	free(old);
	if (top.nr_rows)
		qsort(top.rows, top.nr_rows, sizeof(*top.rows), top_compare);
	return done;
}

void top_fill(struct table *table, size_t rows, size_t width)
{
	static const char * const headings[] = {
		"USE%", "REFUSED/S", "USAGE", "LIMIT", "RESOURCE", "DEVICE", "CGROUP", "LIMIT OF",
	};
	const struct top_row *row;

	table_init(table, "rrrrnnnn", headings, width);
	for (row = top.rows + top.first; row < top.rows + top.nr_shown && rows--; row++) {
		char *rate __autofree = memory_format(row->rate < 0 ? "-" : "%.1f", row->rate);
		bool human = number_is_bytes(row->key);

		/* Round down, so that 100 means that the limit is reached. */
		table_number(table, row->use >= 0,
			     row->limit ? (__uint128_t)row->usage * 100 / row->limit : 100, false);
		table_alarm(table, row->use >= 1);
		table_cell(table, rate);
		table_alarm(table, row->rate > 0);
		table_number(table, true, row->usage, human);
		table_cell(table, cgroup_limit_text(row->limit, human));
		table_cell(table, row->key);
		table_cell(table, device_text(&row->device));
		table_cell(table, row->cgroup);
		table_cell(table, cgroup_relative(row->limit_of, row->cgroup, width));
	}
}
