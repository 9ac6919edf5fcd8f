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

/* QEMU numbers blocks with 14 bits in a work request: RDMA_WRID_BLOCK_MASK. */
#define QEMU_BLOCKS	((size_t)1 << 14)
/* QEMU's idstr has 256 bytes. */
#define QEMU_NAME	255
/* Refuse longer lines, which QEMU does not print, because matching them takes a long time. */
#define QEMU_LINE	512

#define QEMU_HEX	"0x[0-9a-f]{1,16}"

#define QEMU_FILE	"migration/rdma.c, "
#define QEMU_PVRDMA	"rdma-core at 2a79cbb4a7, providers/vmw_pvrdma, "

/* The inputs, as the formulas name them. */
static __int128 instances = 1, pin_all, postcopy;
static struct plan_texts ram, zero;
static const char *ramblocks;
/* What QEMU sends, as the formulas name it. */
static __int128 chunks, ram_bytes;

static struct plan_input qemu_inputs[] = {
	{ "instances", &instances, 1, PLAN_MOST,
	  "machines of this kind in the cgroup that migrate at once (1)" },
	{ "ram", .texts = &ram, .arg = "SIZE",
	  .doc = "RAM of a machine of -M pc; several sizes are several blocks, such as DIMMs" },
	{ "ramblocks", .text = &ramblocks, .arg = "FILE",
	  .doc = "a file with the output of 'info ramblock' in the monitor; - is standard input" },
	{ "pin-all", &pin_all, .doc = "the migration has rdma-pin-all" },
	{ "postcopy", &postcopy, .doc = "the migration has postcopy-ram or return-path" },
	{ "zero", .texts = &zero, .arg = "NAME", .doc = "a RAM block that contains only zeros" },
	{ 0 }
};

struct qemu_block {
	const char *name;
	uint64_t used;
	bool is_zero;		/* --zero says that the block has only zeros */
};

/* The blocks of -M pc -nodefaults besides its RAM, from "info ramblock" of 7.2. */
static const struct qemu_block qemu_pc_blocks[] = {
	{ "pc.bios", 256 << 10, false },
	{ "/rom@etc/acpi/tables", 128 << 10, false },
	{ "pc.rom", 128 << 10, true },
	{ "/rom@etc/table-loader", 4 << 10, false },
	{ "/rom@etc/acpi/rsdp", 4 << 10, false },
};

/* The RAM blocks of the machine. */
static struct {
	struct qemu_block *block;
	size_t count;
} qemu;

enum { QEMU_NAME_AT = 1, QEMU_USED_AT = 4, QEMU_TOTAL_AT, QEMU_NR_MATCHES };

/*
 * The text of QEMU's "info ramblock" (util: ram_block_format()), from a monitor or a file:
 *
 *               Block Name    PSize              Offset               Used              Total
 *                   pc.ram    4 KiB  0x0000000000000000 0x0000000004000000 0x0000000004000000
 *
 * From 8.0 on, the columns "HVA" and "RO" follow. A name may contain blanks.
 * QEMU accepts only a name of printable ASCII, or an empty name.
 */
static const char qemu_block_pattern[] =
	"^ *([!-~]([ -~]*[!-~])?)? +[0-9]+ +(B|KiB|MiB|GiB) +" QEMU_HEX " +(" QEMU_HEX ") +("
	QEMU_HEX ")( +" QEMU_HEX " +(ro|rw))? *$";

/* Parse a block of the table. Returns false if @line is not a block. */
static bool qemu_parse_block(const char *line)
{
	static regex_t pattern;
	regmatch_t match[QEMU_NR_MATCHES];
	const regmatch_t *name = &match[QEMU_NAME_AT];
	uint64_t used;
	int length;

	if (!pattern.re_nsub && regcomp(&pattern, qemu_block_pattern, REG_EXTENDED))
		abort();
	if (strlen(line) > QEMU_LINE || regexec(&pattern, line, QEMU_NR_MATCHES, match, 0))
		return false;
	length = name->rm_eo - name->rm_so;
	used = strtoumax(line + match[QEMU_USED_AT].rm_so, NULL, 16);
	if (length > QEMU_NAME || used > strtoumax(line + match[QEMU_TOTAL_AT].rm_so, NULL, 16))
		return false;
	/* A block without a name does not migrate: vmstate_register_ram() gives the name. */
	if (length)
		*memory_append(qemu.block, qemu.count) = (struct qemu_block){
			.name = memory_format("%.*s", length, line + name->rm_so), .used = used,
		};
	return true;
}

/* The text of a monitor has prompts before and after the table. */
static bool qemu_parse_blocks(const char *where, char *text)
{
	char *line, *start;
	bool in_table = false;
	size_t number;

	for (number = 1; (line = strsep(&text, "\n")); number++) {
		for (start = line; (start = strpbrk(start, "\t\r"));)
			*start = ' ';
		start = line + strspn(line, " ");
		if (!in_table || !*start) {
			in_table |= !strncmp(start, "Block Name ", strlen("Block Name "));
			continue;
		}
		if (!strncmp(start, "(qemu)", strlen("(qemu)")))
			break;
		if (!qemu_parse_block(line))
			return say_error(where,
					 "line %zu, '%.100s', is not a RAM block; give the whole text of 'info ramblock'",
					 number, start);
		if (qemu.count > QEMU_BLOCKS)
			return say_error(where,
					 "more than %zu RAM blocks; QEMU cannot migrate so many over RDMA",
					 QEMU_BLOCKS);
	}
	return qemu.count ||
	       say_error(where,
			 "there is no RAM block; give the whole text of 'info ramblock', with its header");
}

static void qemu_add_ram(const char *text)
{
	*memory_append(qemu.block, qemu.count) = (struct qemu_block){
		.name = "ram", .used = plan_parse_number("--ram", text, QEMU_CHUNK, NUMBER_LARGEST),
	};
}

/* Get the blocks of --ramblocks, or of --ram and of a PC. A word is a size, as with --ram. */
static void qemu_get_blocks(void)
{
	char *text __autofree = NULL;
	size_t i, j;

	if ((!ram.count && !*plan.words) == !ramblocks)
		options_fail(plan.form->name, "give either sizes of RAM or --ramblocks");
	if (ramblocks) {
		text = file_read(AT_FDCWD, ramblocks);
		if (!text)
			say_failure(ramblocks, "%s; give a file with the text of 'info ramblock'",
				    strerror(errno));
		if (!qemu_parse_blocks(ramblocks, text))
			exit(EXIT_FAILED);
	}
	for (i = 0; i < ram.count; i++)
		qemu_add_ram(ram.text[i]);
	while (*plan.words)
		qemu_add_ram(*plan.words++);
	for (i = 0; !ramblocks && i < ARRAY_SIZE(qemu_pc_blocks); i++)
		*memory_append(qemu.block, qemu.count) = qemu_pc_blocks[i];
	for (i = 0; i < zero.count; i++) {
		for (j = 0; j < qemu.count; j++)
			if (!strcmp(qemu.block[j].name, zero.text[i]))
				break;
		if (j == qemu.count)
			say_failure(zero.text[i],
				    "there is no such RAM block; give a name from 'info ramblock'");
		qemu.block[j].is_zero = true;
	}
}

/* Count the chunks and bytes that QEMU sends. A block of zeros is sent only with --pin-all. */
static void qemu_count(void)
{
	const struct qemu_block *block;

	for (block = qemu.block; block < qemu.block + qemu.count; block++) {
		__int128 more = div_up(block->used, QEMU_CHUNK);
		bool is_sent = pin_all || !block->is_zero;

		if (plan.explain)
			plan_notice("%s: %" PRIu64 " bytes, %" PRIu64 " chunks%s",
				    block->name, block->used, (uint64_t)more,
				    is_sent ? "" : ", only zeros: none is sent");
		chunks += is_sent ? more : 0;
		ram_bytes += is_sent ? div_up(block->used, QEMU_PAGE) * QEMU_PAGE : 0;
	}
	if (ram_bytes > UINT64_MAX)
		say_failure(plan.form->name,
			    "the sum of the RAM blocks does not fit in 64 bits; give smaller sizes");
	PLAN_OF_KEY(NAME, "chunks", chunks, NULL);
	PLAN_OF_KEY(NAME, "ram_bytes", ram_bytes, NULL);
}

/* Add the queues of vmw_pvrdma. @back is 1 if there is a way back. */
static __int128 qemu_add_rings(__int128 back)
{
	PLAN_NAME(page, QEMU_PAGE);
	PLAN_NAME(cqs, 2 + 2 * back);
	PLAN_NAME(cqe, 3 * 512);
	PLAN_NAME(qps, 1 + back);
	PLAN_NAME(send_wr, 512);
	PLAN_NAME(send_sge, 1);
	PLAN_NAME(recv_wr, 3);
	PLAN_NAME(recv_sge, 1);
	PLAN_STEP(cq_bytes, (1 + div_up(pow2(cqe) * 64, page)) * page,
		  QEMU_PVRDMA "cq.c, pvrdma_create_cq()");
	PLAN_STEP(send_bytes,
		  (1 + div_up(pow2(send_wr) * pow2(80 + 16 * pow2(send_sge)), page)) * page,
		  QEMU_PVRDMA "qp.c, pvrdma_create_qp()");
	PLAN_STEP(recv_bytes, div_up(pow2(recv_wr) * pow2(16 + 16 * pow2(recv_sge)), page) * page,
		  QEMU_PVRDMA "qp.c, pvrdma_create_qp()");
	PLAN_STEP(queue_bytes, cqs * cq_bytes + qps * (send_bytes + recv_bytes),
		  "the queues of a process, in user memory of vmw_pvrdma");
	return queue_bytes;
}

static void qemu_add(void)
{
	__int128 ram_mr;

	plan_add_part(memory_format("Source and destination, each: %s%s",
				    pin_all ? "rdma-pin-all" : "dynamic registration",
				    postcopy ? ", with a way back" : ""));
	qemu_get_blocks();
	qemu_count();
	if (!pin_all && ramblocks)
		plan_notice("These limits are enough for each guest. A MiB that always was zero needs no MR; see --zero.");
	plan_notice("A waiting destination uses 1 hca_handle and 1 hca_object.");
	PLAN_NAME(blocks, qemu.count);
	if (pin_all)
		PLAN_SET(FIGURE, ram_mr, blocks,
			 "an MR for each RAM block: " QEMU_FILE "qemu_rdma_reg_whole_ram_blocks()");
	else
		PLAN_SET(FIGURE, ram_mr, chunks, "an MR for each MiB that was ever sent: " QEMU_FILE
			 "qemu_rdma_register_and_get_keys()");
	PLAN_NAME(back, postcopy);
	PLAN_LIMIT(hca_handle, instances,
		   "librdmacm opens the device once in a process, even with a way back");
	PLAN_FIGURE(pd, instances * (2 + back),
		    "the PD of librdmacm, ucma_get_device(); " QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(cq, instances * (2 + 2 * back), QEMU_FILE "qemu_rdma_alloc_pd_cq()");
	PLAN_FIGURE(qp, instances * (1 + back), QEMU_FILE "qemu_rdma_alloc_qp()");
	PLAN_FIGURE(comp_channel, instances * (2 + 2 * back),
		    QEMU_FILE "qemu_rdma_alloc_pd_cq(); no hca_object");
	PLAN_FIGURE(cm_id, instances * (2 + back),
		    "for a destination, of which 1 listens; a source needs 1 less: " QEMU_FILE
		    "qemu_rdma_dest_init(); no hca_object");
	PLAN_LIMIT(mr, instances * (3 + 3 * back + ram_mr),
		   "3 control buffers, RDMA_WRID_MAX: " QEMU_FILE "qemu_rdma_reg_control()");
	PLAN_LIMIT(hca_object, instances * (8 + 7 * back + ram_mr),
		   "2 PD, 2 CQ, 1 QP, 3 MR; 1 PD, 2 CQ, 1 QP, 3 MR for the way back; and the MRs of the RAM: "
		   QEMU_FILE "rdma_start_outgoing_migration()");
	PLAN_NAME(rings, plan_has_driver("vmw_pvrdma") ? qemu_add_rings(back) : 0);
	PLAN_STEP(control_bytes, (524288 / 4096 + 1) * 4096,
		  "a control buffer of 512 KiB, RDMA_CONTROL_MAX_BUFFER, which is not aligned to a page: "
		  QEMU_FILE "RDMAWorkRequestData");
	PLAN_LIMIT(mr_mem, instances * ((3 + 3 * back) * control_bytes + ram_bytes + rings),
		   "whole pages: control buffers, RAM that has an MR, and queues of the driver");
}

const struct plan_form qemu_form = {
	.name = "plan qemu",
	.example = "rdmacg plan qemu 16G",
	.doc = "Limits for one side of QEMU's migration over RDMA.", .args_doc = "[SIZE...]",
	.read = "QEMU at 58deb358c6, migration/rdma.c; the tests migrate with 7.2 on Soft-RoCE",
	.inputs = qemu_inputs, .has_limits = true, .has_memory = true, .add = qemu_add,
};
