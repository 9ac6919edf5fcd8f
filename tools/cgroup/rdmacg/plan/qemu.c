// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan qemu: limits for one side of a migration over RDMA. The source and the
 * destination need the same.
 *
 * Formulas: QEMU's migration/rdma.c at 58deb358c6. QEMU does not try again after a refusal,
 * so a limit must not be too low: tests/plan-migration sees a migration complete with
 * exactly these limits, and fail with one less of each.
 */
#include "lib/lib.h"
#include "plan/plan.h"
#include "plan/qemu.h"

/* RDMA_REG_CHUNK_SHIFT */
#define QEMU_CHUNK	((uint64_t)1 << 20)
#define QEMU_PAGE	((uint64_t)4096)

#define QEMU_FILE	"migration/rdma.c, "
#define QEMU_CONTROL	"3 control buffers, RDMA_WRID_MAX: " QEMU_FILE "qemu_rdma_reg_control()"
#define QEMU_CHUNKS	"an MR for each MiB that was ever sent: " QEMU_FILE \
			"qemu_rdma_register_and_get_keys()"
#define QEMU_PINNED	"an MR for each RAM block: " QEMU_FILE "qemu_rdma_reg_whole_ram_blocks()"

enum qemu_input { QEMU_INSTANCES };

static const struct plan_input qemu_inputs[] = {
	[QEMU_INSTANCES] = { "instances", 1, PLAN_SOME,
			     .doc = "such machines that migrate at once, in the cgroup (1)" },
};

struct qemu_options {
	struct plan_blocks blocks;	/* from --ram */
	const char **zero;
	size_t nr_zero;
	const char *file;
	bool has_ram;
	bool pin_all;
	bool postcopy;
	bool alone;			/* --machine none */
};

/* --- the RAM blocks --- */

/*
 * What -M pc -nodefaults has besides its RAM, as "info ramblock" of 7.2 shows it. pc.rom is
 * all zeros there, and zeros that were never anything else are not registered.
 */
static const struct {
	const char *name;
	uint64_t used;
	bool is_zero;
} qemu_pc_blocks[] = {
	{ "pc.bios", 256 << 10, false },
	{ "/rom@etc/acpi/tables", 128 << 10, false },
	{ "pc.rom", 128 << 10, true },
	{ "/rom@etc/table-loader", 4 << 10, false },
	{ "/rom@etc/acpi/rsdp", 4 << 10, false },
};

static void qemu_add_pc_blocks(struct plan_blocks *blocks)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(qemu_pc_blocks); i++) {
		plan_add_block(blocks, qemu_pc_blocks[i].name, strlen(qemu_pc_blocks[i].name),
			       qemu_pc_blocks[i].used);
		blocks->block[blocks->count - 1].is_zero = qemu_pc_blocks[i].is_zero;
	}
}

static void qemu_read_file(const char *path, struct plan_blocks *blocks)
{
	char *text = file_read(AT_FDCWD, strcmp(path, "-") ? path : "/dev/stdin");

	if (!text)
		plan_fail(path, "%s; give a file with the text of 'info ramblock'",
			  strerror(errno));
	if (!plan_parse_blocks(path, text, blocks))
		exit(EXIT_FAILED);
	free(text);
}

static void qemu_get_blocks(struct qemu_options *options)
{
	if (options->file)
		qemu_read_file(options->file, &options->blocks);
	else if (!options->alone)
		qemu_add_pc_blocks(&options->blocks);
}

static struct plan_block *qemu_find_block(const struct plan_blocks *blocks, const char *name)
{
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		if (!strcmp(blocks->block[i].name, name))
			return &blocks->block[i];
	}
	plan_fail(name, "there is no such RAM block; give a name as 'info ramblock' has it");
}

/* What is sent of a block: all, or nothing where it holds only zeros. */
struct qemu_ram {
	uint64_t blocks, chunks, bytes;
};

static void qemu_count_block(const struct plan_block *block, bool is_sent, struct qemu_ram *ram)
{
	uint64_t pages = div_up(block->used, QEMU_PAGE);

	if (!is_sent)
		return;
	ram->chunks += div_up(block->used, QEMU_CHUNK);
	if (__builtin_mul_overflow(pages, QEMU_PAGE, &pages) ||
	    __builtin_add_overflow(ram->bytes, pages, &ram->bytes))
		plan_fail("plan qemu",
			  "the sum of the RAM blocks does not fit in 64 bits; give smaller ones");
}

/* How many MRs, and of how many bytes. */
static void qemu_count(struct qemu_options *options, struct plan_part *part, bool explain,
		       struct qemu_ram *ram)
{
	size_t i;

	/* --zero names blocks that nothing except zeros was ever in. */
	for (i = 0; i < options->nr_zero; i++)
		qemu_find_block(&options->blocks, options->zero[i])->is_zero = true;
	ram->blocks = options->blocks.count;
	for (i = 0; i < options->blocks.count; i++) {
		const struct plan_block *block = &options->blocks.block[i];
		bool is_sent = options->pin_all || !block->is_zero;

		if (explain)
			plan_add_note(part, "%s: %" PRIu64 " bytes, %" PRIu64 " chunks%s",
				      block->name, block->used,
				      (uint64_t)div_up(block->used, QEMU_CHUNK),
				      is_sent ? "" : ", all zero: none is sent");
		qemu_count_block(block, is_sent, ram);
	}
}

/* --- the plan --- */

static void qemu_add_notes(struct plan_part *part, const struct qemu_options *options)
{
	if (!options->pin_all && !options->has_ram)
		plan_add_note(part,
			      "This is enough whatever the guest does. A MiB of zeros that was never anything else needs no MR; see --zero.");
	if (options->blocks.nr_local)
		plan_add_note(part,
			      "%zu RAM blocks without a name do not migrate, and do not count.",
			      options->blocks.nr_local);
	plan_add_note(part,
		      "A destination that waits holds 1 hca_handle and 1 hca_object of these.");
}

/* @back is 1 where there is a second context for the way back. */
static void qemu_add_memory(struct plan_part *part, const struct plan_args *args,
			    __int128 instances, __int128 back, __int128 ram_bytes)
{
	struct plan_queues queues = {
		.cqs = 2 + 2 * back, .cqe = 3 * 512, .qps = 1 + back,
		.send_wr = 512, .send_sge = 1, .recv_wr = 3, .recv_sge = 1,
	};
	PLAN_NAME(part, rings, plan_add_rings(part, args, &queues));

	PLAN_STEP(part, control_bytes, (524288 / 4096 + 1) * 4096,
		  "a control buffer of 512 KiB, RDMA_CONTROL_MAX_BUFFER, which no page begins with: "
		  QEMU_FILE "RDMAWorkRequestData");
	PLAN_LIMIT(part, mr_mem,
		   instances * ((3 + 3 * back) * control_bytes + ram_bytes + rings),
		   "whole pages: control buffers, RAM that has an MR, and queues of the driver");
}

static void qemu_add_objects(struct plan_part *part, __int128 instances, __int128 back,
			     __int128 ram_mr)
{
	PLAN_LIMIT(part, hca_handle, instances,
		   "librdmacm opens the device once in a process, also for the way back");
	PLAN_FIGURE(part, pd, instances * (2 + back),
		    "librdmacm's own, ucma_get_device(); " QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(part, cq, instances * (2 + 2 * back), QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(part, qp, instances * (1 + back), QEMU_FILE "qemu_rdma_alloc_qp()");
	PLAN_FIGURE(part, comp_channel, instances * (2 + 2 * back),
		    QEMU_FILE "qemu_rdma_alloc_pd_cq(); no hca_object");
	PLAN_FIGURE(part, cm_id, instances * (2 + back),
		    "of a destination, where one listens; the source has one less: " QEMU_FILE
		    "qemu_rdma_dest_init(); no hca_object");
	PLAN_LIMIT(part, mr, instances * (3 + 3 * back + ram_mr), QEMU_CONTROL);
	PLAN_LIMIT(part, hca_object, instances * (8 + 7 * back + ram_mr),
		   "2 PD, 2 CQ, 1 QP, 3 MR, and 1 PD, 2 CQ, 1 QP, 3 MR for the way back, and the RAM's: "
		   QEMU_FILE "rdma_start_outgoing_migration()");
}

static void qemu_add(struct plan_part *part, const struct qemu_options *options,
		     const struct plan_args *args, const struct qemu_ram *ram)
{
	PLAN_NAME(part, instances, args->values[QEMU_INSTANCES]);
	PLAN_NAME(part, back, options->postcopy);
	PLAN_NAME(part, blocks, ram->blocks);
	PLAN_NAME(part, chunks, ram->chunks);
	PLAN_NAME(part, ram_bytes, ram->bytes);

	if (options->pin_all) {
		PLAN_FIGURE(part, ram_mr, blocks, QEMU_PINNED);
		qemu_add_objects(part, instances, back, ram_mr);
	} else {
		PLAN_FIGURE(part, ram_mr, chunks, QEMU_CHUNKS);
		qemu_add_objects(part, instances, back, ram_mr);
	}
	qemu_add_memory(part, args, instances, back, ram_bytes);
}

static void qemu_run(struct qemu_options *options, struct plan_args *args)
{
	struct plan plan = { 0 };
	struct qemu_ram ram = { 0 };
	char *title = memory_format("Source and destination, each: %s%s",
				    options->pin_all ? "rdma-pin-all" : "dynamic registration",
				    options->postcopy ? ", with a way back" : "");
	struct plan_part *part = plan_begin(&plan, args, title);

	free(title);
	qemu_get_blocks(options);
	qemu_count(options, part, args->explain, &ram);
	qemu_add_notes(part, options);
	qemu_add(part, options, args, &ram);
	plan_finish(&plan, args);
}

/* --- the command line --- */

enum qemu_key { QEMU_KEY_RAM = OPTIONS_KEY, QEMU_KEY_PIN, QEMU_KEY_POSTCOPY, QEMU_KEY_FILE,
		 QEMU_KEY_ZERO, QEMU_KEY_MACHINE };

static const struct argp_option qemu_argp_options[] = {
	{ "ram", QEMU_KEY_RAM, "SIZE", 0,
	  "RAM of the machine; several sizes for several RAM blocks, such as DIMMs", 10 },
	{ "machine", QEMU_KEY_MACHINE, "pc|none", 0,
	  "what there is besides the RAM: blocks as -M pc -nodefaults has, or none (pc)", 10 },
	{ "ramblocks", QEMU_KEY_FILE, "FILE", 0,
	  "the text of 'info ramblock' of its monitor; - is standard input", 10 },
	{ "pin-all", QEMU_KEY_PIN, NULL, 0, "the migration has rdma-pin-all", 10 },
	{ "postcopy", QEMU_KEY_POSTCOPY, NULL, 0,
	  "the migration has postcopy-ram or return-path", 10 },
	{ "zero", QEMU_KEY_ZERO, "NAME", 0, "a RAM block that is all zeros", 10 },
	{ 0 }
};

static void qemu_parse_ram(struct qemu_options *options, const char *text)
{
	static const struct plan_input size = { .option = "ram", .min = 1, .max = NUMBER_LARGEST };

	options->has_ram = true;
	plan_add_block(&options->blocks, "ram", 3, plan_parse_number(&size, text));
}

static void qemu_parse_machine(struct qemu_options *options, const char *text)
{
	options->alone = !strcmp(text, "none");
	if (!options->alone && strcmp(text, "pc"))
		options_fail(text,
			     "is neither pc nor none; for another machine give --ramblocks");
}

/* Words of their own, as in "--ram 1G 2G", are more of the same. */
static error_t qemu_parse_word(struct qemu_options *options, const char *word)
{
	if (!options->has_ram)
		return ARGP_ERR_UNKNOWN;
	qemu_parse_ram(options, word);
	return 0;
}

static error_t qemu_parse_key(int key, char *arg, struct argp_state *state)
{
	struct qemu_options *options = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return qemu_parse_word(options, arg);
	case QEMU_KEY_RAM:
		qemu_parse_ram(options, arg);
		return 0;
	case QEMU_KEY_MACHINE:
		qemu_parse_machine(options, arg);
		return 0;
	case QEMU_KEY_FILE:
		options->file = arg;
		return 0;
	case QEMU_KEY_PIN:
		options->pin_all = true;
		return 0;
	case QEMU_KEY_POSTCOPY:
		options->postcopy = true;
		return 0;
	case QEMU_KEY_ZERO:
		options->zero = memory_grow(options->zero, options->nr_zero,
					    sizeof(*options->zero));
		options->zero[options->nr_zero++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (options->has_ram == !!options->file)
			options_fail("plan qemu", "give --ram or --ramblocks");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int plan_qemu(int argc, char **argv)
{
	static const struct argp own = { .options = qemu_argp_options, .parser = qemu_parse_key };
	struct qemu_options options = { .has_ram = false };
	struct plan_args args = {
		.form = "plan qemu", .has_limits = true, .has_memory = true,
		.doc = "Limits for one side of QEMU's migration over RDMA.",
		.read =
		"QEMU at 58deb358c6, migration/rdma.c; migrations of 7.2 were run on Soft-RoCE",
		.args_doc = "[SIZE...]",
		.inputs = qemu_inputs, .nr_inputs = ARRAY_SIZE(qemu_inputs),
		.own = &own, .own_input = &options,
	};

	plan_parse(&args, argc, argv);
	qemu_run(&options, &args);
	plan_free_blocks(&options.blocks);
	free(options.zero);
	return EXIT_DONE;
}
