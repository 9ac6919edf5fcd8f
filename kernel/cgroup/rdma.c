// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: hard limits on the objects that the processes of a
 * cgroup have on each RDMA device.
 *
 * The process that creates an object pays for it, in its cgroup of that moment
 * and in all ancestors but the root, until the object is destroyed: moving the
 * process, passing the file descriptor on or removing the cgroup changes
 * nothing. A charge that finds no room fails with EAGAIN. A limit set below the
 * usage refuses new objects and takes none away.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#include <kunit/static_stub.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernfs.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <trace/events/rdmacg.h>

#include "rdma-internal.h"

/*
 * Wake whoever waits for the files that a refusal of @cg's charge has changed, and tell
 * whoever traces. Outside the domain's lock: on Linux 6.12 this takes a lock of all cgroups.
 * Not inlined, for a charge that finds room would save registers for it.
 */
static noinline void rdmacg_tell_refusal(struct rdma_cgroup *cg, struct rdmacg_device *device,
					 const struct rdmacg_refusal *refusal)
{
	enum rdmacg_class class = device->desc->resources[refusal->slot].class;
	struct rdma_cgroup *level;

	for (level = cg; rdmacg_parent(level); level = rdmacg_parent(level)) {
		cgroup_file_notify(&level->events_file[class]);
		if (level == cg || level == refusal->cg)
			cgroup_file_notify(&level->events_local_file[class]);
	}
	if (trace_rdmacg_refuse_enabled())
		rdmacg_trace_refuse(cg, device, refusal);
}

/* Each slot exists, none is there twice, and the amounts are ones to count. */
static bool rdmacg_set_is_valid(const struct rdmacg_device *device,
				const struct rdmacg_charge *set, unsigned int count)
{
	const struct rdmacg_charge *charge;
	u64 seen = 0;

	for (charge = set; charge < set + count; charge++) {
		if (charge->slot >= device->nr_slots || (seen & BIT_ULL(charge->slot)))
			return false;
		if (!charge->amount ||
		    (charge->amount > RDMACG_NO_LIMIT && charge->amount != RDMACG_ENDLESS))
			return false;
		seen |= BIT_ULL(charge->slot);
	}
	return seen;
}

/*
 * Tell a caller who must not sleep, where the kernel looks for such. Without a chance to
 * reschedule, which is half of might_sleep() and costs as much as eight levels.
 */
static void rdmacg_might_sleep(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP))
		might_sleep();
}

/*
 * Charge @cg, to which the caller holds a reference. Always inlined, as are those that follow:
 * with its tracepoint a compiler thinks it too large, and then one slot takes a loop, and
 * registers are saved more than once.
 */
static __always_inline int rdmacg_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
					 const struct rdmacg_charge *set, unsigned int count)
{
	/* Set for a refusal, and to be cleared for nothing else. */
	struct rdmacg_refusal refusal __uninitialized;
	int ret;

	rdmacg_might_sleep();
	if (!rdmacg_set_is_valid(device, set, count))
		return -EINVAL;
	ret = rdmacg_pool_try_charge(cg, device, set, count, &refusal);
	if (!ret && trace_rdmacg_charge_enabled())
		rdmacg_trace_charge(cg, device, set, count);
	if (ret == -EAGAIN)
		rdmacg_tell_refusal(cg, device, &refusal);
	return ret;
}

/**
 * rdmacg_get_current() - the cgroup of the current process
 *
 * For work that is done later or elsewhere on behalf of this process.
 *
 * Context: Process context.
 * Return: the cgroup, with a reference that the caller hands to rdmacg_put().
 */
struct rdma_cgroup *rdmacg_get_current(void)
{
	KUNIT_STATIC_STUB_REDIRECT(rdmacg_get_current);
	return rdmacg_from_css(task_get_css(current, rdma_cgrp_id));
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
	css_get(&cg->css);
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
	css_put(&cg->css);
}
EXPORT_SYMBOL(rdmacg_put);

static __always_inline int rdmacg_charge_current(struct rdma_cgroup **owner,
						 struct rdmacg_device *device,
						 const struct rdmacg_charge *set,
						 unsigned int count)
{
	struct rdma_cgroup *cg = rdmacg_get_current();
	int ret;

	ret = rdmacg_charge(cg, device, set, count);
	if (ret)
		rdmacg_put(cg);
	else
		*owner = cg;
	return ret;
}

static __always_inline void rdmacg_uncharge_owner(struct rdma_cgroup *owner,
						  struct rdmacg_device *device,
						  const struct rdmacg_charge *set,
						  unsigned int count)
{
	rdmacg_might_sleep();
	if (!WARN_ON_ONCE(!rdmacg_set_is_valid(device, set, count))) {
		rdmacg_pool_uncharge(owner, device, set, count);
		if (trace_rdmacg_uncharge_enabled())
			rdmacg_trace_uncharge(owner, device, set, count);
	}
	rdmacg_put(owner);
}

/**
 * rdmacg_try_charge_set() - charge several resources to the current process
 * @owner: set on success to the cgroup that pays
 * @device: a registered device
 * @set: the resources and amounts, each resource once
 * @count: number of charges in @set
 *
 * All of @set is charged or nothing. On success @owner is pinned until it is
 * handed to rdmacg_uncharge_set(), which has to happen once, from any process.
 * On failure @owner is left as it was.
 *
 * Context: Process context; may sleep.
 * Return: 0, or -EAGAIN if a limit of the cgroup or of an ancestor stands in the
 * way, -ENOMEM, -ENODEV for the pin of a device that was unregistered, or -EINVAL for an
 * empty @set, a slot that @device does not have, a slot that is there twice, or an amount
 * out of range.
 */
int rdmacg_try_charge_set(struct rdma_cgroup **owner, struct rdmacg_device *device,
			  const struct rdmacg_charge *set, unsigned int count)
{
	return rdmacg_charge_current(owner, device, set, count);
}
EXPORT_SYMBOL(rdmacg_try_charge_set);

/**
 * rdmacg_try_charge_cgroup() - charge several resources to a given cgroup
 * @cg: the cgroup that pays, such as rdmacg_get_current() returned or an earlier
 *	charge made the owner; the caller's reference stays the caller's
 * @device: a registered device, or what rdmacg_pin_device() made of one
 * @set: the resources and amounts, each resource once
 * @count: number of charges in @set
 *
 * For a kernel thread that works for a user's request. On success @cg is pinned
 * once more until it is handed to rdmacg_uncharge_set(), which has to happen
 * once. @cg may have been removed meanwhile: its limits and those of its
 * ancestors still hold.
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_try_charge_set().
 */
int rdmacg_try_charge_cgroup(struct rdma_cgroup *cg, struct rdmacg_device *device,
			     const struct rdmacg_charge *set, unsigned int count)
{
	int ret = rdmacg_charge(cg, device, set, count);

	if (!ret)
		rdmacg_get(cg);
	return ret;
}
EXPORT_SYMBOL(rdmacg_try_charge_cgroup);

/**
 * rdmacg_uncharge_set() - give back what one charge of a set took
 * @owner: the cgroup that paid; the charge's reference to it is consumed
 * @device: the same device, still registered, or the same pin of it
 * @set: the same resources and amounts
 * @count: number of charges in @set
 *
 * What several charges took from one cgroup can be given back in other portions;
 * only the references, and the sums, have to match.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_uncharge_set(struct rdma_cgroup *owner, struct rdmacg_device *device,
			 const struct rdmacg_charge *set, unsigned int count)
{
	rdmacg_uncharge_owner(owner, device, set, count);
}
EXPORT_SYMBOL(rdmacg_uncharge_set);

/**
 * rdmacg_try_charge() - charge one unit of a resource to the current process
 * @owner: set on success to the cgroup that pays
 * @device: a registered device
 * @index: the slot of the resource
 *
 * On success @owner is pinned until it is handed to rdmacg_uncharge(), which has
 * to happen once, from any process. On failure @owner is left as it was.
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_try_charge_set().
 */
int rdmacg_try_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
		      enum rdmacg_resource_type index)
{
	const struct rdmacg_charge charge = { .slot = index, .amount = 1 };

	return rdmacg_charge_current(owner, device, &charge, 1);
}
EXPORT_SYMBOL(rdmacg_try_charge);

/**
 * rdmacg_uncharge() - give back what rdmacg_try_charge() took
 * @owner: the cgroup that it returned; the reference is consumed
 * @device: the same device, still registered
 * @index: the same slot
 *
 * Context: Process context; may sleep.
 */
void rdmacg_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
		     enum rdmacg_resource_type index)
{
	const struct rdmacg_charge charge = { .slot = index, .amount = 1 };

	rdmacg_uncharge_owner(owner, device, &charge, 1);
}
EXPORT_SYMBOL(rdmacg_uncharge);

static u64 rdmacg_binding_limit_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
				    unsigned int slot)
{
	const struct rdmacg_resource *resource = &desc->resources[slot];
	const struct rdmacg_pool *pool;
	u64 limit = RDMACG_NO_LIMIT;

	for (; cg; cg = rdmacg_parent(cg)) {
		pool = rdmacg_pool_find_rcu(cg, desc->key);
		limit = min(limit, rdmacg_limit_rcu(cg, pool, resource, slot));
	}
	return limit;
}

/**
 * rdmacg_current_limit() - the limit that binds the current process
 * @device: a registered device
 * @slot: the resource
 *
 * Context: Process context.
 * Return: the smallest limit of the process's cgroup and its ancestors, in the
 * resource's unit, or RDMACG_NO_LIMIT.
 */
u64 rdmacg_current_limit(struct rdmacg_device *device, unsigned int slot)
{
	struct rdma_cgroup *cg = rdmacg_get_current();
	u64 limit = RDMACG_NO_LIMIT;

	if (!WARN_ON_ONCE(slot >= device->nr_slots)) {
		rcu_read_lock();
		limit = rdmacg_binding_limit_rcu(cg, device->desc, slot);
		rcu_read_unlock();
	}
	rdmacg_put(cg);
	return limit;
}
EXPORT_SYMBOL(rdmacg_current_limit);

/* A write to a file of limits, from its text to its end. Belongs to the writer. */
struct rdmacg_write {
	struct rdma_cgroup	*cg;
	enum rdmacg_class	class;
	/* Has what it needs whatever others make of the defaults meanwhile. */
	bool			is_sure;
	/* "max" may be a limit: the class may have a default once the write is done. */
	bool			keep_max;
	/* What becomes of the defaults; NULL unless a line sets some. */
	struct rdmacg_edit	*edit;
	/* Memory for that; the cgroup's once they are in place. */
	struct rdmacg_defaults	*defaults;
	struct list_head	devices;	/* rdmacg_staged */
	/* For the slots of one device after the other; NULL if nobody traces. */
	struct rdmacg_change	*changes;
};

/* Of objects, there can be none. If there were no commands, all would wait for ever. */
static bool rdmacg_limit_is_valid(enum rdmacg_class class, u64 value)
{
	return value || class != RDMACG_CLASS_CONTROL;
}

/*
 * Add the limits of one line to what is staged. An empty key stands for the whole
 * class. -EINVAL for a key that the device does not have in that class.
 */
static int rdmacg_stage_limits(struct rdmacg_staged *staged, enum rdmacg_class class,
			       const char *limits)
{
	const struct rdmacg_desc *desc = staged->desc;
	struct rdmacg_word key;
	unsigned int slot;
	bool found;
	u64 value;

	while (rdmacg_parse_limit(&limits, &key, &value) > 0) {
		if (!rdmacg_limit_is_valid(class, value))
			return -EINVAL;
		found = false;
		for (slot = 0; slot < desc->nr_slots; slot++) {
			if (desc->resources[slot].class != class ||
			    (key.len && !rdmacg_word_is(key, desc->resources[slot].name)))
				continue;
			staged->slots |= BIT_ULL(slot);
			staged->max[slot] = value;
			found = true;
		}
		if (!found)
			return -EINVAL;
	}
	return 0;
}

static bool rdmacg_line_is_alike(const struct rdmacg_line *a, const struct rdmacg_line *b)
{
	return a->name_len == b->name_len && !memcmp(a->name, b->name, a->name_len) &&
	       a->has_index == b->has_index && a->index == b->index;
}

/* What is staged for the device; @desc's reference is used up. */
static struct rdmacg_staged *rdmacg_stage_desc(struct list_head *all, struct rdmacg_desc *desc)
{
	struct rdmacg_staged *staged;
	size_t size = struct_size(staged, max, desc->nr_slots);
	bool is_traced = trace_rdmacg_set_max_enabled();

	list_for_each_entry(staged, all, node) {
		if (staged->desc == desc) {
			rdmacg_desc_put(desc);
			return staged;
		}
	}
	if (is_traced)
		size += desc->nr_slots * sizeof(struct rdmacg_change);
	staged = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!staged) {
		rdmacg_desc_put(desc);
		return ERR_PTR(-ENOMEM);
	}
	if (is_traced)
		staged->changes = (void *)&staged->max[desc->nr_slots];
	staged->desc = desc;
	list_add(&staged->node, all);
	return staged;
}

/* What is staged for the device that the line names, which is looked up once. */
static struct rdmacg_staged *rdmacg_stage_device(struct list_head *all,
						 const struct rdmacg_line *line)
{
	struct rdmacg_staged *staged;
	struct rdmacg_desc *desc;

	list_for_each_entry(staged, all, node)
		if (rdmacg_line_is_alike(&staged->line, line))
			return staged;
	desc = rdmacg_desc_get(line->name, line->name_len, line->has_index ? &line->index : NULL);
	if (IS_ERR(desc))
		return ERR_CAST(desc);
	/* It may be there already, with the index or without. */
	staged = rdmacg_stage_desc(all, desc);
	if (!IS_ERR(staged))
		staged->line = *line;
	return staged;
}

static int rdmacg_stage_device_line(struct rdmacg_write *write, const struct rdmacg_line *line)
{
	struct rdmacg_staged *staged = rdmacg_stage_device(&write->devices, line);

	if (IS_ERR(staged))
		return PTR_ERR(staged);
	return rdmacg_stage_limits(staged, write->class, line->limits);
}

/* The same for a line of defaults. */
static int rdmacg_stage_default_line(struct rdmacg_write *write, const struct rdmacg_line *line)
{
	const char *limits = line->limits;
	struct rdmacg_word key;
	u64 value;
	int ret;

	if (!write->edit)
		write->edit = rdmacg_edit_alloc(write->cg, write->class);
	if (!write->edit)
		return -ENOMEM;
	while (rdmacg_parse_limit(&limits, &key, &value) > 0) {
		if (!rdmacg_limit_is_valid(write->class, value))
			return -EINVAL;
		ret = rdmacg_edit_set(write->edit, key, value);
		if (ret)
			return ret;
	}
	return 0;
}

/* What the lines of a well-formed text say of each device, and of all. */
static int rdmacg_stage_text(struct rdmacg_write *write, const char *text)
{
	struct rdmacg_line line;
	int ret;

	while (rdmacg_parse_line(&text, &line) > 0) {
		ret = line.is_default ? rdmacg_stage_default_line(write, &line) :
					rdmacg_stage_device_line(write, &line);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* Whether the class may have a default once the write is done, beside which "max" is a limit. */
static bool rdmacg_write_may_keep_max(const struct rdmacg_write *write)
{
	bool keep_max;

	if (write->edit || write->is_sure)
		return true;
	rcu_read_lock();
	keep_max = rdmacg_defaults_have(rcu_dereference(write->cg->defaults), write->class);
	rcu_read_unlock();
	return keep_max;
}

/* Tell of the limits that are set now. */
static void rdmacg_trace_staged(struct rdmacg_write *write)
{
	struct rdmacg_staged *staged;

	rcu_read_lock();
	list_for_each_entry(staged, &write->devices, node)
		if (staged->changes)
			rdmacg_trace_changes_rcu(write->cg, staged->desc, staged->changes);
	rcu_read_unlock();
}

/* Put the defaults into place that the write makes of those there are now. */
static void rdmacg_apply_edit_locked(struct rdmacg_write *write)
{
	struct rdmacg_defaults *defaults = write->defaults;

	if (defaults->count)
		write->defaults = NULL;
	else
		defaults = NULL;
	rdmacg_apply_defaults_locked(write->cg, defaults);
}

/*
 * All of it at once, but for devices that it does not name and that have to follow a default:
 * rdmacg_refresh_pools(). -EAGAIN if the defaults have become others than those that the write had
 * prepared for, which does not happen to one that is sure; -EINVAL if others have set so many
 * defaults that there is no room for more.
 */
static int rdmacg_apply_write_locked(struct rdmacg_write *write)
{
	const struct rdmacg_defaults *defaults;
	struct rdmacg_staged *staged;
	bool keep_max;
	int ret;

	defaults = rcu_dereference_protected(write->cg->defaults,
					     lockdep_is_held(&write->cg->max_lock));
	if (write->edit) {
		ret = rdmacg_defaults_merge(write->defaults, defaults, write->edit);
		if (ret)
			return ret;
		defaults = write->defaults;
	}
	keep_max = rdmacg_defaults_have(defaults, write->class);
	if (keep_max && !write->keep_max)
		return -EAGAIN;
	/* From here on nothing fails. */
	if (write->edit)
		rdmacg_apply_edit_locked(write);
	list_for_each_entry(staged, &write->devices, node) {
		staged->keep_max = keep_max;
		rdmacg_apply_staged(write->cg, staged);
	}
	return 0;
}

static int rdmacg_apply_write(struct rdmacg_write *write)
{
	struct rdma_cgroup *cg = write->cg;
	int ret;

	spin_lock(&cg->max_lock);
	ret = rdmacg_apply_write_locked(write);
	spin_unlock(&cg->max_lock);
	if (!ret && trace_rdmacg_set_max_enabled())
		rdmacg_trace_staged(write);
	return ret;
}

/* Let the defaults hold on a device, and tell of limits that change. */
static void rdmacg_refresh_rcu(struct rdmacg_write *write, const struct rdmacg_desc *desc)
{
	rdmacg_pool_refresh_rcu(write->cg, desc, write->changes);
	if (write->changes)
		rdmacg_trace_changes_rcu(write->cg, desc, write->changes);
}

/* Let the defaults hold on each device on which the cgroup has a pool with older ones. */
static void rdmacg_refresh_pools(struct rdmacg_write *write)
{
	struct rdmacg_pool *pool;
	unsigned long key = 0;

	do {
		rcu_read_lock();
		pool = xa_find(&write->cg->pools, &key, ULONG_MAX, XA_PRESENT);
		if (pool)
			rdmacg_refresh_rcu(write, pool->domain->desc);
		rcu_read_unlock();
		cond_resched();
		key++;
	} while (pool);
}

/* The same for the devices that the write names. */
static void rdmacg_refresh_staged(struct rdmacg_write *write)
{
	struct rdmacg_staged *staged;

	list_for_each_entry(staged, &write->devices, node) {
		rcu_read_lock();
		rdmacg_refresh_rcu(write, staged->desc);
		rcu_read_unlock();
		cond_resched();
	}
}

/* All of it or, on an error, nothing. */
static int rdmacg_set_staged(struct rdmacg_write *write)
{
	struct rdmacg_staged *staged;
	int ret;

	write->keep_max = rdmacg_write_may_keep_max(write);
	if (write->edit) {
		write->defaults = rdmacg_defaults_alloc(write->cg, write->edit, write->is_sure);
		if (!write->defaults)
			return -ENOMEM;
	}
	list_for_each_entry(staged, &write->devices, node) {
		if (fatal_signal_pending(current))
			return -EINTR;
		staged->keep_max = write->keep_max;
		ret = rdmacg_stage_pool(write->cg, staged);
		if (ret)
			return ret;
	}
	ret = rdmacg_apply_write(write);
	if (ret)
		return ret;
	if (write->edit)
		rdmacg_refresh_pools(write);
	else
		rdmacg_refresh_staged(write);
	return 0;
}

static void rdmacg_end_write(struct rdmacg_write *write)
{
	struct rdmacg_staged *staged, *next;

	list_for_each_entry_safe(staged, next, &write->devices, node) {
		rdmacg_unstage_pool(write->cg, staged);
		rdmacg_desc_put(staged->desc);
		kfree(staged);
	}
	kfree(write->edit);
	kfree(write->defaults);
	kfree(write->changes);
}

/* The same as rdmacg_set_max(), for a well-formed text; -EAGAIN unless @is_sure. */
static int rdmacg_try_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, const char *text,
			      bool is_sure)
{
	struct rdmacg_write write = {
		.cg = cg,
		.class = class,
		.is_sure = is_sure,
		.devices = LIST_HEAD_INIT(write.devices),
	};
	int ret;

	if (trace_rdmacg_set_max_enabled()) {
		write.changes = kcalloc(RDMACG_MAX_SLOTS, sizeof(*write.changes),
					GFP_KERNEL_ACCOUNT);
		if (!write.changes)
			return -ENOMEM;
	}
	ret = rdmacg_stage_text(&write, text);
	if (!ret)
		ret = rdmacg_set_staged(&write);
	rdmacg_end_write(&write);
	return ret;
}

/* Set the limits that @text holds, all of them or, on an error, none. */
int rdmacg_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, const char *text)
{
	int ret = rdmacg_check_text(text);

	if (ret)
		return ret;
	ret = rdmacg_try_set_max(cg, class, text, false);
	if (ret == -EAGAIN)
		ret = rdmacg_try_set_max(cg, class, text, true);
	if (class == RDMACG_CLASS_CONTROL)
		rdmacg_commands_settle();
	return ret;
}

static enum rdmacg_class rdmacg_file_class(const struct cftype *file)
{
	return file->private / RDMACG_FILES;
}

static enum rdmacg_file rdmacg_file_kind(const struct cftype *file)
{
	return file->private % RDMACG_FILES;
}

static ssize_t rdmacg_max_write(struct kernfs_open_file *of, char *buf,
				size_t nbytes, loff_t off)
{
	struct rdma_cgroup *cg = rdmacg_from_css(of_css(of));
	int ret;

	/* The text may end in the buffer's NUL and hold no other. */
	if (strlen(buf) != nbytes)
		return -EINVAL;
	/*
	 * Who removes the cgroup waits for its files, and all others for who does. So the
	 * file may go while the text is read; a reference keeps the cgroup.
	 */
	rdmacg_get(cg);
	kernfs_break_active_protection(of->kn);
	ret = rdmacg_set_max(cg, rdmacg_file_class(of_cft(of)), buf);
	kernfs_unbreak_active_protection(of->kn);
	rdmacg_put(cg);
	return ret ?: nbytes;
}

static void rdmacg_print_events(struct seq_file *sf, enum rdmacg_file file, const char *key,
				const struct rdmacg_events *events)
{
	bool local = file == RDMACG_FILE_EVENTS_LOCAL;

	rdmacg_print_value(sf, key, ".max",
			   READ_ONCE(*(local ? &events->local_max : &events->max)));
	rdmacg_print_value(sf, key, ".alloc_fail",
			   READ_ONCE(*(local ? &events->local_alloc_fail : &events->alloc_fail)));
}

/* What @file says of one resource; @pool is NULL where the cgroup has none. */
static void rdmacg_print_resource(struct seq_file *sf, struct rdma_cgroup *cg,
				  enum rdmacg_file file, const struct rdmacg_resource *resource,
				  const struct rdmacg_pool *pool, unsigned int slot)
{
	static const struct rdmacg_events none;
	const char *key = resource->name;
	const struct rdmacg_events *events;

	switch (file) {
	case RDMACG_FILE_MAX:
		rdmacg_print_limit(sf, key, rdmacg_limit_rcu(cg, pool, resource, slot));
		break;
	case RDMACG_FILE_CURRENT:
		rdmacg_print_value(sf, key, "", pool ? rdmacg_slot_usage(&pool->slots[slot]) : 0);
		break;
	case RDMACG_FILE_PEAK:
		rdmacg_print_value(sf, key, "", pool ? READ_ONCE(pool->slots[slot].peak) : 0);
		break;
	case RDMACG_FILE_CAPACITY:
		rdmacg_print_limit(sf, key, resource->capacity);
		break;
	default:
		events = pool ? rcu_dereference(pool->events) : NULL;
		rdmacg_print_events(sf, file, key, events ? &events[slot] : &none);
	}
}

/* The line of the cgroup's defaults, if it has any in the class. To be called under RCU. */
void rdmacg_show_default(struct seq_file *sf, struct rdma_cgroup *cg, enum rdmacg_class class)
{
	const struct rdmacg_defaults *defaults = rcu_dereference(cg->defaults);
	unsigned int i;

	if (!rdmacg_defaults_have(defaults, class))
		return;
	rdmacg_print_device(sf, "default", true, 0);
	for (i = 0; i < defaults->count; i++)
		if (defaults->limits[i].class == class)
			rdmacg_print_limit(sf, defaults->limits[i].key, defaults->limits[i].max);
	seq_putc(sf, '\n');
}

/* Whether @file shows a resource in the lines of @class. */
static bool rdmacg_file_shows(enum rdmacg_file file, enum rdmacg_class class,
			      const struct rdmacg_resource *resource)
{
	/* No device offers a number of commands. */
	if (file == RDMACG_FILE_CAPACITY)
		return resource->class != RDMACG_CLASS_CONTROL;
	return resource->class == class;
}

/*
 * The line of a device: its resources of @class, or of every class. A device that
 * has none has no line. To be called under RCU.
 */
void rdmacg_show_line(struct seq_file *sf, struct rdma_cgroup *cg,
		      const struct rdmacg_desc *desc, enum rdmacg_class class,
		      enum rdmacg_file file)
{
	const struct rdmacg_pool *pool = rdmacg_pool_find_rcu(cg, desc->key);
	const struct rdmacg_name *name = rcu_dereference(desc->name);
	const struct rdmacg_resource *resource;
	bool empty = true;
	unsigned int slot;

	for (slot = 0; slot < desc->nr_slots; slot++) {
		resource = &desc->resources[slot];
		if (!rdmacg_file_shows(file, class, resource))
			continue;
		if (empty)
			/* None is left of a name that the device is just losing. */
			rdmacg_print_device(sf, name->text, READ_ONCE(name->nr_devices) <= 1,
					    desc->index);
		empty = false;
		if (file == RDMACG_FILE_STAT) {
			rdmacg_print_control_stat(sf, pool);
			break;
		}
		rdmacg_print_resource(sf, cg, file, resource, pool, slot);
	}
	if (!empty)
		seq_putc(sf, '\n');
}

/*
 * The files have one line for each device, in the order of their registration, and those
 * of limits have one for the defaults before them. Each line is shown under RCU, so that
 * neither its device nor its pool is freed meanwhile.
 */
static int rdmacg_seq_show(struct seq_file *sf, void *v)
{
	struct rdma_cgroup *cg = rdmacg_from_css(seq_css(sf));
	const struct cftype *file = seq_cft(sf);
	struct rdmacg_desc *desc;
	unsigned long id;

	if (rdmacg_file_kind(file) == RDMACG_FILE_MAX) {
		rcu_read_lock();
		rdmacg_show_default(sf, cg, rdmacg_file_class(file));
		rcu_read_unlock();
	}
	for (id = 0; !seq_has_overflowed(sf); id++) {
		rcu_read_lock();
		desc = rdmacg_desc_next(&id);
		if (desc)
			rdmacg_show_line(sf, cg, desc, rdmacg_file_class(file),
					 rdmacg_file_kind(file));
		rcu_read_unlock();
		if (!desc)
			break;
		cond_resched();
	}
	return 0;
}

/*
 * With its NUL, a buffer of 64 KiB, which no memory cgroup is charged for. In each class
 * it holds the lines of 19 devices at least, which have 64 resources with the longest
 * keys and values, and of some 200 devices as they are.
 */
#define RDMACG_MAX_WRITE (SZ_64K - 1)

#define RDMACG_FILE(_name, _class, _file)				\
	.name		= _name,					\
	.private	= (_class) * RDMACG_FILES + (_file),		\
	.seq_show	= rdmacg_seq_show

#define RDMACG_MAX(_name, _class)					\
	{								\
		RDMACG_FILE(_name, _class, RDMACG_FILE_MAX),		\
		.write = rdmacg_max_write,				\
		.max_write_len = RDMACG_MAX_WRITE,			\
		.flags = CFTYPE_NOT_ON_ROOT,				\
	}

#define RDMACG_VALUE(_name, _class, _file)				\
	{								\
		RDMACG_FILE(_name, _class, _file),			\
		.flags = CFTYPE_NOT_ON_ROOT,				\
	}

/* @_notified: the member that wakes those who wait for the file. */
#define RDMACG_EVENTS(_name, _class, _file, _notified)			\
	{								\
		RDMACG_FILE(_name, _class, _file),			\
		.file_offset = offsetof(struct rdma_cgroup, _notified),	\
		.flags = CFTYPE_NOT_ON_ROOT,				\
	}

static struct cftype rdmacg_files[] = {
	RDMACG_MAX("max", RDMACG_CLASS_HCA),
	RDMACG_VALUE("current", RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT),
	RDMACG_VALUE("peak", RDMACG_CLASS_HCA, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("events", RDMACG_CLASS_HCA, RDMACG_FILE_EVENTS,
		      events_file[RDMACG_CLASS_HCA]),
	RDMACG_EVENTS("events.local", RDMACG_CLASS_HCA, RDMACG_FILE_EVENTS_LOCAL,
		      events_local_file[RDMACG_CLASS_HCA]),
#ifdef CONFIG_CGROUP_RDMA_VERBS
	RDMACG_MAX("verb.max", RDMACG_CLASS_VERB),
	RDMACG_VALUE("verb.current", RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT),
	RDMACG_VALUE("verb.peak", RDMACG_CLASS_VERB, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("verb.events", RDMACG_CLASS_VERB, RDMACG_FILE_EVENTS,
		      events_file[RDMACG_CLASS_VERB]),
	RDMACG_EVENTS("verb.events.local", RDMACG_CLASS_VERB, RDMACG_FILE_EVENTS_LOCAL,
		      events_local_file[RDMACG_CLASS_VERB]),
	RDMACG_MAX("hw.max", RDMACG_CLASS_HW),
	RDMACG_VALUE("hw.current", RDMACG_CLASS_HW, RDMACG_FILE_CURRENT),
	RDMACG_VALUE("hw.peak", RDMACG_CLASS_HW, RDMACG_FILE_PEAK),
	RDMACG_EVENTS("hw.events", RDMACG_CLASS_HW, RDMACG_FILE_EVENTS,
		      events_file[RDMACG_CLASS_HW]),
	RDMACG_EVENTS("hw.events.local", RDMACG_CLASS_HW, RDMACG_FILE_EVENTS_LOCAL,
		      events_local_file[RDMACG_CLASS_HW]),
#endif
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	RDMACG_MAX("control.max", RDMACG_CLASS_CONTROL),
	RDMACG_VALUE("control.stat", RDMACG_CLASS_CONTROL, RDMACG_FILE_STAT),
#endif
	{
		RDMACG_FILE("capacity", RDMACG_CLASS_HCA, RDMACG_FILE_CAPACITY),
		.flags = CFTYPE_ONLY_ON_ROOT,
	},
	{ }	/* terminate */
};

static struct cgroup_subsys_state *
rdmacg_css_alloc(struct cgroup_subsys_state *parent)
{
	struct rdma_cgroup *cg = kzalloc_obj(*cg, GFP_KERNEL);

	if (!cg)
		return ERR_PTR(-ENOMEM);
	rdmacg_pools_init(cg, rdmacg_from_css(parent));
	return &cg->css;
}

static void rdmacg_css_free(struct cgroup_subsys_state *css)
{
	struct rdma_cgroup *cg = rdmacg_from_css(css);

	rdmacg_pools_free(cg);
	kfree(cg);
}

struct cgroup_subsys rdma_cgrp_subsys = {
	.css_alloc	= rdmacg_css_alloc,
	.css_free	= rdmacg_css_free,
	.legacy_cftypes	= rdmacg_files,
	.dfl_cftypes	= rdmacg_files,
};
