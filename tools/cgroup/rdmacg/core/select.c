// SPDX-License-Identifier: GPL-2.0
/* rdmacg: find the cgroup of a process, a unit or a container. */
#include "core/core.h"

/* A shorter prefix of an id matches too many containers. */
#define SELECT_SHORTEST_ID 4

struct select_kind {
	const char *name;
	/* The pattern of names, for kinds that are searched in the tree. */
	enum foreign_kind shape;
};

static const struct select_kind select_cgroup = { .name = "cgroup" },
	select_pid = { .name = "process" }, select_unit = { "unit", FOREIGN_UNIT },
	select_container = { "container", FOREIGN_CONTAINER }, select_pod = { "pod", FOREIGN_POD };

static struct select {
	const struct select_kind *kind;
	const char *text;
	pid_t pid;
} *selects;

static size_t nr_selects;

static void select_add(const char *text, void *to)
{
	struct select *select = memory_append(&selects, &nr_selects, sizeof(*select));
	uint64_t pid;

	select->kind = to;
	select->text = text;
	if (select->kind == &select_container) {
		select->text = foreign_skip_scheme(text);
		if (strlen(select->text) < SELECT_SHORTEST_ID)
			options_fail(select->text,
				     "type at least %d characters of a container's id",
				     SELECT_SHORTEST_ID);
	}
	if (select->kind != &select_pid)
		return;
	if (!number_parse(text, strlen(text), &pid) || !pid || pid > INT_MAX)
		say_and_exit(EXIT_USAGE, text, "is not the number of a process");
	select->pid = pid;
}

const struct choice select_choices[] = {
	{ "pid", 0, "PID", "the cgroup of a process", select_add, (void *)&select_pid },
	{ "unit", 0, "UNIT", "the cgroup of a unit of systemd", select_add, (void *)&select_unit },
	{ "container", 0, "ID",
	  "the cgroup of a container, by a prefix of its id, or of a machine, by its name",
	  select_add, (void *)&select_container },
	{ "pod", 0, "UID", "the cgroup of a pod of Kubernetes, by its uid", select_add,
	  (void *)&select_pod },
	{ 0 }
};

bool select_arguments(char **arguments)
{
	for (; *arguments; arguments++)
		select_add(*arguments, (void *)&select_cgroup);
	return nr_selects;
}

/* Search the tree for the cgroups of a name. */
static bool select_search(const struct select *select, bool (*visit)(const char *name, pid_t pid))
{
	struct walk walk = { .top = cgroup_root() };
	struct foreign wanted, monitors;
	bool found = false, good = true;
	struct cgroup *cgroup;

	foreign_init(&wanted, select->kind->shape, select->text);
	foreign_init(&monitors, FOREIGN_MONITOR, "");
	while ((cgroup = walk_next(&walk))) {
		const char *base = cgroup_base(cgroup);

		if (!foreign_matches(&wanted, base) || foreign_matches(&monitors, base))
			continue;
		found = true;
		good &= visit(cgroup->name, 0);
	}
	cgroup_close(walk.top);
	foreign_free(&wanted);
	foreign_free(&monitors);
	if (!found)
		say_error(select->text, "no cgroup below %s belongs to this %s; is it running?",
			  hierarchy.path, select->kind->name);
	return found && good;
}

static bool select_one(const struct select *select, bool (*visit)(const char *name, pid_t pid))
{
	char *name __autofree = NULL;

	if (select->kind == &select_pid)
		name = hierarchy_cgroup_of(select->pid);
	else if (select->kind == &select_cgroup)
		name = hierarchy_resolve(select->text);
	else
		return select_search(select, visit);
	return name && visit(name, select->pid);
}

bool select_each(bool (*visit)(const char *name, pid_t pid))
{
	bool all = true;
	size_t i;

	for (i = 0; i < nr_selects; i++)
		all &= select_one(&selects[i], visit);
	return all;
}
