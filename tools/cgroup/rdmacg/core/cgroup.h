/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cgroup that is open, with all its ancestors. It may be removed at any time; then its
 * files are no longer there and its pools stay empty.
 */
#ifndef RDMACG_CGROUP_H
#define RDMACG_CGROUP_H

#include <stdbool.h>

#include "core/counters.h"
#include "core/hierarchy.h"

struct cgroup {
	const struct hierarchy *hierarchy;
	/* NULL for the root. It stays open as long as this one. */
	struct cgroup *parent;
	/* Relative to the root; "" is the root. */
	char *name;
	int dir;
	unsigned int depth;
	struct pools pools;
	/* For who visits it in a walk. */
	bool marked;
	/* Set by who visits it in a walk, to leave out those below. */
	bool leave_below;
};

/* Open a cgroup and its ancestors; NULL and errno. */
struct cgroup *cgroup_find(const struct hierarchy *hierarchy, const char *name);
/* The same; but an error is said. */
struct cgroup *cgroup_open(const struct hierarchy *hierarchy, const char *name);
/* NULL and errno. */
struct cgroup *cgroup_open_child(struct cgroup *parent, const char *base);
/* Close it alone. */
void cgroup_close(struct cgroup *cgroup);
/* Close it and its ancestors. NULL is allowed. */
void cgroup_close_path(struct cgroup *cgroup);

/* The name for people: "/" for the root. */
const char *cgroup_name(const struct cgroup *cgroup);
/*
 * The smallest limit that binds a slot, as text: "unknown" where none is seen and what is
 * above the root of this tree cannot be seen.
 */
const char *cgroup_format_limit(char *buffer, const struct cgroup *cgroup,
				const struct slot *slot, bool human);
/*
 * A cgroup above or the same as @other sees it: "self", "..", "../.."; as it is where @short_form
 * is false. "-" for NULL. Valid until the next call.
 */
const char *cgroup_relative(const char *name, const char *other, bool short_form);
/* The path of a file in it, for messages. To be freed. */
char *cgroup_path(const struct cgroup *cgroup, const char *file);
/* Whether its processes are counted in it, not in an ancestor. */
bool cgroup_has_controller(const struct cgroup *cgroup);
/* The closest one, itself or an ancestor, that has the controller; NULL where none has. */
struct cgroup *cgroup_counted_in(struct cgroup *cgroup);

/*
 * Read the pools, @files as for pools_read(), with the smallest limit of each slot if the
 * pools of the ancestors have been read. False, and an error is said, where that fails.
 */
bool cgroup_read(struct cgroup *cgroup, unsigned int files);
/* The same for the ancestors first. */
bool cgroup_read_path(struct cgroup *cgroup, unsigned int files);

/*
 * Call @visit for @top and for all below it, parents first, siblings by name. The pools
 * of the one visited and of those above it up to @top are read. False if an error was said;
 * what is gone meanwhile is no error. @visit returns false to stop.
 */
bool cgroup_walk(struct cgroup *top, unsigned int files,
		 bool (*visit)(struct cgroup *cgroup, void *data), void *data);
/* The same without pools. */
bool cgroup_walk_names(struct cgroup *top, bool (*visit)(struct cgroup *cgroup, void *data),
		       void *data);

#endif /* RDMACG_CGROUP_H */
