// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the text that the RDMA cgroup controller reads and writes.
 */
#include "rdma_kunit.h"

/* @limits: "KEY=VALUE" for each limit, of which a key for all is empty. */
struct rdmacg_line_case {
	const char *name;
	const char *text;
	const char *device;
	const char *limits;
};

/* What is accepted, and what it means. */
static const struct rdmacg_line_case rdmacg_line_cases[] = {
	{ "one key", "rxe0 hca_handle=3", "rxe0", " hca_handle=3" },
	{ "two keys", "rxe0 hca_handle=3 hca_object=20", "rxe0",
	  " hca_handle=3 hca_object=20" },
	{ "a key that no device has", "rxe0 q=1", "rxe0", " q=1" },
	{ "trailing newline", "rxe0 hca_object=1\n", "rxe0", " hca_object=1" },
	{ "tabs and runs of blanks", "\trxe0 \t hca_object=1 \t", "rxe0",
	  " hca_object=1" },
	{ "blank lines before and after", "\n\t\nrxe0 hca_object=1\n\n", "rxe0",
	  " hca_object=1" },
	{ "zero", "rxe0 hca_object=0", "rxe0", " hca_object=0" },
	{ "leading zeros", "rxe0 hca_object=00000000000000000000007", "rxe0",
	  " hca_object=7" },
	{ "2^32-1 as runc writes it", "rxe0 hca_object=4294967295", "rxe0",
	  " hca_object=4294967295" },
	{ "largest limit 2^63-2", "rxe0 hca_object=9223372036854775806", "rxe0",
	  " hca_object=9223372036854775806" },
	{ "max", "rxe0 hca_handle=max", "rxe0", " hca_handle=max" },
	{ "max for all", "rxe0 max", "rxe0", " =max" },
	{ "max for all but one", "rxe0 max hca_object=5", "rxe0", " =max hca_object=5" },
	{ "a key twice", "rxe0 q=1 q=2", "rxe0", " q=1 q=2" },
	{ "device whose name holds an equals sign", "a=b hca_object=5", "a=b",
	  " hca_object=5" },
	{ "device called max", "max max", "max", " =max" },
	{ "index after a limit, where it is a key like any other", "rxe0 q=1 index=1",
	  "rxe0", " q=1 index=1" },
};

static void rdmacg_line_desc(const struct rdmacg_line_case *test, char *desc)
{
	strscpy(desc, test->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rdmacg_line, rdmacg_line_cases, rdmacg_line_desc);

/* The limits of a line as the files show them. */
static const char *rdmacg_limits(struct kunit *test, const char *limits)
{
	struct seq_file sf = { .size = 256 };
	struct rdmacg_word word;
	char key[32];
	u64 max;

	sf.buf = kunit_kzalloc(test, sf.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sf.buf);
	while (rdmacg_parse_limit(&limits, &word, &max) > 0) {
		KUNIT_ASSERT_LT(test, word.len, sizeof(key));
		memcpy(key, word.text, word.len);
		key[word.len] = '\0';
		rdmacg_print_limit(&sf, key, max);
	}
	return sf.buf;
}

static void rdmacg_test_parse_line_valid(struct kunit *test)
{
	const struct rdmacg_line_case *param = test->param_value;
	const char *text = param->text;
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_EQ(test, line.name_len, strlen(param->device));
	KUNIT_EXPECT_MEMEQ(test, line.name, param->device, strlen(param->device));
	KUNIT_EXPECT_FALSE(test, line.has_index);
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), param->limits);
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), 0);
}

struct rdmacg_invalid_case {
	const char *name;
	const char *text;
};

/* What is refused with EINVAL. */
static const struct rdmacg_invalid_case rdmacg_invalid_cases[] = {
	{ "no key", "rxe0" },
	{ "no key but a newline", "rxe0\n" },
	{ "index but no key", "rxe0 index=1" },
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
	{ "max for an index", "rxe0 index=max hca_handle=1" },
};

static void rdmacg_invalid_desc(const struct rdmacg_invalid_case *test, char *desc)
{
	strscpy(desc, test->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rdmacg_invalid, rdmacg_invalid_cases, rdmacg_invalid_desc);

static void rdmacg_test_parse_line_invalid(struct kunit *test)
{
	const struct rdmacg_invalid_case *param = test->param_value;
	const char *text = param->text;
	struct rdmacg_line line;

	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&text, &line), -EINVAL);
}

static void rdmacg_test_parse_line_index(struct kunit *test)
{
	const char *text = "rxe0 index=4294967295 hca_handle=1";
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&text, &line), 1);
	KUNIT_EXPECT_TRUE(test, line.has_index);
	KUNIT_EXPECT_EQ(test, line.index, U32_MAX);
}

/* Lines come one by one, and the text is the same after that. */
static void rdmacg_test_parse_line_several(struct kunit *test)
{
	static const char text[] = "a hca_handle=1\n\nb hca_object=2\nc max";
	const char *pos = text;
	struct rdmacg_line line;

	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&pos, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'a');
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " hca_handle=1");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&pos, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'b');
	KUNIT_EXPECT_STREQ(test, rdmacg_limits(test, line.limits), " hca_object=2");
	KUNIT_ASSERT_EQ(test, rdmacg_parse_line(&pos, &line), 1);
	KUNIT_EXPECT_EQ(test, *line.name, 'c');
	KUNIT_EXPECT_EQ(test, rdmacg_parse_line(&pos, &line), 0);
	KUNIT_EXPECT_STREQ(test, text, "a hca_handle=1\n\nb hca_object=2\nc max");
}

static void rdmacg_test_parse_line_empty(struct kunit *test)
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
	{ "one line", "rxe0 a=1\n", 0 },
	{ "one line without its newline", "rxe0 a=1", 0 },
	{ "two lines", "rxe0 a=1\nrxe1 a=1\n", 0 },
	{ "blank lines between", "\nrxe0 a=1\n\n\t\nrxe1 a=1\n\n", 0 },
	{ "the last of two without its newline", "rxe0 a=1\nrxe1 a=1", -EINVAL },
	{ "a blank line, and one without its newline", "\nrxe0 a=1", -EINVAL },
	{ "blanks after the last newline", "rxe0 a=1\n ", -EINVAL },
	{ "nothing", "", -EINVAL },
	{ "nothing but newlines", "\n\n", -EINVAL },
	{ "the first of two wrong", "rxe0 a\nrxe1 a=1\n", -EINVAL },
	{ "the last of two wrong", "rxe0 a=1\nrxe1 a\n", -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_text, rdmacg_text_cases, name);

static void rdmacg_test_check_text(struct kunit *test)
{
	const struct rdmacg_text_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test, rdmacg_check_text(param->text), param->ret);
}

/* A line as the files show it, byte for byte. */
static void rdmacg_test_print(struct kunit *test)
{
	struct seq_file sf = { .size = 128 };

	sf.buf = kunit_kzalloc(test, sf.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sf.buf);

	rdmacg_print_device(&sf, "rxe0", true, 7);
	rdmacg_print_limit(&sf, "hca_handle", RDMACG_NO_LIMIT);
	rdmacg_print_value(&sf, "hca_object", ".max", RDMACG_NO_LIMIT);
	KUNIT_EXPECT_STREQ(test, sf.buf,
			   "rxe0 hca_handle=max hca_object.max=9223372036854775807");

	memset(sf.buf, 0, sf.size);
	sf.count = 0;
	rdmacg_print_device(&sf, "rxe0", false, 7);
	rdmacg_print_value(&sf, "hca_handle", "", 0);
	KUNIT_EXPECT_STREQ(test, sf.buf, "rxe0 index=7 hca_handle=0");
}

static struct kunit_case rdmacg_parse_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_parse_line_valid, rdmacg_line_gen_params),
	KUNIT_CASE_PARAM(rdmacg_test_parse_line_invalid, rdmacg_invalid_gen_params),
	KUNIT_CASE(rdmacg_test_parse_line_index),
	KUNIT_CASE(rdmacg_test_parse_line_several),
	KUNIT_CASE(rdmacg_test_parse_line_empty),
	KUNIT_CASE_PARAM(rdmacg_test_check_text, rdmacg_text_gen_params),
	KUNIT_CASE(rdmacg_test_print),
	{}
};

static struct kunit_suite rdmacg_parse_suite = {
	.name = "cgroup_rdma_parse",
	.test_cases = rdmacg_parse_cases,
};

kunit_test_suite(rdmacg_parse_suite);

MODULE_DESCRIPTION("KUnit tests for the RDMA cgroup controller's parser");
MODULE_LICENSE("GPL");
