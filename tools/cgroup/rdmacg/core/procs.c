// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the processes in a cgroup and its descendants. */
#include <signal.h>

#include "core/core.h"

struct procs {
	pid_t *pids;
	size_t nr_pids;
};

/* A removed or threaded cgroup has no list of processes. A process of another namespace is 0. */
static bool procs_visit(struct cgroup *cgroup, void *data)
{
	char *text __autofree = file_read(cgroup->dir, "cgroup.procs");
	struct procs *procs = data;
	char *cursor = text, *line;
	uint64_t number;
	pid_t *pid;

	while ((line = file_next_line(&cursor))) {
		if (!number_parse(line, strlen(line), &number) || !number || number > INT_MAX ||
		    (pid_t)number == getpid())
			continue;
		pid = memory_append(&procs->pids, &procs->nr_pids, sizeof(*pid));
		*pid = number;
	}
	return true;
}

size_t procs_read(struct cgroup *cgroup, pid_t **pids)
{
	struct procs procs = { 0 };

	cgroup_walk(cgroup, 0, procs_visit, &procs);
	if (pids)
		*pids = procs.pids;
	else
		free(procs.pids);
	return procs.nr_pids;
}

void procs_signal(struct cgroup *cgroup, int signal)
{
	pid_t *pids __autofree = NULL;
	size_t count = procs_read(cgroup, &pids);

	while (count)
		kill(pids[--count], signal);
}
