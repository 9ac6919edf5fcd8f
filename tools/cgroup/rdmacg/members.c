// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the processes in a cgroup and below. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "members.h"
#include "memory.h"
#include "number.h"

struct members_search {
	struct members *members;
	pid_t but;
};

/* A cgroup that is gone or threaded has no list. Processes of other namespaces are 0. */
static bool members_visit(struct cgroup *cgroup, void *data)
{
	struct members_search *search = data;
	struct members *members = search->members;
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

void members_read(struct members *members, struct cgroup *cgroup, pid_t but)
{
	struct members_search search = { .members = members, .but = but };

	memset(members, 0, sizeof(*members));
	cgroup_walk_names(cgroup, members_visit, &search);
}

void members_free(struct members *members)
{
	free(members->pids);
	memset(members, 0, sizeof(*members));
}

void members_signal(struct cgroup *cgroup, pid_t but, int signal)
{
	struct members members;
	size_t i;

	members_read(&members, cgroup, but);
	for (i = 0; i < members.nr_pids; i++)
		kill(members.pids[i], signal);
	members_free(&members);
}

size_t members_count(struct cgroup *cgroup, pid_t but)
{
	struct members members;
	size_t count;

	members_read(&members, cgroup, but);
	count = members.nr_pids;
	members_free(&members);
	return count;
}
