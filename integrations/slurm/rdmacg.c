// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg.so: a SPANK plugin that limits the RDMA resources of Slurm jobs.
 *
 * On the node, slurmstepd runs slurm-step before the first task of a step, and again at the end.
 * slurm-step is a process of its own, so an error in it does not end slurmstepd. If the
 * limits cannot be set, the step does not start.
 *
 * Arguments in plugstack.conf: default=LIMITS, ceiling=LIMITS, command=PATH. LIMITS are
 * [DEVICE:]KEY=VALUE[,KEY=VALUE]..., with semicolons between devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(rdmacg, 1);

/* The Makefile sets the path of the program. */
#ifndef RDMACG_PROGRAM
#define RDMACG_PROGRAM	"/usr/local/libexec/rdmacg/slurm-step"
#endif

/* The limits that the user requests, or NULL. */
static char *rdmacg_asked;

static int rdmacg_take_option(int value, const char *text, int remote)
{
	(void)value;
	(void)remote;
	free(rdmacg_asked);
	rdmacg_asked = strdup(text);
	return rdmacg_asked ? 0 : -1;
}

static struct spank_option rdmacg_option = {
	.name = (char *)"rdma",
	.arginfo = (char *)"[DEVICE:]KEY=VALUE[,...]",
	.usage = (char *)"limits of RDMA resources, such as qp=100,mr_mem=8G",
	.has_arg = 1,
	.cb = rdmacg_take_option,
};

/* The value of "NAME=VALUE" among the plugin's arguments. */
static char *rdmacg_argument(int count, char **words, const char *name)
{
	size_t length = strlen(name);
	int i;

	for (i = 0; i < count; i++)
		if (!strncmp(words[i], name, length) && words[i][length] == '=')
			return words[i] + length + 1;
	return NULL;
}

/* Refuse unknown and repeated arguments: a misspelt ceiling must not mean no ceiling. */
static int rdmacg_check_arguments(int count, char **words)
{
	static const char * const names[] = { "default", "ceiling", "command" };
	int i, n;

	for (i = 0; i < count; i++) {
		for (n = 0; n < 3 && !rdmacg_argument(1, words + i, names[n]); n++)
			;
		if (n < 3 && !rdmacg_argument(i, words, names[n]))
			continue;
		slurm_error("rdmacg: plugstack.conf: %s: write default=LIMITS, ceiling=LIMITS and command=PATH, each at most once",
			    words[i]);
		return -1;
	}
	return 0;
}

/* Send each line that the program prints to the user of the step. */
static void rdmacg_pass_on(int fd)
{
	FILE *from = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	if (!from) {
		close(fd);
		return;
	}
	while (getline(&line, &room, from) > 0) {
		line[strcspn(line, "\n")] = '\0';
		slurm_spank_log("%s", line);
	}
	free(line);
	fclose(from);
}

static int rdmacg_spawn(pid_t *pid, char **words, int output)
{
	static char *environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output, 1);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output, 2);
	if (!error)
		error = posix_spawn(pid, words[0], &actions, NULL, words, environment);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Run the program and wait for it. Returns 0, or -1 after a message in the log. */
static int rdmacg_run(char **words)
{
	int fds[2], status = 0, error;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		slurm_error("rdmacg: %s", strerror(errno));
		return -1;
	}
	error = rdmacg_spawn(&pid, words, fds[1]);
	close(fds[1]);
	if (error) {
		close(fds[0]);
		slurm_error("rdmacg: %s: %s", words[0], strerror(error));
		return -1;
	}
	rdmacg_pass_on(fds[0]);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		slurm_error("rdmacg: %s", strerror(errno));
		return -1;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

static char *rdmacg_command(int count, char **words)
{
	char *command = rdmacg_argument(count, words, "command");

	return command ? command : (char *)RDMACG_PROGRAM;
}

/* Slurm calls this in srun, sbatch and salloc, and on the node of a step. */
int slurm_spank_init(spank_t spank, int count, char *words[])
{
	spank_context_t context = spank_context();

	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
		return 0;
	if (rdmacg_check_arguments(count, words))
		return -1;
	return spank_option_register(spank, &rdmacg_option) == ESPANK_SUCCESS ? 0 : -1;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char *words[])
{
	char *by_default = rdmacg_argument(count, words, "default");
	char *ceiling = rdmacg_argument(count, words, "ceiling");
	char *command[8] = { rdmacg_command(count, words) };
	int n = 1;

	(void)spank;
	if (spank_context() != S_CTX_REMOTE)
		return 0;
	if (rdmacg_asked) {
		command[n++] = (char *)"--asked";
		command[n++] = rdmacg_asked;
	}
	if (by_default) {
		command[n++] = (char *)"--default";
		command[n++] = by_default;
	}
	if (ceiling) {
		command[n++] = (char *)"--ceiling";
		command[n++] = ceiling;
	}
	return n == 1 ? 0 : rdmacg_run(command);
}

/* Print the peaks after the last task, because later output does not reach the user. */
int slurm_spank_task_exit(spank_t spank, int count, char *words[])
{
	char *command[] = { rdmacg_command(count, words), (char *)"--end", NULL };
	static uint32_t ended;
	uint32_t tasks;

	if (!rdmacg_asked && !rdmacg_argument(count, words, "default") &&
	    !rdmacg_argument(count, words, "ceiling"))
		return 0;
	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS)
		return 0;
	if (++ended == tasks)
		rdmacg_run(command);
	return 0;
}

int slurm_spank_exit(spank_t spank, int count, char *words[])
{
	(void)spank;
	(void)count;
	(void)words;
	free(rdmacg_asked);
	rdmacg_asked = NULL;
	return 0;
}
