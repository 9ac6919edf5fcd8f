// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: which limits a command has to pass.
 *
 * A command belongs to the cgroup that its process is in when it begins. That cgroup gets a
 * pool and what counts commands with the first one for which there is a limit on the way up;
 * where there is none, commands are not counted. A cgroup that is removed keeps its limits
 * until the last of its commands, which have a reference each.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/workqueue.h>

#include "rdma-internal.h"
#include <trace/events/rdmacg.h>

/* Limits on commands in all pools, and cgroups with such a default; atomic. */
static atomic_long_t rdmacg_nr_control_limits;

DEFINE_STATIC_KEY_FALSE(rdmacg_control_key);
EXPORT_SYMBOL(rdmacg_control_key);

static void rdmacg_control_update_key(struct work_struct *work)
{
	if (atomic_long_read(&rdmacg_nr_control_limits))
		static_branch_enable(&rdmacg_control_key);
	else
		static_branch_disable(&rdmacg_control_key);
}

/*
 * The key is changed by a worker alone: whoever writes a limit may have little processor time,
 * and would hold up the others who do.
 */
static DECLARE_DELAYED_WORK(rdmacg_control_key_work, rdmacg_control_update_key);

/* So many more limits; in any context. To be followed by one of the next two. */
void rdmacg_commands_add_limits(int limits)
{
	atomic_long_add(limits, &rdmacg_nr_control_limits);
}

/*
 * There may be fewer limits. The key changes the kernel's code, for which all processors stop,
 * and whoever is delegated a cgroup may set and reset a limit all the time: so not at once.
 */
void rdmacg_commands_relax(void)
{
	if (!atomic_long_read(&rdmacg_nr_control_limits) &&
	    static_key_enabled(&rdmacg_control_key))
		schedule_delayed_work(&rdmacg_control_key_work, HZ);
}

/*
 * There may be other limits, and commands that begin after this find them. May sleep. A worker
 * that is about to turn the key off comes before ours, or sees the limits.
 */
void rdmacg_commands_settle(void)
{
	if (atomic_long_read(&rdmacg_nr_control_limits)) {
		schedule_delayed_work(&rdmacg_control_key_work, 0);
		flush_delayed_work(&rdmacg_control_key_work);
	}
	rdmacg_commands_relax();
}

/* To be called under the lock of the device, before others find the domain. */
void rdmacg_domain_init_gate(struct rdmacg_domain *domain)
{
	lockdep_assert_held(&domain->desc->lock);
	rdmacg_gate_init(&domain->gate, domain->desc->is_open);
}

/* How many limits on commands a pool has. */
int rdmacg_pool_control_limits(const struct rdmacg_pool *pool)
{
	const struct rdmacg_desc *desc = pool->domain->desc;
	unsigned int slot;
	int limits = 0;

	for (slot = desc->control_slot; slot < desc->nr_slots; slot++)
		limits += pool->slots[slot].max != RDMACG_NO_LIMIT;
	return limits;
}

static struct rdmacg_control *rdmacg_pool_control_locked(const struct rdmacg_pool *pool)
{
	return rcu_dereference_protected(*rdmacg_pool_control(pool),
					 lockdep_is_held(&pool->domain->lock));
}

/* Whether commands were counted. */
bool rdmacg_pool_has_commands_locked(const struct rdmacg_pool *pool)
{
	return rdmacg_pool_control_locked(pool);
}

/* Let the pool's limits hold for its commands, if any were counted. */
void rdmacg_pool_set_control_locked(struct rdmacg_pool *pool)
{
	struct rdmacg_control *control = rdmacg_pool_control_locked(pool);
	const struct rdmacg_slot *slots = &pool->slots[pool->domain->desc->control_slot];

	if (control)
		rdmacg_control_set(control, slots[RDMACG_CONTROL_OPS].max,
				   slots[RDMACG_CONTROL_BURST].max,
				   slots[RDMACG_CONTROL_INFLIGHT].max);
}

/* The pool goes, and with it what counts its commands, of which none is under way. */
void rdmacg_pool_free_control_locked(struct rdmacg_pool *pool)
{
	struct rdmacg_control *control = rdmacg_pool_control_locked(pool);

	rdmacg_commands_add_limits(-rdmacg_pool_control_limits(pool));
	if (!control)
		return;
	/* Our caller unregisters a device that is in use. */
	WARN_ON_ONCE(control->inflight);
	kfree_rcu(control, rcu);
}

static unsigned int rdmacg_missing_controls_locked(const struct rdmacg_pool *pool)
{
	unsigned int missing = 0;

	/* Where a pool has one, its ancestors have, too. */
	for (; pool && !rdmacg_pool_control_locked(pool); pool = rdmacg_pool_parent(pool))
		missing++;
	return missing;
}

/* Give the pool and its ancestors what counts commands. @spare are as many as are missing. */
static void rdmacg_pool_add_controls_locked(struct rdmacg_pool *pool,
					    struct rdmacg_control *spare)
{
	struct rdmacg_control *control, **child = &spare;

	for (; pool && !rdmacg_pool_control_locked(pool); pool = rdmacg_pool_parent(pool)) {
		/* The spare ones are in a chain of parents already. */
		control = *child;
		control->gate = &pool->domain->gate;
		rcu_assign_pointer(*rdmacg_pool_control(pool), control);
		rdmacg_pool_set_control_locked(pool);
		child = &control->parent;
	}
	*child = pool ? rdmacg_pool_control_locked(pool) : NULL;
}

static void rdmacg_spare_controls_free(struct rdmacg_control *spare)
{
	struct rdmacg_control *next;

	for (; spare; spare = next) {
		next = spare->parent;
		kfree(spare);
	}
}

/* A chain of that many. NULL: no memory. */
static struct rdmacg_control *rdmacg_spare_controls_alloc(unsigned int count)
{
	struct rdmacg_control *control, *spare = NULL;

	while (count--) {
		control = rdmacg_control_alloc();
		if (!control) {
			rdmacg_spare_controls_free(spare);
			return NULL;
		}
		control->parent = spare;
		spare = control;
		cond_resched();
	}
	return spare;
}

/*
 * What counts the commands of a cgroup, which is there for as long as the cgroup and the
 * device. -ENOMEM, or -ENODEV if the device goes.
 */
static struct rdmacg_control *rdmacg_control_get(struct rdma_cgroup *cg,
						 struct rdmacg_device *device)
{
	struct rdmacg_control *control, *spare = NULL;
	unsigned int missing, nr_spare = 0;
	struct rdmacg_pool *pool;

	while (1) {
		pool = rdmacg_pool_get_lock(cg, device->key, device->desc);
		if (IS_ERR(pool)) {
			rdmacg_spare_controls_free(spare);
			return ERR_CAST(pool);
		}
		missing = rdmacg_missing_controls_locked(pool);
		if (missing == nr_spare)
			break;
		rdmacg_pool_unlock(pool);
		rdmacg_spare_controls_free(spare);
		nr_spare = missing;
		spare = rdmacg_spare_controls_alloc(missing);
		if (missing && !spare) {
			/* It may have been made for nothing. */
			rdmacg_pool_give_back(cg, device->key);
			return ERR_PTR(-ENOMEM);
		}
	}
	rdmacg_pool_add_controls_locked(pool, spare);
	control = rdmacg_pool_control_locked(pool);
	rdmacg_pool_unlock(pool);
	return control;
}

/* Whether the cgroup or an ancestor limits commands on the device. */
static bool rdmacg_is_limited_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc)
{
	/* A burst alone limits nothing. */
	const unsigned int slots[] = {
		desc->control_slot + RDMACG_CONTROL_OPS,
		desc->control_slot + RDMACG_CONTROL_INFLIGHT,
	};
	const struct rdmacg_pool *pool;
	unsigned int i;

	for (; cg->top; cg = rdmacg_parent(cg)) {
		pool = rdmacg_pool_find_rcu(cg, desc->key);
		for (i = 0; i < ARRAY_SIZE(slots); i++)
			if (rdmacg_limit_rcu(cg, pool, &desc->resources[slots[i]], slots[i]) !=
			    RDMACG_NO_LIMIT)
				return true;
	}
	return false;
}

static bool rdmacg_is_limited(struct rdma_cgroup *cg, const struct rdmacg_desc *desc)
{
	bool is_limited;

	if (desc->control_slot == desc->nr_slots)
		return false;
	rcu_read_lock();
	is_limited = rdmacg_is_limited_rcu(cg, desc);
	rcu_read_unlock();
	return is_limited;
}

/* Let a command of @cg begin; the same as rdmacg_begin_command(), but for the reference. */
static int rdmacg_begin(struct rdmacg_command *command, struct rdma_cgroup *cg,
			struct rdmacg_device *device, bool may_wait)
{
	struct rdmacg_turn turn = { .may_wait = may_wait };
	struct rdmacg_control *control;
	int ret;

	if (!rdmacg_is_limited(cg, device->desc))
		return 0;
	control = rdmacg_control_get(cg, device);
	if (IS_ERR(control))
		/* What gives something back is not to fail for want of memory. */
		return may_wait ? PTR_ERR(control) : 0;
	ret = rdmacg_control_begin(control, &turn);
	if (turn.waited_ns && trace_rdmacg_throttle_enabled())
		rdmacg_trace_throttle(cg, device, turn.waited_ns);
	if (ret)
		return ret;
	*command = (struct rdmacg_command) { .control = control, .above = turn.above, .cg = cg };
	return 0;
}

/**
 * rdmacg_limit_command() - rdmacg_begin_command() while there are limits
 * @command: the same, not counted yet
 * @device: the same
 * @may_wait: the same
 *
 * Context: Process context; may sleep.
 * Return: as rdmacg_begin_command().
 */
int rdmacg_limit_command(struct rdmacg_command *command, struct rdmacg_device *device,
			 bool may_wait)
{
	struct rdma_cgroup *cg = rdmacg_get_current();
	int ret = rdmacg_begin(command, cg, device, may_wait);

	if (!command->control)
		rdmacg_put(cg);
	return ret;
}
EXPORT_SYMBOL(rdmacg_limit_command);

/**
 * rdmacg_end_limited_command() - rdmacg_end_command() for a command that was counted
 * @command: the same
 *
 * Context: Process context.
 */
void rdmacg_end_limited_command(struct rdmacg_command *command)
{
	rdmacg_control_end(command->control, command->above);
	rdmacg_put(command->cg);
	command->control = NULL;
}
EXPORT_SYMBOL(rdmacg_end_limited_command);

/* Let some of those begin who wait; false if nobody does any more. */
static bool rdmacg_domains_open_locked(struct rdmacg_desc *desc)
{
	struct rdmacg_domain *domain;

	lockdep_assert_held(&desc->lock);
	list_for_each_entry(domain, &desc->domains, desc_node)
		if (rdmacg_gate_open(&domain->gate))
			return true;
	return false;
}

/**
 * rdmacg_stop_waiting() - let all commands on a device begin, now and from now on
 * @device: a registered device that is about to go
 *
 * Those that wait hold what keeps the device from going. The IB core tells them that it is
 * gone.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_stop_waiting(struct rdmacg_device *device)
{
	struct rdmacg_desc *desc = device->desc;
	bool are_more;

	do {
		spin_lock(&desc->lock);
		/* A domain that comes from now on is open, too. */
		desc->is_open = true;
		are_more = rdmacg_domains_open_locked(desc);
		spin_unlock(&desc->lock);
		cond_resched();
	} while (are_more);
}
EXPORT_SYMBOL(rdmacg_stop_waiting);

/**
 * rdmacg_resume_waiting() - let limits on commands hold again
 * @device: a registered device that did not go after rdmacg_stop_waiting(), as one that only
 *	moves to another network namespace; or for which that was not called
 *
 * Context: Process context; may sleep.
 */
void rdmacg_resume_waiting(struct rdmacg_device *device)
{
	struct rdmacg_desc *desc = device->desc;
	struct rdmacg_domain *domain;

	spin_lock(&desc->lock);
	desc->is_open = false;
	list_for_each_entry(domain, &desc->domains, desc_node)
		rdmacg_gate_close(&domain->gate);
	spin_unlock(&desc->lock);
}
EXPORT_SYMBOL(rdmacg_resume_waiting);

static const char * const rdmacg_control_keys[RDMACG_CONTROL_LIMITS] = {
	[RDMACG_CONTROL_OPS]		= "ops",
	[RDMACG_CONTROL_BURST]		= "burst",
	[RDMACG_CONTROL_INFLIGHT]	= "inflight",
};

struct rdmacg_resource rdmacg_control_resource(enum rdmacg_control_limit limit)
{
	return (struct rdmacg_resource) {
		.name		= rdmacg_control_keys[limit],
		.class		= RDMACG_CLASS_CONTROL,
		.capacity	= RDMACG_NO_LIMIT,
	};
}

/* Users can set limits for devices that are to come. */
static int __init rdmacg_control_init(void)
{
	enum rdmacg_control_limit limit;
	struct rdmacg_resource resource;

	for (limit = 0; limit < RDMACG_CONTROL_LIMITS; limit++) {
		resource = rdmacg_control_resource(limit);
		rdmacg_declare_resource(&resource);
	}
	return 0;
}
subsys_initcall(rdmacg_control_init);

/* The line of a device in rdma.control.stat, behind its name. */
void rdmacg_print_control_stat(struct seq_file *sf, const struct rdmacg_pool *pool)
{
	static const struct rdmacg_control_stat none;
	const struct rdmacg_control *control;
	const struct rdmacg_control_stat *stat;

	control = pool ? rcu_dereference(*rdmacg_pool_control(pool)) : NULL;
	stat = control ? &control->stat : &none;
	rdmacg_print_value(sf, "ops", "", READ_ONCE(stat->ops));
	rdmacg_print_value(sf, "throttled", "", READ_ONCE(stat->throttled));
	rdmacg_print_value(sf, "throttled_usec", "",
			   div_u64(READ_ONCE(stat->throttled_ns), NSEC_PER_USEC));
}
