/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the torture test. An actor does random things, and reports each outcome.
 * Other actors can explain nearly all errors. An error without an explanation fails the test.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Errors that other actors can cause, for torture_did(); EAGAIN needs no excuse. */
#define EXCUSE(...) ((const int []) { __VA_ARGS__, 0 })
/* Errors of a device that is removed or moved to another network namespace, and further errors. */
#define EXCUSE_DEVICE(...) EXCUSE(EIO, ENODEV, ENXIO, ENOMEM, ##__VA_ARGS__)
/* Errors of a cgroup that is removed, and further errors. */
#define EXCUSE_CGROUP(...) EXCUSE(ENOENT, ENODEV, ENOMEM, ##__VA_ARGS__)

/* torture.c */
bool torture_running(void);
unsigned int torture_random(unsigned int below);
void torture_pause(unsigned int below_us);
void torture_did(const char *what, int error, const int *excuses);
[[gnu::format(printf, 1, 2)]] void torture_fail(const char *format, ...);
pid_t torture_fork(void);
void torture_kill(pid_t child);
pid_t torture_random_pid(void);
const char *torture_actor(void);

/* torture-user.c */
void torture_hold(void);
void torture_pass(void);
void torture_connect(void);
void torture_rds(void);
void torture_smc(void);

/* torture-admin.c */
void torture_enter(void);
void torture_limit(void);
void torture_look(void);
void torture_calm(void);
void torture_migrate(void);
void torture_tree(void);
void torture_toggle(void);
void torture_tool(void);

#endif /* TORTURE_H */
