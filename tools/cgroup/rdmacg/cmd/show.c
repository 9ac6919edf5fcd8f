// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg show: usage, the limit that binds, peak and refusals.
 *
 * A row is a resource of a device in a cgroup. Rows that say nothing, because nothing was
 * used, limited or refused, are left out unless all are asked for.
 */
#include "core/core.h"

struct show {
	struct targets targets;
	bool recursive;
	bool all;
	bool exact;
	/* How many levels below the one that was asked for; -1 for all. */
	long levels;
	struct hierarchy hierarchy;
	struct capacity capacity;
	struct table table;
	/* The array of cgroups, for JSON. */
	struct json_object *cgroups;
	struct json_object *missing;
	size_t rows;
	/* The depth of the cgroup that was asked for. */
	unsigned int top;
	bool said_missing;
};

enum { SHOW_KEY_DEPTH = OPTIONS_KEY };

static const struct argp_option show_options[] = {
	{ "recursive", 'r', NULL, 0, "the cgroups below as well, as a tree", 0 },
	{ "all", 'a', NULL, 0, "what was never used, limited or refused as well", 0 },
	{ "bytes", 'b', NULL, 0, "memory in bytes, not in KiB, MiB and so on", 0 },
	{ "depth", SHOW_KEY_DEPTH, "N", 0, "of the tree, no more than N levels below", 0 },
	{ 0 }
};

static error_t show_parse(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;
	uint64_t levels;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[1] = &show->targets;
		return 0;
	case 'r':
		show->recursive = true;
		return 0;
	case 'a':
		show->all = true;
		return 0;
	case 'b':
		show->exact = true;
		return 0;
	case SHOW_KEY_DEPTH:
		if (!number_parse(arg, strlen(arg), &levels) || levels > INT32_MAX)
			options_fail("--depth", "%s: must be a number from 0 on", arg);
		show->recursive = true;
		show->levels = levels;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child show_children[] = {
	{ .argp = &options_argp },
	{ .argp = &select_argp },
	{ .argp = &filter_argp },
	{ .argp = &table_argp },
	{ 0 }
};

static const struct argp show_argp = {
	.options = show_options,
	.parser = show_parse,
	.args_doc = "[CGROUP...]",
	.doc =
		"Show what cgroups use of each resource of each device, the limit that binds them (the smallest on the way up) and whose it is, the peak, and how many attempts were refused.\vWithout a CGROUP, all of the tree. The root stands for the devices: its limits are what they have.",
	.children = show_children,
};

/* Whether a row says anything. In a tree, what is inherited is said above. */
static bool show_is_telling(const struct show *show, const struct slot *slot)
{
	if (show->all || slot->usage || slot->peak || slot->max != NUMBER_MAX)
		return true;
	if (slot->events.max || slot->events.alloc_fail)
		return true;
	return !show->recursive && slot->limit != NUMBER_MAX;
}

static void show_number(struct show *show, const struct slot *slot, enum pool_file file,
			uint64_t value)
{
	bool human = !show->exact && number_is_bytes(slot->key);
	char buffer[NUMBER_SIZE];

	if (slot->has & POOL_BIT(file))
		table_cell(&show->table, "%s", number_format(buffer, value, human));
	else
		table_cell(&show->table, "-");
}

static void show_limit(struct show *show, const struct cgroup *cgroup, const struct slot *slot)
{
	char buffer[NUMBER_SIZE];

	if (slot->has & POOL_BIT(POOL_MAX))
		table_cell(&show->table, "%s",
			   cgroup_format_limit(buffer, cgroup, slot,
					       !show->exact && number_is_bytes(slot->key)));
	else
		table_cell(&show->table, "-");
}

static void show_begin(struct show *show)
{
	static const char * const heading[] = {
		"CGROUP", "DEVICE", "RESOURCE", "USAGE", "LIMIT", "LIMIT OF", "PEAK", "REFUSED",
		"BY IT",
	};

	table_init(&show->table, "gnnrrnrrr", heading);
	show->table.width = say_width();
}

/* The name's last part, as far to the right as it is deep. */
static void show_name(struct show *show, const struct cgroup *cgroup)
{
	int indent = 2 * (cgroup->depth - show->top);
	const char *slash = strrchr(cgroup->name, '/');

	if (!indent)
		table_cell(&show->table, "%s", cgroup_name(cgroup));
	else
		table_cell(&show->table, "%*s%s", indent, "", slash ? slash + 1 : cgroup->name);
}

/* Name the cgroups above that had no row of their own, so that the tree has no holes. */
static void show_parents(struct show *show, struct cgroup *cgroup)
{
	size_t i;

	if (!cgroup || cgroup->marked || cgroup->depth < show->top)
		return;
	show_parents(show, cgroup->parent);
	cgroup->marked = true;
	show_name(show, cgroup);
	for (i = 1; i < show->table.columns; i++)
		table_cell(&show->table, "%s", "");
}

static void show_row(struct show *show, struct cgroup *cgroup, const struct pool *pool,
		     const struct slot *slot)
{
	char *device = device_format(&pool->device);

	show_parents(show, cgroup->parent);
	if (cgroup->marked)
		table_cell(&show->table, "%s", "");
	else
		show_name(show, cgroup);
	cgroup->marked = true;
	table_cell(&show->table, "%s", device);
	table_cell(&show->table, "%s", slot->key);
	show_number(show, slot, POOL_CURRENT, slot->usage);
	if ((slot->has & POOL_BIT(POOL_CURRENT)) && slot->usage >= slot->limit)
		table_alarm(&show->table);
	show_limit(show, cgroup, slot);
	table_cell(&show->table, "%s",
		   cgroup_relative(slot->limit_of ? cgroup_name(slot->limit_of) : NULL,
				   cgroup_name(cgroup), show->table.width));
	show_number(show, slot, POOL_PEAK, slot->peak);
	if (slot->has & POOL_BIT(POOL_EVENTS)) {
		table_cell(&show->table, "%" PRIu64, slot->events.alloc_fail);
		if (slot->events.alloc_fail)
			table_alarm(&show->table);
	} else {
		table_cell(&show->table, "-");
	}
	/* Of its own limit alone: what is below has a row of its own. */
	if (slot->has & POOL_BIT(POOL_EVENTS_LOCAL))
		table_cell(&show->table, "%" PRIu64, slot->local.max);
	else
		table_cell(&show->table, "-");
	show->rows++;
	free(device);
}

static struct json_object *show_json_slot(const struct show *show, const struct pool *pool,
					  const struct slot *slot)
{
	struct json_object *object = json_object_new_object();
	bool bytes = number_is_bytes(slot->key);

	json_add(object, "resource", json_text(slot->key));
	json_add(object, "class", json_text(pool_class_names[slot->class]));
	json_add(object, "unit", json_text(bytes ? "bytes" : "objects"));
	if (slot->has & POOL_BIT(POOL_CURRENT))
		json_add(object, "usage", json_number(slot->usage));
	if (slot->has & POOL_BIT(POOL_MAX)) {
		json_add(object, "max", json_limit(slot->max));
		json_add(object, "limit", json_limit(slot->limit));
		json_add(object, "limit_of", slot->limit_of ?
			 json_text(cgroup_name(slot->limit_of)) : NULL);
	}
	if (slot->has & POOL_BIT(POOL_PEAK))
		json_add(object, "peak", json_number(slot->peak));
	if (slot->has & POOL_BIT(POOL_EVENTS))
		json_add(object, "refused", json_number(slot->events.alloc_fail));
	if (slot->has & POOL_BIT(POOL_EVENTS_LOCAL))
		json_add(object, "refused_by_it", json_number(slot->local.max));
	json_add(object, "capacity",
		 json_limit(capacity_of(&show->capacity, &pool->device, slot->key)));
	return object;
}

static struct json_object *show_json_pool(const struct show *show, const struct pool *pool)
{
	struct json_object *resources = json_object_new_array();
	struct json_object *object;
	size_t i;

	for (i = 0; i < pool->nr_slots; i++)
		if (show_is_telling(show, &pool->slots[i]))
			json_object_array_add(resources,
					      show_json_slot(show, pool, &pool->slots[i]));
	if (!json_object_array_length(resources)) {
		json_object_put(resources);
		return NULL;
	}
	object = json_object_new_object();
	device_json(object, &pool->device);
	json_add(object, "resources", resources);
	return object;
}

static void show_json_cgroup(struct show *show, const struct cgroup *cgroup)
{
	struct json_object *object = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	struct json_object *device;
	size_t i;

	for (i = 0; i < cgroup->pools.nr_pools; i++) {
		device = show_json_pool(show, &cgroup->pools.pools[i]);
		if (device)
			json_object_array_add(devices, device);
	}
	json_add(object, "cgroup", json_text(cgroup_name(cgroup)));
	json_add(object, "devices", devices);
	if (json_object_array_length(devices) || !show->recursive)
		json_object_array_add(show->cgroups, object);
	else
		json_object_put(object);
}

static bool show_visit(struct cgroup *cgroup, void *data)
{
	struct show *show = data;
	const struct pools *pools = &cgroup->pools;
	size_t i, j;

	if (show->levels >= 0 && cgroup->depth - show->top >= show->levels)
		cgroup->leave_below = true;
	if (pools->files[POOL_HCA] && !show->said_missing) {
		show->said_missing = true;
		if (options.json)
			show->missing = missing_json(pools);
		else
			missing_say(pools);
	}
	if (options.json) {
		show_json_cgroup(show, cgroup);
		return true;
	}
	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			if (show_is_telling(show, &pools->pools[i].slots[j]))
				show_row(show, cgroup, &pools->pools[i],
					 &pools->pools[i].slots[j]);
	return true;
}

/* What netlink says of one device goes to the pool of the same one. */
static void show_fill_device(struct pools *pools, const struct netlink_device *device)
{
	const struct pool *pool = pools_find(pools, &device->device);
	struct device name = device->device;
	size_t i;

	/* The files have an index only where it is needed, netlink always. */
	name.has_index = pool;
	for (i = 0; i < device->nr_resources; i++) {
		const struct netlink_resource *resource = &device->resources[i];
		struct slot *slot;

		if (!filter_has_device(name.name) || !filter_has_key(resource->key))
			continue;
		slot = pools_get_slot(pools, &name, resource->key);
		slot->usage = resource->count;
		slot->has |= POOL_BIT(POOL_CURRENT);
		if (slot->has & POOL_BIT(POOL_MAX))
			continue;
		slot->max = resource->capacity;
		slot->has |= POOL_BIT(POOL_MAX);
	}
}

/* The root's pools are what the devices have, and what there is of it at all. */
static void show_fill_root(struct show *show, struct cgroup *root)
{
	struct pools *pools = &root->pools;
	size_t i, j;

	pools_read_file(pools, root->dir, "rdma.capacity");
	for (i = 0; i < show->capacity.netlink.nr_devices; i++)
		show_fill_device(pools, &show->capacity.netlink.devices[i]);
	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			pools->pools[i].slots[j].limit = pools->pools[i].slots[j].max;
}

/* The cgroup itself, or the one above in which its processes count. */
static bool show_one(struct show *show, struct cgroup *cgroup)
{
	struct cgroup *counted = cgroup_counted_in(cgroup);

	show->top = cgroup->depth;
	if (!cgroup->parent && !counted) {
		show_fill_root(show, cgroup);
		return show_visit(cgroup, show);
	}
	if (!counted) {
		say_warning(cgroup_name(cgroup),
			    "neither it nor a cgroup above has the RDMA controller: nothing is counted or limited");
		return true;
	}
	if (counted != cgroup)
		say_warning(cgroup_name(cgroup),
			    "has no RDMA controller of its own: its processes count in %s",
			    cgroup_name(counted));
	show->top = counted->depth;
	return cgroup_read_path(counted, POOL_ALL) && show_visit(counted, show);
}

static bool show_target(struct show *show, const char *name)
{
	struct cgroup *cgroup = cgroup_open(&show->hierarchy, name);
	bool done;

	if (!cgroup)
		return false;
	if (!show->recursive) {
		done = show_one(show, cgroup);
	} else {
		show->top = cgroup->depth;
		done = !cgroup->parent || cgroup_read_path(cgroup->parent, POOL_BIT(POOL_MAX));
		done = done && cgroup_walk(cgroup, POOL_ALL, show_visit, show);
	}
	cgroup_close_path(cgroup);
	return done;
}

static void show_print(struct show *show, bool done)
{
	struct json_object *object;

	if (options.json) {
		object = json_object_new_object();
		json_add(object, "root", json_text(show->hierarchy.path));
		json_add(object, "version", json_number(show->hierarchy.v2 ? 2 : 1));
		json_add(object, "above_is_seen",
			 json_object_new_boolean(!show->hierarchy.partial));
		json_add(object, "missing", show->missing ? show->missing :
			 json_object_new_array());
		json_add(object, "cgroups", show->cgroups);
		json_print(stdout, object, options.pretty);
		return;
	}
	if (show->rows)
		table_print(&show->table, stdout);
	else
		table_free(&show->table);
	if (show->hierarchy.partial)
		say_note("limits above / bind too, and cannot be seen from here");
	if (!show->rows && done)
		say_note("nothing is used, limited or refused there; -a shows all resources");
}

int cmd_show(int argc, char **argv)
{
	struct show show = { .levels = -1 };
	bool done;
	size_t i;

	options_parse(&show_argp, 0, argc, argv, &show);
	if (!hierarchy_open(&show.hierarchy)) {
		select_free(&show.targets);
		return EXIT_FAILED;
	}
	capacity_read(&show.capacity, &show.hierarchy);
	if (options.json)
		show.cgroups = json_object_new_array();
	else
		show_begin(&show);
	if (!show.targets.nr_targets) {
		show.recursive = true;
		done = show_target(&show, "");
	} else {
		done = select_find(&show.targets, &show.hierarchy);
		for (i = 0; i < show.targets.nr_targets; i++)
			done &= show_target(&show, show.targets.targets[i].name);
	}
	show_print(&show, done);
	select_free(&show.targets);
	capacity_free(&show.capacity);
	hierarchy_close(&show.hierarchy);
	return done ? EXIT_DONE : EXIT_FAILED;
}
