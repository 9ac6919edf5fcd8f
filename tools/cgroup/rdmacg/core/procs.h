/* SPDX-License-Identifier: GPL-2.0 */
/* The processes in a cgroup and below. */
#ifndef RDMACG_PROCS_H
#define RDMACG_PROCS_H

#include <stddef.h>
#include <sys/types.h>

#include "core/cgroup.h"

struct procs {
	pid_t *pids;
	size_t nr_pids;
};

/* Those that this process can see, but for itself and @but. */
void procs_read(struct procs *members, struct cgroup *cgroup, pid_t but);
void procs_free(struct procs *members);
/* Send all of them a signal. */
void procs_signal(struct cgroup *cgroup, pid_t but, int signal);
/* How many there are. */
size_t procs_count(struct cgroup *cgroup, pid_t but);

#endif /* RDMACG_PROCS_H */
