// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg apply: the limits of files. With --watch, a new device causes a visit of all cgroups, and
 * a new cgroup causes a visit of this cgroup and its descendants.
 */
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include "write/write.h"

static struct apply {
	char **files;
	bool watch;
	struct config config;
	struct hotplug hotplug;
	struct cgroup *cgroup;	/* its limits are being set */
	struct rule *rule;	/* the rule of this cgroup that is being applied */
	struct transaction change;
	FILE *said;		/* about limits that differ, for when all writes have succeeded */
	bool failed, differs;
} apply;

static const struct syntax apply_syntax = {
	.choices = {
		{ "check", 'c',
		  "only print the limits that differ; the exit status is 3 if there are any",
		  &apply.change.dry_run },
		{ "watch", 'w', "keep running, and apply again when a device or a cgroup is added",
		  &apply.watch },
	},
	.args_doc = "[FILE...]",
	.example = "rdmacg apply --check /etc/rdmacg.d/*.conf",
	.doc =
		"Set the limits in files, by default in all /etc/rdmacg.d/*.conf. A file has sections [CGROUP] with lines DEVICE KEY=VALUE..., where CGROUP and DEVICE may be patterns; - is standard input.\vLimits that already have the value of a file are not written again. If a file is malformed, nothing is changed. With --watch, SIGHUP reads the files again.",
};

/* Whether a later rule has a limit for this key of the device. */
static bool apply_is_overruled(const struct device *device, const char *key)
{
	const struct rule *later;

	for (later = apply.rule->next; later; later = later->next)
		if (config_match_device(later, device) &&
		    (later->limits.whole || limits_find(&later->limits, key)))
			return true;
	return false;
}

/* For limits_add(): whether the limit differs from the rule, and no later rule has the key. */
static bool apply_wants(const struct device *device, const char *key, uint64_t before,
			uint64_t after)
{
	const char *name = cgroup_name(apply.cgroup), *where = apply.rule->where;

	if (before == after || apply_is_overruled(device, key))
		return false;
	if (options.json)
		json_print(apply.said,
			   "cgroup:s device:s index:o resource:s before:l limit:l where:s done:b",
			   name, device->name, device_index(device), key, before, after, where,
			   !apply.change.dry_run);
	else
		say_line_to(apply.said, "%s: %s on %s %s %s, %s %s (%s)", name, key,
			    device_text(device).s, apply.change.dry_run ? "is" : "was",
			    number_text(before, false).s, apply.change.dry_run ? "to be" : "is now",
			    number_text(after, false).s, where);
	return true;
}

/* Do not write a limit that equals the rule, because it may be a default. */
static bool apply_device(const struct device *device)
{
	const struct limits *wanted = &apply.rule->limits;
	struct limits limits = { .device = *device, .whole = wanted->whole, .wants = apply_wants };
	long said = ftell(apply.said);
	bool good, gone = false;
	size_t i;

	for (i = 0; i < wanted->nr_limits; i++)
		if (!apply_is_overruled(device, wanted->limits[i].key))
			*memory_append(limits.limits, limits.nr_limits) = wanted->limits[i];
	/*
	 * The kernel shows no index for a unique name, but checks an index. If another device has
	 * it, or none, there is nothing to limit.
	 */
	if (wanted->device.has_index) {
		limits.device.has_index = true;
		limits.device.index = wanted->device.index;
	}
	apply.change.gone = &gone;
	good = limits_add(&limits, &apply.change, apply.cgroup) && transaction_apply(&apply.change);
	apply.change.gone = NULL;
	free(limits.limits);
	if (gone)
		fseek(apply.said, said, SEEK_SET);
	else
		apply.rule->used = true;
	return good;
}

/* Apply the rules from apply.rule on. Undo all writes if the kernel refuses a write. */
static bool apply_rules(void)
{
	const char *name = cgroup_name(apply.cgroup), *where = apply.rule->where;
	bool good = cgroup_has_controller(apply.cgroup);
	const struct pool *pool;
	struct rule *rule;

	say_place = where;
	if (!good && !apply.change.dry_run) {
		good = transaction_enable(&apply.change, apply.cgroup);
	} else if (!good) {
		apply.differs = true;
		if (options.json)
			json_print(stdout, "cgroup:s controller:b where:s done:b", name, false,
				   where, false);
		else
			say_line("%s: has no RDMA controller, so there is no limit (%s)", name,
				 where);
	}
	for (rule = apply.rule; rule && good; rule = rule->next) {
		/* Earlier rules may have changed limits that this rule compares. */
		good = cgroup_read(apply.cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT));
		apply.rule = rule;
		say_place = rule->where;
		if (rule->limits.device.is_default) {
			good = good && apply_device(&device_default);
			continue;
		}
		for (pool = apply.cgroup->pools.first; pool && good; pool = pool->next)
			if (config_match_device(rule, &pool->device))
				good = apply_device(&pool->device);
	}
	/* A device may match the rules that were not tried. */
	for (; rule; rule = rule->next)
		rule->used = true;
	if (!good)
		transaction_undo(&apply.change);
	return good;
}

/* With --watch, print errors of a line once. Each cgroup could repeat them. */
static void apply_do(void)
{
	char *errors __autofree = NULL, *said __autofree = NULL;
	size_t size, said_size;
	FILE *to = memory_check(open_memstream(&errors, &size));
	bool good;

	apply.said = memory_check(open_memstream(&said, &said_size));
	say_errors = to;
	good = apply_rules();
	say_place = NULL;
	say_errors = NULL;
	fclose(to);
	fclose(apply.said);
	if (good) {
		apply.differs |= *said;
		fputs(said, stdout);
		fputs(errors, stderr);
	} else if (*errors && file_exists(apply.cgroup->dir, "cgroup.procs") &&
		   !(apply.watch && apply.rule->failed)) {
		fputs(errors, stderr);
		apply.failed = true;
		apply.rule->failed = true;
	}
	transaction_free(&apply.change);
}

static void apply_cgroup(struct cgroup *cgroup)
{
	struct rule *rule, **end = &apply.rule;

	apply.cgroup = cgroup;
	cgroup->leave_below = true;
	for (rule = apply.config.rules; rule < apply.config.rules + apply.config.nr_rules; rule++) {
		enum config_match match = config_match_cgroup(rule, cgroup->name);

		if (match == CONFIG_BELOW)
			cgroup->leave_below = false;
		if (match != CONFIG_SELF)
			continue;
		*end = rule;
		end = &rule->next;
		rule->met = true;
	}
	*end = NULL;
	/* Watch the cgroup before reading its children, so that no new child is missed. */
	if (apply.watch && !cgroup->leave_below)
		hotplug_add(&apply.hotplug, cgroup);
	if (apply.rule)
		apply_do();
}

/* Set the limits in a cgroup and its descendants. The removal of a cgroup is not an error. */
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
	const struct rule *rule;

	for (rule = apply.config.rules; rule < apply.config.rules + apply.config.nr_rules; rule++) {
		if (rule->used || rule->failed)
			continue;
		apply.differs = true;
		say_warning(rule->where, "no %s matches %s now", rule->met ? "device" : "cgroup",
			    rule->met ? rule->limits.device.name : "this section");
	}
}

/* A typing error in a key and a key of a driver look the same here. */
static int apply_check_text(void)
{
	size_t nr_rules = apply.config.nr_rules;
	const struct limits *limits;
	size_t i, j;

	for (i = 0; i < nr_rules; i++) {
		limits = &apply.config.rules[i].limits;
		say_place = apply.config.rules[i].where;
		for (j = 0; j < limits->nr_limits; j++)
			if (strncmp(limits->limits[j].key, "hw:", 3) &&
			    pool_key_class(limits->limits[j].key) == POOL_HW)
				say_warning(limits->limits[j].key,
					    "is not a key of the kernel; a driver may register it");
	}
	say_place = NULL;
	say_note("there is no RDMA controller here, so only the text was checked: %zu line%s",
		 nr_rules, nr_rules == 1 ? "" : "s");
	return EXIT_DONE;
}

/* Read the files again. If a file is malformed, the limits do not change. */
static void apply_reload(void)
{
	struct config config = { 0 };
	char **file;

	for (file = apply.files; *file; file++)
		if (!strcmp(*file, "-")) {
			say_note("standard input cannot be read again; its limits stay in effect");
			return;
		}
	if (!config_read(&config, apply.files)) {
		say_note("a file is malformed; the earlier limits stay in effect");
		return;
	}
	config_free(&apply.config);
	apply.config = config;
	say_text("files read: %zu line%s of limits", config.nr_rules,
		 config.nr_rules == 1 ? "" : "s");
	/* The new files may have sections for other cgroups. */
	apply.hotplug.everything = true;
}

/* Set the limits of new cgroups or, because of a new device, of all cgroups. */
static void apply_hotplug(struct hotplug *hotplug)
{
	struct json_object_iter cgroup;

	hotplug_take(hotplug);
	if (hotplug->everything) {
		apply_below("");
	} else {
		json_object_object_foreachC(hotplug->names, cgroup)
			apply_below(cgroup.key);
	}
	hotplug->everything = false;
}

/* Set limits until a signal arrives. Returns false on an error. */
static bool apply_watch(void)
{
	struct pollfd fds[3] = { { .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	sigset_t blocked;
	int64_t begin;
	int ret;

	/* Block signals, so that they are read only between two complete actions. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	fds[0].fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fds[0].fd < 0)
		say_failure("signalfd", "%s", strerror(errno));
	hotplug_open(&apply.hotplug);
	apply.hotplug.everything = true;
	for (;;) {
		begin = clock_now();
		apply_hotplug(&apply.hotplug);
		if (!say_finish())
			return false;
		/* Tell systemd once that the limits are in effect. */
		ret = sd_notify(true, "READY=1");
		if (ret < 0)
			say_warning("NOTIFY_SOCKET", "%s", strerror(-ret));
		/* A signal ends the pause. */
		poll(fds, 1, clock_pause(begin));
		fds[1].fd = apply.hotplug.devices;
		fds[2].fd = apply.hotplug.inotify;
		poll(fds, ARRAY_SIZE(fds), -1);
		while (read(fds[0].fd, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGHUP)
				return true;
			apply_reload();
		}
	}
}

int cmd_apply(int argc, char **argv)
{
	apply.files = options_read(&apply_syntax, argc, argv);
	if (apply.change.dry_run && apply.watch)
		options_fail("apply", "--check and --watch exclude each other");
	hierarchy_open(apply.change.dry_run ? 0 : EXIT_FAILED);
	if (!config_read(&apply.config, apply.files))
		return EXIT_FAILED;
	if (!*apply.files && !apply.config.nr_rules)
		say_note("there are no limits in %s/*.conf", config_folder());
	if (!hierarchy.path)
		return apply_check_text();
	if (apply.watch)
		return apply_watch() ? EXIT_DONE : EXIT_FAILED;
	apply_below("");
	apply_say_unused();
	return apply.failed ? EXIT_FAILED :
	       apply.change.dry_run && apply.differs ? EXIT_DIFFERS : EXIT_DONE;
}
