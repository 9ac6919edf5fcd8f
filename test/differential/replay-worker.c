// SPDX-License-Identifier: GPL-2.0
/*
 * A worker process creates and destroys objects on request. It calls uverbs and rdma_cm directly.
 * libibverbs would create objects of its own and map queues, which keep a context open after its
 * close. It would also not let one process destroy objects of another.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replay-kernel.h"

#define QPT_UD 4
#define ACCESS_LOCAL_WRITE 1
#define REREG_TRANS 1

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[4];
};

static void add_attr(struct command *cmd, int id, const void *data, size_t len, bool in)
{
	struct ib_uverbs_attr *attr = &cmd->attrs[cmd->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	/* A value that fits into the attribute is passed in it. */
	if (in && len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
}

static int submit(int fd, struct command *cmd, int object, int method)
{
	cmd->hdr.length = sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->attrs[0]);
	cmd->hdr.object_id = object;
	cmd->hdr.method_id = method;
	cmd->hdr.driver_id = RDMA_DRIVER_RXE;
	return ioctl(fd, RDMA_VERBS_IOCTL, cmd) ? -errno : 0;
}

/* A command of the write() interface; @out and @driver_out are NULL where it has none. */
static int invoke(int fd, __u64 number, const void *in, size_t in_len, void *out,
		  size_t out_len, void *driver_out, size_t driver_len)
{
	struct command cmd = { .hdr.num_attrs = 0 };

	add_attr(&cmd, UVERBS_ATTR_WRITE_CMD, &number, sizeof(number), true);
	add_attr(&cmd, UVERBS_ATTR_CORE_IN, in, in_len, true);
	if (out)
		add_attr(&cmd, UVERBS_ATTR_CORE_OUT, out, out_len, false);
	if (driver_out)
		add_attr(&cmd, UVERBS_ATTR_UHW_OUT, driver_out, driver_len, false);
	return submit(fd, &cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
}

/* A response begins with the handle; rxe's own part says where to map queues. */
static int create(const struct request *request, __u64 number, const void *in, size_t in_len,
		  size_t out_len, struct reply *reply)
{
	__u64 driver_out[16];
	__u32 out[16];
	int error = invoke(request->fd, number, in, in_len, out, out_len, driver_out,
			   sizeof(driver_out));

	reply->value = out[0];
	return error;
}

#define CREATE_OBJECT(NUMBER, name, ...)						\
	({										\
		struct ib_uverbs_##name in = { __VA_ARGS__ };				\
											\
		create(request, IB_USER_VERBS_CMD_##NUMBER, &in, sizeof(in),		\
		       sizeof(struct ib_uverbs_##name##_resp), reply);			\
	})

static int create_async_event(const struct request *request, struct reply *reply)
{
	struct command cmd = { .hdr.num_attrs = 0 };
	int error;

	add_attr(&cmd, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, NULL, 0, false);
	error = submit(request->fd, &cmd, UVERBS_OBJECT_ASYNC_EVENT,
		       UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	reply->value = cmd.attrs[0].data;
	return error;
}

/* A link-local address, because creating an AH then needs no neighbour discovery. */
static const struct ib_uverbs_ah_attr ah_attr = {
	.grh.dgid = { 0xfe, 0x80, [8] = 2, [11] = 0xff, [12] = 0xfe, [15] = 1 },
	.is_global = 1,
	.port_num = 1,
};

static int create_mr(const struct request *request, struct reply *reply)
{
	uintptr_t start = (uintptr_t)memory;

	/* The page after the memory cannot be read. */
	if (request->op.flaw == NO_MEMORY_THERE)
		start += MEMORY_SIZE;
	return CREATE_OBJECT(REG_MR, reg_mr, .pd_handle = request->pd, .start = start,
			     .hca_va = start, .length = request->op.length,
			     .access_flags = ACCESS_LOCAL_WRITE);
}

static int create_object(const struct request *request, struct reply *reply)
{
	switch (request->op.type) {
	case PD:
		return CREATE_OBJECT(ALLOC_PD, alloc_pd, 0);
	case COMP_CHANNEL:
		return CREATE_OBJECT(CREATE_COMP_CHANNEL, create_comp_channel, 0);
	case CQ:
		return CREATE_OBJECT(CREATE_CQ, create_cq, .comp_channel = -1,
				     .cqe = request->op.flaw == TOO_MANY_CQES ? 1 << 30 : 1);
	case QP:
		return CREATE_OBJECT(CREATE_QP, create_qp, .pd_handle = request->pd,
				     .send_cq_handle = request->cq,
				     .recv_cq_handle = request->cq, .max_send_wr = 1,
				     .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
				     .qp_type = QPT_UD);
	case SRQ:
		return CREATE_OBJECT(CREATE_SRQ, create_srq, .pd_handle = request->pd,
				     .max_wr = 1, .max_sge = 1);
	case AH:
		return CREATE_OBJECT(CREATE_AH, create_ah, .pd_handle = request->pd,
				     .attr = ah_attr);
	case MR:
		return create_mr(request, reply);
	case MW:
		return CREATE_OBJECT(ALLOC_MW, alloc_mw, .pd_handle = request->pd,
				     .mw_type = 1);
	case ASYNC_EVENT:
		return create_async_event(request, reply);
	default:
		abort();
	}
}

static int close_fd(int fd)
{
	return close(fd) ? -errno : 0;
}

#define DESTROY_PLAIN(NUMBER, name, member)						\
	({										\
		struct ib_uverbs_##name in = { .member = request->handle };		\
											\
		invoke(request->fd, IB_USER_VERBS_CMD_##NUMBER, &in, sizeof(in),	\
		       NULL, 0, NULL, 0);						\
	})

#define DESTROY_WITH_EVENTS(NUMBER, name, member)					\
	({										\
		struct ib_uverbs_##name in = { .member = request->handle };		\
		struct ib_uverbs_##name##_resp out;					\
											\
		invoke(request->fd, IB_USER_VERBS_CMD_##NUMBER, &in, sizeof(in),	\
		       &out, sizeof(out), NULL, 0);					\
	})

static int destroy_object(const struct request *request)
{
	switch (request->op.type) {
	case PD:
		return DESTROY_PLAIN(DEALLOC_PD, dealloc_pd, pd_handle);
	case CQ:
		return DESTROY_WITH_EVENTS(DESTROY_CQ, destroy_cq, cq_handle);
	case QP:
		return DESTROY_WITH_EVENTS(DESTROY_QP, destroy_qp, qp_handle);
	case SRQ:
		return DESTROY_WITH_EVENTS(DESTROY_SRQ, destroy_srq, srq_handle);
	case AH:
		return DESTROY_PLAIN(DESTROY_AH, destroy_ah, ah_handle);
	case MR:
		return DESTROY_PLAIN(DEREG_MR, dereg_mr, mr_handle);
	case MW:
		return DESTROY_PLAIN(DEALLOC_MW, dealloc_mw, mw_handle);
	default:
		return close_fd(request->fd);
	}
}

static int rereg_mr(const struct request *request)
{
	struct ib_uverbs_rereg_mr in = {
		.mr_handle = request->handle,
		.flags = REREG_TRANS,
		.start = (uintptr_t)memory,
		.hca_va = (uintptr_t)memory,
		.length = request->op.length,
	};
	struct ib_uverbs_rereg_mr_resp out;

	return invoke(request->fd, IB_USER_VERBS_CMD_REREG_MR, &in, sizeof(in), &out,
		      sizeof(out), NULL, 0);
}

static int attach(const struct request *request)
{
	struct ib_uverbs_attach_mcast in = {
		.gid = { 0xff, 0x0e, [15] = request->op.group + 1 },
		.qp_handle = request->handle,
	};

	return invoke(request->fd, request->op.what == ATTACH ? IB_USER_VERBS_CMD_ATTACH_MCAST :
		      IB_USER_VERBS_CMD_DETACH_MCAST, &in, sizeof(in), NULL, 0, NULL, 0);
}

static int query(const struct request *request, struct reply *reply)
{
	struct ib_uverbs_query_device in = { .response = 0 };

	return invoke(request->fd, IB_USER_VERBS_CMD_QUERY_DEVICE, &in, sizeof(in),
		      &reply->device, sizeof(reply->device), NULL, 0);
}

/* The number of the uverbs device that belongs to "rxe@device". */
static int uverbs_number(int device)
{
	char path[64], name[16];
	int number, found, of;
	FILE *file;

	for (number = 0; number < 16; number++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%d/ibdev", number);
		file = fopen(path, "r");
		if (!file)
			continue;
		found = fgets(name, sizeof(name), file) && sscanf(name, "rxe%d", &of) == 1 &&
			of == device;
		fclose(file);
		if (found)
			return number;
	}
	errno = ENODEV;
	die("an rxe device");
	return NONE;
}

static int open_context(const struct request *request, struct reply *reply)
{
	static int numbers[DEVICES] = { [0 ... DEVICES - 1] = NONE };
	struct command cmd = { .hdr.num_attrs = 0 };
	int *number = &numbers[request->op.device];
	char path[64];
	int fd, error;

	if (*number == NONE)
		*number = uverbs_number(request->op.device);
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", *number);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	error = submit(fd, &cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	if (error)
		close(fd);
	reply->value = fd;
	return error;
}

/* Take a context from another process. */
static int take_context(const struct request *request, struct reply *reply)
{
	int pidfd = syscall(SYS_pidfd_open, request->pid, 0);
	int fd, error;

	if (pidfd < 0)
		return -errno;
	fd = syscall(SYS_pidfd_getfd, pidfd, request->fd, 0);
	error = fd < 0 ? -errno : 0;
	close(pidfd);
	reply->value = fd;
	return error;
}

/* A command of rdma_cm. */
static int cm_write(int fd, __u32 number, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		char in[256];
	} cmd = { .hdr = { .cmd = number, .in = in_len, .out = out_len } };

	memcpy(cmd.in, in, in_len);
	return write(fd, &cmd, sizeof(cmd.hdr) + in_len) < 0 ? -errno : 0;
}

/* Each identifier has an fd of its own and goes with it. */
static int create_cm_id(struct reply *reply)
{
	struct rdma_ucm_create_id_resp out = { .id = 0 };
	struct rdma_ucm_create_id in = {
		.response = (uintptr_t)&out,
		.ps = RDMA_PS_TCP,
	};
	int error;

	reply->value = open("/dev/infiniband/rdma_cm", O_RDWR);
	if ((int)reply->value < 0)
		return -errno;
	error = cm_write(reply->value, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), sizeof(out));
	reply->handle = out.id;
	return error;
}

static int bind_cm_id(const struct request *request)
{
	static const char *const addresses[DEVICES] = { "192.0.2.1", "198.51.100.1" };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_ucm_bind in = { .id = request->handle, .addr_size = sizeof(address) };

	inet_pton(AF_INET, addresses[request->op.device], &address.sin_addr);
	memcpy(&in.addr, &address, sizeof(address));
	return cm_write(request->fd, RDMA_USER_CM_CMD_BIND, &in, sizeof(in), 0);
}

/* The child becomes a child of the generator's process, which waits for it. */
static int fork_worker(int child, struct reply *reply)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid)
		work(child);
	reply->value = pid;
	return pid < 0 ? -errno : 0;
}

static int serve(const struct request *request, struct reply *reply)
{
	switch (request->op.what) {
	case FORK:	return fork_worker(request->op.other, reply);
	case OPEN:	return open_context(request, reply);
	case CLOSE:	return close_fd(request->fd);
	case SHARE:	return take_context(request, reply);
	case CREATE:	return create_object(request, reply);
	case DESTROY:	return destroy_object(request);
	case REREG:	return rereg_mr(request);
	case ATTACH:
	case DETACH:	return attach(request);
	case QUERY:	return query(request, reply);
	case CM_CREATE:	return create_cm_id(reply);
	case CM_BIND:	return bind_cm_id(request);
	case CM_CLOSE:	return close_fd(request->fd);
	default:
		abort();
	}
}

void work(int proc)
{
	struct request request;
	struct reply reply;

	for (;;) {
		if (read(channels[proc][1], &request, sizeof(request)) != sizeof(request))
			_exit(1);
		memset(&reply, 0, sizeof(reply));
		reply.error = serve(&request, &reply);
		if (write(channels[proc][1], &reply, sizeof(reply)) != sizeof(reply))
			_exit(1);
	}
}
