/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests with real verbs objects share.
 */
#ifndef RDMA_VERBS_UTIL_H
#define RDMA_VERBS_UTIL_H

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "rdma_util.h"

static inline struct ibv_context *rdmacg_open(const struct rdmacg_tree *tree)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i, error = ENODEV;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), tree->device)) {
			context = ibv_open_device(list[i]);
			error = errno;
		}
	ibv_free_device_list(list);
	errno = error;
	return context;
}

struct rdmacg_alloc_async_event {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr;
};

/* libibverbs makes one for each context, and has no call for more. */
static inline int rdmacg_alloc_async_event(struct ibv_context *context,
					   struct rdmacg_alloc_async_event *cmd)
{
	int ret;

	*cmd = (struct rdmacg_alloc_async_event) {
		.hdr = {
			.length = sizeof(*cmd),
			.object_id = UVERBS_OBJECT_ASYNC_EVENT,
			.method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			.num_attrs = 1,
		},
		.attr = {
			.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
			.flags = UVERBS_ATTR_F_MANDATORY,
		},
	};
	/* Any driver: EINVAL for all ids but the device's own. */
	for (; cmd->hdr.driver_id < 64; cmd->hdr.driver_id++) {
		ret = ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, cmd);
		if (!ret || errno != EINVAL)
			return ret;
	}
	return ret;
}

/* Run @body in a child process; the child's status is the block's value. */
#define IN_CHILD(body)								\
	({									\
		int status = -1;						\
		pid_t child = fork();						\
		if (!child) {							\
			body;							\
			_exit(0);						\
		}								\
		waitpid(child, &status, 0);					\
		WIFEXITED(status) ? WEXITSTATUS(status) : -1;			\
	})

#endif /* RDMA_VERBS_UTIL_H */
