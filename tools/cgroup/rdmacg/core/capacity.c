// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what the devices have. */
#include "core/core.h"

void capacity_read(struct capacity *capacity, const struct hierarchy *hierarchy)
{
	const char *fake = getenv("RDMACG_ROOT");

	memset(capacity, 0, sizeof(*capacity));
	capacity->has_file = !pools_read_file(&capacity->pools, hierarchy->dir, "rdma.capacity");
	/* The devices of this machine have nothing to do with a tree for tests. */
	if (!fake || !*fake)
		capacity->has_netlink = netlink_read(&capacity->netlink);
}

void capacity_free(struct capacity *capacity)
{
	pools_free(&capacity->pools);
	netlink_free(&capacity->netlink);
}

uint64_t capacity_of(const struct capacity *capacity, const struct device *device,
		     const char *key)
{
	const struct slot *slot = pools_find_slot(&capacity->pools, device, key);
	const struct netlink_device *found;
	const struct netlink_resource *resource;

	if (slot)
		return slot->max;
	found = netlink_find(&capacity->netlink, device);
	resource = found ? netlink_find_resource(found, key) : NULL;
	return resource ? resource->capacity : NUMBER_MAX;
}
