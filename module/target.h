/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border between the module's two views of <linux/cgroup_rdma.h>: the files
 * with hooks see the running kernel's, and target.c and kernel/cgroup see this
 * project's.
 */
#ifndef _RDMACG_TARGET_H
#define _RDMACG_TARGET_H

#include <linux/types.h>

struct cgroup_subsys_state;
struct rdmacg_target;

/* A resource of the verb class. */
struct rdmacg_type {
	const char	*name;
	u64		capacity;	/* 0 if it is not stated. */
};

/* This amount is refused if there is a limit, and otherwise not counted. */
#define RDMACG_TARGET_ENDLESS U64_MAX

/* A charge of at most two resources by the same amount. */
struct rdmacg_payment {
	void		*owner;		/* Set by a successful charge. */
	u64		amount;
	unsigned int	count;
	unsigned int	slots[2];
};

/* The kinds of commands, as enum rdmacg_command_kind. */
enum rdmacg_call_kind {
	RDMACG_CALL_DESTROY	= 0,
	RDMACG_CALL_CHANGE	= 1,
	RDMACG_CALL_CREATE	= 2,
};

/* A command that runs. */
struct rdmacg_call {
	void	*private[2];
};

struct rdmacg_target *rdmacg_target_add(const char *name, u32 index, void *net,
					const struct rdmacg_type *types, unsigned int count);
void rdmacg_target_rename(struct rdmacg_target *target, const char *name);
void rdmacg_target_remove(struct rdmacg_target *target);
const char *rdmacg_target_name(struct rdmacg_target *target);

int rdmacg_target_charge(struct rdmacg_target *target, struct rdmacg_payment *payment,
			 struct cgroup_subsys_state *css);
void rdmacg_target_uncharge(struct rdmacg_target *target, struct rdmacg_payment *payment);

bool rdmacg_target_is_limited(void);
int rdmacg_target_begin(struct rdmacg_target *target, struct rdmacg_call *call,
			enum rdmacg_call_kind kind);
void rdmacg_target_end(struct rdmacg_call *call);
void rdmacg_target_stop_waiting(struct rdmacg_target *target);
void rdmacg_target_resume_waiting(struct rdmacg_target *target);

#endif /* _RDMACG_TARGET_H */
