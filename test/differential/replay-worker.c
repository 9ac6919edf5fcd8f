// SPDX-License-Identifier: GPL-2.0
/*
 * A worker process creates and destroys objects on request, and calls uverbs and rdma_cm directly.
 * libibverbs would create objects of its own, and would map queues, which keep a context open after
 * its close. Also, libibverbs does not let a process destroy objects of another process.
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

#include "replay.h"

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
	/* A short value is in the attribute itself. */
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

/* Do a command of the write() interface. @out and @driver_out may be NULL. */
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

/* Returns the process's fd for the context of the operation. */
static int context_fd(const struct op *op)
{
	return shared->fds[op->proc][op->ctx];
}

/*
 * A response begins with the handle of the object. The driver's part has the offsets for mapping
 * queues.
 */
static int create(const struct op *op, __u64 number, const void *in, size_t in_len,
		  size_t out_len)
{
	__u64 driver_out[16];
	__u32 out[16];
	int error = invoke(context_fd(op), number, in, in_len, out, out_len, driver_out,
			   sizeof(driver_out));

	shared->handles[op->object] = out[0];
	if (is_fd_type(op->type))
		shared->fds[op->proc][op->object] = out[0];
	return error;
}

#define CREATE_OBJECT(NUMBER, name, ...)						\
	({										\
		struct ib_uverbs_##name in = { __VA_ARGS__ };				\
											\
		create(op, IB_USER_VERBS_CMD_##NUMBER, &in, sizeof(in),			\
		       sizeof(struct ib_uverbs_##name##_resp));				\
	})

static int create_async_event(const struct op *op)
{
	struct command cmd = { .hdr.num_attrs = 0 };
	int error;

	add_attr(&cmd, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, NULL, 0, false);
	error = submit(context_fd(op), &cmd, UVERBS_OBJECT_ASYNC_EVENT,
		       UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	shared->fds[op->proc][op->object] = cmd.attrs[0].data;
	return error;
}

/* Use a link-local address, because creating its AH needs no neighbour discovery. */
static const struct ib_uverbs_ah_attr ah_attr = {
	.grh.dgid = { 0xfe, 0x80, [8] = 2, [11] = 0xff, [12] = 0xfe, [15] = 1 },
	.is_global = 1,
	.port_num = 1,
};

static int create_mr(const struct op *op)
{
	uintptr_t start = (uintptr_t)shared->memory;

	/* The page after the memory cannot be read. */
	if (op->flaw == NO_MEMORY_THERE)
		start += MEMORY_SIZE;
	return CREATE_OBJECT(REG_MR, reg_mr, .pd_handle = shared->handles[op->pd], .start = start,
			     .hca_va = start, .length = op->length,
			     .access_flags = ACCESS_LOCAL_WRITE);
}

static int create_qp(const struct op *op)
{
	__u32 cq = shared->handles[op->cq];

	return CREATE_OBJECT(CREATE_QP, create_qp, .pd_handle = shared->handles[op->pd],
			     .send_cq_handle = cq, .recv_cq_handle = cq, .max_send_wr = 1,
			     .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
			     .qp_type = QPT_UD);
}

/* In commands that destroy objects with events, the handle is the second field. */
static int destroy_object(const struct op *op)
{
	static const __u64 commands[RESOURCES] = {
		[PD] = IB_USER_VERBS_CMD_DEALLOC_PD, [CQ] = IB_USER_VERBS_CMD_DESTROY_CQ,
		[QP] = IB_USER_VERBS_CMD_DESTROY_QP, [SRQ] = IB_USER_VERBS_CMD_DESTROY_SRQ,
		[AH] = IB_USER_VERBS_CMD_DESTROY_AH, [MR] = IB_USER_VERBS_CMD_DEREG_MR,
		[MW] = IB_USER_VERBS_CMD_DEALLOC_MW,
	};
	__u32 handle = shared->handles[op->object];
	struct ib_uverbs_destroy_qp with_events = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp events;

	if (is_fd_type(op->type))
		return close(shared->fds[op->proc][op->object]) ? -errno : 0;
	if (op->type == CQ || op->type == QP || op->type == SRQ)
		return invoke(context_fd(op), commands[op->type], &with_events,
			      sizeof(with_events), &events, op->type == CQ ?
			      sizeof(struct ib_uverbs_destroy_cq_resp) : sizeof(events), NULL, 0);
	return invoke(context_fd(op), commands[op->type], &handle, sizeof(handle), NULL, 0, NULL,
		      0);
}

static int rereg_mr(const struct op *op)
{
	struct ib_uverbs_rereg_mr in = {
		.mr_handle = shared->handles[op->object],
		.flags = REREG_TRANS,
		.start = (uintptr_t)shared->memory,
		.hca_va = (uintptr_t)shared->memory,
		.length = op->length,
	};
	struct ib_uverbs_rereg_mr_resp out;

	return invoke(context_fd(op), IB_USER_VERBS_CMD_REREG_MR, &in, sizeof(in), &out,
		      sizeof(out), NULL, 0);
}

static int attach(const struct op *op)
{
	struct ib_uverbs_attach_mcast in = {
		.gid = { 0xff, 0x0e, [15] = op->group + 1 },
		.qp_handle = shared->handles[op->object],
	};

	return invoke(context_fd(op), op->what == ATTACH ? IB_USER_VERBS_CMD_ATTACH_MCAST :
		      IB_USER_VERBS_CMD_DETACH_MCAST, &in, sizeof(in), NULL, 0, NULL, 0);
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

static int open_context(const struct op *op)
{
	static int numbers[USED_DEVICES] = { [0 ... USED_DEVICES - 1] = NONE };
	struct command cmd = { .hdr.num_attrs = 0 };
	int *number = &numbers[op->device];
	char path[64];
	int fd, error;

	if (*number == NONE)
		*number = uverbs_number(op->device);
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", *number);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	error = submit(fd, &cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	if (error)
		close(fd);
	shared->fds[op->proc][op->object] = fd;
	return error;
}

/* Take a context from another process. */
static int take_context(const struct op *op)
{
	int pidfd = syscall(SYS_pidfd_open, shared->pids[op->proc], 0);
	int fd, error;

	if (pidfd < 0)
		return -errno;
	fd = syscall(SYS_pidfd_getfd, pidfd, shared->fds[op->proc][op->object], 0);
	error = fd < 0 ? -errno : 0;
	close(pidfd);
	shared->fds[op->other][op->object] = fd;
	return error;
}

/* Do a command of rdma_cm. */
static int cm_write(int fd, __u32 number, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		char in[256];
	} cmd = { .hdr = { .cmd = number, .in = in_len, .out = out_len } };

	memcpy(cmd.in, in, in_len);
	return write(fd, &cmd, sizeof(cmd.hdr) + in_len) < 0 ? -errno : 0;
}

/* Each identifier has an fd of its own, and is destroyed when this fd is closed. */
static int create_cm_id(const struct op *op)
{
	struct rdma_ucm_create_id_resp out = { .id = 0 };
	struct rdma_ucm_create_id in = {
		.response = (uintptr_t)&out,
		.ps = RDMA_PS_TCP,
	};
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR);
	int error;

	if (fd < 0)
		return -errno;
	error = cm_write(fd, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), sizeof(out));
	shared->fds[op->proc][op->object] = fd;
	shared->handles[op->object] = out.id;
	return error;
}

static int bind_cm_id(const struct op *op)
{
	static const char *const addresses[USED_DEVICES] = { "192.0.2.1", "198.51.100.1" };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_ucm_bind in = {
		.id = shared->handles[op->object],
		.addr_size = sizeof(address),
	};

	inet_pton(AF_INET, addresses[op->device], &address.sin_addr);
	memcpy(&in.addr, &address, sizeof(address));
	return cm_write(shared->fds[op->proc][op->object], RDMA_USER_CM_CMD_BIND, &in, sizeof(in),
			0);
}

static int create_object(const struct op *op)
{
	__u32 pd = op->pd == NONE ? 0 : shared->handles[op->pd];

	switch (op->type) {
	case CONTEXT:
		return open_context(op);
	case PD:
		return CREATE_OBJECT(ALLOC_PD, alloc_pd, 0);
	case COMP_CHANNEL:
		return CREATE_OBJECT(CREATE_COMP_CHANNEL, create_comp_channel, 0);
	case CQ:
		return CREATE_OBJECT(CREATE_CQ, create_cq, .comp_channel = -1,
				     .cqe = op->flaw == TOO_MANY_CQES ? 1 << 30 : 1);
	case QP:
		return create_qp(op);
	case SRQ:
		return CREATE_OBJECT(CREATE_SRQ, create_srq, .pd_handle = pd, .max_wr = 1,
				     .max_sge = 1);
	case AH:
		return CREATE_OBJECT(CREATE_AH, create_ah, .pd_handle = pd, .attr = ah_attr);
	case MR:
		return create_mr(op);
	case MW:
		return CREATE_OBJECT(ALLOC_MW, alloc_mw, .pd_handle = pd, .mw_type = 1);
	case ASYNC_EVENT:
		return create_async_event(op);
	case CM_ID:
		return create_cm_id(op);
	default:
		abort();
	}
}

/* The child becomes a child of the main process, which waits for it. */
static int fork_worker(int proc, int child)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid)
		work(child);
	shared->pids[child] = pid;
	memcpy(shared->fds[child], shared->fds[proc], sizeof(shared->fds[0]));
	return pid < 0 ? -errno : 0;
}

static int serve(const struct op *op)
{
	switch (op->what) {
	case FORK:	return fork_worker(op->proc, op->other);
	case CREATE:	return create_object(op);
	case DESTROY:	return destroy_object(op);
	case SHARE:	return take_context(op);
	case REREG:	return rereg_mr(op);
	case ATTACH:
	case DETACH:	return attach(op);
	case BIND:	return bind_cm_id(op);
	default:
		abort();
	}
}

void work(int proc)
{
	char byte;

	for (;;) {
		if (read(channels[proc][1], &byte, 1) != 1)
			_exit(1);
		shared->error = serve(&shared->op);
		if (write(channels[proc][1], &byte, 1) != 1)
			_exit(1);
	}
}
