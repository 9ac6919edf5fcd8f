// SPDX-License-Identifier: GPL-2.0
/* rdmacg show: a row for each resource of a device in a cgroup. */
#include "core/core.h"

static struct show {
	bool recursive, all, exact;
	uint64_t levels;
	struct table table;
	size_t nr_cgroups;	/* number of cgroups that were printed as JSON */
	struct json_object *missing;
	unsigned int top;	/* the depth of the given cgroup */
} show = { .levels = UINT64_MAX };

static const struct syntax show_syntax = {
	.choices = {
		{ "recursive", 'r', "also show the cgroups below, as a tree", &show.recursive },
		{ "all", 'a', "also show resources that were never used, limited or refused",
		  &show.all },
		{ "bytes", 'b', "show memory in bytes, not in KiB, MiB and so on", &show.exact },
		{ "depth", 0, "show the tree down to N levels below the cgroup", &show.levels,
		  "N" },
	},
	.lists = { select_choices, filter_choices, table_choices }, .args_doc = "[CGROUP...]",
	.example = "rdmacg show --unit slurmd",
	.doc =
		"Show usage, limit, peak and refusals of cgroups for each resource of each device. The limit is the smallest of the cgroup and its ancestors, and LIMIT OF is the cgroup that has it.\vWithout a CGROUP, show the whole tree. The root's limits are the capacity of the devices.",
};

/* Whether a slot gets a row. In a tree, an inherited limit alone is not a reason for a row. */
static bool show_has_row(const struct slot *slot)
{
	return show.all || slot_is_telling(slot) || (!show.recursive && slot->limit != NUMBER_MAX);
}

/* In the first row, print the name, below the ancestors that have no row. */
static void show_name(struct cgroup *cgroup)
{
	char *name __autofree = NULL;
	int indent = 2 * (cgroup->depth - show.top);
	size_t i;

	if (indent && !cgroup->parent->marked) {
		show_name(cgroup->parent);
		for (i = 1; i < show.table.columns; i++)
			table_cell(&show.table, "");
	}
	name = memory_format("%*s%s", indent, "",
			     indent ? basename(cgroup->name) : cgroup_name(cgroup));
	table_cell(&show.table, cgroup->marked ? "" : name);
	cgroup->marked = true;
}

static struct json_object *show_slot_json(const struct slot *slot)
{
	struct json_object *object = json_pack("resource:s class:s unit:s", slot->key,
					       pool_class_names[slot->class],
					       number_is_bytes(slot->key) ? "bytes" : "objects");

	if (slot->has & POOL_BIT(POOL_CURRENT))
		json_fill(object, "usage:u", slot->usage);
	if (slot->has & POOL_BIT(POOL_MAX))
		json_fill(object, "max:l limit:l limit_of:s", slot->max, slot->limit,
			  cgroup_name(slot->limit_of));
	if (slot->has & POOL_BIT(POOL_PEAK))
		json_fill(object, "peak:u", slot->peak);
	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_fill(object, "refused:u", slot->events.alloc_fail);
	if (slot->has & POOL_BIT(POOL_EVENTS_LOCAL))
		json_fill(object, "refused_by_it:u", slot->local.max);
	json_fill(object, "capacity:l", capacity_of(&slot->pool->device, slot->key));
	return object;
}

static void show_cgroup(struct cgroup *cgroup, const struct pools *pools)
{
	struct table *table = &show.table;
	struct json_object *devices;
	const struct slot *slot = NULL;

	cgroup->leave_below = !show.recursive || cgroup->depth - show.top >= show.levels;
	missing_say(pools);
	if (pools->files[POOL_HCA] && !show.missing)
		show.missing = missing_json(pools);
	while (!options.json && (slot = pools_next(pools, slot))) {
		char *limit_of __autofree = NULL;
		bool human = !show.exact && number_is_bytes(slot->key);
		bool counted = slot->has & POOL_BIT(POOL_CURRENT);

		if (!show_has_row(slot))
			continue;
		limit_of = cgroup_relative(cgroup_name(slot->limit_of), cgroup_name(cgroup),
					   table->width);
		show_name(cgroup);
		table_cell(table, device_text(&slot->pool->device).s);
		table_cell(table, slot->key);
		table_number(table, counted, slot->usage, human);
		table_alarm(table, counted && slot->usage >= slot->limit);
		table_cell(table, slot->has & POOL_BIT(POOL_MAX) ?
			   cgroup_limit_text(slot->limit, human).s : "-");
		table_cell(table, limit_of);
		table_number(table, slot->has & POOL_BIT(POOL_PEAK), slot->peak, human);
		table_number(table, slot->has & POOL_BIT(POOL_EVENTS), slot->events.alloc_fail,
			     false);
		table_alarm(table, slot->events.alloc_fail);
		/* Count only refusals by the cgroup's limit: descendants have rows of their own. */
		table_number(table, slot->has & POOL_BIT(POOL_EVENTS_LOCAL), slot->local.max,
			     false);
	}
	if (!options.json)
		return;
	devices = pools_json(pools, show_has_row, show_slot_json);
	if (json_object_array_length(devices) || !show.recursive)
		json_print_element(stdout, "cgroups", show.nr_cgroups++,
				   json_pack("cgroup:s devices:o", cgroup_name(cgroup), devices));
	else
		json_object_put(devices);
}

/* Without --recursive, show the cgroup or the ancestor to which its processes are charged. */
static bool show_target(struct cgroup *cgroup, pid_t pid)
{
	struct cgroup *counted = show.recursive ? cgroup : cgroup_say_counted_in(cgroup);
	struct walk walk = { .top = counted ? counted : cgroup, .files = POOL_ALL };
	struct slot *slot = NULL;

	if (!counted && cgroup->parent)
		return true;
	show.top = walk.top->depth;
	/* The root without the controller shows the capacity and the objects of the devices. */
	while (!counted && (slot = pools_next(&capacity.pools, slot)))
		slot->limit = slot->max;
	while ((cgroup = walk_next(&walk)))
		show_cgroup(cgroup, counted ? &cgroup->pools : &capacity.pools);
	return !walk.failed;
}

int cmd_show(int argc, char **argv)
{
	static const char * const headings[] = {
		"CGROUP", "DEVICE", "RESOURCE", "USAGE", "LIMIT", "LIMIT OF", "PEAK", "REFUSED",
		"BY IT",
	};
	bool done, has_rows;

	show.recursive |= !select_arguments(options_read(&show_syntax, argc, argv)) ||
			  show.levels != UINT64_MAX;
	hierarchy_open(EXIT_FAILED);
	capacity_read();
	capacity.by_owner = true;
	table_init(&show.table, "gnnrrnrrr", headings, say_width());
	done = select_each(show_target);
	has_rows = show.table.nr_cells;
	if (options.json)
		json_print_rest(stdout, "cgroups", show.nr_cgroups,
				json_pack("root:s version:u above_is_seen:b missing:o",
					  hierarchy.path, (uint64_t)(hierarchy.v2 ? 2 : 1),
					  !hierarchy.partial,
					  show.missing ? show.missing : json_object_new_array()));
	else if (has_rows)
		table_print(&show.table, stdout);
	if (hierarchy.partial && !options.json)
		say_note("limits of cgroups above / also apply, but are not visible here");
	if (!has_rows && done && !options.json)
		say_note(show.all ? "there are no resources of a device" :
			 "no resource is used, limited or refused there; -a shows all resources");
	return done ? EXIT_DONE : EXIT_FAILED;
}
