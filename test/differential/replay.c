// SPDX-License-Identifier: GPL-2.0
/*
 * replay common|full|writes v1|v2 SEED COUNT: do COUNT random operations, which depend only on
 * SEED. Print a line for each operation, with its number, its words and its result. The model also
 * does each operation. The next operation is chosen from the state of the model, and does not
 * depend on the kernel.
 *
 * The mode "common" has only operations that stock also has. In the other modes, the kernel's
 * answers must equal the model's answers, and only the last answers are kept. A refused write fails
 * with the error of the model, and changes nothing. An accepted write changes only the limits that
 * it names. If the text of a file is written back to the file, the text does not change.
 *
 * After the last operation, end every process, read every file, and remove the cgroups.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay.h"

#define KEPT_ANSWERS 10000
#define SHOWN_TEXT 1000

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

const char *const device_names[DEVICES] = { "rxe0", "rxe1", "rxe 2", "rxe 2" };

static const char *const names[OPERATIONS] = {
	[MKDIR] = "mkdir", [RMDIR] = "rmdir", [DELEGATE] = "delegate",
	[READ] = "read", [WRITE] = "write",
	[SPAWN] = "spawn", [FORK] = "fork", [KILL] = "kill", [ENTER] = "enter",
	[CREATE] = "create", [DESTROY] = "destroy", [SHARE] = "share", [REREG] = "rereg",
	[ATTACH] = "attach", [DETACH] = "detach", [BIND] = "bind",
};

enum mode mode;
bool on_v1;
static __u64 number, accepted, refused[ENOTUNIQ + 1];

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

static void print_text(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < SHOWN_TEXT; i++) {
		if (text[i] == '\n')
			fputs("\\n", stdout);
		else if (text[i] == '\t')
			fputs("\\t", stdout);
		else if (text[i] == '\0')
			fputs("\\0", stdout);
		else
			putchar(text[i]);
	}
	if (i < len)
		printf("... (%zu bytes)", len);
}

static void print_write(const struct op *op)
{
	fputs(" \"", stdout);
	print_text(op->text, op->text_len);
	putchar('"');
	if (op->nth)
		printf(" allocation %u fails", op->nth);
}

static void print_answer(int error, const char *answer)
{
	printf(": %s", error ? strerrorname_np(-error) : "ok");
	if (!error && *answer) {
		putchar(' ');
		print_text(answer, strlen(answer));
	}
}

/* Print an operation. Fields that the operation does not use are 0 or -1. */
static void print_op(const struct op *op)
{
	printf("%llu %s", number, names[op->what]);
	if (op->what <= WRITE || op->what == ENTER)
		printf(" %s", op->dir ? dirs[op->dir].path : "/");
	if (op->what == DELEGATE)
		printf(" %s", op->on ? "+rdma" : "-rdma");
	if (op->what == READ || op->what == WRITE)
		printf(" %s", file_name(op->file));
	if (op->what == WRITE)
		print_write(op);
	if (op->what > WRITE)
		printf(" p%d p%d", op->proc, op->other);
	if (op->what > ENTER)
		printf(" %s o%d context=o%d pd=o%d cq=o%d device=%d flaw=%d length=%llu group=%d",
		       resource_names[op->type], op->object, op->ctx, op->pd, op->cq, op->device,
		       op->flaw, op->length, op->group);
}

static void print(const struct op *op, int error, const char *answer)
{
	if (mode != COMMON && number % KEPT_ANSWERS == 0) {
		rewind(stdout);
		if (ftruncate(STDOUT_FILENO, 0))
			die("stdout");
	}
	print_op(op);
	print_answer(error, answer);
	putchar('\n');
}

/* ---- comparison with the model ---- */

static void judge(const struct op *op, int error, const char *answer)
{
	char wanted[ANSWER_SIZE] = "";
	int wanted_error;

	/* Accept ENOMEM, because the model does not know how many allocations a write needs. */
	if (op->nth && error == -ENOMEM)
		return;
	wanted_error = model_do(op, wanted);
	if (mode == COMMON || (error == wanted_error && (error || !strcmp(answer, wanted))))
		return;
	fputs("the model", stdout);
	print_answer(wanted_error, wanted);
	putchar('\n');
	exit(1);
}

/* Check that the file still has the text that was written back. */
static void check_back(const struct op *op)
{
	static char text[ANSWER_SIZE];
	struct op read = { .what = READ, .dir = op->dir, .file = op->file };

	model_do(&read, text);
	if (strlen(text) == op->text_len && !memcmp(text, op->text, op->text_len))
		return;
	printf("the text of the file means something else when it is written\n");
	exit(1);
}

static void run_one(const struct op *op)
{
	char answer[ANSWER_SIZE] = "";
	int error;

	error = kernel_do(op, answer);
	print(op, error, answer);
	judge(op, error, answer);
	if (op->what == WRITE) {
		accepted += !error;
		refused[-error]++;
	}
	if (op->back && !(op->nth && error == -ENOMEM))
		check_back(op);
}

/* After a write, read all files of the cgroup that can have changed. */
void run(const struct op *op)
{
	struct op read = { .what = READ, .dir = op->dir };

	number++;
	run_one(op);
	if (op->what != WRITE || mode == COMMON)
		return;
	for (read.file = 0; read.file < FILES; read.file += read.file < CONTROL * KINDS ? KINDS : 1)
		run_one(&read);
}

/* ---- the end ---- */

static void read_all(void)
{
	struct op op = { .what = READ };

	for (op.dir = 1; op.dir < DIRS; op.dir++)
		for (op.file = 0; op.file < (mode == COMMON ? KINDS : FILES); op.file++)
			if (model_has_account(op.dir))
				run(&op);
}

static void clean_up(void)
{
	struct op op = { .what = KILL };

	read_all();
	for (op.proc = 0; op.proc < PROCS; op.proc++)
		if (procs[op.proc].alive)
			run(&op);
	read_all();
	op.what = RMDIR;
	for (op.dir = DIRS - 1; op.dir; op.dir--)
		if (cgroups[op.dir].exists)
			run(&op);
}

/* Each documented error of a write must occur. */
static int report_writes(void)
{
	static const int errors[] = { EINVAL, ENODEV, ENOTUNIQ, E2BIG, ENOMEM };
	int i, failed = 0;

	printf("%llu operations, %llu writes accepted", number, accepted);
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		printf(", %llu %s", refused[errors[i]], strerrorname_np(errors[i]));
		failed |= !refused[errors[i]];
	}
	printf("%s\n", failed ? ": an error did not occur; take a larger COUNT" : "");
	return failed;
}

static int find_word(const char *word, const char *const *words)
{
	int i = 0;

	while (words[i] && strcmp(words[i], word))
		i++;
	if (words[i])
		return i;
	fprintf(stderr, "replay: %s is unknown\n", word);
	exit(2);
}

int main(int argc, char *argv[])
{
	__u64 count;

	if (argc != 5) {
		fprintf(stderr, "usage: replay common|full|writes v1|v2 SEED COUNT\n");
		return 2;
	}
	mode = find_word(argv[1], (const char *[]){ "common", "full", "writes", NULL });
	on_v1 = !find_word(argv[2], (const char *[]){ "v1", "v2", NULL });
	seed(strtoull(argv[3], NULL, 10));
	count = strtoull(argv[4], NULL, 10);
	model_start();
	kernel_start();
	while (number < count)
		run_some();
	clean_up();
	return mode == WRITES ? report_writes() : 0;
}
