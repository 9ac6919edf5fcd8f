// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the rows, their order, and their table. */
#include <sys/stat.h>

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

static int top_compare_counts(const void *a, const void *b)
{
	const struct top_count *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode) ?:
	       (one->key > other->key) - (one->key < other->key);
}

/* A copy of @name. A row often has the same name as the row before it. */
static const char *top_name(struct top_names *names, const char *name)
{
	if (!names->nr_names || strcmp(names->names[names->nr_names - 1], name))
		*memory_append(names->names, names->nr_names) = memory_string(name);
	return names->names[names->nr_names - 1];
}

static void top_forget(struct top_names *names)
{
	while (names->nr_names)
		free(names->names[--names->nr_names]);
	free(names->names);
	names->names = NULL;
}

/* Add a row for a resource that is in use, is limited by the cgroup itself, or was just refused. */
static void top_add(const struct cgroup *cgroup, const struct slot *slot,
		    const struct top_count *last, const struct top_count *now, int64_t elapsed)
{
	uint64_t more = now->refused;
	struct top_row *row;

	/* A smaller counter than before belongs to a new device with the old name. */
	if (last && last->refused <= more)
		more -= last->refused;
	if (!slot->usage && slot->max == NUMBER_MAX && !(top.when && more))
		return;
	row = memory_append(top.rows, top.nr_rows);
	row->cgroup = top_name(&top.cgroups, cgroup_name(cgroup));
	row->device = pools_find(&top.known, &slot->pool->device)->device;
	row->key = now->key;
	row->limit_of = slot->limit_of ? top_name(&top.limits, cgroup_name(slot->limit_of)) : NULL;
	row->usage = slot->usage;
	row->limit = slot->limit;
	/* A limit of 0 is always reached. */
	row->use = slot->limit == NUMBER_MAX ? -1 :
		   slot->limit ? (double)slot->usage / slot->limit : 1;
	row->rate = top.when ? more * 1000.0 / max(elapsed, 1) : -1;
}

bool top_read(void)
{
	struct walk walk = { .top = cgroup_open_argument(top.cgroup), .files = TOP_FILES };
	struct top_count *counts = NULL, *last;
	int64_t now = clock_now();
	const struct slot *slot = NULL;
	struct cgroup *cgroup;
	size_t nr_counts = 0;
	struct stat status;

	free(top.rows);
	top.rows = NULL;
	top.nr_rows = 0;
	top_forget(&top.cgroups);
	top_forget(&top.limits);
	while (walk.top && (cgroup = walk_next(&walk))) {
		status.st_ino = 0;
		fstat(cgroup->dir, &status);
		while ((slot = pools_next(&cgroup->pools, slot))) {
			struct top_count count = { status.st_ino, NULL, slot->events.alloc_fail };

			/* Skip rates of commands and defaults, which have no usage. */
			if (!(slot->has & POOL_BIT(POOL_CURRENT)) || !slot_is_telling(slot))
				continue;
			count.key = pools_get_slot(&top.known, &slot->pool->device, slot->key)->key;
			last = !top.nr_counts ? NULL :
			       bsearch(&count, top.counts, top.nr_counts, sizeof(count),
				       top_compare_counts);
			*memory_append(counts, nr_counts) = count;
			top_add(cgroup, slot, last, &count, now - top.when);
		}
	}
	if (nr_counts)
		qsort(counts, nr_counts, sizeof(*counts), top_compare_counts);
	free(top.counts);
	top.counts = counts;
	top.nr_counts = nr_counts;
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
