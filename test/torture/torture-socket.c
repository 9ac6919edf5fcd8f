// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors with sockets of RDS and SMC, for which the kernel creates objects. RDS and SMC
 * have devices of their own, with addresses. SMC finds a device for a local address only on the
 * loopback link. The device of RDS is removed and created while sockets use it. No actor removes
 * the device or the module of SMC: while sockets are created and closed, the removal may wait
 * without end, even with stock.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/rds.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../tools/testing/selftests/cgroup/rdma_smc_util.h"
#include "torture.h"

#ifndef AF_RDS
#define AF_RDS 21
#endif

#define RDS_ADDRESS	"198.18.0.1"
#define SMC_ADDRESS	"198.18.0.2"
#define ADD_RDS		"rdma link add rxerds type rxe netdev torrds"
#define QUIETLY		" >/dev/null 2>&1"
/*
 * The number of ports of SMC, and the number of types of service of RDS. Each type of service has a
 * connection of its own.
 */
#define PORTS		4
#define LIFE_STEPS	40
#define LIFE_SOCKETS	8

/* Without a user EID, SMC does not use Soft-RoCE. */
void torture_socket_init(void)
{
	if (getenv("SMC") && !rdmacg_add_eid())
		unsetenv("SMC");
}

static struct sockaddr_in address_of(const char *text, unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = inet_addr(text);
	return address;
}

/* Report the outcome of a call of RDS, which returns EDQUOT at a limit. */
static void rds_did(const char *what, int ret)
{
	int error = ret < 0 ? errno : 0;

	if (error == EDQUOT)
		error = EAGAIN;
	torture_did(what, error,
		    EXCUSE_DEVICE(EADDRNOTAVAIL, ENOTCONN, EOPNOTSUPP, ENOBUFS, EBUSY, EINVAL,
				  ENETUNREACH, EHOSTUNREACH));
}

/*
 * Send a message to the socket itself. If @bytes is not 0, the message maps this amount of memory.
 */
static void rds_send(int fd, struct sockaddr_in *address, char *memory, size_t bytes)
{
	static rds_rdma_cookie_t cookie;
	struct rds_get_mr_args args = {
		.vec = { .addr = (uintptr_t)memory, .bytes = bytes },
		.cookie_addr = (uintptr_t)&cookie,
		.flags = torture_random(2) ? RDS_RDMA_USE_ONCE : RDS_RDMA_INVALIDATE,
	};
	struct rds_free_mr_args free_args = { };
	char control[CMSG_SPACE(sizeof(args))] = "";
	struct cmsghdr *cmsg = (struct cmsghdr *)control;
	struct iovec iov = { .iov_base = "x", .iov_len = 1 };
	struct msghdr msg = {
		.msg_name = address, .msg_namelen = sizeof(*address),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = bytes ? sizeof(control) : 0,
	};

	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = RDS_CMSG_RDMA_MAP;
	cmsg->cmsg_len = CMSG_LEN(sizeof(args));
	memcpy(CMSG_DATA(cmsg), &args, sizeof(args));
	cookie = 0;
	rds_did(bytes ? "map with RDS" : "send with RDS", sendmsg(fd, &msg, MSG_DONTWAIT));
	if (!cookie || torture_random(2))
		return;
	free_args.cookie = cookie;
	free_args.flags = torture_random(2) ? RDS_RDMA_INVALIDATE : 0;
	/* Ignore an error, because a single-use region may already be removed. */
	setsockopt(fd, SOL_RDS, RDS_FREE_MR, &free_args, sizeof(free_args));
}

/* Open a socket for this type of service, with its address. Returns -1 without a device. */
static int rds_open(unsigned char tos, struct sockaddr_in *address)
{
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	socklen_t length = sizeof(*address);

	*address = address_of(RDS_ADDRESS, 0);
	if (fd >= 0 && !bind(fd, (void *)address, sizeof(*address)) &&
	    !getsockname(fd, (void *)address, &length) && !ioctl(fd, SIOCRDSSETTOS, &tos))
		return fd;
	close(fd);
	return -1;
}

static void rds_life(char *memory)
{
	int steps = torture_random(LIFE_STEPS), fd;
	struct sockaddr_in address;
	char byte;

	fd = rds_open(torture_random(PORTS), &address);
	if (fd < 0)
		rds_did("socket of RDS", fd);
	while (fd >= 0 && steps-- && torture_running()) {
		rds_send(fd, &address, memory, torture_random(3) << 12);
		while (recv(fd, &byte, 1, MSG_DONTWAIT) == 1)
			;
		torture_pause(5000);
	}
	close(fd);
}

static void smc_did(const char *what, int ret)
{
	torture_did(what, ret < 0 ? errno : 0,
		    EXCUSE_DEVICE(EADDRINUSE, ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE,
				  ETIMEDOUT, ENOTCONN, EPROTO, EBADF));
}

/* Listen, and open some connections to listeners. Does not use @memory. */
static void smc_life(char *memory)
{
	struct sockaddr_in address = address_of(SMC_ADDRESS, 4711 + torture_random(PORTS));
	int listener = socket(AF_SMC, SOCK_STREAM, 0), sockets[LIFE_SOCKETS], one = 1;
	unsigned int count = 0, wanted = 1 + torture_random(LIFE_SOCKETS), i;

	if (listener < 0) {
		smc_did("socket of SMC", -1);
		return;
	}
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	smc_did("bind with SMC", bind(listener, (void *)&address, sizeof(address)));
	smc_did("listen with SMC", listen(listener, 64));
	while (count < wanted && torture_running()) {
		address.sin_port = htons(4711 + torture_random(PORTS));
		sockets[count] = socket(AF_SMC, SOCK_STREAM, 0);
		smc_did("connect with SMC", connect(sockets[count], (void *)&address,
						    sizeof(address)));
		send(sockets[count++], &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
		torture_pause(20000);
	}
	for (i = 0; i < count; i++)
		close(sockets[i]);
	close(listener);
}

/* Start a process in some cgroup, and kill the process at any point of its work. */
static void live(void (*life)(char *memory))
{
	pid_t child = torture_fork();
	char *memory;

	if (child > 0) {
		torture_pause(2000000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (child)
		return;
	torture_enter();
	memory = mmap(NULL, 3 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (torture_running())
		life(memory);
	_exit(0);
}

void torture_rds(void)
{
	live(rds_life);
}

void torture_smc(void)
{
	live(smc_life);
}

/* Remove the device under the sockets of RDS, and create it again. */
void torture_replug(void)
{
	torture_pause(4000000);
	torture_did("unplug", system("rdma link del rxerds" QUIETLY) ? ENODEV : 0, EXCUSE(ENODEV));
	torture_pause(100000);
	torture_did("plug", system(ADD_RDS QUIETLY) ? ENODEV : 0, EXCUSE(ENODEV));
}
