// SPDX-License-Identifier: GPL-2.0
/* rdmacg: from a process, a unit or a container to its cgroup. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/cgroup.h"
#include "core/select.h"
#include "lib/compiler.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rdmacg.h"

/* Shorter beginnings of ids are too many containers' at once. */
#define SELECT_SHORTEST_ID 4

enum { SELECT_KEY_PID = OPTIONS_KEY + 100, SELECT_KEY_UNIT, SELECT_KEY_CONTAINER, SELECT_KEY_POD };

static const char * const select_kinds[] = { "cgroup", "process", "unit", "container", "pod" };

static const struct argp_option select_options[] = {
	{ "pid", SELECT_KEY_PID, "PID", 0, "the cgroup of a process", 0 },
	{ "unit", SELECT_KEY_UNIT, "UNIT", 0, "the cgroup of a unit of systemd", 0 },
	{ "container", SELECT_KEY_CONTAINER, "ID", 0,
	  "the cgroup of a container: its id or how that begins, or its name for LXC", 0 },
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

/* What other tools print before an id: kubectl, podman, crictl. */
static const char * const select_schemes[] = {
	"docker://", "containerd://", "cri-o://", "podman://",
};

static const char *select_skip_scheme(const char *id)
{
	size_t i, length;

	for (i = 0; i < ARRAY_SIZE(select_schemes); i++) {
		length = strlen(select_schemes[i]);
		if (!strncmp(id, select_schemes[i], length))
			return id + length;
	}
	return id;
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
		arg = (char *)select_skip_scheme(arg);
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

/* The digits of a container's whole id, in all runtimes. */
#define SELECT_ID_LENGTH 64

/* Whether a word of @base is a whole id that begins with @id, whatever stands around it. */
static bool select_has_id(const char *base, const char *id)
{
	static const char digits[] = "0123456789abcdef";

	while (*base) {
		size_t word = 0;

		while (isalnum((unsigned char)base[word]))
			word++;
		if (word == SELECT_ID_LENGTH && strspn(base, digits) >= word &&
		    !strncmp(base, id, strlen(id)))
			return true;
		base += word ? word : 1;
	}
	return false;
}

/*
 * The cgroup of a container has its id as a word: alone, RUNTIME-ID.scope,
 * SLICE:cri-containerd:ID. That of conmon is the monitor's. Names that are no such id are
 * RUNTIME-NAME.scope, lxc.payload.NAME or NAME.
 */
static bool select_is_container(const char *base, const char *id)
{
	const char *dash = strrchr(base, '-');

	if (!strncmp(base, "lxc.payload.", 12))
		return !strcmp(base + 12, id);
	if (strstr(base, "conmon"))
		return false;
	if (select_has_id(base, id))
		return true;
	if (dash && strlen(dash) > 6 && !strcmp(dash + strlen(dash) - 6, ".scope"))
		return !strncmp(dash + 1, id, strlen(id));
	return !strcmp(base, id);
}

/* kubepods.slice has podUID with "_" for each "-", kubepods has podUID as it is. */
static bool select_is_pod(const char *base, const char *uid)
{
	const char *pod = strstr(base, "pod");
	size_t i, length = strlen(uid);

	/* "kubepods" has that word, too; the last one is before the id. */
	while (pod && strstr(pod + 1, "pod"))
		pod = strstr(pod + 1, "pod");
	if (!pod)
		return false;
	pod += 3;
	for (i = 0; i < length; i++)
		if (pod[i] != uid[i] && !(pod[i] == '_' && uid[i] == '-'))
			return false;
	return !pod[length] || !strcmp(pod + length, ".slice");
}

static bool select_matches(const struct target *target, const char *base)
{
	switch (target->kind) {
	case SELECT_UNIT:
		return select_is_unit(base, target->text);
	case SELECT_POD:
		return select_is_pod(base, target->text);
	default:
		return select_is_container(base, target->text);
	}
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

	if (select_matches(target, base))
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
