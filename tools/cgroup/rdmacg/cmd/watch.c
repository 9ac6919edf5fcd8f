// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg watch: a line for each refusal, as it happens.
 *
 * The events files of a cgroup count what happens below it as well, so inotify on those of
 * the one that is watched, or of the top-level ones, is enough to be woken. Then only the
 * cgroups are read whose counters have changed, from the top down.
 */
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>

#include "core/core.h"

#define WATCH_FILES	(POOL_BIT(POOL_EVENTS) | POOL_BIT(POOL_EVENTS_LOCAL))

/* A tenant who is refused all the time must not keep a processor busy with telling it. */
#define WATCH_PAUSE_NS	20000000L
#define WATCH_PAUSE_FACTOR	3

/* The counters of a cgroup as they were; there is none where all are 0. */
struct watch_seen {
	char *name;
	struct pools pools;
};

/* How much the local counters of one resource have grown in one cgroup. */
struct watch_change {
	char *name;
	struct device device;
	char *key;
	struct events more;
	/* Whether an attempt was found for what the limit has refused. */
	bool told;
};

struct watch {
	const char *argument;
	const char *command;
	/* Lines to print; 0 for no end. */
	uint64_t count;
	struct hierarchy hierarchy;
	struct cgroup *top;
	int inotify;
	/* Sorted by name. */
	struct watch_seen *seen;
	size_t nr_seen;
	/* How many there were when those that are gone were last looked for. */
	size_t nr_swept;
	struct watch_change *changes;
	size_t nr_changes;
	bool telling;
	/* The kernel does not count refusals. */
	bool mute;
};

static const struct argp_option watch_options[] = {
	{ "exec", 'e', "COMMAND", 0,
	  "run it by sh(1) for each line, with the parts of the line in RDMACG_*", 0 },
	{ "count", 'n', "N", 0, "end after so many lines", 0 },
	{ 0 }
};

static error_t watch_parse(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case 'e':
		watch->command = arg;
		return 0;
	case 'n':
		if (!number_parse(arg, strlen(arg), &watch->count) || !watch->count)
			options_fail("-n", "%s: must be a number from 1 on", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		watch->argument = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp watch_argp = {
	.options = watch_options,
	.parser = watch_parse,
	.children = options_child,
	.args_doc = "[CGROUP]",
	.doc =
		"Print a line for each refusal in a cgroup and below it, or anywhere: when, whose attempt, the resource, and whose limit refused. It waits for the kernel to tell; refusals that come close together may share a line.",
};

static int watch_compare(const void *name, const void *seen)
{
	return strcmp(name, ((const struct watch_seen *)seen)->name);
}

static struct watch_seen *watch_find(const struct watch *watch, const char *name)
{
	if (!watch->nr_seen)
		return NULL;
	return bsearch(name, watch->seen, watch->nr_seen, sizeof(*watch->seen), watch_compare);
}

/* Make room for a new name where it belongs. */
static struct watch_seen *watch_insert(struct watch *watch, const char *name)
{
	size_t at = 0;

	watch->seen = memory_grow(watch->seen, watch->nr_seen, sizeof(*watch->seen));
	while (at < watch->nr_seen && strcmp(watch->seen[at].name, name) < 0)
		at++;
	memmove(&watch->seen[at + 1], &watch->seen[at],
		(watch->nr_seen - at) * sizeof(*watch->seen));
	watch->nr_seen++;
	memset(&watch->seen[at], 0, sizeof(*watch->seen));
	watch->seen[at].name = memory_string(name);
	return &watch->seen[at];
}

/* Forget cgroups that are gone; not each time, but before they are as many as the others. */
static void watch_sweep(struct watch *watch)
{
	size_t i, kept = 0;

	if (watch->nr_seen < 64 || watch->nr_seen < watch->nr_swept * 2)
		return;
	for (i = 0; i < watch->nr_seen; i++) {
		struct watch_seen *seen = &watch->seen[i];

		if (!faccessat(watch->hierarchy.dir, *seen->name ? seen->name : ".", F_OK, 0)) {
			watch->seen[kept++] = *seen;
			continue;
		}
		free(seen->name);
		pools_free(&seen->pools);
	}
	watch->nr_seen = kept;
	watch->nr_swept = kept;
}

/* A counter that has become smaller is of a new cgroup or device of the old name. */
static uint64_t watch_more(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

static void watch_add_change(struct watch *watch, const struct cgroup *cgroup,
			     const struct pool *pool, const struct slot *slot,
			     const struct events *more)
{
	struct watch_change *change;

	watch->changes = memory_grow(watch->changes, watch->nr_changes, sizeof(*change));
	change = &watch->changes[watch->nr_changes++];
	change->name = memory_string(cgroup_name(cgroup));
	device_copy(&change->device, &pool->device);
	change->key = memory_string(slot->key);
	change->more = *more;
}

struct watch_sum {
	/* Whether a counter of the subtree has changed, and whether any is not 0. */
	bool changed;
	bool any;
};

static void watch_compare_slot(struct watch *watch, const struct cgroup *cgroup,
			       const struct pools *before, const struct pool *pool,
			       const struct slot *slot, struct watch_sum *sum)
{
	static const struct slot none;
	const struct slot *old = pools_find_slot(before, &pool->device, slot->key);
	struct events more;

	if (!old)
		old = &none;
	more.max = watch_more(slot->local.max, old->local.max);
	more.alloc_fail = watch_more(slot->local.alloc_fail, old->local.alloc_fail);
	if (watch->telling && (more.max || more.alloc_fail))
		watch_add_change(watch, cgroup, pool, slot, &more);
	sum->changed |= slot->events.max != old->events.max ||
			slot->events.alloc_fail != old->events.alloc_fail;
	sum->any |= slot->events.max || slot->events.alloc_fail ||
		    slot->local.max || slot->local.alloc_fail;
}

/* Compare a cgroup with what it was. One whose counters are the same has nothing new below. */
static bool watch_visit(struct cgroup *cgroup, void *data)
{
	static const struct pools nothing;
	struct watch *watch = data;
	struct watch_seen *seen = watch_find(watch, cgroup->name);
	const struct pools *before = seen ? &seen->pools : &nothing;
	struct watch_sum sum = { 0 };
	size_t i, j;

	for (i = 0; i < cgroup->pools.nr_pools; i++)
		for (j = 0; j < cgroup->pools.pools[i].nr_slots; j++)
			watch_compare_slot(watch, cgroup, before, &cgroup->pools.pools[i],
					   &cgroup->pools.pools[i].slots[j], &sum);
	/* Without files, as the root is, nothing is known of those below. */
	cgroup->leave_below = cgroup->pools.files[POOL_HCA] && !sum.changed;
	if (!sum.any && !seen)
		return true;
	if (!seen)
		seen = watch_insert(watch, cgroup->name);
	pools_free(&seen->pools);
	seen->pools = cgroup->pools;
	memset(&cgroup->pools, 0, sizeof(cgroup->pools));
	return true;
}

/* The time, in the form of RFC 3339. */
static char *watch_time(void)
{
	struct timespec now;
	struct tm parts;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	return memory_format("%s.%03ldZ", text, now.tv_nsec / 1000000);
}

/* Nothing of a name is part of the command; it finds the names in its environment. */
static void watch_execute(const struct watch *watch, const char *from,
			  const struct watch_change *change, uint64_t count, const char *by)
{
	char number[NUMBER_SIZE];
	char *device;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		say_error("fork", "%s", strerror(errno));
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	device = device_format(&change->device);
	setenv("RDMACG_CGROUP", from ? from : "", 1);
	setenv("RDMACG_DEVICE", device, 1);
	setenv("RDMACG_RESOURCE", change->key, 1);
	setenv("RDMACG_COUNT", number_format(number, count, false), 1);
	setenv("RDMACG_LIMIT_OF", by ? by : "", 1);
	execl("/bin/sh", "sh", "-c", watch->command, NULL);
	_exit(127);
}

static void watch_print_json(const char *when, const char *from,
			     const struct watch_change *change, uint64_t count, const char *by)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "time", json_text(when));
	json_add(object, "cgroup", from ? json_text(from) : NULL);
	device_json(object, &change->device);
	json_add(object, "resource", json_text(change->key));
	json_add(object, "count", json_number(count));
	json_add(object, "limit_of", by ? json_text(by) : NULL);
	json_print(stdout, object, options.pretty);
}

/* One line; @from and @by are NULL where the cgroup is gone or cannot be seen. */
static void watch_tell(struct watch *watch, const char *from, const struct watch_change *change,
		       uint64_t count, const char *by)
{
	char *device = device_format(&change->device);
	char *when = watch_time();

	if (options.json)
		watch_print_json(when, from, change, count, by);
	else
		say_line("%s %s: %" PRIu64 " for %s on %s refused by the limit of %s", when,
			 from ? from : "a cgroup that is gone", count, change->key, device,
			 by ? by : "a cgroup that is gone or above");
	if (watch->command)
		watch_execute(watch, from, change, count, by);
	free(when);
	free(device);
	if (watch->count && !--watch->count)
		exit(say_finish() ? EXIT_DONE : EXIT_FAILED);
}

static bool watch_is_same(const struct watch_change *a, const struct watch_change *b)
{
	return device_is_same(&a->device, &b->device) && !strcmp(a->key, b->key);
}

/* Whether the limit of @by can refuse attempts of @from: it is the same, or above. */
static bool watch_is_above(const char *by, const char *from)
{
	size_t length = strlen(by);

	return !strcmp(by, "/") || (!strncmp(by, from, length) &&
				    (!from[length] || from[length] == '/'));
}

/* Find whose limit it was: of those on the way up that have refused such a thing, the lowest. */
static void watch_tell_attempt(struct watch *watch, const struct watch_change *attempt)
{
	struct watch_change *found = NULL;
	size_t i;

	for (i = 0; i < watch->nr_changes; i++) {
		struct watch_change *limit = &watch->changes[i];

		if (limit->more.max && watch_is_same(limit, attempt) &&
		    watch_is_above(limit->name, attempt->name))
			found = limit;
		if (found == limit)
			limit->told = true;
	}
	watch_tell(watch, attempt->name, attempt, attempt->more.alloc_fail,
		   found ? found->name : NULL);
}

static void watch_tell_changes(struct watch *watch)
{
	size_t i;

	for (i = 0; i < watch->nr_changes; i++)
		if (watch->changes[i].more.alloc_fail)
			watch_tell_attempt(watch, &watch->changes[i]);
	for (i = 0; i < watch->nr_changes; i++) {
		const struct watch_change *limit = &watch->changes[i];

		if (limit->more.max && !limit->told)
			watch_tell(watch, NULL, limit, limit->more.max, limit->name);
	}
	for (i = 0; i < watch->nr_changes; i++) {
		free(watch->changes[i].name);
		free(watch->changes[i].key);
		device_free(&watch->changes[i].device);
	}
	watch->nr_changes = 0;
	free(watch->changes);
	watch->changes = NULL;
}

/* Have a file watched, if it is there; the path is short, however deep the cgroup is. */
static void watch_file(struct watch *watch, const struct cgroup *cgroup, const char *file,
		       uint32_t events)
{
	char *path = memory_format("/proc/self/fd/%d/%s", cgroup->dir, file);

	if (inotify_add_watch(watch->inotify, path, events) < 0 && errno != ENOENT)
		say_warning(cgroup_name(cgroup), "%s cannot be watched: %s", file,
			    strerror(errno));
	free(path);
}

/* All that wakes: adding one that is there already changes nothing. */
static bool watch_visit_files(struct cgroup *cgroup, void *data)
{
	struct watch *watch = data;
	unsigned int class;

	/* New cgroups, and those that get the controller. */
	if (cgroup == watch->top && !cgroup_has_controller(cgroup)) {
		watch_file(watch, cgroup, ".", IN_CREATE | IN_ONLYDIR);
		watch_file(watch, cgroup, "cgroup.subtree_control", IN_MODIFY);
		return true;
	}
	if (!file_exists(cgroup->dir, pool_file_name(POOL_HCA, POOL_EVENTS)) &&
	    cgroup_has_controller(cgroup)) {
		watch->mute = true;
		return false;
	}
	for (class = 0; class < POOL_CONTROL; class++)
		watch_file(watch, cgroup, pool_file_name(class, POOL_EVENTS), IN_MODIFY);
	cgroup->leave_below = true;
	return true;
}

static void watch_pause(const struct timespec *begin)
{
	struct timespec now, pause;
	long long spent;

	clock_gettime(CLOCK_MONOTONIC, &now);
	spent = (now.tv_sec - begin->tv_sec) * 1000000000LL + now.tv_nsec - begin->tv_nsec;
	spent = spent * WATCH_PAUSE_FACTOR + WATCH_PAUSE_NS;
	pause.tv_sec = spent / 1000000000;
	pause.tv_nsec = spent % 1000000000;
	nanosleep(&pause, NULL);
}

/* Read what has changed, and say it; the first time, only keep it. */
static bool watch_look(struct watch *watch)
{
	struct timespec begin;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	watch->top->leave_below = false;
	cgroup_walk_names(watch->top, watch_visit_files, watch);
	if (watch->mute) {
		say_error("rdma.events",
			  "this kernel has no such file, so nothing tells of refusals");
		return false;
	}
	watch->top->leave_below = false;
	done = cgroup_walk(watch->top, WATCH_FILES, watch_visit, watch);
	watch_tell_changes(watch);
	watch_sweep(watch);
	if (!say_finish())
		return false;
	if (watch->telling)
		watch_pause(&begin);
	watch->telling = true;
	return done;
}

/* Wait until the kernel tells; what it tells is not of interest, the files are. */
static bool watch_wait(struct watch *watch)
{
	char buffer[4096];
	ssize_t got;

	do {
		got = read(watch->inotify, buffer, sizeof(buffer));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		say_error("inotify", "%s", strerror(errno));
	return got >= 0;
}

/* A cgroup that is gone has nothing more to tell. */
static bool watch_is_there(const struct watch *watch)
{
	const char *name = watch->top->name;

	return !faccessat(watch->hierarchy.dir, *name ? name : ".", F_OK, 0);
}

static bool watch_open(struct watch *watch)
{
	char *name = memory_string("");

	if (watch->argument) {
		free(name);
		name = hierarchy_resolve(&watch->hierarchy, watch->argument);
	}
	watch->top = name ? cgroup_open(&watch->hierarchy, name) : NULL;
	free(name);
	if (watch->top && watch->top->parent && !cgroup_has_controller(watch->top)) {
		say_error(cgroup_name(watch->top), "has no RDMA controller; watch one above");
		return false;
	}
	return watch->top;
}

static bool watch_run(struct watch *watch)
{
	if (!watch_open(watch))
		return false;
	watch->inotify = inotify_init1(IN_CLOEXEC);
	if (watch->inotify < 0) {
		say_error("inotify", "%s", strerror(errno));
		return false;
	}
	/* Of a cgroup that is removed, not each kernel tells who watches its files. */
	if (watch->top->parent)
		watch_file(watch, watch->top, "..", IN_DELETE | IN_ONLYDIR);
	do {
		if (!watch_look(watch))
			return false;
	} while (watch_is_there(watch) && watch_wait(watch));
	return true;
}

static void watch_free(struct watch *watch)
{
	size_t i;

	for (i = 0; i < watch->nr_seen; i++) {
		free(watch->seen[i].name);
		pools_free(&watch->seen[i].pools);
	}
	free(watch->seen);
	if (watch->inotify > 0)
		close(watch->inotify);
	cgroup_close_path(watch->top);
	hierarchy_close(&watch->hierarchy);
}

int cmd_watch(int argc, char **argv)
{
	struct watch watch = { 0 };
	bool done = false;

	options_parse(&watch_argp, 0, argc, argv, &watch);
	if (!hierarchy_open(&watch.hierarchy))
		return EXIT_FAILED;
	done = watch_run(&watch);
	watch_free(&watch);
	return done ? EXIT_DONE : EXIT_FAILED;
}
