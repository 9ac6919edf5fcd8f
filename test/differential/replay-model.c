// SPDX-License-Identifier: GPL-2.0
/* The controller's contract in its plainest form: arrays, loops, no locks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay-model.h"

#define ACCOUNTS 512
/* The root has no account: it has no limits and is not charged. */
#define ROOT NONE

struct charge {
	enum resource resource;
	__u64 amount;
};

struct set {
	struct charge charges[3];
	int count;
};

static struct account accounts[ACCOUNTS];

static struct {
	bool exists, delegates;
	int account;
} cgroups[DIRS];

static struct {
	bool alive;
	int dir;
} procs[PROCS];

static struct {
	bool alive;
	int device, owner;
	bool held_by[PROCS];
} contexts[CONTEXTS];

static struct {
	bool alive;
	enum resource type;
	int ctx, pd, cq, owner;
	__u64 length;
	bool held_by[PROCS];	/* an object with an fd; others go by their context */
	bool attached[GROUPS];
	int attach_owner[GROUPS];
} objects[OBJECTS];

/* Identifiers of rdma_cm, which are on no device at first. */
static struct {
	bool alive;
	int owner, creator, device;
	bool held_by[PROCS];
} cm_ids[CM_IDS];

/* The account that pays for a multicast group that has members. */

/* ---- accounts ---- */

/* An account is in use while it or a descendant is charged. */
static void mark(bool *in_use, int account)
{
	for (; account != ROOT; account = accounts[account].parent)
		in_use[account] = true;
}

static void mark_of_object(bool *in_use, int object)
{
	int group;

	mark(in_use, objects[object].owner);
	for (group = 0; group < GROUPS; group++)
		if (objects[object].attached[group])
			mark(in_use, objects[object].attach_owner[group]);
}

static int free_account(void)
{
	bool in_use[ACCOUNTS] = { false };
	int i;

	for (i = 0; i < DIRS; i++)
		if (cgroups[i].exists)
			mark(in_use, cgroups[i].account);
	for (i = 0; i < CONTEXTS; i++)
		if (contexts[i].alive)
			mark(in_use, contexts[i].owner);
	for (i = 0; i < CM_IDS; i++)
		if (cm_ids[i].alive)
			mark(in_use, cm_ids[i].owner);
	for (i = 0; i < OBJECTS; i++)
		if (objects[i].alive)
			mark_of_object(in_use, i);
	for (i = 0; i < ACCOUNTS; i++)
		if (!in_use[i])
			return i;
	fprintf(stderr, "model: more than %d accounts\n", ACCOUNTS);
	exit(2);
}

static int new_account(int parent)
{
	int account = free_account(), device, resource;

	memset(&accounts[account], 0, sizeof(accounts[account]));
	accounts[account].parent = parent;
	for (device = 0; device < DEVICES; device++)
		for (resource = 0; resource < RESOURCES; resource++)
			accounts[account].max[device][resource] = NO_LIMIT;
	model_defaults_init(&accounts[account].defaults);
	return account;
}

/* The account that pays: the cgroup's, or that of the closest ancestor that has one. */
static int payer(int dir)
{
	while (dir != 0 && cgroups[dir].account == NONE)
		dir = dirs[dir].parent;
	return dir ? cgroups[dir].account : ROOT;
}

/* ---- charges ---- */

static bool has_room(int account, int device, const struct charge *charge)
{
	__u64 usage = accounts[account].counters[device][charge->resource].usage;
	__u64 max = accounts[account].max[device][charge->resource];

	return max == NO_LIMIT || (usage <= max && charge->amount <= max - usage);
}

/* The limit of @full has refused an attempt of @account. */
static void count_refusal(int account, int full, int device, enum resource resource)
{
	int i;

	accounts[account].counters[device][resource].local[EVENT_ALLOC_FAIL]++;
	for (i = account; i != ROOT; i = accounts[i].parent)
		accounts[i].counters[device][resource].events[EVENT_ALLOC_FAIL]++;
	accounts[full].counters[device][resource].local[EVENT_MAX]++;
	for (i = full; i != ROOT; i = accounts[i].parent)
		accounts[i].counters[device][resource].events[EVENT_MAX]++;
}

static __u64 counted(__u64 amount)
{
	return amount == ENDLESS ? 0 : amount;
}

/* Charge all of the set to the account and all ancestors, or nothing. */
static int try_charge(int account, int device, struct set set)
{
	struct counter *counter;
	struct charge *charge;
	int i;

	for (i = account; i != ROOT; i = accounts[i].parent)
		for (charge = set.charges; charge < set.charges + set.count; charge++) {
			if (has_room(i, device, charge))
				continue;
			count_refusal(account, i, device, charge->resource);
			return -EAGAIN;
		}
	for (charge = set.charges; charge < set.charges + set.count; charge++)
		for (i = account; i != ROOT; i = accounts[i].parent) {
			counter = &accounts[i].counters[device][charge->resource];
			counter->usage += counted(charge->amount);
			if (counter->usage > counter->peak)
				counter->peak = counter->usage;
		}
	return 0;
}

static void uncharge(int account, int device, struct set set)
{
	struct charge *charge;
	int i;

	for (charge = set.charges; charge < set.charges + set.count; charge++)
		for (i = account; i != ROOT; i = accounts[i].parent)
			accounts[i].counters[device][charge->resource].usage -=
				counted(charge->amount);
}

static struct set one(enum resource what, __u64 amount)
{
	return (struct set) { .charges = { { what, amount } }, .count = 1 };
}

static struct set object_set(enum resource type)
{
	struct set set = { .count = 0 };

	if (!is_fd_type(type))
		set.charges[set.count++] = (struct charge) { HCA_OBJECT, 1 };
	set.charges[set.count++] = (struct charge) { type, 1 };
	return set;
}

/* An object's memory is charged after the object, in pages, when it is pinned or allocated. */
static struct set memory_set(enum resource type, __u64 length)
{
	if (type == MR)
		return one(MR_MEM, (length + 4095) / 4096 * 4096);
	/* The shortest queue of Soft-RoCE is a page. */
	if (type == CQ || type == QP || type == SRQ)
		return one(QUEUE_MEM, 4096);
	return (struct set) { .count = 0 };
}

/* A QP has two queues, each a charge of its own. */
static int memory_charges(enum resource type)
{
	return type == QP ? 2 : 1;
}

static __u64 binding_limit(int account, int device, enum resource resource)
{
	__u64 limit = NO_LIMIT;

	for (; account != ROOT; account = accounts[account].parent)
		if (accounts[account].max[device][resource] < limit)
			limit = accounts[account].max[device][resource];
	return limit;
}

/* ---- cgroups ---- */

static bool has_child(int dir)
{
	int i;

	for (i = 1; i < DIRS; i++)
		if (dirs[i].parent == dir && cgroups[i].exists)
			return true;
	return false;
}

static bool has_process(int dir)
{
	int i;

	for (i = 0; i < PROCS; i++)
		if (procs[i].alive && procs[i].dir == dir)
			return true;
	return false;
}

static int do_mkdir(int dir)
{
	int parent = dirs[dir].parent;

	if (!cgroups[parent].exists)
		return -ENOENT;
	if (cgroups[dir].exists)
		return -EEXIST;
	cgroups[dir].account = on_v1 || cgroups[parent].delegates ?
			       new_account(payer(parent)) : NONE;
	cgroups[dir].exists = true;
	cgroups[dir].delegates = false;
	return 0;
}

static int do_rmdir(int dir)
{
	if (!cgroups[dir].exists)
		return -ENOENT;
	if (has_child(dir) || has_process(dir))
		return -EBUSY;
	cgroups[dir].exists = false;
	return 0;
}

static int delegate_on(int dir)
{
	int i;

	if (cgroups[dir].delegates)
		return 0;
	if (cgroups[dir].account == NONE)
		return -ENOENT;
	if (has_process(dir))
		return -EBUSY;
	cgroups[dir].delegates = true;
	for (i = 1; i < DIRS; i++)
		if (dirs[i].parent == dir && cgroups[i].exists)
			cgroups[i].account = new_account(payer(dir));
	return 0;
}

static int delegate_off(int dir)
{
	int i;

	if (!cgroups[dir].delegates)
		return 0;
	for (i = 1; i < DIRS; i++)
		if (dirs[i].parent == dir && cgroups[i].exists && cgroups[i].delegates)
			return -EBUSY;
	cgroups[dir].delegates = false;
	for (i = 1; i < DIRS; i++)
		if (dirs[i].parent == dir)
			cgroups[i].account = NONE;
	return 0;
}

static int do_delegate(int dir, bool on)
{
	if (!cgroups[dir].exists)
		return -ENOENT;
	return on ? delegate_on(dir) : delegate_off(dir);
}

/* ---- files ---- */

static int do_read(int dir, int file, char *answer)
{
	if (!model_has_account(dir))
		return -ENOENT;
	account_print(&accounts[cgroups[dir].account], file, answer);
	return 0;
}

static int do_write(int dir, int file, const char *text, size_t len)
{
	if (!model_has_account(dir))
		return -ENOENT;
	return account_write(&accounts[cgroups[dir].account], file, text, len);
}

/* ---- objects ---- */

static int do_attach(int proc, int object, int group)
{
	int device = contexts[objects[object].ctx].device;
	int owner = payer(procs[proc].dir);

	if (objects[object].attached[group])
		return 0;
	if (try_charge(owner, device, one(MCAST, 1)))
		return -EAGAIN;
	objects[object].attached[group] = true;
	objects[object].attach_owner[group] = owner;
	return 0;
}

static int do_detach(int object, int group)
{
	int device = contexts[objects[object].ctx].device;

	if (!objects[object].attached[group])
		return -EINVAL;
	objects[object].attached[group] = false;
	uncharge(objects[object].attach_owner[group], device, one(MCAST, 1));
	return 0;
}

static bool is_busy(int object)
{
	int i;

	for (i = 0; i < GROUPS; i++)
		if (objects[object].attached[i])
			return true;
	for (i = 0; i < OBJECTS; i++)
		if (objects[i].alive && (objects[i].pd == object || objects[i].cq == object))
			return true;
	return false;
}

/* Give back an object with so many charges of memory. */
static void uncharge_object(int owner, int device, enum resource type, __u64 length, int charges)
{
	while (charges--)
		uncharge(owner, device, memory_set(type, length));
	uncharge(owner, device, object_set(type));
}

static void object_gone(int object)
{
	int group;

	for (group = 0; group < GROUPS; group++)
		do_detach(object, group);
	uncharge_object(objects[object].owner, contexts[objects[object].ctx].device,
			objects[object].type, objects[object].length,
			memory_charges(objects[object].type));
	objects[object].alive = false;
}

static bool is_held(const bool held_by[PROCS])
{
	int i;

	for (i = 0; i < PROCS; i++)
		if (held_by[i])
			return true;
	return false;
}

/* A process closes a context. Its objects are destroyed when the last process has closed it. */
static int do_close(int proc, int ctx)
{
	int i;

	contexts[ctx].held_by[proc] = false;
	if (is_held(contexts[ctx].held_by))
		return 0;
	for (i = 0; i < OBJECTS; i++)
		if (objects[i].alive && objects[i].ctx == ctx)
			object_gone(i);
	uncharge(contexts[ctx].owner, contexts[ctx].device, one(HCA_HANDLE, 1));
	contexts[ctx].alive = false;
	return 0;
}

static int do_open(int proc, int ctx, int device)
{
	int owner = payer(procs[proc].dir);

	if (try_charge(owner, device, one(HCA_HANDLE, 1)))
		return -EAGAIN;
	memset(&contexts[ctx], 0, sizeof(contexts[ctx]));
	contexts[ctx].alive = true;
	contexts[ctx].device = device;
	contexts[ctx].owner = owner;
	contexts[ctx].held_by[proc] = true;
	return 0;
}

/* The error of a driver that finds a flaw before it charges memory. */
static int flaw_error(const struct op *op)
{
	if (op->type == MR && op->length == ENDLESS)
		return -EINVAL;
	return op->flaw == TOO_MANY_CQES ? -EINVAL : 0;
}

static int charge_object(int owner, int device, const struct op *op)
{
	int error, charges = 0;

	if (try_charge(owner, device, object_set(op->type)))
		return -EAGAIN;
	error = flaw_error(op);
	while (!error && charges < memory_charges(op->type)) {
		if (try_charge(owner, device, memory_set(op->type, op->length)))
			error = -EAGAIN;
		else
			charges++;
	}
	if (!error && op->flaw == NO_MEMORY_THERE)
		error = -EFAULT;
	if (error)
		uncharge_object(owner, device, op->type, op->length, charges);
	return error;
}

static int do_create(const struct op *op)
{
	int owner = payer(procs[op->proc].dir);
	int device = contexts[op->ctx].device;
	int error = charge_object(owner, device, op);

	if (error)
		return error;
	memset(&objects[op->object], 0, sizeof(objects[op->object]));
	objects[op->object].alive = true;
	objects[op->object].type = op->type;
	objects[op->object].ctx = op->ctx;
	objects[op->object].pd = op->pd;
	objects[op->object].cq = op->cq;
	objects[op->object].owner = owner;
	objects[op->object].length = op->length;
	objects[op->object].held_by[op->proc] = is_fd_type(op->type);
	return 0;
}

static int do_destroy(int proc, int object)
{
	if (is_busy(object))
		return -EBUSY;
	objects[object].held_by[proc] = false;
	if (!is_held(objects[object].held_by))
		object_gone(object);
	return 0;
}

/* Soft-RoCE cannot change the memory of an MR. A new object is charged before it is asked. */
static int do_rereg(int proc, int object)
{
	int device = contexts[objects[object].ctx].device;
	int owner = payer(procs[proc].dir);

	if (try_charge(owner, device, object_set(MR)))
		return -EAGAIN;
	uncharge(owner, device, object_set(MR));
	return -EOPNOTSUPP;
}

static int do_query(int proc, int ctx, char *answer)
{
	int owner = payer(procs[proc].dir);
	int device = contexts[ctx].device;
	__u64 most[RESOURCES], objects_limit;
	int i;

	objects_limit = binding_limit(owner, device, HCA_OBJECT);
	for (i = 0; i < RESOURCES; i++) {
		most[i] = binding_limit(owner, device, i);
		if (most[i] > objects_limit)
			most[i] = objects_limit;
	}
	most[MR_MEM] = NO_LIMIT;
	/* 0 would be "not stated". */
	if (!most[AH])
		most[AH] = NO_LIMIT;
	print_query(answer, most);
	return 0;
}

/* ---- identifiers of rdma_cm ---- */

static int do_cm_create(int proc, int id)
{
	memset(&cm_ids[id], 0, sizeof(cm_ids[id]));
	cm_ids[id].alive = true;
	cm_ids[id].owner = payer(procs[proc].dir);
	cm_ids[id].creator = proc;
	cm_ids[id].device = NONE;
	cm_ids[id].held_by[proc] = true;
	return 0;
}

/* The account of its creation pays, wherever the process is now. */
static int do_cm_bind(int id, int device)
{
	if (cm_ids[id].device != NONE)
		return -EINVAL;
	if (try_charge(cm_ids[id].owner, device, one(CM_ID, 1)))
		return -EAGAIN;
	cm_ids[id].device = device;
	return 0;
}

static int do_cm_close(int proc, int id)
{
	cm_ids[id].held_by[proc] = false;
	if (is_held(cm_ids[id].held_by))
		return 0;
	if (cm_ids[id].device != NONE)
		uncharge(cm_ids[id].owner, cm_ids[id].device, one(CM_ID, 1));
	cm_ids[id].alive = false;
	return 0;
}

/* ---- processes ---- */

static int do_spawn(int proc)
{
	procs[proc].alive = true;
	procs[proc].dir = 0;
	return 0;
}

static int do_fork(int parent, int child)
{
	int i;

	procs[child] = procs[parent];
	for (i = 0; i < CONTEXTS; i++)
		contexts[i].held_by[child] = contexts[i].held_by[parent];
	for (i = 0; i < OBJECTS; i++)
		objects[i].held_by[child] = objects[i].held_by[parent];
	for (i = 0; i < CM_IDS; i++)
		cm_ids[i].held_by[child] = cm_ids[i].held_by[parent];
	return 0;
}

static int do_kill(int proc)
{
	int i;

	procs[proc].alive = false;
	for (i = 0; i < CM_IDS; i++) {
		if (cm_ids[i].creator == proc)
			cm_ids[i].creator = NONE;
		if (cm_ids[i].alive && cm_ids[i].held_by[proc])
			do_cm_close(proc, i);
	}
	for (i = 0; i < OBJECTS; i++)
		if (objects[i].alive && objects[i].held_by[proc])
			do_destroy(proc, i);
	for (i = 0; i < CONTEXTS; i++)
		if (contexts[i].alive && contexts[i].held_by[proc])
			do_close(proc, i);
	return 0;
}

static int do_enter(int proc, int dir)
{
	if (!cgroups[dir].exists)
		return -ENOENT;
	if (dir != 0 && cgroups[dir].delegates)
		return -EBUSY;
	procs[proc].dir = dir;
	return 0;
}

static int do_share(int ctx, int receiver)
{
	contexts[ctx].held_by[receiver] = true;
	return 0;
}

/* ---- the interface ---- */

void model_start(void)
{
	int i;

	for (i = 0; i < DIRS; i++)
		cgroups[i].account = NONE;
	cgroups[0].exists = true;
	cgroups[0].delegates = true;
}

int model_do(const struct op *op, char *answer)
{
	switch (op->what) {
	case MKDIR:	return do_mkdir(op->dir);
	case RMDIR:	return do_rmdir(op->dir);
	case DELEGATE:	return do_delegate(op->dir, op->on);
	case READ:	return do_read(op->dir, op->file, answer);
	case WRITE:	return do_write(op->dir, op->file, op->text, op->text_len);
	case SPAWN:	return do_spawn(op->proc);
	case FORK:	return do_fork(op->proc, op->other);
	case KILL:	return do_kill(op->proc);
	case ENTER:	return do_enter(op->proc, op->dir);
	case OPEN:	return do_open(op->proc, op->ctx, op->device);
	case CLOSE:	return do_close(op->proc, op->ctx);
	case SHARE:	return do_share(op->ctx, op->other);
	case CREATE:	return do_create(op);
	case DESTROY:	return do_destroy(op->proc, op->object);
	case REREG:	return do_rereg(op->proc, op->object);
	case ATTACH:	return do_attach(op->proc, op->object, op->group);
	case DETACH:	return do_detach(op->object, op->group);
	case QUERY:	return do_query(op->proc, op->ctx, answer);
	case CM_CREATE:	return do_cm_create(op->proc, op->cm_id);
	case CM_BIND:	return do_cm_bind(op->cm_id, op->device);
	case CM_CLOSE:	return do_cm_close(op->proc, op->cm_id);
	default:
		abort();
	}
}

bool model_has_dir(int dir)
{
	return cgroups[dir].exists;
}

bool model_has_account(int dir)
{
	return cgroups[dir].exists && cgroups[dir].account != NONE;
}

bool model_takes_procs(int dir)
{
	return cgroups[dir].exists && !cgroups[dir].delegates;
}

bool model_has_proc(int proc)
{
	return procs[proc].alive;
}

bool model_has_context(int ctx)
{
	return contexts[ctx].alive;
}

int model_device(int ctx)
{
	return contexts[ctx].device;
}

bool model_holds_context(int proc, int ctx)
{
	return procs[proc].alive && contexts[ctx].alive && contexts[ctx].held_by[proc];
}

bool model_holds_object(int proc, int object)
{
	if (!objects[object].alive)
		return false;
	if (is_fd_type(objects[object].type))
		return procs[proc].alive && objects[object].held_by[proc];
	return model_holds_context(proc, objects[object].ctx);
}

bool model_has_object(int object)
{
	return objects[object].alive;
}

enum resource model_type(int object)
{
	return objects[object].type;
}

int model_context(int object)
{
	return objects[object].ctx;
}

bool model_has_cm_id(int id)
{
	return cm_ids[id].alive;
}

bool model_holds_cm_id(int proc, int id)
{
	return procs[proc].alive && cm_ids[id].alive && cm_ids[id].held_by[proc];
}

bool model_can_bind(int proc, int id)
{
	return model_holds_cm_id(proc, id) && cm_ids[id].creator == proc;
}
