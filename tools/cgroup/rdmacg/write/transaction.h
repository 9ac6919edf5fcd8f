/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes to several files that take effect together: one that is refused takes back those
 * before it. The kernel has no such thing over several files, so others may see what was
 * written in between.
 */
#ifndef RDMACG_TRANSACTION_H
#define RDMACG_TRANSACTION_H

#include "core/core.h"

struct transaction_step {
	/* Stays open until the change is freed; the caller's. */
	const struct cgroup *cgroup;
	char *file;
	char *text;
	/* What to write to take it back. */
	char *undo;
	bool done;
};

struct transaction {
	struct transaction_step *steps;
	size_t nr_steps;
	/* Print what would be written instead. */
	bool dry_run;
	/* Do not even print. */
	bool quiet;
	/* What was written stays if a later write is refused. */
	bool keep;
};

/* Add a write. @text and @undo are freed with the change. */
void transaction_add(struct transaction *change, const struct cgroup *cgroup, const char *file,
		     char *text, char *undo);
/*
 * Add what gives @cgroup the controller: on cgroup v2 "+rdma" in cgroup.subtree_control of
 * each ancestor that lacks it.
 */
void transaction_add_controller(struct transaction *change, const struct cgroup *cgroup);
/*
 * Write what has not been written so far. On a refusal, an error is said, all of the change
 * is taken back unless it is to stay, and the answer is false.
 */
bool transaction_apply(struct transaction *change);
/* Take back what was written, in reverse order; what cannot be is said. */
void transaction_undo(struct transaction *change);
struct json_object *transaction_json(const struct transaction *change);
void transaction_free(struct transaction *change);

#endif /* RDMACG_TRANSACTION_H */
