// SPDX-License-Identifier: GPL-2.0
/* rdmacg: from a process, a unit or a container to its cgroup. */
#include "core/core.h"

/* Shorter beginnings of ids are too many containers' at once. */
#define SELECT_SHORTEST_ID 4

enum { SELECT_KEY_PID = OPTIONS_KEY + 100, SELECT_KEY_UNIT, SELECT_KEY_CONTAINER, SELECT_KEY_POD };

static const char * const select_kinds[] = { "cgroup", "process", "unit", "container", "pod" };

static const enum foreign_kind select_shapes[] = {
	[SELECT_UNIT] = FOREIGN_UNIT, [SELECT_CONTAINER] = FOREIGN_CONTAINER,
	[SELECT_POD] = FOREIGN_POD,
};

static const struct argp_option select_options[] = {
	{ "pid", SELECT_KEY_PID, "PID", 0, "the cgroup of a process", 0 },
	{ "unit", SELECT_KEY_UNIT, "UNIT", 0, "the cgroup of a unit of systemd", 0 },
	{ "container", SELECT_KEY_CONTAINER, "ID", 0,
	  "the cgroup of a container: its id or how that begins; of a machine its name", 0 },
	{ "pod", SELECT_KEY_POD, "UID", 0, "the cgroup of a pod of Kubernetes, by its uid", 0 },
	{ 0 }
};

static void select_add(struct targets *targets, enum select_kind kind, const char *text,
		       char *name)
{
	struct target *target;

	targets->targets = memory_grow(targets->targets, targets->nr_targets, sizeof(*target));
	target = &targets->targets[targets->nr_targets++];
	target->kind = kind;
	target->text = text;
	target->name = name;
}

static error_t select_parse(int key, char *arg, struct argp_state *state)
{
	struct targets *targets = state->input;
	pid_t pid;

	switch (key) {
	case ARGP_KEY_ARG:
		select_add(targets, SELECT_CGROUP, arg, NULL);
		return 0;
	case SELECT_KEY_PID:
		if (!options_parse_pid(arg, &pid))
			exit(EXIT_USAGE);
		select_add(targets, SELECT_PID, arg, NULL);
		targets->targets[targets->nr_targets - 1].pid = pid;
		return 0;
	case SELECT_KEY_UNIT:
		select_add(targets, SELECT_UNIT, arg, NULL);
		return 0;
	case SELECT_KEY_POD:
		select_add(targets, SELECT_POD, arg, NULL);
		return 0;
	case SELECT_KEY_CONTAINER:
		arg = (char *)foreign_skip_scheme(arg);
		if (strlen(arg) < SELECT_SHORTEST_ID)
			options_fail(arg, "a container's id needs %d characters at least",
				     SELECT_SHORTEST_ID);
		select_add(targets, SELECT_CONTAINER, arg, NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp select_argp = {
	.options = select_options,
	.parser = select_parse,
};

struct select_search {
	const struct target *target;
	struct foreign wanted;
	struct foreign monitors;
	struct targets *found;
};

static bool select_visit(struct cgroup *cgroup, void *data)
{
	struct select_search *search = data;
	const struct target *target = search->target;
	const char *slash = strrchr(cgroup->name, '/');
	const char *base = slash ? slash + 1 : cgroup->name;

	if (foreign_matches(&search->wanted, base) && !foreign_matches(&search->monitors, base))
		select_add(search->found, target->kind, target->text,
			   memory_string(cgroup->name));
	return true;
}

/* Look through the tree. */
static bool select_search(const struct target *target, struct targets *found,
			  const struct hierarchy *hierarchy)
{
	struct select_search search = { .target = target, .found = found };
	size_t before = found->nr_targets;
	struct cgroup *root = cgroup_open(hierarchy, "");

	if (!root)
		return false;
	foreign_init(&search.wanted, select_shapes[target->kind], target->text);
	foreign_init(&search.monitors, FOREIGN_MONITOR, "");
	cgroup_walk_names(root, select_visit, &search);
	cgroup_close_path(root);
	foreign_free(&search.wanted);
	foreign_free(&search.monitors);
	if (found->nr_targets > before)
		return true;
	say_error(target->text, "no cgroup below %s belongs to such a %s; does it run?",
		  hierarchy->path, select_kinds[target->kind]);
	return false;
}

static bool select_one(struct target *target, struct targets *found,
		       const struct hierarchy *hierarchy)
{
	char *name;

	if (target->kind != SELECT_PID && target->kind != SELECT_CGROUP)
		return select_search(target, found, hierarchy);
	if (target->kind == SELECT_PID)
		name = hierarchy_cgroup_of(hierarchy, target->pid);
	else
		name = hierarchy_resolve(hierarchy, target->text);
	if (!name)
		return false;
	select_add(found, target->kind, target->text, name);
	found->targets[found->nr_targets - 1].pid = target->pid;
	return true;
}

bool select_find(struct targets *targets, const struct hierarchy *hierarchy)
{
	struct targets found = { 0 };
	bool all = true;
	size_t i;

	for (i = 0; i < targets->nr_targets; i++)
		all &= select_one(&targets->targets[i], &found, hierarchy);
	select_free(targets);
	*targets = found;
	return all;
}

void select_free(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr_targets; i++)
		free(targets->targets[i].name);
	free(targets->targets);
	memset(targets, 0, sizeof(*targets));
}
