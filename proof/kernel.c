// SPDX-License-Identifier: GPL-2.0
/*
 * The same operations on a real kernel: cgroup v2 at /sys/fs/cgroup, Soft-RoCE devices
 * rxe0 and rxe1, and worker processes that do what the generator tells them, one
 * at a time. Workers talk to uverbs directly: libibverbs would make objects of its
 * own, map their queues, which keeps a context open after its close, and does
 * not let one process destroy what another has made.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay.h"

#define CGROUPS "/sys/fs/cgroup"
#define MEMORY_SIZE 0x100000
#define QPT_UD 4
#define ACCESS_LOCAL_WRITE 1
#define REREG_TRANS 1

struct request {
	struct op op;
	int fd;			/* of the context, or of an object that has one */
	__u32 handle;	/* of the object */
	__u32 pd, cq;
	pid_t pid;		/* SHARE: who has the fd */
};

struct reply {
	int error;
	__u32 value;		/* a handle, an fd or a pid */
	struct ib_uverbs_query_device_resp device;
};

static pid_t pids[PROCS];
/* Requests go in at [0], workers read at [1]. */
static int channels[PROCS][2];
/* NONE where the process has none. */
static int context_fds[PROCS][CONTEXTS];
static int object_fds[PROCS][OBJECTS];
static __u32 handles[OBJECTS];
static char *memory;

static void die(const char *what)
{
	fprintf(stderr, "replay: %s: %m\n", what);
	exit(2);
}

/* ---- uverbs, in the worker ---- */

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
	/* What fits into the attribute is passed in it. */
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

/* Responses begin with the handle, and rxe's with where to map queues. */
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

/* A link-local address, so that no neighbour is asked. */
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

static void work(int proc);

/* The child is the generator's, who is to wait for it. */
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
	default:
		abort();
	}
}

static void work(int proc)
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

/* ---- cgroups, in the generator ---- */

static void set_path(char *path, size_t size, int dir, const char *file)
{
	snprintf(path, size, CGROUPS "%s/%s", dirs[dir].path, file);
}

static int make_dir(int dir)
{
	char path[256];

	set_path(path, sizeof(path), dir, "");
	return mkdir(path, 0755) ? -errno : 0;
}

static int remove_dir(int dir)
{
	char path[256];

	set_path(path, sizeof(path), dir, "");
	return rmdir(path) ? -errno : 0;
}

static int write_file(int dir, const char *name, const char *text, size_t len)
{
	char path[256];
	ssize_t written;
	int fd, error;

	set_path(path, sizeof(path), dir, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	written = write(fd, text, len);
	error = written < 0 ? -errno : written == (ssize_t)len ? 0 : -EIO;
	close(fd);
	return error;
}

static int read_file(int dir, const char *name, char *text)
{
	size_t len = 0;
	char path[256];
	ssize_t count;
	int fd;

	set_path(path, sizeof(path), dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	while ((count = read(fd, text + len, ANSWER_SIZE - 1 - len)) > 0)
		len += count;
	close(fd);
	text[len] = '\0';
	return count < 0 ? -EIO : 0;
}

static int enter(int dir, pid_t pid)
{
	char text[16];

	return write_file(dir, "cgroup.procs", text, snprintf(text, sizeof(text), "%d", pid));
}

/* ---- processes, in the generator ---- */

static int call(int proc, const struct request *request, struct reply *reply)
{
	if (write(channels[proc][0], request, sizeof(*request)) != sizeof(*request) ||
	    read(channels[proc][0], reply, sizeof(*reply)) != sizeof(*reply))
		die("a worker");
	return reply->error;
}

static int spawn(int proc)
{
	pids[proc] = fork();
	if (pids[proc] < 0)
		die("fork");
	if (!pids[proc])
		work(proc);
	return 0;
}

static int kill_worker(int proc)
{
	if (kill(pids[proc], SIGKILL) || waitpid(pids[proc], NULL, 0) != pids[proc])
		die("kill");
	memset(context_fds[proc], NONE, sizeof(context_fds[proc]));
	memset(object_fds[proc], NONE, sizeof(object_fds[proc]));
	return 0;
}

static int fork_process(const struct op *op)
{
	struct request request = { .op = *op };
	struct reply reply;

	if (call(op->proc, &request, &reply))
		return reply.error;
	pids[op->other] = reply.value;
	memcpy(context_fds[op->other], context_fds[op->proc], sizeof(context_fds[0]));
	memcpy(object_fds[op->other], object_fds[op->proc], sizeof(object_fds[0]));
	return 0;
}

static int do_open(const struct op *op)
{
	struct request request = { .op = *op };
	struct reply reply;
	int error = call(op->proc, &request, &reply);

	if (!error)
		context_fds[op->proc][op->ctx] = reply.value;
	return error;
}

static int do_close(const struct op *op)
{
	struct request request = { .op = *op, .fd = context_fds[op->proc][op->ctx] };
	struct reply reply;

	context_fds[op->proc][op->ctx] = NONE;
	return call(op->proc, &request, &reply);
}

static int do_share(const struct op *op)
{
	struct request request = {
		.op = *op,
		.fd = context_fds[op->proc][op->ctx],
		.pid = pids[op->proc],
	};
	struct reply reply;
	int error = call(op->other, &request, &reply);

	if (!error)
		context_fds[op->other][op->ctx] = reply.value;
	return error;
}

/* Of an object whose context went before it, an fd is left, which costs nothing. */
static void close_remains(int object)
{
	struct request request = { .op.what = CLOSE };
	struct reply reply;
	int proc;

	for (proc = 0; proc < PROCS; proc++) {
		request.fd = object_fds[proc][object];
		if (request.fd == NONE)
			continue;
		object_fds[proc][object] = NONE;
		call(proc, &request, &reply);
	}
}

static int do_create(const struct op *op)
{
	struct request request = { .op = *op, .fd = context_fds[op->proc][op->ctx] };
	struct reply reply;
	int error;

	close_remains(op->object);
	if (op->pd != NONE)
		request.pd = handles[op->pd];
	if (op->cq != NONE)
		request.cq = handles[op->cq];
	error = call(op->proc, &request, &reply);
	if (error)
		return error;
	if (is_fd_type(op->type))
		object_fds[op->proc][op->object] = reply.value;
	else
		handles[op->object] = reply.value;
	return 0;
}

/* DESTROY, REREG, ATTACH, DETACH, QUERY. */
static int do_with_object(const struct op *op, struct reply *reply)
{
	struct request request = { .op = *op, .fd = context_fds[op->proc][op->ctx] };

	if (op->what == DESTROY && is_fd_type(op->type)) {
		request.fd = object_fds[op->proc][op->object];
		object_fds[op->proc][op->object] = NONE;
	} else if (op->what != QUERY) {
		request.handle = handles[op->object];
	}
	return call(op->proc, &request, reply);
}

/* The device has more of everything than is worth telling apart. */
static void print_device(const struct ib_uverbs_query_device_resp *device, char *answer)
{
	const struct {
		enum resource type;
		__u32 most;
	} types[] = {
		{ PD, device->max_pd }, { CQ, device->max_cq }, { QP, device->max_qp },
		{ SRQ, device->max_srq }, { AH, device->max_ah }, { MR, device->max_mr },
		{ MW, device->max_mw },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		answer += sprintf(answer, types[i].most < 1000 ? "%s=%u " : "%s=many ",
				  resource_names[types[i].type], types[i].most);
	sprintf(answer, device->max_mr_size < NO_LIMIT ? "%s=%llu" : "%s=many",
		resource_names[MR_MEM], device->max_mr_size);
}

/* ---- the interface ---- */

/*
 * All on one processor: messages are faster, and a process that has been waited for
 * has left its cgroup, which it does when its processor turns to another.
 */
static void use_one_processor(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		die("sched_setaffinity");
}

void kernel_start(void)
{
	int i;

	use_one_processor();
	memset(context_fds, NONE, sizeof(context_fds));
	memset(object_fds, NONE, sizeof(object_fds));
	/* No access to the last page, and nothing else can come to lie there. */
	memory = mmap(NULL, MEMORY_SIZE + 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + MEMORY_SIZE, 4096, PROT_NONE))
		die("memory");
	for (i = 0; i < PROCS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channels[i]))
			die("socketpair");
}

int kernel_do(const struct op *op, char *answer)
{
	struct reply reply;
	int error;

	switch (op->what) {
	case MKDIR:	return make_dir(op->dir);
	case RMDIR:	return remove_dir(op->dir);
	case DELEGATE:	return write_file(op->dir, "cgroup.subtree_control",
					  op->on ? "+rdma" : "-rdma", 5);
	case READ:	return read_file(op->dir, file_name(op->file), answer);
	case WRITE:	return write_file(op->dir, file_name(op->file), op->text, op->text_len);
	case SPAWN:	return spawn(op->proc);
	case FORK:	return fork_process(op);
	case KILL:	return kill_worker(op->proc);
	case ENTER:	return enter(op->dir, pids[op->proc]);
	case OPEN:	return do_open(op);
	case CLOSE:	return do_close(op);
	case SHARE:	return do_share(op);
	case CREATE:	return do_create(op);
	case DESTROY:
	case REREG:
	case ATTACH:
	case DETACH:	return do_with_object(op, &reply);
	case QUERY:
		error = do_with_object(op, &reply);
		if (!error)
			print_device(&reply.device, answer);
		return error;
	default:
		abort();
	}
}
