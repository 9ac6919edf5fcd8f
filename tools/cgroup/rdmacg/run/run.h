/* SPDX-License-Identifier: GPL-2.0 */
/* A command in a cgroup of its own: the parts of "rdmacg run". */
#ifndef RDMACG_RUN_H
#define RDMACG_RUN_H

#include <signal.h>

#include "core/core.h"
#include "write/write.h"

/* The command is held before its first instruction, until its cgroup and limits are ready. */
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

/* The cgroup that a command runs in: created for it, removed after it. */
struct run_cgroup {
	struct cgroup *cgroup;
	/* It is a scope of systemd, and this process is in it as well. */
	bool scope;
};

/*
 * Create the cgroup: below the one called @in, or if that is NULL a scope of systemd, or
 * below the cgroup of this process. A scope has the child in it at once. False, and an
 * error is said, if that fails.
 */
bool run_cgroup_make(struct run_cgroup *home, const char *in, const struct child *child);
/* Put the child into it. */
bool run_cgroup_enter(const struct run_cgroup *home, const struct child *child);
/*
 * Remove it, with the cgroups that the command has created below. It has no processes any more.
 * The controller is disabled again where @enabled has enabled it.
 */
void run_cgroup_remove(struct run_cgroup *home, struct transaction *enabled);

/* If the kernel has no peaks: make those of @seen at least the usage in @now. */
void report_see(struct pools *seen, const struct pools *now);
/* Put the peaks of @seen into pools that have none. */
void report_fill_peaks(struct pools *pools, const struct pools *seen);

/*
 * A table, and a line of limits for each device, or the same as JSON; @margin in thousandths
 * of a percent.
 */
void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status);

#endif /* RDMACG_RUN_H */
