// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg apply: the limits of files.
 *
 * The command compares the limits of the files with the limits in effect, and writes the limits
 * that differ. The command writes all limits of a cgroup, or none of them. With --watch, a new
 * device causes a visit of all cgroups, and a new cgroup causes a visit of this cgroup and its
 * descendants.
 */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include "core/core.h"
#include "write/write.h"

#define APPLY_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT))

/*
 * Pause after each action. Otherwise a tenant that always creates cgroups would keep a processor
 * busy.
 */
#define APPLY_PAUSE_MS		20
#define APPLY_PAUSE_FACTOR	3

/* The state of the work on one cgroup. */
struct apply_work {
	struct cgroup *cgroup;
	/* The rules for the cgroup, in their order. */
	struct rule **rules;
	size_t nr_rules;
	/* The number of the rule that is being applied. */
	size_t number;
	/* The rule that printed errors are about. */
	struct rule *rule;
	struct transaction change;
	/* The pools were not read yet, or have changed. */
	bool stale;
	/*
	 * The text about limits that differ. The text is printed after all writes have succeeded.
	 */
	FILE *said;
};

static struct apply {
	char **files;
	size_t nr_files;
	/* Only print the differences. */
	bool check;
	bool watch;
	struct config config;
	/* The watch for new cgroups, or NULL without --watch. */
	struct hotplug *hotplug;
	/* An error was printed. */
	bool failed;
	/* A limit of a cgroup differed from the files. */
	bool differs;
} apply;

static const struct syntax apply_syntax = {
	.choices = {
		{ "check", 'c',
		  "only print the limits that differ; the exit status is 3 if there are any",
		  &apply.check },
		{ "watch", 'w', "keep running, and apply again when a device or a cgroup is added",
		  &apply.watch },
	},
	.args_doc = "[FILE...]",
	.doc =
		"Set the limits in files, by default in all /etc/rdmacg.d/*.conf. A file has sections [CGROUP] with lines DEVICE KEY=VALUE..., where CGROUP and DEVICE may be patterns; - is standard input.\vLimits that already have the value of a file are not written again. If a file is malformed, nothing is changed. With --watch, SIGHUP reads the files again.",
};

/* Whether a later rule has a limit for this key of the device. */
static bool apply_is_overruled(const struct apply_work *work, const struct device *device,
			       const char *key)
{
	size_t i;

	for (i = work->number + 1; i < work->nr_rules; i++)
		if (config_match_device(work->rules[i], device) &&
		    (work->rules[i]->limits.whole || limits_find(&work->rules[i]->limits, key)))
			return true;
	return false;
}

/* For limits_add(): whether the limit differs from the rule, and no later rule has the key. */
static bool apply_wants(void *data, const struct device *device, const char *key, uint64_t before,
			uint64_t after)
{
	const struct apply_work *work = data;
	const char *name = cgroup_name(work->cgroup), *where = work->rule->where;

	if (before == after || apply_is_overruled(work, device, key))
		return false;
	if (options.json)
		json_print(work->said,
			   "cgroup:s device:s index:o resource:s before:l limit:l where:s done:b",
			   name, device->name, device_index(device), key, before, after, where,
			   !apply.check);
	else
		say_line_to(work->said, "%s: %s on %s %s %s, %s %s (%s)", name, key,
			    device_text(device), apply.check ? "is" : "was",
			    number_text(before, false), apply.check ? "to be" : "is now",
			    number_text(after, false), where);
	return true;
}

/*
 * Apply a rule to one device that it matches. The kernel's file does not show whether a limit is a
 * default or the device's own limit. So apply does not write a limit that equals the rule.
 */
static bool apply_device(struct apply_work *work, const struct device *device)
{
	const struct limits *wanted = &work->rule->limits;
	struct limits limits = {
		.device = *device, .whole = wanted->whole, .wants = apply_wants, .data = work,
	};
	size_t before = work->change.nr_steps, i;
	bool good;

	work->rule->used = true;
	for (i = 0; i < wanted->nr_limits; i++)
		if (!apply_is_overruled(work, device, wanted->limits[i].key))
			*(struct limit *)memory_append(&limits.limits, &limits.nr_limits,
						       sizeof(struct limit)) = wanted->limits[i];
	/*
	 * The kernel's files show no index if the name is unique. Keep the rule's index, because
	 * the kernel checks it.
	 */
	if (wanted->device.has_index) {
		limits.device.has_index = true;
		limits.device.index = wanted->device.index;
	}
	good = limits_add(&limits, &work->change, work->cgroup) && transaction_apply(&work->change);
	/* The write may have changed limits that a later rule compares. Read them again. */
	if (work->change.nr_steps > before && !work->change.dry_run)
		work->stale |= device->is_default || (limits.whole && *limits.whole == 'd');
	free(limits.limits);
	return good;
}

/* Enable the controller in the cgroup. */
static bool apply_controller(struct apply_work *work)
{
	const char *name = cgroup_name(work->cgroup), *where = work->rules[0]->where;

	if (cgroup_has_controller(work->cgroup))
		return true;
	work->rule = work->rules[0];
	say_within(where);
	if (!apply.check)
		return transaction_enable(&work->change, work->cgroup);
	apply.differs = true;
	if (options.json)
		json_print(stdout, "cgroup:s controller:b where:s done:b", name, false, where,
			   false);
	else
		say_line("%s: has no RDMA controller, so there is no limit (%s)", name, where);
	return false;
}

/* Write all rules. Undo all writes if the kernel refuses a write. */
static bool apply_rules(struct apply_work *work)
{
	bool good = apply_controller(work);
	const struct pool *pool;

	for (work->number = 0; work->number < work->nr_rules && good; work->number++) {
		good = !work->stale || cgroup_read(work->cgroup, APPLY_FILES);
		work->stale = false;
		work->rule = work->rules[work->number];
		say_within(work->rule->where);
		if (work->rule->limits.device.is_default) {
			good = good && apply_device(work, &device_default);
			continue;
		}
		for (pool = work->cgroup->pools.first; pool && good; pool = pool->next)
			if (config_match_device(work->rule, &pool->device))
				good = apply_device(work, &pool->device);
	}
	if (!good)
		transaction_undo(&work->change);
	return good;
}

/*
 * Print the errors of a cgroup, unless its removal is the reason. With --watch, print the errors of
 * a line only once, because each new cgroup could repeat them.
 */
static void apply_say_errors(struct apply_work *work, const char *errors, bool good)
{
	bool gone = !file_exists(work->cgroup->dir, "cgroup.procs");
	bool said = apply.watch && work->rule && work->rule->failed;

	if (!good && (gone || said || !*errors))
		return;
	fputs(errors, stderr);
	if (good)
		return;
	apply.failed = true;
	if (work->rule)
		work->rule->failed = true;
}

static void apply_do(struct apply_work *work)
{
	char *errors __autofree = NULL, *said __autofree = NULL;
	size_t size, said_size;
	FILE *to = memory_check(open_memstream(&errors, &size));
	bool good;

	work->said = memory_check(open_memstream(&said, &said_size));
	say_errors_to(to);
	good = apply_rules(work);
	say_within(NULL);
	say_errors_to(NULL);
	fclose(to);
	fclose(work->said);
	if (good) {
		apply.differs |= *said;
		fputs(said, stdout);
	}
	apply_say_errors(work, errors, good);
	transaction_free(&work->change);
}

static void apply_cgroup(struct cgroup *cgroup)
{
	struct apply_work work = {
		.cgroup = cgroup,
		.stale = true,
		.change = { .dry_run = apply.check },
	};
	struct rule *rule, **added;

	cgroup->leave_below = true;
	for (rule = apply.config.rules; rule < apply.config.rules + apply.config.nr_rules; rule++) {
		enum config_match match = config_match_cgroup(rule, cgroup->name);

		if (match == CONFIG_BELOW)
			cgroup->leave_below = false;
		if (match != CONFIG_SELF)
			continue;
		added = memory_append(&work.rules, &work.nr_rules, sizeof(*added));
		*added = rule;
		rule->met = true;
	}
	/* Watch the cgroup before reading its children, so that no new child is missed. */
	if (apply.hotplug && !cgroup->leave_below)
		hotplug_add(apply.hotplug, cgroup);
	if (work.nr_rules)
		apply_do(&work);
	free(work.rules);
}

/*
 * Set the limits in the cgroup @name and its descendants. "" is the root. A cgroup that is removed
 * meanwhile is not an error.
 */
static void apply_below(const char *name)
{
	struct walk walk = { .top = cgroup_find(name) };
	struct cgroup *cgroup;

	if (!walk.top) {
		if (file_is_gone(errno))
			return;
		say_error(*name ? name : "/", "%s", strerror(errno));
		apply.failed = true;
		return;
	}
	capacity_read();
	while ((cgroup = walk_next(&walk)))
		apply_cgroup(cgroup);
	apply.failed |= walk.failed;
	cgroup_close_path(walk.top);
}

/* A line for a device that does not exist yet is not an error, but the name may be misspelt. */
static void apply_say_unused(void)
{
	size_t i;

	for (i = 0; i < apply.config.nr_rules; i++) {
		const struct rule *rule = &apply.config.rules[i];

		if (rule->used || rule->failed)
			continue;
		apply.differs = true;
		if (rule->met)
			say_warning(rule->where, "no device matches %s now",
				    rule->limits.device.name);
		else
			say_warning(rule->where, "no cgroup matches this section now");
	}
}

/* Block signals, so that they are read only between two complete actions. */
static int apply_open_signals(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		say_failure("signalfd", "%s", strerror(errno));
	return fd;
}

/* Read the files again. If a file is malformed, the limits do not change. */
static void apply_reload(void)
{
	struct config config = { 0 };

	if (!config_read(&config, apply.files, apply.nr_files)) {
		say_note("a file is malformed; the earlier limits stay in effect");
		return;
	}
	config_free(&apply.config);
	apply.config = config;
	say_text("files read: %zu line%s of limits", config.nr_rules,
		 config.nr_rules == 1 ? "" : "s");
	/* The new files may have sections for other cgroups. */
	hotplug_close(apply.hotplug);
	hotplug_open(apply.hotplug);
	apply.hotplug->everything = true;
}

/* Take the signals. Returns false to end the program. */
static bool apply_take_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		apply_reload();
	}
	return true;
}

/* A new device needs limits in all cgroups. Otherwise only the new cgroups need limits. */
static void apply_arrivals(void)
{
	struct hotplug *hotplug = apply.hotplug;
	bool everything = hotplug->everything;
	size_t i;

	if (everything)
		apply_below("");
	for (i = 0; i < hotplug->nr_names && !everything; i++)
		apply_below(hotplug->names[i]);
	hotplug_drop(hotplug);
}

static bool apply_loop(int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
	};
	int64_t begin;

	while (say_finish() && apply_take_signals(signals)) {
		fds[1].fd = apply.hotplug->devices;
		fds[2].fd = apply.hotplug->inotify;
		if (!apply.hotplug->everything &&
		    poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			say_failure("poll", "%s", strerror(errno));
		begin = clock_now();
		hotplug_take(apply.hotplug);
		apply_arrivals();
		if (!say_finish())
			return false;
		/* A signal ends the pause. */
		poll(fds, 1, (clock_now() - begin) * APPLY_PAUSE_FACTOR + APPLY_PAUSE_MS);
	}
	return !ferror(stdout);
}

/*
 * Set limits of new cgroups and devices until a signal arrives. Returns false after a printed
 * error.
 */
static bool apply_watch(void)
{
	struct hotplug hotplug = { 0 };
	int signals = apply_open_signals(), ret;
	bool done;

	hotplug_open(&hotplug);
	apply.hotplug = &hotplug;
	apply_below("");
	done = say_finish();
	/* Notify systemd that the limits are in effect, if NOTIFY_SOCKET is set. */
	ret = done ? sd_notify(false, "READY=1") : 0;
	if (ret < 0)
		say_warning("NOTIFY_SOCKET", "%s", strerror(-ret));
	done = done && apply_loop(signals);
	hotplug_close(&hotplug);
	return done;
}

int cmd_apply(int argc, char **argv)
{
	apply.files = options_read(&apply_syntax, argc, argv);
	apply.nr_files = argv + argc - apply.files;
	if (apply.check && apply.watch)
		options_fail("apply", "--check and --watch exclude each other");
	hierarchy_open(EXIT_FAILED);
	if (!config_read(&apply.config, apply.files, apply.nr_files))
		return EXIT_FAILED;
	if (apply.watch)
		return apply_watch() ? EXIT_DONE : EXIT_FAILED;
	apply_below("");
	apply_say_unused();
	if (apply.failed)
		return EXIT_FAILED;
	return apply.check && apply.differs ? EXIT_DIFFERS : EXIT_DONE;
}
