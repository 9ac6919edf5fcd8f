// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the processes in a cgroup and below. */
#include <signal.h>

#include "core/core.h"

struct procs_search {
	struct procs *members;
	pid_t but;
};

/* A cgroup that is gone or threaded has no list. Processes of other namespaces are 0. */
static bool procs_visit(struct cgroup *cgroup, void *data)
{
	struct procs_search *search = data;
	struct procs *members = search->members;
	char *text = file_read(cgroup->dir, "cgroup.procs");
	char *cursor = text;
	uint64_t pid;
	char *line;

	while ((line = file_next_line(&cursor))) {
		if (!number_parse(line, strlen(line), &pid) || !pid || pid > INT_MAX ||
		    (pid_t)pid == search->but || (pid_t)pid == getpid())
			continue;
		members->pids = memory_grow(members->pids, members->nr_pids, sizeof(pid_t));
		members->pids[members->nr_pids++] = pid;
	}
	free(text);
	return true;
}

void procs_read(struct procs *members, struct cgroup *cgroup, pid_t but)
{
	struct procs_search search = { .members = members, .but = but };

	memset(members, 0, sizeof(*members));
	cgroup_walk_names(cgroup, procs_visit, &search);
}

void procs_free(struct procs *members)
{
	free(members->pids);
	memset(members, 0, sizeof(*members));
}

void procs_signal(struct cgroup *cgroup, pid_t but, int signal)
{
	struct procs members;
	size_t i;

	procs_read(&members, cgroup, but);
	for (i = 0; i < members.nr_pids; i++)
		kill(members.pids[i], signal);
	procs_free(&members);
}

size_t procs_count(struct cgroup *cgroup, pid_t but)
{
	struct procs members;
	size_t count;

	procs_read(&members, cgroup, but);
	count = members.nr_pids;
	procs_free(&members);
	return count;
}
