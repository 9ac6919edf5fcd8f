/* SPDX-License-Identifier: GPL-2.0 */
/* The processes in a cgroup and below. */
#ifndef RDMACG_MEMBERS_H
#define RDMACG_MEMBERS_H

#include <stddef.h>
#include <sys/types.h>

#include "cgroup.h"

struct members {
	pid_t *pids;
	size_t nr_pids;
};

/* Those that this process can see, but for itself and @but. */
void members_read(struct members *members, struct cgroup *cgroup, pid_t but);
void members_free(struct members *members);
/* Send all of them a signal. */
void members_signal(struct cgroup *cgroup, pid_t but, int signal);
/* How many there are. */
size_t members_count(struct cgroup *cgroup, pid_t but);

#endif /* RDMACG_MEMBERS_H */
