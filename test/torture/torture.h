/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the torture test:
 *
 *   torture.c         main(): processes, random numbers, outcomes, statistics
 *   torture-verbs.c   actors that have objects
 *   torture-cgroup.c  actors that change and read cgroups
 *   torture-device.c  actors that change devices
 *   torture-socket.c  actors that have sockets of RDS and SMC
 *
 * test/torture/guest creates devices and cgroups, and checks that nothing is left.
 *
 * An actor does random things until torture_running() returns false, and reports each outcome.
 * Other actors can explain nearly all errors. An error without an explanation fails the test.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../model/write.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define TORTURE_ROOT	"/sys/fs/cgroup"
#define TORTURE_TOP	TORTURE_ROOT "/torture"
/* The limits of this cgroup on TORTURE_CALM_DEVICE never change, so its usage has a known bound. */
#define TORTURE_CALM	TORTURE_TOP "/calm"
/* Actors change everything below this cgroup. */
#define TORTURE_WILD	TORTURE_TOP "/wild"
#define TORTURE_PATH	128
#define TORTURE_NAME	16
#define TORTURE_TEXT	65536

/* No actor renames, moves, unplugs or removes this device, except the actor "module". */
#define TORTURE_CALM_DEVICE "rxe0"
/* The other devices are tor1a, tor1b, tor2a, ..., on the links tor1, tor2, ... */
#define TORTURE_LINKS	3

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
pid_t torture_random_pid(void);
int torture_read(const char *path, char *text);
int torture_write(const char *path, const char *text);

/* torture-verbs.c */
void torture_verbs_init(void);
void torture_hold(void);
void torture_kill(void);
void torture_pass(void);
void torture_connect(void);

/* torture-cgroup.c */
void torture_enter(void);
void torture_limit(void);
void torture_look(void);
void torture_calm(void);
void torture_migrate(void);
void torture_tree(void);
void torture_toggle(void);

/* torture-device.c */
void torture_rename(void);
void torture_unplug(void);
void torture_link(void);
void torture_netns(void);
void torture_module(void);
void torture_random_device(char *name);

/* torture-socket.c */
void torture_socket_init(void);
void torture_rds(void);
void torture_smc(void);
void torture_replug(void);

#endif /* TORTURE_H */
