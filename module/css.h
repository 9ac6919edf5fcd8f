/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of struct rdma_cgroup that the cgroup core knows, for the module.
 * This file takes the place of kernel/cgroup/rdma-css.h: the css belongs to the
 * stock controller, and the struct lies beside it.
 */
#ifndef _RDMACG_CSS_H
#define _RDMACG_CSS_H

#include <linux/cgroup.h>

/* As in kernel/cgroup/rdma-css.h. */
#define RDMACG_EVENT_CLASSES RDMACG_CLASS_CONTROL

/* Stock has the hca class, and no driver has resources for the hw class. */
static inline bool rdmacg_has_class(enum rdmacg_class class)
{
	return class == RDMACG_CLASS_VERB || class == RDMACG_CLASS_CONTROL;
}

/* The module does not hook the connection manager. */
static inline bool rdmacg_has_key(enum rdmacg_class class, const char *key)
{
	return rdmacg_has_class(class) && strcmp(key, "cm_id");
}

/* One for each css down to level RDMACG_MAX_DEPTH. css.c has its lifetime. */
struct rdmacg_css {
	struct cgroup_subsys_state *css;	/* Set once. */
	struct rdmacg_css	*parent;	/* NULL for the root. Set once. */
	struct rcu_head		rcu;
};

/* The css is stock's, so rdmacg_notify() finds each file by its name. */
struct rdmacg_event_files {
};

#define RDMACG_NOTIFIED(_member)

struct rdma_cgroup *rdmacg_owner_of(struct cgroup_subsys_state *css);
struct rdmacg_css *rdmacg_css_find(struct cgroup_subsys_state *css);
struct rdmacg_css *rdmacg_css_get_current(void);

static inline struct cgroup_subsys_state *rdmacg_css_of(const struct rdmacg_css *state)
{
	return state->css;
}

static inline struct rdmacg_css *rdmacg_css_parent(const struct rdmacg_css *state)
{
	return state->parent;
}

#endif /* _RDMACG_CSS_H */
