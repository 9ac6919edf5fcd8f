// SPDX-License-Identifier: GPL-2.0
/*
 * sockets_bench smc|rds ADDRESS TOS MESSAGES: send MESSAGES messages over SMC-R, or with RDS and
 * that type of service, to the own address, and print "ps=TIME" for each. The objects of the
 * device, which are charged, are created before.
 * sockets_bench wait DEVICE: wait until SMC uses the device.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/rds.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

#include "../tools/testing/selftests/cgroup/rdma_smc_util.h"

#ifndef AF_RDS
#define AF_RDS 21
#endif

#define MESSAGE 8192
#define PORT 4712
#define PATIENCE_MS 60000

static char message[MESSAGE];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int receive_all(int fd, int count)
{
	long long left = (long long)count * MESSAGE;
	static char buffer[MESSAGE];
	ssize_t length;

	while (left > 0 && (length = read(fd, buffer, sizeof(buffer))) > 0)
		left -= length;
	return left != 0;
}

/* A stream from this process to a child, which has read all of it when it exits. */
static long long send_stream(struct sockaddr_in *address, int count)
{
	int listener = socket(AF_SMC, SOCK_STREAM, 0), fd = socket(AF_SMC, SOCK_STREAM, 0);
	int one = 1, status, i;
	long long start;
	pid_t child;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)address, sizeof(*address)) || listen(listener, 1) ||
	    connect(fd, (void *)address, sizeof(*address)))
		fail("SMC");
	if (rdmacg_smc_sockets(0).smcr < 2) {
		fprintf(stderr, "SMC: this is a connection over TCP\n");
		exit(1);
	}
	child = fork();
	if (!child)
		_exit(receive_all(accept(listener, NULL, NULL), count + 1));
	if (write(fd, message, MESSAGE) != MESSAGE)
		fail("write");
	start = now();
	for (i = 0; i < count; i++)
		if (write(fd, message, MESSAGE) != MESSAGE)
			fail("write");
	if (waitpid(child, &status, 0) != child || status)
		fail("the receiver");
	return now() - start;
}

/* Messages to the socket that sends them. */
static long long send_messages(struct sockaddr_in *address, int tos, int count)
{
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0), i;
	unsigned char byte = tos;
	long long start = 0;

	if (bind(fd, (void *)address, sizeof(*address)) || ioctl(fd, SIOCRDSSETTOS, &byte))
		fail("RDS");
	/* The first one waits for the connection. */
	for (i = 0; i <= count; i++) {
		if (sendto(fd, message, MESSAGE, 0, (void *)address, sizeof(*address)) != MESSAGE ||
		    recv(fd, message, MESSAGE, 0) != MESSAGE)
			fail("RDS");
		if (!i)
			start = now();
	}
	return now() - start;
}

/* A worker of SMC learns of a device later than others. */
static int wait_for(const char *device)
{
	int ms;

	for (ms = 0; ms < PATIENCE_MS && !rdmacg_smc_sees(device); ms += 10)
		usleep(10000);
	return ms >= PATIENCE_MS;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int count = argc == 5 ? atoi(argv[4]) : 0;
	long long ns;

	if (argc == 3 && !strcmp(argv[1], "wait"))
		return wait_for(argv[2]);
	if (count <= 0 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
		fprintf(stderr,
			"usage: sockets_bench smc|rds ADDRESS TOS MESSAGES, or wait DEVICE\n");
		return 2;
	}
	if (strcmp(argv[1], "smc")) {
		ns = send_messages(&address, atoi(argv[3]), count);
	} else {
		if (!rdmacg_add_eid())
			fail("the EID");
		ns = send_stream(&address, count);
	}
	printf("ps=%lld\n", ns * 1000 / count);
	return 0;
}
