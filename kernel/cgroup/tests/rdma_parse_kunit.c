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
	{
		.name	= "one key",
		.text	= "rxe0 hca_handle=3",
		.device	= "rxe0",
		.limits	= " hca_handle=3",
	}, {
		.name	= "two keys",
		.text	= "rxe0 hca_handle=3 hca_object=20",
		.device	= "rxe0",
		.limits	= " hca_handle=3 hca_object=20",
	}, {
		.name	= "a key that no device has",
		.text	= "rxe0 q=1",
		.device	= "rxe0",
		.limits	= " q=1",
	}, {
		.name	= "trailing newline",
		.text	= "rxe0 hca_object=1\n",
		.device	= "rxe0",
		.limits	= " hca_object=1",
	}, {
		.name	= "tabs and runs of blanks",
		.text	= "\trxe0 \t hca_object=1 \t",
		.device	= "rxe0",
		.limits	= " hca_object=1",
	}, {
		.name	= "blank lines before and after",
		.text	= "\n\t\nrxe0 hca_object=1\n\n",
		.device	= "rxe0",
		.limits	= " hca_object=1",
	}, {
		.name	= "zero",
		.text	= "rxe0 hca_object=0",
		.device	= "rxe0",
		.limits	= " hca_object=0",
	}, {
		.name	= "leading zeros",
		.text	= "rxe0 hca_object=00000000000000000000007",
		.device	= "rxe0",
		.limits	= " hca_object=7",
	}, {
		.name	= "2^32-1 as runc writes it",
		.text	= "rxe0 hca_object=4294967295",
		.device	= "rxe0",
		.limits	= " hca_object=4294967295",
	}, {
		.name	= "largest limit 2^63-2",
		.text	= "rxe0 hca_object=9223372036854775806",
		.device	= "rxe0",
		.limits	= " hca_object=9223372036854775806",
	}, {
		.name	= "max",
		.text	= "rxe0 hca_handle=max",
		.device	= "rxe0",
		.limits	= " hca_handle=max",
	}, {
		.name	= "max for all",
		.text	= "rxe0 max",
		.device	= "rxe0",
		.limits	= " =max",
	}, {
		.name	= "max for all but one",
		.text	= "rxe0 max hca_object=5",
		.device	= "rxe0",
		.limits	= " =max hca_object=5",
	}, {
		.name	= "a key twice",
		.text	= "rxe0 q=1 q=2",
		.device	= "rxe0",
		.limits	= " q=1 q=2",
	}, {
		.name	= "device whose name holds an equals sign",
		.text	= "a=b hca_object=5",
		.device	= "a=b",
		.limits	= " hca_object=5",
	}, {
		.name	= "device called max",
		.text	= "max max",
		.device	= "max",
		.limits	= " =max",
	}, {
		.name	= "device called default",
		.text	= "default q=1",
		.device	= "default",
		.limits	= " q=1",
	}, {
		.name	= "blank in a name",
		.text	= "rxe\\0400 q=1",
		.device	= "rxe\\0400",
		.limits	= " q=1",
	}, {
		.name	= "backslash in a name",
		.text	= "\\134 q=1",
		.device	= "\\134",
		.limits	= " q=1",
	}, {
		.name	= "byte past ASCII in a name, escaped and not",
		.text	= "\\351\351 q=1",
		.device	= "\\351\\351",
		.limits	= " q=1",
	}, {
		.name	= "escape that is not needed",
		.text	= "\\162xe0 q=1",
		.device	= "rxe0",
		.limits	= " q=1",
	}, {
		.name	= "control characters in a name",
		.text	= "a\001b\\177 q=1",
		.device	= "a\\001b\\177",
		.limits	= " q=1",
	}, {
		.name	= "index after a limit, where it is a key like any other",
		.text	= "rxe0 q=1 index=1",
		.device	= "rxe0",
		.limits	= " q=1 index=1",
	},
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
	{ .name = "escape of two digits", .text = "rxe\\04 q=1" },
	{ .name = "escape of a digit past 7", .text = "rxe\\048 q=1" },
	{ .name = "escape past a byte", .text = "rxe\\400 q=1" },
	{ .name = "escaped NUL", .text = "rxe\\000 q=1" },
	{ .name = "lone backslash", .text = "rxe\\ q=1" },
	{ .name = "letter behind a backslash", .text = "rxe\\n q=1" },
	{ .name = "key without value", .text = "rxe0 hca_handle=" },
	{ .name = "key without equals sign", .text = "rxe0 hca_handle" },
	{ .name = "value without key", .text = "rxe0 =5" },
	{ .name = "lone equals sign", .text = "rxe0 =" },
	{ .name = "blank before the equals sign", .text = "rxe0 hca_handle =5" },
	{ .name = "blank after the equals sign", .text = "rxe0 hca_handle= 5" },
	{ .name = "two equals signs", .text = "rxe0 hca_handle==5" },
	{ .name = "prefix of max", .text = "rxe0 hca_handle=ma" },
	{ .name = "max and more", .text = "rxe0 hca_handle=maxx" },
	{ .name = "max in capitals", .text = "rxe0 hca_handle=MAX" },
	{ .name = "prefix of max for all", .text = "rxe0 ma" },
	{ .name = "negative", .text = "rxe0 hca_handle=-1" },
	{ .name = "plus sign", .text = "rxe0 hca_handle=+1" },
	{ .name = "hexadecimal", .text = "rxe0 hca_handle=0x10" },
	{ .name = "exponent", .text = "rxe0 hca_handle=1e3" },
	{ .name = "fraction", .text = "rxe0 hca_handle=1.5" },
	{ .name = "suffix", .text = "rxe0 hca_handle=5k" },
	{ .name = "good limit, then a bad one", .text = "rxe0 hca_handle=1 bogus" },
	{ .name = "bad limit, then a good one", .text = "rxe0 bogus hca_handle=1" },
	{ .name = "trailing junk", .text = "rxe0 hca_handle=5," },
	{ .name = "carriage return", .text = "rxe0 hca_handle=5\r\n" },
	{ .name = "2^63-1", .text = "rxe0 hca_handle=9223372036854775807" },
	{ .name = "2^64", .text = "rxe0 hca_handle=18446744073709551616" },
	{ .name = "2^64+5, which wraps to 5", .text = "rxe0 hca_handle=18446744073709551621" },
	{ .name = "overlong number", .text = "rxe0 hca_handle=99999999999999999999999999999999" },
	{ .name = "junk for an index", .text = "rxe0 index=x hca_handle=1" },
	{ .name = "empty index", .text = "rxe0 index= hca_handle=1" },
	{ .name = "index of 33 bits", .text = "rxe0 index=4294967296 hca_handle=1" },
	{ .name = "index with a sign", .text = "rxe0 index=+1 hca_handle=1" },
	{ .name = "max for an index", .text = "rxe0 index=max hca_handle=1" },
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

static void rdmacg_test_index_follows_the_name(struct kunit *test)
{
	char *text = rdmacg_copy(test, "rxe0 index=4294967295 hca_handle=1");
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_TRUE(test, line.has_index);
	KUNIT_EXPECT_EQ(test, line.index, U32_MAX);
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, &line), " hca_handle=1");
}

static void rdmacg_test_lines_come_one_by_one(struct kunit *test)
{
	char *text = rdmacg_copy(test, "a hca_handle=1\n\nb hca_object=2\nc max");
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_STREQ(test, line.name, "a");
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, &line), " hca_handle=1");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_STREQ(test, line.name, "b");
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, &line), " hca_object=2");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_STREQ(test, line.name, "c");
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, &line), " =max");
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), 0);
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

static void rdmacg_test_blank_text_holds_no_line(struct kunit *test)
{
	char *empty = rdmacg_copy(test, ""), *blank = rdmacg_copy(test, "\n \t\n\t");
	struct rdmacg_line line;

	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&empty, &line), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&blank, &line), 0);
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

static void rdmacg_test_only_a_limit_is_printed_as_max(struct kunit *test)
{
	struct seq_file sf = { };

	rdmacg_test_init_seq(test, &sf);
	rdmacg_print_limit(&sf, "hca_handle", RDMACG_NO_LIMIT);
	rdmacg_print_value(&sf, "hca_object", ".max", RDMACG_NO_LIMIT);
	KUNIT_EXPECT_STREQ(test, sf.buf,
			   " hca_handle=max hca_object.max=9223372036854775807");
}

static struct kunit_case rdmacg_parse_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_line_is_accepted, rdmacg_line_gen_params),
	KUNIT_CASE_PARAM(rdmacg_test_line_is_refused, rdmacg_refused_gen_params),
	KUNIT_CASE(rdmacg_test_index_follows_the_name),
	KUNIT_CASE(rdmacg_test_lines_come_one_by_one),
	KUNIT_CASE(rdmacg_test_each_name_is_read_as_it_is_shown),
	KUNIT_CASE(rdmacg_test_too_long_name_is_refused),
	KUNIT_CASE(rdmacg_test_blank_text_holds_no_line),
	KUNIT_CASE(rdmacg_test_text_that_was_cut_is_refused),
	KUNIT_CASE(rdmacg_test_only_a_limit_is_printed_as_max),
	{}
};

static struct kunit_suite rdmacg_parse_suite = {
	.name = "cgroup_rdma_parse",
	.test_cases = rdmacg_parse_cases,
};

kunit_test_suite(rdmacg_parse_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's parser");
MODULE_LICENSE("GPL");
