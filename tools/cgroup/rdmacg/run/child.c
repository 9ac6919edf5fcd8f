// SPDX-License-Identifier: GPL-2.0
/* rdmacg: a command that waits for its cgroup, and its signals. */
#include <sys/wait.h>
#include <time.h>

#include "lib/lib.h"
#include "run/run.h"

static const int child_signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

static void child_signal_set(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (i = 0; i < ARRAY_SIZE(child_signals); i++)
		sigaddset(set, child_signals[i]);
}

/*
 * In the new process, wait for a byte, and execute the command. If the parent dies, the pipe ends
 * without a byte. The exit statuses are as in env(1).
 */
static void child_run(const struct child *child, int go, char **command)
{
	char order;
	int error;

	if (read(go, &order, 1) != 1)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &child->signals, NULL);
	execvp(command[0], command);
	error = errno;
	say_error(command[0], "%s", strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

bool child_hold(struct child *child, char **command)
{
	int go[2] = { -1, -1 };
	sigset_t set;

	memset(child, 0, sizeof(*child));
	child->pid = -1;
	child_signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &child->signals);
	if (!pipe2(go, O_CLOEXEC))
		child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		child_run(child, go[0], command);
	}
	if (child->pid < 0)
		say_error("fork", "%s", strerror(errno));
	close(go[0]);
	child->go = go[1];
	return child->pid > 0;
}

void child_release(struct child *child)
{
	if (write(child->go, "", 1) != 1)
		say_error("pipe", "%s", strerror(errno));
	close(child->go);
}

void child_cancel(struct child *child)
{
	close(child->go);
	waitpid(child->pid, NULL, 0);
}

/*
 * Forward a signal, unless a terminal sent it. A terminal also sends a signal to the command, as to
 * each process in the foreground.
 */
static void child_pass_on(const struct child *child, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL)
		kill(child->pid, info->si_signo);
}

int child_wait(struct child *child, int milliseconds)
{
	struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	siginfo_t info;
	sigset_t set;
	int signal;

	child_signal_set(&set);
	signal = sigtimedwait(&set, &info, milliseconds < 0 ? NULL : &time);
	if (signal > 0 && signal != SIGCHLD) {
		if (child->ended)
			return signal;
		child_pass_on(child, &info);
	}
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->ended = true;
	return 0;
}

int child_exit_status(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
