// SPDX-License-Identifier: GPL-2.0
/*
 * The target of libFuzzer is the controller's parser, kernel/cgroup/rdma-parse.c. Each input is the
 * text of one write, which is parsed in the order of rdmacg_write_parse(). The claims are:
 *
 * - Each text ends in success or -EINVAL, and names, keys and limits are in
 *   their bounds. rdma_parse_kunit.c tests which texts are accepted.
 * - The parser reads and writes no byte after the text (AddressSanitizer).
 *
 * KUnit tests the functions that print.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cgroup_rdma.h>

#include "../../kernel/cgroup/rdma-parse.h"

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
static bool check_limits(char *line)
{
	bool has_limit = false;
	const char *key;
	u64 max;
	int ret;

	while ((ret = rdmacg_parse_limit(&line, &key, &max)) > 0) {
		CHECK(ret == 1 && (max <= RDMACG_NO_LIMIT || max == RDMACG_USE_DEFAULT));
		CHECK(!strpbrk(key, " \t\n="));
		has_limit = true;
	}
	CHECK(ret == -EINVAL || (!ret && !*line));
	return !ret && has_limit;
}

/* Check a text. The parser cuts it into pieces. */
static void check_text(char *text)
{
	struct rdmacg_line line;
	int ret = 1;

	rdmacg_text_is_whole(text);
	while (ret > 0) {
		ret = rdmacg_parse_line(&text, &line);
		if (ret <= 0)
			break;
		CHECK(ret == 1 && strlen(line.name) < RDMACG_NAME_SIZE);
		if (!check_limits(line.limits))
			return;
	}
	CHECK(ret == -EINVAL || !*text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/*
	 * Ignore the text after a NUL, because the kernel does not parse such a
	 * text. The text has exactly its size, so that AddressSanitizer finds a
	 * read beyond the end.
	 */
	char *copy = strndup((const char *)data, size), *text = strdup(copy);

	check_text(text);
	free(copy);
	free(text);
	return 0;
}
