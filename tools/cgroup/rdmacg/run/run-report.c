// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what a command turned out to need. */
#include "core/core.h"
#include "run/run-report.h"

void report_see(struct pools *seen, const struct pools *now)
{
	size_t i, j;

	for (i = 0; i < now->nr_pools; i++) {
		const struct pool *pool = &now->pools[i];

		for (j = 0; j < pool->nr_slots; j++) {
			struct slot *slot = pools_get_slot(seen, &pool->device,
							   pool->slots[j].key);

			if (pool->slots[j].usage > slot->peak)
				slot->peak = pool->slots[j].usage;
		}
	}
}

void report_fill_peaks(struct pools *pools, const struct pools *seen)
{
	const struct slot *slot;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		struct pool *pool = &pools->pools[i];

		for (j = 0; j < pool->nr_slots; j++) {
			slot = pools_find_slot(seen, &pool->device, pool->slots[j].key);
			if (slot && !(pool->slots[j].has & POOL_BIT(POOL_PEAK)))
				pool->slots[j].peak = slot->peak;
		}
	}
}

static bool report_is_telling(const struct slot *slot)
{
	return slot->peak || slot->events.alloc_fail;
}

static void report_print_row(struct table *table, const char *device, const struct slot *slot)
{
	bool bytes = number_is_bytes(slot->key);
	char buffer[NUMBER_SIZE];

	table_cell(table, "%s", device);
	table_cell(table, "%s", slot->key);
	table_cell(table, "%s", number_format(buffer, slot->peak, bytes));
	table_cell(table, "%s", number_format(buffer, slot->limit, bytes));
	if (slot->has & POOL_BIT(POOL_EVENTS))
		table_cell(table, "%" PRIu64, slot->events.alloc_fail);
	else
		table_cell(table, "-");
}

/* Print the table; returns how many attempts were refused, or -1 for no rows at all. */
static int64_t report_print_table(FILE *to, const struct cgroup *cgroup)
{
	static const char * const heading[] = {
		"DEVICE", "RESOURCE", "PEAK", "LIMIT", "REFUSED",
	};
	const struct pools *pools = &cgroup->pools;
	int64_t refused = -1;
	struct table table;
	size_t i, j;

	table_init(&table, "llrrr", heading);
	for (i = 0; i < pools->nr_pools; i++) {
		char *device = device_format(&pools->pools[i].device);

		for (j = 0; j < pools->pools[i].nr_slots; j++) {
			const struct slot *slot = &pools->pools[i].slots[j];

			if (!report_is_telling(slot))
				continue;
			refused = (refused < 0 ? 0 : refused) + slot->events.alloc_fail;
			report_print_row(&table, device, slot);
		}
		free(device);
	}
	if (refused < 0)
		table_free(&table);
	else
		table_print(&table, to);
	return refused;
}

/* "rxe0 hca_handle=2 qp=3": what was the peak, and the margin. */
static void report_print_line(FILE *to, const struct pool *pool, uint64_t margin)
{
	char *device = device_format(&pool->device);
	char *name = text_escape(device);
	bool begun = false;
	size_t i;

	for (i = 0; i < pool->nr_slots; i++) {
		const struct slot *slot = &pool->slots[i];

		if (!slot->peak)
			continue;
		if (!begun)
			fputs(name, to);
		begun = true;
		fprintf(to, " %s=%" PRIu64, slot->key, number_raise(slot->peak, margin));
	}
	if (begun)
		fputc('\n', to);
	free(name);
	free(device);
}

/* Whether the command took memory, or tried to: what RLIMIT_MEMLOCK refuses is mr. */
static uint64_t report_small_memlock(const struct cgroup *cgroup)
{
	const struct pools *pools = &cgroup->pools;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			if (pools->pools[i].slots[j].peak)
				return other_own_memlock();
	return NUMBER_MAX;
}

/* What a failed command used is not what it needs; where a cause was seen, it is said. */
static void report_print_failed(FILE *to, const struct cgroup *cgroup, int64_t refused, int status)
{
	uint64_t memlock = report_small_memlock(cgroup);
	char buffer[NUMBER_SIZE];

	fprintf(to,
		"The command failed (status %d), so it may need more than this, which it used until then:\n",
		status);
	if (refused)
		fprintf(to,
			"(%" PRId64 " of its attempts %s refused by a limit; see rdmacg why)\n",
			refused, refused == 1 ? "was" : "were");
	else if (memlock != NUMBER_MAX)
		fprintf(to,
			"(no cgroup refused; RLIMIT_MEMLOCK is %s, which is small: suspect that first)\n",
			number_format(buffer, memlock, true));
}

static uint64_t report_refused(const struct pools *pools)
{
	uint64_t refused = 0;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			refused += pools->pools[i].slots[j].events.alloc_fail;
	return refused;
}

struct json_object *report_cause_json(const struct cgroup *cgroup, int status)
{
	if (!status)
		return NULL;
	if (report_refused(&cgroup->pools))
		return json_text("cgroup");
	return report_small_memlock(cgroup) == NUMBER_MAX ? NULL : json_text("memlock");
}

void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status)
{
	int64_t refused = report_print_table(to, cgroup);
	size_t i;

	if (refused < 0) {
		fprintf(to, "The command used no RDMA resources%s.\n",
			status ? " until it failed" : "");
		return;
	}
	if (status)
		report_print_failed(to, cgroup, refused, status);
	else if (refused)
		fprintf(to,
			"%" PRId64 " of its attempts %s refused, so it may need more than:\n",
			refused, refused == 1 ? "was" : "were");
	else if (margin)
		fprintf(to, "Enough, with %.6g%% more than the peaks:\n", margin / 1000.0);
	else
		fputs("Just enough would have been:\n", to);
	for (i = 0; i < cgroup->pools.nr_pools; i++)
		report_print_line(to, &cgroup->pools.pools[i], margin);
}

static struct json_object *report_json_slot(const struct slot *slot, uint64_t margin, int status)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "resource", json_text(slot->key));
	json_add(object, "peak", json_number(slot->peak));
	json_add(object, "limit", json_limit(slot->limit));
	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_add(object, "refused", json_number(slot->events.alloc_fail));
	json_add(object, "enough", slot->events.alloc_fail || status ? NULL :
		 json_number(number_raise(slot->peak, margin)));
	return object;
}

struct json_object *report_json(const struct cgroup *cgroup, uint64_t margin, int status)
{
	struct json_object *devices = json_object_new_array();
	size_t i, j;

	for (i = 0; i < cgroup->pools.nr_pools; i++) {
		const struct pool *pool = &cgroup->pools.pools[i];
		struct json_object *device = json_object_new_object();
		struct json_object *resources = json_object_new_array();

		for (j = 0; j < pool->nr_slots; j++)
			if (report_is_telling(&pool->slots[j]))
				json_object_array_add(resources,
						      report_json_slot(&pool->slots[j], margin,
								       status));
		if (!json_object_array_length(resources)) {
			json_object_put(resources);
			json_object_put(device);
			continue;
		}
		device_json(device, &pool->device);
		json_add(device, "resources", resources);
		json_object_array_add(devices, device);
	}
	return devices;
}
