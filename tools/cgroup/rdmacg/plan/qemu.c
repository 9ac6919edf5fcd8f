// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan qemu: limits for one side of a migration over RDMA. Both sides need the same limits.
 *
 * Formulas: QEMU's migration/rdma.c at 58deb358c6. QEMU does not try again after a refusal. In
 * tests/plan-migration.py, a migration completes with exactly these limits, and fails if a limit is
 * lower by one.
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

/* The inputs, as the formulas name them. */
static __int128 instances = 1, pin_all, postcopy;

static struct plan_input qemu_inputs[] = {
	{ "instances", &instances, 1, PLAN_MOST,
	  "machines of this kind in the cgroup that migrate at once (1)" },
	{ "ram", .arg = "SIZE",
	  .doc = "RAM of the machine; several sizes stand for several RAM blocks, such as DIMMs" },
	{ "machine", .arg = "pc|none",
	  .doc = "the blocks besides the RAM: pc for those of -M pc -nodefaults, or none (pc)" },
	{ "ramblocks", .arg = "FILE",
	  .doc = "a file with the output of 'info ramblock' in the monitor; - is standard input" },
	{ "pin-all", &pin_all, .doc = "the migration has rdma-pin-all" },
	{ "postcopy", &postcopy, .doc = "the migration has postcopy-ram or return-path" },
	{ "zero", .arg = "NAME", .doc = "a RAM block that contains only zeros" },
	{ 0 }
};

/* The blocks of -M pc -nodefaults besides its RAM, from "info ramblock" of 7.2. */
static const struct plan_block qemu_pc_blocks[] = {
	{ "pc.bios", 256 << 10, false },
	{ "/rom@etc/acpi/tables", 128 << 10, false },
	{ "pc.rom", 128 << 10, true },
	{ "/rom@etc/table-loader", 4 << 10, false },
	{ "/rom@etc/acpi/rsdp", 4 << 10, false },
};

static struct plan_blocks qemu_blocks;

/* Read the sizes of --ram. Words without an option are more sizes, as in "--ram 1G 2G". */
static void qemu_get_ram(void)
{
	const char *machine = plan_text("machine");
	bool is_pc = !machine || !strcmp(machine, "pc");
	const struct plan_block *block = qemu_pc_blocks;
	const struct plan_text *text;

	if (!is_pc && strcmp(machine, "none"))
		options_fail(machine,
			     "is neither pc nor none; give --ramblocks for another machine");
	for (text = plan.texts; text < plan.texts + plan.nr_texts; text++)
		if (!*text->name || !strcmp(text->name, "ram"))
			plan_add_block(&qemu_blocks, "ram",
				       plan_parse_number("--ram", text->text, 1, NUMBER_LARGEST),
				       false);
	for (; is_pc && block < qemu_pc_blocks + ARRAY_SIZE(qemu_pc_blocks); block++)
		plan_add_block(&qemu_blocks, block->name, block->used, block->is_zero);
}

static void qemu_set_zero(const char *name)
{
	size_t i = 0;

	while (i < qemu_blocks.count && strcmp(qemu_blocks.block[i].name, name))
		i++;
	if (i == qemu_blocks.count)
		say_failure(name, "there is no such RAM block; give a name from 'info ramblock'");
	qemu_blocks.block[i].is_zero = true;
}

static void qemu_get_blocks(void)
{
	char *blocks __autofree = NULL;
	const char *file = plan_text("ramblocks"), *word = plan_text("");
	const struct plan_text *text;

	if (!plan_text("ram") == !file)
		options_fail(plan.form->name, "give --ram or --ramblocks");
	if (file && word)
		options_fail(word, "is one word too many; a SIZE belongs to --ram");
	blocks = file ? file_read(AT_FDCWD, strcmp(file, "-") ? file : "/dev/stdin") : NULL;
	if (!file)
		qemu_get_ram();
	else if (!blocks)
		say_failure(file, "%s; give a file with the text of 'info ramblock'",
			    strerror(errno));
	else if (!plan_parse_blocks(file, blocks, &qemu_blocks))
		exit(EXIT_FAILED);
	for (text = plan.texts; text < plan.texts + plan.nr_texts; text++)
		if (!strcmp(text->name, "zero"))
			qemu_set_zero(text->text);
}

/* Add up the chunks and bytes that QEMU sends. It sends a block of zeros only if it is pinned. */
static void qemu_count(struct plan_part *part, __int128 *chunks, __int128 *bytes)
{
	const struct plan_block *block;

	for (block = qemu_blocks.block; block < qemu_blocks.block + qemu_blocks.count; block++) {
		__int128 more = div_up(block->used, QEMU_CHUNK);
		bool is_sent = pin_all || !block->is_zero;

		if (plan.explain)
			plan_add_note(part, "%s: %" PRIu64 " bytes, %" PRIu64 " chunks%s",
				      block->name, block->used, (uint64_t)more,
				      is_sent ? "" : ", only zeros: none is sent");
		if (!is_sent)
			continue;
		*chunks += more;
		*bytes += div_up(block->used, QEMU_PAGE) * QEMU_PAGE;
	}
	if (*bytes > UINT64_MAX)
		say_failure(plan.form->name,
			    "the sum of the RAM blocks does not fit in 64 bits; give smaller sizes");
}

/* @ram_mr and @ram_bytes count the RAM. */
static void qemu_add_limits(struct plan_part *part, __int128 ram_mr, __int128 ram_bytes)
{
	/* 1 if a second context exists for the way back. */
	PLAN_NAME(part, back, postcopy);
	const struct plan_queues queues = {
		.cqs = 2 + 2 * back, .cqe = 3 * 512, .qps = 1 + back,
		.send_wr = 512, .send_sge = 1, .recv_wr = 3, .recv_sge = 1,
	};

	PLAN_LIMIT(part, hca_handle, instances,
		   "librdmacm opens the device once in a process, even with a way back");
	PLAN_FIGURE(part, pd, instances * (2 + back),
		    "the PD of librdmacm, ucma_get_device(); " QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(part, cq, instances * (2 + 2 * back), QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(part, qp, instances * (1 + back), QEMU_FILE "qemu_rdma_alloc_qp()");
	PLAN_FIGURE(part, comp_channel, instances * (2 + 2 * back),
		    QEMU_FILE "qemu_rdma_alloc_pd_cq(); no hca_object");
	PLAN_FIGURE(part, cm_id, instances * (2 + back),
		    "for a destination, of which 1 listens; a source needs 1 less: " QEMU_FILE
		    "qemu_rdma_dest_init(); no hca_object");
	PLAN_LIMIT(part, mr, instances * (3 + 3 * back + ram_mr), QEMU_CONTROL);
	PLAN_LIMIT(part, hca_object, instances * (8 + 7 * back + ram_mr),
		   "2 PD, 2 CQ, 1 QP, 3 MR; 1 PD, 2 CQ, 1 QP, 3 MR for the way back; and the MRs of the RAM: "
		   QEMU_FILE "rdma_start_outgoing_migration()");
	PLAN_NAME(part, rings, plan_add_rings(part, &queues));
	PLAN_STEP(part, control_bytes, (524288 / 4096 + 1) * 4096,
		  "a control buffer of 512 KiB, RDMA_CONTROL_MAX_BUFFER, which is not aligned to a page: "
		  QEMU_FILE "RDMAWorkRequestData");
	PLAN_LIMIT(part, mr_mem,
		   instances * ((3 + 3 * back) * control_bytes + ram_bytes + rings),
		   "whole pages: control buffers, RAM that has an MR, and queues of the driver");
}

static void qemu_add(void)
{
	struct plan_part *part = plan_add_part("Source and destination, each: %s%s",
					       pin_all ? "rdma-pin-all" : "dynamic registration",
					       postcopy ? ", with a way back" : "");
	__int128 sent_chunks = 0, sent_bytes = 0;

	qemu_get_blocks();
	qemu_count(part, &sent_chunks, &sent_bytes);
	if (!pin_all && !plan_text("ram"))
		plan_add_note(part,
			      "These limits are enough for each guest. A MiB that always was zero needs no MR; see --zero.");
	if (qemu_blocks.nr_local)
		plan_add_note(part,
			      "%zu RAM blocks without a name do not count, because QEMU does not migrate them.",
			      qemu_blocks.nr_local);
	plan_add_note(part, "A waiting destination uses 1 hca_handle and 1 hca_object.");

	PLAN_NAME(part, blocks, qemu_blocks.count);
	PLAN_NAME(part, chunks, sent_chunks);
	PLAN_NAME(part, ram_bytes, sent_bytes);
	__int128 ram_mr = pin_all ? PLAN_OF_KEY(part, FIGURE, "ram_mr", blocks, QEMU_PINNED) :
				    PLAN_OF_KEY(part, FIGURE, "ram_mr", chunks, QEMU_CHUNKS);

	qemu_add_limits(part, ram_mr, ram_bytes);
}

const struct plan_form qemu_form = {
	.name = "plan qemu",
	.doc = "Limits for one side of QEMU's migration over RDMA.", .args_doc = "[SIZE...]",
	.read = "QEMU at 58deb358c6, migration/rdma.c; the tests migrate with 7.2 on Soft-RoCE",
	.inputs = qemu_inputs, .has_limits = true, .has_memory = true, .add = qemu_add,
};
