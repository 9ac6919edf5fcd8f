/* SPDX-License-Identifier: GPL-2.0 */
/* Which cgroups a command is about: named, or those of a process, a unit, a container. */
#ifndef RDMACG_SELECT_H
#define RDMACG_SELECT_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/hierarchy.h"

enum select_kind {
	SELECT_CGROUP,
	SELECT_PID,
	SELECT_UNIT,
	SELECT_CONTAINER,
	SELECT_POD,
};

struct target {
	enum select_kind kind;
	const char *text;
	/* Of the process, or 0. */
	pid_t pid;
	/* The cgroup's name, once it has been found. */
	char *name;
};

struct targets {
	struct target *targets;
	size_t nr_targets;
};

/*
 * For the children of a command's argp; the input is a struct targets. It takes
 * --pid, --unit, --container and all arguments.
 */
extern const struct argp select_argp;

/* Find the cgroups. A unit or a container may turn into several. False: an error was said. */
bool select_find(struct targets *targets, const struct hierarchy *hierarchy);
void select_free(struct targets *targets);

#endif /* RDMACG_SELECT_H */
