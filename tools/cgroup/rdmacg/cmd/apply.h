/* SPDX-License-Identifier: GPL-2.0 */
/* Files of limits and the cgroups that they are for. */
#ifndef RDMACG_APPLY_H
#define RDMACG_APPLY_H

#include "core/core.h"
#include "write/config.h"
#include "write/hotplug.h"

struct apply {
	char **files;
	size_t nr_files;
	/* Only say what differs. */
	bool check;
	bool watch;
	struct hierarchy hierarchy;
	struct config config;
	/* With --watch, who tells of new cgroups; else NULL. */
	struct hotplug *hotplug;
	/* An error was said. */
	bool failed;
	/* Something was not as the files say. */
	bool differs;
};

/*
 * Bring the limits into effect in the cgroup of this name and those below it; "" is all.
 * What goes away meanwhile is no error.
 */
void apply_below(struct apply *apply, const char *name);
/* Do that for what comes, until a signal. False, and an error is said, where that fails. */
bool apply_watch(struct apply *apply);

#endif /* RDMACG_APPLY_H */
