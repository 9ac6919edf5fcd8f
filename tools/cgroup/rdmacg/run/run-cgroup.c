// SPDX-License-Identifier: GPL-2.0
/* rdmacg: a cgroup for one command. */
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include "core/core.h"
#include "run/run.h"

/*
 * A killed process may take some time to leave the cgroup. Each try to remove the cgroup waits 10
 * ms.
 */
#define RUN_CGROUP_TRIES	200

/* Check this many times, every 10 ms, whether systemd has moved the processes. */
#define RUN_CGROUP_LOOKS	500

#define RUN_CGROUP_NAMES	100
/* The name of the cgroup is this prefix and a number. */
#define RUN_CGROUP_NAME	"rdmacg-run-"

/* Whether the process is in the scope's cgroup. */
static bool run_cgroup_is_in_scope(const char *name, pid_t pid)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("%d/cgroup", pid));

	return text && strstr(text, name);
}

/*
 * Let systemd create a scope with the command and this process, and wait until both are in the
 * scope. This process keeps the cgroup until the files have been read.
 */
static bool run_cgroup_call_systemd(const char *name, pid_t child)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = NULL;
	int looks = RUN_CGROUP_LOOKS;
	int ret = geteuid() ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);

	if (ret >= 0)
		ret = sd_bus_call_method(bus, "org.freedesktop.systemd1",
					 "/org/freedesktop/systemd1",
					 "org.freedesktop.systemd1.Manager", "StartTransientUnit",
					 &error, NULL, "ssa(sv)a(sa(sv))", name, "fail", 2,
					 "Description", "s", "rdmacg run",
					 "PIDs", "au", 2, (uint32_t)child, (uint32_t)getpid(),
					 0);
	while (ret >= 0 && !(run_cgroup_is_in_scope(name, child) &&
			     run_cgroup_is_in_scope(name, getpid()))) {
		clock_sleep(10);
		ret = looks-- ? 0 : -ETIMEDOUT;
	}
	if (ret < 0)
		say_error(name,
			  "systemd does not create this scope: %s; --in CGROUP works without it",
			  error.message ? error.message : strerror(-ret));
	sd_bus_error_free(&error);
	sd_bus_flush_close_unref(bus);
	return ret >= 0;
}

static bool run_cgroup_make_scope(struct run_cgroup *home, const struct child *child)
{
	char *unit __autofree = memory_format(RUN_CGROUP_NAME "%d.scope", getpid());
	char *name __autofree = NULL;

	if (run_cgroup_call_systemd(unit, child->pid))
		name = hierarchy_cgroup_of(child->pid);
	home->cgroup = name ? cgroup_open(name) : NULL;
	home->scope = home->cgroup;
	return home->cgroup;
}

static void run_cgroup_say_refusal(struct cgroup *parent, int error)
{
	char *owner __autofree = file_owner(parent->dir, ".");

	if (error == EACCES || error == EPERM)
		say_error(cgroup_name(parent),
			  "cannot create a cgroup here: %s (owner: %s); run as root or use --in",
			  strerror(error), owner);
	else
		say_error(cgroup_name(parent), "cannot create a cgroup here: %s",
			  strerror(error));
}

/* Create a folder below @parent with a new name. */
static bool run_cgroup_make_below(struct run_cgroup *home, struct cgroup *parent)
{
	int number = 0, error;
	char *base;

	/* A process with the same number may have left a cgroup with this name. */
	do {
		base = memory_format(RUN_CGROUP_NAME "%d%s%.0d", getpid(), number ? "-" : "",
				     number);
		error = mkdirat(parent->dir, base, 0755) ? errno : 0;
		if (!error)
			home->cgroup = cgroup_open_child(parent, base);
		free(base);
	} while (error == EEXIST && ++number < RUN_CGROUP_NAMES);
	if (!home->cgroup)
		run_cgroup_say_refusal(parent, error ? error : ENOENT);
	return home->cgroup;
}

bool run_cgroup_make(struct run_cgroup *home, const char *in, const struct child *child)
{
	char *name __autofree = NULL;
	struct cgroup *parent;

	memset(home, 0, sizeof(*home));
	/* On v1, the controller's hierarchy does not belong to systemd. */
	if (!in && hierarchy.v2 && !*hierarchy_path("RDMACG_ROOT", "") && sd_booted() > 0)
		return run_cgroup_make_scope(home, child);
	name = in ? hierarchy_resolve(in) : hierarchy_cgroup_of(0);
	parent = name ? cgroup_open(name) : NULL;
	if (parent && !run_cgroup_make_below(home, parent))
		cgroup_close_path(parent);
	return home->cgroup;
}

bool run_cgroup_enter(const struct run_cgroup *home, const struct child *child)
{
	char *pid __autofree = memory_format("%d\n", child->pid);
	int ret = home->scope ? 0 : file_write(home->cgroup->dir, "cgroup.procs", pid);

	if (ret)
		say_error(cgroup_name(home->cgroup),
			  "cannot move the command to this cgroup: %s; on cgroup v2, a common ancestor's cgroup.procs must belong to you",
			  strerror(-ret));
	return !ret;
}

/* Remove the cgroups below @cgroup, deepest first. */
static void run_cgroup_remove_below(struct cgroup *cgroup)
{
	struct dirent **children __autofree = NULL;
	size_t count, i;

	children = cgroup_children(cgroup, &count);
	for (i = 0; i < count; i++) {
		struct cgroup *child = cgroup_open_child(cgroup, children[i]->d_name);

		if (child) {
			run_cgroup_remove_below(child);
			cgroup_close(child);
			unlinkat(cgroup->dir, children[i]->d_name, AT_REMOVEDIR);
		}
		free(children[i]);
	}
}

/* Remove the cgroup. If it is busy, try again, because it may be busy only for a moment. */
static int run_cgroup_remove_cgroup(struct cgroup *cgroup)
{
	const char *base = cgroup_base(cgroup);
	int tries;

	for (tries = 0; tries < RUN_CGROUP_TRIES; tries++) {
		run_cgroup_remove_below(cgroup);
		if (!unlinkat(cgroup->parent->dir, base, AT_REMOVEDIR) || file_is_gone(errno))
			return 0;
		if (errno != EBUSY)
			break;
		clock_sleep(10);
	}
	return errno;
}

/* Whether another rdmacg process runs a command in a sibling cgroup. */
static bool run_cgroup_has_sibling(const struct cgroup *parent)
{
	struct dirent **children __autofree = NULL;
	bool has = false;
	size_t count, i;

	children = cgroup_children(parent, &count);
	for (i = 0; i < count; i++) {
		has |= !strncmp(children[i]->d_name, RUN_CGROUP_NAME, strlen(RUN_CGROUP_NAME));
		free(children[i]);
	}
	return has;
}

/*
 * Disable the controller again. The kernel refuses this if other cgroups need the controller now.
 */
static void run_cgroup_disable(struct cgroup *parent, struct transaction *enabled)
{
	size_t i = enabled->nr_steps;

	if (!parent || run_cgroup_has_sibling(parent))
		return;
	while (i--) {
		struct transaction_step *step = &enabled->steps[i];

		if (step->done && *step->undo == '-')
			file_write(step->cgroup->dir, step->file, step->undo);
	}
}

void run_cgroup_remove(struct run_cgroup *home, struct transaction *enabled)
{
	struct cgroup *cgroup = home->cgroup;
	int error = 0;

	/* systemd removes the scope's cgroup when this process ends, but not cgroups below it. */
	if (home->scope)
		run_cgroup_remove_below(cgroup);
	else
		error = run_cgroup_remove_cgroup(cgroup);
	if (error)
		say_warning(cgroup_name(cgroup), "cannot be removed: %s; remove it later with rmdir(1)",
			    strerror(error));
	/* systemd manages the cgroups above a scope. */
	if (!home->scope)
		run_cgroup_disable(cgroup->parent, enabled);
	cgroup_close_path(cgroup);
	home->cgroup = NULL;
}
