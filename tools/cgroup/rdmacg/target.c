// SPDX-License-Identifier: GPL-2.0
/* rdmacg: from a process, a unit or a container to its cgroup. */
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "memory.h"
#include "options.h"
#include "rdmacg.h"
#include "say.h"
#include "target.h"

/* Shorter beginnings of ids are too many containers' at once. */
#define TARGET_SHORTEST_ID 4

enum { TARGET_KEY_PID = OPTIONS_KEY + 100, TARGET_KEY_UNIT, TARGET_KEY_CONTAINER };

static const struct argp_option target_options[] = {
	{ "pid", TARGET_KEY_PID, "PID", 0, "the cgroup of a process", 0 },
	{ "unit", TARGET_KEY_UNIT, "UNIT", 0, "the cgroup of a unit of systemd", 0 },
	{ "container", TARGET_KEY_CONTAINER, "ID", 0,
	  "the cgroup of a container: its id or how that begins, or its name for LXC", 0 },
	{ 0 }
};

static void targets_add(struct targets *targets, enum target_kind kind, const char *text,
			char *name)
{
	struct target *target;

	targets->targets = memory_grow(targets->targets, targets->nr_targets, sizeof(*target));
	target = &targets->targets[targets->nr_targets++];
	target->kind = kind;
	target->text = text;
	target->name = name;
}

static error_t target_parse(int key, char *arg, struct argp_state *state)
{
	struct targets *targets = state->input;
	pid_t pid;

	switch (key) {
	case ARGP_KEY_ARG:
		targets_add(targets, TARGET_CGROUP, arg, NULL);
		return 0;
	case TARGET_KEY_PID:
		if (!options_parse_pid(arg, &pid))
			exit(EXIT_USAGE);
		targets_add(targets, TARGET_PID, arg, NULL);
		targets->targets[targets->nr_targets - 1].pid = pid;
		return 0;
	case TARGET_KEY_UNIT:
		targets_add(targets, TARGET_UNIT, arg, NULL);
		return 0;
	case TARGET_KEY_CONTAINER:
		if (strlen(arg) < TARGET_SHORTEST_ID)
			options_fail(arg, "a container's id needs %d characters at least",
				     TARGET_SHORTEST_ID);
		targets_add(targets, TARGET_CONTAINER, arg, NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp target_argp = {
	.options = target_options,
	.parser = target_parse,
};

/* A unit without a suffix is a service, as for systemctl. */
static bool target_is_unit(const char *base, const char *unit)
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
static bool target_is_container(const char *base, const char *id)
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

struct target_search {
	const struct target *target;
	struct targets *found;
};

static bool target_visit(struct cgroup *cgroup, void *data)
{
	struct target_search *search = data;
	const struct target *target = search->target;
	const char *slash = strrchr(cgroup->name, '/');
	const char *base = slash ? slash + 1 : cgroup->name;
	bool matches = target->kind == TARGET_UNIT ? target_is_unit(base, target->text) :
						     target_is_container(base, target->text);

	if (matches)
		targets_add(search->found, target->kind, target->text,
			    memory_string(cgroup->name));
	return true;
}

/* Look through the tree. */
static bool target_search(const struct target *target, struct targets *found,
			  const struct hierarchy *hierarchy)
{
	struct target_search search = { .target = target, .found = found };
	size_t before = found->nr_targets;
	struct cgroup *root = cgroup_open(hierarchy, "");

	if (!root)
		return false;
	cgroup_walk_names(root, target_visit, &search);
	cgroup_close_path(root);
	if (found->nr_targets > before)
		return true;
	say_error(target->text, "no cgroup below %s belongs to such a %s; does it run?",
		  hierarchy->path, target->kind == TARGET_UNIT ? "unit" : "container");
	return false;
}

static bool target_find(struct target *target, struct targets *found,
			const struct hierarchy *hierarchy)
{
	char *name;

	if (target->kind == TARGET_UNIT || target->kind == TARGET_CONTAINER)
		return target_search(target, found, hierarchy);
	if (target->kind == TARGET_PID)
		name = hierarchy_cgroup_of(hierarchy, target->pid);
	else
		name = hierarchy_resolve(hierarchy, target->text);
	if (!name)
		return false;
	targets_add(found, target->kind, target->text, name);
	found->targets[found->nr_targets - 1].pid = target->pid;
	return true;
}

bool targets_find(struct targets *targets, const struct hierarchy *hierarchy)
{
	struct targets found = { 0 };
	bool all = true;
	size_t i;

	for (i = 0; i < targets->nr_targets; i++)
		all &= target_find(&targets->targets[i], &found, hierarchy);
	targets_free(targets);
	*targets = found;
	return all;
}

void targets_free(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr_targets; i++)
		free(targets->targets[i].name);
	free(targets->targets);
	memset(targets, 0, sizeof(*targets));
}
