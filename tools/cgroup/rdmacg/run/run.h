/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup of "rdmacg run". */
#ifndef RDMACG_RUN_H
#define RDMACG_RUN_H

#include "core/core.h"
#include "write/write.h"

/*
 * Create the cgroup below the cgroup @in. If @in is NULL, create a scope of systemd, which contains
 * the child from the start, or, on v1 or without systemd, a cgroup below the cgroup of this
 * process. Returns NULL after a printed error.
 */
struct cgroup *run_cgroup_make(const char *in, pid_t child);
/* Move the child into the cgroup. */
bool run_cgroup_enter(const struct cgroup *cgroup, pid_t child);
/*
 * Remove the cgroup and the descendants that the command has created, after all processes have
 * ended. Undo @enabled, which has enabled the controller in the ancestors.
 */
void run_cgroup_remove(struct cgroup *cgroup, struct transaction *enabled);

#endif /* RDMACG_RUN_H */
