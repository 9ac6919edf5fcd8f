/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup of "rdmacg run". */
#ifndef RDMACG_RUN_H
#define RDMACG_RUN_H

#include "write/write.h"

/*
 * Create the cgroup below the cgroup @in. If @in is NULL, create a scope of systemd with the child
 * or, on v1 or without systemd, a cgroup below that of this process. Returns NULL after an error.
 */
struct cgroup *run_cgroup_make(const char *in, pid_t child);
/* Move the child into the cgroup. */
bool run_cgroup_enter(const struct cgroup *cgroup, pid_t child);
/* After all processes have ended, remove the cgroup with its descendants, and undo @enabled. */
void run_cgroup_remove(struct cgroup *cgroup, struct transaction *enabled);

#endif /* RDMACG_RUN_H */
