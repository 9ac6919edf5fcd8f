/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: the parts of struct rdma_cgroup that the cgroup core
 * uses. A module for other kernels replaces this file, because its struct lies
 * beside the css.
 */
#ifndef _RDMACG_CSS_H
#define _RDMACG_CSS_H

#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>

/*
 * The number of classes with events. The last class has no events, because a
 * command over a limit waits instead of being refused.
 */
#define RDMACG_EVENT_CLASSES RDMACG_CLASS_CONTROL

/* Returns whether a key of a class belongs to this controller. */
static inline bool rdmacg_has_key(enum rdmacg_class class, const char *key)
{
	return true;
}

struct rdmacg_css {
	struct cgroup_subsys_state css;
};

/* The files whose readers are notified of events, for each class. */
struct rdmacg_event_files {
	struct cgroup_file	events[RDMACG_EVENT_CLASSES];
	struct cgroup_file	events_local[RDMACG_EVENT_CLASSES];
};

/*
 * The cftype of an events file names the struct cgroup_file that notifies
 * readers.
 */
#define RDMACG_NOTIFIED(_member) .file_offset = offsetof(struct rdma_cgroup, files._member)

static inline struct cgroup_subsys_state *rdmacg_css_of(const struct rdmacg_css *state)
{
	return (struct cgroup_subsys_state *)&state->css;
}

/* @css is not NULL. */
static inline struct rdmacg_css *rdmacg_css_find(struct cgroup_subsys_state *css)
{
	return container_of(css, struct rdmacg_css, css);
}

/* Returns the current process's cgroup, with a reference. */
static inline struct rdmacg_css *rdmacg_css_get_current(void)
{
	return rdmacg_css_find(task_get_css(current, rdma_cgrp_id));
}

/* Returns NULL for the root. */
static inline struct rdmacg_css *rdmacg_css_parent(const struct rdmacg_css *state)
{
	return state->css.parent ? rdmacg_css_find(state->css.parent) : NULL;
}

#endif /* _RDMACG_CSS_H */
