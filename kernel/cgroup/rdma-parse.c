// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: text to limits and limits to text.
 *
 * Written:  lines NAME [index=N] KEY=VALUE..., NAME [index=N] max or NAME
 * [index=N] default;
 *           for rdma.default, one line KEY=VALUE... or max.
 * Read:     NAME[ index=N] KEY=VALUE KEY=VALUE, no blank at the end.
 *
 * A device can have any name. In the files, \ooo (three octal digits) replaces
 * each backslash and each byte outside 0x21 to 0x7e. So a name in a file is one
 * word of printable bytes.
 *
 * The parser cuts the text into words in place, and does not allocate memory.
 */
#include <linux/cgroup_rdma.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "rdma-parse.h"

/* Returns whether a text can be the name of a resource. */
bool rdmacg_key_is_valid(const char *key)
{
	size_t len = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return islower(*key) && !key[len] && len < RDMACG_KEY_SIZE &&
	       strcmp(key, "max") && strcmp(key, "index") && strcmp(key, "default");
}

/*
 * Copy the name as the files show it. Returns the length, or 0 and an empty
 * string if the name is too long.
 */
size_t rdmacg_escape_name(char *to, size_t size, const char *name)
{
	size_t len = string_escape_str(name, to, size, ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND,
				       " \\");

	if (len >= size)
		len = 0;
	to[len] = '\0';
	return len;
}

/* Convert the written name of a device to the form that the files show. */
static int rdmacg_parse_name(char *text, char *name)
{
	const char *escape;

	for (escape = strchr(text, '\\'); escape; escape = strchr(escape + 4, '\\'))
		if (strspn(escape + 1, "01234567") < 3 || escape[1] > '3' ||
		    !strncmp(escape + 1, "000", 3))
			return -EINVAL;
	string_unescape_inplace(text, UNESCAPE_OCTAL);
	rdmacg_escape_name(name, RDMACG_NAME_SIZE, text);
	return 0;
}

/*
 * Cut the next piece off the text, up to a separator. The piece is empty at the
 * end of the text.
 */
static char *rdmacg_cut(char **text, const char *separators)
{
	char *piece = *text + strspn(*text, separators);

	*text = piece + strcspn(piece, separators);
	if (**text)
		*(*text)++ = '\0';
	return piece;
}

/*
 * Cut the next limit off the line. An empty *@key stands for all keys of the
 * class. Only an empty key can have the value RDMACG_USE_DEFAULT. Returns 1 for
 * a limit, 0 at the end of the line, and -EINVAL for other text.
 */
int rdmacg_parse_limit(char **line, const char **key, u64 *max)
{
	char *value = rdmacg_cut(line, " \t");

	if (!*value)
		return 0;

	*max = RDMACG_NO_LIMIT;
	*key = strsep(&value, "=");
	if (!value) {
		if (!strcmp(*key, "default"))
			*max = RDMACG_USE_DEFAULT;
		else if (strcmp(*key, "max"))
			return -EINVAL;
		*key = "";
		return 1;
	}
	if (!**key)
		return -EINVAL;
	if (!strcmp(value, "max"))
		return 1;
	/* kstrtou64() would accept a plus sign. */
	if (!isdigit(*value) || kstrtou64(value, 10, max) || *max >= RDMACG_NO_LIMIT)
		return -EINVAL;
	return 1;
}

/*
 * Returns false if the last of several lines has no newline. Such a line may be
 * cut off, and could set a limit that is too small.
 */
bool rdmacg_text_is_whole(const char *text)
{
	const char *newline = strrchr(text, '\n');

	return !newline || !newline[1];
}

/* Parse the index, which may follow the name. */
static int rdmacg_parse_index(struct rdmacg_line *line)
{
	const char *index;

	line->limits += strspn(line->limits, " \t");
	line->has_index = str_has_prefix(line->limits, "index=");
	if (!line->has_index)
		return 0;
	index = rdmacg_cut(&line->limits, " \t") + strlen("index=");
	return isdigit(*index) && !kstrtou32(index, 10, &line->index) ? 0 : -EINVAL;
}

/*
 * Cut the next non-blank line off the text, and parse its name and index.
 * Returns 1 for a line, 0 at the end of the text, or -EINVAL.
 */
int rdmacg_parse_line(char **text, struct rdmacg_line *line)
{
	char *name;

	*text += strspn(*text, " \t\n");
	line->limits = rdmacg_cut(text, "\n");
	name = rdmacg_cut(&line->limits, " \t");
	if (!*name)
		return 0;
	return rdmacg_parse_name(name, line->name) ?: rdmacg_parse_index(line) ?: 1;
}

/* Print " KEY=VALUE"; @suffix belongs to the key. */
void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix, u64 value)
{
	seq_printf(sf, " %s%s=%llu", key, suffix, value);
}

/* Print " KEY=VALUE". The value "max" stands for no limit. */
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit)
{
	if (limit == RDMACG_NO_LIMIT)
		seq_printf(sf, " %s=max", key);
	else
		rdmacg_print_value(sf, key, "", limit);
}
