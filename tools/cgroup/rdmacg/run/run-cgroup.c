// SPDX-License-Identifier: GPL-2.0
/* rdmacg: a cgroup for one command. */
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include "run/run.h"

/* Try to remove the cgroup this often, every 10 ms. A killed process may still be in it. */
#define RUN_CGROUP_TRIES	200

/* Check this many times, every 10 ms, whether systemd has moved the processes. */
#define RUN_CGROUP_LOOKS	500

#define RUN_CGROUP_NAMES	100
/* The name of the cgroup is this prefix and a number. */
#define RUN_CGROUP_NAME	"rdmacg-run-"

/* The cgroup is a scope of systemd, and this process is also in the cgroup. */
static bool run_cgroup_scope;

/* Whether the process is in the scope's cgroup. */
static bool run_cgroup_is_in_scope(const char *name, pid_t pid)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("%d/cgroup", pid));

	return text && strstr(text, name);
}

/*
 * Let systemd create a scope with the command and this process, and wait until both are in the
 * scope. This process keeps the scope, so that its files can be read after the command has ended.
 */
static struct cgroup *run_cgroup_make_scope(pid_t child)
{
	char *unit __autofree = memory_format(RUN_CGROUP_NAME "%d.scope", getpid());
	char *name __autofree = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = NULL;
	int looks = RUN_CGROUP_LOOKS;
	int ret = geteuid() ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);

	if (ret >= 0)
		ret = sd_bus_call_method(bus, "org.freedesktop.systemd1",
					 "/org/freedesktop/systemd1",
					 "org.freedesktop.systemd1.Manager", "StartTransientUnit",
					 &error, NULL, "ssa(sv)a(sa(sv))", unit, "fail", 2,
					 "Description", "s", "rdmacg run",
					 "PIDs", "au", 2, (uint32_t)child, (uint32_t)getpid(), 0);
	while (ret >= 0 && !(run_cgroup_is_in_scope(unit, child) &&
			     run_cgroup_is_in_scope(unit, getpid()))) {
		clock_sleep(10);
		ret = looks-- ? 0 : -ETIMEDOUT;
	}
	if (ret >= 0)
		name = hierarchy_cgroup_of(child);
	else
		say_error(unit,
			  "systemd does not create this scope: %s; --in CGROUP works without it",
			  error.message ? error.message : strerror(-ret));
	sd_bus_error_free(&error);
	sd_bus_flush_close_unref(bus);
	run_cgroup_scope = true;
	return name ? cgroup_open(name) : NULL;
}

/* Create a folder below @parent with a new name. */
static struct cgroup *run_cgroup_make_below(struct cgroup *parent)
{
	char *owner __autofree = file_owner(parent->dir, ".");
	struct cgroup *cgroup = NULL;
	int number, error = EEXIST;

	/* A process with the same number may have left a cgroup with this name. */
	for (number = 0; error == EEXIST && number < RUN_CGROUP_NAMES; number++) {
		char *base __autofree = memory_format(RUN_CGROUP_NAME "%d%s%.0d", getpid(),
						      number ? "-" : "", number);

		error = mkdirat(parent->dir, base, 0755) ? errno : 0;
		if (!error)
			cgroup = cgroup_open_child(parent, base);
	}
	if (cgroup)
		return cgroup;
	if (error == EACCES || error == EPERM)
		say_error(cgroup_name(parent),
			  "cannot create a cgroup here: %s (owner: %s); run as root or use --in",
			  strerror(error), owner);
	else
		say_error(cgroup_name(parent), "cannot create a cgroup here: %s",
			  strerror(error ? error : ENOENT));
	cgroup_close_path(parent);
	return NULL;
}

struct cgroup *run_cgroup_make(const char *in, pid_t child)
{
	char *name __autofree = NULL;
	struct cgroup *parent;

	/* On v1, the controller's hierarchy does not belong to systemd. */
	if (!in && hierarchy.v2 && !*hierarchy_path("RDMACG_ROOT", "") && sd_booted() > 0)
		return run_cgroup_make_scope(child);
	name = in ? hierarchy_resolve(in) : hierarchy_cgroup_of(0);
	parent = name ? cgroup_open(name) : NULL;
	return parent ? run_cgroup_make_below(parent) : NULL;
}

bool run_cgroup_enter(const struct cgroup *cgroup, pid_t child)
{
	char *pid __autofree = memory_format("%d\n", child);
	int ret = run_cgroup_scope ? 0 : file_write(cgroup->dir, "cgroup.procs", pid);

	return !ret ||
	       say_error(cgroup_name(cgroup),
			 "cannot move the command to this cgroup: %s; on cgroup v2, a common ancestor's cgroup.procs must belong to you",
			 strerror(-ret));
}

/* Remove the cgroups below @cgroup, deepest first. */
static void run_cgroup_remove_below(struct cgroup *cgroup)
{
	int i;

	cgroup_list(cgroup);
	for (i = 0; i < cgroup->nr_children; i++) {
		const char *base = cgroup->children[i]->d_name;
		struct cgroup *child = cgroup_open_child(cgroup, base);

		if (!child)
			continue;
		run_cgroup_remove_below(child);
		cgroup_close(child);
		unlinkat(cgroup->dir, base, AT_REMOVEDIR);
	}
}

/* Remove the cgroup. If it is busy, try again, because it may be busy only for a moment. */
static void run_cgroup_remove_cgroup(struct cgroup *cgroup)
{
	const char *base = cgroup_base(cgroup);
	int tries;

	for (tries = 0; tries < RUN_CGROUP_TRIES; tries++) {
		run_cgroup_remove_below(cgroup);
		if (!unlinkat(cgroup->parent->dir, base, AT_REMOVEDIR) || file_is_gone(errno))
			return;
		if (errno != EBUSY)
			break;
		clock_sleep(10);
	}
	say_warning(cgroup_name(cgroup), "cannot be removed: %s; remove it later with rmdir(1)",
		    strerror(errno));
}

/* Disable the controller again. The kernel refuses this if other cgroups need it now. */
static void run_cgroup_disable(struct cgroup *parent, struct transaction *enabled)
{
	size_t step = enabled->nr_steps;
	int i;

	/* Keep it for a sibling cgroup, in which another rdmacg may run a command. */
	cgroup_list(parent);
	for (i = 0; i < parent->nr_children; i++)
		if (!strncmp(parent->children[i]->d_name, RUN_CGROUP_NAME,
			     strlen(RUN_CGROUP_NAME)))
			return;
	while (step--) {
		const struct transaction_step *done = &enabled->steps[step];

		if (done->done && *done->undo == '-')
			file_write(done->cgroup->dir, done->file, done->undo);
	}
}

void run_cgroup_remove(struct cgroup *cgroup, struct transaction *enabled)
{
	/* systemd removes the scope and manages the cgroups above it, but leaves those below it. */
	if (run_cgroup_scope) {
		run_cgroup_remove_below(cgroup);
		return;
	}
	run_cgroup_remove_cgroup(cgroup);
	run_cgroup_disable(cgroup->parent, enabled);
}
