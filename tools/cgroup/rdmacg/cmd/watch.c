// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg watch: print a line for each refusal when it happens.
 *
 * The events files of a cgroup also count refusals of its descendants. So inotify watches only the
 * files of the given cgroup, or of all top-level cgroups. After a change, rdmacg reads the cgroups
 * whose counters have changed, from the top down.
 */
#include <sys/inotify.h>

#include "core/core.h"

#define WATCH_FILES	(POOL_BIT(POOL_EVENTS) | POOL_BIT(POOL_EVENTS_LOCAL))

/* The growth of the local counters of one resource in one cgroup. */
struct watch_change {
	const char *name;	/* of the cgroup, in the present counters */
	const struct slot *slot;	/* in the present counters */
	struct events more;
	bool told;	/* whether a line about an attempt names the limit of this cgroup */
};

static struct watch {
	const char *command;
	uint64_t count;	/* number of lines to print, or 0 for no end */
	struct cgroup *top;
	int inotify;
	struct lh_table *seen;	/* earlier pools of cgroups with other counters than 0, by name */
	struct watch_change *changes;
	size_t nr_changes;
	bool telling;
} watch;

static const struct syntax watch_syntax = {
	.choices = {
		{ "exec", 'e',
		  "run COMMAND with sh(1) for each line, with the parts of the line in RDMACG_*",
		  &watch.command, "COMMAND" },
		{ "count", 'n', "end after N lines", &watch.count, "N" },
	},
	.lists = { select_choices }, .single = true, .args_doc = "[CGROUP]",
	.example = "rdmacg watch --exec 'logger \"$RDMACG_CGROUP\"' tenants",
	.doc =
		"Print a line for each refusal in a cgroup and its descendants, or in all cgroups: the time, the cgroup of the attempt, the resource, and the cgroup of the limit. Refusals within a short time may share a line.",
};

static void watch_free(struct lh_entry *entry)
{
	free(lh_entry_k(entry));
	pools_free(lh_entry_v(entry));
	free(lh_entry_v(entry));
}

/* Store how local counters grew. If none changed, skip the descendants. */
static void watch_cgroup(struct cgroup *cgroup)
{
	static const struct pools nothing;
	static const struct slot none;
	struct lh_entry *seen = lh_table_lookup_entry(watch.seen, cgroup_name(cgroup));
	const struct pools *before = seen ? lh_entry_v(seen) : &nothing;
	struct pools *pools;
	char *name = memory_string(cgroup_name(cgroup));
	const struct slot *slot = NULL;
	bool changed = false;

	while ((slot = pools_next(&cgroup->pools, slot))) {
		const struct slot *old = pools_find_slot(before, &slot->pool->device, slot->key);
		struct events more = slot->local;

		if (!old)
			old = &none;
		changed |= memcmp(&slot->events, &old->events, sizeof(old->events)) ||
			   memcmp(&slot->local, &old->local, sizeof(old->local));
		/* A smaller counter belongs to a new cgroup or device with the old name. */
		more.max -= more.max >= old->local.max ? old->local.max : 0;
		more.alloc_fail -= more.alloc_fail >= old->local.alloc_fail ?
				   old->local.alloc_fail : 0;
		if (watch.telling && (more.max || more.alloc_fail))
			*memory_append(watch.changes, watch.nr_changes) =
				(struct watch_change){ name, slot, more };
	}
	/* A cgroup without files, such as the root, has no counter that shows a change below. */
	cgroup->leave_below = cgroup->pools.files[POOL_HCA] && !changed;
	if (!changed) {
		free(name);
		return;
	}
	if (seen)
		lh_table_delete_entry(watch.seen, seen);
	pools = memory_zeroed(1, sizeof(*pools));
	*pools = cgroup->pools;
	memset(&cgroup->pools, 0, sizeof(cgroup->pools));
	lh_table_insert(watch.seen, name, pools);
}

/* Print one line. @from or @by is NULL if the cgroup was removed or is not visible. */
static void watch_tell(const char *from, const struct slot *slot, uint64_t count, const char *by)
{
	char *when __autofree = NULL;
	const struct device *device = &slot->pool->device;
	struct timespec now;
	struct tm parts;
	char text[32];
	FILE *command;

	/* The time, in the form of RFC 3339. */
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	when = memory_format("%s.%03ldZ", text, now.tv_nsec / 1000000);
	if (options.json)
		json_print(stdout, "time:s cgroup:s device:s index:o resource:s count:u limit_of:s",
			   when, from, device->name, device_index(device), slot->key, count, by);
	else
		say_line("%s %s: %" PRIu64 " for %s on %s refused by the limit of %s", when,
			 from ? from : "a removed cgroup", count, slot->key, device_text(device).s,
			 by ? by : "a removed or invisible cgroup");
	/* Pass the names in the environment of the command, and not in its text. */
	setenv("RDMACG_CGROUP", from ? from : "", 1);
	setenv("RDMACG_DEVICE", device_text(device).s, 1);
	setenv("RDMACG_RESOURCE", slot->key, 1);
	setenv("RDMACG_COUNT", number_text(count, false).s, 1);
	setenv("RDMACG_LIMIT_OF", by ? by : "", 1);
	fflush(stdout);
	/* Not system(), because an interrupt then ends only the command. */
	command = watch.command ? popen(watch.command, "we") : NULL;
	if (command)
		pclose(command);
	else if (watch.command)
		say_error("/bin/sh", "%s", strerror(errno));
	if (watch.count && !--watch.count)
		exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

/* Find the limit that refused: the closest one of the resource that has counted a refusal. */
static void watch_tell_attempt(const struct watch_change *attempt)
{
	struct watch_change *limit = watch.changes;
	const char *by = NULL;

	for (; limit < watch.changes + watch.nr_changes; limit++) {
		if (!limit->more.max || strcmp(limit->slot->key, attempt->slot->key) ||
		    !device_is_same(&limit->slot->pool->device, &attempt->slot->pool->device) ||
		    (strcmp(limit->name, "/") && !hierarchy_below(attempt->name, limit->name)))
			continue;
		by = limit->name;
		limit->told = true;
	}
	watch_tell(attempt->name, attempt->slot, attempt->more.alloc_fail, by);
}

/* Watch a file, if it exists. The path goes through the descriptor, so the path is always short. */
static void watch_file(const struct cgroup *cgroup, const char *file, uint32_t events)
{
	char *path __autofree = memory_format("/proc/self/fd/%d/%s", cgroup->dir, file);

	if (inotify_add_watch(watch.inotify, path, events) < 0 && errno != ENOENT)
		say_warning(cgroup_name(cgroup), "cannot watch %s: %s", file, strerror(errno));
}

/* Watch the files whose changes wake this process. A second watch of a file changes nothing. */
static void watch_files(const struct cgroup *cgroup)
{
	unsigned int class;

	/* Watch for new cgroups, and for cgroups that get the controller. */
	if (cgroup == watch.top && !cgroup_has_controller(cgroup)) {
		watch_file(cgroup, ".", IN_CREATE | IN_ONLYDIR);
		watch_file(cgroup, "cgroup.subtree_control", IN_MODIFY);
		return;
	}
	if (!file_exists(cgroup->dir, pool_file_names[POOL_HCA][POOL_EVENTS]) &&
	    cgroup_has_controller(cgroup))
		say_failure("rdma.events",
			    "this kernel has no such file, so it does not report refusals");
	for (class = 0; class < POOL_CONTROL; class++)
		watch_file(cgroup, pool_file_names[class][POOL_EVENTS], IN_MODIFY);
}

/* Read the changes and print them. The first call only stores the counters. */
static bool watch_look(void)
{
	bool all = !cgroup_has_controller(watch.top);
	struct walk walk = { .top = watch.top };
	const struct watch_change *change, *end;
	struct lh_entry *seen, *next;
	int64_t begin = clock_now();
	struct cgroup *cgroup;

	while ((cgroup = walk_next(&walk))) {
		/* Watch the files before reading them, so that no change is missed. */
		if (cgroup == watch.top || (all && cgroup->parent == watch.top))
			watch_files(cgroup);
		walk.failed |= !cgroup_read(cgroup, WATCH_FILES);
		watch_cgroup(cgroup);
	}
	end = watch.changes + watch.nr_changes;
	for (change = watch.changes; change < end; change++)
		if (change->more.alloc_fail)
			watch_tell_attempt(change);
	for (change = watch.changes; change < end; change++)
		if (change->more.max && !change->told)
			watch_tell(NULL, change->slot, change->more.max, change->name);
	watch.nr_changes = 0;
	/* Forget removed cgroups. A name may be too long for a path. */
	lh_foreach_safe(watch.seen, seen, next)
		if (!file_exists(hierarchy.dir, lh_entry_k(seen)) && file_is_gone(errno))
			lh_table_delete_entry(watch.seen, seen);
	if (!say_finish())
		return false;
	if (watch.telling)
		clock_sleep(clock_pause(begin));
	watch.telling = true;
	return !walk.failed;
}

int cmd_watch(int argc, char **argv)
{
	char **words = options_read(&watch_syntax, argc, argv);
	struct cgroup *counted;
	char buffer[4096];

	select_arguments(words);
	hierarchy_open(EXIT_FAILED);
	watch.top = select_one();
	if (!watch.top)
		return EXIT_FAILED;
	/* A process may be in a cgroup below the one to which it is charged. */
	counted = *words || !watch.top->parent ? NULL : cgroup_say_counted_in(watch.top);
	watch.top = counted ? counted : watch.top;
	if (watch.top->parent && !cgroup_has_controller(watch.top))
		say_failure(cgroup_name(watch.top), "has no RDMA controller; give an ancestor");
	watch.inotify = inotify_init1(IN_CLOEXEC);
	if (watch.inotify < 0)
		say_failure("inotify", "%s", strerror(errno));
	watch.seen = memory_check(lh_kchar_table_new(JSON_OBJECT_DEF_HASH_ENTRIES, watch_free));
	/* Some kernels do not report the removal of a cgroup to watchers of its files. */
	if (watch.top->parent)
		watch_file(watch.top, "..", IN_DELETE | IN_ONLYDIR);
	while (watch_look()) {
		if (watch.top->parent && !file_exists(watch.top->dir, "cgroup.procs"))
			return EXIT_DONE;
		/* Discard the notification of the kernel, because the files show the change. */
		if (TEMP_FAILURE_RETRY(read(watch.inotify, buffer, sizeof(buffer))) < 0)
			say_failure("inotify", "%s", strerror(errno));
	}
	return EXIT_FAILED;
}
