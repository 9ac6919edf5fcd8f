// SPDX-License-Identifier: GPL-2.0
/*
 * Random text for writes to the files of limits: lines by the grammar, some with a mistake, and
 * mutations of them. The model decides whether the kernel must refuse a text.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz_write.h"

struct buffer text;
static unsigned long long random_state;

/* The state must not be zero, because the generator would then return only zeros. */
void random_seed(unsigned long seed)
{
	random_state = seed * 2 + 1;
}

static unsigned long long random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

unsigned int below(unsigned int n)
{
	return (random_bits() >> 32) % n;
}

bool one_in(unsigned int n)
{
	return !below(n);
}

/* ---- lines by the grammar ---- */

void add(const char *at, size_t len)
{
	if (len > sizeof(text.at) - text.len)
		len = sizeof(text.at) - text.len;
	memcpy(text.at + text.len, at, len);
	text.len += len;
}

void add_string(const char *string)
{
	add(string, strlen(string));
}

void add_number(unsigned long long number)
{
	char digits[24];

	add(digits, snprintf(digits, sizeof(digits), "%llu", number));
}

/* A byte as an escape, which is valid for any byte; sometimes a malformed escape. */
static void add_escaped(unsigned char byte)
{
	char digits[5];

	if (one_in(64))
		byte = 0;
	add(digits, snprintf(digits, sizeof(digits), "\\%03o", byte));
	if (one_in(64))
		text.len--;
}

void add_name(const char *name)
{
	for (; *name; name++)
		if (*name <= ' ' || *name > '~' || *name == '\\')
			add_escaped(*name);
		else
			add(name, 1);
}

/* A name with escapes that the parser accepts, although files do not show them. */
static void add_odd_name(const char *name)
{
	for (; *name; name++)
		if (one_in(3))
			add_escaped(*name);
		else
			add(name, 1);
}

static void add_blank(void)
{
	static const char *const blanks[] = { " ", " ", " ", " ", " ", " ", "\t", "  ", " \t " };

	add_string(blanks[below(ARRAY_SIZE(blanks))]);
}

static const char *random_word(void)
{
	static const char *const words[] = {
		"", "max", "ma", "maxx", "MAX", "0", "-1", "+1", "0x10", "1e3", "5k", "1.5", "7,",
		"00000000000000000000000007", "4294967295", "4294967296", "9223372036854775806",
		"9223372036854775807", "9223372036854775808", "18446744073709551615",
		"18446744073709551616", "18446744073709551621", "99999999999999999999999999999",
		"index", "index=", "index=max", "=", "==", "=5", "rxe", "rxe00", "rxe9", "\r",
		"\v", "\x7f", "\xff", "hca_handle", "mr_mem=1", "dm_mem=2",
		"queue_mem=2",
		"default", "default=1", "gate", "door", "a_key_that_has_31_letters_in_it",
		"a_key_that_has_32_letters_in_it_", "Gate", "9gate", "hw:", "hw:gate", "hw:gate=1",
		"\\040", "\\000", "\\400", "\\", "1000000", "1000001",
	};

	return words[below(ARRAY_SIZE(words))];
}

static void add_value(void)
{
	if (one_in(4))
		add_string("max");
	else if (one_in(12))
		add_string(random_word());
	else if (one_in(8))
		add_number(NO_LIMIT - 1 - below(2));
	else
		add_number(random_bits() >> below(64));
}

static void add_limit(const struct model_device *device)
{
	if (one_in(12)) {
		add_string(one_in(2) ? "max" : "default");
		return;
	}
	add_string(one_in(40) ? random_word() : device->keys[below(device->nr_keys)]);
	add_string("=");
	add_value();
}

/* About as many keys as there can be in the hw class. */
static void add_many_defaults(void)
{
	unsigned int key, count = 40 + below(30);

	for (key = below(5); count; count--, key++) {
		add_string(" hw:key");
		add_number(key);
		add_string("=");
		add_number(below(9));
	}
}

/* Keys for rdma.default: those of the cgroup's other files. */
static void add_default(const struct file *file)
{
	const struct file *other = &file->all[below(MODEL_CLASSES)];

	if (other->class == MODEL_HW)
		add_string("hw:");
	if (other->nr_devices)
		add_limit(&other->devices[below(other->nr_devices)]);
	else
		add_string("gate=1");
}

static void add_default_line(const struct file *file)
{
	unsigned int nr_limits = below(5);

	if (one_in(60)) {
		add_many_defaults();
		return;
	}
	if (one_in(10))
		add_string("max");
	do {
		add_blank();
		add_default(file);
	} while (nr_limits--);
}

static void add_line(const struct file *file)
{
	const struct model_device *device = &file->devices[below(file->nr_devices ?: 1)];
	unsigned int nr_limits = below(4);

	if (file->class == DEFAULT_FILE) {
		add_default_line(file);
		return;
	}
	if (one_in(40))
		add_string(random_word());
	else if (one_in(16))
		add_odd_name(device->name);
	else
		add_name(device->name);
	if (one_in(8) != device->index_is_shown) {
		add_blank();
		add_string("index=");
		add_number(one_in(12) ? below(MAX_INDEX) : device->index);
	}
	do {
		add_blank();
		add_limit(device);
	} while (nr_limits--);
}

static void add_line_end(void)
{
	static const char *const ends[] = {
		"\n", "\n", "\n", "\n", "\n\n", "\t\n", "\n \t\n", "\r\n"
	};

	add_string(ends[below(ARRAY_SIZE(ends))]);
}

static void add_lines(const struct file *file)
{
	unsigned int more = one_in(file->class == DEFAULT_FILE ? 40 : 3) ? below(6) : 0;

	for (add_line(file); more; more--) {
		add_line_end();
		add_line(file);
	}
	if (!one_in(4))
		add_line_end();
}

/* ---- mutations ---- */

static void remove_piece(size_t at, size_t len)
{
	memmove(text.at + at, text.at + at + len, text.len - at - len);
	text.len -= len;
}

/* Put a piece in, unless it does not fit. */
static void insert(size_t at, const char *piece, size_t len)
{
	if (len > sizeof(text.at) - text.len)
		return;
	memmove(text.at + at + len, text.at + at, text.len - at);
	memcpy(text.at + at, piece, len);
	text.len += len;
}

/* A piece of the text, cut anywhere, or between words or lines. */
static struct model_text random_piece(void)
{
	static const char *const ends[] = { "", " \t\n=", "\n" };
	const char *separators = ends[below(ARRAY_SIZE(ends))];
	size_t start = below(text.len), end = start + 1 + below(text.len - start);

	if (*separators) {
		while (start && !model_is_among(text.at[start - 1], separators))
			start--;
		while (end < text.len && !model_is_among(text.at[end - 1], separators))
			end++;
	}
	return (struct model_text){ text.at + start, end - start };
}

static void copy_piece(bool move)
{
	struct model_text piece = random_piece();
	char copy[256];

	if (piece.len > sizeof(copy))
		return;
	memcpy(copy, piece.at, piece.len);
	if (move)
		remove_piece(piece.at - text.at, piece.len);
	insert(below(text.len + 1), copy, piece.len);
}

static void repeat_piece(void)
{
	copy_piece(false);
}

static void move_piece(void)
{
	copy_piece(true);
}

static void drop_piece(void)
{
	struct model_text piece = random_piece();

	remove_piece(piece.at - text.at, piece.len);
}

static void replace_piece(void)
{
	struct model_text piece = random_piece();
	size_t at = piece.at - text.at;
	const char *word = random_word();

	remove_piece(at, piece.len);
	insert(at, word, strlen(word));
}

static void insert_word(void)
{
	const char *word = random_word();

	insert(below(text.len + 1), word, strlen(word));
}

static void change_byte(void)
{
	static const char bytes[] = " \t\n\r\v=0123456789-+xmindexa\0\x80\xff";

	text.at[below(text.len)] = one_in(2) ? (char)below(256) : bytes[below(ARRAY_SIZE(bytes))];
}

static void flip_bit(void)
{
	text.at[below(text.len)] ^= 1 << below(8);
}

static void truncate_text(void)
{
	text.len = below(text.len);
}

static void mutate(void)
{
	static void (*const ways[])(void) = {
		repeat_piece, move_piece, drop_piece, replace_piece, insert_word,
		change_byte, flip_bit, truncate_text,
	};

	if (text.len)
		ways[below(ARRAY_SIZE(ways))]();
}

/* Fill the text up, with lines or blanks, to about a page, some pages or the longest write. */
static void lengthen(const struct file *file)
{
	static const size_t lengths[] = {
		4096, 4096, 4096, 4096, 8192, 32768, MAX_WRITE, MAX_WRITE
	};
	size_t length = lengths[below(ARRAY_SIZE(lengths))] + below(5) - 2;
	size_t unit;

	add_line_end();
	if (one_in(2))
		add_string("\n");
	else
		add_line(file);
	add_string("\n");
	for (unit = text.len; text.len < length;)
		add(text.at, unit < length - text.len ? unit : length - text.len);
	if (one_in(2))
		memset(text.at + unit, ' ', text.len - unit);
}

void make_text(const struct file *file, const struct file *other)
{
	unsigned int mutations = one_in(2) ? below(4) : 0;

	text.len = 0;
	if (one_in(16))
		add(other->text, other->len);
	else
		add_lines(one_in(64) ? other : file);
	while (mutations--)
		mutate();
	if (one_in(512))
		lengthen(file);
}
