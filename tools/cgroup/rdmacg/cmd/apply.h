/* SPDX-License-Identifier: GPL-2.0 */
/* Files of limits, and the cgroups that get the limits. */
#ifndef RDMACG_APPLY_H
#define RDMACG_APPLY_H

#include "core/core.h"
#include "write/write.h"

extern struct apply {
	char **files;
	size_t nr_files;
	/* Only print the differences. */
	bool check;
	bool watch;
	struct config config;
	/* Reports new cgroups, or NULL without --watch. */
	struct hotplug *hotplug;
	/* An error was printed. */
	bool failed;
	/* The cgroups had a limit that differs from the files. */
	bool differs;
} apply;

/*
 * Set the limits in the cgroup @name and its descendants. "" is the root. A cgroup that is removed
 * meanwhile is not an error.
 */
void apply_below(const char *name);
/* Set the limits of new cgroups and devices until a signal. Returns false after a printed error. */
bool apply_watch(void);

#endif /* RDMACG_APPLY_H */
