/* SPDX-License-Identifier: GPL-2.0 */
/* What the devices have: from rdma.capacity on the root, or else from rdma netlink. */
#ifndef RDMACG_CAPACITY_H
#define RDMACG_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/hierarchy.h"
#include "core/netlink.h"

struct capacity {
	/* The slots' max; empty where there is no such file. */
	struct pools pools;
	bool has_file;
	struct netlink netlink;
	bool has_netlink;
};

void capacity_read(struct capacity *capacity, const struct hierarchy *hierarchy);
void capacity_free(struct capacity *capacity);
/* NUMBER_MAX where the device does not say, or nobody knows. */
uint64_t capacity_of(const struct capacity *capacity, const struct device *device,
		     const char *key);

#endif /* RDMACG_CAPACITY_H */
