/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands of uverbs the RDMA cgroup controller counts, and how they begin and end.
 */
#ifndef _UVERBS_CONTROL_H
#define _UVERBS_CONTROL_H

#include <linux/cgroup_rdma.h>
#include <linux/srcu.h>

#include "rdma_core.h"
#include "uverbs.h"

/**
 * enum uverbs_command_class - how a method or a command is counted
 * @UVERBS_COMMAND_UNKNOWN: not said in uverbs_control.list; as @UVERBS_COMMAND_CHANGE
 * @UVERBS_COMMAND_CREATE: waits while its cgroup is over its limit, and takes two of the rate
 * @UVERBS_COMMAND_CHANGE: the same, and takes one
 * @UVERBS_COMMAND_DESTROY: counted, takes nothing and never waits
 * @UVERBS_COMMAND_DATA: not counted
 * @UVERBS_COMMAND_QUERY: not counted
 * @UVERBS_COMMAND_OTHER: calls another one, which is counted
 */
enum uverbs_command_class {
	UVERBS_COMMAND_UNKNOWN,
	UVERBS_COMMAND_CREATE,
	UVERBS_COMMAND_CHANGE,
	UVERBS_COMMAND_DESTROY,
	UVERBS_COMMAND_DATA,
	UVERBS_COMMAND_QUERY,
	UVERBS_COMMAND_OTHER,
};

#ifdef CONFIG_CGROUP_RDMA_CONTROL

void uverbs_classify(struct uverbs_api *uapi);
int uverbs_limit_command(struct rdmacg_command *command, struct ib_uverbs_file *ufile,
			 enum uverbs_command_class class);

/* A process that waits for a limit is in the section that keeps the device. */
static inline void uverbs_stop_waiting(struct ib_device *device)
{
	rdmacg_stop_waiting(&device->cg_device);
}

static inline void uverbs_resume_waiting(struct ib_device *device)
{
	rdmacg_resume_waiting(&device->cg_device);
}

#else /* CONFIG_CGROUP_RDMA_CONTROL */

static inline void uverbs_classify(struct uverbs_api *uapi)
{
}

static inline int uverbs_limit_command(struct rdmacg_command *command,
				       struct ib_uverbs_file *ufile,
				       enum uverbs_command_class class)
{
	return 0;
}

static inline void uverbs_stop_waiting(struct ib_device *device)
{
}

static inline void uverbs_resume_waiting(struct ib_device *device)
{
}

#endif /* CONFIG_CGROUP_RDMA_CONTROL */

/*
 * Let a command begin, which may wait. To be called where nothing is held but
 * disassociate_srcu: for that, only the removal of the device waits, and calls
 * uverbs_stop_waiting() first. 0, or what is to be returned instead of running the command;
 * uverbs_end_command() is to be called either way.
 */
static inline int uverbs_begin_command(struct rdmacg_command *command,
				       struct ib_uverbs_file *ufile,
				       enum uverbs_command_class class)
{
	command->control = NULL;
	if (!rdmacg_commands_are_limited())
		return 0;
	return uverbs_limit_command(command, ufile, class);
}

static inline void uverbs_end_command(struct rdmacg_command *command)
{
	rdmacg_end_command(command);
}

#endif /* _UVERBS_CONTROL_H */
