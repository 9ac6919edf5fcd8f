// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan qemu: limits for one side of a migration over RDMA. The source and the
 * destination need the same.
 *
 * Formulas: QEMU's migration/rdma.c at 58deb358c6. QEMU does not try again after a refusal,
 * so a limit must not be too low: tests/plan-migration sees a migration complete with
 * exactly these limits, and fail with one less of each.
 */
#include "plan/plan.h"

/* RDMA_REG_CHUNK_SHIFT */
#define QEMU_CHUNK	((uint64_t)1 << 20)
#define QEMU_PAGE	((uint64_t)4096)

#define QEMU_FILE	"migration/rdma.c, "
#define QEMU_CONTROL	"3 control buffers, RDMA_WRID_MAX: " QEMU_FILE "qemu_rdma_reg_control()"
#define QEMU_CHUNKS	"an MR for each MiB that was ever sent: " QEMU_FILE \
			"qemu_rdma_register_and_get_keys()"
#define QEMU_PINNED	"an MR for each RAM block: " QEMU_FILE "qemu_rdma_reg_whole_ram_blocks()"

static const struct plan_input qemu_inputs[] = {
	{ "instances", 1, PLAN_SOME,
	  .doc = "such machines that migrate at once, in the cgroup (1)" },
	{ "ram", .arg = "SIZE",
	  .doc = "RAM of the machine; several sizes for several RAM blocks, such as DIMMs" },
	{ "machine", .arg = "pc|none",
	  .doc =
	  "the blocks besides the RAM: those of -M pc -nodefaults, or none (pc)" },
	{ "ramblocks", .arg = "FILE",
	  .doc = "the text of 'info ramblock' of its monitor; - is standard input" },
	{ "pin-all", .is_flag = true, .doc = "the migration has rdma-pin-all" },
	{ "postcopy", .is_flag = true, .doc = "the migration has postcopy-ram or return-path" },
	{ "zero", .arg = "NAME", .doc = "a RAM block that is all zeros" },
	{ 0 }
};

/* --- the RAM blocks --- */

/*
 * The blocks of -M pc -nodefaults besides its RAM, as "info ramblock" of 7.2 shows them. pc.rom has
 * only zeros, and QEMU does not register memory that was always zero.
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

static void qemu_read_file(const char *path, struct plan_blocks *blocks)
{
	char *text __autofree = file_read(AT_FDCWD, strcmp(path, "-") ? path : "/dev/stdin");

	if (!text)
		plan_fail(path, "%s; give a file with the text of 'info ramblock'",
			  strerror(errno));
	if (!plan_parse_blocks(path, text, blocks))
		exit(EXIT_FAILED);
}

/* Words without an option, as in "--ram 1G 2G", are further sizes of --ram. */
static void qemu_get_ram(const struct plan_args *args, struct plan_blocks *blocks)
{
	const char *machine = plan_text(args, "machine");
	bool is_pc = !machine || !strcmp(machine, "pc");
	size_t i;

	if (!is_pc && strcmp(machine, "none"))
		options_fail(machine,
			     "is neither pc nor none; for another machine give --ramblocks");
	for (i = 0; i < args->nr_texts; i++)
		if (!*args->texts[i].name || !strcmp(args->texts[i].name, "ram"))
			plan_add_block(blocks, "ram", 3,
				       plan_parse_number("--ram", args->texts[i].text, 1,
							 NUMBER_LARGEST));
	for (i = 0; i < ARRAY_SIZE(qemu_pc_blocks) && is_pc; i++)
		plan_add_block(blocks, qemu_pc_blocks[i].name, strlen(qemu_pc_blocks[i].name),
			       qemu_pc_blocks[i].used)->is_zero = qemu_pc_blocks[i].is_zero;
}

static void qemu_set_zero(const struct plan_blocks *blocks, const char *name)
{
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		if (strcmp(blocks->block[i].name, name))
			continue;
		blocks->block[i].is_zero = true;
		return;
	}
	plan_fail(name, "there is no such RAM block; give a name as 'info ramblock' has it");
}

static void qemu_get_blocks(const struct plan_args *args, struct plan_blocks *blocks)
{
	const char *file = plan_text(args, "ramblocks");
	size_t i;

	if (plan_is_given(args, "ram") == !!file)
		options_fail(args->form->name, "give --ram or --ramblocks");
	if (file && plan_text(args, ""))
		options_fail(plan_text(args, ""), "is a word too many; a SIZE is for --ram");
	if (file)
		qemu_read_file(file, blocks);
	else
		qemu_get_ram(args, blocks);
	for (i = 0; i < args->nr_texts; i++)
		if (!strcmp(args->texts[i].name, "zero"))
			qemu_set_zero(blocks, args->texts[i].text);
}

/* The sum of the blocks that are sent. A block of zeros is sent only if it is pinned. */
struct qemu_ram {
	uint64_t blocks, chunks, bytes;
};

static struct qemu_ram qemu_count(const struct plan_blocks *blocks, bool pin_all,
				  struct plan_part *part, bool explain)
{
	struct qemu_ram ram = { .blocks = blocks->count };
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		const struct plan_block *block = &blocks->block[i];
		uint64_t chunks = div_up(block->used, QEMU_CHUNK);
		uint64_t pages = div_up(block->used, QEMU_PAGE);
		bool is_sent = pin_all || !block->is_zero;

		if (explain)
			plan_add_note(part, "%s: %" PRIu64 " bytes, %" PRIu64 " chunks%s",
				      block->name, block->used, chunks,
				      is_sent ? "" : ", all zero: none is sent");
		if (!is_sent)
			continue;
		ram.chunks += chunks;
		if (__builtin_mul_overflow(pages, QEMU_PAGE, &pages) ||
		    __builtin_add_overflow(ram.bytes, pages, &ram.bytes))
			plan_fail("plan qemu",
				  "the sum of the RAM blocks does not fit in 64 bits; give smaller ones");
	}
	return ram;
}

/* --- the plan --- */

/* @back is 1 if a second context exists for the way back. */
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
		    "of a destination, of which 1 listens; a source has 1 less: " QEMU_FILE
		    "qemu_rdma_dest_init(); no hca_object");
	PLAN_LIMIT(part, mr, instances * (3 + 3 * back + ram_mr), QEMU_CONTROL);
	PLAN_LIMIT(part, hca_object, instances * (8 + 7 * back + ram_mr),
		   "2 PD, 2 CQ, 1 QP, 3 MR, and 1 PD, 2 CQ, 1 QP, 3 MR for the way back, and the RAM's: "
		   QEMU_FILE "rdma_start_outgoing_migration()");
}

static void qemu_add_limits(struct plan_part *part, const struct plan_args *args,
			    const struct qemu_ram *ram)
{
	PLAN_INPUT(part, args, instances);
	PLAN_NAME(part, back, plan_number(args, "postcopy"));
	PLAN_NAME(part, blocks, ram->blocks);
	PLAN_NAME(part, chunks, ram->chunks);
	PLAN_NAME(part, ram_bytes, ram->bytes);
	__int128 ram_mr = plan_number(args, "pin-all") ?
		PLAN_OF_KEY(part, FIGURE, "ram_mr", blocks, QEMU_PINNED) :
		PLAN_OF_KEY(part, FIGURE, "ram_mr", chunks, QEMU_CHUNKS);

	qemu_add_objects(part, instances, back, ram_mr);
	qemu_add_memory(part, args, instances, back, ram_bytes);
}

static void qemu_add(struct plan *plan, struct plan_args *args)
{
	bool pin_all = plan_number(args, "pin-all");
	char *title = memory_format("Source and destination, each: %s%s",
				    pin_all ? "rdma-pin-all" : "dynamic registration",
				    plan_number(args, "postcopy") ? ", with a way back" : "");
	struct plan_part *part = plan_begin(plan, args, title);
	struct plan_blocks blocks = { .count = 0 };
	struct qemu_ram ram;

	free(title);
	qemu_get_blocks(args, &blocks);
	ram = qemu_count(&blocks, pin_all, part, plan_number(args, "explain"));
	if (!pin_all && !plan_is_given(args, "ram"))
		plan_add_note(part,
			      "This is enough for any guest. A MiB of zeros that was never anything else needs no MR; see --zero.");
	if (blocks.nr_local)
		plan_add_note(part,
			      "%zu RAM blocks without a name do not migrate, and do not count.",
			      blocks.nr_local);
	plan_add_note(part,
		      "A destination that waits holds 1 hca_handle and 1 hca_object of these.");
	qemu_add_limits(part, args, &ram);
	plan_free_blocks(&blocks);
}

static const struct plan_form qemu_form = {
	.name = "plan qemu",
	.doc = "Limits for one side of QEMU's migration over RDMA.", .args_doc = "[SIZE...]",
	.read = "QEMU at 58deb358c6, migration/rdma.c; migrations of 7.2 were run on Soft-RoCE",
	.inputs = qemu_inputs, .has_limits = true, .has_memory = true, .add = qemu_add,
};

int plan_qemu(int argc, char **argv)
{
	return plan_run(&qemu_form, argc, argv);
}
