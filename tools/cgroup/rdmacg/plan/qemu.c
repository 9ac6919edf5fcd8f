// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan qemu: limits for one side of a migration over RDMA. The source and the
 * destination need the same.
 *
 * Formulas: QEMU's migration/rdma.c at 58deb358c6. QEMU does not try again after a refusal,
 * so a limit must not be too low: tests/plan-migration sees a migration complete with
 * exactly these limits, and fail with one less of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/options.h"
#include "plan/plan.h"
#include "plan/qemu.h"

/* RDMA_REG_CHUNK_SHIFT */
#define QEMU_CHUNK	((uint64_t)1 << 20)

#define QEMU_FILE	"migration/rdma.c, "
#define QEMU_CONTROL	"3 control buffers, RDMA_WRID_MAX: " QEMU_FILE "qemu_rdma_reg_control()"
#define QEMU_CHUNKS	"an MR for each MiB that was ever sent: " QEMU_FILE \
			"qemu_rdma_register_and_get_keys()"
#define QEMU_PINNED	"an MR for each RAM block: " QEMU_FILE "qemu_rdma_reg_whole_ram_blocks()"

enum qemu_input { QEMU_INSTANCES, QEMU_TIMEOUT };

static const struct plan_input qemu_inputs[] = {
	[QEMU_INSTANCES] = { "instances", "instances", 1, PLAN_SOME,
			     .doc = "such machines that migrate at once, in the cgroup (1)" },
	[QEMU_TIMEOUT] = { "timeout", "timeout", 10, .min = 1, .max = 3600,
			   .doc = "seconds that QEMU has to answer over --qmp (10)" },
};

static const struct plan_row qemu_dynamic_row = {
	"ram_mr", PLAN_FIGURE, "chunks", QEMU_CHUNKS
};

static const struct plan_row qemu_pinned_row = { "ram_mr", PLAN_FIGURE, "blocks", QEMU_PINNED };

/* back is 1 where there is a second context for the way back. */
static const struct plan_row qemu_rows[] = {
	{ "hca_handle", PLAN_LIMIT, "instances",
	  "librdmacm opens the device once in a process, also for the way back" },
	{ "pd", PLAN_FIGURE, "instances * (2 + back)",
	  "librdmacm's own, cma.c ucma_get_device(); " QEMU_FILE "qemu_rdma_alloc_pd_cq()" },
	{ "cq", PLAN_FIGURE, "instances * (2 + 2 * back)", QEMU_FILE "qemu_rdma_alloc_pd_cq()" },
	{ "qp", PLAN_FIGURE, "instances * (1 + back)", QEMU_FILE "qemu_rdma_alloc_qp()" },
	{ "comp_channel", PLAN_FIGURE, "instances * (2 + 2 * back)",
	  QEMU_FILE "qemu_rdma_alloc_pd_cq(); no hca_object" },
	{ "cm_id", PLAN_FIGURE, "instances * (2 + back)",
	  "of a destination, where one listens; the source has one less: " QEMU_FILE
	  "qemu_rdma_dest_init(); no hca_object" },
	{ "mr", PLAN_LIMIT, "instances * (3 + 3 * back + ram_mr)", QEMU_CONTROL },
	{ "hca_object", PLAN_LIMIT, "instances * (8 + 7 * back + ram_mr)",
	  "2 PD, 2 CQ, 1 QP, 3 MR, and 1 PD, 2 CQ, 1 QP, 3 MR for the way back, and the RAM's: "
	  QEMU_FILE "rdma_start_outgoing_migration()" },
	{ "mr_mem", PLAN_LIMIT, "instances * ((3 + 3 * back) * 524288 + ram_bytes)",
	  "control buffers of 512 KiB, RDMA_CONTROL_MAX_BUFFER, and the RAM that has an MR" },
};

struct qemu_options {
	struct plan_blocks blocks;	/* from --ram */
	const char **zero;
	size_t nr_zero;
	const char *socket;
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

static bool qemu_read_file(const char *path, struct plan_blocks *blocks)
{
	char *text = file_read(AT_FDCWD, path);
	bool good = false;

	if (text)
		good = plan_parse_blocks(path, text, strlen(text), blocks);
	else
		say_error(path, "%s; give a file with the text of 'info ramblock'",
			  strerror(errno));
	free(text);
	return good;
}

static bool qemu_get_blocks(struct qemu_options *options, const struct plan_args *args)
{
	if (options->socket)
		return plan_qmp_read_blocks(options->socket, args->values[QEMU_TIMEOUT],
					    &options->blocks);
	if (options->file)
		return qemu_read_file(options->file, &options->blocks);
	if (!options->alone)
		qemu_add_pc_blocks(&options->blocks);
	return true;
}

static struct plan_block *qemu_find_block(const struct plan_blocks *blocks, const char *name)
{
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		if (!strcmp(blocks->block[i].name, name))
			return &blocks->block[i];
	}
	say_error(name, "there is no such RAM block; give a name as 'info ramblock' has it");
	return NULL;
}

/* --zero names blocks that nothing but zeros was ever in. */
static bool qemu_mark_zeros(struct qemu_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_zero; i++) {
		struct plan_block *block = qemu_find_block(&options->blocks, options->zero[i]);

		if (!block)
			return false;
		block->is_zero = true;
	}
	return true;
}

/* How many MRs, and of how many bytes. A block of zeros has none unless all is pinned. */
static bool qemu_count(struct qemu_options *options, struct plan_vars *vars,
		       struct plan_part *part, bool explain)
{
	uint64_t chunks = 0;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < options->blocks.count; i++) {
		const struct plan_block *block = &options->blocks.block[i];
		bool is_sent = options->pin_all || !block->is_zero;
		uint64_t mine = block->used / QEMU_CHUNK + !!(block->used % QEMU_CHUNK);

		if (explain)
			plan_add_note(part, "%s: %" PRIu64 " bytes, %" PRIu64 " chunks%s",
				      block->name, block->used, mine,
				      is_sent ? "" : ", all zero: none is sent");
		if (is_sent && (__builtin_add_overflow(bytes, block->used, &bytes) ||
				__builtin_add_overflow(chunks, mine, &chunks))) {
			say_error("plan qemu",
				  "the sum of the RAM blocks does not fit in 64 bits; give smaller ones");
			return false;
		}
	}
	plan_set(vars, "chunks", chunks);
	plan_set(vars, "blocks", options->blocks.count);
	plan_set(vars, "ram_bytes", bytes);
	plan_set(vars, "back", options->postcopy);
	return true;
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

static bool qemu_make(struct plan *plan, struct qemu_options *options,
		      const struct plan_args *args)
{
	struct plan_part *part = plan_add_part(plan, "Source and destination, each: %s%s",
					       options->pin_all ? "rdma-pin-all" :
					       "dynamic registration",
					       options->postcopy ? ", with a way back" : "");
	struct plan_vars vars = { .count = 0 };

	plan_set_target(part, args);
	plan_set_inputs(args, &vars);
	if (!qemu_count(options, &vars, part, args->explain))
		return false;
	qemu_add_notes(part, options);
	return plan_add_rows(plan, part, &vars,
			     options->pin_all ? &qemu_pinned_row : &qemu_dynamic_row, 1) &&
	       plan_add_rows(plan, part, &vars, qemu_rows, ARRAY_SIZE(qemu_rows));
}

static bool qemu_run(struct qemu_options *options, const struct plan_args *args)
{
	struct plan plan = { .form = args->form };
	bool done = qemu_get_blocks(options, args) && qemu_mark_zeros(options) &&
		    qemu_make(&plan, options, args);

	if (done)
		plan_print(&plan, args);
	plan_free(&plan);
	return done;
}

/* --- the command line --- */

enum qemu_key { QEMU_KEY_RAM = OPTIONS_KEY, QEMU_KEY_PIN, QEMU_KEY_POSTCOPY, QEMU_KEY_QMP,
		QEMU_KEY_FILE, QEMU_KEY_ZERO, QEMU_KEY_MACHINE };

static const struct argp_option qemu_argp_options[] = {
	{ "ram", QEMU_KEY_RAM, "SIZE", 0,
	  "RAM of the machine; several sizes for several RAM blocks, such as DIMMs", 10 },
	{ "machine", QEMU_KEY_MACHINE, "pc|none", 0,
	  "what there is besides the RAM: blocks as -M pc -nodefaults has, or none (pc)", 10 },
	{ "qmp", QEMU_KEY_QMP, "SOCKET", 0, "ask the QEMU that has this QMP socket", 10 },
	{ "ramblocks", QEMU_KEY_FILE, "FILE", 0, "the text of its 'info ramblock'", 10 },
	{ "pin-all", QEMU_KEY_PIN, NULL, 0, "the migration has rdma-pin-all", 10 },
	{ "postcopy", QEMU_KEY_POSTCOPY, NULL, 0,
	  "the migration has postcopy-ram or return-path", 10 },
	{ "zero", QEMU_KEY_ZERO, "NAME", 0, "a RAM block that is all zeros", 10 },
	{ 0 }
};

static void qemu_parse_ram(struct qemu_options *options, const char *text)
{
	static const struct plan_input size = { .option = "ram", PLAN_SOME };

	options->has_ram = true;
	plan_add_block(&options->blocks, "ram", 3, plan_parse_number(&size, text));
}

static void qemu_parse_machine(struct qemu_options *options, const char *text)
{
	options->alone = !strcmp(text, "none");
	if (!options->alone && strcmp(text, "pc"))
		options_fail(text,
			     "is not pc and not none; for another machine take --qmp or --ramblocks");
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
	case QEMU_KEY_QMP:
		options->socket = arg;
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
		if (options->has_ram + !!options->socket + !!options->file != 1)
			options_fail("plan qemu", "give one of --ram, --qmp and --ramblocks");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

bool plan_qemu(int argc, char **argv)
{
	static const struct argp own = { .options = qemu_argp_options, .parser = qemu_parse_key };
	struct qemu_options options = { .has_ram = false };
	struct plan_args args = {
		.form = "plan qemu", .has_limits = true,
		.doc = "Limits for one side of QEMU's migration over RDMA.",
		.args_doc = "[SIZE...]",
		.inputs = qemu_inputs, .nr_inputs = ARRAY_SIZE(qemu_inputs),
		.own = &own, .own_input = &options,
	};
	bool done;

	plan_parse(&args, argc, argv);
	done = qemu_run(&options, &args);
	plan_free_blocks(&options.blocks);
	free(options.zero);
	plan_free_args(&args);
	return done;
}
