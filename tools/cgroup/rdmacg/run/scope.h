/* SPDX-License-Identifier: GPL-2.0 */
/* A transient scope of systemd, which owns the cgroups of machines where it runs. */
#ifndef RDMACG_SCOPE_H
#define RDMACG_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether systemd is the first process. */
bool scope_is_possible(void);
/*
 * Have systemd make a scope of this name and put two processes into it, and wait until they
 * are there. False, and an error is said, where it does not.
 */
bool scope_make(const char *name, pid_t one, pid_t other);

#endif /* RDMACG_SCOPE_H */
