// SPDX-License-Identifier: GPL-2.0
/* rdmacg: a transient scope, by busctl(1), which comes with systemd. */
#include <spawn.h>
#include <sys/wait.h>

#include "core/core.h"
#include "run/scope.h"

/* How often to look, each 10 ms, whether systemd has moved the processes. */
#define SCOPE_LOOKS	500

bool scope_is_possible(void)
{
	return !*hierarchy_path("RDMACG_ROOT", "") && !access("/run/systemd/system", F_OK);
}

/* Run a program to its end: its status, or -1. */
static int scope_spawn(char * const *words)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;
	int ret;

	posix_spawn_file_actions_init(&actions);
	/* It prints the job's path, which is of no use here. */
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
	ret = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret) {
		errno = ret;
		return -1;
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Whether the process is in a cgroup of the scope. */
static bool scope_has(const char *name, pid_t pid)
{
	char *text __autofree = hierarchy_read_proc("%d/cgroup", pid);

	return text && strstr(text, name);
}

static bool scope_wait(const char *name, pid_t one, pid_t other)
{
	int i;

	for (i = 0; i < SCOPE_LOOKS; i++) {
		if (scope_has(name, one) && scope_has(name, other))
			return true;
		clock_sleep(10);
	}
	say_error(name, "systemd has not made this scope within 5 s; --in does without systemd");
	return false;
}

bool scope_make(const char *name, pid_t one, pid_t other)
{
	char first[16], second[16];
	const char * const words[] = {
		"busctl", geteuid() ? "--user" : "--system", "--quiet", "call",
		"org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))",
		name, "fail", "2", "Description", "s", "rdmacg run",
		"PIDs", "au", "2", first, second, "0", NULL,
	};
	int status;

	snprintf(first, sizeof(first), "%d", one);
	snprintf(second, sizeof(second), "%d", other);
	status = scope_spawn((char * const *)words);
	if (!status)
		return scope_wait(name, one, other);
	if (status < 0)
		say_error("busctl", "%s; --in CGROUP does without systemd", strerror(errno));
	else
		say_error(name, "systemd does not make this scope; --in CGROUP does without it");
	return false;
}
