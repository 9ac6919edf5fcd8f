// SPDX-License-Identifier: GPL-2.0
/*
 * The same operations on a real kernel, with cgroup v2 at /sys/fs/cgroup, or v1 below it,
 * and the devices of test/differential/guest. Worker processes do what the generator
 * requests, one at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay-kernel.h"

static pid_t pids[PROCS];
int channels[PROCS][2];
/* NONE where the process has none. */
static int context_fds[PROCS][CONTEXTS];
static int object_fds[PROCS][OBJECTS];
static int cm_fds[PROCS][CM_IDS];
static __u32 handles[OBJECTS], cm_handles[CM_IDS];
char *memory;

void die(const char *what)
{
	fprintf(stderr, "replay: %s: %m\n", what);
	exit(2);
}

/* ---- cgroups ---- */

static void set_path(char *path, size_t size, int dir, const char *file)
{
	snprintf(path, size, "/sys/fs/cgroup%s%s/%s", on_v1 ? "/rdma" : "", dirs[dir].path, file);
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

/* ---- processes ---- */

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
	memset(cm_fds[proc], NONE, sizeof(cm_fds[proc]));
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
	memcpy(cm_fds[op->other], cm_fds[op->proc], sizeof(cm_fds[0]));
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

/* An object that was destroyed with its context leaves an fd behind, which is not counted. */
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

/* CM_BIND, CM_CLOSE. */
static int do_with_cm_id(const struct op *op)
{
	struct request request = {
		.op = *op,
		.fd = cm_fds[op->proc][op->cm_id],
		.handle = cm_handles[op->cm_id],
	};
	struct reply reply;

	if (op->what == CM_CLOSE)
		cm_fds[op->proc][op->cm_id] = NONE;
	return call(op->proc, &request, &reply);
}

static int do_cm_create(const struct op *op)
{
	struct request request = { .op = *op };
	struct reply reply;
	int error = call(op->proc, &request, &reply);

	cm_fds[op->proc][op->cm_id] = reply.value;
	cm_handles[op->cm_id] = reply.handle;
	return error;
}

static void print_device(const struct ib_uverbs_query_device_resp *device, char *answer)
{
	const __u64 most[RESOURCES] = {
		[PD] = device->max_pd, [CQ] = device->max_cq, [QP] = device->max_qp,
		[SRQ] = device->max_srq, [AH] = device->max_ah, [MR] = device->max_mr,
		[MW] = device->max_mw, [MR_MEM] = device->max_mr_size,
	};

	print_query(answer, most);
}

/* ---- the interface ---- */

/*
 * Messages are faster on one processor. It also ensures that a process that was waited for has
 * left its cgroup, which happens when its processor switches to another process.
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
	memset(cm_fds, NONE, sizeof(cm_fds));
	/* The last page cannot be read, and nothing else can be mapped there. */
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
	case CM_CREATE:	return do_cm_create(op);
	case CM_BIND:
	case CM_CLOSE:	return do_with_cm_id(op);
	case QUERY:
		error = do_with_object(op, &reply);
		if (!error)
			print_device(&reply.device, answer);
		return error;
	default:
		abort();
	}
}
