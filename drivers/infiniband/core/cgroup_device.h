/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: the resources that the IB core counts, and their
 * slots on a device. Only the other files of the controller in this folder
 * include this header.
 */
#ifndef _CORE_CGROUP_DEVICE_H
#define _CORE_CGROUP_DEVICE_H

#include <linux/bitops.h>
#include <rdma/ib_verbs.h>

/*
 * The resources of the verb class. A type of objects has the same number as in
 * uverbs.
 */
enum {
	/* The context, which hca_handle counts. */
	IB_RDMACG_DEVICE,
#define RDMACG_VERB(type, ...) IB_RDMACG_##type,
#include <linux/cgroup_rdma_verbs.h>
	IB_RDMACG_TYPES,
};

const char *ib_rdmacg_type_name(unsigned int type);
u32 *ib_rdmacg_object_max(struct ib_device_attr *attr, unsigned int type);

/* Returns the slot of a type of the verb class on the device. */
static inline unsigned int ib_rdmacg_type_slot(const struct ib_device *device, unsigned int type)
{
	/*
	 * The table of the verb class follows the table of the hca class, and
	 * contains only the supported types.
	 */
	return RDMACG_RESOURCE_MAX + hweight64(device->cg_types & (BIT_ULL(type) - 1));
}

static inline bool ib_rdmacg_counts_type(const struct ib_device *device, unsigned int type)
{
	return device->cg_types & BIT_ULL(type);
}

/*
 * Append @amount to a set if it is not 0 and the device counts the type.
 * Returns the new end.
 */
static inline struct rdmacg_amount *ib_rdmacg_add(struct rdmacg_amount *next,
						  const struct ib_device *device,
						  unsigned int type, u64 amount)
{
	if (amount && ib_rdmacg_counts_type(device, type))
		*next++ = (struct rdmacg_amount) { ib_rdmacg_type_slot(device, type), amount };
	return next;
}

/*
 * No machine can pin this much memory, so this length and longer lengths are
 * not counted. Such a length stands for the whole address space, as in an
 * implicit MR of on-demand paging, or the driver refuses it. If such lengths
 * were counted, an ancestor's counter would overflow, and charges of other
 * cgroups without limits would fail.
 */
#define IB_RDMACG_ENDLESS_LENGTH BIT_ULL(48)

static inline u64 ib_rdmacg_mem(u64 length)
{
	return length >= IB_RDMACG_ENDLESS_LENGTH ? RDMACG_ENDLESS : length;
}

/*
 * Returns the limit of the current process for a type, or RDMACG_NO_LIMIT if
 * the type is not counted.
 */
static inline u64 ib_rdmacg_type_limit(struct ib_device *device, unsigned int type)
{
	if (!ib_rdmacg_counts_type(device, type))
		return RDMACG_NO_LIMIT;
	return rdmacg_current_limit(&device->cg_device, ib_rdmacg_type_slot(device, type));
}

#endif /* _CORE_CGROUP_DEVICE_H */
