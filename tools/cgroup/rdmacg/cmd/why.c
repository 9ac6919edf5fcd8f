// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg why: find the limit that refused, or another cause of a failure.
 *
 * The cgroup of the limit and the cgroup of the attempt both count a refusal. A limit refuses only
 * attempts of its cgroup and descendants. If the limits of a cgroup and of its descendants have
 * refused fewer attempts than the cgroup counts, an ancestor's limit has refused the others.
 */
#include "core/core.h"

static struct why {
	bool all;
	size_t refusals;	/* how many refusals of the given cgroup were printed */
	struct json_object *said, *room, *waits, *answers;	/* arrays of the JSON */
} why;

static const struct syntax why_syntax = {
	.choices = {
		{ "all", 'a', "show other causes even if a cgroup has refused", &why.all },
	},
	.lists = { select_choices, filter_choices }, .args_doc = "[CGROUP...]",
	.example = "rdmacg why --pid 4711",
	.doc =
		"Print the limits that refused attempts from a cgroup, in one sentence for each counter. If no limit refused, print other possible causes: RLIMIT_MEMLOCK, and devices whose capacity is used up.\vWithout a CGROUP, print the refusals of the whole tree. The counters begin when a cgroup is created, so a refusal may be old.",
};

/* Print refusals by the limit of @slot in the cgroup @by. @from is the cgroup of the attempts. */
static void why_say(uint64_t count, const struct slot *slot, const struct cgroup *by,
		    const char *from, bool sure)
{
	bool bytes = number_is_bytes(slot->key), peak = slot->has & POOL_BIT(POOL_PEAK);
	const struct device *device = &slot->pool->device;

	why.refusals++;
	json_append(why.said,
		    "count:u device:s index:o resource:s limit_of:s sure:b from:s limit:l usage:u",
		    count, device->name, device_index(device), slot->key, cgroup_name(by), sure,
		    from, slot->max, slot->usage);
	say_text("%s limit of %s refused %" PRIu64
		 " attempt%s%s%s for %s on %s: its limit is %s, %s in use now%s%s.",
		 sure ? "The" : "Perhaps the", cgroup_name(by), count, count == 1 ? "" : "s",
		 from ? " from " : "", from ? from : "", slot->key,
		 device_text(device).s, number_text(slot->max, bytes).s,
		 number_text(slot->usage, bytes).s, peak ? ", the peak was " : "",
		 peak ? number_text(slot->peak, bytes).s : "");
}

static void why_say_unknown(uint64_t count, const struct slot *slot, const char *whose)
{
	const struct device *device = &slot->pool->device;

	why.refusals++;
	json_append(why.said, "count:u device:s index:o resource:s limit_of:o", count, device->name,
		    device_index(device), slot->key, NULL);
	say_text("The limit of %s refused %" PRIu64 " attempt%s for %s on %s.", whose,
		 count, count == 1 ? "" : "s", slot->key, device_text(device).s);
}

/* Print the room for a resource that was refused or is at a limit: the smallest on the way up. */
static void why_room(const struct cgroup *cgroup, const struct slot *slot)
{
	struct device_text device = device_text(&slot->pool->device);
	const char *name = cgroup_name(cgroup);
	const struct cgroup *least = NULL;
	uint64_t room = NUMBER_MAX, left;

	for (; cgroup; cgroup = cgroup->parent) {
		const struct slot *theirs = pools_find_slot(&cgroup->pools, &slot->pool->device,
							    slot->key);

		if (!theirs || theirs->max == NUMBER_MAX)
			continue;
		left = theirs->max - min(theirs->max, theirs->usage);
		least = left < room ? cgroup : least;
		room = min(left, room);
	}
	if (!slot->events.alloc_fail && !(least && !room && slot->has & POOL_BIT(POOL_CURRENT)))
		return;
	json_append(why.room, "device:s index:o resource:s room:l above_is_seen:b room_in:s",
		    slot->pool->device.name, device_index(&slot->pool->device), slot->key, room,
		    !hierarchy.partial, cgroup_name(least));
	if (!least)
		say_text("%s has no %slimit for %s on %s%s.", name,
			 hierarchy.partial ? "visible " : "", slot->key, device.s,
			 hierarchy.partial ? "; limits of cgroups above / also apply" :
			 " now, and neither have its ancestors");
	else if (!room)
		say_text("%s has no room for %s on %s now: the limit of %s is used up.", name,
			 slot->key, device.s, cgroup_name(least));
	else
		say_text("%s has room for %s more of %s on %s now, by the limit of %s.", name,
			 number_text(room, number_is_bytes(slot->key)).s, slot->key, device.s,
			 cgroup_name(least));
}

/* Print each ancestor that refused: its counters include other cgroups. */
static void why_above(const struct cgroup *cgroup, const struct slot *slot, uint64_t count)
{
	const struct cgroup *above;
	const struct slot *theirs;
	size_t several = 0;

	for (above = cgroup->parent; above; above = above->parent) {
		theirs = pools_find_slot(&above->pools, &slot->pool->device, slot->key);
		several += theirs && theirs->local.max;
	}
	for (above = cgroup->parent; above; above = above->parent) {
		theirs = pools_find_slot(&above->pools, &slot->pool->device, slot->key);
		if (theirs && theirs->local.max)
			why_say(count, theirs, above, cgroup_name(cgroup), several == 1);
	}
	if (!several)
		why_say_unknown(count, slot, "an ancestor that is not visible here");
}

/* A process above a rate of commands waits. rdma.control.stat counts this. */
static void why_throttled(const struct cgroup *cgroup)
{
	struct pools pools = { 0 };
	const struct slot *times, *usec;
	const struct pool *pool;

	pools_read_file(&pools, cgroup->dir, "rdma.control.stat");
	for (pool = pools.first; pool; pool = pool->next) {
		times = pool_find(pool, "throttled");
		usec = pool_find(pool, "throttled_usec");
		if (!times || !times->max || !usec)
			continue;
		json_append(why.waits, "device:s index:o throttled:u throttled_usec:u",
			    pool->device.name, device_index(&pool->device), times->max, usec->max);
		say_text("%" PRIu64 " commands of %s waited on %s, %" PRIu64
			 " ms in all, because of a limit in rdma.control.max.", times->max,
			 cgroup_name(cgroup), device_text(&pool->device).s, usec->max / 1000);
	}
	pools_free(&pools);
}

/* RDS charges nothing, so no counter shows that a limit closes it. */
static void why_rds(const struct cgroup *cgroup, struct json_object *answer)
{
	char *protocols __autofree = file_read(AT_FDCWD, hierarchy_proc("net/protocols").s);
	struct json_object *closed = json_object_new_array();
	const struct slot *slot = protocols && strstr(protocols, "\nRDS ") ?
				  pools_next(&cgroup->pools, NULL) : NULL;
	const struct pool *said = NULL;

	for (; slot; slot = pools_next(&cgroup->pools, slot)) {
		if (slot->pool == said || slot->limit == NUMBER_MAX ||
		    !hierarchy_has_word("qp mr mr_mem", slot->key))
			continue;
		said = slot->pool;
		json_append(closed, "device:s index:o", said->device.name,
			    device_index(&said->device));
		say_text("%s %s: %s", "A limit of qp, mr or mr_mem closes RDS over",
			 device_text(&said->device).s,
			 "bind() fails with EADDRNOTAVAIL or, if rds_tcp is loaded, uses TCP, and registering memory fails with EDQUOT.");
	}
	json_object_object_add(answer, "rds_closed", closed);
}

/* Print objects by type, which the kernel neither counts by cgroup nor limits. */
static void why_owned(const struct cgroup *cgroup, struct json_object *answer)
{
	struct json_object *owned = json_object_new_array();
	const struct slot *slot = NULL;

	while ((slot = pools_next(&cgroup->pools, slot))) {
		if (slot->class != POOL_NETLINK)
			continue;
		json_append(owned, "device:s index:o resource:s count:u", slot->pool->device.name,
			    device_index(&slot->pool->device), slot->key, slot->usage);
		say_text("%s has %" PRIu64 " %s on %s, by rdma netlink; they have no limit here.",
			 cgroup_name(cgroup), slot->usage, slot->key,
			 device_text(&slot->pool->device).s);
	}
	json_object_object_add(answer, "netlink", owned);
}

static bool why_counters(struct cgroup *asked, struct json_object *answer)
{
	struct walk walk = { .top = asked, .files = POOL_ALL };
	const struct slot *slot = NULL;
	struct cgroup *cgroup;
	struct slot *sum;

	json_fill(answer, "refusals:o room:o waits:o", why.said = json_object_new_array(),
		  why.room = json_object_new_array(), why.waits = json_object_new_array());
	while ((cgroup = walk_next(&walk))) {
		missing_say(&cgroup->pools);
		while ((slot = pools_next(&cgroup->pools, slot))) {
			/* The given cgroup also counts the refusals of this cgroup. */
			sum = pools_find_slot(&asked->pools, &slot->pool->device, slot->key);
			if (sum)
				sum->tally += slot->local.max;
			if (!slot->local.max)
				continue;
			why_say(slot->local.max, slot, cgroup, NULL, true);
			if (cgroup != asked)
				why_room(cgroup, slot);
		}
	}
	/* Find the limits of ancestors that refused attempts of the cgroup, and print the room. */
	while (!walk.failed && (slot = pools_next(&asked->pools, slot))) {
		if ((slot->has & POOL_BIT(POOL_EVENTS_LOCAL)) && slot->events.max > slot->tally)
			why_say_unknown(slot->events.max - slot->tally, slot,
					"a removed descendant");
		if (slot->events.alloc_fail > slot->events.max)
			why_above(asked, slot, slot->events.alloc_fail - slot->events.max);
		why_room(asked, slot);
	}
	if (!walk.failed)
		why_throttled(asked);
	return !walk.failed;
}

static bool why_target(struct cgroup *cgroup, pid_t pid)
{
	struct cgroup *counted = cgroup_say_counted_in(cgroup);
	struct cgroup *asked = counted ? counted : cgroup;
	struct json_object *answer = json_pack("cgroup:s", cgroup_name(asked));
	bool done = true;

	why.refusals = 0;
	json_object_array_add(why.answers, answer);
	if (!counted && !cgroup->parent && pid && !hierarchy.partial)
		say_warning("/",
			    "process %d is in the root, which has no limits, so no limit refuses it",
			    pid);
	else
		done = why_counters(asked, answer);
	if (!done || (why.refusals && !why.all))
		return done;
	if (!why.refusals && (!pid || asked->parent || hierarchy.partial))
		say_text("No refusal by a limit is known in %s and its descendants%s.",
			 cgroup_name(asked), hierarchy.partial ?
			 "; limits above / are not visible here" : "");
	why_owned(asked, answer);
	why_rds(asked, answer);
	other_causes(asked, pid, answer);
	return true;
}

int cmd_why(int argc, char **argv)
{
	bool done;

	select_arguments(options_read(&why_syntax, argc, argv));
	hierarchy_open(EXIT_FAILED);
	capacity_read();
	capacity.by_owner = true;
	why.answers = json_object_new_array();
	done = select_each(why_target);
	if (options.json)
		json_print(stdout, "cgroups:o", why.answers);
	return done ? EXIT_DONE : EXIT_FAILED;
}
