// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the capacity of the devices. */
#include "core/core.h"

struct capacity capacity;

void capacity_read(void)
{
	pools_free(&capacity.pools);
	pools_free(&capacity.netlink);
	capacity.has_file = !pools_read_file(&capacity.pools, hierarchy.dir, "rdma.capacity");
	/* A tree for tests has devices of its own, so do not read those of this machine. */
	if (!*hierarchy_path("RDMACG_ROOT", ""))
		capacity.has_netlink = netlink_read(&capacity.netlink);
}

uint64_t capacity_of(const struct device *device, const char *key)
{
	const struct slot *slot = pools_find_slot(&capacity.pools, device, key);

	if (!slot)
		slot = netlink_find(device, key);
	return slot ? slot->max : NUMBER_MAX;
}
