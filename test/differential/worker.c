// SPDX-License-Identifier: GPL-2.0
/*
 * worker CHANNEL: create and destroy objects on request, until killed. The worker calls uverbs and
 * rdma_cm directly. libibverbs would create objects of its own and map queues, which keep a context
 * open after its close. libibverbs also does not let a process destroy objects of another process.
 *
 * A request is the text "FD HANDLE PD CQ NUMBER LENGTH WHAT:PATH", in which WHAT is a row of
 * actions[]. The answer is "ERROR FD HANDLE".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define QPT_UD 4
#define ACCESS_LOCAL_WRITE 1
#define REREG_TRANS 1
#define MEMORY_SIZE 0x100000

/* MEMORY_SIZE bytes to register, and a page after them that cannot be read. */
static char *memory;

static struct {
	int fd;			/* the context, or the object */
	__u32 handle, pd, cq;
	int number;		/* depends on the action */
	unsigned long long length;
	char what[32];
	char path[64];
} request;

/* The new object. */
static int new_fd;
static __u32 new_handle;

static void serve(int channel);

static int error_of(long ret)
{
	return ret < 0 ? errno : 0;
}

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
	/* The kernel reads a small input from the attribute itself. */
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
	return error_of(ioctl(fd, RDMA_VERBS_IOCTL, cmd));
}

/*
 * Do a command of the write() interface. A response begins with the handle, which can be an fd.
 * rxe's own part has the offsets for mapping queues.
 */
static int invoke(__u64 number, const void *in, size_t in_len)
{
	struct command cmd = { .hdr.num_attrs = 0 };
	__u64 driver_out[16];
	__u32 out[16] = { 0 };
	int error;

	add_attr(&cmd, UVERBS_ATTR_WRITE_CMD, &number, sizeof(number), true);
	add_attr(&cmd, UVERBS_ATTR_CORE_IN, in, in_len, true);
	add_attr(&cmd, UVERBS_ATTR_CORE_OUT, out, sizeof(out), false);
	add_attr(&cmd, UVERBS_ATTR_UHW_OUT, driver_out, sizeof(driver_out), false);
	error = submit(request.fd, &cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	new_fd = out[0];
	new_handle = out[0];
	return error;
}

static int open_context(__u64 command)
{
	struct command cmd = { .hdr.num_attrs = 0 };
	int error;

	new_fd = open(request.path, O_RDWR);
	if (new_fd < 0)
		return errno;
	error = submit(new_fd, &cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	if (error)
		close(new_fd);
	return error;
}

/* A PD and a completion channel need no other object. */
static int create_plain(__u64 command)
{
	struct ib_uverbs_alloc_pd in = { 0 };

	return invoke(command, &in, sizeof(in));
}

static int create_async_event(__u64 command)
{
	struct command cmd = { .hdr.num_attrs = 0 };
	int error;

	add_attr(&cmd, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, NULL, 0, false);
	error = submit(request.fd, &cmd, UVERBS_OBJECT_ASYNC_EVENT,
		       UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	new_fd = cmd.attrs[0].data;
	return error;
}

/* If request.number is 1, ask for too many entries. */
static int create_cq(__u64 command)
{
	struct ib_uverbs_create_cq in = {
		.comp_channel = -1, .cqe = request.number ? 1 << 30 : 1
	};

	return invoke(command, &in, sizeof(in));
}

static int create_qp(__u64 command)
{
	struct ib_uverbs_create_qp in = {
		.pd_handle = request.pd, .send_cq_handle = request.cq, .recv_cq_handle = request.cq,
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
		.qp_type = QPT_UD,
	};

	return invoke(command, &in, sizeof(in));
}

static int create_srq(__u64 command)
{
	struct ib_uverbs_create_srq in = { .pd_handle = request.pd, .max_wr = 1, .max_sge = 1 };

	return invoke(command, &in, sizeof(in));
}

/* A link-local address, because creating an AH then needs no neighbour discovery. */
static int create_ah(__u64 command)
{
	struct ib_uverbs_create_ah in = {
		.pd_handle = request.pd,
		.attr.grh.dgid = { 0xfe, 0x80, [8] = 2, [11] = 0xff, [12] = 0xfe, [15] = 1 },
		.attr.is_global = 1,
		.attr.port_num = 1,
	};

	return invoke(command, &in, sizeof(in));
}

/* If request.number is 1, use the page that cannot be read. */
static int create_mr(__u64 command)
{
	uintptr_t start = (uintptr_t)memory + request.number * MEMORY_SIZE;
	struct ib_uverbs_reg_mr in = {
		.pd_handle = request.pd, .start = start, .hca_va = start, .length = request.length,
		.access_flags = ACCESS_LOCAL_WRITE,
	};

	return invoke(command, &in, sizeof(in));
}

static int create_mw(__u64 command)
{
	struct ib_uverbs_alloc_mw in = { .pd_handle = request.pd, .mw_type = 1 };

	return invoke(command, &in, sizeof(in));
}

static int destroy(__u64 command)
{
	return invoke(command, &request.handle, sizeof(request.handle));
}

/* Destroy a CQ, a QP or an SRQ. The three commands have the same form. */
static int destroy_with_events(__u64 command)
{
	struct ib_uverbs_destroy_qp in = { .qp_handle = request.handle };

	return invoke(command, &in, sizeof(in));
}

static int rereg_mr(__u64 command)
{
	struct ib_uverbs_rereg_mr in = {
		.mr_handle = request.handle,
		.flags = REREG_TRANS,
		.start = (uintptr_t)memory,
		.hca_va = (uintptr_t)memory,
		.length = request.length,
	};

	return invoke(command, &in, sizeof(in));
}

/* request.number is the multicast group. */
static int join_or_leave(__u64 command)
{
	struct ib_uverbs_attach_mcast in = {
		.gid = { 0xff, 0x0e, [15] = request.number + 1 },
		.qp_handle = request.handle,
	};

	return invoke(command, &in, sizeof(in));
}

/* Do a command of rdma_cm. */
static int cm_write(int fd, __u64 number, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		char in[256];
	} cmd = { .hdr = { .cmd = number, .in = in_len, .out = out_len } };

	memcpy(cmd.in, in, in_len);
	return error_of(write(fd, &cmd, sizeof(cmd.hdr) + in_len));
}

/* Each identifier has an fd of its own, and is destroyed when this fd is closed. */
static int create_cm_id(__u64 command)
{
	struct rdma_ucm_create_id_resp out = { .id = 0 };
	struct rdma_ucm_create_id in = { .response = (uintptr_t)&out, .ps = RDMA_PS_TCP };
	int error;

	new_fd = open("/dev/infiniband/rdma_cm", O_RDWR);
	if (new_fd < 0)
		return errno;
	error = cm_write(new_fd, command, &in, sizeof(in), sizeof(out));
	new_handle = out.id;
	return error;
}

/* request.number is the device. vm/init and test/differential/guest set these addresses. */
static int bind_cm_id(__u64 command)
{
	const char *text = request.number ? "198.51.100.1" : "192.0.2.1";
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(text) };
	struct rdma_ucm_bind in = { .id = request.handle, .addr_size = sizeof(address) };

	memcpy(&in.addr, &address, sizeof(address));
	return cm_write(request.fd, command, &in, sizeof(in), 0);
}

/* Take a context from another process, whose pid is request.number. */
static int take_context(__u64 command)
{
	int pidfd = syscall(SYS_pidfd_open, request.number, 0);

	if (pidfd < 0)
		return errno;
	new_fd = syscall(SYS_pidfd_getfd, pidfd, request.fd, 0);
	close(pidfd);
	return error_of(new_fd);
}

static int close_object(__u64 command)
{
	return error_of(close(request.fd));
}

/*
 * request.fd is the channel of the child. The child's parent is the process that waits for workers.
 * The answer has the pid of the child in the place of an fd.
 */
static int fork_worker(__u64 command)
{
	new_fd = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!new_fd)
		serve(request.fd);
	return error_of(new_fd);
}

static const struct {
	const char *what;
	int (*act)(__u64 command);
	__u64 command;
} actions[] = {
	{ "fork", fork_worker },
	{ "open context", open_context },
	{ "share", take_context },
	{ "close", close_object },
	{ "create pd", create_plain, IB_USER_VERBS_CMD_ALLOC_PD },
	{ "create comp_channel", create_plain, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL },
	{ "create async_event", create_async_event },
	{ "create cq", create_cq, IB_USER_VERBS_CMD_CREATE_CQ },
	{ "create qp", create_qp, IB_USER_VERBS_CMD_CREATE_QP },
	{ "create srq", create_srq, IB_USER_VERBS_CMD_CREATE_SRQ },
	{ "create ah", create_ah, IB_USER_VERBS_CMD_CREATE_AH },
	{ "create mr", create_mr, IB_USER_VERBS_CMD_REG_MR },
	{ "create mw", create_mw, IB_USER_VERBS_CMD_ALLOC_MW },
	{ "create cm_id", create_cm_id, RDMA_USER_CM_CMD_CREATE_ID },
	{ "destroy pd", destroy, IB_USER_VERBS_CMD_DEALLOC_PD },
	{ "destroy cq", destroy_with_events, IB_USER_VERBS_CMD_DESTROY_CQ },
	{ "destroy qp", destroy_with_events, IB_USER_VERBS_CMD_DESTROY_QP },
	{ "destroy srq", destroy_with_events, IB_USER_VERBS_CMD_DESTROY_SRQ },
	{ "destroy ah", destroy, IB_USER_VERBS_CMD_DESTROY_AH },
	{ "destroy mr", destroy, IB_USER_VERBS_CMD_DEREG_MR },
	{ "destroy mw", destroy, IB_USER_VERBS_CMD_DEALLOC_MW },
	{ "rereg", rereg_mr, IB_USER_VERBS_CMD_REREG_MR },
	{ "attach", join_or_leave, IB_USER_VERBS_CMD_ATTACH_MCAST },
	{ "detach", join_or_leave, IB_USER_VERBS_CMD_DETACH_MCAST },
	{ "bind", bind_cm_id, RDMA_USER_CM_CMD_BIND },
};

static int act(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(actions[i].what, request.what))
			return actions[i].act(actions[i].command);
	fprintf(stderr, "worker: %s is unknown\n", request.what);
	exit(2);
}

/* Answer requests until killed. */
static void serve(int channel)
{
	char text[256];
	ssize_t len;
	int error;

	while ((len = read(channel, text, sizeof(text) - 1)) > 0) {
		text[len] = '\0';
		request.path[0] = '\0';
		if (sscanf(text, "%d %u %u %u %d %llu %31[^:]:%63s", &request.fd, &request.handle,
			   &request.pd, &request.cq, &request.number, &request.length,
			   request.what, request.path) < 7)
			break;
		error = act();
		len = sprintf(text, "%d %d %u", error, new_fd, new_handle);
		if (write(channel, text, len) != len)
			break;
	}
	exit(2);
}

int main(int argc, char *argv[])
{
	memory = mmap(NULL, MEMORY_SIZE + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + MEMORY_SIZE, 4096, PROT_NONE))
		return 2;
	serve(atoi(argv[1]));
}
