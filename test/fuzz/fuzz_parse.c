// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's target: the controller's parser, kernel/cgroup/rdma-parse.c. Each input is the text
 * of one write, which is parsed in the order of rdmacg_write_parse(). Claims:
 *
 * - The parser reads what the model reads: the same lines and words at the same places, the same
 *   numbers, the same verdict. Its only error is -EINVAL.
 * - The position only moves forward. After a line's limits, it is at the end of that line. The
 *   parser reads no byte behind the text (AddressSanitizer) and changes none of it.
 * - A valid line that is printed has single blanks, none at the end, and a printable name, and the
 *   parser reads the same line from it. The same holds for a printed key with a suffix.
 * - A valid text stays valid with one more valid line, and not with an invalid one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cgroup_rdma.h>
#include <linux/ctype.h>
#include <linux/string_helpers.h>

#include "../../kernel/cgroup/rdma-parse.h"
#include "../model/write.h"

#define CHECK(claim) do { if (!(claim)) fail(#claim, __LINE__); } while (0)

static void fail(const char *claim, int line)
{
	fprintf(stderr, "fuzz_parse.c:%d: does not hold: %s\n", line, claim);
	abort();
}

void seq_putc(struct seq_file *sf, char c)
{
	CHECK(sf->count < sf->size);
	sf->buf[sf->count++] = c;
}

void seq_puts(struct seq_file *sf, const char *string)
{
	while (*string)
		seq_putc(sf, *string++);
}

void seq_printf(struct seq_file *sf, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	CHECK(vasprintf(&text, format, args) >= 0);
	va_end(args);
	seq_puts(sf, text);
	free(text);
}

/* A byte that does not fit is counted and not written, as in the kernel. */
int string_escape_str(const char *from, char *to, size_t size, unsigned int flags,
		      const char *append)
{
	size_t len = 0, i, count;
	char text[5];

	CHECK(flags == (ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND));
	for (; *from; from++, len += count) {
		count = isprint(*from) && !strchr(append, *from) ?
			sprintf(text, "%c", *from) : sprintf(text, "\\%03o", (unsigned char)*from);
		for (i = 0; i < count; i++)
			if (len + i < size)
				to[len + i] = text[i];
	}
	return len;
}

/* Copy both strings into exactly enough memory, so that reading further is an error. */
static char *join(const char *first, size_t len, const char *second)
{
	char *text = malloc(len + strlen(second) + 1);

	CHECK(text);
	memcpy(text, first, len);
	memcpy(text + len, second, strlen(second) + 1);
	return text;
}

static void print_limit(struct seq_file *sf, struct rdmacg_word word, u64 max)
{
	char *key = join(word.text, word.len, "");

	if (word.len)
		rdmacg_print_limit(sf, key, max);
	else
		seq_puts(sf, max == RDMACG_USE_DEFAULT ? " default" : " max");
	free(key);
}

/* Print the line as the files show it. */
static char *print_line(const struct rdmacg_line *line, const char *limits, size_t size)
{
	struct seq_file sf = { .size = size };
	struct rdmacg_word key;
	char *text;
	u64 max;

	sf.buf = malloc(size);
	CHECK(sf.buf);
	rdmacg_print_device(&sf, line->name, !line->has_index, line->index);
	while (rdmacg_parse_limit(&limits, &key, &max) > 0)
		print_limit(&sf, key, max);
	text = join(sf.buf, sf.count, "");
	free(sf.buf);
	return text;
}

static bool words_are_equal(struct rdmacg_word a, struct rdmacg_word b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

static void check_same_limits(const char *a, const char *b)
{
	struct rdmacg_word a_key, b_key;
	u64 a_max, b_max;
	int ret;

	do {
		ret = rdmacg_parse_limit(&a, &a_key, &a_max);
		CHECK(rdmacg_parse_limit(&b, &b_key, &b_max) == ret);
		CHECK(ret <= 0 || (words_are_equal(a_key, b_key) && a_max == b_max));
	} while (ret > 0);
}

static bool prints(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* A line that is printed, with @len bytes at most, is parsed as the same line. */
static void check_round_trip(const struct rdmacg_line *line, const char *limits, size_t len)
{
	char *text = print_line(line, limits, len + RDMACG_NAME_SIZE + 64);
	const char *at = text;
	struct rdmacg_line again;

	CHECK(!strstr(text, "  ") && !strpbrk(text, "\t\n") && text[strlen(text) - 1] != ' ');
	CHECK(prints(line->name));
	CHECK(rdmacg_parse_line(&at, &again) == 1);
	CHECK(!strcmp(line->name, again.name) && again.has_index == line->has_index);
	CHECK(!line->has_index || again.index == line->index);
	check_same_limits(limits, at);
	free(text);
}

/* " KEY.max=VALUE", which the events files show, is parsed as such. */
static void check_suffix(struct rdmacg_word key, u64 value)
{
	char *name = join(key.text, key.len, "");
	char *name_read = join(key.text, key.len, ".max");
	char *text;
	struct seq_file sf = { .size = key.len + 32 };
	const char *at;
	u64 value_read;

	sf.buf = malloc(sf.size);
	CHECK(sf.buf);
	rdmacg_print_value(&sf, name, ".max", value);
	text = join(sf.buf, sf.count, "");
	at = text;
	CHECK(rdmacg_parse_limit(&at, &key, &value_read) == 1 && !*at);
	CHECK(rdmacg_word_is(key, name_read) && value_read == value);
	free(text);
	free(sf.buf);
	free(name_read);
	free(name);
}

/*
 * Parse the limits of a line. Returns their number, or -EINVAL. @*text is then at the line's end.
 */
static int check_limits(const char **text, struct model_text model)
{
	const char *before = *text, *end = model.at + model.len;
	struct model_limit wanted;
	struct rdmacg_word key;
	int ret, count = 0;
	bool more;
	u64 max;

	do {
		more = model_next_limit(&model, &wanted);
		ret = rdmacg_parse_limit(text, &key, &max);
		CHECK(ret == (more ? wanted.good ? 1 : -EINVAL : 0));
		if (ret <= 0)
			break;
		CHECK(before < *text && *text <= end);
		CHECK(max == wanted.max && key.len == wanted.key.len);
		CHECK(!key.len || key.text == wanted.key.at);
		if (key.len && max != RDMACG_NO_LIMIT)
			check_suffix(key, max);
		before = *text;
		count++;
	} while (true);
	CHECK(ret < 0 || *text == end);
	return ret ?: count;
}

/* The beginning of the line; a name that no device can have is empty. */
static void check_line(const struct rdmacg_line *line, const struct model_line *model)
{
	char name[MAX_NAME], escaped[RDMACG_NAME_SIZE];

	CHECK(model_unescape(model->name, name));
	/* The model truncates a name that is longer than the longest escaped name. */
	rdmacg_escape_name(escaped, sizeof(escaped), name);
	CHECK(!strcmp(line->name, strlen(name) < MAX_NAME - 1 ? escaped : ""));
	CHECK(line->has_index == model->has_index);
	CHECK(!line->has_index || line->index == model->index);
}

/* The number of lines in the text, or -EINVAL. */
static int check_text(const char *text)
{
	const struct model_text all = { text, strlen(text) };
	const char *limits, *end = text + all.len;
	struct model_text rest = all;
	struct model_line model;
	struct rdmacg_line line;
	int ret, lines = 0;
	bool more;

	CHECK(rdmacg_text_is_whole(text) == model_text_is_whole(all));
	do {
		more = model_next_line(&rest, &model);
		ret = rdmacg_parse_line(&text, &line);
		CHECK(ret == (more ? model.good ? 1 : -EINVAL : 0));
		if (ret <= 0)
			break;
		check_line(&line, &model);
		limits = text;
		ret = check_limits(&text, model.limits);
		if (ret <= 0)
			return -EINVAL;
		if (*line.name)
			check_round_trip(&line, limits, text - limits);
		lines++;
	} while (true);
	CHECK(ret < 0 || text == end);
	return ret ?: lines;
}

static int check_longer_text(const char *text, const char *more)
{
	char *longer = join(text, strlen(text), more);
	int ret = check_text(longer);

	free(longer);
	return ret;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/* The kernel does not parse a text with a NUL in it. */
	size_t len = strnlen((const char *)data, size);
	char *text = join((const char *)data, len, "");
	int lines = check_text(text);

	CHECK(!memcmp(text, data, len) && !text[len]);
	if (lines >= 0) {
		CHECK(check_longer_text(text, "\nrxe0 hca_handle=1") == lines + 1);
		CHECK(check_longer_text(text, "\nrxe0 hca_handle=\n") == -EINVAL);
	}
	free(text);
	return 0;
}
