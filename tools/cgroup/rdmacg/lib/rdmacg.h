/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rdmacg: what the commands share with main.c.
 *
 * A command is a function cmd_NAME() in NAME.c and a line of the table in main.c.
 * argv[0] is "rdmacg NAME"; the return value is the exit status.
 */
#ifndef RDMACG_H
#define RDMACG_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	/* apply --check: something is not as the files say. */
	EXIT_DIFFERS = 3,
};

int cmd_show(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_oci_hook(int argc, char **argv);
int cmd_slurm_step(int argc, char **argv);

#endif /* RDMACG_H */
