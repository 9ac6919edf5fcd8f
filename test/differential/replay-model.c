// SPDX-License-Identifier: GPL-2.0
/*
 * The controller's contract in a simple form, with arrays and loops, and without locks.
 * test/model/write.c has the writes of limits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define ACCOUNTS 512
/* The root cgroup has no account, because it has no limits and is not charged. */
#define ROOT NONE

enum event { EVENT_MAX, EVENT_ALLOC_FAIL };

/*
 * The account of a cgroup with the controller. An account that is charged outlives the directory of
 * the cgroup.
 */
static struct account {
	int parent;
	__u64 max[DEVICES][RESOURCES];	/* the limit that is in effect */
	bool own[DEVICES][RESOURCES];	/* the limit does not come from the default */
	struct model_defaults defaults;
	struct counter {
		__u64 usage, peak;
		__u64 events[2], local[2];	/* the index of an element is an enum event */
	} counters[DEVICES][RESOURCES];
} accounts[ACCOUNTS];

struct set {
	struct charge {
		enum resource resource;
		__u64 amount;
	} charges[3];
	int count;
};

struct cgroup cgroups[DIRS];
struct proc procs[PROCS];
struct object objects[OBJECTS];

/* ---- accounts ---- */

/* An account is in use while it or a descendant is charged. */
static void mark(bool *in_use, int account)
{
	for (; account != ROOT; account = accounts[account].parent)
		in_use[account] = true;
}

static void mark_of_object(bool *in_use, const struct object *object)
{
	int group;

	mark(in_use, object->owner);
	for (group = 0; group < GROUPS; group++)
		if (object->attached[group])
			mark(in_use, object->attach_owner[group]);
}

static int free_account(void)
{
	bool in_use[ACCOUNTS] = { false };
	int i;

	for (i = 0; i < DIRS; i++)
		if (cgroups[i].exists)
			mark(in_use, cgroups[i].account);
	for (i = 0; i < OBJECTS; i++)
		if (objects[i].alive)
			mark_of_object(in_use, &objects[i]);
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

/* Returns the account of the cgroup, or of the closest ancestor that has an account. */
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

/* Count an attempt of @account that the limit of @full has refused. */
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

/* Charge the whole set to the account and all its ancestors, or charge nothing. */
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

/* rdma_cm charges an identifier when it is bound. */
static struct set object_set(enum resource type)
{
	struct set set = { .count = 0 };

	if (type == CM_ID)
		return set;
	if (!is_fd_type(type))
		set.charges[set.count++] = (struct charge) { HCA_OBJECT, 1 };
	set.charges[set.count++] = (struct charge) { type, 1 };
	return set;
}

/*
 * The memory of an object is charged after the object, when the memory is pinned or allocated. The
 * charge is in whole pages.
 */
static struct set memory_set(enum resource type, __u64 length)
{
	if (type == MR)
		return one(MR_MEM, (length + 4095) / 4096 * 4096);
	/* The shortest queue of Soft-RoCE takes a page. */
	if (type == CQ || type == QP || type == SRQ)
		return one(QUEUE_MEM, 4096);
	return (struct set) { .count = 0 };
}

/* A QP has two queues, and each queue has a charge of its own. */
static int memory_charges(enum resource type)
{
	return type == QP ? 2 : 1;
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

bool model_has_account(int dir)
{
	return cgroups[dir].exists && cgroups[dir].account != NONE;
}

/* The devices, as the max file of the class shows them. */
static void list_devices(struct account *account, enum class class, struct model_device *devices)
{
	enum resource first = first_of_class[class];
	int device;

	for (device = 0; device < DEVICES; device++)
		devices[device] = (struct model_device) {
			.name = device_names[device],
			.index = device,
			.index_is_shown = device >= USED_DEVICES,
			.nr_keys = first_of_class[class + 1] - first,
			.keys = &resource_names[first],
			.max = &account->max[device][first],
			.own = &account->own[device][first],
		};
}

static void print_counter(FILE *stream, enum kind kind, const char *key,
			  const struct counter *counter)
{
	const __u64 *events = kind == EVENTS ? counter->events : counter->local;

	if (kind == CURRENT)
		fprintf(stream, " %s=%llu", key, counter->usage);
	else if (kind == PEAK)
		fprintf(stream, " %s=%llu", key, counter->peak);
	else
		fprintf(stream, " %s.max=%llu %s.alloc_fail=%llu", key, events[EVENT_MAX],
			key, events[EVENT_ALLOC_FAIL]);
}

static void print_counters(FILE *stream, enum kind kind, const struct model_device *device,
			   const struct counter *counters)
{
	unsigned int i;

	model_print_device(stream, device);
	for (i = 0; i < device->nr_keys; i++)
		print_counter(stream, kind, device->keys[i], &counters[i]);
	putc('\n', stream);
}

static void print_file(struct account *account, int file, FILE *stream)
{
	enum class class = file / KINDS;
	struct model_device devices[DEVICES];
	enum kind kind = file % KINDS;
	int device;

	if (file == DEFAULT_FILE) {
		model_print_defaults(stream, &account->defaults);
		return;
	}
	list_devices(account, class, devices);
	for (device = 0; device < nr_devices(); device++)
		if (kind == MAX)
			model_print(stream, &devices[device]);
		else
			print_counters(stream, kind, &devices[device],
				       &account->counters[device][first_of_class[class]]);
}

static int do_read(int dir, int file, char *answer)
{
	FILE *stream;

	if (!model_has_account(dir))
		return -ENOENT;
	*answer = '\0';
	stream = fmemopen(answer, ANSWER_SIZE, "w");
	print_file(&accounts[cgroups[dir].account], file, stream);
	if (fclose(stream))
		abort();
	return 0;
}

static int write_defaults(struct account *account, struct model_text text)
{
	int error = model_write_defaults(&account->defaults, text);
	struct model_device devices[DEVICES];
	enum class class;

	for (class = 0; !error && class < CLASSES; class++) {
		list_devices(account, class, devices);
		model_use_defaults(devices, nr_devices(), (enum model_class)class,
				   &account->defaults);
	}
	return error;
}

static int do_write(int dir, int file, struct model_text text)
{
	struct model_device devices[DEVICES];
	enum class class = file / KINDS;
	struct account *account;

	if (!model_has_account(dir))
		return -ENOENT;
	account = &accounts[cgroups[dir].account];
	if (file == DEFAULT_FILE)
		return write_defaults(account, text);
	list_devices(account, class, devices);
	return model_write(devices, nr_devices(), (enum model_class)class, &account->defaults,
			   text);
}

/* ---- objects ---- */

bool model_holds(int proc, int object)
{
	const struct object *it = &objects[object];

	if (!procs[proc].alive || !it->alive)
		return false;
	return is_fd_type(it->type) ? it->held_by[proc] : objects[it->ctx].held_by[proc];
}

static int do_attach(int proc, struct object *object, int group)
{
	int owner = payer(procs[proc].dir);

	if (object->attached[group])
		return 0;
	if (try_charge(owner, object->device, one(MCAST, 1)))
		return -EAGAIN;
	object->attached[group] = true;
	object->attach_owner[group] = owner;
	return 0;
}

static int do_detach(struct object *object, int group)
{
	if (!object->attached[group])
		return -EINVAL;
	object->attached[group] = false;
	uncharge(object->attach_owner[group], object->device, one(MCAST, 1));
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

/* Uncharge an object, and uncharge its memory @charges times. */
static void uncharge_object(int owner, int device, enum resource type, __u64 length, int charges)
{
	while (charges--)
		uncharge(owner, device, memory_set(type, length));
	uncharge(owner, device, object_set(type));
}

/* Destroy an object. A destroyed context also destroys its objects. */
static void object_gone(struct object *object)
{
	int group, i;

	for (i = 0; object->type == CONTEXT && i < OBJECTS; i++)
		if (objects[i].alive && objects[i].ctx == object - objects)
			object_gone(&objects[i]);
	for (group = 0; group < GROUPS; group++)
		do_detach(object, group);
	if (object->type == CM_ID && object->device != NONE)
		uncharge(object->owner, object->device, one(CM_ID, 1));
	uncharge_object(object->owner, object->device, object->type, object->length,
			memory_charges(object->type));
	object->alive = false;
}

/* Returns the error of a driver that finds the flaw before it charges memory, or 0. */
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
	struct object new = {
		.alive = true,
		.type = op->type,
		.device = op->type == CONTEXT ? op->device :
			  op->type == CM_ID ? NONE : objects[op->ctx].device,
		.owner = payer(procs[op->proc].dir),
		.ctx = op->ctx,
		.pd = op->pd,
		.cq = op->cq,
		.length = op->length,
		.creator = op->proc,
	};
	int error = charge_object(new.owner, new.device, op);

	if (error)
		return error;
	new.held_by[op->proc] = is_fd_type(op->type);
	objects[op->object] = new;
	return 0;
}

/* Destroy an object, or close its fd in a process. The last close destroys the object. */
static int do_destroy(int proc, int object)
{
	int i;

	if (is_busy(object))
		return -EBUSY;
	objects[object].held_by[proc] = false;
	for (i = 0; i < PROCS; i++)
		if (objects[object].held_by[i])
			return 0;
	object_gone(&objects[object]);
	return 0;
}

/* The kernel charges a new object before Soft-RoCE refuses to change the memory of the MR. */
static int do_rereg(int proc, int device)
{
	int owner = payer(procs[proc].dir);

	if (try_charge(owner, device, object_set(MR)))
		return -EAGAIN;
	uncharge(owner, device, object_set(MR));
	return -EOPNOTSUPP;
}

/*
 * Charge the account that was found when the identifier was created, even if its process has moved
 * since.
 */
static int do_bind(struct object *cm_id, int device)
{
	if (cm_id->device != NONE)
		return -EINVAL;
	if (try_charge(cm_id->owner, device, one(CM_ID, 1)))
		return -EAGAIN;
	cm_id->device = device;
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
	for (i = 0; i < OBJECTS; i++)
		objects[i].held_by[child] = objects[i].held_by[parent];
	return 0;
}

static int do_kill(int proc)
{
	int i;

	procs[proc].alive = false;
	for (i = 0; i < OBJECTS; i++) {
		if (objects[i].creator == proc)
			objects[i].creator = NONE;
		if (objects[i].alive && objects[i].held_by[proc])
			do_destroy(proc, i);
	}
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

static int do_share(int proc, int context)
{
	objects[context].held_by[proc] = true;
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
	struct object *object = &objects[op->object];

	switch (op->what) {
	case MKDIR:	return do_mkdir(op->dir);
	case RMDIR:	return do_rmdir(op->dir);
	case DELEGATE:	return do_delegate(op->dir, op->on);
	case READ:	return do_read(op->dir, op->file, answer);
	case WRITE:	return do_write(op->dir, op->file,
					(struct model_text){ op->text, op->text_len });
	case SPAWN:	return do_spawn(op->proc);
	case FORK:	return do_fork(op->proc, op->other);
	case KILL:	return do_kill(op->proc);
	case ENTER:	return do_enter(op->proc, op->dir);
	case CREATE:	return do_create(op);
	case DESTROY:	return do_destroy(op->proc, op->object);
	case SHARE:	return do_share(op->other, op->object);
	case REREG:	return do_rereg(op->proc, object->device);
	case ATTACH:	return do_attach(op->proc, object, op->group);
	case DETACH:	return do_detach(object, op->group);
	case BIND:	return do_bind(object, op->device);
	default:
		abort();
	}
}
