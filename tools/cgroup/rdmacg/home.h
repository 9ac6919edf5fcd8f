/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup of its own that a command runs in: made for it, removed after it. */
#ifndef RDMACG_HOME_H
#define RDMACG_HOME_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup.h"
#include "child.h"

struct home {
	struct cgroup *cgroup;
	/*
	 * In a scope of systemd, a process that does nothing keeps the cgroup from being
	 * removed before its files are read; else 0.
	 */
	pid_t keeper;
	/* Its end tells the keeper to go. */
	int keep;
};

/*
 * Make the cgroup: below the one called @in, or where that is NULL a scope of systemd, or
 * below the cgroup of this process. A scope has the child in it at once. False, and an
 * error is said, where that fails.
 */
bool home_make(struct home *home, const struct hierarchy *hierarchy, const char *in,
	       const struct child *child);
/* Put the child into it. */
bool home_enter(const struct home *home, const struct child *child);
/* How many processes there are, but the keeper. */
size_t home_members(const struct home *home);
void home_signal(const struct home *home, int signal);
/* Remove it, with what the command has made below. It has no processes any more. */
void home_remove(struct home *home);

#endif /* RDMACG_HOME_H */
