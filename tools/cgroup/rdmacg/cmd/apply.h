/* SPDX-License-Identifier: GPL-2.0 */
/* Files of limits and the cgroups that they are for. */
#ifndef RDMACG_APPLY_H
#define RDMACG_APPLY_H

#include "core/core.h"
#include "write/write.h"

extern struct apply {
	char **files;
	size_t nr_files;
	/* Only say what differs. */
	bool check;
	bool watch;
	struct config config;
	/* With --watch, reports new cgroups; else NULL. */
	struct hotplug *hotplug;
	/* An error was said. */
	bool failed;
	/* A limit was not as the files say. */
	bool differs;
} apply;

/*
 * Bring the limits into effect in the cgroup of this name and those below it; "" is all.
 * A cgroup that goes away meanwhile is not an error.
 */
void apply_below(const char *name);
/* Do that for new cgroups and devices, until a signal. False, and an error is said, on failure. */
bool apply_watch(void);

#endif /* RDMACG_APPLY_H */
