// SPDX-License-Identifier: GPL-2.0
/*
 * The target of libFuzzer is the controller's parser, kernel/cgroup/rdma-parse.c. Each input is the
 * text of one write, which is parsed in the order of rdmacg_write_parse(). The claims are:
 *
 * - The parser and the model agree on a text: on its lines and words, the numbers and the verdict.
 *   The only error of the parser is -EINVAL.
 * - The parser reads and writes no byte after the text (AddressSanitizer).
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

/* The parser has checked that each escape has three digits, and fits in a byte. */
int string_unescape_inplace(char *text, unsigned int flags)
{
	char *from = text, *to = text;

	CHECK(flags == UNESCAPE_OCTAL);
	while (*from) {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		*to++ = (from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0';
		from += 4;
	}
	*to = '\0';
	return to - text;
}

/* Parse the limits of a line. Returns false if there is no limit, or a limit is malformed. */
static bool check_limits(char *line, struct model_text model)
{
	struct model_limit wanted;
	bool has_limit = false;
	const char *key;
	u64 max;

	while (model_next_limit(&model, &wanted)) {
		CHECK(rdmacg_parse_limit(&line, &key, &max) == (wanted.good ? 1 : -EINVAL));
		if (!wanted.good)
			return false;
		CHECK(max == wanted.max && strlen(key) == wanted.key.len &&
		      !memcmp(key, wanted.key.at, wanted.key.len));
		has_limit = true;
	}
	CHECK(!rdmacg_parse_limit(&line, &key, &max) && !*line);
	return has_limit;
}

/* Check the beginning of the line. The parser makes a name empty if no device can have the name. */
static void check_line(const struct rdmacg_line *line, const struct model_line *model)
{
	char shown[MAX_SHOWN];

	model_escape(model->device, shown);
	/* The model truncates a name of 255 or more bytes. */
	if (strlen(model->device) == MAX_NAME - 1 || strlen(shown) >= RDMACG_NAME_SIZE)
		*shown = '\0';
	CHECK(!strcmp(line->name, shown));
	CHECK(line->has_index == model->has_index);
	CHECK(!line->has_index || line->index == model->index);
}

/* Check a text. The parser gets a copy, because the parser cuts its text into pieces. */
static void check_text(const char *text, char *copy)
{
	struct model_text rest = { text, strlen(text) };
	struct model_line model;
	struct rdmacg_line line;

	CHECK(rdmacg_text_is_whole(text) == model_text_is_whole(rest));
	while (model_next_line(&rest, &model)) {
		CHECK(rdmacg_parse_line(&copy, &line) == (model.good ? 1 : -EINVAL));
		if (!model.good)
			return;
		check_line(&line, &model);
		if (!check_limits(line.limits, model.limits))
			return;
	}
	CHECK(!rdmacg_parse_line(&copy, &line) && !*copy);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/*
	 * Ignore the text after a NUL, because the kernel does not parse such a text. Both copies
	 * have exactly their size, so that AddressSanitizer finds a read beyond the end.
	 */
	char *text = strndup((const char *)data, size);
	char *copy = strdup(text);

	check_text(text, copy);
	free(copy);
	free(text);
	return 0;
}
