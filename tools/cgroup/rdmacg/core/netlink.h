/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says of devices over rdma netlink, on any kernel: how many objects there
 * are, those of the kernel's own users included, which no cgroup counts; and on later
 * kernels how many there can be.
 */
#ifndef RDMACG_NETLINK_H
#define RDMACG_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"

struct netlink_resource {
	/* As in the controller's files. */
	char *key;
	uint64_t count;
	/* NUMBER_MAX where it is not known. */
	uint64_t capacity;
	/* How many of them are the kernel's own, once netlink_count_kernel() was called. */
	uint64_t kernel;
};

struct netlink_device {
	struct device device;
	struct netlink_resource *resources;
	size_t nr_resources;
};

struct netlink {
	struct netlink_device *devices;
	size_t nr_devices;
};

/* The devices of this network namespace. False where the kernel does not tell. */
bool netlink_read(struct netlink *netlink);
/* Find out what belongs to users in the kernel. */
void netlink_count_kernel(struct netlink_device *device);
void netlink_free(struct netlink *netlink);

struct netlink_device *netlink_find(const struct netlink *netlink, const struct device *device);
struct netlink_resource *netlink_find_resource(const struct netlink_device *device,
					       const char *key);

#endif /* RDMACG_NETLINK_H */
