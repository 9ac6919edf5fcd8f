// SPDX-License-Identifier: GPL-2.0
/*
 * The text of QEMU's "info ramblock" (util: ram_block_format()), from a monitor or a file:
 *
 *               Block Name    PSize              Offset               Used              Total
 *                   pc.ram    4 KiB  0x0000000000000000 0x0000000004000000 0x0000000004000000
 *
 * From 8.0 on, the columns "HVA" and "RO" follow. A name may contain blanks.
 */
#include <regex.h>

#include "plan/plan.h"

/* QEMU's idstr has 256 bytes. */
#define PLAN_BLOCK_NAME	255
/* Refuse longer lines, which QEMU does not print, because matching them takes a long time. */
#define PLAN_LINE	512

#define PLAN_HEX	"0x[0-9a-f]{1,16}"

enum { PLAN_NAME_AT = 1, PLAN_USED_AT = 4, PLAN_TOTAL_AT, PLAN_NR_MATCHES };

/* QEMU accepts only a name of printable ASCII, or an empty name. */
static const char plan_block_pattern[] =
	"^ *([!-~]([ -~]*[!-~])?)? +[0-9]+ +(B|KiB|MiB|GiB) +" PLAN_HEX " +(" PLAN_HEX ") +("
	PLAN_HEX ")( +" PLAN_HEX " +(ro|rw))? *$";

/* Parse a block of the table. Returns false if @line is not a block. */
static bool plan_parse_block(const char *line, struct plan_blocks *blocks)
{
	static regex_t pattern;
	regmatch_t match[PLAN_NR_MATCHES];
	const regmatch_t *name = &match[PLAN_NAME_AT];
	uint64_t used;
	int length;

	if (!pattern.re_nsub && regcomp(&pattern, plan_block_pattern, REG_EXTENDED))
		abort();
	if (strlen(line) > PLAN_LINE || regexec(&pattern, line, PLAN_NR_MATCHES, match, 0))
		return false;
	length = name->rm_eo - name->rm_so;
	used = strtoumax(line + match[PLAN_USED_AT].rm_so, NULL, 16);
	if (length > PLAN_BLOCK_NAME ||
	    used > strtoumax(line + match[PLAN_TOTAL_AT].rm_so, NULL, 16))
		return false;
	/* A block without a name does not migrate: vmstate_register_ram() gives the name. */
	if (length)
		*memory_append(blocks->block, blocks->count) = (struct plan_block){
			.name = memory_format("%.*s", length, line + name->rm_so), .used = used,
		};
	else
		blocks->nr_local++;
	return true;
}

/* The text of a monitor has prompts before and after the table. */
bool plan_parse_blocks(const char *where, const char *text, struct plan_blocks *blocks)
{
	char *copy __autofree = memory_string(text);
	char *rest = copy, *line, *start;
	bool in_table = false;
	size_t number;

	for (number = 1; (line = strsep(&rest, "\n")); number++) {
		for (start = line; (start = strpbrk(start, "\t\r"));)
			*start = ' ';
		start = line + strspn(line, " ");
		if (!in_table || !*start) {
			in_table |= !strncmp(start, "Block Name ", strlen("Block Name "));
			continue;
		}
		if (!strncmp(start, "(qemu)", strlen("(qemu)")))
			break;
		if (!plan_parse_block(line, blocks))
			return say_error(where,
					 "line %zu, '%.100s', is not a RAM block; give the whole text of 'info ramblock'",
					 number, start);
		if (blocks->count > PLAN_BLOCKS_MAX)
			return say_error(where,
					 "more than %zu RAM blocks; QEMU cannot migrate so many over RDMA",
					 PLAN_BLOCKS_MAX);
	}
	return blocks->count ||
	       say_error(where,
			 "there is no RAM block; give the whole text of 'info ramblock', with its header");
}
