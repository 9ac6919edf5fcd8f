// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the processes in a cgroup and its descendants. */
#include <signal.h>

#include "core/core.h"

size_t procs_read(struct cgroup *top, pid_t **pids)
{
	struct walk walk = { .top = top };
	struct cgroup *cgroup;
	size_t count = 0;
	uint64_t number;
	pid_t *pid;

	*pids = NULL;
	while ((cgroup = walk_next(&walk))) {
		/*
		 * A removed or threaded cgroup has no list of processes. A process of another
		 * namespace has the number 0.
		 */
		char *text __autofree = file_read(cgroup->dir, "cgroup.procs");
		char *cursor = text, *line;

		while ((line = file_next_line(&cursor))) {
			if (!number_parse(line, strlen(line), &number) || !number ||
			    number > INT_MAX || (pid_t)number == getpid())
				continue;
			pid = memory_append(pids, &count, sizeof(*pid));
			*pid = number;
		}
	}
	return count;
}

size_t procs_signal(struct cgroup *cgroup, int signal)
{
	pid_t *pids __autofree = NULL;
	size_t count = procs_read(cgroup, &pids), i;

	for (i = 0; i < count; i++)
		kill(pids[i], signal);
	return count;
}
