/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the RDMA cgroup controller share:
 *
 *   rdma.c         cgroup callbacks, files, the API for charges
 *   rdma-device.c  devices, their resources and names; knows no pool
 *   rdma-pool.c    domains, pools, charges; knows no file
 *   rdma-default.c limits for devices that have none of their own; knows no pool
 *   rdma-control.c rates of commands, and commands in flight; knows no pool
 *   rdma-command.c which of these a command has to pass
 *   rdma-parse.c   text to limits and limits to text; knows no lock
 *   rdma-trace.c   what tracepoints tell; called under no lock
 *
 * A device and a top-level cgroup, which is a child of the root, have one domain
 * together. All pools of that device in that subtree belong to it:
 *
 *   rdma_cgroup --domains--> domain (lock)      only a top-level cgroup
 *        |                     ^
 *        '------- pools ----> pool --parent--> pool of the parent cgroup
 *
 * Locks, all of them spinlocks, the outer ones first:
 *
 *   rdma_cgroup.max_lock   a write's lines take effect together; the cgroup's defaults, and
 *                          which pools came with them
 *   rdmacg_desc.lock       which domains a device has
 *   rdmacg_domain.lock     all counters and limits of a domain, and which pools it has
 *   rdmacg_gate.lock       rates of commands, commands in flight, and who waits
 *   xa_lock                of the xarrays below
 *
 *   rdmacg_names_lock      names of devices; nests with none of these
 *
 * Never two of one kind at once. Under none of them memory is reclaimed, text is
 * parsed or anybody waited for, and who holds one is not scheduled away but on
 * PREEMPT_RT: neither a tenant's writes nor its cpu.max keep another tenant waiting. Pools
 * come and go one by one, so a hold of a domain's lock grows with the depth of a cgroup
 * for a charge alone, by some nanoseconds a level, and for the first command of a cgroup that
 * is counted. A hold of a gate's lock does so for each command, and one of either lets up to
 * RDMACG_BATCH begin of those who wait in a queue. A charge takes no other lock, but for the
 * first one in a domain or in a cgroup: new pools come into use under max_lock, which nobody
 * takes but the cgroup's own writers and who makes pools in it or below. A hold of that one
 * grows with the devices that a write names or takes the last default from.
 */
#ifndef _KERNEL_CGROUP_RDMA_INTERNAL_H
#define _KERNEL_CGROUP_RDMA_INTERNAL_H

#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>

/* Linux before 6.12.117 and between 6.13 and 7.0 has no typed allocators. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, gfp) kzalloc(sizeof(object), gfp)
#endif

/* The longest name of a resource, with its NUL. driver_object has 13 letters. */
#define RDMACG_KEY_SIZE 32

/*
 * A name that one or more devices have; devices in different network namespaces
 * can share one. A new name is a new struct, so whoever reads one reads it
 * whole. Freed by RCU after the last reference.
 */
struct rdmacg_name {
	struct hlist_node	node;		/* rdmacg_names_lock */
	struct list_head	devices;	/* rdmacg_names_lock */
	unsigned int		nr_devices;	/* rdmacg_names_lock; READ_ONCE, may be stale */
	/* Each desc that points to it, also of a device that has gone; atomic. */
	refcount_t		refs;
	struct rcu_head		rcu;
	char			text[];		/* set once */
};

/*
 * What all rates of one device below one top-level cgroup share. Part of a domain.
 *
 * A timer takes the lock, so whoever else does holds off softirqs; charges do not pay for that,
 * because the domain's lock is another one.
 */
struct rdmacg_gate {
	/* Guards all of this and all of the controls. */
	spinlock_t		lock;
	/* Nobody waits, for the device is about to go; lock. */
	bool			is_open;
	struct list_head	waiters;	/* all of them; lock */
};

/*
 * A rate of commands: a command may begin once the clock has come to the time at which it
 * would be due if all before it had kept to the rate, or has come that close to it that there
 * are not more at once than the burst. So a pause saves up no more than a burst, and a clock
 * that is read late loses nothing. Times are of CLOCK_MONOTONIC in nanoseconds; they do not
 * overflow within 292 years. The gate's lock.
 */
struct rdmacg_rate {
	/* Commands a second, RDMACG_RATE_MAX at most; 0 without a limit. */
	u64			ops;
	/* A second divided by that: whole nanoseconds, and what is left. */
	u64			interval;
	u64			rest;
	/* How long before it is due a command may begin. */
	u64			tolerance;
	/* When the next command is due, and what is left of nanoseconds, as parts of @ops. */
	u64			due;
	u64			due_rest;
	/*
	 * Commands that began although it was not their time, a second's worth at most. Each
	 * command that comes in time pays for one more as long as there are any, so whoever has to
	 * wait gets half of the rate, whatever others destroy.
	 */
	u64			debt;
};

/* Limits past these are no limits, and no product of them and a second overflows. */
#define RDMACG_RATE_MAX		((u64)NSEC_PER_SEC)

/* The control class: what the controller adds to each device. In the order of their slots. */
enum rdmacg_control_limit {
	RDMACG_CONTROL_OPS,
	RDMACG_CONTROL_BURST,
	RDMACG_CONTROL_INFLIGHT,
	RDMACG_CONTROL_LIMITS,
};

/* How many of these a device has. */
#define RDMACG_NR_CONTROL_SLOTS						\
	(IS_ENABLED(CONFIG_CGROUP_RDMA_CONTROL) ? RDMACG_CONTROL_LIMITS : 0)

/* What rdma.control.stat shows, of the cgroup and all below it. */
struct rdmacg_control_stat {
	u64			ops;		/* commands that began */
	u64			throttled;	/* commands that had to wait */
	u64			throttled_ns;	/* how long they did */
};

/*
 * The commands of one cgroup and those below it on one device. It comes with the first
 * command while any cgroup on the way up limits commands, each ancestor below the root has
 * one, too, and it goes with its pool.
 *
 * A command waits for the rate of one level after the other, upwards, and then for its turn
 * to be in flight: whoever has to wait at home takes no place in the queue of an ancestor.
 *
 * Of the places in flight at a level, each child has as many as the child's own limit was at
 * most, so limits whose sum is no more than the parent's keep children apart. For that, a
 * command that does not wait has its place in its own cgroup, where those that wait come after
 * it, and in ancestors only up to the first level that is beyond its limit then.
 */
struct rdmacg_control {
	struct rdmacg_gate	*gate;		/* set once */
	struct rdmacg_control	*parent;	/* set once */
	u64			ops_max;	/* as written; gate->lock */
	u64			burst_max;	/* as written; gate->lock */
	struct rdmacg_rate	rate;		/* gate->lock */
	struct list_head	rate_queue;	/* who comes first, goes first; gate->lock */
	/* Commands that began and did not end, and how many may; gate->lock. */
	u64			inflight;
	u64			inflight_max;
	struct list_head	inflight_queue;	/* as rate_queue */
	struct rdmacg_control_stat stat;	/* gate->lock; READ_ONCE */
	struct rcu_head		rcu;
};

/* A command that is about to begin, and how long it has waited. On the stack of its process. */
struct rdmacg_turn {
	bool			may_wait;
	/* The first ancestor in which it has no place in flight; NULL if it has one in all. */
	struct rdmacg_control	*above;
	u64			waited_ns;
};

/*
 * What readers and writers need of one registered device. Freed by RCU after the
 * last reference, so the IB core can free its device at once.
 */
struct rdmacg_desc {
	/* Grows from device to device: the order in files. Set once. */
	u32			id;
	/*
	 * Where cgroups have the device's pools and domains: the smallest number that
	 * was free, because an xarray with nothing but entry 0 takes no memory. Free
	 * again with the desc, when nobody can look for the old pools. Set once.
	 */
	u32			key;
	u32			index;		/* set once */
	/* The registration, each write, and each charge with a pin; atomic. */
	refcount_t		refs;
	struct rdmacg_name __rcu *name;		/* rdmacg_names_lock; RCU */
	struct list_head	name_node;	/* on name->devices; rdmacg_names_lock */
	/* Guards which domains there are. */
	spinlock_t		lock;
	bool			dead;		/* no new domains; lock */
	/* Nobody waits for a command: see rdmacg_stop_waiting(); lock. */
	bool			is_open;
	struct list_head	domains;	/* lock */
	struct rcu_head		rcu;
	unsigned int		nr_slots;	/* set once */
	/* Behind those that can be charged; there are none if it is nr_slots. Set once. */
	unsigned int		control_slot;
	char			(*keys)[RDMACG_KEY_SIZE]; /* names of @resources; set once */
	struct rdmacg_resource	resources[];	/* set once */
};

/*
 * What all pools of one device below one top-level cgroup share. It comes with
 * the first of them and lives as long as both the device and the cgroup: whoever
 * may charge, reaches it without a reference. Freed by RCU.
 */
struct rdmacg_domain {
	/*
	 * Guards the domain's pools: every counter and limit, and which pools
	 * there are. Whoever holds it sees all levels as of one instant.
	 */
	spinlock_t		lock;
	bool			dead;		/* no new pools; lock */
	struct list_head	pools;		/* parents before children; lock */
	struct rdmacg_desc	*desc;		/* set once */
	struct rdma_cgroup	*top;		/* set once */
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	/* Its lock nests inside this one. On a line of its own, which charges do not touch. */
	struct rdmacg_gate	gate ____cacheline_aligned_in_smp;
#endif
	union {
		struct list_head desc_node;	/* on desc->domains; desc->lock */
		struct rcu_head	rcu;		/* once it is off that list */
	};
} ____cacheline_aligned_in_smp;

/*
 * One resource in one pool, in the resource's unit. @usage exceeds a limit only
 * where that was lowered under it. Written under the domain's lock, and read
 * with READ_ONCE without it; on 32 bits such a read of a value past 4 GiB can be
 * torn.
 */
struct rdmacg_slot {
	u64			usage;
	u64			max;
	u64			peak;
};

/* Refused attempts to charge one resource; the same rules as rdmacg_slot. */
struct rdmacg_events {
	u64			max;		/* refused by a limit in the subtree */
	u64			alloc_fail;	/* from the subtree */
	u64			local_max;	/* refused by the cgroup's own limit */
	u64			local_alloc_fail; /* from the cgroup itself */
};

/*
 * The slots of one cgroup on one device. A pool comes with the first limit or
 * the first charge, and each ancestor below the root has one, too; a cgroup
 * without a pool uses nothing and has no limit there. It goes with the cgroup or
 * the device, or as soon as it holds no limit, no usage and no history, and nobody
 * uses it. Freed by RCU.
 *
 * What a charge writes begins on a cache line of its own: it dirties one line of each
 * ancestor for each two to three resources, and none that a stranger needs.
 *
 * What limits a slot is in the slot, wherever it comes from: the device's own limit in the
 * cgroup, or the cgroup's default. Which ones are the device's own is a word behind the slots.
 *
 * A charge reads @levels, whose pools do not wait for each other as a chain of pointers
 * would. They are RDMACG_LEVELS at most, or a chain of D cgroups would take D^2 of memory
 * and time; above them, it goes on with those of the next pool upwards.
 */
struct rdmacg_pool {
	struct rdmacg_domain	*domain;	/* set once */
	struct rdma_cgroup	*cg;		/* set once */
	struct rdmacg_events __rcu *events;	/* NULL before the first; lock; RCU */
	union {
		struct list_head domain_node;	/* on domain->pools; lock */
		struct rcu_head	rcu;		/* once it is off that list */
	};
	unsigned int		nr_users;	/* child pools, and writes; lock */
	bool			dead;		/* no longer in use; lock */
	u8			nr_levels;	/* set before the pool is found */
	/* This pool and its next ancestors, upwards; behind that word. Set once. */
	struct rdmacg_pool	**levels;
	/* Of a charge under way: the next pool with levels on its way back; lock. */
	struct rdmacg_pool	*below;
	/* Behind them, where no charge comes: rdmacg_pool_own(). */
	struct rdmacg_slot	slots[] ____cacheline_aligned_in_smp;
};

/*
 * Eight pointers fill a cache line. With a parent's pointer alone, a charge 16 levels deep
 * takes 2.8 times as long, and 4 levels deep as long (User-Mode Linux, "make bench").
 */
#define RDMACG_LEVELS 8

/* To be read before what is never smaller: see rdmacg_slot_set(). */
static inline u64 rdmacg_slot_usage(const struct rdmacg_slot *slot)
{
	u64 usage = READ_ONCE(slot->usage);

	/* Pairs with rdmacg_slot_set(). */
	smp_rmb();
	return usage;
}

/*
 * A bit for each slot whose limit is the device's own, "max" included; the others have the
 * cgroup's default. A cgroup without a default in a slot's class has no such "max" there: it
 * would mean nothing, and keep the pool. The domain's lock.
 */
static inline u64 *rdmacg_pool_own(struct rdmacg_pool *pool)
{
	return (u64 *)pool->levels - 1;
}

/*
 * The pool's commands; NULL before the first that is counted, and set once. The domain's
 * lock; RCU. There is room for it with CONFIG_CGROUP_RDMA_CONTROL only.
 */
static inline struct rdmacg_control __rcu **rdmacg_pool_control(const struct rdmacg_pool *pool)
{
	return (struct rdmacg_control __rcu **)((u64 *)pool->levels - 2);
}

/* The words between a pool's slots and its levels. */
#define RDMACG_POOL_WORDS (IS_ENABLED(CONFIG_CGROUP_RDMA_CONTROL) ? 2 : 1)

/* A limit of each device that has a resource of this class and name. */
struct rdmacg_default {
	enum rdmacg_class	class;
	char			key[RDMACG_KEY_SIZE];
	u64			max;
};

/*
 * All such limits of one cgroup. They are set before anybody finds them and never change: a
 * write puts others in their place, so whoever reads them reads them whole. Freed by RCU.
 */
struct rdmacg_defaults {
	struct rcu_head		rcu;
	unsigned int		count;
	unsigned int		room;		/* for so many */
	struct rdmacg_default	limits[];
};

/* A limit that a write does not set; no number that can be written. */
#define RDMACG_UNTOUCHED U64_MAX

/* What a write does to the defaults of one class. Belongs to the writer. */
struct rdmacg_edit {
	enum rdmacg_class	class;
	/* A default that has no key here goes, too. */
	bool			is_reset;
	struct rdmacg_defaults	keys;
};

/* What had no room: so much of a resource, in this cgroup, as that was at that moment. */
struct rdmacg_refusal {
	unsigned int		slot;
	struct rdma_cgroup	*cg;
	u64			amount;
	u64			usage;
	u64			limit;
};

/* What became of a limit, and how much was in use at that moment. */
struct rdmacg_change {
	u64			old;
	u64			new;
	u64			usage;
};

/* All classes but the last one: who is over a limit on commands waits, and sees no event. */
#define RDMACG_EVENT_CLASSES RDMACG_CLASS_CONTROL

/*
 * The controller's part of one cgroup. Freed by the cgroup core after the last
 * reference, of which each charge and each child holds one, so neither a charge
 * nor a pool below outlives it.
 */
struct rdma_cgroup {
	struct cgroup_subsys_state css;
	struct rdma_cgroup	*top;		/* set once; NULL for the root */
	unsigned int		depth;		/* below the root; set once */
	/*
	 * Of two writes to this cgroup's limits, one takes effect after the other. A pool gets
	 * the limits of @defaults under it, when it comes into use and when they are others, so
	 * a write that has replaced them finds each pool that has the old ones. Whatever is
	 * done under it ends, and nothing that was done without it has to be done again more
	 * than once, or whoever writes in a loop would keep others from ever being done. (A new
	 * pool that others give back before it is used is made again: rdmacg_pool_get_lock().)
	 */
	spinlock_t		max_lock;
	/* NULL where none is set; max_lock; RCU. */
	struct rdmacg_defaults __rcu *defaults;
	/* By the device's key; a domain's lock for the domain's entry; RCU. */
	struct xarray		pools;
	/* By the device's key, of a top-level cgroup; desc->lock; RCU. */
	struct xarray		domains;
	/* Notified of what the class's events files count. */
	struct cgroup_file	events_file[RDMACG_EVENT_CLASSES];
	struct cgroup_file	events_local_file[RDMACG_EVENT_CLASSES];
};

static inline struct rdma_cgroup *rdmacg_from_css(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct rdma_cgroup, css) : NULL;
}

static inline struct rdma_cgroup *rdmacg_parent(struct rdma_cgroup *cg)
{
	return rdmacg_from_css(cg->css.parent);
}

/* rdma-device.c */
void rdmacg_desc_set_name(struct rdmacg_desc *desc, struct rdmacg_name *name);
struct rdmacg_desc *rdmacg_desc_next(unsigned long *id);
struct rdmacg_desc *rdmacg_desc_get(const char *name, size_t len, const u32 *index);
void rdmacg_desc_put(struct rdmacg_desc *desc);

/* A run of characters in the text that was written. */
struct rdmacg_word {
	const char		*text;
	size_t			len;
};

/* rdma-default.c */
struct rdmacg_edit *rdmacg_edit_alloc(struct rdma_cgroup *cg, enum rdmacg_class class);
int rdmacg_edit_set(struct rdmacg_edit *edit, struct rdmacg_word key, u64 max);
struct rdmacg_defaults *rdmacg_defaults_alloc(struct rdma_cgroup *cg,
					      const struct rdmacg_edit *edit, bool is_sure);
int rdmacg_defaults_merge(struct rdmacg_defaults *new, const struct rdmacg_defaults *old,
			  const struct rdmacg_edit *edit);
bool rdmacg_defaults_have(const struct rdmacg_defaults *defaults, enum rdmacg_class class);
u64 rdmacg_default_limit(const struct rdmacg_defaults *defaults,
			 const struct rdmacg_resource *resource);
void rdmacg_default_limits(const struct rdmacg_defaults *defaults,
			   const struct rdmacg_desc *desc, u64 *max);

/* The value of a limit that is to be the default's again; no number that can be written. */
#define RDMACG_USE_DEFAULT U64_MAX

/*
 * One line of text written to a file of limits. Both strings point into the text;
 * @name is not terminated, @limits is for rdmacg_parse_limit().
 */
struct rdmacg_line {
	const char		*name;
	size_t			name_len;
	bool			is_default;	/* of all devices, instead of a name */
	bool			has_index;
	u32			index;
	const char		*limits;
};

/*
 * The limits that a write is about to set on one device; one for each device that
 * it names. Belongs to the writer.
 */
struct rdmacg_staged {
	struct list_head	node;
	struct rdmacg_line	line;		/* the last one that named the device */
	struct rdmacg_desc	*desc;		/* with a reference */
	bool			has_pool;	/* which it keeps from being given back */
	bool			keep_max;	/* "max" is one, for the class has a default */
	u64			slots;		/* a bit for each one that is set */
	/* One for each slot, behind the limits; NULL if nobody traces. */
	struct rdmacg_change	*changes;
	u64			max[];
};

/* rdma-pool.c */
void rdmacg_pools_init(struct rdma_cgroup *cg, struct rdma_cgroup *parent);
void rdmacg_pools_free(struct rdma_cgroup *cg);
void rdmacg_domains_free(struct rdmacg_desc *desc);

size_t rdmacg_pool_size(unsigned int nr_slots, unsigned int depth);
struct rdmacg_pool *rdmacg_pool_find_rcu(struct rdma_cgroup *cg, u32 key);
bool rdmacg_pool_try_lock_rcu(struct rdmacg_pool *pool);
struct rdmacg_pool *rdmacg_pool_lock(struct rdma_cgroup *cg, u32 key);
struct rdmacg_pool *rdmacg_pool_get_lock(struct rdma_cgroup *cg, u32 key,
					 struct rdmacg_desc *desc);
struct rdmacg_pool *rdmacg_pool_parent(const struct rdmacg_pool *pool);
void rdmacg_pool_unlock(struct rdmacg_pool *pool);
void rdmacg_pool_give_back(struct rdma_cgroup *cg, u32 key);
u64 rdmacg_limit_rcu(struct rdma_cgroup *cg, const struct rdmacg_pool *pool,
		     const struct rdmacg_resource *resource, unsigned int slot);

int rdmacg_stage_pool(struct rdma_cgroup *cg, struct rdmacg_staged *staged);
void rdmacg_apply_staged(struct rdma_cgroup *cg, const struct rdmacg_staged *staged);
void rdmacg_apply_defaults_locked(struct rdma_cgroup *cg, struct rdmacg_defaults *defaults);
void rdmacg_pool_refresh_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			     struct rdmacg_change *changes);
void rdmacg_unstage_pool(struct rdma_cgroup *cg, const struct rdmacg_staged *staged);

int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count,
			   struct rdmacg_refusal *refusal);
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  const struct rdmacg_charge *set, unsigned int count);

#ifdef CONFIG_CGROUP_RDMA_CONTROL

/* rdma-control.c */
void rdmacg_rate_set(struct rdmacg_rate *rate, u64 ops, u64 burst, u64 now);
u64 rdmacg_rate_begins(const struct rdmacg_rate *rate);
bool rdmacg_rate_try_take(struct rdmacg_rate *rate, u64 now);
bool rdmacg_rate_take_next(struct rdmacg_rate *rate, u64 now);
void rdmacg_rate_take_anyway(struct rdmacg_rate *rate, u64 now, bool has_queue);

void rdmacg_gate_init(struct rdmacg_gate *gate, bool is_open);
void rdmacg_gate_close(struct rdmacg_gate *gate);
bool rdmacg_gate_open(struct rdmacg_gate *gate);
struct rdmacg_control *rdmacg_control_alloc(void);
void rdmacg_control_set(struct rdmacg_control *control, u64 ops, u64 burst, u64 inflight);
int rdmacg_control_begin(struct rdmacg_control *control, struct rdmacg_turn *turn);
void rdmacg_control_end(struct rdmacg_control *control, struct rdmacg_control *above);

/* rdma-command.c */
void rdmacg_commands_add_limits(int limits);
void rdmacg_commands_relax(void);
void rdmacg_commands_settle(void);
void rdmacg_domain_init_gate(struct rdmacg_domain *domain);
int rdmacg_pool_control_limits(const struct rdmacg_pool *pool);
bool rdmacg_pool_has_commands_locked(const struct rdmacg_pool *pool);
void rdmacg_pool_set_control_locked(struct rdmacg_pool *pool);
void rdmacg_pool_free_control_locked(struct rdmacg_pool *pool);
struct rdmacg_resource rdmacg_control_resource(enum rdmacg_control_limit limit);
void rdmacg_print_control_stat(struct seq_file *sf, const struct rdmacg_pool *pool);

#else /* CONFIG_CGROUP_RDMA_CONTROL */

static inline void rdmacg_commands_add_limits(int limits)
{
}

static inline void rdmacg_commands_relax(void)
{
}

static inline void rdmacg_commands_settle(void)
{
}

static inline void rdmacg_domain_init_gate(struct rdmacg_domain *domain)
{
}

static inline int rdmacg_pool_control_limits(const struct rdmacg_pool *pool)
{
	return 0;
}

static inline bool rdmacg_pool_has_commands_locked(const struct rdmacg_pool *pool)
{
	return false;
}

static inline void rdmacg_pool_set_control_locked(struct rdmacg_pool *pool)
{
}

static inline void rdmacg_pool_free_control_locked(struct rdmacg_pool *pool)
{
}

static inline struct rdmacg_resource rdmacg_control_resource(enum rdmacg_control_limit limit)
{
	return (struct rdmacg_resource) { };
}

static inline void rdmacg_print_control_stat(struct seq_file *sf, const struct rdmacg_pool *pool)
{
}

#endif /* CONFIG_CGROUP_RDMA_CONTROL */

/* rdma-trace.c */
void rdmacg_trace_charge(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			 const struct rdmacg_charge *set, unsigned int count);
void rdmacg_trace_uncharge(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			   const struct rdmacg_charge *set, unsigned int count);
void rdmacg_trace_refuse(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			 const struct rdmacg_refusal *refusal);
void rdmacg_trace_throttle(struct rdma_cgroup *cg, const struct rdmacg_device *device,
			   u64 waited_ns);
void rdmacg_trace_changes_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			      struct rdmacg_change *changes);
void rdmacg_trace_new_pool_rcu(struct rdma_cgroup *cg, const struct rdmacg_desc *desc,
			       const struct rdmacg_defaults *defaults);

/* rdma-parse.c */
bool rdmacg_word_is(struct rdmacg_word word, const char *string);
bool rdmacg_key_is_valid(struct rdmacg_word key);
int rdmacg_check_text(const char *text);
int rdmacg_parse_line(const char **text, struct rdmacg_line *line);
int rdmacg_parse_limit(const char **text, struct rdmacg_word *key, u64 *max);
void rdmacg_print_device(struct seq_file *sf, const char *name, bool unique, u32 index);
void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix,
			u64 value);
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit);

/* What a file shows. */
enum rdmacg_file {
	RDMACG_FILE_MAX,
	RDMACG_FILE_CURRENT,
	RDMACG_FILE_PEAK,
	RDMACG_FILE_EVENTS,
	RDMACG_FILE_EVENTS_LOCAL,
	RDMACG_FILE_CAPACITY,
	RDMACG_FILE_STAT,
	RDMACG_FILES,
};

/* rdma.c */
void rdmacg_show_default(struct seq_file *sf, struct rdma_cgroup *cg, enum rdmacg_class class);
void rdmacg_show_line(struct seq_file *sf, struct rdma_cgroup *cg,
		      const struct rdmacg_desc *desc, enum rdmacg_class class,
		      enum rdmacg_file file);
int rdmacg_set_max(struct rdma_cgroup *cg, enum rdmacg_class class, const char *text);

#endif /* _KERNEL_CGROUP_RDMA_INTERNAL_H */
