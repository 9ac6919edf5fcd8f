/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests of RDS over RDMA. They create a device with an address, and actors with
 * sockets that connect this address to itself.
 */
#ifndef RDMA_RDS_UTIL_H
#define RDMA_RDS_UTIL_H

#include "rdma_actor_util.h"
#include "rdma_rds_socket_util.h"

/* RDS waits at most the time in this file before it retries a connection. */
#define RDMACG_MAX_DELAY "/proc/sys/net/rds/reconnect_max_delay_ms"

#define MIB (1024 * 1024)

/* The address of the device, in a network that is reserved for tests. */
static char rdmacg_address[INET_ADDRSTRLEN];

enum rdmacg_verb {
	/* Open a socket, which sends a byte to itself. The argument is the type of service. */
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

/* The transport of the latest socket. */
static inline int rdmacg_transport(void)
{
	int transport;
	socklen_t length = sizeof(transport);

	if (getsockopt(rdmacg_own.fd, SOL_RDS, SO_RDS_TRANSPORT, &transport, &length) < 0)
		return -errno;
	return transport;
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
		ret = rdmacg_open_rds(rdmacg_address, argument, RDS_TRANS_NONE);
		return ret ?: rdmacg_send_message(NULL, 0);
	case RDMACG_SEND_MORE:
		for (ret = 0; !ret && argument--; )
			ret = rdmacg_send_message(NULL, 0);
		return ret;
	case RDMACG_RECEIVE:
		return rdmacg_receive();
	case RDMACG_MAP:
		return rdmacg_map_one(argument, 0);
	case RDMACG_FREE:
		return rdmacg_free_one(0);
	case RDMACG_TRANSPORT:
		ret = rdmacg_open_rds(rdmacg_address, argument, RDS_TRANS_NONE);
		return ret ?: rdmacg_transport();
	default:
		return rdmacg_open_rds(rdmacg_address, argument, RDS_TRANS_IB);
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
