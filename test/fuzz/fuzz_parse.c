// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's target: the controller's parser, kernel/cgroup/rdma-parse.c. Each input is the text
 * of one write, which is parsed in the order of rdmacg_write_parse(). Claims:
 *
 * - The parser reads what the model reads: the same lines and words at the same places, the same
 *   numbers, the same verdict. Its only error is -EINVAL.
 * - The parser reads and writes no byte behind the text (AddressSanitizer), and cuts words off in
 *   their order.
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
#include <linux/kstrtox.h>
#include <linux/string.h>
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

/* As in the kernel, a sign and a newline at the end are valid. */
int kstrtou64(const char *text, unsigned int base, u64 *number)
{
	char *end;

	CHECK(base == 10);
	text += *text == '+';
	if (!isdigit(*text))
		return -EINVAL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	end += *end == '\n';
	return *end ? -EINVAL : -errno;
}

int kstrtou32(const char *text, unsigned int base, u32 *number)
{
	u64 n;
	int ret = kstrtou64(text, base, &n);

	if (!ret && n > U32_MAX)
		ret = -ERANGE;
	if (!ret)
		*number = n;
	return ret;
}

/* As in the kernel: one to three digits, of which the third is left out if the byte is full. */
int string_unescape_inplace(char *text, unsigned int flags)
{
	char *from = text, *to = text;
	unsigned int byte, digits;

	CHECK(flags == UNESCAPE_OCTAL);
	while (*from) {
		if (from[0] != '\\' || from[1] < '0' || from[1] > '7') {
			*to++ = *from++;
			continue;
		}
		from++;
		for (byte = 0, digits = 0; digits < 3 && byte < 32 && *from >= '0' && *from <= '7';
		     digits++)
			byte = byte * 8 + *from++ - '0';
		*to++ = byte;
	}
	*to = '\0';
	return to - text;
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

static void print_limit(struct seq_file *sf, const char *key, u64 max)
{
	if (*key)
		rdmacg_print_limit(sf, key, max);
	else
		seq_puts(sf, max == RDMACG_USE_DEFAULT ? " default" : " max");
}

/* Print the line as the files show it. */
static char *print_line(const struct rdmacg_line *line, const char *limits, size_t size)
{
	char *copy = join(limits, strlen(limits), ""), *rest = copy, *text;
	struct seq_file sf = { .size = size };
	const char *key;
	u64 max;

	sf.buf = malloc(size);
	CHECK(sf.buf);
	seq_puts(&sf, line->name);
	if (line->has_index)
		seq_printf(&sf, " index=%u", line->index);
	while (rdmacg_parse_limit(&rest, &key, &max) > 0)
		print_limit(&sf, key, max);
	text = join(sf.buf, sf.count, "");
	free(sf.buf);
	free(copy);
	return text;
}

static void check_same_limits(char *a, char *b)
{
	const char *a_key, *b_key;
	u64 a_max, b_max;
	int ret;

	do {
		ret = rdmacg_parse_limit(&a, &a_key, &a_max);
		CHECK(rdmacg_parse_limit(&b, &b_key, &b_max) == ret);
		CHECK(ret <= 0 || (!strcmp(a_key, b_key) && a_max == b_max));
	} while (ret > 0);
}

static bool prints(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* A line that is printed is parsed as the same line. */
static void check_round_trip(const struct rdmacg_line *line, char *limits)
{
	char *text = print_line(line, limits, strlen(limits) + RDMACG_NAME_SIZE + 64);
	struct rdmacg_line again;
	char *at = text;

	CHECK(!strstr(text, "  ") && !strpbrk(text, "\t\n") && text[strlen(text) - 1] != ' ');
	CHECK(prints(line->name));
	CHECK(rdmacg_parse_line(&at, &again) == 1 && !*at);
	CHECK(!strcmp(line->name, again.name) && again.has_index == line->has_index);
	CHECK(!line->has_index || again.index == line->index);
	check_same_limits(limits, again.limits);
	free(text);
}

/* " KEY.max=VALUE", which the events files show, is parsed as such. */
static void check_suffix(const char *key, u64 value)
{
	char *key_read = join(key, strlen(key), ".max");
	struct seq_file sf = { .size = strlen(key) + 32 };
	char *text, *at;
	u64 value_read;

	sf.buf = malloc(sf.size);
	CHECK(sf.buf);
	rdmacg_print_value(&sf, key, ".max", value);
	text = join(sf.buf, sf.count, "");
	at = text;
	CHECK(rdmacg_parse_limit(&at, &key, &value_read) == 1 && !*at);
	CHECK(!strcmp(key, key_read) && value_read == value);
	free(text);
	free(sf.buf);
	free(key_read);
}

static bool is_key(const char *key, struct model_text model)
{
	return strlen(key) == model.len && !memcmp(key, model.at, model.len);
}

/* Parse the limits of a line. Returns their number, or -EINVAL. */
static int check_limits(char *line, struct model_text model)
{
	struct model_limit wanted;
	int ret, count = 0;
	const char *key;
	bool more;
	u64 max;

	do {
		more = model_next_limit(&model, &wanted);
		ret = rdmacg_parse_limit(&line, &key, &max);
		CHECK(ret == (more ? wanted.good ? 1 : -EINVAL : 0));
		if (ret <= 0)
			break;
		CHECK(max == wanted.max && is_key(key, wanted.key));
		if (*key && max != RDMACG_NO_LIMIT)
			check_suffix(key, max);
		count++;
	} while (true);
	CHECK(ret < 0 || !*line);
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

/* Parse a line's limits twice: for the model, and for the text that is printed. */
static int check_line_limits(const struct rdmacg_line *line, struct model_text model)
{
	char *copy = join(line->limits, strlen(line->limits), "");
	int ret = check_limits(line->limits, model);

	if (ret > 0 && *line->name)
		check_round_trip(line, copy);
	free(copy);
	return ret;
}

/* The number of lines in the text, or -EINVAL. The parser cuts a copy. */
static int check_text(const char *text)
{
	const struct model_text all = { text, strlen(text) };
	char *copy = join(text, all.len, ""), *at = copy;
	struct model_text rest = all;
	struct model_line model;
	struct rdmacg_line line;
	int ret, lines = 0;
	bool more;

	CHECK(rdmacg_text_is_whole(text) == model_text_is_whole(all));
	do {
		more = model_next_line(&rest, &model);
		ret = rdmacg_parse_line(&at, &line);
		CHECK(ret == (more ? model.good ? 1 : -EINVAL : 0));
		if (ret <= 0)
			break;
		check_line(&line, &model);
		ret = check_line_limits(&line, model.limits);
		if (ret <= 0) {
			ret = -EINVAL;
			break;
		}
		lines++;
	} while (true);
	CHECK(ret < 0 || !*at);
	free(copy);
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

	if (lines >= 0) {
		CHECK(check_longer_text(text, "\nrxe0 hca_handle=1") == lines + 1);
		CHECK(check_longer_text(text, "\nrxe0 hca_handle=\n") == -EINVAL);
	}
	free(text);
	return 0;
}
