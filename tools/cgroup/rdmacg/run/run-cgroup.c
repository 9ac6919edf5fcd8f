// SPDX-License-Identifier: GPL-2.0
/* rdmacg: a cgroup for one command. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "core/core.h"
#include "run/run-cgroup.h"
#include "run/scope.h"

/* A process that was just killed may take some time to leave; 10 ms each. */
#define RUN_CGROUP_TRIES	200

#define RUN_CGROUP_NAMES	100
/* Of the cgroup; a number follows. */
#define RUN_CGROUP_NAME	"rdmacg-run-"

static void run_cgroup_pause(void)
{
	struct timespec pause = { .tv_nsec = 10000000 };

	nanosleep(&pause, NULL);
}

/*
 * A process that waits until this one closes @home->keep, or dies. It must not hold the
 * pipe whose end tells the child to give up.
 */
static bool run_cgroup_make_keeper(struct run_cgroup *home, const struct child *child)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	home->keeper = fork();
	if (!home->keeper) {
		close(ends[1]);
		close(child->go);
		/* Nothing is ever written; the end of the file is what it waits for. */
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(ends[0]);
	home->keep = ends[1];
	return home->keeper > 0;
}

static void run_cgroup_end_keeper(struct run_cgroup *home)
{
	if (home->keeper <= 0)
		return;
	close(home->keep);
	waitpid(home->keeper, NULL, 0);
	home->keeper = 0;
}

static bool run_cgroup_make_scope(struct run_cgroup *home, const struct hierarchy *hierarchy,
				  const struct child *child)
{
	char *unit = memory_format("rdmacg-run-%d.scope", getpid());
	char *name = NULL;

	if (!run_cgroup_make_keeper(home, child))
		say_error("fork", "%s", strerror(errno));
	else if (scope_make(unit, child->pid, home->keeper))
		name = hierarchy_cgroup_of(hierarchy, child->pid);
	if (name)
		home->cgroup = cgroup_open(hierarchy, name);
	if (!home->cgroup)
		run_cgroup_end_keeper(home);
	free(name);
	free(unit);
	return home->cgroup;
}

static void run_cgroup_say_refusal(struct cgroup *parent, int error)
{
	char *owner = file_owner(parent->dir, ".");

	if (error == EACCES || error == EPERM)
		say_error(cgroup_name(parent),
			  "cannot create a cgroup here: %s (owner: %s); run as root or use --in",
			  strerror(error), owner);
	else
		say_error(cgroup_name(parent), "cannot create a cgroup here: %s",
			  strerror(error));
	free(owner);
}

/* A folder below @parent, of a name that is not taken. */
static bool run_cgroup_make_below(struct run_cgroup *home, struct cgroup *parent)
{
	int number = 0, error;
	char *base;

	/* One that was left behind, by a process of the same number, is in the way. */
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

bool run_cgroup_make(struct run_cgroup *home, const struct hierarchy *hierarchy, const char *in,
		     const struct child *child)
{
	struct cgroup *parent;
	char *name;

	memset(home, 0, sizeof(*home));
	/* On v1, the controller's hierarchy is none of systemd's. */
	if (!in && hierarchy->v2 && scope_is_possible())
		return run_cgroup_make_scope(home, hierarchy, child);
	name = in ? hierarchy_resolve(hierarchy, in) : hierarchy_cgroup_of(hierarchy, 0);
	if (!name)
		return false;
	parent = cgroup_open(hierarchy, name);
	free(name);
	if (parent && !run_cgroup_make_below(home, parent))
		cgroup_close_path(parent);
	return home->cgroup;
}

bool run_cgroup_enter(const struct run_cgroup *home, const struct child *child)
{
	char *pid;
	int ret;

	if (home->keeper)
		return true;
	pid = memory_format("%d\n", child->pid);
	ret = file_write(home->cgroup->dir, "cgroup.procs", pid);
	free(pid);
	if (ret)
		say_error(cgroup_name(home->cgroup),
			  "the command cannot be moved there: %s; cgroup v2 wants cgroup.procs of a cgroup above both to be yours",
			  strerror(-ret));
	return !ret;
}

size_t run_cgroup_members(const struct run_cgroup *home)
{
	return procs_count(home->cgroup, home->keeper);
}

void run_cgroup_signal(const struct run_cgroup *home, int signal)
{
	procs_signal(home->cgroup, home->keeper, signal);
}

/* Remove what is below @dir, deepest first. */
static void run_cgroup_remove_below(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int child;

	while (list && (entry = readdir(list))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			continue;
		run_cgroup_remove_below(child);
		close(child);
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

/* Remove it from its parent; what is busy may be so for a moment only. */
static int run_cgroup_remove_cgroup(struct cgroup *cgroup)
{
	const char *slash = strrchr(cgroup->name, '/');
	const char *base = slash ? slash + 1 : cgroup->name;
	int tries;

	for (tries = 0; tries < RUN_CGROUP_TRIES; tries++) {
		run_cgroup_remove_below(cgroup->dir);
		if (!unlinkat(cgroup->parent->dir, base, AT_REMOVEDIR) || file_is_gone(errno))
			return 0;
		if (errno != EBUSY)
			break;
		run_cgroup_pause();
	}
	return errno;
}

/* Whether another rdmacg runs a command beside this one. */
static bool run_cgroup_has_sibling(const struct cgroup *parent)
{
	int fd = openat(parent->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool has = false;

	while (list && !has && (entry = readdir(list)))
		has = !strncmp(entry->d_name, RUN_CGROUP_NAME, strlen(RUN_CGROUP_NAME));
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
	return has;
}

/* Where others need the controller by now, the kernel refuses, and rightly so. */
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
	bool scope = home->keeper;
	int error = 0;

	run_cgroup_end_keeper(home);
	/* That of a scope goes by itself, unless the command has made some below it. */
	if (scope)
		run_cgroup_remove_below(home->cgroup->dir);
	else
		error = run_cgroup_remove_cgroup(home->cgroup);
	if (error)
		say_warning(cgroup_name(home->cgroup), "cannot be removed: %s; rmdir(1) does later",
			    strerror(error));
	run_cgroup_disable(home->cgroup->parent, enabled);
	cgroup_close_path(home->cgroup);
	home->cgroup = NULL;
}
