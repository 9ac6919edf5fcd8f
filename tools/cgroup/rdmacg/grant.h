/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits of a cgroup that is not the user's own affair: who starts a job asks, and the
 * administrator says what may be asked for at most, and what there is without asking.
 */
#ifndef RDMACG_GRANT_H
#define RDMACG_GRANT_H

#include <stdbool.h>

#include "capacity.h"
#include "cgroup.h"
#include "change.h"
#include "conf.h"

/* The sections of the administrator's rules. */
#define GRANT_DEFAULT	"default"
#define GRANT_CEILING	"ceiling"

struct grant {
	/* Where a ceiling would be written, for messages. */
	const char *place;
	/* What is asked for; sections do not count here, and no device is a pattern. */
	struct conf asked;
	/* What the administrator says, in the sections above. */
	struct conf conf;
	/* While limits are set. */
	struct cgroup *cgroup;
	struct capacity capacity;
	/* Of "default", and of the devices that are there. */
	struct change every;
	struct change change;
};

/* False, and an error is said, for rules of other sections or without keys. */
bool grant_check(const struct conf *conf);
/*
 * Enable the controller on the way to @cgroup and set its limits: what is asked for, which
 * has to be within the ceiling, or where there is none within what is in effect; else the
 * lower one of default and ceiling, which raise nothing. All or none; false: an error was said.
 */
bool grant_limits(struct grant *grant, struct cgroup *cgroup);
/* Frees the rules. */
void grant_free(struct grant *grant);

#endif /* RDMACG_GRANT_H */
