/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes to several files that take effect together: one that is refused takes back those
 * before it. The kernel has no such thing over several files, so others may see what was
 * written in between.
 */
#ifndef RDMACG_CHANGE_H
#define RDMACG_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "cgroup.h"
#include "json.h"

struct change_step {
	/* Stays open until the change is freed; the caller's. */
	const struct cgroup *cgroup;
	char *file;
	char *text;
	/* What to write to take it back. */
	char *undo;
	bool done;
};

struct change {
	struct change_step *steps;
	size_t nr_steps;
	/* Print what would be written instead. */
	bool dry_run;
	/* Do not even print. */
	bool quiet;
	/* What was written stays if a later write is refused. */
	bool keep;
};

/* Add a write. @text and @undo are freed with the change. */
void change_add(struct change *change, const struct cgroup *cgroup, const char *file,
		char *text, char *undo);
/*
 * Add what gives @cgroup the controller: on cgroup v2 "+rdma" in cgroup.subtree_control of
 * each ancestor that lacks it.
 */
void change_add_controller(struct change *change, const struct cgroup *cgroup);
/*
 * Write what has not been written so far. On a refusal, an error is said, all of the change
 * is taken back unless it is to stay, and the answer is false.
 */
bool change_apply(struct change *change);
/* Take back what was written, in reverse order; what cannot be is said. */
void change_undo(struct change *change);
struct json_object *change_json(const struct change *change);
void change_free(struct change *change);

#endif /* RDMACG_CHANGE_H */
