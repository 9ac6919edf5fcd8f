/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests with real verbs objects share.
 */
#ifndef RDMA_VERBS_UTIL_H
#define RDMA_VERBS_UTIL_H

#include <infiniband/verbs.h>
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
