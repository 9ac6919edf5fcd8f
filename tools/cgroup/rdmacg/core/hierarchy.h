/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cgroup hierarchy that carries the controller, v1 or v2, wherever it is mounted.
 *
 * For tests, RDMACG_ROOT names a folder that stands for it (v2 if it has the file
 * cgroup.controllers), and RDMACG_PROC one that stands for /proc.
 */
#ifndef RDMACG_HIERARCHY_H
#define RDMACG_HIERARCHY_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/compiler.h"

struct hierarchy {
	/* Where it is mounted. */
	char *path;
	/* Which part of the hierarchy is there: "" for all of it, else "/some/cgroup". */
	char *inside;
	int dir;
	bool v2;
	/* A cgroup namespace may not write the limits of its own root. */
	bool nsdelegate;
	/* The root here is a cgroup of a larger tree, as in a cgroup namespace. */
	bool partial;
};

/* Find and open it; if that fails, an error is said. */
bool hierarchy_open(struct hierarchy *hierarchy);
void hierarchy_close(struct hierarchy *hierarchy);

/*
 * Names of cgroups are relative to the root: "" for the root, "tenants/a". Each of these
 * returns one to be freed, or NULL, and an error is said.
 */

/* What a user writes: a name, with or without a slash before it, or a path. */
char *hierarchy_resolve(const struct hierarchy *hierarchy, const char *argument);
/* Of a process; 0 stands for the own one. */
char *hierarchy_cgroup_of(const struct hierarchy *hierarchy, pid_t pid);

/* "/a//b/./c/" as "a/b/c"; NULL where ".." would lead out of it. To be freed. */
char *hierarchy_clean(const char *path);

/* The path of a file below /proc. To be freed. */
char *hierarchy_proc(const char *format, ...) __printf(1, 2);

#endif /* RDMACG_HIERARCHY_H */
