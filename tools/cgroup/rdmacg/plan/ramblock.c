// SPDX-License-Identifier: GPL-2.0
/*
 * The text of QEMU's "info ramblock" (util: ram_block_format()), from a monitor or a file:
 *
 *               Block Name    PSize              Offset               Used              Total
 *                   pc.ram    4 KiB  0x0000000000000000 0x0000000004000000 0x0000000004000000
 *
 * From 8.0 on, "HVA" and "RO" follow. A name may hold blanks, so a line is read from its end.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/message.h"
#include "plan/qemu.h"

/* QEMU's idstr has 256 bytes. */
#define PLAN_BLOCK_NAME	255
/* So much of a line that is wrong is shown. */
#define PLAN_SHOWN	100

/* A text with an end instead of a NUL. */
struct plan_line {
	const char *text;
	size_t length;
};

void plan_add_block(struct plan_blocks *blocks, const char *name, size_t length, uint64_t used)
{
	struct plan_block *block;

	blocks->block = memory_grow(blocks->block, blocks->count, sizeof(*blocks->block));
	block = &blocks->block[blocks->count++];
	block->name = memory_format("%.*s", (int)length, name);
	block->used = used;
}

void plan_free_blocks(struct plan_blocks *blocks)
{
	size_t i;

	for (i = 0; i < blocks->count; i++)
		free(blocks->block[i].name);
	free(blocks->block);
}

static bool plan_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void plan_trim(struct plan_line *line)
{
	while (line->length && plan_is_blank(line->text[line->length - 1]))
		line->length--;
	while (line->length && plan_is_blank(*line->text)) {
		line->text++;
		line->length--;
	}
}

/* Take the last word off @line. */
static struct plan_line plan_last_word(struct plan_line *line)
{
	struct plan_line word;
	size_t start;

	plan_trim(line);
	start = line->length;
	while (start && !plan_is_blank(line->text[start - 1]))
		start--;
	word.text = line->text + start;
	word.length = line->length - start;
	line->length = start;
	return word;
}

static bool plan_line_is(const struct plan_line *line, const char *text)
{
	return line->length == strlen(text) && !memcmp(line->text, text, line->length);
}

static bool plan_line_starts(const struct plan_line *line, const char *text)
{
	size_t length = strlen(text);

	return line->length >= length && !memcmp(line->text, text, length);
}

/* "0x" and up to 16 hexadecimal digits. */
static bool plan_read_hex(const struct plan_line *word, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	*value = 0;
	if (word->length < 3 || word->length > 18 || memcmp(word->text, "0x", 2))
		return false;
	for (i = 2; i < word->length; i++) {
		const char *digit = memchr(digits, word->text[i], sizeof(digits) - 1);

		if (!digit)
			return false;
		*value = *value << 4 | (uint64_t)(digit - digits);
	}
	return true;
}

/* The page size, "4 KiB" or "2 MiB". It says only that this is a line of a block. */
static bool plan_take_page_size(struct plan_line *line)
{
	struct plan_line unit = plan_last_word(line);
	struct plan_line number = plan_last_word(line);
	size_t i;

	if (!plan_line_is(&unit, "B") && !plan_line_is(&unit, "KiB") &&
	    !plan_line_is(&unit, "MiB") && !plan_line_is(&unit, "GiB"))
		return false;
	for (i = 0; i < number.length; i++) {
		if (number.text[i] < '0' || number.text[i] > '9')
			return false;
	}
	return number.length > 0;
}

/* Printable ASCII, or nothing at all. QEMU lets nobody choose more. */
static bool plan_is_block_name(const struct plan_line *name)
{
	size_t i;

	for (i = 0; i < name->length; i++) {
		if (name->text[i] < ' ' || name->text[i] >= 0x7f)
			return false;
	}
	return name->length <= PLAN_BLOCK_NAME;
}

/* Take all columns off @line; the name is left. */
static bool plan_take_columns(struct plan_line *line, uint64_t *used)
{
	struct plan_line word = plan_last_word(line);
	uint64_t total;
	uint64_t other;

	if (plan_line_is(&word, "ro") || plan_line_is(&word, "rw")) {
		word = plan_last_word(line);
		if (!plan_read_hex(&word, &other))
			return false;
		word = plan_last_word(line);
	}
	if (!plan_read_hex(&word, &total))
		return false;
	word = plan_last_word(line);
	if (!plan_read_hex(&word, used) || *used > total)
		return false;
	word = plan_last_word(line);
	if (!plan_read_hex(&word, &other) || !plan_take_page_size(line))
		return false;
	plan_trim(line);
	return plan_is_block_name(line);
}

static bool plan_is_header(const struct plan_line *line)
{
	return plan_line_starts(line, "Block Name ") &&
		memmem(line->text, line->length, " PSize ", 7) &&
		memmem(line->text, line->length, " Offset ", 8) &&
		memmem(line->text, line->length, " Used ", 6) &&
		memmem(line->text, line->length, " Total", 6);
}

static bool plan_parse_block(const char *where, size_t nr_line, struct plan_line line,
			     struct plan_blocks *blocks)
{
	struct plan_line name = line;
	uint64_t used;

	if (!plan_take_columns(&name, &used)) {
		say_error(where,
			  "line %zu, '%.*s', is no RAM block; give the whole text of 'info ramblock'",
			  nr_line, (int)(line.length < PLAN_SHOWN ? line.length : PLAN_SHOWN),
			  line.text);
		return false;
	}
	if (!name.length) {
		/* vmstate_register_ram() gives names to those that migrate. */
		blocks->nr_local++;
		return true;
	}
	if (blocks->count == PLAN_BLOCKS_MAX) {
		say_error(where, "more than %zu RAM blocks; QEMU cannot migrate so many over RDMA",
			  PLAN_BLOCKS_MAX);
		return false;
	}
	plan_add_block(blocks, name.text, name.length, used);
	return true;
}

/* The next line of @rest, without blanks around it. */
static struct plan_line plan_next_line(struct plan_line *rest)
{
	const char *end = memchr(rest->text, '\n', rest->length);
	struct plan_line line = { rest->text, end ? (size_t)(end - rest->text) : rest->length };

	rest->text += line.length + !!end;
	rest->length -= line.length + !!end;
	plan_trim(&line);
	return line;
}

bool plan_parse_blocks(const char *where, const char *text, size_t length,
		       struct plan_blocks *blocks)
{
	struct plan_line rest = { text, length };
	bool in_table = false;
	size_t nr_line;

	for (nr_line = 1; rest.length; nr_line++) {
		struct plan_line line = plan_next_line(&rest);

		/* A monitor's text has its prompts around the table. */
		if (!in_table) {
			in_table = plan_is_header(&line);
			continue;
		}
		if (!line.length)
			continue;
		if (plan_line_starts(&line, "(qemu)"))
			break;
		if (!plan_parse_block(where, nr_line, line, blocks))
			return false;
	}
	if (!blocks->count)
		say_error(where,
			  "there is no RAM block; give the whole text of 'info ramblock', with its header");
	return blocks->count;
}
