// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the text that the RDMA cgroup controller reads and writes.
 */
#include "rdma_kunit.h"

/* A valid line and its meaning. */
struct rdmacg_line_case {
	const char *name;
	const char *text;
	const char *device;
	/* " KEY=VALUE" for each limit. The key that stands for all keys is empty. */
	const char *limits;
};

static const struct rdmacg_line_case rdmacg_line_cases[] = {
	{ "one key", "rxe0 hca_handle=3", "rxe0", " hca_handle=3" },
	{ "two keys", "rxe0 hca_handle=3 hca_object=20", "rxe0", " hca_handle=3 hca_object=20" },
	{ "a key that no device has", "rxe0 q=1", "rxe0", " q=1" },
	{ "trailing newline", "rxe0 hca_object=1\n", "rxe0", " hca_object=1" },
	{ "tabs and runs of blanks", "\trxe0 \t hca_object=1 \t", "rxe0", " hca_object=1" },
	{ "blank lines before and after", "\n\t\nrxe0 hca_object=1\n\n", "rxe0", " hca_object=1" },
	{ "zero", "rxe0 hca_object=0", "rxe0", " hca_object=0" },
	{ "leading zeros", "rxe0 hca_object=00000000000000000000007", "rxe0", " hca_object=7" },
	{ "2^32-1 as runc writes it",
	  "rxe0 hca_object=4294967295", "rxe0", " hca_object=4294967295" },
	{ "largest limit 2^63-2",
	  "rxe0 hca_object=9223372036854775806", "rxe0", " hca_object=9223372036854775806" },
	{ "max", "rxe0 hca_handle=max", "rxe0", " hca_handle=max" },
	{ "max for all", "rxe0 max", "rxe0", " =max" },
	{ "max for all but one", "rxe0 max hca_object=5", "rxe0", " =max hca_object=5" },
	{ "a key twice", "rxe0 q=1 q=2", "rxe0", " q=1 q=2" },
	{ "device whose name holds an equals sign", "a=b hca_object=5", "a=b", " hca_object=5" },
	{ "device called max", "max max", "max", " =max" },
	{ "device called default", "default q=1", "default", " q=1" },
	{ "blank in a name", "rxe\\0400 q=1", "rxe\\0400", " q=1" },
	{ "backslash in a name", "\\134 q=1", "\\134", " q=1" },
	{ "byte past ASCII in a name, escaped and not", "\\351\351 q=1", "\\351\\351", " q=1" },
	{ "escape that is not needed", "\\162xe0 q=1", "rxe0", " q=1" },
	{ "control characters in a name", "a\001b\\177 q=1", "a\\001b\\177", " q=1" },
	{ "index after a limit, where it is a key like any other",
	  "rxe0 q=1 index=1", "rxe0", " q=1 index=1" },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_line, rdmacg_line_cases, name);

/* Returns a copy of a text, because the parser changes its text. */
static char *rdmacg_copy(struct kunit *test, const char *text)
{
	char *copy = kunit_kstrdup(test, text, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	return copy;
}

/* Returns the limits of a line in the form of the files. */
static const char *rdmacg_limits(struct kunit *test, struct rdmacg_line *line)
{
	struct seq_file sf = { };
	const char *key;
	u64 max;
	int ret;

	rdmacg_test_init_seq(test, &sf);
	while ((ret = rdmacg_parse_limit(&line->limits, &key, &max)) > 0)
		rdmacg_print_limit(&sf, key, max);
	KUNIT_EXPECT_EQ(test, ret, 0);
	return sf.buf;
}

static void rdmacg_test_line_is_accepted(struct kunit *test)
{
	const struct rdmacg_line_case *param = test->param_value;
	char *text = rdmacg_copy(test, param->text);
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_STREQ(test, line.name, param->device);
	KUNIT_EXPECT_FALSE(test, line.has_index);
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, &line), param->limits);
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), 0);
}

struct rdmacg_refused_case {
	const char *name;
	const char *text;
};

static const struct rdmacg_refused_case rdmacg_refused_cases[] = {
	{ "escape of two digits", "rxe\\04 q=1" },
	{ "escape of a digit past 7", "rxe\\048 q=1" },
	{ "escape past a byte", "rxe\\400 q=1" },
	{ "escaped NUL", "rxe\\000 q=1" },
	{ "lone backslash", "rxe\\ q=1" },
	{ "letter behind a backslash", "rxe\\n q=1" },
	{ "key without value", "rxe0 hca_handle=" },
	{ "key without equals sign", "rxe0 hca_handle" },
	{ "value without key", "rxe0 =5" },
	{ "lone equals sign", "rxe0 =" },
	{ "blank before the equals sign", "rxe0 hca_handle =5" },
	{ "blank after the equals sign", "rxe0 hca_handle= 5" },
	{ "two equals signs", "rxe0 hca_handle==5" },
	{ "prefix of max", "rxe0 hca_handle=ma" },
	{ "max and more", "rxe0 hca_handle=maxx" },
	{ "max in capitals", "rxe0 hca_handle=MAX" },
	{ "prefix of max for all", "rxe0 ma" },
	{ "negative", "rxe0 hca_handle=-1" },
	{ "plus sign", "rxe0 hca_handle=+1" },
	{ "hexadecimal", "rxe0 hca_handle=0x10" },
	{ "exponent", "rxe0 hca_handle=1e3" },
	{ "fraction", "rxe0 hca_handle=1.5" },
	{ "suffix", "rxe0 hca_handle=5k" },
	{ "good limit, then a bad one", "rxe0 hca_handle=1 bogus" },
	{ "bad limit, then a good one", "rxe0 bogus hca_handle=1" },
	{ "trailing junk", "rxe0 hca_handle=5," },
	{ "carriage return", "rxe0 hca_handle=5\r\n" },
	{ "2^63-1", "rxe0 hca_handle=9223372036854775807" },
	{ "2^64", "rxe0 hca_handle=18446744073709551616" },
	{ "2^64+5, which wraps to 5", "rxe0 hca_handle=18446744073709551621" },
	{ "overlong number", "rxe0 hca_handle=99999999999999999999999999999999" },
	{ "junk for an index", "rxe0 index=x hca_handle=1" },
	{ "empty index", "rxe0 index= hca_handle=1" },
	{ "index of 33 bits", "rxe0 index=4294967296 hca_handle=1" },
	{ "index with a sign", "rxe0 index=+1 hca_handle=1" },
	{ "max for an index", "rxe0 index=max hca_handle=1" },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_refused, rdmacg_refused_cases, name);

static void rdmacg_test_line_is_refused(struct kunit *test)
{
	const struct rdmacg_refused_case *param = test->param_value;
	char *text = rdmacg_copy(test, param->text);
	struct rdmacg_line line;
	const char *key;
	u64 max;
	int ret;

	ret = rdmacg_parse_line(&text, &line);
	while (ret > 0)
		ret = rdmacg_parse_limit(&line.limits, &key, &max);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
}

/* A write accepts each name in the form in which the files show it. */
static void rdmacg_test_each_name_is_read_as_it_is_shown(struct kunit *test)
{
	char name[4] = "a b", shown[RDMACG_NAME_SIZE];
	char text[RDMACG_NAME_SIZE + 8], *next;
	struct rdmacg_line line;
	unsigned int i;

	for (i = 1; i <= U8_MAX; i++) {
		name[1] = i;
		KUNIT_ASSERT_GT(test, rdmacg_escape_name(shown, sizeof(shown), name), 0);
		KUNIT_EXPECT_NULL_MSG(test, strpbrk(shown, " \t\n\r\v\f"), "byte %u", i);
		scnprintf(text, sizeof(text), "%s q=1", shown);
		next = text;
		KUNIT_ASSERT_EQ_MSG(test, rdmacg_parse_line(&next, &line), 1, "byte %u", i);
		KUNIT_EXPECT_STREQ(test, line.name, shown);
	}
}

static void rdmacg_test_too_long_name_is_refused(struct kunit *test)
{
	char long_name[RDMACG_NAME_SIZE + 1] = "";
	struct rdmacg_line line;
	char *text;

	memset(long_name, 'x', RDMACG_NAME_SIZE);
	text = rdmacg_copy(test, long_name);
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_STREQ(test, line.name, "");
	text = rdmacg_copy(test, long_name + 1);
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_EQ(test, strlen(line.name), RDMACG_NAME_SIZE - 1);
}

static void rdmacg_test_text_that_was_cut_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, rdmacg_text_is_whole("rxe0 a=1\n"));
	KUNIT_EXPECT_TRUE(test, rdmacg_text_is_whole("rxe0 a=1"));
	KUNIT_EXPECT_TRUE(test, rdmacg_text_is_whole("rxe0 a=1\nrxe1 a=1\n"));
	KUNIT_EXPECT_TRUE(test, rdmacg_text_is_whole("\nrxe0 a=1\n\n\t\nrxe1 a=1\n\n"));
	KUNIT_EXPECT_FALSE(test, rdmacg_text_is_whole("rxe0 a=1\nrxe1 a=1"));
	KUNIT_EXPECT_FALSE(test, rdmacg_text_is_whole("\nrxe0 a=1"));
	KUNIT_EXPECT_FALSE(test, rdmacg_text_is_whole("rxe0 a=1\n "));
}

static struct kunit_case rdmacg_parse_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_line_is_accepted, rdmacg_line_gen_params),
	KUNIT_CASE_PARAM(rdmacg_test_line_is_refused, rdmacg_refused_gen_params),
	KUNIT_CASE(rdmacg_test_each_name_is_read_as_it_is_shown),
	KUNIT_CASE(rdmacg_test_too_long_name_is_refused),
	KUNIT_CASE(rdmacg_test_text_that_was_cut_is_refused),
	{}
};

static struct kunit_suite rdmacg_parse_suite = {
	.name = "cgroup_rdma_parse",
	.test_cases = rdmacg_parse_cases,
};

kunit_test_suite(rdmacg_parse_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's parser");
MODULE_LICENSE("GPL");
