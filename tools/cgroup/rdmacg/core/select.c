// SPDX-License-Identifier: GPL-2.0
/* rdmacg: from a process, a unit or a container to its cgroup. */
#include <stdlib.h>
#include <string.h>

#include "core/cgroup.h"
#include "core/select.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rdmacg.h"

/* Shorter beginnings of ids are too many containers' at once. */
#define SELECT_SHORTEST_ID 4

enum { SELECT_KEY_PID = OPTIONS_KEY + 100, SELECT_KEY_UNIT, SELECT_KEY_CONTAINER };

static const struct argp_option select_options[] = {
	{ "pid", SELECT_KEY_PID, "PID", 0, "the cgroup of a process", 0 },
	{ "unit", SELECT_KEY_UNIT, "UNIT", 0, "the cgroup of a unit of systemd", 0 },
	{ "container", SELECT_KEY_CONTAINER, "ID", 0,
	  "the cgroup of a container: its id or how that begins, or its name for LXC", 0 },
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
	case SELECT_KEY_CONTAINER:
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

/* A unit without a suffix is a service, as for systemctl. */
static bool select_is_unit(const char *base, const char *unit)
{
	size_t length = strlen(unit);

	if (strchr(unit, '.'))
		return !strcmp(base, unit);
	return !strncmp(base, unit, length) && !strcmp(base + length, ".service");
}

/*
 * Runtimes name a container's cgroup ID, RUNTIME-ID.scope, or lxc.payload.NAME. What they
 * call conmon is the monitor, not the container.
 */
static bool select_is_container(const char *base, const char *id)
{
	const char *dash = strrchr(base, '-');
	size_t length = strlen(id);

	if (!strncmp(base, "lxc.payload.", 12))
		return !strcmp(base + 12, id);
	if (strstr(base, "conmon"))
		return false;
	if (dash && strlen(dash) > 6 && !strcmp(dash + strlen(dash) - 6, ".scope"))
		return !strncmp(dash + 1, id, length);
	/* A name of 64 hexadecimal digits is an id, others have to be the same. */
	if (strlen(base) == 64 && strspn(base, "0123456789abcdef") == 64)
		return !strncmp(base, id, length);
	return !strcmp(base, id);
}

struct select_search {
	const struct target *target;
	struct targets *found;
};

static bool select_visit(struct cgroup *cgroup, void *data)
{
	struct select_search *search = data;
	const struct target *target = search->target;
	const char *slash = strrchr(cgroup->name, '/');
	const char *base = slash ? slash + 1 : cgroup->name;
	bool matches = target->kind == SELECT_UNIT ? select_is_unit(base, target->text) :
						     select_is_container(base, target->text);

	if (matches)
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
	cgroup_walk_names(root, select_visit, &search);
	cgroup_close_path(root);
	if (found->nr_targets > before)
		return true;
	say_error(target->text, "no cgroup below %s belongs to such a %s; does it run?",
		  hierarchy->path, target->kind == SELECT_UNIT ? "unit" : "container");
	return false;
}

static bool select_one(struct target *target, struct targets *found,
		       const struct hierarchy *hierarchy)
{
	char *name;

	if (target->kind == SELECT_UNIT || target->kind == SELECT_CONTAINER)
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
