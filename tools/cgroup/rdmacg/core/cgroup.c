// SPDX-License-Identifier: GPL-2.0
/* rdmacg: cgroups, the way up and the tree below. */
#include <dirent.h>
#include <sys/stat.h>

#include "core/core.h"

/*
 * Each level of a walk holds a file descriptor and some stack, and who owns a cgroup can
 * make levels without end. Whoever counts below is counted above as well.
 */
#define CGROUP_DEEPEST 500

static struct cgroup *cgroup_new(const struct hierarchy *hierarchy, struct cgroup *parent,
				 char *name, int dir)
{
	struct cgroup *cgroup = memory_zeroed(1, sizeof(*cgroup));

	cgroup->hierarchy = hierarchy;
	cgroup->parent = parent;
	cgroup->name = name;
	cgroup->dir = dir;
	cgroup->depth = parent ? parent->depth + 1 : 0;
	return cgroup;
}

static struct cgroup *cgroup_open_root(const struct hierarchy *hierarchy)
{
	int dir = fcntl(hierarchy->dir, F_DUPFD_CLOEXEC, 3);

	return dir < 0 ? NULL : cgroup_new(hierarchy, NULL, memory_string(""), dir);
}

struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base)
{
	int dir = openat(parent->dir, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char *name;

	if (dir < 0)
		return NULL;
	name = memory_format("%s%s%s", parent->name, *parent->name ? "/" : "", base);
	return cgroup_new(parent->hierarchy, parent, name, dir);
}

struct cgroup *cgroup_find(const struct hierarchy *hierarchy, const char *name)
{
	struct cgroup *cgroup = cgroup_open_root(hierarchy);
	char *copy = memory_string(name);
	char *rest = *copy ? copy : NULL;
	struct cgroup *child;

	while (cgroup && rest) {
		child = cgroup_open_child(cgroup, strsep(&rest, "/"));
		if (!child) {
			int error = errno;

			cgroup_close_path(cgroup);
			errno = error;
		}
		cgroup = child;
	}
	free(copy);
	return cgroup;
}

struct cgroup *cgroup_open(const struct hierarchy *hierarchy, const char *name)
{
	struct cgroup *cgroup = cgroup_find(hierarchy, name);

	if (!cgroup && errno == ENOENT)
		say_error(*name ? name : "/", "there is no such cgroup below %s", hierarchy->path);
	else if (!cgroup)
		say_error(*name ? name : "/", "cannot open: %s%s", strerror(errno),
			  errno == EACCES ? "; run as root" : "");
	return cgroup;
}

void cgroup_close(struct cgroup *cgroup)
{
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
	return *cgroup->name ? cgroup->name : "/";
}

const char *cgroup_format_limit(char *buffer, const struct cgroup *cgroup,
				const struct slot *slot, bool human)
{
	if (slot->limit == NUMBER_MAX && cgroup->hierarchy->partial)
		return "unknown";
	return number_format(buffer, slot->limit, human);
}

const char *cgroup_relative(const char *name, const char *other, bool short_form)
{
	static char buffer[CGROUP_DEEPEST * 3];
	size_t length = name && strcmp(name, "/") ? strlen(name) : 0;
	char *to = buffer;

	if (!name || !short_form)
		return name ? name : "-";
	if (!strcmp(name, other))
		return "self";
	if (!length)
		to = stpcpy(to, "..");
	for (other += length + !length; *other && to < buffer + sizeof(buffer) - 4; other++)
		if (*other == '/')
			to = stpcpy(to, to == buffer ? ".." : "/..");
	return buffer;
}

char *cgroup_path(const struct cgroup *cgroup, const char *file)
{
	return memory_format("%s%s%s/%s", cgroup->hierarchy->path, *cgroup->name ? "/" : "",
			     cgroup->name, file);
}

bool cgroup_has_controller(const struct cgroup *cgroup)
{
	return file_exists(cgroup->dir, pool_file_name(POOL_HCA, POOL_CURRENT));
}

struct cgroup *cgroup_counted_in(struct cgroup *cgroup)
{
	while (cgroup && !cgroup_has_controller(cgroup))
		cgroup = cgroup->parent;
	return cgroup;
}

/* The smaller limit counts; of two equal ones the lower cgroup's, for it refuses first. */
static void cgroup_inherit_limit(struct cgroup *cgroup, size_t i, size_t j)
{
	const struct pool *pool = &cgroup->pools.pools[i];
	const struct cgroup *above = cgroup->parent;
	struct slot *slot = &pool->slots[j];
	const struct slot *inherited = NULL;

	slot->limit = slot->max;
	slot->limit_of = slot->max == NUMBER_MAX ? NULL : cgroup;
	while (above && !inherited) {
		inherited = pools_find_slot_near(&above->pools, &pool->device, slot->key, i, j);
		above = above->parent;
	}
	if (inherited && inherited->limit < slot->limit) {
		slot->limit = inherited->limit;
		slot->limit_of = inherited->limit_of;
	}
}

bool cgroup_read(struct cgroup *cgroup, unsigned int files)
{
	struct pools *pools = &cgroup->pools;
	size_t i, j;
	int ret;

	pools_free(pools);
	ret = pools_read(pools, cgroup->dir, files,
			 cgroup->parent ? &cgroup->parent->pools : NULL);
	if (ret) {
		say_error(cgroup_name(cgroup), "%s", strerror(-ret));
		return false;
	}
	for (i = 0; i < pools->nr_pools; i++)
		for (j = 0; j < pools->pools[i].nr_slots; j++)
			cgroup_inherit_limit(cgroup, i, j);
	return true;
}

bool cgroup_read_path(struct cgroup *cgroup, unsigned int files)
{
	if (cgroup->parent && !cgroup_read_path(cgroup->parent, files))
		return false;
	return cgroup_read(cgroup, files);
}

static int cgroup_compare_names(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

/* Whether a directory of a cgroup is one of its children. */
static bool cgroup_is_child(int dir, const struct dirent *entry)
{
	struct stat status;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dir, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(status.st_mode);
}

/* The names of the children, sorted. One that is gone has none. */
static char **cgroup_children(const struct cgroup *cgroup, size_t *count)
{
	struct dirent *entry;
	char **names = NULL;
	struct stat status;
	DIR *dir;
	int fd;

	*count = 0;
	/* Two names, its own and ".", so there is no ".." below: spares reading many names. */
	if (!fstat(cgroup->dir, &status) && status.st_nlink == 2)
		return NULL;
	fd = openat(cgroup->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	while ((entry = readdir(dir))) {
		if (!cgroup_is_child(fd, entry))
			continue;
		names = memory_grow(names, *count, sizeof(*names));
		names[(*count)++] = memory_string(entry->d_name);
	}
	closedir(dir);
	if (names)
		qsort(names, *count, sizeof(*names), cgroup_compare_names);
	return names;
}

/* Why a child cannot be opened, and what to do. */
static void cgroup_say_unreadable(const struct cgroup *parent, const char *base, int error)
{
	char *name = memory_format("%s%s%s", parent->name, *parent->name ? "/" : "", base);

	say_error(name, "cannot open: %s%s", strerror(error),
		  error == EACCES ? "; run as root" : "");
	free(name);
}

struct walk {
	/* 0: without pools. */
	unsigned int files;
	bool (*visit)(struct cgroup *cgroup, void *data);
	void *data;
	bool failed;
};

static bool cgroup_walk_below(struct cgroup *cgroup, struct walk *walk);

/* One child and what is below; false to stop. */
static bool cgroup_walk_child(struct cgroup *parent, const char *base, struct walk *walk)
{
	struct cgroup *child = cgroup_open_child(parent, base);
	bool go_on = true;

	if (!child && !file_is_gone(errno)) {
		cgroup_say_unreadable(parent, base, errno);
		walk->failed = true;
	}
	if (!child)
		return true;
	if (walk->files && !cgroup_read(child, walk->files))
		walk->failed = true;
	else
		go_on = walk->visit(child, walk->data) &&
			(child->leave_below || cgroup_walk_below(child, walk));
	cgroup_close(child);
	return go_on;
}

static bool cgroup_walk_below(struct cgroup *cgroup, struct walk *walk)
{
	bool go_on = true;
	size_t count, i;
	char **names = cgroup_children(cgroup, &count);

	if (count && cgroup->depth >= CGROUP_DEEPEST) {
		say_warning("cgroups",
			    "those more than %d levels deep are left out; what they have counts above",
			    CGROUP_DEEPEST);
	} else {
		for (i = 0; i < count && go_on; i++)
			go_on = cgroup_walk_child(cgroup, names[i], walk);
	}
	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return go_on;
}

bool cgroup_walk(struct cgroup *top, unsigned int files,
		 bool (*visit)(struct cgroup *cgroup, void *data), void *data)
{
	struct walk walk = { .files = files, .visit = visit, .data = data };

	if (!cgroup_read(top, files))
		return false;
	if (visit(top, data) && !top->leave_below)
		cgroup_walk_below(top, &walk);
	return !walk.failed;
}

bool cgroup_walk_names(struct cgroup *top, bool (*visit)(struct cgroup *cgroup, void *data),
		       void *data)
{
	struct walk walk = { .visit = visit, .data = data };

	if (visit(top, data) && !top->leave_below)
		cgroup_walk_below(top, &walk);
	return !walk.failed;
}
