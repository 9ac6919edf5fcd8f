// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations. Most are possible in the present state of the model, so that sequences
 * continue; some are not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay-generate.h"

/* ---- chance ---- */

static __u64 state;

void seed(__u64 seed)
{
	state = seed;
}

/* splitmix64 */
static __u64 next_random(void)
{
	__u64 x = state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static int below(int limit)
{
	return next_random() % limit;
}

/* True once in @times. */
static bool rarely(int times)
{
	return below(times) == 0;
}

/* Pick one id that @fits, or NONE. */
static int pick(int count, bool (*fits)(int id))
{
	int ids[OBJECTS + DIRS], found = 0, id;

	for (id = 0; id < count; id++)
		if (fits(id))
			ids[found++] = id;
	return found ? ids[below(found)] : NONE;
}

/* ---- what to write ---- */

static void append(struct op *op, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	op->text_len += vsnprintf(op->text + op->text_len, TEXT_SIZE - op->text_len, format, args);
	va_end(args);
}

static const char *separator(void)
{
	static const char *const separators[] = { " ", " ", " ", "\t", "  ", " \t " };

	return full ? separators[below(ARRAY_SIZE(separators))] : " ";
}

static enum resource resource_of(enum class class)
{
	return first_of_class[class] + below(first_of_class[class + 1] - first_of_class[class]);
}

static void append_value(struct op *op, enum resource resource)
{
	static const char *const large[] = {
		"9223372036854775806", "4294967295", "4294967296", "2147483647", "2147483648",
		"00", "007", "100000000000",
	};
	static const int lengths[] = { 0, 1, 4095, 4096, 8192, 20000, 65536, 1000000 };

	if (rarely(3))
		append(op, "max");
	else if (resource == OPS)
		append(op, "%d", rarely(10) ? 1000001 : below(3) * 500000);
	else if (resource >= OPS)
		append(op, "%d", below(5) * 1000000);
	else if (full && rarely(12))
		append(op, "%s", large[below(ARRAY_SIZE(large))]);
	else if (resource == MR_MEM || resource == QUEUE_MEM)
		append(op, "%d", lengths[below(ARRAY_SIZE(lengths))]);
	else
		append(op, "%d", below(resource == HCA_OBJECT ? 16 : 6));
}

static void append_limit(struct op *op, enum class class)
{
	enum resource resource = resource_of(class);

	append(op, "%s%s=", separator(), resource_names[resource]);
	append_value(op, resource);
}

/* Append a word that the controller refuses. Stock also refuses the first two kinds. */
static void append_bad_word(struct op *op, enum class class)
{
	static const char *const values[] = {
		"=", "", "=ma", "=maxx", "=-1", "=1e3", "=5k", "=5=5", "=x", "=+1", "=--",
		"=MAX", "=18446744073709551616", "=99999999999999999999999", "= 5",
	};
	static const char *const more[] = {
		"=9223372036854775807", "=9223372036854775808", "=18446744073709551615",
		"=0x10", "=0x",
	};
	static const char *const words[] = { "=5", "=", "foo=1", "foo", "max=5", "index=x" };
	const char *key = resource_names[resource_of(class)];

	switch (below(full ? 4 : 2)) {
	case 0:
		append(op, " %s", words[below(ARRAY_SIZE(words))]);
		break;
	case 1:
		append(op, " %s%s", key, values[below(ARRAY_SIZE(values))]);
		break;
	case 2:
		append(op, " %s%s", key, more[below(ARRAY_SIZE(more))]);
		break;
	default:
		/* A key of another class. */
		append(op, " %s=1", resource_names[resource_of((class + 1) % CLASSES)]);
	}
}

/* Any byte of a name can be written as an escape. */
static void append_name(struct op *op, int device)
{
	static const char *const escaped[] = { "\\162xe%d", "r\\170\\145%d", "rxe\\06%d" };
	static const char *const malformed[] = {
		"rxe%d\\", "\\000rxe%d", "rxe\\46%d", "\\x72xe%d",
	};

	if (!full || !rarely(8))
		append(op, "rxe%d", device);
	else if (rarely(5))
		append(op, malformed[below(ARRAY_SIZE(malformed))], device);
	else
		append(op, escaped[below(ARRAY_SIZE(escaped))], device);
}

static void append_index(struct op *op, int device)
{
	if (rarely(2))
		append(op, "%sindex=%d", separator(), device);
	else if (rarely(2))
		append(op, "%sindex=%d", separator(), 1 - device);
	else
		append(op, "%sindex=%s", separator(), rarely(2) ? "-1" : "x1");
}

static void append_line(struct op *op, enum class class)
{
	static const char *const strangers[] = {
		"rxe9", "rxe", "rxe00", "rxe0x", "max", "=", "default",
	};
	int device = below(DEVICES), keys;

	if (rarely(20))
		append(op, "%s", strangers[below(ARRAY_SIZE(strangers))]);
	else
		append_name(op, device);
	if (rarely(10))
		append_index(op, device);
	if (full && rarely(5)) {
		append(op, "%s%s", separator(), rarely(2) ? "max" : "default");
		return;
	}
	for (keys = 1 + below(3); keys; keys--)
		append_limit(op, class);
	if (rarely(8))
		append_bad_word(op, class);
	if (full && rarely(10))
		append(op, "%s", separator());
}

static void end_text(struct op *op)
{
	if (rarely(2))
		append(op, "\n");
	if (full && rarely(30))
		op->text[below(op->text_len)] = '\0';
	if (full && rarely(30))
		op->text[op->text_len++] = '\0';
	/* A rate with only one digit would take all day. */
	if (full && rarely(50) && op->file / KINDS != CONTROL && op->file != DEFAULT_FILE)
		op->text_len = below(op->text_len);
}

static void append_default(struct op *op)
{
	static const char *const bad[] = {
		"rxe0", "hw:", "hw:max=1", "qps=1", "hw:qp", "=1", "default", "mcast=1", "qp=",
		"hw:Qp=1", "hw:hw:qp=1",
	};
	static const char *const unknown[] = { "hw:a", "hw:b_2", "hw:qp", "flow", "dm_mem" };
	enum class class = below(CLASSES);
	enum resource resource = resource_of(class);

	if (op->text_len)
		append(op, "%s", separator());
	if (rarely(25)) {
		append(op, "%s", bad[below(ARRAY_SIZE(bad))]);
	} else if (rarely(15)) {
		append(op, "max");
	} else if (rarely(5)) {
		append(op, "%s=", unknown[below(ARRAY_SIZE(unknown))]);
		append_value(op, PD);
	} else {
		append(op, "%s%s=", class == HW ? "hw:" : "", resource_names[resource]);
		append_value(op, resource);
	}
}

static void make_defaults(struct op *op)
{
	int keys;

	for (keys = 1 + below(4); keys; keys--)
		append_default(op);
	if (rarely(20))
		append(op, "\nqp=1");
	end_text(op);
}

static void make_text(struct op *op)
{
	int lines = full && rarely(4) ? 2 + below(2) : 1;

	while (lines--) {
		append_line(op, op->file / KINDS);
		if (lines)
			append(op, rarely(5) ? "\n\n" : "\n");
	}
	end_text(op);
}

/* ---- what an operation is done to; false if there is nothing ---- */

static bool is_dir(int dir)
{
	return dir != 0 && model_has_dir(dir);
}

static bool is_free_dir(int dir)
{
	return !model_has_dir(dir) && model_has_dir(dirs[dir].parent);
}

static bool is_leaf(int dir)
{
	int child;

	for (child = dir + 1; child < DIRS; child++)
		if (dirs[child].parent == dir && model_has_dir(child))
			return false;
	return is_dir(dir);
}

static bool is_free_proc(int proc)
{
	return !model_has_proc(proc);
}

static bool is_free_context(int ctx)
{
	return !model_has_context(ctx);
}

static bool is_free_object(int object)
{
	return !model_has_object(object);
}

/* Mostly a fitting cgroup, sometimes any except the root, or NONE. */
static int some_dir(bool (*fits)(int id))
{
	return rarely(20) ? 1 + below(DIRS - 1) : pick(DIRS, fits);
}

static bool choose_dir(struct op *op)
{
	op->dir = some_dir(op->what == MKDIR ? is_free_dir : op->what == RMDIR ? is_leaf : is_dir);
	op->on = !rarely(4);
	/* v1 has no cgroup.subtree_control. */
	return op->dir != NONE && !(on_v1 && op->what == DELEGATE);
}

static bool choose_enter(struct op *op)
{
	op->proc = pick(PROCS, model_has_proc);
	op->dir = rarely(10) ? 0 : some_dir(model_takes_procs);
	return op->proc != NONE && op->dir != NONE;
}

static bool choose_file(struct op *op)
{
	enum class class = full ? below(CLASSES) : HCA;

	op->dir = some_dir(model_has_account);
	op->file = class * KINDS + (op->what == WRITE || class == CONTROL ? MAX : below(KINDS));
	if (full && rarely(6))
		op->file = DEFAULT_FILE;
	if (op->what == WRITE && op->file == DEFAULT_FILE)
		make_defaults(op);
	else if (op->what == WRITE)
		make_text(op);
	return op->dir != NONE;
}

static bool choose_proc(struct op *op)
{
	if (op->what == SPAWN) {
		op->proc = pick(PROCS, is_free_proc);
		return op->proc != NONE;
	}
	op->proc = pick(PROCS, model_has_proc);
	op->other = pick(PROCS, is_free_proc);
	return op->proc != NONE && (op->what != FORK || op->other != NONE);
}

static bool choose_open(struct op *op)
{
	op->proc = pick(PROCS, model_has_proc);
	op->ctx = pick(CONTEXTS, is_free_context);
	op->device = below(DEVICES);
	return op->proc != NONE && op->ctx != NONE;
}

static int asking;

static bool asker_holds_context(int ctx)
{
	return model_holds_context(asking, ctx);
}

static bool asker_holds_object(int object)
{
	return model_holds_object(asking, object);
}

static bool asker_holds_mr(int object)
{
	return model_holds_object(asking, object) && model_type(object) == MR;
}

static bool asker_holds_qp(int object)
{
	return model_holds_object(asking, object) && model_type(object) == QP;
}

static bool choose_context(struct op *op)
{
	op->proc = pick(PROCS, model_has_proc);
	asking = op->proc;
	if (op->proc == NONE)
		return false;
	op->ctx = pick(CONTEXTS, asker_holds_context);
	if (op->what != SHARE)
		return op->ctx != NONE;
	op->other = pick(PROCS, model_has_proc);
	return op->ctx != NONE && !model_holds_context(op->other, op->ctx);
}

static int wanted_ctx;
static enum resource wanted_type;

static bool is_wanted(int object)
{
	return model_has_object(object) && model_context(object) == wanted_ctx &&
	       model_type(object) == wanted_type;
}

static int pick_of_type(int ctx, enum resource type)
{
	wanted_ctx = ctx;
	wanted_type = type;
	return pick(OBJECTS, is_wanted);
}

static __u64 some_length(void)
{
	static const __u64 lengths[] = { 1, 4095, 4096, 4097, 20000, 65536 };

	return full && rarely(20) ? ENDLESS : lengths[below(ARRAY_SIZE(lengths))];
}

static void choose_flaw(struct op *op)
{
	if (!rarely(12))
		return;
	if (op->type == CQ)
		op->flaw = TOO_MANY_CQES;
	else if (op->type == MR && op->length != ENDLESS)
		op->flaw = NO_MEMORY_THERE;
}

static bool choose_create(struct op *op)
{
	static const enum resource types[] = {
		PD, CQ, QP, QP, SRQ, AH, MR, MR, MR, MW, COMP_CHANNEL, ASYNC_EVENT
	};

	if (!choose_context(op))
		return false;
	op->object = pick(OBJECTS, is_free_object);
	op->type = types[below(full ? ARRAY_SIZE(types) : ARRAY_SIZE(types) - 2)];
	op->pd = pick_of_type(op->ctx, PD);
	op->cq = pick_of_type(op->ctx, CQ);
	if (op->pd == NONE && !is_fd_type(op->type))
		op->type = PD;
	if (op->type == QP && op->cq == NONE)
		op->type = CQ;
	if (op->type == PD || op->type == CQ || is_fd_type(op->type))
		op->pd = NONE;
	if (op->type != QP)
		op->cq = NONE;
	if (op->type == MR)
		op->length = some_length();
	choose_flaw(op);
	return op->object != NONE;
}

/* Any process that holds the context can use an object that has an id. */
static bool choose_object(struct op *op)
{
	op->proc = pick(PROCS, model_has_proc);
	asking = op->proc;
	if (op->proc == NONE)
		return false;
	op->object = pick(OBJECTS, op->what == DESTROY ? asker_holds_object :
			  op->what == REREG ? asker_holds_mr : asker_holds_qp);
	if (op->object == NONE)
		return false;
	op->ctx = model_context(op->object);
	op->type = model_type(op->object);
	op->group = below(GROUPS);
	op->length = some_length();
	return true;
}

static bool is_free_cm_id(int id)
{
	return !model_has_cm_id(id);
}

static bool asker_holds_cm_id(int id)
{
	return model_holds_cm_id(asking, id);
}

static bool asker_can_bind(int id)
{
	return model_can_bind(asking, id);
}

static bool choose_cm_id(struct op *op)
{
	op->proc = pick(PROCS, model_has_proc);
	asking = op->proc;
	if (op->proc == NONE)
		return false;
	op->cm_id = pick(CM_IDS, op->what == CM_CREATE ? is_free_cm_id :
			 op->what == CM_BIND ? asker_can_bind : asker_holds_cm_id);
	/* After a refused bind, rdma_cm keeps the link, so use one device for each identifier. */
	op->device = op->cm_id & 1;
	return op->cm_id != NONE;
}

static bool choose(struct op *op)
{
	switch (op->what) {
	case MKDIR:
	case RMDIR:
	case DELEGATE:
		return choose_dir(op);
	case ENTER:
		return choose_enter(op);
	case READ:
	case WRITE:
		return choose_file(op);
	case SPAWN:
	case FORK:
	case KILL:
		return choose_proc(op);
	case OPEN:
		return choose_open(op);
	case CLOSE:
	case SHARE:
	case QUERY:
		return choose_context(op);
	case CREATE:
		return choose_create(op);
	case CM_CREATE:
	case CM_BIND:
	case CM_CLOSE:
		return choose_cm_id(op);
	default:
		return choose_object(op);
	}
}

/* The weight of each operation, of about a thousand; the second number is for "common". */
static const int weights[OPERATIONS][2] = {
	[READ] = { 300, 300 }, [WRITE] = { 120, 80 },
	[MKDIR] = { 25, 25 }, [RMDIR] = { 12, 12 }, [DELEGATE] = { 25, 25 },
	[SPAWN] = { 15, 15 }, [FORK] = { 6, 6 }, [KILL] = { 8, 8 }, [ENTER] = { 60, 60 },
	[OPEN] = { 40, 40 }, [CLOSE] = { 15, 15 }, [SHARE] = { 10, 10 },
	[CREATE] = { 250, 250 }, [DESTROY] = { 130, 130 },
	[REREG] = { 12, 0 }, [ATTACH] = { 40, 0 }, [DETACH] = { 20, 0 }, [QUERY] = { 20, 0 },
	[CM_CREATE] = { 15, 0 }, [CM_BIND] = { 20, 0 }, [CM_CLOSE] = { 10, 0 },
};

static enum what some_operation(void)
{
	int total = 0, at, i;

	for (i = 0; i < OPERATIONS; i++)
		total += weights[i][!full];
	at = below(total);
	for (i = 0; at >= weights[i][!full]; i++)
		at -= weights[i][!full];
	return i;
}

static void run_random(void)
{
	struct op op;

	do {
		op = (struct op) { .what = some_operation(), .pd = NONE, .cq = NONE };
	} while (!choose(&op));
	run(&op);
}

/* ---- what the base answers differently ---- */

/*
 * differences.sed has a rule where the answers differ. The limits after such a write may also
 * differ, so two writes that both kernels accept set them again.
 */
static const struct {
	const char *text;
	size_t len;
} odd_texts[] = {
#define ODD(text) { text, sizeof(text) - 1 }
	ODD("rxe0 hca_object=2147483647"),
	ODD("rxe0 hca_object=2147483648"),
	ODD("rxe1 hca_handle=4294967295\n"),
	ODD("rxe0 hca_object=9223372036854775806"),
	ODD("rxe0 hca_object=010"),
	ODD("rxe1 hca_handle=0x10"),
	ODD("rxe0"),
	ODD("rxe0 index=0\n"),
	ODD("rxe0 max"),
	ODD("rxe1 max\n"),
	ODD("rxe0\thca_object=3"),
	ODD("rxe0 hca_object=3\nrxe1 hca_object=4\n"),
	ODD("rxe0 hca_object=3\nhca_handle=4\n"),
	ODD("rxe0\nhca_object=3"),
	ODD("rxe1 hca_object=3 index=1"),
	ODD("rxe9 foo=1"),
	ODD("rxe0 hca_object=3\0x"),
	ODD("rxe0 hca_object=3\0"),
	ODD("\n"),
};

static void run_odd(void)
{
	struct op op = { .what = WRITE, .dir = some_dir(model_has_account), .file = MAX };
	int i = below(ARRAY_SIZE(odd_texts)), device;

	if (op.dir == NONE)
		return;
	memcpy(op.text, odd_texts[i].text, odd_texts[i].len);
	op.text_len = odd_texts[i].len;
	run(&op);
	for (device = 0; device < DEVICES; device++) {
		op.text_len = 0;
		append(&op, "rxe%d hca_handle=%d hca_object=%d", device, below(8), below(20));
		run(&op);
	}
}

void run_some(void)
{
	if (!full && rarely(100))
		run_odd();
	else
		run_random();
}
