/* SPDX-License-Identifier: GPL-2.0 */
/* Pass a file descriptor to another process over a connected UNIX socket. */
#ifndef RDMA_FD_UTIL_H
#define RDMA_FD_UTIL_H

#include <string.h>
#include <sys/socket.h>

/* Returns 0, or -1 and errno. */
static inline int rdmacg_send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(socket, &msg, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

/* Returns the descriptor, or -1 if the sender has ended. */
static inline int rdmacg_receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(socket, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

#endif
