/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A command that is started but held before its first instruction, until its cgroup and its
 * limits are ready.
 */
#ifndef RDMACG_CHILD_H
#define RDMACG_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	/* Written to: let it go. */
	int go;
	/* The wait status, once it has ended. */
	bool ended;
	int status;
	/* The signals of this process before. */
	sigset_t signals;
};

/*
 * Block the signals that are to be passed on, and fork. False, and an error is said, if
 * that fails.
 */
bool child_hold(struct child *child, char **command);
/* Execute the command. A child that cannot says so, and ends with status 126 or 127. */
void child_release(struct child *child);
/* End a child that was not released. */
void child_cancel(struct child *child);
/*
 * Wait for the child to end or for @milliseconds (-1: no limit), and pass signals on to it
 * meanwhile. Returns the number of a signal that came and could not be passed on, for the
 * child had ended before; else 0.
 */
int child_wait(struct child *child, int milliseconds);
/* The status as a shell has it. */
int child_exit_status(const struct child *child);

#endif /* RDMACG_CHILD_H */
