// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the text that the RDMA cgroup controller reads and writes.
 */
#include "rdma_kunit.h"

/* A line that is accepted, and what it means. */
struct rdmacg_line_case {
	const char *name;
	const char *text;
	const char *device;
	/* " KEY=VALUE" for each limit; the key that stands for all is empty. */
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
		.name	= "index after a limit, where it is a key like any other",
		.text	= "rxe0 q=1 index=1",
		.device	= "rxe0",
		.limits	= " q=1 index=1",
	},
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_line, rdmacg_line_cases, name);

/* The limits of a line as the files show them. */
static const char *rdmacg_limits(struct kunit *test, const char *limits)
{
	struct seq_file sf = { };
	struct rdmacg_word word;
	char key[32];
	u64 max;

	rdmacg_test_init_seq(test, &sf);
	while (rdmacg_parse_limit(&limits, &word, &max) > 0) {
		KUNIT_ASSERT_LT(test, word.len, sizeof(key));
		memcpy(key, word.text, word.len);
		key[word.len] = '\0';
		rdmacg_print_limit(&sf, key, max);
	}
	return sf.buf;
}

static void rdmacg_test_line_is_accepted(struct kunit *test)
{
	const struct rdmacg_line_case *param = test->param_value;
	const char *text = param->text;
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_ASSERT_EQ(test, line.name_len, strlen(param->device));
	KUNIT_EXPECT_MEMEQ(test, line.name, param->device, line.name_len);
	KUNIT_EXPECT_FALSE(test, line.has_index);
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), param->limits);
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), 0);
}

struct rdmacg_refused_case {
	const char *name;
	const char *text;
};

static const struct rdmacg_refused_case rdmacg_refused_cases[] = {
	{ .name = "no key", .text = "rxe0" },
	{ .name = "no key but a newline", .text = "rxe0\n" },
	{ .name = "index but no key", .text = "rxe0 index=1" },
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
	{ .name = "max for an index", .text = "rxe0 index=max hca_handle=1" },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_refused, rdmacg_refused_cases, name);

static void rdmacg_test_line_is_refused(struct kunit *test)
{
	const struct rdmacg_refused_case *param = test->param_value;
	const char *text = param->text;
	struct rdmacg_line line;

	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), -EINVAL);
}

static void rdmacg_test_index_follows_the_name(struct kunit *test)
{
	const char *text = "rxe0 index=4294967295 hca_handle=1";
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_TRUE(test, line.has_index);
	KUNIT_EXPECT_EQ(test, line.index, U32_MAX);
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " hca_handle=1");
}

static const char rdmacg_three_lines[] = "a hca_handle=1\n\nb hca_object=2\nc max";

static void rdmacg_test_lines_come_one_by_one(struct kunit *test)
{
	const char *text = rdmacg_three_lines;
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'a');
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " hca_handle=1");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'b');
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " hca_object=2");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'c');
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " =max");
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), 0);
}

/* A write parses its text twice, so the parser must not cut it into words. */
static void rdmacg_test_parser_leaves_the_text_as_it_is(struct kunit *test)
{
	char *text = kunit_kzalloc(test, sizeof(rdmacg_three_lines), GFP_KERNEL);
	const char *next = text;
	struct rdmacg_line line;
	unsigned int lines = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memcpy(text, rdmacg_three_lines, sizeof(rdmacg_three_lines));
	while (rdmacg_parse_line(&next, &line) > 0)
		lines++;
	KUNIT_EXPECT_EQ(test, lines, 3);
	KUNIT_EXPECT_STREQ(test, text, rdmacg_three_lines);
}

static void rdmacg_test_blank_text_holds_no_line(struct kunit *test)
{
	const char *empty = "", *blank = "\n \t\n\t";
	struct rdmacg_line line;

	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&empty, &line), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&blank, &line), 0);
}

struct rdmacg_text_case {
	const char *name;
	const char *text;
	int ret;
};

static const struct rdmacg_text_case rdmacg_text_cases[] = {
	{
		.name	= "one line",
		.text	= "rxe0 a=1\n",
	}, {
		.name	= "one line without its newline",
		.text	= "rxe0 a=1",
	}, {
		.name	= "two lines",
		.text	= "rxe0 a=1\nrxe1 a=1\n",
	}, {
		.name	= "blank lines between",
		.text	= "\nrxe0 a=1\n\n\t\nrxe1 a=1\n\n",
	}, {
		.name	= "the last of two without its newline",
		.text	= "rxe0 a=1\nrxe1 a=1",
		.ret	= -EINVAL,
	}, {
		.name	= "a blank line, and one without its newline",
		.text	= "\nrxe0 a=1",
		.ret	= -EINVAL,
	}, {
		.name	= "blanks after the last newline",
		.text	= "rxe0 a=1\n ",
		.ret	= -EINVAL,
	}, {
		.name	= "nothing",
		.text	= "",
		.ret	= -EINVAL,
	}, {
		.name	= "nothing but newlines",
		.text	= "\n\n",
		.ret	= -EINVAL,
	}, {
		.name	= "the first of two wrong",
		.text	= "rxe0 a\nrxe1 a=1\n",
		.ret	= -EINVAL,
	}, {
		.name	= "the last of two wrong",
		.text	= "rxe0 a=1\nrxe1 a\n",
		.ret	= -EINVAL,
	},
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_text, rdmacg_text_cases, name);

static void rdmacg_test_text_is_checked_as_a_whole(struct kunit *test)
{
	const struct rdmacg_text_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test, rdmacg_check_text(param->text), param->ret);
}

static void rdmacg_test_only_a_limit_is_printed_as_max(struct kunit *test)
{
	struct seq_file sf = { };

	rdmacg_test_init_seq(test, &sf);
	rdmacg_print_device(&sf, "rxe0", true, 7);
	rdmacg_print_limit(&sf, "hca_handle", RDMACG_NO_LIMIT);
	rdmacg_print_value(&sf, "hca_object", ".max", RDMACG_NO_LIMIT);
	KUNIT_EXPECT_STREQ(test, sf.buf,
			   "rxe0 hca_handle=max hca_object.max=9223372036854775807");
}

static void rdmacg_test_index_is_printed_for_a_namesake(struct kunit *test)
{
	struct seq_file sf = { };

	rdmacg_test_init_seq(test, &sf);
	rdmacg_print_device(&sf, "rxe0", false, 7);
	rdmacg_print_value(&sf, "hca_handle", "", 0);
	KUNIT_EXPECT_STREQ(test, sf.buf, "rxe0 index=7 hca_handle=0");
}

static struct kunit_case rdmacg_parse_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_line_is_accepted, rdmacg_line_gen_params),
	KUNIT_CASE_PARAM(rdmacg_test_line_is_refused, rdmacg_refused_gen_params),
	KUNIT_CASE(rdmacg_test_index_follows_the_name),
	KUNIT_CASE(rdmacg_test_lines_come_one_by_one),
	KUNIT_CASE(rdmacg_test_parser_leaves_the_text_as_it_is),
	KUNIT_CASE(rdmacg_test_blank_text_holds_no_line),
	KUNIT_CASE_PARAM(rdmacg_test_text_is_checked_as_a_whole, rdmacg_text_gen_params),
	KUNIT_CASE(rdmacg_test_only_a_limit_is_printed_as_max),
	KUNIT_CASE(rdmacg_test_index_is_printed_for_a_namesake),
	{}
};

static struct kunit_suite rdmacg_parse_suite = {
	.name = "cgroup_rdma_parse",
	.test_cases = rdmacg_parse_cases,
};

kunit_test_suite(rdmacg_parse_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's parser");
MODULE_LICENSE("GPL");
