// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: text to limits and limits to text.
 *
 * Written:  NAME [index=N] KEY=VALUE..., NAME [index=N] max or NAME [index=N] default, or
 *           default KEY=VALUE... or default max, one per line.
 * Read:     NAME[ index=N] KEY=VALUE KEY=VALUE, no blank at the end.
 *
 * The parser leaves the text as it is and allocates nothing.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "rdma-internal.h"

bool rdmacg_word_is(struct rdmacg_word word, const char *string)
{
	return word.len == strlen(string) && !memcmp(word.text, string, word.len);
}

/* What can be the name of a resource. */
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

/* The next word of the line that *@text is in; false at the line's end. */
static bool rdmacg_next_word(const char **text, struct rdmacg_word *word)
{
	word->text = *text + strspn(*text, " \t");
	word->len = strcspn(word->text, " \t\n");
	*text = word->text + word->len;
	return word->len;
}

/* Decimal digits and nothing else, at most @most. */
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

/* "KEY=VALUE"; without an equals sign, *@key is all of @word. */
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
 * Parse the next limit of the line that *@text is in and move *@text past it. Of
 * a key given twice the last value counts. An empty *@key stands for all keys, and only
 * these can have RDMACG_USE_DEFAULT.
 * Returns 1 for a limit, 0 at the end of the line, -EINVAL for anything else.
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

/* The index, if one follows the name. */
static int rdmacg_parse_index(const char **text, struct rdmacg_line *line)
{
	struct rdmacg_word word, key, value;
	const char *next = *text;
	u64 index;

	if (!rdmacg_next_word(&next, &word) ||
	    !rdmacg_split_word(word, &key, &value) ||
	    !rdmacg_word_is(key, "index"))
		return 0;
	if (rdmacg_parse_number(value, U32_MAX, &index))
		return -EINVAL;
	line->has_index = true;
	line->index = index;
	*text = next;
	return 0;
}

/*
 * Parse the next line of *@text that is not blank and move *@text past it. Its
 * limits are well formed, of keys that may not exist. Returns 1 for a line, 0 at
 * the end of the text, -EINVAL for a line that holds no limit or anything else.
 */
int rdmacg_parse_line(const char **text, struct rdmacg_line *line)
{
	struct rdmacg_word word;
	bool empty = true;
	u64 max;
	int ret;

	*text += strspn(*text, " \t\n");
	if (!**text)
		return 0;

	memset(line, 0, sizeof(*line));
	rdmacg_next_word(text, &word);
	line->name = word.text;
	line->name_len = word.len;
	line->is_default = rdmacg_word_is(word, "default");
	ret = rdmacg_parse_index(text, line);
	if (ret)
		return ret;
	line->limits = *text;
	while ((ret = rdmacg_parse_limit(text, &word, &max)) > 0) {
		/* A default has no default, and no index. */
		if (line->is_default && (max == RDMACG_USE_DEFAULT || line->has_index))
			return -EINVAL;
		empty = false;
	}
	return empty ? -EINVAL : ret ?: 1;
}

/*
 * Whether all of a text is well formed: one line or more, and if there are several, each
 * one ends. One that does not may have been cut, and then it sets too small a number.
 */
int rdmacg_check_text(const char *text)
{
	const char *newline = strrchr(text, '\n');
	struct rdmacg_line line;
	bool empty = true;
	int ret;

	if (newline && newline[1])
		return -EINVAL;
	while ((ret = rdmacg_parse_line(&text, &line)) > 0)
		empty = false;
	return empty ? -EINVAL : ret;
}

/* What a line begins with: the name, and the index where the name is not unique. */
void rdmacg_print_device(struct seq_file *sf, const char *name, bool unique, u32 index)
{
	seq_puts(sf, name);
	if (!unique)
		seq_put_decimal_ull(sf, " index=", index);
}

/* " KEY=VALUE"; @suffix belongs to the key. */
void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix,
			u64 value)
{
	seq_putc(sf, ' ');
	seq_puts(sf, key);
	seq_puts(sf, suffix);
	seq_put_decimal_ull(sf, "=", value);
}

/* The same for what can be "max". */
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit)
{
	if (limit != RDMACG_NO_LIMIT) {
		rdmacg_print_value(sf, key, "", limit);
		return;
	}
	seq_putc(sf, ' ');
	seq_puts(sf, key);
	seq_puts(sf, "=max");
}
