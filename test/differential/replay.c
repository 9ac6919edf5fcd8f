// SPDX-License-Identifier: GPL-2.0
/*
 * replay kernel|model v1|v2 full|common SEED COUNT: do COUNT random operations, the same ones for
 * the same seed, on the kernel or on the model of the controller's contract. Print one line for
 * each: its number, the operation, the result. "common" uses only what stock also has. At the end,
 * end every process, read every file and remove the cgroups.
 *
 * The model always follows along, and operations are chosen from its state. So the next operation
 * is the same, whatever the kernel does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay-generate.h"

const struct dir dirs[DIRS] = {
	[0] = { "", NONE },
	[1] = { "/a", 0 }, [2] = { "/b", 0 }, [3] = { "/c", 0 },
	[4] = { "/a/a", 1 }, [5] = { "/a/b", 1 }, [6] = { "/b/a", 2 }, [7] = { "/b/b", 2 },
	[8] = { "/a/a/a", 4 }, [9] = { "/a/a/b", 4 },
	[10] = { "/a/b/a", 5 }, [11] = { "/b/a/a", 6 },
	[12] = { "/a/a/a/a", 8 }, [13] = { "/a/a/a/b", 8 },
	[14] = { "/a/a/a/a/a", 12 }, [15] = { "/a/a/a/a/a/a", 14 },
	[16] = { "/a/a/a/a/a/a/a", 15 }, [17] = { "/a/a/a/a/a/a/a/a", 16 },
};

const char *const resource_names[RESOURCES] = {
	[HCA_HANDLE] = "hca_handle", [HCA_OBJECT] = "hca_object",
	[PD] = "pd", [COMP_CHANNEL] = "comp_channel", [CQ] = "cq", [QP] = "qp", [SRQ] = "srq",
	[AH] = "ah", [MR] = "mr", [MW] = "mw", [ASYNC_EVENT] = "async_event",
	[MR_MEM] = "mr_mem", [MCAST] = "mcast", [CM_ID] = "cm_id",
	[QUEUE_MEM] = "queue_mem",
	[OPS] = "ops", [BURST] = "burst", [INFLIGHT] = "inflight",
};

const enum resource first_of_class[CLASSES + 1] = {
	[HCA] = HCA_HANDLE, [VERB] = PD, [HW] = QUEUE_MEM, [CONTROL] = OPS, [CLASSES] = RESOURCES
};

static const char *const names[OPERATIONS] = {
	[MKDIR] = "mkdir", [RMDIR] = "rmdir", [DELEGATE] = "delegate",
	[READ] = "read", [WRITE] = "write",
	[SPAWN] = "spawn", [FORK] = "fork", [KILL] = "kill", [ENTER] = "enter",
	[OPEN] = "open", [CLOSE] = "close", [SHARE] = "share",
	[CREATE] = "create", [DESTROY] = "destroy", [REREG] = "rereg",
	[ATTACH] = "attach", [DETACH] = "detach", [QUERY] = "query",
	[CM_CREATE] = "cm-create", [CM_BIND] = "cm-bind", [CM_CLOSE] = "cm-close",
};

bool on_v1;
bool full;
static bool on_kernel;
static __u64 number;

const char *file_name(int file)
{
	static const char *const classes[CLASSES] = {
		[HCA] = "rdma.", [VERB] = "rdma.verb.", [HW] = "rdma.hw.",
		[CONTROL] = "rdma.control."
	};
	static const char *const kinds[KINDS] = {
		[MAX] = "max", [CURRENT] = "current", [PEAK] = "peak",
		[EVENTS] = "events", [EVENTS_LOCAL] = "events.local"
	};
	static char name[32];

	if (file == DEFAULT_FILE)
		return "rdma.default";
	snprintf(name, sizeof(name), "%s%s", classes[file / KINDS], kinds[file % KINDS]);
	return name;
}

/* ---- output ---- */

/* The capacity of the device is far above any limit here, so print large numbers as "many". */
void print_query(char *answer, const __u64 *most)
{
	static const enum resource types[] = { PD, CQ, QP, SRQ, AH, MR, MW };
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		answer += sprintf(answer, most[types[i]] < 1000 ? "%s=%llu " : "%s=many ",
				  resource_names[types[i]], most[types[i]]);
	/* The size of a region, which no limit lowers. */
	sprintf(answer, "%s=%s", resource_names[MR_MEM],
		most[MR_MEM] < NO_LIMIT ? "less" : "many");
}

static void print_text(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '\n')
			fputs("\\n", stdout);
		else if (text[i] == '\t')
			fputs("\\t", stdout);
		else if (text[i] == '\0')
			fputs("\\0", stdout);
		else
			putchar(text[i]);
	}
}

static void print_create(const struct op *op)
{
	static const char *const flaws[FLAWS] = {
		[SOUND] = "", [TOO_MANY_CQES] = " too-many-cqes",
		[NO_MEMORY_THERE] = " no-memory-there"
	};

	printf(" p%d c%d o%d %s%s", op->proc, op->ctx, op->object, resource_names[op->type],
	       flaws[op->flaw]);
	if (op->pd != NONE)
		printf(" pd=o%d", op->pd);
	if (op->cq != NONE)
		printf(" cq=o%d", op->cq);
	if (op->type == MR)
		printf(" length=%llu", op->length);
}

static const char *path_of(int dir)
{
	return dir ? dirs[dir].path : "/";
}

static void print_cgroup_op(const struct op *op)
{
	printf(" %s", path_of(op->dir));
	if (op->what == DELEGATE)
		printf(" %s", op->on ? "+rdma" : "-rdma");
	if (op->what == READ || op->what == WRITE)
		printf(" %s", file_name(op->file));
	if (op->what == WRITE) {
		fputs(" \"", stdout);
		print_text(op->text, op->text_len);
		putchar('"');
	}
}

static void print_op(const struct op *op)
{
	printf("%llu %s", number, names[op->what]);
	switch (op->what) {
	case MKDIR:
	case RMDIR:
	case DELEGATE:
	case READ:
	case WRITE:
		print_cgroup_op(op);
		break;
	case SPAWN:
	case KILL:
		printf(" p%d", op->proc);
		break;
	case FORK:
		printf(" p%d p%d", op->proc, op->other);
		break;
	case ENTER:
		printf(" p%d %s", op->proc, path_of(op->dir));
		break;
	case OPEN:
		printf(" p%d c%d rxe%d", op->proc, op->ctx, op->device);
		break;
	case SHARE:
		printf(" p%d p%d c%d", op->proc, op->other, op->ctx);
		break;
	case CLOSE:
	case QUERY:
		printf(" p%d c%d", op->proc, op->ctx);
		break;
	case CREATE:
		print_create(op);
		break;
	case REREG:
		printf(" p%d o%d length=%llu", op->proc, op->object, op->length);
		break;
	case CM_CREATE:
	case CM_CLOSE:
	case CM_BIND:
		printf(" p%d i%d", op->proc, op->cm_id);
		break;
	case ATTACH:
	case DETACH:
		printf(" p%d o%d group=%d", op->proc, op->object, op->group);
		break;
	default:
		printf(" p%d o%d %s", op->proc, op->object, resource_names[op->type]);
	}
}

void run(const struct op *op)
{
	char answer[ANSWER_SIZE] = "", expected[ANSWER_SIZE];
	int error;

	number++;
	print_op(op);
	if (on_kernel) {
		error = kernel_do(op, answer);
		model_do(op, expected);
	} else {
		error = model_do(op, answer);
	}
	printf(": %s", error ? strerrorname_np(-error) : "ok");
	if (!error && *answer) {
		putchar(' ');
		print_text(answer, strlen(answer));
	}
	putchar('\n');
}

/* ---- the end ---- */

static void read_all(void)
{
	struct op op = { .what = READ };

	for (op.dir = 1; op.dir < DIRS; op.dir++)
		for (op.file = 0; op.file < (full ? FILES : KINDS); op.file++)
			if (model_has_account(op.dir))
				run(&op);
}

static void clean_up(void)
{
	struct op op = { .what = KILL };

	read_all();
	for (op.proc = 0; op.proc < PROCS; op.proc++)
		if (model_has_proc(op.proc))
			run(&op);
	read_all();
	op.what = RMDIR;
	for (op.dir = DIRS - 1; op.dir; op.dir--)
		if (model_has_dir(op.dir))
			run(&op);
}

int main(int argc, char *argv[])
{
	__u64 count;

	if (argc != 6) {
		fprintf(stderr, "usage: replay kernel|model v1|v2 full|common SEED COUNT\n");
		return 2;
	}
	on_kernel = !strcmp(argv[1], "kernel");
	on_v1 = !strcmp(argv[2], "v1");
	full = !strcmp(argv[3], "full");
	seed(strtoull(argv[4], NULL, 10));
	count = strtoull(argv[5], NULL, 10);
	model_start();
	if (on_kernel)
		kernel_start();
	while (number < count)
		run_some();
	clean_up();
	return 0;
}
