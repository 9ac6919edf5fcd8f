// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: what its tracepoints tell.
 *
 * Whoever calls this has seen a tracepoint on, holds none of the controller's locks, and
 * hands over figures that were taken under them: nobody waits for those who trace.
 */
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "rdma-internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/rdmacg.h>

static u64 rdmacg_id(const struct rdma_cgroup *cg)
{
	return cgroup_id(cg->css.cgroup);
}

static const char *rdmacg_name_rcu(const struct rdmacg_desc *desc)
{
	return rcu_dereference(desc->name)->text;
}

static void rdmacg_trace_set(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			     const struct rdmacg_charge *set, unsigned int count,
			     void (*tell)(const char *device, const char *resource, u64 amount,
					  u64 cgroup))
{
	/* The root pays for nothing. */
	if (!cg->top)
		return;
	rcu_read_lock();
	for (; count--; set++)
		tell(rdmacg_name_rcu(desc), desc->resources[set->slot].name,
		     rdmacg_counted(set->amount), rdmacg_id(cg));
	rcu_read_unlock();
}

void rdmacg_trace_charge(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			 const struct rdmacg_charge *set, unsigned int count)
{
	rdmacg_trace_set(cg, device->desc, set, count, trace_rdmacg_charge);
}

void rdmacg_trace_uncharge(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count)
{
	rdmacg_trace_set(cg, device->desc, set, count, trace_rdmacg_uncharge);
}

/* Whoever was to pay has a reference to @cg, and so to the ancestor whose limit it was. */
void rdmacg_trace_refuse(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			 const struct rdmacg_refusal *refusal)
{
	const struct rdmacg_desc *desc = device->desc;

	rcu_read_lock();
	trace_rdmacg_refuse(rdmacg_name_rcu(desc), desc->resources[refusal->slot].name,
			    refusal->amount, rdmacg_id(cg), refusal->usage, refusal->limit,
			    rdmacg_id(refusal->cg), refusal->cg->depth);
	rcu_read_unlock();
}

/* The command, which has not ended, keeps the device. */
void rdmacg_trace_throttle(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			   u64 waited_ns)
{
	rcu_read_lock();
	trace_rdmacg_throttle(rdmacg_name_rcu(device->desc), rdmacg_id(cg),
			      div_u64(waited_ns, NSEC_PER_USEC));
	rcu_read_unlock();
}

/* Tell of limits that are others now, and forget them. */
void rdmacg_trace_changes_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			      struct rdmacg_change *changes)
{
	struct rdmacg_change *change;
	unsigned int slot;

	for (slot = 0; slot < desc->nr_slots; slot++) {
		change = &changes[slot];
		if (change->old != change->new)
			trace_rdmacg_set_max(rdmacg_name_rcu(desc), desc->resources[slot].name,
					     change->old, change->new, change->usage,
					     rdmacg_id(cg));
	}
	memset(changes, 0, desc->nr_slots * sizeof(*changes));
}

/* Tell of the defaults that have come with a new pool. */
void rdmacg_trace_new_pool_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			       const struct rdmacg_defaults *defaults)
{
	unsigned int slot;
	u64 max;

	for (slot = 0; slot < desc->nr_slots; slot++) {
		max = rdmacg_default_limit(defaults, &desc->resources[slot]);
		if (max != RDMACG_NO_LIMIT)
			trace_rdmacg_set_max(rdmacg_name_rcu(desc), desc->resources[slot].name,
					     RDMACG_NO_LIMIT, max, 0, rdmacg_id(cg));
	}
}
