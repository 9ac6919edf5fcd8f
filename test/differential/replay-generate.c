// SPDX-License-Identifier: GPL-2.0
/*
 * Choose random operations. Most operations are possible in the present state of the model, so that
 * sequences continue. Some operations must fail.
 */
#include "replay.h"

/* ---- chance ---- */

static __u64 state;

void seed(__u64 seed)
{
	state = seed;
}

/* splitmix64 */
__u64 next_random(void)
{
	__u64 x = state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

int below(int limit)
{
	return next_random() % limit;
}

bool rarely(int times)
{
	return below(times) == 0;
}

/* Pick one id that @fits, at least @first and below @end, or NONE. */
static int pick(int first, int end, bool (*fits)(const struct op *op, int id), const struct op *op)
{
	int ids[OBJECTS], found = 0, id;

	for (id = first; id < end; id++)
		if (fits(op, id))
			ids[found++] = id;
	return found ? ids[below(found)] : NONE;
}

/* ---- cgroups; false if no cgroup fits the operation ---- */

static bool is_dir(const struct op *op, int dir)
{
	return dir != 0 && cgroups[dir].exists;
}

static bool is_free_dir(const struct op *op, int dir)
{
	return dir != 0 && !cgroups[dir].exists && cgroups[dirs[dir].parent].exists;
}

static bool is_leaf(const struct op *op, int dir)
{
	int child;

	for (child = dir + 1; child < DIRS; child++)
		if (dirs[child].parent == dir && cgroups[child].exists)
			return false;
	return is_dir(op, dir);
}

static bool has_account(const struct op *op, int dir)
{
	return model_has_account(dir);
}

static bool takes_procs(const struct op *op, int dir)
{
	return cgroups[dir].exists && !cgroups[dir].delegates;
}

/* Usually choose a cgroup that fits, and sometimes any cgroup except the root. */
static bool choose_dir(struct op *op, bool (*fits)(const struct op *op, int dir))
{
	op->dir = rarely(20) ? 1 + below(DIRS - 1) : pick(0, DIRS, fits, op);
	return op->dir != NONE;
}

static bool choose_delegate(struct op *op)
{
	op->on = !rarely(4);
	/* v1 has no cgroup.subtree_control. */
	return choose_dir(op, is_dir) && !on_v1;
}

static bool choose_file(struct op *op)
{
	enum class class = mode == COMMON ? HCA : below(CLASSES);

	op->file = class * KINDS + (op->what == WRITE || class == CONTROL ? MAX : below(KINDS));
	if (mode != COMMON && rarely(6))
		op->file = DEFAULT_FILE;
	if (!choose_dir(op, has_account))
		return false;
	if (op->what == WRITE)
		make_text(op);
	return true;
}

/* ---- processes and objects ---- */

static bool is_proc(const struct op *op, int proc)
{
	return procs[proc].alive;
}

static bool is_free_proc(const struct op *op, int proc)
{
	return !procs[proc].alive;
}

static bool choose_proc(struct op *op)
{
	op->proc = pick(0, PROCS, is_proc, op);
	return op->proc != NONE;
}

static bool choose_enter(struct op *op)
{
	if (!choose_proc(op))
		return false;
	op->dir = 0;
	return rarely(10) || choose_dir(op, takes_procs);
}

static bool choose_child(struct op *op)
{
	op->other = pick(0, PROCS, is_free_proc, op);
	return choose_proc(op) && op->other != NONE;
}

static int first_id(enum resource type)
{
	return type == CONTEXT ? 0 : type == CM_ID ? END_IN_CONTEXT : END_CONTEXTS;
}

static int end_id(enum resource type)
{
	return type == CONTEXT ? END_CONTEXTS : type == CM_ID ? OBJECTS : END_IN_CONTEXT;
}

/*
 * Whether the process holds the object, and the object has the operation's type. DESTROY accepts
 * all types.
 */
static bool is_held(const struct op *op, int object)
{
	if (!model_holds(op->proc, object))
		return false;
	/* Only the process that created an identifier can bind it. */
	if (op->what == BIND)
		return objects[object].creator == op->proc;
	return op->what == DESTROY || objects[object].type == op->type;
}

static __u64 some_length(void)
{
	static const __u64 lengths[] = { 1, 4095, 4096, 4097, 20000, 65536 };

	return mode != COMMON && rarely(20) ? ENDLESS : lengths[below(ARRAY_SIZE(lengths))];
}

/*
 * Always bind an identifier to the same device, because rdma_cm keeps the link to the device after
 * a refused bind.
 */
static int device_of_cm_id(int id)
{
	return id & 1;
}

static bool choose_object(struct op *op)
{
	if (!choose_proc(op))
		return false;
	op->object = pick(first_id(op->type), end_id(op->type), is_held, op);
	if (op->object == NONE)
		return false;
	op->type = objects[op->object].type;
	op->ctx = op->type == CONTEXT ? op->object : objects[op->object].ctx;
	op->device = device_of_cm_id(op->object);
	op->group = below(GROUPS);
	op->length = some_length();
	return true;
}

static bool choose_share(struct op *op)
{
	op->other = pick(0, PROCS, is_proc, op);
	return choose_object(op) && !model_holds(op->other, op->object);
}

static bool is_free_object(const struct op *op, int object)
{
	return !objects[object].alive;
}

static bool is_pd(const struct op *op, int object)
{
	return objects[object].alive && objects[object].ctx == op->ctx &&
	       objects[object].type == PD;
}

static bool is_cq(const struct op *op, int object)
{
	return objects[object].alive && objects[object].ctx == op->ctx &&
	       objects[object].type == CQ;
}

static bool is_context(const struct op *op, int object)
{
	return model_holds(op->proc, object);
}

/* Choose an object in a context. If a PD or a CQ is missing, create it first. */
static bool choose_in_context(struct op *op)
{
	static const enum resource types[] = {
		PD, CQ, QP, QP, SRQ, AH, MR, MR, MR, MW, COMP_CHANNEL, ASYNC_EVENT
	};
	int pd, cq;

	op->ctx = pick(0, END_CONTEXTS, is_context, op);
	if (op->ctx == NONE)
		return false;
	op->type = types[below(mode == COMMON ? ARRAY_SIZE(types) - 2 : ARRAY_SIZE(types))];
	pd = pick(END_CONTEXTS, END_IN_CONTEXT, is_pd, op);
	cq = pick(END_CONTEXTS, END_IN_CONTEXT, is_cq, op);
	if (is_fd_type(op->type))
		return true;
	if (pd == NONE)
		op->type = PD;
	if (op->type == QP && cq == NONE)
		op->type = CQ;
	if (op->type != PD && op->type != CQ)
		op->pd = pd;
	if (op->type == QP)
		op->cq = cq;
	return true;
}

static bool choose_create(struct op *op)
{
	op->object = pick(first_id(op->type), end_id(op->type), is_free_object, op);
	if (op->object == NONE || !choose_proc(op))
		return false;
	op->ctx = NONE;
	op->device = below(USED_DEVICES);
	if (op->type == PD && !choose_in_context(op))
		return false;
	if (op->type == MR)
		op->length = some_length();
	if (op->type == CQ && rarely(12))
		op->flaw = TOO_MANY_CQES;
	if (op->type == MR && op->length != ENDLESS && rarely(12))
		op->flaw = NO_MEMORY_THERE;
	return true;
}

static bool choose(struct op *op)
{
	switch (op->what) {
	case MKDIR:
		return choose_dir(op, is_free_dir);
	case RMDIR:
		return choose_dir(op, is_leaf);
	case DELEGATE:
		return choose_delegate(op);
	case ENTER:
		return choose_enter(op);
	case READ:
	case WRITE:
		return choose_file(op);
	case SPAWN:
		op->proc = pick(0, PROCS, is_free_proc, op);
		return op->proc != NONE;
	case FORK:
		return choose_child(op);
	case KILL:
		return choose_proc(op);
	case CREATE:
		return choose_create(op);
	case SHARE:
		return choose_share(op);
	default:
		return choose_object(op);
	}
}

/*
 * The frequency of each operation. In this table, the type PD stands for all types of objects in a
 * context.
 */
static const struct {
	enum what what;
	enum resource type;
	int weight[MODES];
} choices[] = {
	{ READ, 0, { 300, 300, 100 } }, { WRITE, 0, { 80, 120, 1000 } },
	{ MKDIR, 0, { 25, 25, 20 } }, { RMDIR, 0, { 12, 12, 8 } }, { DELEGATE, 0, { 25, 25, 20 } },
	{ SPAWN, 0, { 15, 15 } }, { FORK, 0, { 6, 6 } }, { KILL, 0, { 8, 8 } },
	{ ENTER, 0, { 60, 60 } },
	{ CREATE, CONTEXT, { 40, 40 } }, { DESTROY, CONTEXT, { 15, 15 } },
	{ CREATE, PD, { 250, 250 } }, { DESTROY, PD, { 130, 130 } },
	{ SHARE, CONTEXT, { 10, 10 } },
	{ REREG, MR, { 0, 12 } }, { ATTACH, QP, { 0, 40 } }, { DETACH, QP, { 0, 20 } },
	{ CREATE, CM_ID, { 0, 15 } }, { BIND, CM_ID, { 0, 20 } }, { DESTROY, CM_ID, { 0, 10 } },
};

static int some_choice(void)
{
	int total = 0, at, i;

	for (i = 0; i < ARRAY_SIZE(choices); i++)
		total += choices[i].weight[mode];
	at = below(total);
	for (i = 0; at >= choices[i].weight[mode]; i++)
		at -= choices[i].weight[mode];
	return i;
}

static void run_random(void)
{
	struct op op;
	int i;

	do {
		i = some_choice();
		op = (struct op) {
			.what = choices[i].what, .type = choices[i].type, .pd = NONE, .cq = NONE
		};
	} while (!choose(&op));
	run(&op);
}

/*
 * Write a text that stock answers differently. Then make the limits of both kernels equal by two
 * writes that both kernels accept.
 */
static void run_odd(void)
{
	struct op op = { .what = WRITE, .file = MAX };
	int device;

	if (!choose_dir(&op, has_account))
		return;
	make_odd_text(&op);
	run(&op);
	for (device = 0; device < USED_DEVICES; device++) {
		make_even_text(&op, device);
		run(&op);
	}
}

void run_some(void)
{
	if (mode == COMMON && rarely(100))
		run_odd();
	else
		run_random();
}
