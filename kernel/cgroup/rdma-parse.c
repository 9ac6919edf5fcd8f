// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: text to limits and limits to text.
 *
 * Written:  lines NAME [index=N] KEY=VALUE..., NAME [index=N] max or NAME [index=N] default;
 *           for rdma.default, one line KEY=VALUE... or max.
 * Read:     NAME[ index=N] KEY=VALUE KEY=VALUE, no blank at the end.
 *
 * A device can have any name. In the files, \ooo (three octal digits) replaces a backslash and each
 * byte outside 0x21 to 0x7e, so a name has neither blanks nor bytes that do not print.
 *
 * The parser does not change the text and allocates nothing.
 */
#include <linux/cgroup_rdma.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "rdma-parse.h"

struct rdmacg_word rdmacg_word(const char *string)
{
	return (struct rdmacg_word) { .text = string, .len = strlen(string) };
}

bool rdmacg_word_is(struct rdmacg_word word, const char *string)
{
	return word.len == strlen(string) && !memcmp(word.text, string, word.len);
}

/* Whether a word can be the name of a resource. */
bool rdmacg_key_is_valid(struct rdmacg_word key)
{
	size_t i;

	if (!key.len || key.len >= RDMACG_KEY_SIZE || !islower(key.text[0]))
		return false;
	for (i = 0; i < key.len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", key.text[i]))
			return false;
	return !rdmacg_word_is(key, "max") && !rdmacg_word_is(key, "index") &&
	       !rdmacg_word_is(key, "default");
}

/* Copy the name as the files show it. Returns 0, with an empty string, if the name is too long. */
size_t rdmacg_escape_name(char *to, size_t size, const char *name)
{
	size_t len = string_escape_str(name, to, size, ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND,
				       " \\");

	if (len >= size)
		len = 0;
	to[len] = '\0';
	return len;
}

/* Parse the first byte of @text, which is not empty. Returns the number of characters. */
static int rdmacg_parse_byte(const char *text, size_t len, unsigned char *byte)
{
	unsigned int i, value = 0;

	*byte = *text;
	if (*text != '\\')
		return 1;
	if (len < 4)
		return -EINVAL;
	for (i = 1; i < 4; i++) {
		if (text[i] < '0' || text[i] > '7')
			return -EINVAL;
		value = value * 8 + text[i] - '0';
	}
	if (!value || value > U8_MAX)
		return -EINVAL;
	*byte = value;
	return 4;
}

/* Convert the written name of a device to the form that the files show. */
static int rdmacg_parse_name(struct rdmacg_word word, char *name)
{
	char plain[RDMACG_NAME_SIZE + 1] = "";
	unsigned char byte;
	size_t i, len = 0;
	int taken;

	for (i = 0; i < word.len; i += taken) {
		taken = rdmacg_parse_byte(word.text + i, word.len - i, &byte);
		if (taken < 0)
			return taken;
		/* A name that is cut is still too long. */
		if (len < sizeof(plain) - 1)
			plain[len++] = byte;
	}
	rdmacg_escape_name(name, RDMACG_NAME_SIZE, plain);
	return 0;
}

/* Get the next word of the line that *@text is in. False at the line's end. */
static bool rdmacg_next_word(const char **text, struct rdmacg_word *word)
{
	word->text = *text + strspn(*text, " \t");
	word->len = strcspn(word->text, " \t\n");
	*text = word->text + word->len;
	return word->len;
}

/* Parse decimal digits only, up to @most. */
static int rdmacg_parse_number(struct rdmacg_word word, u64 most, u64 *number)
{
	u64 n = 0;
	size_t i;

	if (!word.len)
		return -EINVAL;
	for (i = 0; i < word.len; i++) {
		if (!isdigit(word.text[i]) ||
		    check_mul_overflow(n, 10, &n) ||
		    check_add_overflow(n, word.text[i] - '0', &n) ||
		    n > most)
			return -EINVAL;
	}
	*number = n;
	return 0;
}

/* Split "KEY=VALUE". Without an equals sign, *@key is all of @word. */
static bool rdmacg_split_word(struct rdmacg_word word, struct rdmacg_word *key,
			      struct rdmacg_word *value)
{
	const char *equals = memchr(word.text, '=', word.len);

	*key = word;
	if (!equals)
		return false;
	key->len = equals - word.text;
	value->text = equals + 1;
	value->len = word.len - key->len - 1;
	return true;
}

/*
 * Parse the next limit of the line that *@text is in, and move *@text past it. An empty *@key
 * stands for all keys; only an empty key can have RDMACG_USE_DEFAULT. Returns 1 for a limit, 0 at
 * the end of the line, -EINVAL otherwise.
 */
int rdmacg_parse_limit(const char **text, struct rdmacg_word *key, u64 *max)
{
	struct rdmacg_word word, value;
	int ret;

	if (!rdmacg_next_word(text, &word))
		return 0;

	*max = RDMACG_NO_LIMIT;
	if (!rdmacg_split_word(word, key, &value)) {
		if (rdmacg_word_is(word, "default"))
			*max = RDMACG_USE_DEFAULT;
		else if (!rdmacg_word_is(word, "max"))
			return -EINVAL;
		key->len = 0;
		return 1;
	}
	if (!key->len)
		return -EINVAL;
	if (rdmacg_word_is(value, "max"))
		return 1;
	ret = rdmacg_parse_number(value, RDMACG_NO_LIMIT - 1, max);
	return ret ?: 1;
}

/* Parse the index, if one follows the name. */
static int rdmacg_parse_index(const char **text, struct rdmacg_line *line)
{
	struct rdmacg_word word, key, value;
	const char *next = *text;
	u64 index;

	line->has_index = rdmacg_next_word(&next, &word) &&
			  rdmacg_split_word(word, &key, &value) &&
			  rdmacg_word_is(key, "index");
	if (!line->has_index)
		return 0;
	if (rdmacg_parse_number(value, U32_MAX, &index))
		return -EINVAL;
	line->index = index;
	*text = next;
	return 0;
}

/*
 * Whether no line can have been cut: of several lines, each ends in a newline. A cut line might
 * set too small a number.
 */
bool rdmacg_text_is_whole(const char *text)
{
	const char *newline = strrchr(text, '\n');

	return !newline || !newline[1];
}

/*
 * Parse the beginning of the next line of *@text that is not blank, and move *@text to its limits.
 * Returns 1 for a line, 0 at the end of the text, or -EINVAL.
 */
int rdmacg_parse_line(const char **text, struct rdmacg_line *line)
{
	struct rdmacg_word word;
	int ret;

	*text += strspn(*text, " \t\n");
	if (!rdmacg_next_word(text, &word))
		return 0;
	ret = rdmacg_parse_name(word, line->name);
	if (!ret)
		ret = rdmacg_parse_index(text, line);
	return ret ?: 1;
}

/* Print the beginning of a line: the name, and the index if the name is not unique. */
void rdmacg_print_device(struct seq_file *sf, const char *name, bool unique, u32 index)
{
	seq_puts(sf, name);
	if (!unique)
		seq_printf(sf, " index=%u", index);
}

/* Print " KEY=VALUE"; @suffix belongs to the key. */
void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix, u64 value)
{
	seq_printf(sf, " %s%s=%llu", key, suffix, value);
}

/* Print " KEY=VALUE", or "max" for no limit. */
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit)
{
	if (limit == RDMACG_NO_LIMIT)
		seq_printf(sf, " %s=max", key);
	else
		rdmacg_print_value(sf, key, "", limit);
}
