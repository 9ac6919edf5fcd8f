/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup that a command runs in: created for it, removed after it. */
#ifndef RDMACG_RUN_CGROUP_H
#define RDMACG_RUN_CGROUP_H

#include "core/core.h"
#include "run/child.h"
#include "write/write.h"

struct run_cgroup {
	struct cgroup *cgroup;
	/* It is a scope of systemd, and this process is in it as well. */
	bool scope;
};

/*
 * Create the cgroup: below the one called @in, or if that is NULL a scope of systemd, or
 * below the cgroup of this process. A scope has the child in it at once. False, and an
 * error is said, if that fails.
 */
bool run_cgroup_make(struct run_cgroup *home, const char *in, const struct child *child);
/* Put the child into it. */
bool run_cgroup_enter(const struct run_cgroup *home, const struct child *child);
/*
 * Remove it, with the cgroups that the command has created below. It has no processes any more.
 * The controller is disabled again where @enabled has enabled it.
 */
void run_cgroup_remove(struct run_cgroup *home, struct transaction *enabled);

#endif /* RDMACG_RUN_CGROUP_H */
