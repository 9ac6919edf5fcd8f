// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: writes to the files of limits.
 *
 * A write has three steps. First, without locks, the text is parsed into a list
 * of devices and limits, and missing pools are created. Then, under the
 * cgroup's max_lock, the limits of all devices change, one device after the
 * other. Finally, unused pools are given back. Nothing fails after the first
 * limit has changed, so a write changes all of its limits or none. No write
 * repeats a step because of another write.
 */
#include <kunit/static_stub.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include <trace/events/rdmacg.h>

#include "rdma-control.h"
#include "rdma-limit.h"

static void rdmacg_write_free(struct rdmacg_write *write)
{
	struct rdmacg_update *update, *next;

	list_for_each_entry_safe(update, next, &write->updates, node) {
		if (update->is_pinned)
			rdmacg_pool_unpin(write->cg, update->desc);
		rdmacg_desc_put(update->desc);
		kfree(update);
	}
	kfree(write);
}

/*
 * Find the update of a device, or add one. This function takes over the
 * caller's reference to @desc.
 */
static struct rdmacg_update *rdmacg_write_update(struct rdmacg_write *write,
						 struct rdmacg_desc *desc)
{
	struct rdmacg_update *update;

	list_for_each_entry(update, &write->updates, node) {
		if (update->desc == desc) {
			rdmacg_desc_put(desc);
			return update;
		}
	}
	update = kzalloc(struct_size(update, max, desc->nr_slots), GFP_KERNEL_ACCOUNT);
	if (!update) {
		rdmacg_desc_put(desc);
		return NULL;
	}
	update->desc = desc;
	list_add_tail(&update->node, &write->updates);
	return update;
}

/*
 * Set the limit of a key, or of the whole class if the key is empty. Returns
 * -EINVAL for an unknown key.
 */
static int rdmacg_update_set(struct rdmacg_update *update, enum rdmacg_class class,
			     const char *key, u64 max)
{
	const struct rdmacg_desc *desc = update->desc;
	unsigned int slot;
	bool found = false;

	if (!rdmacg_limit_is_valid(class, key, max))
		return -EINVAL;
	for (slot = 0; slot < desc->nr_slots; slot++) {
		if (desc->resources[slot].class != class ||
		    (*key && strcmp(key, desc->resources[slot].name)))
			continue;
		update->slots |= BIT_ULL(slot);
		update->max[slot] = max;
		found = true;
	}
	return found ? 0 : -EINVAL;
}

/*
 * Parse the limits of a line. Returns -EINVAL if the line has no KEY=VALUE,
 * "max" or "default".
 */
static int rdmacg_parse_limits(struct rdmacg_update *update, enum rdmacg_class class, char *line)
{
	bool is_empty = true;
	const char *key;
	u64 max;
	int ret;

	while ((ret = rdmacg_parse_limit(&line, &key, &max)) > 0) {
		ret = rdmacg_update_set(update, class, key, max);
		if (ret)
			return ret;
		is_empty = false;
		cond_resched();
	}
	return is_empty ? -EINVAL : ret;
}

/* Parse the whole text. Returns the first error. */
static int rdmacg_write_parse(struct rdmacg_write *write, char *text)
{
	struct rdmacg_update *update;
	struct rdmacg_desc *desc;
	struct rdmacg_line line;
	int ret;

	if (!rdmacg_text_is_whole(text))
		return -EINVAL;
	while ((ret = rdmacg_parse_line(&text, &line)) > 0) {
		desc = rdmacg_desc_get(line.name, line.has_index ? &line.index : NULL);
		if (IS_ERR(desc))
			return PTR_ERR(desc);
		update = rdmacg_write_update(write, desc);
		if (!update)
			return -ENOMEM;
		ret = rdmacg_parse_limits(update, write->class, line.limits);
		if (ret)
			return ret;
	}
	return !ret && list_empty(&write->updates) ? -EINVAL : ret;
}

/*
 * Create and pin all pools that the write needs. Returns -ENOMEM, -EINTR, or
 * -ENODEV if a device is being unregistered.
 */
int rdmacg_write_pin(struct rdmacg_write *write)
{
	struct rdmacg_update *update;
	struct rdmacg_pool *pool;

	KUNIT_STATIC_STUB_REDIRECT(rdmacg_write_pin, write);
	list_for_each_entry(update, &write->updates, node) {
		if (fatal_signal_pending(current))
			return -EINTR;
		pool = rdmacg_pool_pin(write->cg, update->desc);
		if (IS_ERR(pool))
			return PTR_ERR(pool);
		update->is_pinned = true;
	}
	return 0;
}

/*
 * Set the effective limit of a slot. The limit is the written limit, else the
 * device's own limit, else the default @fallback. The device's own "max" is
 * remembered only while there is a default.
 */
static void rdmacg_pool_set_max_locked(struct rdmacg_pool *pool, unsigned int slot,
				       const struct rdmacg_update *update, u64 fallback,
				       struct rdmacg_change *change)
{
	const struct rdmacg_desc *desc = pool->domain->desc;
	bool is_own = pool->own & BIT_ULL(slot);
	u64 *max = rdmacg_pool_max(pool, slot);
	bool is_control = slot >= desc->control_slot;

	lockdep_assert_held(&pool->domain->lock);
	change->old = *max;
	change->new = *max;
	change->usage = is_control ? 0 : pool->slots[slot].usage;
	if (update && (update->slots & BIT_ULL(slot))) {
		change->new = update->max[slot];
		is_own = change->new != RDMACG_USE_DEFAULT;
	}
	if (!is_own || (change->new == RDMACG_NO_LIMIT && fallback == RDMACG_NO_LIMIT)) {
		change->new = fallback;
		is_own = false;
	}
	pool->own = is_own ? pool->own | BIT_ULL(slot) : pool->own & ~BIT_ULL(slot);
	if (is_control)
		rdmacg_count_control_limits((change->new != RDMACG_NO_LIMIT) -
					    (change->old != RDMACG_NO_LIMIT));
	WRITE_ONCE(*max, change->new);
}

static void rdmacg_trace_changes_rcu(const struct rdmacg_write *write,
				     const struct rdmacg_desc *desc)
{
	const struct rdmacg_change *change;
	unsigned int slot;

	for (slot = 0; slot < desc->nr_slots; slot++) {
		change = &write->changes[slot];
		if (change->old != change->new)
			trace_rdmacg_set_max(rdmacg_desc_name_rcu(desc),
					     desc->resources[slot].name, change->old, change->new,
					     change->usage,
					     cgroup_id(rdmacg_css(write->cg)->cgroup));
	}
}

/*
 * Apply the limits of @update to a device, or only the cgroup's defaults if
 * @update is NULL. Defaults apply to slots in which the device has no limit of
 * its own. This function does nothing if the cgroup has no pool. Strings are
 * compared and events are traced without the domain's lock, because siblings
 * need the lock.
 */
static void rdmacg_write_apply_rcu(struct rdmacg_write *write, const struct rdmacg_desc *desc,
				   const struct rdmacg_update *update)
{
	struct rdmacg_pool *pool;
	unsigned int slot;

	rdmacg_default_limits(rcu_dereference(write->cg->defaults), desc, write->defaults);
	pool = rdmacg_pool_lock(write->cg, desc->key);
	if (!pool)
		return;
	for (slot = 0; slot < desc->nr_slots; slot++)
		rdmacg_pool_set_max_locked(pool, slot, update, write->defaults[slot],
					   &write->changes[slot]);
	rdmacg_pool_unlock(pool);
	if (trace_rdmacg_set_max_enabled())
		rdmacg_trace_changes_rcu(write, desc);
}

/*
 * Set all limits of @text, or none after an error. This function changes @text.
 */
int rdmacg_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, char *text)
{
	struct rdmacg_write *write = kzalloc_obj(*write, GFP_KERNEL_ACCOUNT);
	struct rdmacg_update *update;
	int ret;

	if (!write)
		return -ENOMEM;
	write->cg = cg;
	write->class = class;
	INIT_LIST_HEAD(&write->updates);
	ret = rdmacg_write_parse(write, text) ?: rdmacg_write_pin(write);
	if (!ret) {
		guard(rcu)();
		scoped_guard(spinlock, &cg->max_lock)
			list_for_each_entry(update, &write->updates, node)
				rdmacg_write_apply_rcu(write, update->desc, update);
	}
	rdmacg_write_free(write);
	if (!ret && class == RDMACG_CLASS_CONTROL)
		rdmacg_control_refresh(cg);
	return ret;
}

/* Replace the defaults @old by @new, and apply them to each device. */
static void rdmacg_write_defaults_locked(struct rdmacg_write *write,
					 const struct rdmacg_defaults *old,
					 struct rdmacg_defaults *new)
{
	struct rdma_cgroup *cg = write->cg;
	u32 key, nr = rdmacg_nr_keys(cg);
	struct rdmacg_pool *pool;

	lockdep_assert_held(&cg->max_lock);
	rdmacg_count_control_limits(rdmacg_defaults_count(new, RDMACG_CLASS_CONTROL) -
				    rdmacg_defaults_count(old, RDMACG_CLASS_CONTROL));
	rcu_assign_pointer(cg->defaults, new);
	for (key = 0; key < nr; key++) {
		guard(rcu)();
		pool = rdmacg_pool_find_rcu(cg, key);
		if (pool)
			rdmacg_write_apply_rcu(write, pool->domain->desc, NULL);
	}
}

/*
 * Returns the largest number of defaults that @old and @edit can have together.
 * @old may be NULL.
 */
static unsigned int rdmacg_defaults_room(const struct rdmacg_defaults *old,
					 const struct rdmacg_defaults *edit)
{
	return (old ? old->count : 0) + edit->count;
}

/*
 * Merge @edit into the defaults. If other writers have added so many defaults
 * that @new is too small, use @large, which has room for all. Returns -EINVAL
 * if the hw class would have too many defaults. This function takes over @new
 * and @large.
 */
static int rdmacg_merge_defaults(struct rdmacg_write *write, const struct rdmacg_defaults *edit,
				 struct rdmacg_defaults *new, struct rdmacg_defaults *large)
{
	struct rdma_cgroup *cg = write->cg;
	struct rdmacg_defaults *old;
	int ret;

	spin_lock(&cg->max_lock);
	old = rcu_dereference_protected(cg->defaults, lockdep_is_held(&cg->max_lock));
	if (rdmacg_defaults_room(old, edit) > new->room)
		swap(new, large);
	ret = rdmacg_defaults_merge(new, old, edit);
	if (!ret)
		rdmacg_write_defaults_locked(write, old, new->count ? new : NULL);
	spin_unlock(&cg->max_lock);
	if (ret || !new->count)
		kfree(new);
	kfree(large);
	if (!ret && old)
		kfree_rcu(old, rcu);
	return ret;
}

static int rdmacg_write_defaults(struct rdmacg_write *write, const struct rdmacg_defaults *edit)
{
	struct rdmacg_defaults *new, *large;
	unsigned int room;

	scoped_guard(rcu)
		room = rdmacg_defaults_room(rcu_dereference(write->cg->defaults), edit);
	new = rdmacg_defaults_alloc(room);
	large = rdmacg_defaults_alloc(RDMACG_MAX_DEFAULTS);
	if (new && large)
		return rdmacg_merge_defaults(write, edit, new, large);
	kfree(new);
	kfree(large);
	return -ENOMEM;
}

/*
 * Set all defaults of @text, or none after an error. This function changes
 * @text.
 */
int rdmacg_set_default(struct rdma_cgroup *cg, char *text)
{
	struct rdmacg_defaults *edit = rdmacg_defaults_parse(text);
	struct rdmacg_write *write;
	u32 key;
	int ret = -ENOMEM;

	if (IS_ERR(edit))
		return PTR_ERR(edit);
	write = kzalloc_obj(*write, GFP_KERNEL_ACCOUNT);
	if (write) {
		write->cg = cg;
		ret = rdmacg_write_defaults(write, edit);
	}
	kfree(write);
	kfree(edit);
	if (ret)
		return ret;
	/*
	 * A device's own "max" may have kept a pool only to override a default.
	 * If no default is left, give back this pool.
	 */
	for (key = 0; key < rdmacg_nr_keys(cg); key++)
		rdmacg_pool_give_back(cg, key);
	rdmacg_control_refresh(cg);
	return 0;
}
