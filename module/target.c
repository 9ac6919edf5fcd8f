// SPDX-License-Identifier: GPL-2.0-only
/* Devices, charges and commands, for the files with hooks. */
#define pr_fmt(fmt) "rdmacg: " fmt
#include "core.h"

#include <linux/slab.h>
#include <linux/string.h>

#include "../kernel/cgroup/rdma-pool.h"
#include "target.h"

/* A device, from rdmacg_target_add() to rdmacg_target_remove(). */
struct rdmacg_target {
	struct rdmacg_device	device;
	/* Changed only by the IB core's calls of one device, which it makes one after another. */
	char			name[64];
};

/**
 * rdmacg_target_add() - register a device with the controller
 * @name: its name
 * @index: a number that no other device has
 * @net: not used yet
 * @types: its resources; their slots are their indexes
 * @count: the number of @types
 *
 * Commands wait for limits only after rdmacg_target_resume_waiting().
 *
 * Context: Process context; may sleep.
 * Return: the device, or an ERR_PTR() of -ENOMEM, -EBUSY or -EINVAL.
 */
struct rdmacg_target *rdmacg_target_add(const char *name, u32 index, void *net,
					const struct rdmacg_type *types, unsigned int count)
{
	struct rdmacg_resource *resources = kcalloc(count, sizeof(*resources), GFP_KERNEL);
	struct rdmacg_table table = { .resources = resources, .count = count };
	struct rdmacg_target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	unsigned int i;
	int ret = -ENOMEM;

	if (!target || !resources)
		goto out;
	for (i = 0; i < count; i++)
		resources[i] = (struct rdmacg_resource) {
			.name = types[i].name,
			.class = RDMACG_CLASS_VERB,
			.capacity = types[i].capacity ?: RDMACG_NO_LIMIT,
		};
	strscpy(target->name, name, sizeof(target->name));
	target->device.name = target->name;
	target->device.index = index;
	ret = rdmacg_register_tables(&target->device, &table, 1);
	if (!ret && table.first_slot) {
		rdmacg_unregister_device(&target->device);
		ret = -EINVAL;
	}
out:
	kfree(resources);
	if (!ret)
		return target;
	kfree(target);
	return ERR_PTR(ret);
}

void rdmacg_target_rename(struct rdmacg_target *target, const char *name)
{
	strscpy(target->name, name, sizeof(target->name));
	rdmacg_rename_device(&target->device);
}

const char *rdmacg_target_name(struct rdmacg_target *target)
{
	return target->name;
}

/* All charges have been returned, and no command runs. */
void rdmacg_target_remove(struct rdmacg_target *target)
{
	rdmacg_unregister_device(&target->device);
	kfree(target);
}

static unsigned int rdmacg_payment_set(const struct rdmacg_payment *payment,
				       struct rdmacg_amount *set)
{
	unsigned int i;

	for (i = 0; i < payment->count; i++)
		set[i] = (struct rdmacg_amount) { payment->slots[i], payment->amount };
	return payment->count;
}

/**
 * rdmacg_target_charge() - charge a cgroup
 * @target: the device
 * @payment: what to charge
 * @css: the payer, to which the caller has a reference, or NULL for the current process
 *
 * Context: Process context; may sleep.
 * Return: 0, -EAGAIN at a limit, or -ENOMEM. After success, @payment keeps a reference to the
 * payer, which rdmacg_target_uncharge() drops.
 */
int rdmacg_target_charge(struct rdmacg_target *target, struct rdmacg_payment *payment,
			 struct cgroup_subsys_state *css)
{
	struct rdmacg_amount set[ARRAY_SIZE(payment->slots)];
	unsigned int count = rdmacg_payment_set(payment, set);
	struct rdma_cgroup *owner = rdmacg_from_css(css);
	int ret;

	if (owner)
		ret = rdmacg_try_charge_cgroup(owner, &target->device, set, count);
	else
		ret = rdmacg_try_charge_set(&owner, &target->device, set, count);
	if (!ret)
		payment->owner = owner;
	return ret;
}

void rdmacg_target_uncharge(struct rdmacg_target *target, struct rdmacg_payment *payment)
{
	struct rdmacg_amount set[ARRAY_SIZE(payment->slots)];
	unsigned int count = rdmacg_payment_set(payment, set);

	rdmacg_uncharge_set(payment->owner, &target->device, set, count);
}

/* Returns whether any cgroup of the machine has a limit on commands. */
bool rdmacg_target_is_limited(void)
{
	return rdmacg_commands_are_limited();
}

static_assert(sizeof(struct rdmacg_call) >= sizeof(struct rdmacg_command));
static_assert((int)RDMACG_CALL_CREATE == RDMACG_COMMAND_CREATE);
static_assert((int)RDMACG_CALL_CHANGE == RDMACG_COMMAND_CHANGE);
static_assert((int)RDMACG_CALL_DESTROY == RDMACG_COMMAND_DESTROY);

/* See rdmacg_begin_command(). */
int rdmacg_target_begin(struct rdmacg_target *target, struct rdmacg_call *call,
			enum rdmacg_call_kind kind)
{
	return rdmacg_begin_command((struct rdmacg_command *)call, &target->device,
				    (enum rdmacg_command_kind)kind);
}

void rdmacg_target_end(struct rdmacg_call *call)
{
	rdmacg_end_command((struct rdmacg_command *)call);
}

void rdmacg_target_stop_waiting(struct rdmacg_target *target)
{
	rdmacg_stop_waiting(&target->device);
}

void rdmacg_target_resume_waiting(struct rdmacg_target *target)
{
	rdmacg_resume_waiting(&target->device);
}
