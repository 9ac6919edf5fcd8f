// SPDX-License-Identifier: GPL-2.0
/* rdmacg: cgroups, their ancestors and their descendants. */
#include "core/core.h"

/* A walk ends here: each level needs a descriptor, and a tenant can create any number of levels. */
#define CGROUP_DEEPEST 500

struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base)
{
	int dir = openat(parent ? parent->dir : hierarchy.dir, base,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct cgroup *cgroup;

	if (dir < 0)
		return NULL;
	cgroup = memory_zeroed(1, sizeof(*cgroup));
	cgroup->parent = parent;
	cgroup->name = parent && *parent->name ? memory_format("%s/%s", parent->name, base) :
						 memory_string(parent ? base : "");
	cgroup->dir = dir;
	cgroup->depth = parent ? parent->depth + 1 : 0;
	return cgroup;
}

struct cgroup *cgroup_find(const char *name)
{
	char *copy __autofree = memory_string(name);
	struct cgroup *cgroup = cgroup_open_child(NULL, "."), *child;
	char *rest = *copy ? copy : NULL;

	while (cgroup && rest) {
		child = cgroup_open_child(cgroup, strsep(&rest, "/"));
		/* This keeps errno. */
		if (!child)
			cgroup_close_path(cgroup);
		cgroup = child;
	}
	return cgroup;
}

bool cgroup_say_file(const char *name)
{
	const char *base = strrchr(name, '/');
	bool found = base && (!strcmp(base + 1, POOL_FILE_DEFAULT) ||
			      !strcmp(base + 1, "rdma.control.stat"));
	unsigned int i;

	for (i = 0; base && i < POOL_CLASSES * POOL_FILES; i++)
		found |= !strcmp(base + 1, pool_file_names[i / POOL_FILES][i % POOL_FILES] ?: "");
	if (found)
		say_error(name,
			  "is a file of %.*s; give this cgroup, and each key goes to its file",
			  (int)(base - name), name);
	return found;
}

static void cgroup_say_closed(const char *name)
{
	const char *where = *name ? name : "/";

	if ((errno == ENOTDIR || errno == ENOENT) && cgroup_say_file(name))
		return;
	if (errno == ENOENT)
		say_error(where, "there is no such cgroup below %s", hierarchy.path);
	else
		say_error(where, "cannot open: %s%s", strerror(errno),
			  errno == EACCES ? "; run as root" : "");
}

struct cgroup *cgroup_open(const char *name)
{
	struct cgroup *cgroup = cgroup_find(name);

	if (!cgroup)
		cgroup_say_closed(name);
	return cgroup;
}

struct cgroup *cgroup_open_argument(const char *argument)
{
	char *name __autofree = argument ? hierarchy_resolve(argument) : memory_string("");

	return name ? cgroup_open(name) : NULL;
}

static void cgroup_free_list(struct cgroup *cgroup)
{
	while (cgroup->nr_children > 0)
		free(cgroup->children[--cgroup->nr_children]);
	free(cgroup->children);
	cgroup->children = NULL;
	cgroup->next_child = 0;
}

static void cgroup_close(struct cgroup *cgroup)
{
	cgroup_free_list(cgroup);
	pools_free(&cgroup->pools);
	close(cgroup->dir);
	free(cgroup->name);
	free(cgroup);
}

void cgroup_close_path(struct cgroup *cgroup)
{
	while (cgroup) {
		struct cgroup *parent = cgroup->parent;

		cgroup_close(cgroup);
		cgroup = parent;
	}
}

const char *cgroup_name(const struct cgroup *cgroup)
{
	return !cgroup ? NULL : *cgroup->name ? cgroup->name : "/";
}

struct number_text cgroup_limit_text(uint64_t limit, bool human)
{
	return limit == NUMBER_MAX && hierarchy.partial ? (struct number_text){ "unknown" } :
							  number_text(limit, human);
}

char *cgroup_relative(const char *name, const char *other, bool short_form)
{
	char *text;

	if (!name || !short_form || !strcmp(name, other))
		return memory_string(!name ? "-" : short_form ? "self" : name);
	/* The name of a child of the root has no slash. */
	text = strcmp(name, "/") ? NULL : memory_string("..");
	for (other += strlen(name); *other; other++)
		if (*other == '/')
			memory_extend(&text, "%s..", text ? "/" : "");
	return text;
}

bool cgroup_has_controller(const struct cgroup *cgroup)
{
	return file_exists(cgroup->dir, pool_file_names[POOL_HCA][POOL_CURRENT]);
}

struct cgroup *cgroup_counted_in(struct cgroup *cgroup)
{
	while (cgroup && !cgroup_has_controller(cgroup))
		cgroup = cgroup->parent;
	return cgroup;
}

struct cgroup *cgroup_say_counted_in(struct cgroup *cgroup)
{
	struct cgroup *counted = cgroup_counted_in(cgroup);

	if (!counted && cgroup->parent)
		say_warning(cgroup_name(cgroup),
			    "the cgroup and its ancestors have no RDMA controller: nothing is counted or limited");
	else if (counted && counted != cgroup)
		say_warning(cgroup_name(cgroup),
			    "has no RDMA controller, so its processes are charged to %s",
			    cgroup_name(counted));
	return counted;
}

bool cgroup_read(struct cgroup *cgroup, unsigned int files)
{
	const struct cgroup *parent = cgroup->parent, *above;
	const struct slot *inherited;
	struct slot *slot = NULL;
	int ret;

	pools_free(&cgroup->pools);
	ret = pools_read(&cgroup->pools, cgroup->dir, files, parent ? &parent->pools : NULL);
	if (ret)
		return say_error(cgroup_name(cgroup), "%s", strerror(-ret));
	if (capacity.by_owner && cgroup->pools.files[POOL_HCA] && !cgroup->pools.files[POOL_VERB])
		capacity_add_owned(cgroup);
	while ((slot = pools_next(&cgroup->pools, slot))) {
		slot->limit = slot->max;
		slot->limit_of = slot->max == NUMBER_MAX ? NULL : cgroup;
		inherited = NULL;
		for (above = parent; above && !inherited; above = above->parent)
			inherited = pools_find_slot(&above->pools, &slot->pool->device, slot->key);
		/* If two limits are equal, the lower cgroup's limit refuses first. */
		if (inherited && inherited->limit < slot->limit) {
			slot->limit = inherited->limit;
			slot->limit_of = inherited->limit_of;
		}
	}
	return true;
}

bool cgroup_read_path(struct cgroup *cgroup, unsigned int files)
{
	return !cgroup || (cgroup_read_path(cgroup->parent, files) && cgroup_read(cgroup, files));
}

static int cgroup_is_child(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

void cgroup_list(struct cgroup *cgroup)
{
	struct stat status;

	cgroup_free_list(cgroup);
	/* Do not list the many files of a folder that has two links, and so no subfolder. */
	if (fstat(cgroup->dir, &status) || status.st_nlink != 2)
		cgroup->nr_children = scandirat(cgroup->dir, ".", &cgroup->children,
						cgroup_is_child, alphasort);
}

/* Open a child and read its files. Returns NULL if that fails. */
static struct cgroup *walk_open(struct walk *walk, const char *base)
{
	char *name __autofree = NULL;
	struct cgroup *child = cgroup_open_child(walk->at, base);

	if (child && (!walk->files || cgroup_read(child, walk->files)))
		return child;
	if (!child && file_is_gone(errno))
		return NULL;
	walk->failed = true;
	if (child) {
		cgroup_close(child);
		return NULL;
	}
	name = memory_format("%s/%s", walk->at->name, base);
	cgroup_say_closed(name + !*walk->at->name);
	return NULL;
}

/* On v2, no descendant of a cgroup without the controller has files to read. */
static bool walk_descends(const struct walk *walk, const struct cgroup *at)
{
	if (walk->stop || at->leave_below)
		return false;
	return !walk->files || !hierarchy.v2 || !at->parent || at->pools.files[POOL_HCA] ||
	       cgroup_has_controller(at);
}

struct cgroup *walk_next(struct walk *walk)
{
	struct cgroup *at = walk->at, *child = NULL;

	if (!at) {
		at = walk->top ? walk->top : cgroup_open("");
		walk->failed = !at || (walk->files && !cgroup_read_path(at, walk->files));
		if (at)
			at->leave_below = false;
		if (walk->failed && !walk->top)
			cgroup_close_path(at);
		walk->at = walk->failed ? NULL : at;
		return walk->at;
	}
	cgroup_free_list(at);
	if (walk_descends(walk, at))
		cgroup_list(at);
	if (at->nr_children > 0 && at->depth >= CGROUP_DEEPEST) {
		say_warning("cgroups",
			    "cgroups more than %d levels deep are not shown; their ancestors count their usage",
			    CGROUP_DEEPEST);
		cgroup_free_list(at);
	}
	while (at) {
		while (!child && at->next_child < at->nr_children && !walk->stop)
			child = walk_open(walk, at->children[at->next_child++]->d_name);
		if (child || at == walk->top)
			break;
		walk->at = at->parent;
		cgroup_close(at);
		at = walk->at;
	}
	walk->at = child;
	return child;
}

size_t procs_read(struct cgroup *top, pid_t **pids)
{
	struct walk walk = { .top = top };
	struct cgroup *cgroup;
	size_t count = 0;

	*pids = NULL;
	while ((cgroup = walk_next(&walk))) {
		/* A removed or threaded cgroup has no list of processes. */
		char *text __autofree = file_read(cgroup->dir, "cgroup.procs");
		char *cursor = text, *line;

		while ((line = file_next_line(&cursor))) {
			pid_t pid = atoi(line);

			/* A process of another namespace has the number 0. */
			if (pid && pid != getpid())
				*memory_append(*pids, count) = pid;
		}
	}
	return count;
}

size_t procs_signal(struct cgroup *cgroup, int signal)
{
	pid_t *pids __autofree = NULL;
	size_t count = procs_read(cgroup, &pids), i;

	for (i = 0; i < count; i++)
		kill(pids[i], signal);
	return count;
}
