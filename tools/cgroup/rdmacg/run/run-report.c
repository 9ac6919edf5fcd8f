// SPDX-License-Identifier: GPL-2.0
/* rdmacg run: the report about the needs of a command. */
#include "run/run.h"

/* Parameters of all parts of a report. */
static uint64_t report_margin;
static int report_status;

void report_see(struct pools *seen, const struct pools *now)
{
	const struct slot *slot = NULL;
	struct slot *peak;

	while ((slot = pools_next(now, slot))) {
		peak = pools_get_slot(seen, &slot->pool->device, slot->key);
		if (slot->usage > peak->peak)
			peak->peak = slot->usage;
	}
}

void report_fill_peaks(struct pools *pools, const struct pools *seen)
{
	const struct slot *peak;
	struct slot *slot = NULL;

	while ((slot = pools_next(pools, slot))) {
		peak = pools_find_slot(seen, &slot->pool->device, slot->key);
		if (peak && !(slot->has & POOL_BIT(POOL_PEAK)))
			slot->peak = peak->peak;
	}
}

static bool report_has_row(const struct slot *slot)
{
	return slot->peak || slot->events.alloc_fail;
}

/* Print the table. Returns false if it has no rows. */
static bool report_print_table(FILE *to, const struct pools *pools)
{
	static const char * const headings[] = {
		"DEVICE", "RESOURCE", "PEAK", "LIMIT", "REFUSED",
	};
	const struct slot *slot = NULL;
	bool rows = false;
	struct table table;

	table_init(&table, "llrrr", headings, 0);
	while ((slot = pools_next(pools, slot))) {
		bool bytes = number_is_bytes(slot->key);

		if (!report_has_row(slot))
			continue;
		rows = true;
		table_cell(&table, device_text(&slot->pool->device));
		table_cell(&table, slot->key);
		table_number(&table, true, slot->peak, bytes);
		table_number(&table, true, slot->limit, bytes);
		table_number(&table, slot->has & POOL_BIT(POOL_EVENTS), slot->events.alloc_fail,
			     false);
	}
	if (rows)
		table_print(&table, to);
	return rows;
}

/* Print a line such as "rxe0 hca_handle=2 qp=3" for each device, with peaks plus the margin. */
static void report_print_lines(FILE *to, const struct pools *pools)
{
	const struct slot *slot = NULL;
	const struct pool *pool = NULL;

	while ((slot = pools_next(pools, slot))) {
		if (!slot->peak)
			continue;
		if (slot->pool != pool) {
			char *name __autofree = text_escape(device_text(&slot->pool->device));

			fprintf(to, "%s%s", pool ? "\n" : "", name);
			pool = slot->pool;
		}
		fprintf(to, " %s=%" PRIu64, slot->key, number_raise(slot->peak, report_margin));
	}
	if (pool)
		fputc('\n', to);
}

/* RLIMIT_MEMLOCK if it is small and the command used a resource; otherwise NUMBER_MAX. */
static uint64_t report_small_memlock(const struct pools *pools)
{
	const struct slot *slot = NULL;

	while ((slot = pools_next(pools, slot)))
		if (slot->peak)
			return other_own_memlock();
	return NUMBER_MAX;
}

static uint64_t report_refused(const struct pools *pools)
{
	const struct slot *slot = NULL;
	uint64_t refused = 0;

	while ((slot = pools_next(pools, slot)))
		refused += slot->events.alloc_fail;
	return refused;
}

/* Print the cause of a failure, if it is known. A failed command may need more than its peaks. */
static void report_print_failed(FILE *to, const struct pools *pools, uint64_t refused)
{
	uint64_t memlock = report_small_memlock(pools);

	fprintf(to,
		"The command failed (status %d), so it may need more than this, which it used until then:\n",
		report_status);
	if (refused)
		fprintf(to,
			"(%" PRIu64 " of its attempts %s refused by a limit; see rdmacg why)\n",
			refused, refused == 1 ? "was" : "were");
	else if (memlock != NUMBER_MAX)
		fprintf(to,
			"(no cgroup refused; RLIMIT_MEMLOCK is %s, which is small, and may be the cause)\n",
			number_text(memlock, true));
}

static void report_print_text(FILE *to, const struct pools *pools)
{
	uint64_t refused = report_refused(pools);

	if (!report_print_table(to, pools)) {
		fprintf(to, "The command used no RDMA resources%s.\n",
			report_status ? " until it failed" : "");
		return;
	}
	if (report_status)
		report_print_failed(to, pools, refused);
	else if (refused)
		fprintf(to, "%" PRIu64 " of its attempts %s refused, so it may need more than:\n",
			refused, refused == 1 ? "was" : "were");
	else if (report_margin)
		fprintf(to, "Enough, with %.6g%% more than the peaks:\n", report_margin / 1000.0);
	else
		fputs("Just enough would have been:\n", to);
	report_print_lines(to, pools);
}

static struct json_object *report_slot_json(const struct slot *slot)
{
	struct json_object *object = json_pack("resource:s peak:u limit:l", slot->key, slot->peak,
					       slot->limit);
	bool enough = !slot->events.alloc_fail && !report_status;

	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_fill(object, "refused:u", slot->events.alloc_fail);
	json_fill(object, "enough:l",
		  enough ? number_raise(slot->peak, report_margin) : NUMBER_MAX);
	return object;
}

/* The cause of a failure: "cgroup", "memlock", or NULL if no cause was found. */
static const char *report_cause(const struct pools *pools)
{
	if (!report_status)
		return NULL;
	if (report_refused(pools))
		return "cgroup";
	return report_small_memlock(pools) == NUMBER_MAX ? NULL : "memlock";
}

void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status)
{
	const struct pools *pools = &cgroup->pools;

	report_margin = margin;
	report_status = status;
	if (!options.json) {
		report_print_text(to, pools);
		return;
	}
	json_print(to,
		   json_pack("cgroup:s status:u complete:b cause:s missing:o devices:o",
			     cgroup_name(cgroup), (uint64_t)status, !status, report_cause(pools),
			     missing_json(pools),
			     pools_json(pools, report_has_row, report_slot_json)));
}
