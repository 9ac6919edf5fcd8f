/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests of RDS over RDMA. They create a device with an address, and actors with
 * sockets that connect this address to itself.
 */
#ifndef RDMA_RDS_UTIL_H
#define RDMA_RDS_UTIL_H

#include <arpa/inet.h>
#include <linux/rds.h>
#include <sys/mman.h>

#include "rdma_actor_util.h"

#ifndef AF_RDS
#define AF_RDS 21
#endif

/* RDS waits at most the time in this file before it retries a connection. */
#define RDMACG_MAX_DELAY "/proc/sys/net/rds/reconnect_max_delay_ms"

#define MIB (1024 * 1024)
#define RDMACG_MAX_REGIONS 64

/* The address of the device. Its network is reserved for tests. */
static char rdmacg_address[INET_ADDRSTRLEN];

/* The socket and the regions of an actor. */
static struct {
	int fd;
	int nr_regions;
	rds_rdma_cookie_t cookies[RDMACG_MAX_REGIONS];
} rdmacg_own = { .fd = -1 };

enum rdmacg_verb {
	/* Open a socket, and send a byte to itself. The argument is the type of service. */
	RDMACG_SEND,
	/* Send this many bytes more, because RDS acknowledges some messages together. */
	RDMACG_SEND_MORE,
	/* Read a byte from the latest socket. */
	RDMACG_RECEIVE,
	/* Register a region of this many bytes with the latest socket. */
	RDMACG_MAP,
	/* Free the latest region. */
	RDMACG_FREE,
	/* Open a socket, and report its transport. */
	RDMACG_TRANSPORT,
	/* Open a socket that accepts only RDS over RDMA. */
	RDMACG_BIND_IB,
};

static inline int rdmacg_open_rds(int tos, int transport)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(rdmacg_address),
	};
	unsigned char byte = tos;

	rdmacg_own.fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	if (rdmacg_own.fd < 0)
		return -errno;
	if (transport != RDS_TRANS_NONE &&
	    setsockopt(rdmacg_own.fd, SOL_RDS, SO_RDS_TRANSPORT, &transport, sizeof(transport)))
		return -errno;
	if (bind(rdmacg_own.fd, (void *)&own, sizeof(own)))
		return -errno;
	return ioctl(rdmacg_own.fd, SIOCRDSSETTOS, &byte) ? -errno : 0;
}

/* The transport of the latest socket. */
static inline int rdmacg_transport(void)
{
	int transport;
	socklen_t length = sizeof(transport);

	if (getsockopt(rdmacg_own.fd, SOL_RDS, SO_RDS_TRANSPORT, &transport, &length) < 0)
		return -errno;
	return transport;
}

/* Send a message with @control from the latest socket to itself. */
static inline int rdmacg_send_message(void *control, size_t size)
{
	struct iovec iov = { .iov_base = "x", .iov_len = 1 };
	struct sockaddr_in address;
	socklen_t length = sizeof(address);
	struct msghdr msg = {
		.msg_name = &address, .msg_namelen = sizeof(address),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = size,
	};

	if (getsockname(rdmacg_own.fd, (void *)&address, &length))
		return -errno;
	return sendmsg(rdmacg_own.fd, &msg, MSG_DONTWAIT) == 1 ? 0 : -errno;
}

static inline int rdmacg_map_one(size_t bytes)
{
	rds_rdma_cookie_t *cookie = &rdmacg_own.cookies[rdmacg_own.nr_regions];
	char control[CMSG_SPACE(sizeof(struct rds_get_mr_args))] = "";
	struct rds_get_mr_args args = { .vec.bytes = bytes, .cookie_addr = (uintptr_t)cookie };
	struct cmsghdr *cmsg = (struct cmsghdr *)control;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	int ret;

	if (memory == MAP_FAILED)
		return -errno;
	args.vec.addr = (uintptr_t)memory;
	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = RDS_CMSG_RDMA_MAP;
	cmsg->cmsg_len = CMSG_LEN(sizeof(args));
	memcpy(CMSG_DATA(cmsg), &args, sizeof(args));
	ret = rdmacg_send_message(control, sizeof(control));
	/* The region keeps the pages after munmap(). */
	munmap(memory, bytes);
	if (!ret)
		rdmacg_own.nr_regions++;
	return ret;
}

static inline int rdmacg_free_one(void)
{
	struct rds_free_mr_args args = { .cookie = rdmacg_own.cookies[--rdmacg_own.nr_regions] };

	return setsockopt(rdmacg_own.fd, SOL_RDS, RDS_FREE_MR, &args, sizeof(args)) ? -errno : 0;
}

static inline int rdmacg_receive(void)
{
	char byte;
	int ms;

	for (ms = 0; ms < RDMACG_PATIENCE_MS; ms += 10) {
		if (recv(rdmacg_own.fd, &byte, 1, MSG_DONTWAIT) == 1)
			return 0;
		usleep(10000);
	}
	return -ETIMEDOUT;
}

static inline int rdmacg_act(int verb, int argument)
{
	int ret;

	switch (verb) {
	case RDMACG_SEND:
		ret = rdmacg_open_rds(argument, RDS_TRANS_NONE);
		return ret ?: rdmacg_send_message(NULL, 0);
	case RDMACG_SEND_MORE:
		for (ret = 0; !ret && argument--; )
			ret = rdmacg_send_message(NULL, 0);
		return ret;
	case RDMACG_RECEIVE:
		return rdmacg_receive();
	case RDMACG_MAP:
		return rdmacg_map_one(argument);
	case RDMACG_FREE:
		return rdmacg_free_one();
	case RDMACG_TRANSPORT:
		return rdmacg_open_rds(argument, RDS_TRANS_NONE) ?: rdmacg_transport();
	default:
		return rdmacg_open_rds(argument, RDS_TRANS_IB);
	}
}

/* Each test runs in a process of its own, so the address contains the process ID. */
static inline bool rdmacg_add_address(void)
{
	char command[128];

	snprintf(rdmacg_address, sizeof(rdmacg_address), "198.18.%d.%d", getpid() >> 8 & 255,
		 getpid() & 255);
	snprintf(command, sizeof(command), "ip addr add %s/32 dev " RDMACG_LINK, rdmacg_address);
	return !system(command);
}

/*
 * RDS retries the lost connections of earlier tests each second. Set a longer wait, so that the
 * retries do not keep a slow machine busy.
 */
static inline bool rdmacg_add_rds_device(void)
{
	return rdmacg_modprobe("rds_rdma") && !system("echo 60000 >" RDMACG_MAX_DELAY) &&
	       rdmacg_add_link() && rdmacg_add_address() && rdmacg_add_device("rxe");
}

/* Create the cgroups and a device. Returns NULL, or a text that names what is missing. */
static inline const char *rdmacg_rds_create(struct rdmacg_tree *tree)
{
	const char *missing = rdmacg_tree_create(tree);

	if (missing || rdmacg_add_rds_device())
		return missing;
	rdmacg_remove_link();
	rdmacg_tree_destroy(tree);
	return "there is no RDS over RDMA, or no second device can be made";
}

/* Let the actor connect, because a message that registers memory needs a connection that exists. */
static inline bool rdmacg_connect(struct rdmacg_actor *actor, int tos)
{
	return !rdmacg_tell(actor, RDMACG_SEND, tos) && !rdmacg_tell(actor, RDMACG_RECEIVE, 0);
}

#endif /* RDMA_RDS_UTIL_H */
