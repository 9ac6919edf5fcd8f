/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What else than a cgroup's limit makes RDMA calls fail: RLIMIT_MEMLOCK of the processes,
 * and devices that have no more.
 */
#ifndef RDMACG_WHY_OTHER_H
#define RDMACG_WHY_OTHER_H

#include "core/capacity.h"
#include "core/cgroup.h"
#include "lib/json.h"

/* Of one process, or where @pid is 0 of those in @cgroup and below. */
void other_print_memlock(struct cgroup *cgroup, pid_t pid);
struct json_object *other_memlock_json(struct cgroup *cgroup, pid_t pid);

/* RLIMIT_MEMLOCK of this process, where it binds and is small; else NUMBER_MAX. */
uint64_t other_own_memlock(void);

/* What the kernel's log says of the devices in the last minutes. */
void other_print_log(const struct capacity *capacity);
struct json_object *other_log_json(const struct capacity *capacity);

/* How much of each device is in use by all, and by the kernel. */
void other_print_devices(const struct capacity *capacity);
struct json_object *other_devices_json(const struct capacity *capacity);

/*
 * What rdma netlink does not count, such as address handles: how much of it all cgroups
 * have together, where the kernel says how much there is. It is added up in @capacity.
 */
void other_print_counted(struct capacity *capacity, const struct hierarchy *hierarchy);
struct json_object *other_counted_json(struct capacity *capacity,
				       const struct hierarchy *hierarchy);

#endif /* RDMACG_WHY_OTHER_H */
