/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classes of uverbs commands for the RDMA cgroup controller, and functions for
 * the beginning and the end of a command.
 */
#ifndef _UVERBS_CONTROL_H
#define _UVERBS_CONTROL_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct uverbs_api;

/**
 * enum uverbs_command_class - the way in which a method or a command is counted
 * @UVERBS_COMMAND_UNKNOWN: no table has it, and it counts as
 *	@UVERBS_COMMAND_CHANGE
 * @UVERBS_COMMAND_CREATE: it waits while its cgroup is over its limit, and
 *	counts twice in the rate
 * @UVERBS_COMMAND_CHANGE: it waits while its cgroup is over its limit, and
 *	counts once in the rate
 * @UVERBS_COMMAND_DESTROY: it is counted, but does not use the rate and never
 *	waits
 * @UVERBS_COMMAND_DATA: it is not counted
 * @UVERBS_COMMAND_QUERY: it is not counted
 * @UVERBS_COMMAND_OTHER: it calls another command, which is counted
 *
 * The classes up to UVERBS_COMMAND_DESTROY are counted, and the others are not.
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

void uverbs_init_commands(struct uverbs_api *uapi, struct ib_device *device);
int uverbs_limit_command(struct uverbs_attr_bundle_hdr *attrs, enum uverbs_command_class class);

/*
 * Let waiting processes leave their SRCU sections. The removal of the device
 * waits for these sections.
 */
static inline void uverbs_stop_waiting(struct ib_device *device)
{
	rdmacg_stop_waiting(&device->cg_device);
}

#else /* CONFIG_CGROUP_RDMA_CONTROL */

static inline void uverbs_init_commands(struct uverbs_api *uapi, struct ib_device *device)
{
}

static inline int uverbs_limit_command(struct uverbs_attr_bundle_hdr *attrs,
				       enum uverbs_command_class class)
{
	return 0;
}

static inline void uverbs_stop_waiting(struct ib_device *device)
{
}

#endif /* CONFIG_CGROUP_RDMA_CONTROL */

/*
 * Begin a command, perhaps after a wait. The caller holds only
 * disassociate_srcu. The removal of the device waits for this SRCU section, but
 * calls uverbs_stop_waiting() first. Returns 0, or an error that the caller
 * returns without running the command. After an error, uverbs_end_command()
 * does nothing, so the caller may call it.
 */
static inline int uverbs_begin_command(struct uverbs_attr_bundle_hdr *attrs,
				       enum uverbs_command_class class)
{
	attrs->command.control = NULL;
	if (!rdmacg_commands_are_limited())
		return 0;
	return uverbs_limit_command(attrs, class);
}

static inline void uverbs_end_command(struct uverbs_attr_bundle_hdr *attrs)
{
	rdmacg_end_command(&attrs->command);
}

#endif /* _UVERBS_CONTROL_H */
