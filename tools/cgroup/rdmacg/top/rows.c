// SPDX-License-Identifier: GPL-2.0
/* rdmacg top: the rows, their order, and their table. */
#include "top/top.h"

#define TOP_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT) | POOL_BIT(POOL_EVENTS))

const char * const top_orders[TOP_ORDERS] = { "use", "refusals", "usage", "path" };

struct top top = { .delay_ms = 1000 };

/* A limit of 0 is always reached. */
double top_use(const struct top_row *row)
{
	return row->limit == NUMBER_MAX ? -1 : row->limit ? (double)row->usage / row->limit : 1;
}

double top_rate(const struct top_row *row)
{
	return top.elapsed ? row->refused * 1000.0 / top.elapsed : -1;
}

static int top_compare(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	const struct device *device = &one->pool->device, *other_device = &other->pool->device;
	/* Numbers of bytes and of objects cannot be compared. */
	int bytes = number_is_bytes(other->key) - number_is_bytes(one->key);
	int usage = bytes ?: (one->usage < other->usage) - (one->usage > other->usage);
	double one_use = top_use(one), other_use = top_use(other);
	int use = (one_use < other_use) - (one_use > other_use);
	int rate = (one->refused < other->refused) - (one->refused > other->refused);
	const int orders[TOP_ORDERS] = { use ?: rate, rate ?: use, usage };

	return orders[top.order] ?: strcmp(one->cgroup, other->cgroup) ?:
	       strcmp(device->name, other_device->name) ?:
	       (device->index > other_device->index) - (device->index < other_device->index) ?:
	       strcmp(one->key, other->key);
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

/* A copy of the name, which all rows share. */
static const char *top_name(struct cgroup *cgroup)
{
	if (!cgroup->copy)
		cgroup->copy = *memory_append(top.names, top.nr_names) =
			memory_string(cgroup_name(cgroup));
	return cgroup->copy;
}

/* Add a row for a resource that is in use, is limited by the cgroup itself, or was just refused. */
static void top_add(struct cgroup *cgroup, uint64_t inode, const struct slot *slot)
{
	const struct slot *known = pools_get_slot(&top.known, &slot->pool->device, slot->key);
	struct top_count count = { inode, known->key, slot->events.alloc_fail }, *last;
	uint64_t refused = 0;

	if (count.refused) {
		*memory_append(top.next, top.nr_next) = count;
		last = !top.nr_counts ? NULL : bsearch(&count, top.counts, top.nr_counts,
						       sizeof(count), top_compare_counts);
		/* A smaller counter than before belongs to a new device with the old name. */
		refused = !top.elapsed ? 0 : count.refused -
			  (last && last->refused <= count.refused ? last->refused : 0);
	}
	if (slot->usage || slot->max != NUMBER_MAX || refused)
		*memory_append(top.rows, top.nr_rows) = (struct top_row){
			.cgroup = top_name(cgroup), .pool = known->pool, .key = known->key,
			.limit_of = !slot->limit_of ? NULL :
				    top_name((struct cgroup *)slot->limit_of),
			.usage = slot->usage, .limit = slot->limit, .refused = refused,
		};
}

/* Forget the last read, except its counters. */
static void top_forget(void)
{
	free(top.rows);
	top.rows = NULL;
	top.nr_rows = 0;
	while (top.nr_names)
		free(top.names[--top.nr_names]);
	free(top.names);
	top.names = NULL;
}

bool top_read(void)
{
	struct walk walk = { .top = cgroup_open_argument(top.cgroup), .files = TOP_FILES };
	const struct slot *slot = NULL;
	int64_t now = clock_now();
	struct cgroup *cgroup;
	struct stat status;

	top_forget();
	top.elapsed = top.when ? max(now - top.when, 1) : 0;
	while (walk.top && (cgroup = walk_next(&walk))) {
		status.st_ino = 0;
		fstat(cgroup->dir, &status);
		/* Skip rates of commands and defaults, which have no usage. */
		while ((slot = pools_next(&cgroup->pools, slot)))
			if (slot->has & POOL_BIT(POOL_CURRENT) && slot_is_telling(slot))
				top_add(cgroup, status.st_ino, slot);
	}
	if (top.nr_next)
		qsort(top.next, top.nr_next, sizeof(*top.next), top_compare_counts);
	free(top.counts);
	top.counts = top.next;
	top.nr_counts = top.nr_next;
	top.next = NULL;
	top.nr_next = 0;
	top.when = now;
	top_sort();
	cgroup_close_path(walk.top);
	return walk.top && !walk.failed;
}

static void top_add_cells(struct table *table, const struct top_row *row)
{
	char *rate __autofree = memory_format(top_rate(row) < 0 ? "-" : "%.1f", top_rate(row));
	char *limit_of __autofree = cgroup_relative(row->limit_of, row->cgroup, table->width);
	bool human = number_is_bytes(row->key);

	/* Round down, so that 100 means that the limit is reached. */
	table_number(table, row->limit != NUMBER_MAX,
		     row->limit ? (__uint128_t)row->usage * 100 / row->limit : 100, false);
	table_alarm(table, top_use(row) >= 1);
	table_cell(table, rate);
	table_alarm(table, row->refused);
	table_number(table, true, row->usage, human);
	table_cell(table, cgroup_limit_text(row->limit, human).s);
	table_cell(table, row->key);
	table_cell(table, device_text(&row->pool->device).s);
	table_cell(table, row->cgroup);
	table_cell(table, limit_of);
}

void top_print_table(FILE *to, size_t rows, size_t width)
{
	static const char * const headings[] = {
		"USE%", "REFUSED/S", "USAGE", "LIMIT", "RESOURCE", "DEVICE", "CGROUP", "LIMIT OF",
	};
	size_t first = top.first, end = first + min(rows, top.nr_rows - first), i;
	struct table table;

	table_init(&table, "rrrrnnnn", headings, width);
	for (i = first; i < end; i++) {
		top_add_cells(&table, &top.rows[i]);
		table_forget(&table);
	}
	for (i = first; i < end; i++) {
		top_add_cells(&table, &top.rows[i]);
		table_print(&table, to);
	}
	/* Without rows, this prints the headings. */
	table_print(&table, to);
}
