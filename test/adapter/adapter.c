// SPDX-License-Identifier: GPL-2.0
/*
 * Check the charges of vmw_pvrdma, whose driver pins the queues of a program. A queue is charged
 * for the pages of its rings, a limit on memory refuses the queue, and all charges are returned.
 * Prints "ok" or "not ok" for each claim.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE	"vmw_pvrdma0"
#define CGROUP	"/sys/fs/cgroup/tenant/"
#define PAGE	4096

static bool failed;

static void claim(bool holds, const char *what)
{
	printf("%s adapter: %s\n", holds ? "ok" : "not ok", what);
	failed |= !holds;
}

/* The value of @key in the device's line of a file of the cgroup, or -1 without the key. */
static long long value(const char *file, const char *key)
{
	char path[128], word[128], line[4096], *found;
	long long result = -1;
	FILE *stream;

	snprintf(word, sizeof(word), " %s=", key);
	snprintf(path, sizeof(path), CGROUP "%s", file);
	stream = fopen(path, "r");
	if (!stream)
		return -1;
	while (result < 0 && fgets(line, sizeof(line), stream)) {
		found = strstr(line, word);
		if (found && !strncmp(line, DEVICE " ", strlen(DEVICE) + 1))
			result = atoll(found + strlen(word));
	}
	fclose(stream);
	return result;
}

static long long usage(const char *key)
{
	return value("rdma.verb.current", key);
}

static void limit(const char *limits)
{
	char line[256];
	int fd = open(CGROUP "rdma.verb.max", O_WRONLY);
	int len = snprintf(line, sizeof(line), DEVICE " %s", limits);

	if (fd < 0 || write(fd, line, len) != len)
		claim(false, limits);
	close(fd);
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), DEVICE))
			return ibv_open_device(list[i]);
	return NULL;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 512, .max_send_sge = 1,
			 .max_recv_wr = 3, .max_recv_sge = 1 },
	};

	return ibv_create_qp(pd, &init);
}

/* The numbers of pages are cq_bytes, and send_bytes plus recv_bytes, of "rdmacg plan qemu". */
static void queues(struct ibv_context *context, struct ibv_pd *pd)
{
	struct ibv_cq *cq = ibv_create_cq(context, 1536, NULL, NULL, 0);
	struct ibv_qp *qp;
	char text[64];

	claim(cq && usage("mr_mem") == 33 * PAGE, "a CQ of 1536 entries costs 33 pages");
	qp = make_qp(pd, cq);
	claim(qp && usage("mr_mem") == 51 * PAGE, "both rings of a QP cost 18 pages");
	snprintf(text, sizeof(text), "mr_mem=%d", 52 * PAGE);
	limit(text);
	claim(!make_qp(pd, cq) && errno == EAGAIN, "a limit of mr_mem refuses a QP with EAGAIN");
	claim(usage("mr_mem") == 51 * PAGE && usage("qp") == 1, "the refused QP leaves no usage");
	claim(value("rdma.verb.events", "mr_mem.max") == 1, "the events count the refused QP");
	limit("mr_mem=max");
	claim(qp && !ibv_destroy_qp(qp) && usage("mr_mem") == 33 * PAGE,
	      "a QP gives its rings back");
	claim(cq && !ibv_destroy_cq(cq) && usage("mr_mem") == 0, "a CQ gives its ring back");
}

/*
 * The program that has objects on the adapter. After the last claim, the program writes a byte to
 * @ready.
 */
static void tenant(int ready)
{
	struct ibv_context *context = open_device();
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq;

	claim(pd && value("rdma.current", "hca_handle") == 1, "the adapter can be opened");
	if (!pd)
		exit(1);
	claim(usage("mr_mem") == 0, "a context and a PD pin nothing");
	queues(context, pd);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	claim(cq && make_qp(pd, cq), "objects exist when the adapter is removed");
	if (write(ready, failed ? "1" : "0", 1) == 1)
		pause();
	exit(1);
}

/*
 * Remove the adapter while @program has objects on the adapter. The kernel waits until the program
 * ends.
 */
static void unplug(pid_t program)
{
	char path[256], target[256] = "";
	int fd, status = 1;
	ssize_t len;
	pid_t pid;

	len = readlink("/sys/class/infiniband/" DEVICE "/device", target, sizeof(target) - 1);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove",
		 len > 0 ? strrchr(target, '/') + 1 : "");
	pid = fork();
	if (!pid) {
		fd = open(path, O_WRONLY);
		_exit(write(fd, "1", 1) != 1);
	}
	usleep(500000);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	waitpid(pid, &status, 0);
	claim(!status && value("rdma.current", "hca_handle") < 0,
	      "the adapter goes, and its lines with it");
}

int main(void)
{
	int fd, ready[2];
	char byte = '1';
	pid_t program;

	setlinebuf(stdout);
	mkdir(CGROUP, 0755);
	fd = open(CGROUP "cgroup.procs", O_WRONLY);
	claim(fd >= 0 && write(fd, "0", 1) == 1, "the cgroup gets the controller");
	if (pipe(ready))
		return 1;
	program = fork();
	if (!program) {
		close(ready[0]);
		tenant(ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		unplug(program);
	return failed || byte != '0';
}
