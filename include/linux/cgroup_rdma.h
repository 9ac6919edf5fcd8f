/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: the functions for the IB core, drivers and kernel
 * ULPs.
 *
 * Copyright (C) 2016 Parav Pandit <pandit.parav@gmail.com>
 */
#ifndef _LINUX_CGROUP_RDMA_H
#define _LINUX_CGROUP_RDMA_H

#include <linux/cgroup.h>
#include <linux/limits.h>
#include <linux/atomic.h>
#include <linux/types.h>

struct net;
struct rdma_cgroup;
struct rdmacg_control;
struct rdmacg_desc;

/*
 * The version of the interface of this file and of <rdma/ib_rdmacg.h>, for a
 * ULP that is built for several kernels. It grows with each function or field
 * that ULPs can use. Kernels with the stock controller have this file without
 * this macro.
 */
#define RDMACG_API 1

/* The maximum number of resources of a device. */
#define RDMACG_MAX_SLOTS 64

/*
 * This value means no limit, or a capacity that is not stated. Users read and
 * write it as "max".
 */
#define RDMACG_NO_LIMIT ((u64)S64_MAX)

/*
 * An endless amount. A charge of it is refused if there is a limit, and
 * otherwise not counted.
 */
#define RDMACG_ENDLESS U64_MAX

/* Returns the part of an amount that is counted. */
static inline u64 rdmacg_counted(u64 amount)
{
	return amount == RDMACG_ENDLESS ? 0 : amount;
}

/**
 * enum rdmacg_resource_type - the slots of the resources that every device has
 * @RDMACG_RESOURCE_HCA_HANDLE: open uverbs contexts
 * @RDMACG_RESOURCE_HCA_OBJECT: uverbs objects that have an id
 * @RDMACG_RESOURCE_MAX: the number of these slots
 *
 * The slots are fixed, because the IB core registers the table of these
 * resources first.
 */
enum rdmacg_resource_type {
	RDMACG_RESOURCE_HCA_HANDLE,
	RDMACG_RESOURCE_HCA_OBJECT,
	RDMACG_RESOURCE_MAX,
};

/**
 * enum rdmacg_class - the files in which a resource appears
 * @RDMACG_CLASS_HCA: rdma.max, rdma.current and so on
 * @RDMACG_CLASS_VERB: rdma.verb.max and so on
 * @RDMACG_CLASS_HW: rdma.hw.max and so on
 * @RDMACG_CLASS_CONTROL: rdma.control.max; only the controller registers
 *	resources of this class
 * @RDMACG_CLASSES: the number of classes
 */
enum rdmacg_class {
	RDMACG_CLASS_HCA,
	RDMACG_CLASS_VERB,
	RDMACG_CLASS_HW,
	RDMACG_CLASS_CONTROL,
	RDMACG_CLASSES,
};

/**
 * struct rdmacg_resource - one countable thing of a device
 * @name: the key in the files. The key begins with a lower-case letter, has
 *	only lower-case letters, digits and underscores, and at most 31
 *	characters. It must not be "max", "index" or "default"
 * @class: the files in which the resource appears
 * @capacity: the amount that the device has, or RDMACG_NO_LIMIT if it is not
 *	known
 */
struct rdmacg_resource {
	const char		*name;
	enum rdmacg_class	class;
	u64			capacity;
};

/**
 * struct rdmacg_table - resources of which a device gets all or none
 * @resources: one or more resources; needed only during registration
 * @count: the number of resources
 * @first_slot: set at registration to the slot of the first resource; the slots
 *	of the other resources follow. Set to -EINVAL if the table is empty, or
 *	if a resource is malformed or has the name of another resource of the
 *	device. Set to -ENOSPC if the device would have more than
 *	RDMACG_MAX_SLOTS
 */
struct rdmacg_table {
	const struct rdmacg_resource *resources;
	unsigned int		count;
	int			first_slot;
};

/**
 * struct rdmacg_device - one RDMA device of the controller
 * @name: the device's name for users. The caller sets it, and the controller
 *	reads it at registration and in rdmacg_rename_device()
 * @index: a system-wide number that distinguishes devices of the same name; set
 *	by the caller before registration
 * @net: the network namespace of the device, which the controller only
 *	compares. The controller reads it with the name
 * @names_are_global: NULL, or a variable that is true while all namespaces see
 *	the device. The caller sets it before registration
 * @keeps_charges: false at registration. The caller sets it to true if an
 *	object was not destroyed and stays charged. rdmacg_unregister_device()
 *	then returns all charges that are left
 *
 * The caller embeds this struct in its own device. The other fields belong to
 * the controller. A caller of rdmacg_register_device() sets only @name.
 */
struct rdmacg_device {
	const char		*name;
	u32			index;
	const struct net	*net;
	const bool		*names_are_global;
	bool			keeps_charges;
	/* private: while not registered, nr_slots is 0 and desc is NULL */
	/* The index of the device's pool in the map of each cgroup. */
	u32			key;
	unsigned int		nr_slots;
	/* The part that readers use, which outlives this struct. */
	struct rdmacg_desc	*desc;
};

/**
 * struct rdmacg_amount - an amount of one resource
 * @slot: the resource; no two amounts of a set have the same slot
 * @amount: the number of objects or bytes, from 1 to RDMACG_NO_LIMIT, or
 *	RDMACG_ENDLESS
 */
struct rdmacg_amount {
	unsigned int		slot;
	u64			amount;
};

/**
 * enum rdmacg_command_kind - the number of times that a command counts in the
 * rates of its cgroup
 * @RDMACG_COMMAND_DESTROY: a command that destroys an object; it never waits
 *	and does not use the rate, but appears in rdma.control.stat
 * @RDMACG_COMMAND_CHANGE: any other command; it counts once
 * @RDMACG_COMMAND_CREATE: a command that creates an object; it counts twice,
 *	once for the later destruction
 */
enum rdmacg_command_kind {
	RDMACG_COMMAND_DESTROY	= 0,
	RDMACG_COMMAND_CHANGE	= 1,
	RDMACG_COMMAND_CREATE	= 2,
};

/**
 * struct rdmacg_command - a command from rdmacg_begin_command() to
 * rdmacg_end_command()
 */
struct rdmacg_command {
	/* private: NULL for a command that has no place in flight */
	struct rdmacg_control	*control;
	/* This struct holds a reference to the cgroup. */
	struct rdma_cgroup	*cg;
};

#ifdef CONFIG_CGROUP_RDMA

int rdmacg_register_tables(struct rdmacg_device *device,
			   struct rdmacg_table *tables, unsigned int count);
void rdmacg_register_device(struct rdmacg_device *device);
void rdmacg_unregister_device(struct rdmacg_device *device);
void rdmacg_rename_device(struct rdmacg_device *device);

int rdmacg_try_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
		      enum rdmacg_resource_type index);
void rdmacg_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
		     enum rdmacg_resource_type index);

int rdmacg_try_charge_set(struct rdma_cgroup **owner, struct rdmacg_device *device,
			  const struct rdmacg_amount *set, unsigned int count);
int rdmacg_try_charge_cgroup(struct rdma_cgroup *cg, struct rdmacg_device *device,
			     const struct rdmacg_amount *set, unsigned int count);
void rdmacg_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
		   const struct rdmacg_amount *set, unsigned int count);
void rdmacg_uncharge_set(struct rdma_cgroup *owner, struct rdmacg_device *device,
			 const struct rdmacg_amount *set, unsigned int count);

u64 rdmacg_current_limit(struct rdmacg_device *device, unsigned int slot);

struct rdma_cgroup *rdmacg_get_current(void);
void rdmacg_get(struct rdma_cgroup *cg);
void rdmacg_put(struct rdma_cgroup *cg);

#else /* CONFIG_CGROUP_RDMA */

static inline int rdmacg_register_tables(struct rdmacg_device *device,
					 struct rdmacg_table *tables,
					 unsigned int count)
{
	return 0;
}

static inline void rdmacg_register_device(struct rdmacg_device *device)
{
}

static inline void rdmacg_unregister_device(struct rdmacg_device *device)
{
}

static inline void rdmacg_rename_device(struct rdmacg_device *device)
{
}

static inline int rdmacg_try_charge(struct rdma_cgroup **owner,
				    struct rdmacg_device *device,
				    enum rdmacg_resource_type index)
{
	*owner = NULL;
	return 0;
}

static inline void rdmacg_uncharge(struct rdma_cgroup *owner,
				   struct rdmacg_device *device,
				   enum rdmacg_resource_type index)
{
}

static inline int rdmacg_try_charge_set(struct rdma_cgroup **owner,
					struct rdmacg_device *device,
					const struct rdmacg_amount *set,
					unsigned int count)
{
	*owner = NULL;
	return 0;
}

static inline int rdmacg_try_charge_cgroup(struct rdma_cgroup *cg,
					   struct rdmacg_device *device,
					   const struct rdmacg_amount *set,
					   unsigned int count)
{
	return 0;
}

static inline void rdmacg_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
				 const struct rdmacg_amount *set, unsigned int count)
{
}

static inline void rdmacg_uncharge_set(struct rdma_cgroup *owner,
				       struct rdmacg_device *device,
				       const struct rdmacg_amount *set,
				       unsigned int count)
{
}

static inline u64 rdmacg_current_limit(struct rdmacg_device *device, unsigned int slot)
{
	return RDMACG_NO_LIMIT;
}

static inline struct rdma_cgroup *rdmacg_get_current(void)
{
	return NULL;
}

static inline void rdmacg_get(struct rdma_cgroup *cg)
{
}

static inline void rdmacg_put(struct rdma_cgroup *cg)
{
}

#endif /* CONFIG_CGROUP_RDMA */

/*
 * The number of limits on commands in all pools, plus the number of defaults
 * for commands in all cgroups. This is not a static key, because each change of
 * a static key patches the kernel's code. A user with a delegated cgroup could
 * cause any number of such changes.
 */
extern atomic_long_t rdmacg_nr_control_limits;

#ifdef CONFIG_CGROUP_RDMA_CONTROL

int rdmacg_limit_command(struct rdmacg_command *command, struct rdmacg_device *device,
			 enum rdmacg_command_kind kind);
void rdmacg_end_limited_command(struct rdmacg_command *command);
void rdmacg_stop_waiting(struct rdmacg_device *device);
void rdmacg_resume_waiting(struct rdmacg_device *device);

static inline bool rdmacg_commands_are_limited(void)
{
	return unlikely(atomic_long_read(&rdmacg_nr_control_limits));
}

#else /* CONFIG_CGROUP_RDMA_CONTROL */

static inline int rdmacg_limit_command(struct rdmacg_command *command,
				       struct rdmacg_device *device,
				       enum rdmacg_command_kind kind)
{
	return 0;
}

static inline void rdmacg_end_limited_command(struct rdmacg_command *command)
{
}

static inline bool rdmacg_commands_are_limited(void)
{
	return false;
}

#endif /* CONFIG_CGROUP_RDMA_CONTROL */

/**
 * rdmacg_begin_command() - let a command of the current process begin
 * @command: set for rdmacg_end_command()
 * @device: a device that stays registered until the call returns
 * @kind: the kind of command
 *
 * The call waits until the limits of the process's cgroup and its ancestors let
 * the command begin. If no cgroup of the machine has a limit on commands, the
 * call does nothing.
 *
 * Context: Process context; may sleep as long as the limit requires. The caller
 * must not hold a lock that is necessary to end a command, or to call
 * rdmacg_stop_waiting().
 * Return: 0, -ENOMEM, or -ERESTARTNOINTR after a signal. The caller must not
 * run the command after an error, and rdmacg_end_command() then does nothing.
 * The system call restarts after a signal, and its command waits behind the
 * others of its cgroup.
 */
static inline int rdmacg_begin_command(struct rdmacg_command *command,
				       struct rdmacg_device *device,
				       enum rdmacg_command_kind kind)
{
	command->control = NULL;
	if (!rdmacg_commands_are_limited())
		return 0;
	return rdmacg_limit_command(command, device, kind);
}

/**
 * rdmacg_move_command() - let a command end later than the call that began it
 * @to: the argument for rdmacg_end_command()
 * @from: the command that began; rdmacg_end_command() does nothing with it
 *	after this call
 *
 * Use this for a command that the adapter completes later, perhaps in an
 * interrupt. Call it before the adapter gets the command.
 *
 * Context: Any context.
 */
static inline void rdmacg_move_command(struct rdmacg_command *to, struct rdmacg_command *from)
{
	*to = *from;
	from->control = NULL;
}

/**
 * rdmacg_end_command() - end a command, and let waiting commands begin
 * @command: a command that rdmacg_begin_command() has let begin
 *
 * Context: Any context except hard interrupts on PREEMPT_RT. The device is
 * still registered.
 */
static inline void rdmacg_end_command(struct rdmacg_command *command)
{
	if (command->control)
		rdmacg_end_limited_command(command);
}

#endif /* _LINUX_CGROUP_RDMA_H */
