// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "write.h"

static bool model_is(struct model_text text, const char *string)
{
	return text.len == strlen(string) && !memcmp(text.at, string, text.len);
}

static bool model_is_among(char c, const char *chars)
{
	return memchr(chars, c, strlen(chars));
}

static void model_skip(struct model_text *text, size_t len)
{
	text->at += len;
	text->len -= len;
}

/* Cut the first piece between separators off @rest. Returns false if no piece is left. */
static bool model_cut(struct model_text *rest, const char *separators, struct model_text *piece)
{
	while (rest->len && model_is_among(*rest->at, separators))
		model_skip(rest, 1);
	*piece = *rest;
	while (rest->len && !model_is_among(*rest->at, separators))
		model_skip(rest, 1);
	piece->len -= rest->len;
	return piece->len;
}

/* Convert digits to a number of at most @most. Returns false for another text. */
static bool model_number(struct model_text digits, const char *most, unsigned long long *number)
{
	size_t i;

	for (i = 0; i < digits.len; i++)
		if (!model_is_among(digits.at[i], "0123456789"))
			return false;
	if (!digits.len)
		return false;
	while (digits.len > 1 && *digits.at == '0')
		model_skip(&digits, 1);
	if (digits.len > strlen(most) ||
	    (digits.len == strlen(most) && memcmp(digits.at, most, digits.len) > 0))
		return false;
	for (*number = 0; digits.len; model_skip(&digits, 1))
		*number = *number * 10 + (*digits.at - '0');
	return true;
}

/* A limit is "KEY=NUMBER", "KEY=max", "max" or "default". */
bool model_next_limit(struct model_text *rest, struct model_limit *limit)
{
	struct model_text value;

	if (!model_cut(rest, " \t", &value))
		return false;
	limit->key = (struct model_text){ value.at, 0 };
	limit->max = NO_LIMIT;
	while (limit->key.len < value.len && value.at[limit->key.len] != '=')
		limit->key.len++;
	if (limit->key.len == value.len) {
		limit->key.len = 0;
		if (model_is(value, "default"))
			limit->max = USE_DEFAULT;
		limit->good = limit->max == USE_DEFAULT || model_is(value, "max");
		return true;
	}
	model_skip(&value, limit->key.len + 1);
	limit->good = limit->key.len && (model_is(value, "max") ||
		      model_number(value, "9223372036854775806", &limit->max));
	return true;
}

/*
 * Cut "index=N" off the beginning of a line's limits, if it is there. Returns false if N is
 * malformed.
 */
static bool model_take_index(struct model_line *line)
{
	struct model_text rest = line->limits, word;
	unsigned long long index = 0;

	line->has_index = model_cut(&rest, " \t", &word) && word.len >= 6 &&
			  !memcmp(word.at, "index=", 6);
	if (line->has_index) {
		model_skip(&word, 6);
		if (!model_number(word, "4294967295", &index))
			return false;
		line->limits = rest;
	}
	line->index = index;
	return true;
}

/* Returns the byte of the escape \ooo at the beginning of @text, or -1. */
static int model_escaped(struct model_text text)
{
	int byte = 0, i;

	if (text.len < 4)
		return -1;
	for (i = 1; i < 4; i++) {
		if (!model_is_among(text.at[i], "01234567"))
			return -1;
		byte = byte * 8 + (text.at[i] - '0');
	}
	return byte >= 1 && byte <= 255 ? byte : -1;
}

/*
 * Decode a name. Truncate a name that is too long, because no device has such a name. Returns
 * false if an escape is malformed.
 */
static bool model_unescape(struct model_text shown, char name[MAX_NAME])
{
	size_t len = 0;
	int byte;

	while (shown.len) {
		byte = *shown.at == '\\' ? model_escaped(shown) : (unsigned char)*shown.at;
		if (byte < 0)
			return false;
		model_skip(&shown, *shown.at == '\\' ? 4 : 1);
		if (len < MAX_NAME - 1)
			name[len++] = byte;
	}
	name[len] = '\0';
	return true;
}

bool model_next_line(struct model_text *rest, struct model_line *line)
{
	do {
		if (!model_cut(rest, "\n", &line->limits))
			return false;
	} while (!model_cut(&line->limits, " \t", &line->name));
	line->good = model_unescape(line->name, line->device) && model_take_index(line);
	return true;
}

bool model_text_is_whole(struct model_text text)
{
	if (memchr(text.at, '\0', text.len))
		return false;
	return !memchr(text.at, '\n', text.len) || text.at[text.len - 1] == '\n';
}

void model_escape(const char *name, char shown[MAX_SHOWN])
{
	unsigned char byte;

	while ((byte = *name++))
		shown += sprintf(shown, byte > ' ' && byte <= '~' && byte != '\\' ? "%c" : "\\%03o",
				 byte);
	*shown = '\0';
}
