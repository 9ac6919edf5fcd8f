// SPDX-License-Identifier: GPL-2.0
/*
 * Make random texts for writes to the files of limits. The lines follow the grammar, but some lines
 * have a mistake. The model decides whether the kernel must refuse a text. test/fuzz has more
 * mistakes for the parser.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* The buffer is longer than the longest write, because some texts are too long. */
static struct {
	char at[MAX_WRITE + 8192];
	size_t len;
} text;

static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text.len += vsnprintf(text.at + text.len, sizeof(text.at) - text.len, format, args);
	va_end(args);
}

static void add_one_of(const char *const *words, int count)
{
	add("%s", words[below(count)]);
}

static void add_blank(void)
{
	static const char *const blanks[] = { " ", " ", " ", "\t", "  ", " \t " };

	add_one_of(blanks, mode == COMMON ? 1 : ARRAY_SIZE(blanks));
}

static enum resource resource_of(enum class class)
{
	return first_of_class[class] + below(first_of_class[class + 1] - first_of_class[class]);
}

/* Add a limit at which commands do not wait, or a limit that is too large. */
static void add_control_value(enum resource resource)
{
	if (resource == OPS)
		add("%d", rarely(10) ? MAX_OPS + 1 : below(3) * 500000);
	else
		add("%d", below(5) * 1000000);
}

static void add_value(enum resource resource)
{
	static const char *const large[] = {
		"9223372036854775806", "4294967295", "4294967296", "2147483647", "2147483648",
		"00", "007", "100000000000", "1000000", "1000001",
	};
	static const int lengths[] = { 0, 1, 4095, 4096, 8192, 20000, 65536, 1000000 };

	if (rarely(3))
		add("max");
	else if (resource >= OPS && mode != WRITES)
		add_control_value(resource);
	else if (mode != COMMON && rarely(12))
		add_one_of(large, ARRAY_SIZE(large));
	else if (resource == MR_MEM || resource == QUEUE_MEM)
		add("%d", lengths[below(ARRAY_SIZE(lengths))]);
	else
		add("%d", below(resource == HCA_OBJECT ? 16 : 6));
}

static void add_limit(enum class class)
{
	enum resource resource = resource_of(class);

	add_blank();
	add("%s=", resource_names[resource]);
	add_value(resource);
}

/* Add a word that the controller refuses. Stock also refuses cases 0 and 1. */
static void add_bad_word(enum class class)
{
	static const char *const values[] = {
		"=", "", "=ma", "=maxx", "=-1", "=1e3", "=5k", "=5=5", "=x", "=+1", "=--",
		"=MAX", "=18446744073709551616", "=99999999999999999999999", "= 5",
	};
	static const char *const more[] = {
		"=9223372036854775807", "=9223372036854775808", "=18446744073709551615",
		"=0x10", "=0x", "=default",
	};
	static const char *const words[] = { "=5", "=", "foo=1", "foo", "max=5", "index=x" };
	const char *key = resource_names[resource_of(class)];

	switch (below(mode == COMMON ? 2 : 4)) {
	case 0:
		add(" ");
		add_one_of(words, ARRAY_SIZE(words));
		break;
	case 1:
		add(" %s", key);
		add_one_of(values, ARRAY_SIZE(values));
		break;
	case 2:
		add(" %s", key);
		add_one_of(more, ARRAY_SIZE(more));
		break;
	default:
		/* Add a key of another class. */
		add(" %s=1", resource_names[resource_of((class + 1) % CLASSES)]);
	}
}

/* Any byte of a name can be written as an escape. */
static void add_odd_name(const char *name)
{
	static const char *const malformed[] = { "\\", "\\000", "\\46", "\\x72", "\\400" };
	int bad = rarely(5) ? below(strlen(name)) : NONE, i;

	for (i = 0; name[i]; i++) {
		if (i == bad)
			add_one_of(malformed, ARRAY_SIZE(malformed));
		add(rarely(3) || name[i] == ' ' ? "\\%03o" : "%c", name[i]);
	}
}

static void add_name(int device)
{
	static const char *const strangers[] = {
		"rxe9", "rxe", "rxe00", "rxe0x", "max", "=", "default",
	};

	if (rarely(20))
		add_one_of(strangers, ARRAY_SIZE(strangers));
	else if (device >= USED_DEVICES || (mode != COMMON && rarely(8)))
		add_odd_name(device_names[device]);
	else
		add("%s", device_names[device]);
}

/* Usually add an index if the name needs an index, and usually the right index. */
static void add_index(int device)
{
	bool is_needed = device >= USED_DEVICES;

	if (rarely(10) == is_needed)
		return;
	add_blank();
	add("index=");
	if (rarely(4))
		add("%s", rarely(2) ? "-1" : "x1");
	else
		add("%d", rarely(3) ? below(nr_devices()) : device);
}

static void add_line(enum class class)
{
	int device = below(nr_devices()), keys;

	add_name(device);
	add_index(device);
	if (mode != COMMON && rarely(5)) {
		add_blank();
		add("%s", rarely(2) ? "max" : "default");
		return;
	}
	for (keys = 1 + below(3); keys; keys--)
		add_limit(class);
	if (rarely(8))
		add_bad_word(class);
	if (mode != COMMON && rarely(10))
		add_blank();
}

static void add_lines(enum class class)
{
	int lines = mode != COMMON && rarely(4) ? 2 + below(2) : 1;

	while (lines--) {
		add_line(class);
		if (lines)
			add("%s", rarely(5) ? "\n\n" : rarely(9) ? "\n \t\n" : "\n");
	}
}

static void add_default(void)
{
	static const char *const bad[] = {
		"rxe0", "hw:", "hw:max=1", "qps=1", "hw:qp", "=1", "default", "mcast=1", "qp=",
		"hw:Qp=1", "hw:hw:qp=1", "hw:9a=1", "hw:a_key_that_has_32_letters_in_it_=1",
	};
	static const char *const unknown[] = {
		"hw:a", "hw:b_2", "hw:qp", "flow", "dm_mem", "hw:a_key_that_has_31_letters_in_it",
	};
	enum class class = below(CLASSES);
	enum resource resource = resource_of(class);

	if (text.len)
		add_blank();
	if (rarely(25)) {
		add_one_of(bad, ARRAY_SIZE(bad));
	} else if (rarely(15)) {
		add("max");
	} else if (rarely(5)) {
		add_one_of(unknown, ARRAY_SIZE(unknown));
		add("=");
		add_value(PD);
	} else {
		add("%s%s=", class == HW ? "hw:" : "", resource_names[resource]);
		add_value(resource);
	}
}

static void add_defaults(void)
{
	int keys, key;

	for (keys = 1 + below(4); keys; keys--)
		add_default();
	/* Add about as many keys as the hw class can have. */
	if (rarely(60))
		for (keys = MAX_HW_DEFAULTS - 20 + below(30), key = below(5); keys; keys--)
			add(" hw:key%d=%d", key++, below(9));
	if (rarely(20))
		add("\nqp=1");
}

/* Change, remove or insert a byte, or cut off the rest of the text. */
static void spoil(void)
{
	static const char bytes[] = " \t\n\r\v=0129-+xmhw:\\\x80\xff";
	size_t at = below(text.len);

	switch (below(4)) {
	case 0:
		text.at[at] = bytes[below(sizeof(bytes))];
		break;
	case 1:
		text.len--;
		memmove(text.at + at, text.at + at + 1, text.len - at);
		break;
	case 2:
		memmove(text.at + at + 1, text.at + at, text.len - at);
		text.at[at] = bytes[below(sizeof(bytes))];
		text.len++;
		break;
	default:
		text.len = at;
	}
}

/*
 * Append blanks or copies of the end of the text, up to some pages or to about the longest write.
 */
static void lengthen(void)
{
	static const size_t lengths[] = { 4096, 8192, 32768, MAX_WRITE, MAX_WRITE };
	size_t length = lengths[below(ARRAY_SIZE(lengths))] + below(5) - 2;
	size_t unit = 1 + below(text.len);

	if (rarely(2))
		memset(text.at + text.len, ' ', length - text.len);
	else
		while (text.len < length) {
			text.at[text.len] = text.at[text.len - unit];
			text.len++;
		}
	text.len = length;
	text.at[length - 1] = '\n';
}

/* Take the text of the file itself, or rarely the text of another file of the cgroup. */
static void read_text(struct op *op)
{
	struct op read = { .what = READ, .dir = op->dir, .file = op->file };

	if (rarely(8))
		read.file = rarely(2) ? DEFAULT_FILE : below(CLASSES) * KINDS;
	model_do(&read, text.at);
	text.len = strlen(text.at);
	op->back = read.file == op->file;
}

void make_text(struct op *op)
{
	/* Do not change a byte of a rate: at a low rate, commands would take all day. */
	bool is_safe = mode == WRITES || (op->file / KINDS != CONTROL && op->file != DEFAULT_FILE);

	text.len = 0;
	if (mode != COMMON && rarely(16) && model_has_account(op->dir)) {
		read_text(op);
	} else {
		if (op->file == DEFAULT_FILE)
			add_defaults();
		else
			add_lines(op->file / KINDS);
		if (rarely(2))
			add("\n");
		if (mode != COMMON && is_safe && rarely(6))
			spoil();
		if (mode != COMMON && is_safe && text.len && rarely(200))
			lengthen();
	}
	op->nth = mode != COMMON && rarely(64) ? 1 + below(6) : 0;
	op->text = text.at;
	op->text_len = text.len;
}

/* ---- texts that stock answers differently ---- */

/*
 * differences.sed has a rule for each of these texts. The limits after such a write may also
 * differ.
 */
static const struct {
	const char *text;
	size_t len;
} odd_texts[] = {
#define ODD(text) { text, sizeof(text) - 1 }
	ODD("rxe0 hca_object=2147483647"),
	ODD("rxe0 hca_object=2147483648"),
	ODD("rxe1 hca_handle=4294967295\n"),
	ODD("rxe0 hca_object=9223372036854775806"),
	ODD("rxe0 hca_object=010"),
	ODD("rxe1 hca_handle=0x10"),
	ODD("rxe0"),
	ODD("rxe0 index=0\n"),
	ODD("rxe0 max"),
	ODD("rxe1 max\n"),
	ODD("rxe0\thca_object=3"),
	ODD("rxe0 hca_object=3\nrxe1 hca_object=4\n"),
	ODD("rxe0 hca_object=3\nhca_handle=4\n"),
	ODD("rxe0\nhca_object=3"),
	ODD("rxe1 hca_object=3 index=1"),
	ODD("rxe9 foo=1"),
	ODD("rxe0 hca_object=3\0x"),
	ODD("rxe0 hca_object=3\0"),
	ODD("\n"),
};

void make_odd_text(struct op *op)
{
	int i = below(ARRAY_SIZE(odd_texts));

	op->text = odd_texts[i].text;
	op->text_len = odd_texts[i].len;
}

void make_even_text(struct op *op, int device)
{
	text.len = 0;
	add("%s hca_handle=%d hca_object=%d", device_names[device], below(8), below(20));
	op->text = text.at;
	op->text_len = text.len;
}
