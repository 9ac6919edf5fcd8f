// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the devices of the IB core, and their resources.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#define pr_fmt(fmt) "infiniband: rdma cgroup: " fmt

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>

#include "cgroup_device.h"
#include "core_priv.h"

static const struct rdmacg_resource ib_rdmacg_hca_resources[RDMACG_RESOURCE_MAX] = {
	[RDMACG_RESOURCE_HCA_HANDLE] = {
		.name		= "hca_handle",
		.class		= RDMACG_CLASS_HCA,
		.capacity	= RDMACG_NO_LIMIT,
	},
	[RDMACG_RESOURCE_HCA_OBJECT] = {
		.name		= "hca_object",
		.class		= RDMACG_CLASS_HCA,
		.capacity	= RDMACG_NO_LIMIT,
	},
};

/* The resources of the verb class. */
static const struct {
	const char	*name;
	/*
	 * The offset of a pointer in struct ib_device. The pointer is NULL if
	 * the device lacks the resource. The offset is 0 if each device has the
	 * resource.
	 */
	size_t		has;
	/* The offset in struct ib_device_attr of the capacity, or 0. */
	size_t		max;
} ib_rdmacg_types[IB_RDMACG_TYPES] = {
#define RDMACG_HAS(_pointer) offsetof(struct ib_device, _pointer)
#define RDMACG_MAX(_attr) offsetof(struct ib_device_attr, _attr)
/* The number of a type of objects must be its number in uverbs. */
#define RDMACG_OBJECT(type, ...) \
	[IB_RDMACG_##type + \
	 BUILD_BUG_ON_ZERO(IB_RDMACG_##type != (int)UVERBS_OBJECT_##type)] = { __VA_ARGS__ },
#define RDMACG_VERB(type, ...) \
	[IB_RDMACG_##type] = { __VA_ARGS__ },
#include <linux/cgroup_rdma_verbs.h>
};

const char *ib_rdmacg_type_name(unsigned int type)
{
	return ib_rdmacg_types[type].name;
}

/* Returns the attribute with the capacity of a type of objects, or NULL. */
u32 *ib_rdmacg_object_max(struct ib_device_attr *attr, unsigned int type)
{
	if (type >= IB_RDMACG_DRIVER_OBJECT || !ib_rdmacg_types[type].max)
		return NULL;
	return (void *)attr + ib_rdmacg_types[type].max;
}

static bool ib_rdmacg_supports(const struct ib_device *device, unsigned int type)
{
	size_t has = ib_rdmacg_types[type].has;

	if (!ib_rdmacg_types[type].name)
		return false;
	if (type == IB_RDMACG_CM_ID)
		return IS_ENABLED(CONFIG_INFINIBAND_ADDR_TRANS);
	return !has || *(void **)((void *)device + has);
}

static u64 ib_rdmacg_capacity(const struct ib_device *device, unsigned int type)
{
	const void *max = (void *)&device->attrs + ib_rdmacg_types[type].max;
	u64 capacity = ib_rdmacg_types[type].max ? *(u32 *)max : 0;

	if (type == IB_RDMACG_DM_MEM)
		capacity = device->attrs.max_dm_size;
	/* The attribute is 0 if the driver does not state a maximum. */
	return capacity ?: RDMACG_NO_LIMIT;
}

static struct rdmacg_resource ib_rdmacg_type_resource(struct ib_device *device,
						      unsigned int type)
{
	return (struct rdmacg_resource) {
		.name		= ib_rdmacg_type_name(type),
		.class		= RDMACG_CLASS_VERB,
		.capacity	= ib_rdmacg_capacity(device, type),
	};
}

/*
 * Returns whether all resources of the driver are in the hw class. Programs
 * parse the files of the other classes, so a driver must not add keys there.
 */
static bool ib_rdmacg_hw_is_valid(struct ib_device *device)
{
	unsigned int i;

	for (i = 0; i < device->cg_hw.count; i++) {
		if (device->cg_hw.resources[i].class == RDMACG_CLASS_HW)
			continue;
		pr_err("%s: refused a table of resources: number %u is not in the hw class\n",
		       device->name, i);
		return false;
	}
	return device->cg_hw.count;
}

/*
 * Fill @resources with the types that the device supports, set the count of
 * @types, and set the bits in @device->cg_types.
 */
static void ib_rdmacg_find_types(struct ib_device *device, struct rdmacg_resource *resources,
				 struct rdmacg_table *types)
{
	unsigned int type;

	BUILD_BUG_ON(BITS_PER_TYPE(device->cg_types) < IB_RDMACG_TYPES);
	for (type = 0; type < IB_RDMACG_TYPES; type++) {
		if (!ib_rdmacg_supports(device, type))
			continue;
		device->cg_types |= BIT_ULL(type);
		resources[types->count++] = ib_rdmacg_type_resource(device, type);
	}
}

/**
 * ib_device_register_rdmacg() - register a device with the controller
 * @device: a device that user space cannot access yet. Its operations and
 *	attributes are set
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if the controller has no free device number.
 */
int ib_device_register_rdmacg(struct ib_device *device)
{
	struct rdmacg_resource *types;
	struct rdmacg_table tables[RDMACG_CLASSES] = {
		[RDMACG_CLASS_HCA].resources = ib_rdmacg_hca_resources,
		[RDMACG_CLASS_HCA].count = ARRAY_SIZE(ib_rdmacg_hca_resources),
	};
	unsigned int count = 1;
	int ret;

	types = kcalloc(IB_RDMACG_TYPES, sizeof(*types), GFP_KERNEL);
	if (!types)
		return -ENOMEM;
	device->cg_types = 0;
	if (IS_ENABLED(CONFIG_CGROUP_RDMA_VERBS)) {
		tables[count].resources = types;
		ib_rdmacg_find_types(device, types, &tables[count++]);
		if (ib_rdmacg_hw_is_valid(device))
			tables[count++] = device->cg_hw;
	}

	device->cg_device.name = device->name;
	device->cg_device.index = device->index;
	device->cg_device.net = read_pnet(&device->coredev.rdma_net);
	device->cg_device.names_are_global = &ib_devices_shared_netns;
	ret = rdmacg_register_tables(&device->cg_device, tables, count);
	if (tables[RDMACG_CLASS_VERB].first_slot < 0)
		device->cg_types = 0;
	device->cg_hw.first_slot = tables[RDMACG_CLASS_HW].first_slot;
	kfree(types);
	return ret;
}

/**
 * ib_rdmacg_rename_device() - tell the controller the name and the namespace of
 *	a device
 * @device: a device that has been renamed, or moved to another network
 *	namespace
 *
 * Context: Process context; may sleep.
 */
void ib_rdmacg_rename_device(struct ib_device *device)
{
	device->cg_device.net = read_pnet(&device->coredev.rdma_net);
	rdmacg_rename_device(&device->cg_device);
}
