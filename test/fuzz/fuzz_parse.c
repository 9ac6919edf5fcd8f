// SPDX-License-Identifier: GPL-2.0
/*
 * The target of libFuzzer is the controller's parser, kernel/cgroup/rdma-parse.c. Each input is the
 * text of one write, which is parsed in the order of rdmacg_write_parse(). The claims are:
 *
 * - The parser and the model agree on a text: on its lines and words, their places, the numbers and
 * the verdict. The only error of the parser is -EINVAL.
 * - The parser reads and writes no byte behind the text (AddressSanitizer), and cuts words off in
 *   their order.
 * - A valid text stays valid if a valid line is appended, and becomes invalid with an invalid line.
 *
 * KUnit and test/differential test the functions that print.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cgroup_rdma.h>

#include "../../kernel/cgroup/rdma-parse.h"
#include "../model/write.h"

#define CHECK(claim) do { if (!(claim)) fail(#claim, __LINE__); } while (0)

static void fail(const char *claim, int line)
{
	fprintf(stderr, "fuzz_parse.c:%d: does not hold: %s\n", line, claim);
	abort();
}

/* Count each byte, and write only the bytes that fit, as the kernel does. */
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

/* A plus sign, and a newline at the end, are valid, as in the kernel. */
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

/*
 * An escape has one to three digits, as in the kernel. A third digit counts only if the value still
 * fits in a byte.
 */
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

/*
 * Copy both strings into memory of exactly their size, so that AddressSanitizer finds a read beyond
 * the end.
 */
static char *join(const char *first, size_t len, const char *second)
{
	char *text = malloc(len + strlen(second) + 1);

	CHECK(text);
	memcpy(text, first, len);
	memcpy(text + len, second, strlen(second) + 1);
	return text;
}

static bool is_key(const char *key, struct model_text model)
{
	return strlen(key) == model.len && !memcmp(key, model.at, model.len);
}

/* Parse the limits of a line. Returns the number of limits, or -EINVAL. */
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
		count++;
	} while (true);
	CHECK(ret < 0 || !*line);
	return ret ?: count;
}

/* Check the beginning of the line. The parser makes a name empty if no device can have the name. */
static void check_line(const struct rdmacg_line *line, const struct model_line *model)
{
	char name[MAX_NAME], shown[MAX_SHOWN];

	CHECK(model_unescape(model->name, name));
	model_escape(name, shown);
	/* The model truncates a name of 255 bytes and more. */
	if (strlen(name) == MAX_NAME - 1 || strlen(shown) >= RDMACG_NAME_SIZE)
		*shown = '\0';
	CHECK(!strcmp(line->name, shown));
	CHECK(line->has_index == model->has_index);
	CHECK(!line->has_index || line->index == model->index);
}

/*
 * Check a text. Returns the number of its lines, or -EINVAL. The parser gets a copy, because it
 * cuts the text.
 */
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
		ret = check_limits(line.limits, model.limits);
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
	/* Ignore a text with a NUL, because the kernel does not parse such a text. */
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
