/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the hammer:
 *
 *   hammer.c           main(): processes, statistics, and steps that must succeed
 *   hammer-kinds.c     the work of the processes of the delegated cgroup
 *   hammer-stranger.c  the operations of the stranger, and their times
 *   hammer-sibling.c   the operations of a sibling, their times, and the attacks on it
 */
#ifndef HAMMER_H
#define HAMMER_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define HAMMER_ROOT	"/sys/fs/cgroup"
/*
 * The delegated cgroup. Its processes are in HOME, because a cgroup that delegates takes no
 * process.
 */
#define HAMMER_TOP	HAMMER_ROOT "/hammer"
#define HAMMER_HOME	HAMMER_TOP "/home"
#define HAMMER_STRANGER	HAMMER_ROOT "/stranger"
#define HAMMER_SIBLING	HAMMER_TOP "/sibling"
#define HAMMER_CHAIN	HAMMER_TOP "/chain"
#define HAMMER_DEVICE	"rxe0"

/* No step takes longer on a working kernel, however slow the machine is. */
#define HAMMER_PATIENCE	120	/* s */

#define HAMMER_FEW	4
#define HAMMER_MANY	500
#define HAMMER_MOST	(HAMMER_MANY + 1)

/* Shared by all processes. */
struct hammer_shared {
	atomic_bool failed;
	char reason[256];	/* of the first process that failed */
	atomic_ulong blows[HAMMER_MOST];
};

struct hammer_kind {
	const char *name;
	const char *control;	/* the kind to compare with; NULL for a control */
	/* Called by each process in a loop until it is killed; NULL: nothing. */
	void (*act)(unsigned int number);
	unsigned int processes;
	/* Setup before the processes start, and cleanup after they end. */
	void (*set_up)(void);
	void (*clean_up)(void);
	bool is_in_leaf;	/* of the chain, instead of HOME */
	/* The victim is a sibling of HOME, and has a processor of its own. */
	bool has_sibling;
	const char *control_max;	/* what HAMMER_TOP's rdma.control.max says; or NULL */
};

enum hammer_op {
	HAMMER_OPEN,
	HAMMER_MKDIR,
	HAMMER_LINK,
	HAMMER_RENAME,
	HAMMER_PAIR,
	HAMMER_OPS
};

/* hammer.c */
extern struct hammer_shared *hammer_shared;
extern struct ibv_device *hammer_device;
[[gnu::noreturn, gnu::format(printf, 1, 2)]] void hammer_fail(const char *format, ...);
unsigned long long hammer_now(void);
void hammer_sleep_ms(unsigned int ms);
int hammer_open(int dir, const char *path, int flags);
void hammer_write(int dir, const char *path, const char *text);
void hammer_mkdir(int dir, const char *path);
void hammer_rmdir(int dir, const char *path);
pid_t hammer_spawn(int dir);
void hammer_await(const char *what, pid_t pid);
bool hammer_sample(enum hammer_op op, unsigned long long ns);

/* hammer-kinds.c */
extern unsigned int hammer_depth;
extern int hammer_leaf;
const struct hammer_kind *hammer_find_kind(const char *name);
void hammer_make_chain(void);
void hammer_remove_chain(void);
void hammer_write_leaf(const char *limits);
void hammer_make_texts(void);
void hammer_write_texts(unsigned int number);
void hammer_remove_own(void);

/* hammer-stranger.c */
void hammer_measure(const struct hammer_kind *kind, unsigned int ms);

/* hammer-sibling.c: the last kind has no name */
extern const struct hammer_kind hammer_sibling_kinds[];
void hammer_measure_sibling(const struct hammer_kind *kind, unsigned int ms);

#endif /* HAMMER_H */
