/* SPDX-License-Identifier: GPL-2.0 */
/* A command in a cgroup of its own: the parts of "rdmacg run". */
#ifndef RDMACG_RUN_H
#define RDMACG_RUN_H

#include <signal.h>

#include "core/core.h"
#include "write/write.h"

/*
 * A process that executes the command when the cgroup and its limits are ready.
 */
struct child {
	pid_t pid;
	/* A write releases the child. */
	int go;
	/* The child has ended, and @status is its wait status. */
	bool ended;
	int status;
	/* The signal mask of this process before child_hold(). */
	sigset_t signals;
};

/*
 * Block the signals that are forwarded to the child, and fork. Prints an error and returns false
 * on a failure.
 */
bool child_hold(struct child *child, char **command);
/* Let the child execute the command. A failed child prints an error and exits with 126 or 127. */
void child_release(struct child *child);
/* End a child that was not released. */
void child_cancel(struct child *child);
/*
 * Wait at most @milliseconds (-1: no limit) until the child ends, and forward signals to the child.
 * Returns 0, or the number of a signal that arrived after the child had ended.
 */
int child_wait(struct child *child, int milliseconds);
/* The exit status as a shell computes it. */
int child_exit_status(const struct child *child);

/* The cgroup of a command, which exists only for this command. */
struct run_cgroup {
	struct cgroup *cgroup;
	/* The cgroup is a scope of systemd, and this process is also in the cgroup. */
	bool scope;
};

/*
 * Create the cgroup below the cgroup @in. If @in is NULL, create a scope of systemd, which contains
 * the child from the start, or a cgroup below the cgroup of this process. Prints an error and
 * returns false on a failure.
 */
bool run_cgroup_make(struct run_cgroup *home, const char *in, const struct child *child);
/* Move the child into the cgroup. */
bool run_cgroup_enter(const struct run_cgroup *home, const struct child *child);
/*
 * Remove the cgroup and the descendants that the command has created, after all processes have
 * ended. Undo @enabled, which has enabled the controller in the ancestors.
 */
void run_cgroup_remove(struct run_cgroup *home, struct transaction *enabled);

/* Raise the peaks of @seen to the usage in @now, if the kernel has no peaks. */
void report_see(struct pools *seen, const struct pools *now);
/* Copy the peaks of @seen to pools without peaks. */
void report_fill_peaks(struct pools *pools, const struct pools *seen);

/*
 * Print a table and a line of limits for each device, or print both as JSON. @margin is in
 * thousandths of a percent.
 */
void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status);

#endif /* RDMACG_RUN_H */
