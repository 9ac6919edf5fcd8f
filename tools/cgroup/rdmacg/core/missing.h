/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel's controller does not have, so that nobody reads a gap as a zero. */
#ifndef RDMACG_MISSING_H
#define RDMACG_MISSING_H

#include "core/counters.h"
#include "lib/json.h"

/* Say it, if anything is missing; @pools: of a cgroup with the controller. */
void missing_say(const struct pools *pools);
/* The same as an array of file names. */
struct json_object *missing_json(const struct pools *pools);

#endif /* RDMACG_MISSING_H */
