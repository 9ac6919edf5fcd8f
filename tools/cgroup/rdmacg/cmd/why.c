// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg why: whose limit refused, or what else it was.
 *
 * A refusal is counted where the limit was and where the attempt came from. A limit can
 * only refuse attempts from below it. So of the refused attempts from a cgroup, those that
 * limits of it or below have not refused, limits above have.
 */
#include "core/core.h"

struct why {
	struct targets targets;
	bool all;
	struct hierarchy hierarchy;
	struct capacity capacity;
	/* The cgroup that is asked about, and how many answers there were. */
	const struct cgroup *asked;
	size_t refusals;
	bool said_missing;
	struct json_object *said;
	struct json_object *room;
	struct json_object *waits;
	struct json_object *answers;
};

static const struct argp_option why_options[] = {
	{ "all", 'a', NULL, 0, "what else it could be, also where a cgroup refused", 0 },
	{ 0 }
};

static error_t why_parse(int key, char *arg, struct argp_state *state)
{
	struct why *why = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[1] = &why->targets;
		return 0;
	case 'a':
		why->all = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child why_children[] = {
	{ .argp = &options_argp },
	{ .argp = &select_argp },
	{ .argp = &filter_argp },
	{ 0 }
};

static const struct argp why_argp = {
	.options = why_options,
	.parser = why_parse,
	.args_doc = "[CGROUP...]",
	.doc =
		"Say which limits refused attempts from a cgroup, one sentence for each counter; or that none did, and what else it could be: RLIMIT_MEMLOCK, and devices that have no more.\vWithout a CGROUP, all of the tree. The counters begin when a cgroup is made, so a refusal may be long ago.",
	.children = why_children,
};

/* "its limit is 20, 18 are in use now, the peak was 20" */
static char *why_state(const struct slot *slot)
{
	bool bytes = number_is_bytes(slot->key);
	char limit[NUMBER_SIZE], usage[NUMBER_SIZE], peak[NUMBER_SIZE];

	number_format(limit, slot->max, bytes);
	number_format(usage, slot->usage, bytes);
	number_format(peak, slot->peak, bytes);
	if (slot->has & POOL_BIT(POOL_PEAK))
		return memory_format("its limit is %s, %s in use now, the peak was %s", limit,
				     usage, peak);
	return memory_format("its limit is %s, %s in use now", limit, usage);
}

/* Count it, and say it; or keep it for JSON. */
static void why_say(struct why *why, uint64_t count, const struct pool *pool,
		    const struct slot *slot, const struct cgroup *by, const char *from, bool sure)
{
	char *device = device_format(&pool->device);
	struct json_object *object;
	char *state = why_state(slot);

	why->refusals++;
	if (options.json) {
		object = json_object_new_object();
		json_add(object, "count", json_number(count));
		device_json(object, &pool->device);
		json_add(object, "resource", json_text(slot->key));
		json_add(object, "limit_of", json_text(cgroup_name(by)));
		json_add(object, "sure", json_object_new_boolean(sure));
		json_add(object, "from", from ? json_text(from) : NULL);
		json_add(object, "limit", json_limit(slot->max));
		json_add(object, "usage", json_number(slot->usage));
		json_object_array_add(why->said, object);
	} else {
		say_text("%s limit of %s refused %" PRIu64 " attempt%s%s%s for %s on %s: %s.",
			 sure ? "The" : "Perhaps the", cgroup_name(by), count,
			 count == 1 ? "" : "s", from ? " from " : "", from ? from : "",
			 slot->key, device, state);
	}
	free(state);
	free(device);
}

/* How much more there is room for, and in which cgroup on the way up it is least. */
static const struct cgroup *why_least_room(const struct cgroup *cgroup, const struct pool *pool,
					   const char *key, uint64_t *room)
{
	const struct cgroup *least = NULL;
	const struct slot *slot;
	uint64_t left;

	*room = NUMBER_MAX;
	for (; cgroup; cgroup = cgroup->parent) {
		slot = pools_find_slot(&cgroup->pools, &pool->device, key);
		if (!slot || slot->max == NUMBER_MAX)
			continue;
		left = slot->max > slot->usage ? slot->max - slot->usage : 0;
		if (left >= *room)
			continue;
		*room = left;
		least = cgroup;
	}
	return least;
}

/* Room on the way up, for what was refused and for what is at a limit. */
static void why_room(struct why *why, const struct cgroup *cgroup, const struct pool *pool,
		     const struct slot *slot)
{
	char *device = device_format(&pool->device);
	char buffer[NUMBER_SIZE];
	uint64_t room;
	const struct cgroup *least = why_least_room(cgroup, pool, slot->key, &room);
	struct json_object *object;

	if (!least && !slot->events.alloc_fail) {
		free(device);
		return;
	}
	number_format(buffer, room, number_is_bytes(slot->key));
	if (options.json) {
		object = json_object_new_object();
		device_json(object, &pool->device);
		json_add(object, "resource", json_text(slot->key));
		json_add(object, "room", json_limit(room));
		json_add(object, "above_is_seen",
			 json_object_new_boolean(!why->hierarchy.partial));
		json_add(object, "room_in", least ? json_text(cgroup_name(least)) : NULL);
		json_object_array_add(why->room, object);
	} else if (!least) {
		say_text("%s has no limit %sfor %s on %s%s.", cgroup_name(cgroup),
			 why->hierarchy.partial ? "" : "on the way up ", slot->key, device,
			 why->hierarchy.partial ?
			 " that can be seen from here; limits above / bind too" : " now");
	} else if (!room) {
		say_text("%s has no room for %s on %s now: the limit of %s is used up.",
			 cgroup_name(cgroup), slot->key, device, cgroup_name(least));
	} else {
		say_text("%s has room for %s more of %s on %s now; least is left in %s.",
			 cgroup_name(cgroup), buffer, slot->key, device, cgroup_name(least));
	}
	free(device);
}

/* Whose limit it was is not there to be seen. */
static void why_say_unknown(struct why *why, uint64_t count, const struct pool *pool,
			    const struct slot *slot, const char *whose)
{
	char *device = device_format(&pool->device);
	struct json_object *object;

	why->refusals++;
	if (options.json) {
		object = json_object_new_object();
		json_add(object, "count", json_number(count));
		device_json(object, &pool->device);
		json_add(object, "resource", json_text(slot->key));
		json_add(object, "limit_of", NULL);
		json_object_array_add(why->said, object);
	} else {
		say_text("The limit of a cgroup %s refused %" PRIu64 " attempt%s for %s on %s.",
			 whose, count, count == 1 ? "" : "s", slot->key, device);
	}
	free(device);
}

/* Refusals of this cgroup count for the one that is asked about, too. */
static void why_tally(struct why *why, const struct pool *pool, const struct slot *slot)
{
	struct slot *asked = pools_find_slot(&why->asked->pools, &pool->device, slot->key);

	if (asked)
		asked->tally += slot->local.max;
}

/* The limits of one cgroup. */
static bool why_visit(struct cgroup *cgroup, void *data)
{
	const struct pools *pools = &cgroup->pools;
	struct why *why = data;
	size_t i, j;

	if (pools->files[POOL_HCA] && !why->said_missing) {
		why->said_missing = true;
		if (!options.json)
			missing_say(pools);
	}
	for (i = 0; i < pools->nr_pools; i++) {
		const struct pool *pool = &pools->pools[i];

		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *slot = &pool->slots[j];

			why_tally(why, pool, slot);
			if (!slot->local.max)
				continue;
			why_say(why, slot->local.max, pool, slot, cgroup, NULL, true);
			if (cgroup != why->asked)
				why_room(why, cgroup, pool, slot);
		}
	}
	return true;
}

/* How many of the refused attempts from here no limit here or below has refused. */
static uint64_t why_refused_above(const struct slot *slot)
{
	return slot->events.alloc_fail > slot->events.max ?
	       slot->events.alloc_fail - slot->events.max : 0;
}

/*
 * Whose limit above it was. If several have refused something, each may have been the one,
 * for they count the attempts of others as well.
 */
static void why_above(struct why *why, const struct cgroup *cgroup, const struct pool *pool,
		      const struct slot *slot)
{
	uint64_t count = why_refused_above(slot);
	const struct cgroup *above;
	const struct slot *theirs;
	size_t several = 0;

	for (above = cgroup->parent; above; above = above->parent) {
		theirs = pools_find_slot(&above->pools, &pool->device, slot->key);
		several += theirs && theirs->local.max;
	}
	for (above = cgroup->parent; above; above = above->parent) {
		theirs = pools_find_slot(&above->pools, &pool->device, slot->key);
		if (theirs && theirs->local.max)
			why_say(why, count, pool, theirs, above, cgroup_name(cgroup), several == 1);
	}
	if (!several)
		why_say_unknown(why, count, pool, slot, "above what can be seen from here");
}

static bool why_is_full(const struct cgroup *cgroup, const struct pool *pool,
			const struct slot *slot)
{
	uint64_t room;

	return (slot->has & POOL_BIT(POOL_CURRENT)) &&
	       why_least_room(cgroup, pool, slot->key, &room) && !room;
}

/* What the cgroup itself meets: limits above, and the room there is. */
static void why_self(struct why *why, const struct cgroup *cgroup)
{
	const struct pools *pools = &cgroup->pools;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		const struct pool *pool = &pools->pools[i];

		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *slot = &pool->slots[j];

			if ((slot->has & POOL_BIT(POOL_EVENTS_LOCAL)) &&
			    slot->events.max > slot->tally)
				why_say_unknown(why, slot->events.max - slot->tally, pool, slot,
						"below that is gone");
			if (why_refused_above(slot))
				why_above(why, cgroup, pool, slot);
			if (slot->events.alloc_fail || why_is_full(cgroup, pool, slot))
				why_room(why, cgroup, pool, slot);
		}
	}
}

/*
 * Nothing is refused to who is over a rate of commands, but it waits. The file counts for the
 * cgroup and those below: commands, how many of them waited, and how long.
 */
static void why_throttled(struct why *why, const struct cgroup *cgroup)
{
	struct pools pools = { 0 };
	const struct slot *times, *usec;
	struct json_object *object;
	size_t i;

	pools_read_file(&pools, cgroup->dir, "rdma.control.stat");
	for (i = 0; i < pools.nr_pools; i++) {
		const struct device *id = &pools.pools[i].device;
		const char *device = id->name;

		times = pool_find(&pools.pools[i], "throttled");
		usec = pool_find(&pools.pools[i], "throttled_usec");
		if (!times || !times->max || !usec)
			continue;
		if (!options.json) {
			say_text("%s waited %" PRIu64 " times on %s, %" PRIu64
				 " ms in all, for a limit of commands (rdma.control.max).",
				 cgroup_name(cgroup), times->max, device, usec->max / 1000);
			continue;
		}
		object = json_object_new_object();
		device_json(object, id);
		json_add(object, "throttled", json_number(times->max));
		json_add(object, "throttled_usec", json_number(usec->max));
		json_object_array_add(why->waits, object);
	}
	pools_free(&pools);
}

static void why_evidence(struct why *why, struct cgroup *cgroup, pid_t pid,
			 struct json_object *answer)
{
	if (why->refusals && !why->all)
		return;
	if (options.json) {
		json_add(answer, "processes", other_memlock_json(cgroup, pid));
		json_add(answer, "devices", other_devices_json(&why->capacity));
		json_add(answer, "log", other_log_json(&why->capacity));
		json_add(answer, "counted", other_counted_json(&why->capacity,
							       &why->hierarchy));
		return;
	}
	if (!why->refusals && !(pid && !cgroup->parent))
		say_text("No cgroup is known to have refused anything in %s or below%s.",
			 cgroup_name(cgroup), why->hierarchy.partial ?
			 "; limits above / cannot be seen from here" : "");
	other_print_memlock(cgroup, pid);
	other_print_devices(&why->capacity);
	other_print_counted(&why->capacity, &why->hierarchy);
	other_print_log(&why->capacity);
}

/* The answer for a cgroup in which processes count. */
static bool why_answer(struct why *why, struct cgroup *cgroup, pid_t pid)
{
	struct json_object *answer = NULL;
	bool done;

	why->refusals = 0;
	why->asked = cgroup;
	if (options.json) {
		why->said = json_object_new_array();
		why->room = json_object_new_array();
		why->waits = json_object_new_array();
		answer = json_object_new_object();
		json_add(answer, "cgroup", json_text(cgroup_name(cgroup)));
	}
	done = !cgroup->parent || cgroup_read_path(cgroup->parent, POOL_ALL);
	done = done && cgroup_walk(cgroup, POOL_ALL, why_visit, why);
	if (done) {
		why_self(why, cgroup);
		why_throttled(why, cgroup);
	}
	if (options.json) {
		json_add(answer, "refusals", why->said);
		json_add(answer, "room", why->room);
		json_add(answer, "waits", why->waits);
	}
	if (done)
		why_evidence(why, cgroup, pid, answer);
	if (options.json)
		json_object_array_add(why->answers, answer);
	return done;
}

/* Nobody refuses what a process in the root does. */
static bool why_root_process(struct why *why, struct cgroup *root, pid_t pid)
{
	struct json_object *answer = NULL;

	say_warning("/", "process %d is in the root, which has no limits: no cgroup refuses", pid);
	why->refusals = 0;
	if (options.json) {
		answer = json_object_new_object();
		json_add(answer, "cgroup", json_text("/"));
		json_object_array_add(why->answers, answer);
	}
	why_evidence(why, root, pid, answer);
	cgroup_close_path(root);
	return true;
}

static bool why_target(struct why *why, const char *name, pid_t pid)
{
	struct cgroup *cgroup = cgroup_open(&why->hierarchy, name);
	struct cgroup *counted = cgroup ? cgroup_counted_in(cgroup) : NULL;
	bool done = false;

	if (!cgroup)
		return false;
	if (!counted && !cgroup->parent && pid && !why->hierarchy.partial)
		return why_root_process(why, cgroup, pid);
	if (!counted && cgroup->parent)
		say_warning(cgroup_name(cgroup),
			    "neither it nor a cgroup above has the RDMA controller, so no cgroup refuses");
	else if (counted && counted != cgroup)
		say_warning(cgroup_name(cgroup),
			    "has no RDMA controller of its own: its processes count in %s",
			    cgroup_name(counted));
	done = why_answer(why, counted ? counted : cgroup, pid);
	cgroup_close_path(cgroup);
	return done;
}

int cmd_why(int argc, char **argv)
{
	struct why why = { 0 };
	bool done;
	size_t i;

	options_parse(&why_argp, 0, argc, argv, &why);
	if (!hierarchy_open(&why.hierarchy)) {
		select_free(&why.targets);
		return EXIT_FAILED;
	}
	capacity_read(&why.capacity, &why.hierarchy);
	if (options.json)
		why.answers = json_object_new_array();
	done = select_find(&why.targets, &why.hierarchy);
	for (i = 0; i < why.targets.nr_targets; i++)
		done &= why_target(&why, why.targets.targets[i].name, why.targets.targets[i].pid);
	if (done && !why.targets.nr_targets)
		done = why_target(&why, "", 0);
	if (options.json)
		json_print(stdout, json_document("cgroups", why.answers), options.pretty);
	select_free(&why.targets);
	capacity_free(&why.capacity);
	hierarchy_close(&why.hierarchy);
	return done ? EXIT_DONE : EXIT_FAILED;
}
