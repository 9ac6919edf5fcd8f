/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of a differential test. The main process has a worker for each process of the
 * test. It sends a request to the worker, which calls the kernel and returns a reply.
 */
#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include <rdma/ib_user_verbs.h>
#include <sys/types.h>

#include "replay.h"

#define MEMORY_SIZE 0x100000

struct request {
	struct op op;
	int fd;			/* of the context, or of an object that has one */
	__u32 handle;		/* of the object */
	__u32 pd, cq;
	pid_t pid;		/* SHARE: who has the fd */
};

struct reply {
	int error;
	__u32 value;		/* a handle, an fd or a pid */
	__u32 handle;		/* CM_CREATE, beside the fd */
	struct ib_uverbs_query_device_resp device;
};

/* Requests go in at [0], workers read at [1]. */
extern int channels[PROCS][2];
/* MEMORY_SIZE bytes to register, and a page after them that cannot be read. */
extern char *memory;

/* Report what failed, with errno, and exit. */
void die(const char *what);
/* Serve requests, for ever. */
void work(int proc);

#endif /* REPLAY_KERNEL_H */
