/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests with verbs objects. They are for contexts, multicast groups, child
 * processes, and calls that libibverbs does not have.
 */
#ifndef RDMA_VERBS_UTIL_H
#define RDMA_VERBS_UTIL_H

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "rdma_util.h"

static inline struct ibv_device *rdmacg_in_list(struct ibv_device **list, const char *name)
{
	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	return NULL;
}

static inline struct ibv_context *rdmacg_open(const struct rdmacg_tree *tree)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device = rdmacg_in_list(list, tree->device);
	struct ibv_context *context = device ? ibv_open_device(device) : NULL;
	int error = device ? errno : ENODEV;

	ibv_free_device_list(list);
	errno = error;
	return context;
}

/* Open the device's file without creating a context. Returns -1 after a failure. */
static inline int rdmacg_open_file(const struct rdmacg_tree *tree)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device = rdmacg_in_list(list, tree->device);
	char path[128];
	int fd = -1;

	if (device) {
		snprintf(path, sizeof(path), "/dev/infiniband/%s", device->dev_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	ibv_free_device_list(list);
	return fd;
}

/* Enter @cgroup, and create a context and a PD there. Sets errno and returns false on failure. */
static inline bool rdmacg_enter_and_open(struct rdmacg_tree *tree, const char *cgroup,
					 struct ibv_context **context, struct ibv_pd **pd)
{
	if (cg_enter_current(cgroup))
		return false;
	*context = rdmacg_open(tree);
	if (!*context)
		return false;
	*pd = ibv_alloc_pd(*context);
	return *pd;
}

/*
 * Create a context with write(2), as programs did before the ioctl existed. The kernel then also
 * creates an async_event. Returns 0 or the error.
 */
static inline int rdmacg_get_context(int fd, int *async_fd)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		/* Room for the driver's part of the response. */
		__u64 driver[4];
	} response;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_get_context command;
	} request = {
		.header = {
			.command = IB_USER_VERBS_CMD_GET_CONTEXT,
			.in_words = sizeof(request) / 4,
			.out_words = sizeof(response) / 4,
		},
		.command.response = (uintptr_t)&response,
	};

	if (write(fd, &request, sizeof(request)) != sizeof(request))
		return errno;
	*async_fd = response.core.async_fd;
	return 0;
}

/*
 * Call the ioctl with the id of each driver in turn, because the ioctl refuses a wrong id with
 * EINVAL. After success, the header has the id of the device's driver. Returns 0 or the error.
 */
static inline int rdmacg_ioctl(int fd, struct ib_uverbs_ioctl_hdr *header)
{
	int error;

	header->driver_id = 0;
	while ((error = ioctl(fd, RDMA_VERBS_IOCTL, header) ? errno : 0) == EINVAL &&
	       header->driver_id < 63)
		header->driver_id++;
	return error;
}

struct rdmacg_alloc_async_event {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr;
};

/* Create an async_event, as libibverbs does when it opens a device. Returns 0 or the error. */
static inline int rdmacg_alloc_async_event(struct ibv_context *context,
					   struct rdmacg_alloc_async_event *cmd)
{
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
	return rdmacg_ioctl(context->cmd_fd, &cmd->hdr);
}

/* Create the smallest QP, with @cq for both directions. */
static inline struct ibv_qp *rdmacg_create_qp(struct ibv_pd *pd, struct ibv_cq *cq,
					      enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	return ibv_create_qp(pd, &init);
}

/*
 * Attach a QP to a group, or detach it. Returns 0 or an errno. @group is the last byte of the
 * group's address.
 */
static inline int rdmacg_attach_lid(struct ibv_qp *qp, unsigned char group, uint16_t lid)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = group } };

	return ibv_attach_mcast(qp, &gid, lid);
}

static inline int rdmacg_attach(struct ibv_qp *qp, unsigned char group)
{
	return rdmacg_attach_lid(qp, group, 0);
}

static inline int rdmacg_detach(struct ibv_qp *qp, unsigned char group)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = group } };

	return ibv_detach_mcast(qp, &gid, 0);
}

/* Two QPs for multicast groups. */
struct rdmacg_members {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
};

/* Enter @cgroup, and create two QPs there. Returns false on failure. */
static inline bool rdmacg_make_members(struct rdmacg_tree *tree, const char *cgroup,
				       struct rdmacg_members *members)
{
	int i;

	if (!rdmacg_enter_and_open(tree, cgroup, &members->context, &members->pd))
		return false;
	members->cq = ibv_create_cq(members->context, 1, NULL, NULL, 0);
	for (i = 0; members->cq && i < 2; i++)
		members->qp[i] = rdmacg_create_qp(members->pd, members->cq, IBV_QPT_UD);
	return members->qp[0] && members->qp[1];
}

/* Find the IPv4 address of the device's link. Returns 0 if there is none. */
static inline in_addr_t rdmacg_find_address(struct ibv_context *context)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in *address;
	struct ibv_gid_entry entry;
	struct ifreq request = { };

	address = (struct sockaddr_in *)&request.ifr_addr;
	if (!ibv_query_gid_ex(context, 1, 0, &entry, 0) &&
	    if_indextoname(entry.ndev_ifindex, request.ifr_name) &&
	    ioctl(fd, SIOCGIFADDR, &request))
		address->sin_addr.s_addr = 0;
	close(fd);
	return address->sin_addr.s_addr;
}

/* Fork a child that ends with the test, even if an assertion fails. */
static inline pid_t rdmacg_fork(void)
{
	pid_t child = fork();

	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

/* Wait until the child ends. Returns its exit status, or -1 if a signal killed the child. */
static inline int rdmacg_wait(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Run @body in a child process. The value is the exit status of the child. */
#define IN_CHILD(body)								\
	({									\
		pid_t __child = rdmacg_fork();					\
		if (!__child) {							\
			body;							\
			_exit(0);						\
		}								\
		rdmacg_wait(__child);						\
	})

#endif /* RDMA_VERBS_UTIL_H */
