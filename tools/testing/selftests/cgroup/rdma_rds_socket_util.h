/* SPDX-License-Identifier: GPL-2.0 */
/* Open a socket of RDS, send messages from the socket to itself, and register memory with it. */
#ifndef RDMA_RDS_SOCKET_UTIL_H
#define RDMA_RDS_SOCKET_UTIL_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#ifndef AF_RDS
#define AF_RDS 21
#endif

#define RDMACG_MAX_REGIONS 64

/* The socket and the regions of this process. */
static struct {
	int fd;
	int nr_regions;
	rds_rdma_cookie_t cookies[RDMACG_MAX_REGIONS];
} rdmacg_own = { .fd = -1 };

/* Returns 0 or a negative errno, as the other functions do. */
static inline int rdmacg_open_rds(const char *address, int tos, int transport)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address),
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

static inline int rdmacg_map_one(size_t bytes, int flags)
{
	rds_rdma_cookie_t *cookie = &rdmacg_own.cookies[rdmacg_own.nr_regions];
	char control[CMSG_SPACE(sizeof(struct rds_get_mr_args))] = "";
	struct rds_get_mr_args args = {
		.vec.bytes = bytes, .cookie_addr = (uintptr_t)cookie, .flags = flags,
	};
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

static inline int rdmacg_free_one(int flags)
{
	struct rds_free_mr_args args = {
		.cookie = rdmacg_own.cookies[--rdmacg_own.nr_regions], .flags = flags,
	};

	return setsockopt(rdmacg_own.fd, SOL_RDS, RDS_FREE_MR, &args, sizeof(args)) ? -errno : 0;
}

#endif /* RDMA_RDS_SOCKET_UTIL_H */
