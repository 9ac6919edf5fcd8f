/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits of a cgroup that is not the user's own affair: who starts a job asks, and the
 * administrator says what may be asked for at most, and what there is without asking.
 */
#ifndef RDMACG_POLICY_H
#define RDMACG_POLICY_H

#include "core/core.h"
#include "write/config.h"
#include "write/transaction.h"

/* The sections of the administrator's rules. */
#define POLICY_DEFAULT	"default"
#define POLICY_CEILING	"ceiling"

struct policy {
	/* Where a ceiling would be written, for messages. */
	const char *place;
	/* What is asked for; sections do not count here, and no device is a pattern. */
	struct config asked;
	/* The same, of what only lowers the limits that the others give: the share of a device. */
	struct config share;
	/* What the administrator says, in the sections above. */
	struct config config;
	/* While limits are set. */
	struct cgroup *cgroup;
	struct transaction change;
};

/* False, and an error is said, for rules of other sections or without keys. */
bool policy_check(const struct config *config);
/*
 * Enable the controller on the way to @cgroup and set its limits: what is asked for, which
 * has to be within the ceiling, or where there is none within what is in effect; else the
 * lower one of default and ceiling, which raise nothing. The share lowers any of these. All or
 * none; false: an error was said.
 */
bool policy_limits(struct policy *policy, struct cgroup *cgroup);
/*
 * The same for a cgroup that a runtime is about to create below @above, as the runtime has to
 * write it: an object with a text for each file. NULL: an error was said.
 */
struct json_object *policy_unified(struct policy *policy, struct cgroup *above);
/* Frees the rules. */
void policy_free(struct policy *policy);

#endif /* RDMACG_POLICY_H */
