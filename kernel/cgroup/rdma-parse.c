// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: text to limits and limits to text.
 *
 * Written:  NAME [index=N] KEY=VALUE... or NAME [index=N] max, one per line.
 * Read:     NAME[ index=N] KEY=VALUE KEY=VALUE, no blank at the end.
 *
 * The parser leaves the text as it is and allocates nothing.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "rdma-internal.h"

const char *const rdmacg_resource_names[RDMACG_RESOURCE_MAX] = {
	[RDMACG_RESOURCE_HCA_HANDLE]	= "hca_handle",
	[RDMACG_RESOURCE_HCA_OBJECT]	= "hca_object",
};

/* A run of characters in the text that was written. */
struct rdmacg_word {
	const char	*text;
	size_t		len;
};

static bool rdmacg_word_is(struct rdmacg_word word, const char *string)
{
	return word.len == strlen(string) && !memcmp(word.text, string, word.len);
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

static int rdmacg_parse_index(struct rdmacg_word value, struct rdmacg_line *line)
{
	u64 index;

	if (line->has_index || rdmacg_parse_number(value, U32_MAX, &index))
		return -EINVAL;
	line->has_index = true;
	line->index = index;
	return 0;
}

static int rdmacg_parse_limit(struct rdmacg_word key, struct rdmacg_word value,
			      struct rdmacg_line *line)
{
	unsigned int slot;

	for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
		if (rdmacg_word_is(key, rdmacg_resource_names[slot]))
			break;
	if (slot == RDMACG_RESOURCE_MAX)
		return -EINVAL;

	line->given |= BIT(slot);
	if (rdmacg_word_is(value, "max")) {
		line->max[slot] = RDMACG_NO_LIMIT;
		return 0;
	}
	return rdmacg_parse_number(value, RDMACG_NO_LIMIT - 1, &line->max[slot]);
}

static void rdmacg_reset_limits(struct rdmacg_line *line)
{
	unsigned int slot;

	for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++) {
		line->given |= BIT(slot);
		line->max[slot] = RDMACG_NO_LIMIT;
	}
}

/* One word after the device's name. */
static int rdmacg_parse_word(struct rdmacg_word word, struct rdmacg_line *line)
{
	const char *equals = memchr(word.text, '=', word.len);
	struct rdmacg_word key, value;

	if (!equals) {
		if (!rdmacg_word_is(word, "max"))
			return -EINVAL;
		rdmacg_reset_limits(line);
		return 0;
	}

	key.text = word.text;
	key.len = equals - word.text;
	value.text = equals + 1;
	value.len = word.len - key.len - 1;
	if (rdmacg_word_is(key, "index"))
		return rdmacg_parse_index(value, line);
	return rdmacg_parse_limit(key, value, line);
}

/*
 * Parse the next line of *@text that is not blank and move *@text past it. Of a
 * key given twice the last value counts. Returns 1 for a line, 0 at the end of
 * the text, -EINVAL for a line that is no limit.
 */
int rdmacg_parse_line(const char **text, struct rdmacg_line *line)
{
	struct rdmacg_word word;
	int ret;

	*text += strspn(*text, " \t\n");
	if (!**text)
		return 0;

	memset(line, 0, sizeof(*line));
	rdmacg_next_word(text, &word);
	line->name = word.text;
	line->name_len = word.len;
	while (rdmacg_next_word(text, &word)) {
		ret = rdmacg_parse_word(word, line);
		if (ret)
			return ret;
	}
	return line->given ? 1 : -EINVAL;
}

/* What a line begins with: the name, and the index where the name is not unique. */
void rdmacg_print_device(struct seq_file *sf, const struct rdmacg_device *device,
			 bool unique)
{
	if (unique)
		seq_printf(sf, "%s", device->name);
	else
		seq_printf(sf, "%s index=%u", device->name, device->index);
}

void rdmacg_print_value(struct seq_file *sf, const char *key, u64 value)
{
	if (value == RDMACG_NO_LIMIT)
		seq_printf(sf, " %s=max", key);
	else
		seq_printf(sf, " %s=%llu", key, value);
}
