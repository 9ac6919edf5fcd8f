// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the controller's hierarchy, and the names of its cgroups. */
#include "core/core.h"

struct hierarchy hierarchy;

const char *hierarchy_path(const char *variable, const char *path)
{
	const char *other = getenv(variable);

	return other && *other ? other : path;
}

struct proc_path hierarchy_proc(const char *format, ...)
{
	const char *proc = hierarchy_path("RDMACG_PROC", "/proc");
	struct proc_path path;
	va_list args;
	int length;

	va_start(args, format);
	length = min(snprintf(path.s, sizeof(path.s), "%s/", proc), sizeof(path.s) - 1);
	vsnprintf(path.s + length, sizeof(path.s) - length, format, args);
	va_end(args);
	return path;
}

bool hierarchy_has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list && *list; list += strspn(list, " ,\n")) {
		size_t next = strcspn(list, " ,\n");

		if (next == length && !strncmp(list, word, length))
			return true;
		list += next;
	}
	return false;
}

void hierarchy_unescape(char *text)
{
	bool escaped;
	char *to;

	for (to = text; *text; text += escaped ? 4 : 1) {
		escaped = *text == '\\' && strspn(text + 1, "01234567") >= 3;
		*to++ = !escaped ? *text :
			(text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0');
	}
	*to = '\0';
}

/* How far above the cgroup namespace the @root of a mount is: "/../.." is above "/". */
static size_t hierarchy_height(const char *root)
{
	return root[strspn(root, "/.")] ? 0 : strlen(root);
}

/*
 * Use the mount of a line of mountinfo if it has the controller. The line has the fields ID,
 * parent, device, root, mount point, options and others, and after a dash type, source, options.
 */
static void hierarchy_take_mount(const char *line)
{
	char *root __autofree = NULL, *point __autofree = NULL;
	char *path __autofree = NULL, *controllers __autofree = NULL;
	const char *options = strrchr(line, ' ');
	bool v1 = strstr(line, " - cgroup "), v2 = strstr(line, " - cgroup2 ");

	if (!(v1 || v2) || sscanf(line, "%*s %*s %*s %ms %ms", &root, &point) != 2)
		return;
	hierarchy_unescape(root);
	hierarchy_unescape(point);
	path = memory_format("%s/cgroup.controllers", point);
	controllers = v2 ? file_read(AT_FDCWD, path) : NULL;
	if (!hierarchy_has_word(v2 ? controllers : options, "rdma")) {
		hierarchy.v2 |= controllers && !hierarchy.path;
		return;
	}
	/* Prefer a mount that shows more of the hierarchy. */
	if (hierarchy.path && hierarchy_height(root) <= hierarchy_height(hierarchy.inside))
		return;
	free(hierarchy.path);
	free(hierarchy.inside);
	hierarchy.path = memory_string(point);
	hierarchy.inside = memory_string(root);
	hierarchy.v2 = v2;
	hierarchy.nsdelegate = hierarchy_has_word(options, "nsdelegate");
}

/* Why no mount has the controller. /proc/cgroups: name, hierarchy, cgroups, enabled. */
static const char *hierarchy_why_none(void)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("cgroups").s);
	char *line = text ? strstr(text, "\nrdma\t") : NULL;
	int id = 0, cgroups = 0, enabled = 0;

	if (!line)
		return "this kernel has no RDMA controller; it needs CONFIG_CGROUP_RDMA";
	if (sscanf(line, "\nrdma%d%d%d", &id, &cgroups, &enabled) == 3 && !enabled)
		return "cgroup_disable= on the kernel's command line disables the controller";
	if (id > 0)
		return "the v1 hierarchy is not mounted; mount -t cgroup -o rdma none DIR";
	if (hierarchy.v2)
		return "no +rdma in the parent's cgroup.subtree_control; write it on the host";
	return "no mounted hierarchy has the RDMA controller; mount cgroup2";
}

void hierarchy_open(int status)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("self/mountinfo").s);
	const char *root = hierarchy_path("RDMACG_ROOT", "");
	char *cursor = text, *line;

	while (!*root && (line = file_next_line(&cursor)))
		hierarchy_take_mount(line);
	if (*root) {
		hierarchy.path = memory_string(root);
		hierarchy.inside = memory_string("");
		hierarchy.nsdelegate = true;
	}
	/* No file exists below this descriptor. */
	hierarchy.dir = -1;
	if (!hierarchy.path && !status)
		return;
	if (!hierarchy.path)
		say_and_exit(status, "cgroups", "%s", hierarchy_why_none());
	hierarchy.dir = open(hierarchy.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (hierarchy.dir < 0)
		say_and_exit(status, hierarchy.path, "%s", strerror(errno));
	if (*root)
		hierarchy.v2 = file_exists(hierarchy.dir, "cgroup.controllers");
	/* Each cgroup except the root of the machine has one of these files. */
	hierarchy.partial = file_exists(hierarchy.dir, "cgroup.type") ||
			    file_exists(hierarchy.dir, "rdma.current");
}

const char *hierarchy_below(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	while (length && prefix[length - 1] == '/')
		length--;
	return !strncmp(path, prefix, length) && (!path[length] || path[length] == '/') ?
	       path + length : NULL;
}

char *hierarchy_clean(const char *path)
{
	char *copy __autofree = memory_string(path);
	char *name = memory_string(""), *rest = copy, *part;

	while ((part = strsep(&rest, "/"))) {
		if (!strcmp(part, "..")) {
			free(name);
			return NULL;
		}
		if (*part && strcmp(part, "."))
			memory_extend(&name, "%s%s", *name ? "/" : "", part);
	}
	return name;
}

char *hierarchy_resolve(const char *argument)
{
	char *path __autofree = NULL, *raw __autofree = NULL, *name = NULL;
	size_t dots = strspn(argument, ".");
	bool here = (dots == 1 || dots == 2) && (!argument[dots] || argument[dots] == '/');
	const char *below;

	/* "." and "..", also with a path after them, are relative to the working directory. */
	path = here ? realpath(argument, NULL) : memory_string(argument);
	below = path ? hierarchy_below(path, hierarchy_mount()) : NULL;
	if (*argument && path && (below || !here))
		name = hierarchy_clean(below ? below : path);
	raw = memory_string(name ? name : "");
	text_unescape(raw);
	if (!*argument)
		say_error("cgroup", "the name is empty; the root is /");
	else if (!path)
		say_error(argument, "%s", strerror(errno));
	else if (here && !below)
		say_error(argument, "is not below %s, which has the cgroups of the RDMA controller",
			  hierarchy_mount());
	else if (!name)
		say_error(argument, "a cgroup's name cannot have .. in it");
	/* Commands print names with escapes. Undo the escapes if only the raw name exists. */
	else if (!file_exists(hierarchy.dir, name) && file_exists(hierarchy.dir, raw))
		text_unescape(name);
	return name;
}

/* Find the name in the text of /proc/PID/cgroup, and *@path, or NULL. The name may be outside. */
static char *hierarchy_find_in(char *text, char **path)
{
	char *line, *controllers;
	const char *below;

	*path = NULL;
	/* A line is "ID:CONTROLLERS:PATH", and the path may contain colons. */
	while (!*path && (line = file_next_line(&text))) {
		strsep(&line, ":");
		controllers = strsep(&line, ":");
		if (line && (hierarchy.v2 ? !*controllers :
			     hierarchy_has_word(controllers, "rdma")))
			*path = line;
	}
	/* The cgroup may be outside of the part of the hierarchy that is mounted here. */
	below = *path ? hierarchy_below(*path, hierarchy.inside) : NULL;
	return below ? hierarchy_clean(below) : NULL;
}

char *hierarchy_find_process(pid_t pid)
{
	char *text __autofree = file_read(AT_FDCWD, hierarchy_proc("%d/cgroup", pid).s), *path;

	return hierarchy_find_in(text, &path);
}

char *hierarchy_cgroup_of(pid_t pid)
{
	char *where __autofree = pid ? memory_format("process %d", pid) :
				       memory_string("this process");
	char *text __autofree = file_read(AT_FDCWD, pid ? hierarchy_proc("%d/cgroup", pid).s :
						    hierarchy_proc("self/cgroup").s);
	char *path, *name = hierarchy_find_in(text, &path);

	if (!text)
		say_error(where, "%s", errno == ENOENT || errno == ESRCH ?
			  "there is no such process" : strerror(errno));
	else if (!path)
		say_error(where, "is in no cgroup of the hierarchy at %s", hierarchy.path);
	else if (!name)
		say_error(where, strncmp(hierarchy.inside, "/..", 3) ?
			  "is in the cgroup %s, which is outside of the part that %s shows" :
			  "is in the cgroup %s of this cgroup namespace, which cannot name it below %s",
			  path, hierarchy.path);
	return name;
}
