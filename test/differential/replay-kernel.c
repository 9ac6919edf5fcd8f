// SPDX-License-Identifier: GPL-2.0
/*
 * The operations on the kernel, with cgroup v2 at /sys/fs/cgroup, or v1 below it, and the devices
 * of test/differential/guest. Each process of the test is a worker, which does the operations of
 * the main process one at a time.
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

#include "replay.h"

struct shared *shared;
int channels[PROCS][2];

void die(const char *what)
{
	fprintf(stderr, "replay: %s: %m\n", what);
	exit(2);
}

/* ---- cgroups ---- */

/* Returns the path of a file of the cgroup, or of its directory, valid until the next call. */
static const char *path_of(int dir, const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/%s", on_v1 ? "/rdma" : "",
		 dirs[dir].path, file);
	return path;
}

static int error_of(int ret)
{
	return ret ? -errno : 0;
}

/* Let the @nth allocation of this thread fail. If @nth is 0, no allocation fails. */
static void fail_nth(unsigned int nth)
{
	static int fd = NONE;
	char digits[16];
	int len = snprintf(digits, sizeof(digits), "%u", nth);

	if (fd == NONE)
		fd = open("/proc/thread-self/fail-nth", O_WRONLY | O_CLOEXEC);
	if (pwrite(fd, digits, len, 0) != len)
		die("fail-nth (CONFIG_FAULT_INJECTION?)");
}

static int write_file(int dir, const char *name, const char *text, size_t len, unsigned int nth)
{
	int fd = open(path_of(dir, name), O_WRONLY), error;
	ssize_t written;

	if (fd < 0)
		return -errno;
	if (nth)
		fail_nth(nth);
	written = write(fd, text, len);
	error = written < 0 ? -errno : written == (ssize_t)len ? 0 : -EIO;
	if (nth)
		fail_nth(0);
	close(fd);
	return error;
}

static int read_file(int dir, const char *name, char *text)
{
	int fd = open(path_of(dir, name), O_RDONLY);
	size_t len = 0;
	ssize_t count;

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

	return write_file(dir, "cgroup.procs", text, snprintf(text, sizeof(text), "%d", pid), 0);
}

/* ---- processes ---- */

static int spawn(int proc)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		work(proc);
	shared->pids[proc] = pid;
	return 0;
}

static int kill_worker(pid_t pid)
{
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		die("kill");
	return 0;
}

/* Let a worker do the operation. */
static int request(const struct op *op)
{
	int channel = channels[op->what == SHARE ? op->other : op->proc][0];
	char byte = 0;

	shared->op = *op;
	if (write(channel, &byte, 1) != 1 || read(channel, &byte, 1) != 1)
		die("a worker");
	return shared->error;
}

/* ---- the interface ---- */

/*
 * Use one processor, because messages between processes are then faster. Also, an ended process
 * leaves its cgroup when its processor switches to another process. So the process has left its
 * cgroup when this process continues.
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
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED || mprotect(shared->memory + MEMORY_SIZE, 4096, PROT_NONE))
		die("memory");
	for (i = 0; i < PROCS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channels[i]))
			die("socketpair");
}

int kernel_do(const struct op *op, char *answer)
{
	switch (op->what) {
	case MKDIR:	return error_of(mkdir(path_of(op->dir, ""), 0755));
	case RMDIR:	return error_of(rmdir(path_of(op->dir, "")));
	case DELEGATE:	return write_file(op->dir, "cgroup.subtree_control",
					  op->on ? "+rdma" : "-rdma", 5, 0);
	case READ:	return read_file(op->dir, file_name(op->file), answer);
	case WRITE:	return write_file(op->dir, file_name(op->file), op->text, op->text_len,
					  op->nth);
	case SPAWN:	return spawn(op->proc);
	case KILL:	return kill_worker(shared->pids[op->proc]);
	case ENTER:	return enter(op->dir, shared->pids[op->proc]);
	default:	return request(op);
	}
}
