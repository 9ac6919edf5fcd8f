// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: hard limits on the objects that the processes of a
 * cgroup have on each RDMA device. This file contains the API and the files of
 * cgroups.
 *
 * An object is charged to the cgroup of the process that creates it, and to all
 * ancestors except the root, until the object is destroyed. The charge stays in
 * this cgroup if the process moves to another cgroup or passes its file
 * descriptor to another process, and if the cgroup is removed. A charge without
 * room fails with EAGAIN. A limit below the usage refuses new objects, but does
 * not remove objects.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernfs.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <trace/events/rdmacg.h>

#include "rdma.h"

static u64 rdmacg_id(const struct rdma_cgroup *cg)
{
	return cgroup_id(rdmacg_css(cg)->cgroup);
}

/*
 * Emit an event for each resource of a set. The root has no events, because it
 * is not charged.
 */
static noinline void rdmacg_trace_set(struct rdma_cgroup *cg, const struct rdmacg_device *device,
				      const struct rdmacg_amount *set, unsigned int count,
				      void (*trace)(const char *device, const char *resource,
						    u64 amount, u64 cgroup))
{
	const struct rdmacg_desc *desc = device->desc;

	guard(rcu)();
	/* A device that was unregistered has no desc. */
	for (; desc && cg->depth && count--; set++)
		trace(rdmacg_desc_name_rcu(desc), desc->resources[set->slot].name,
		      rdmacg_counted(set->amount), rdmacg_id(cg));
}

/*
 * Notify the readers of each events file that has changed because a charge of
 * @cg was refused. Then emit the event. The caller does not hold the domain's
 * lock, so that cgroup_file_notify() does not lengthen the time of the lock.
 */
static void rdmacg_notify_refusal(struct rdma_cgroup *cg, struct rdmacg_device *device,
				  const struct rdmacg_refusal *refusal)
{
	const struct rdmacg_resource *resource = &device->desc->resources[refusal->slot];
	/*
	 * A charge that cannot fail counts only in the lowest cgroup without
	 * room and in the ancestors of that cgroup.
	 */
	struct rdma_cgroup *level = refusal->is_ignored ? refusal->cg : cg;

	for (; level->depth; level = rdmacg_parent(level)) {
		rdmacg_notify(level, resource->class, false);
		if (level == cg || level == refusal->cg)
			rdmacg_notify(level, resource->class, true);
	}
	if (!trace_rdmacg_refuse_enabled() || refusal->is_ignored)
		return;
	guard(rcu)();
	/*
	 * The caller's reference to @cg also keeps the ancestor whose limit
	 * refused the charge.
	 */
	trace_rdmacg_refuse(rdmacg_desc_name_rcu(device->desc), resource->name, refusal->amount,
			    rdmacg_id(cg), refusal->usage, refusal->limit,
			    rdmacg_id(refusal->cg), refusal->cg->depth);
}

/*
 * Charge @set without the fast path, even above a limit if @is_forced, and emit
 * the events. If this function were inlined, the fast path would have to save
 * registers.
 */
static noinline int rdmacg_charge_slow(struct rdma_cgroup *cg, struct rdmacg_device *device,
				       const struct rdmacg_amount *set, unsigned int count,
				       bool is_forced)
{
	/* The members other than @is_ignored are valid only after -EAGAIN. */
	struct rdmacg_refusal refusal = { .is_ignored = is_forced };
	int ret;

	ret = rdmacg_pool_try_charge(cg, device, set, count, &refusal);
	if (ret == -EAGAIN) {
		rdmacg_notify_refusal(cg, device, &refusal);
		ret = is_forced ? 0 : -EAGAIN;
	}
	if (!ret && trace_rdmacg_charge_enabled())
		rdmacg_trace_set(cg, device, set, count, trace_rdmacg_charge);
	return ret;
}

/* Charge @cg. The caller holds a reference to @cg. */
static __always_inline int rdmacg_charge_any(struct rdma_cgroup *cg, struct rdmacg_device *device,
					     const struct rdmacg_amount *set, unsigned int count)
{
	/*
	 * might_sleep() would also reschedule, which costs as much as a charge
	 * of eight levels.
	 */
	__might_sleep(__FILE__, __LINE__);
	if (unlikely(!rdmacg_pool_apply_fast(cg, device, set, count, true)))
		return rdmacg_charge_slow(cg, device, set, count, false);
	if (trace_rdmacg_charge_enabled())
		rdmacg_trace_set(cg, device, set, count, trace_rdmacg_charge);
	return 0;
}

/**
 * rdmacg_get_current() - the cgroup of the current process
 *
 * A caller that works for this process later, or in another thread, keeps this
 * cgroup.
 *
 * Context: Process context.
 * Return: the cgroup, with a reference that the caller drops with rdmacg_put(),
 * or NULL without CONFIG_CGROUP_RDMA.
 */
struct rdma_cgroup *rdmacg_get_current(void)
{
	KUNIT_STATIC_STUB_REDIRECT(rdmacg_get_current);
	return container_of(rdmacg_css_get_current(), struct rdma_cgroup, state);
}
EXPORT_SYMBOL(rdmacg_get_current);

/**
 * rdmacg_get() - take one more reference to a cgroup
 * @cg: a cgroup that the caller, or a charge, has a reference to
 *
 * Context: Any context.
 */
void rdmacg_get(struct rdma_cgroup *cg)
{
	css_get(rdmacg_css(cg));
}
EXPORT_SYMBOL(rdmacg_get);

/**
 * rdmacg_put() - drop a reference of rdmacg_get_current() or rdmacg_get()
 * @cg: the cgroup
 *
 * Context: Any context.
 */
void rdmacg_put(struct rdma_cgroup *cg)
{
	css_put(rdmacg_css(cg));
}
EXPORT_SYMBOL(rdmacg_put);

static __always_inline int rdmacg_charge_current(struct rdma_cgroup **owner,
						 struct rdmacg_device *device,
						 const struct rdmacg_amount *set,
						 unsigned int count)
{
	struct rdma_cgroup *cg = rdmacg_get_current();
	int ret = rdmacg_charge_any(cg, device, set, count);

	if (likely(!ret))
		*owner = cg;
	else
		css_put(rdmacg_css(cg));
	return ret;
}

static __always_inline void rdmacg_uncharge_owner(struct rdma_cgroup *owner,
						  struct rdmacg_device *device,
						  const struct rdmacg_amount *set,
						  unsigned int count)
{
	bool is_valid;

	__might_sleep(__FILE__, __LINE__);
	is_valid = rdmacg_pool_apply_fast(owner, device, set, count, false);
	if (unlikely(!is_valid)) {
		/*
		 * The unregistration has returned the charge, with its
		 * reference.
		 */
		if (!device->desc && READ_ONCE(device->keeps_charges))
			return;
		is_valid = rdmacg_pool_uncharge(owner, device, set, count);
	}
	if (trace_rdmacg_uncharge_enabled() && is_valid)
		rdmacg_trace_set(owner, device, set, count, trace_rdmacg_uncharge);
	css_put(rdmacg_css(owner));
}

/**
 * rdmacg_try_charge_set() - charge several resources to the current process
 * @owner: set on success to the cgroup that pays
 * @device: a device that stays registered until the call returns
 * @set: the resources and amounts, each resource once
 * @count: number of amounts in @set
 *
 * The whole @set is charged, or nothing. A successful charge holds a reference
 * to @owner. The caller must call rdmacg_uncharge_set() once, from any process.
 * That call drops the reference. After a failure, @owner is unchanged.
 *
 * Context: Process context; may sleep.
 * Return: 0; -EAGAIN if the charge would exceed a limit of the cgroup or of an
 * ancestor; -ENOMEM; -EINVAL for an empty @set, a slot that @device does not
 * have or that occurs twice, or an amount out of range.
 */
int rdmacg_try_charge_set(struct rdma_cgroup **owner, struct rdmacg_device *device,
			  const struct rdmacg_amount *set, unsigned int count)
{
	return rdmacg_charge_current(owner, device, set, count);
}
EXPORT_SYMBOL(rdmacg_try_charge_set);

/**
 * rdmacg_try_charge_cgroup() - charge several resources to a given cgroup
 * @cg: the cgroup that pays, from rdmacg_get_current() or from an earlier
 *	charge; the caller has a reference to it, and keeps that reference
 * @device: a device that stays registered until the call returns
 * @set: the resources and amounts, each resource once
 * @count: number of amounts in @set
 *
 * Use this in a kernel thread that handles a user's request. A successful
 * charge holds another reference to @cg, which the caller drops by one call of
 * rdmacg_uncharge_set(). The limits of @cg and its ancestors apply even if @cg
 * has been removed.
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_try_charge_set().
 */
int rdmacg_try_charge_cgroup(struct rdma_cgroup *cg, struct rdmacg_device *device,
			     const struct rdmacg_amount *set, unsigned int count)
{
	int ret = rdmacg_charge_any(cg, device, set, count);

	if (!ret)
		rdmacg_get(cg);
	return ret;
}
EXPORT_SYMBOL(rdmacg_try_charge_cgroup);

/**
 * rdmacg_charge() - charge several resources to a given cgroup, even above its
 * limits
 * @cg: as for rdmacg_try_charge_cgroup()
 * @device: as for rdmacg_try_charge_cgroup()
 * @set: as for rdmacg_try_charge_cgroup()
 * @count: as for rdmacg_try_charge_cgroup()
 *
 * Use this if a refusal would break a connection in use. For example, an SMC-R
 * connection that fails over to another link needs buffers there. A charge
 * above a limit appears in the events of the lowest cgroup without room, and of
 * its ancestors. If there is no memory for a pool, the call waits for memory. No
 * memory cgroup pays for the pool. A malformed @set is a bug of the caller, and
 * is not charged.
 *
 * The charge holds another reference to @cg, which the caller drops by one call
 * of rdmacg_uncharge_set().
 *
 * Context: Process context; may sleep.
 */
void rdmacg_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
		   const struct rdmacg_amount *set, unsigned int count)
{
	/* The memory cgroup of a dying process may stay full for ever. */
	struct mem_cgroup *memcg = set_active_memcg(root_mem_cgroup);
	int ret;

	__might_sleep(__FILE__, __LINE__);
	while ((ret = rdmacg_charge_slow(cg, device, set, count, true)) == -ENOMEM)
		schedule_timeout_uninterruptible(1);
	set_active_memcg(memcg);
	WARN_ON_ONCE(ret);
	rdmacg_get(cg);
}
EXPORT_SYMBOL(rdmacg_charge);

/**
 * rdmacg_uncharge_set() - return a charge of several resources
 * @owner: the cgroup that paid; this call drops the charge's reference to it
 * @device: the device of the charge, still registered. If it keeps charges, the
 *	call may also come after the unregistration, and does nothing then
 * @set: the resources and amounts of the charge
 * @count: number of amounts in @set
 *
 * Several charges of one cgroup may be returned in different portions. The
 * number of calls and the sum of each resource must be the same as for the
 * charges.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_uncharge_set(struct rdma_cgroup *owner, struct rdmacg_device *device,
			 const struct rdmacg_amount *set, unsigned int count)
{
	rdmacg_uncharge_owner(owner, device, set, count);
}
EXPORT_SYMBOL(rdmacg_uncharge_set);

/**
 * rdmacg_try_charge() - charge one unit of a resource to the current process
 * @owner: set on success to the cgroup that pays
 * @device: a device that stays registered until the call returns
 * @index: the slot of the resource
 *
 * A successful charge holds a reference to @owner. The caller must call
 * rdmacg_uncharge() once, from any process. That call drops the reference.
 * After a failure, @owner is unchanged.
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_try_charge_set().
 */
int rdmacg_try_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
		      enum rdmacg_resource_type index)
{
	const struct rdmacg_amount charge = { .slot = index, .amount = 1 };

	return rdmacg_charge_current(owner, device, &charge, 1);
}
EXPORT_SYMBOL(rdmacg_try_charge);

/**
 * rdmacg_uncharge() - return a charge of rdmacg_try_charge()
 * @owner: the cgroup that paid; this call drops the charge's reference to it
 * @device: the device of the charge, still registered
 * @index: the slot of the charge
 *
 * Context: Process context; may sleep.
 */
void rdmacg_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
		     enum rdmacg_resource_type index)
{
	const struct rdmacg_amount charge = { .slot = index, .amount = 1 };

	rdmacg_uncharge_owner(owner, device, &charge, 1);
}
EXPORT_SYMBOL(rdmacg_uncharge);

/**
 * rdmacg_current_limit() - the limit that applies to the current process
 * @device: a registered device
 * @slot: a resource of @device
 *
 * Context: Process context.
 * Return: the smallest limit of the process's cgroup and its ancestors, in the
 * resource's unit, or RDMACG_NO_LIMIT.
 */
u64 rdmacg_current_limit(struct rdmacg_device *device, unsigned int slot)
{
	struct rdma_cgroup *level, *cg = rdmacg_get_current();
	u64 limit = RDMACG_NO_LIMIT;

	if (!WARN_ON_ONCE(slot >= device->nr_slots)) {
		guard(rcu)();
		for (level = cg; level->depth; level = rdmacg_parent(level))
			limit = min(limit, rdmacg_limit_rcu(level, device->desc, slot));
	}
	rdmacg_put(cg);
	return limit;
}
EXPORT_SYMBOL(rdmacg_current_limit);

#ifdef CONFIG_CGROUP_RDMA_CONTROL

/*
 * Let a command of @cg begin. A @command that gets a control also takes over
 * the caller's reference to @cg.
 */
static int rdmacg_command_begin(struct rdmacg_command *command, struct rdma_cgroup *cg,
				struct rdmacg_desc *desc, enum rdmacg_command_kind kind)
{
	struct rdmacg_control *control;
	u64 waited_ns = 0;
	int ret;

	if (!rdmacg_is_limited(cg, desc))
		return 0;
	control = rdmacg_control_get(cg, desc);
	if (IS_ERR(control))
		/* A destroy command must not fail if there is no memory. */
		return kind == RDMACG_COMMAND_DESTROY ? 0 : PTR_ERR(control);
	ret = rdmacg_control_begin(control, kind, &waited_ns);
	if (waited_ns && (!ret || fatal_signal_pending(current))) {
		guard(rcu)();
		trace_rdmacg_throttle(rdmacg_desc_name_rcu(desc), rdmacg_id(cg),
				      div_u64(waited_ns, NSEC_PER_USEC));
	}
	/*
	 * A destroy command has no place in flight, so its end is not reported.
	 */
	if (!ret && kind != RDMACG_COMMAND_DESTROY)
		*command = (struct rdmacg_command) { .control = control, .cg = cg };
	return ret;
}

/**
 * rdmacg_limit_command() - let a command begin when the limits of its cgroup
 * allow it
 * @command: as for rdmacg_begin_command(), with no control
 * @device: as for rdmacg_begin_command()
 * @kind: as for rdmacg_begin_command()
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_begin_command().
 */
int rdmacg_limit_command(struct rdmacg_command *command, struct rdmacg_device *device,
			 enum rdmacg_command_kind kind)
{
	struct rdma_cgroup *cg = rdmacg_get_current();
	int ret = rdmacg_command_begin(command, cg, device->desc, kind);

	if (!command->control)
		rdmacg_put(cg);
	return ret;
}
EXPORT_SYMBOL(rdmacg_limit_command);

/**
 * rdmacg_end_limited_command() - end a command that has a control
 * @command: a command with a control
 *
 * Context: as for rdmacg_end_command().
 */
void rdmacg_end_limited_command(struct rdmacg_command *command)
{
	struct rdma_cgroup *cg = command->cg;

	rdmacg_control_end(command->control);
	command->control = NULL;
	rdmacg_put(cg);
}
EXPORT_SYMBOL(rdmacg_end_limited_command);

#endif /* CONFIG_CGROUP_RDMA_CONTROL */

/**
 * rdmacg_register_tables() - register a device with its resources
 * @device: the device, with its name and index set
 * @tables: its resources; this call sets first_slot of each table
 * @count: number of @tables
 *
 * The first table contains the resources of enum rdmacg_resource_type. A table
 * that is malformed or does not fit is refused. The kernel logs this, and
 * first_slot of the table is an error. The device is registered with the
 * resources of the other tables. Its commands can be limited only if
 * RDMACG_CONTROL_LIMITS more slots fit.
 *
 * Call this before the first charge on the device. @device must exist until
 * rdmacg_unregister_device() has returned. This function copies @tables, their
 * arrays and their names.
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if there are too many devices. After an error,
 * the caller has nothing to undo.
 */
int rdmacg_register_tables(struct rdmacg_device *device,
			   struct rdmacg_table *tables, unsigned int count)
{
	struct rdmacg_desc *desc = rdmacg_desc_alloc(device, tables, count);
	int ret = desc ? rdmacg_desc_publish(desc, device) : -ENOMEM;

	if (ret) {
		kfree(desc);
		return ret;
	}
	device->key = desc->key;
	device->nr_slots = desc->control_slot;
	device->desc = desc;
	return 0;
}
EXPORT_SYMBOL(rdmacg_register_tables);

/**
 * rdmacg_register_device() - register a device that has only the resources of
 *	enum rdmacg_resource_type
 * @device: the device, with its name set
 *
 * This is the function of Linux before rdmacg_register_tables(), for an IB core
 * from outside of the tree. The name is read again when a file is read or
 * written, so the caller does not call rdmacg_rename_device(). All network
 * namespaces see the device, and its index is above all indices of the IB core.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_register_device(struct rdmacg_device *device)
{
	static const struct rdmacg_resource resources[RDMACG_RESOURCE_MAX] = {
		[RDMACG_RESOURCE_HCA_HANDLE] = { "hca_handle", RDMACG_CLASS_HCA, RDMACG_NO_LIMIT },
		[RDMACG_RESOURCE_HCA_OBJECT] = { "hca_object", RDMACG_CLASS_HCA, RDMACG_NO_LIMIT },
	};
	static atomic_t next_index = ATOMIC_INIT(0);
	struct rdmacg_table table = { .resources = resources, .count = ARRAY_SIZE(resources) };

	/* The IB core uses the numbers up to S32_MAX. */
	device->index = (u32)atomic_inc_return(&next_index) | BIT(31);
	device->net = NULL;
	device->names_are_global = NULL;
	/* The caller expects no error. */
	while (rdmacg_register_tables(device, &table, 1))
		schedule_timeout_uninterruptible(1);
	rdmacg_desc_follow_name(device->desc, device->name);
}
EXPORT_SYMBOL(rdmacg_register_device);

/**
 * rdmacg_unregister_device() - unregister a device from the controller
 * @device: a registered device, without charges unless its keeps_charges is
 *	true
 *
 * This function removes the device's limits and history from all cgroups, and
 * returns charges that are left. The caller may then free @device.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_unregister_device(struct rdmacg_device *device)
{
	struct rdmacg_desc *desc = device->desc;

	/*
	 * Hide the device first. Otherwise readers and writers would find it
	 * without its pools.
	 */
	rdmacg_desc_hide(desc);
	rdmacg_desc_follow_name(desc, NULL);
	WRITE_ONCE(desc->keeps_charges, READ_ONCE(device->keeps_charges));
	rdmacg_pools_drain(desc);
	/* Without slots, later charges fail. */
	device->nr_slots = 0;
	device->desc = NULL;
	rdmacg_desc_put(desc);
}
EXPORT_SYMBOL(rdmacg_unregister_device);

static ssize_t rdmacg_max_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	struct rdma_cgroup *cg = rdmacg_from_css(of_css(of));
	unsigned long file = of_cft(of)->private;
	int ret;

	/* The text must not contain a NUL. */
	if (strlen(buf) != nbytes)
		return -EINVAL;
	/*
	 * rmdir waits for active operations on the cgroup's files, and other
	 * processes wait for rmdir. So allow rmdir to remove the file during
	 * the write. The reference keeps the cgroup.
	 */
	rdmacg_get(cg);
	kernfs_break_active_protection(of->kn);
	ret = file % RDMACG_FILES == RDMACG_FILE_DEFAULT ? rdmacg_set_default(cg, buf) :
	      rdmacg_set_max(cg, file / RDMACG_FILES, buf);
	kernfs_unbreak_active_protection(of->kn);
	rdmacg_put(cg);
	return ret ?: nbytes;
}

/* Print one resource in @file. @pool is NULL if the cgroup has no pool. */
static void rdmacg_print_resource(struct seq_file *sf, struct rdma_cgroup *cg,
				  enum rdmacg_file file, const struct rdmacg_desc *desc,
				  const struct rdmacg_pool *pool, unsigned int slot)
{
	static const struct rdmacg_counts none;
	const char *key = desc->resources[slot].name;
	const struct rdmacg_counts *events;

	switch (file) {
	case RDMACG_FILE_MAX:
		rdmacg_print_limit(sf, key, rdmacg_limit_rcu(cg, desc, slot));
		break;
	case RDMACG_FILE_CURRENT:
		rdmacg_print_value(sf, key, "", pool ? rdmacg_slot_usage(&pool->slots[slot]) : 0);
		break;
	case RDMACG_FILE_PEAK:
		rdmacg_print_value(sf, key, "", pool ? READ_ONCE(pool->slots[slot].peak) : 0);
		break;
	case RDMACG_FILE_CAPACITY:
		rdmacg_print_limit(sf, key, desc->resources[slot].capacity);
		break;
	default:
		events = pool ? rcu_dereference(pool->events) : NULL;
		events = events ? &events[slot] : &none;
		if (file == RDMACG_FILE_EVENTS) {
			rdmacg_print_value(sf, key, ".max", READ_ONCE(events->max));
			rdmacg_print_value(sf, key, ".alloc_fail", READ_ONCE(events->alloc_fail));
		} else {
			rdmacg_print_value(sf, key, ".max", READ_ONCE(events->local_max));
			rdmacg_print_value(sf, key, ".alloc_fail",
					   READ_ONCE(events->local_alloc_fail));
		}
	}
}

/* Print the values of a device in rdma.control.stat. */
static void rdmacg_print_control_stat(struct seq_file *sf, const struct rdmacg_pool *pool)
{
	static const struct rdmacg_control_stat none;
	const struct rdmacg_control *control = pool ? rcu_dereference(pool->control) : NULL;
	const struct rdmacg_control_stat *stat = control ? &control->stat : &none;

	rdmacg_print_value(sf, "ops", "", READ_ONCE(stat->ops));
	rdmacg_print_value(sf, "throttled", "", READ_ONCE(stat->throttled));
	rdmacg_print_value(sf, "throttled_usec", "",
			   div_u64(READ_ONCE(stat->throttled_ns), NSEC_PER_USEC));
}

/*
 * Print the line of a device with its resources of @class. rdma.capacity shows
 * the resources of all classes except control. A device without resources to
 * show has no line. The caller is in an RCU read section.
 */
void rdmacg_show_line(struct seq_file *sf, struct rdma_cgroup *cg,
		      const struct rdmacg_desc *desc, enum rdmacg_class class,
		      enum rdmacg_file file)
{
	const struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, desc->key);
	/* Read the name once, because the device may be renamed meanwhile. */
	const struct rdmacg_name *name = rcu_dereference(desc->name);
	bool empty = true;
	unsigned int slot;

	for (slot = 0; slot < desc->nr_slots; slot++) {
		enum rdmacg_class own = desc->resources[slot].class;

		if (file == RDMACG_FILE_CAPACITY ? own == RDMACG_CLASS_CONTROL : own != class)
			continue;
		if (empty)
			seq_puts(sf, name->text);
		if (empty && rdmacg_name_needs_index_rcu(desc, name))
			seq_printf(sf, " index=%u", desc->index);
		empty = false;
		if (file == RDMACG_FILE_STAT) {
			rdmacg_print_control_stat(sf, pool);
			break;
		}
		rdmacg_print_resource(sf, cg, file, desc, pool, slot);
	}
	if (!empty)
		seq_putc(sf, '\n');
}

/*
 * Show rdma.default, or a file with one line for each device, in the order of
 * the devices' keys. Each line is printed under RCU, so that neither the device
 * nor the pool is freed meanwhile.
 */
static int rdmacg_seq_show(struct seq_file *sf, void *v)
{
	struct rdma_cgroup *cg = rdmacg_from_css(seq_css(sf));
	unsigned long id, file = seq_cft(sf)->private;
	struct rdmacg_desc *desc;

	if (file % RDMACG_FILES == RDMACG_FILE_DEFAULT) {
		guard(rcu)();
		rdmacg_print_defaults(sf, rcu_dereference(cg->defaults));
		return 0;
	}
	for (id = 0; !seq_has_overflowed(sf); id++) {
		scoped_guard(rcu) {
			desc = rdmacg_desc_next(&id);
			if (!desc)
				return 0;
			rdmacg_show_line(sf, cg, desc, file / RDMACG_FILES, file % RDMACG_FILES);
		}
		cond_resched();
	}
	return 0;
}

/*
 * The longest text of a write. The text and its NUL fill a buffer of 64 KiB,
 * which is not charged to a memory cgroup. The buffer has room for 19 devices
 * with 64 resources, the longest keys and the longest values, or for about 200
 * devices with today's resources.
 */
#define RDMACG_MAX_WRITE (SZ_64K - 1)

/* The arguments after @_file set other members of the cftype. */
#define RDMACG_FILE(_name, _class, _file, ...)				\
	{								\
		.name		= _name,				\
		.private	= (_class) * RDMACG_FILES + (_file),	\
		.flags		= CFTYPE_NOT_ON_ROOT,			\
		.seq_show	= rdmacg_seq_show,			\
		__VA_ARGS__						\
	}

#define RDMACG_LIMITS(_name, _class, _file)				\
	RDMACG_FILE(_name, _class, _file, .write = rdmacg_max_write,	\
		    .max_write_len = RDMACG_MAX_WRITE)

/*
 * @_notified is the member of struct rdmacg_event_files that notifies the
 * file's readers.
 */
#define RDMACG_EVENTS(_name, _class, _file, _notified)			\
	RDMACG_FILE(_name, _class, _file, RDMACG_NOTIFIED(_notified))

struct cftype rdmacg_files[] = {
	/* rdma.default shows the defaults of all classes. */
	RDMACG_LIMITS("default", RDMACG_CLASS_HCA, RDMACG_FILE_DEFAULT),
	RDMACG_LIMITS("max", RDMACG_CLASS_HCA, RDMACG_FILE_MAX),
	RDMACG_FILE("current", RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT),
	RDMACG_FILE("peak", RDMACG_CLASS_HCA, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("events", RDMACG_CLASS_HCA, RDMACG_FILE_EVENTS, events[RDMACG_CLASS_HCA]),
	RDMACG_EVENTS("events.local", RDMACG_CLASS_HCA, RDMACG_FILE_EVENTS_LOCAL,
		      events_local[RDMACG_CLASS_HCA]),
#ifdef CONFIG_CGROUP_RDMA_VERBS
	RDMACG_LIMITS("verb.max", RDMACG_CLASS_VERB, RDMACG_FILE_MAX),
	RDMACG_FILE("verb.current", RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT),
	RDMACG_FILE("verb.peak", RDMACG_CLASS_VERB, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("verb.events", RDMACG_CLASS_VERB, RDMACG_FILE_EVENTS,
		      events[RDMACG_CLASS_VERB]),
	RDMACG_EVENTS("verb.events.local", RDMACG_CLASS_VERB, RDMACG_FILE_EVENTS_LOCAL,
		      events_local[RDMACG_CLASS_VERB]),
	RDMACG_LIMITS("hw.max", RDMACG_CLASS_HW, RDMACG_FILE_MAX),
	RDMACG_FILE("hw.current", RDMACG_CLASS_HW, RDMACG_FILE_CURRENT),
	RDMACG_FILE("hw.peak", RDMACG_CLASS_HW, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("hw.events", RDMACG_CLASS_HW, RDMACG_FILE_EVENTS, events[RDMACG_CLASS_HW]),
	RDMACG_EVENTS("hw.events.local", RDMACG_CLASS_HW, RDMACG_FILE_EVENTS_LOCAL,
		      events_local[RDMACG_CLASS_HW]),
#endif
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	RDMACG_LIMITS("control.max", RDMACG_CLASS_CONTROL, RDMACG_FILE_MAX),
	RDMACG_FILE("control.stat", RDMACG_CLASS_CONTROL, RDMACG_FILE_STAT),
#endif
	{
		.name = "capacity",
		.private = RDMACG_FILE_CAPACITY,
		.seq_show = rdmacg_seq_show,
		.flags = CFTYPE_ONLY_ON_ROOT,
	},
	{ }	/* terminate */
};
