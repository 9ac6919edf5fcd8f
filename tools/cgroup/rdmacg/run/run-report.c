// SPDX-License-Identifier: GPL-2.0
/* rdmacg run: the report about the needs of a command. */
#include "run/run.h"

/* The data about the command for all parts of a report. */
static struct {
	uint64_t margin;
	int status;
	uint64_t refused;
	/* RLIMIT_MEMLOCK, if it may be the cause of a failure; otherwise NUMBER_MAX. */
	uint64_t memlock;
} report;

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
		fprintf(to, " %s=%" PRIu64, slot->key, number_raise(slot->peak, report.margin));
	}
	if (pool)
		fputc('\n', to);
}

/* Print the cause of a failure, if it is known. A failed command may need more than its peaks. */
static void report_print_failed(FILE *to)
{
	fprintf(to,
		"The command failed (status %d), so it may need more than this, which it used until then:\n",
		report.status);
	if (report.refused)
		fprintf(to, "(%" PRIu64 " of its attempts %s refused by a limit; see rdmacg why)\n",
			report.refused, report.refused == 1 ? "was" : "were");
	else if (report.memlock != NUMBER_MAX)
		fprintf(to,
			"(no cgroup refused; RLIMIT_MEMLOCK is %s, which is small, and may be the cause)\n",
			number_text(report.memlock, true));
}

static void report_print_text(FILE *to, const struct pools *pools)
{
	if (!report_print_table(to, pools)) {
		fprintf(to, "The command used no RDMA resources%s.\n",
			report.status ? " until it failed" : "");
		return;
	}
	if (report.status)
		report_print_failed(to);
	else if (report.refused)
		fprintf(to, "%" PRIu64 " of its attempts %s refused, so it may need more than:\n",
			report.refused, report.refused == 1 ? "was" : "were");
	else if (report.margin)
		fprintf(to, "Enough, with %.6g%% more than the peaks:\n", report.margin / 1000.0);
	else
		fputs("Just enough would have been:\n", to);
	report_print_lines(to, pools);
}

static struct json_object *report_slot_json(const struct slot *slot)
{
	struct json_object *object = json_pack("resource:s peak:u limit:l", slot->key, slot->peak,
					       slot->limit);
	bool enough = !slot->events.alloc_fail && !report.status;

	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_fill(object, "refused:u", slot->events.alloc_fail);
	json_fill(object, "enough:l",
		  enough ? number_raise(slot->peak, report.margin) : NUMBER_MAX);
	return object;
}

/* Returns the cause of a failure: "cgroup", "memlock", or NULL if no cause was found. */
static const char *report_cause(void)
{
	if (report.status && report.refused)
		return "cgroup";
	return report.memlock == NUMBER_MAX ? NULL : "memlock";
}

void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status)
{
	const struct pools *pools = &cgroup->pools;
	const struct slot *slot = NULL;
	bool used = false;

	report.margin = margin;
	report.status = status;
	report.refused = 0;
	while ((slot = pools_next(pools, slot))) {
		report.refused += slot->events.alloc_fail;
		used |= slot->peak;
	}
	/* RLIMIT_MEMLOCK cannot be the cause if the command used no resource. */
	report.memlock = status && !report.refused && used ? other_own_memlock() : NUMBER_MAX;
	if (!options.json)
		report_print_text(to, pools);
	else
		json_print(to, json_pack("cgroup:s status:u complete:b cause:s missing:o devices:o",
					 cgroup_name(cgroup), (uint64_t)status, !status,
					 report_cause(), missing_json(pools),
					 pools_json(pools, report_has_row, report_slot_json)));
}
