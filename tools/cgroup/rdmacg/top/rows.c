// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the rows, their order, and the table of them. */
#include "lib/lib.h"
#include "top/top.h"

#define TOP_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) | POOL_BIT(POOL_EVENTS))

const char * const top_orders[TOP_ORDERS] = { "use", "refusals", "usage", "path" };

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

void top_free_rows(struct top_row *rows, size_t count)
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
	__uint128_t hundredfold = (__uint128_t)row->usage * 100;

	return row->limit ? hundredfold / row->limit : 100;
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
	table_cell(table, "%s", cgroup_relative(row->limit_of, row->cgroup, width));
}

void top_fill(const struct top *top, struct table *table, size_t rows, size_t width)
{
	static const char * const heading[] = {
		"USE%", "REFUSED/S", "USAGE", "LIMIT", "RESOURCE", "DEVICE", "CGROUP",
		"LIMIT OF",
	};
	size_t i;

	table_init(table, "rrrrnnnn", heading);
	table->width = width;
	for (i = top->first; i < top->nr_shown && i - top->first < rows; i++)
		top_fill_row(&top->rows[i], table, width, top->hierarchy.partial);
}
