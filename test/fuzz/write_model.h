/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a write to a file of limits says, read a second time: the judge over the
 * controller's own parser. It goes by Documentation/admin-guide/cgroup-v1/rdma.rst,
 * knows the length of each piece instead of an end mark, and compares numbers as
 * strings of digits, so that it shares no mistake with the parser by its method.
 */
#ifndef PROOF_WRITE_MODEL_H
#define PROOF_WRITE_MODEL_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define MODEL_NO_LIMIT ((unsigned long long)LLONG_MAX)

/* A piece of the text. */
struct model_text {
	const char	*at;
	size_t		len;
};

struct model_line {
	struct model_text name;
	struct model_text limits;	/* for model_next_limit() */
	unsigned int	index;
	bool		has_index;
	bool		good;		/* well formed; the device and keys may not exist */
};

struct model_limit {
	struct model_text key;		/* empty for all keys */
	unsigned long long max;
};

static inline bool model_is(struct model_text text, const char *string)
{
	return text.len == strlen(string) && !memcmp(text.at, string, text.len);
}

static inline bool model_is_among(char c, const char *chars)
{
	while (*chars && *chars != c)
		chars++;
	return *chars;
}

static inline void model_skip(struct model_text *text, size_t len)
{
	text->at += len;
	text->len -= len;
}

/* Take the first piece between separators off @rest; false if there is none. */
static inline bool model_cut(struct model_text *rest, const char *separators,
			     struct model_text *piece)
{
	while (rest->len && model_is_among(*rest->at, separators))
		model_skip(rest, 1);
	*piece = *rest;
	while (rest->len && !model_is_among(*rest->at, separators))
		model_skip(rest, 1);
	piece->len -= rest->len;
	return piece->len;
}

static inline bool model_cut_word(struct model_text *rest, struct model_text *word)
{
	return model_cut(rest, " \t", word);
}

/* Digits alone, and no greater number than @most. */
static inline bool model_number(struct model_text digits, const char *most,
				unsigned long long *number)
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

/* The next limit of a line: 1, 0 at the end, -1 for a malformed one. */
static inline int model_next_limit(struct model_text *rest, struct model_limit *limit)
{
	struct model_text value;

	if (!model_cut_word(rest, &value))
		return 0;
	limit->key = (struct model_text){ value.at, 0 };
	limit->max = MODEL_NO_LIMIT;
	while (limit->key.len < value.len && value.at[limit->key.len] != '=')
		limit->key.len++;
	if (limit->key.len == value.len) {
		limit->key.len = 0;
		return model_is(value, "max") ? 1 : -1;
	}
	model_skip(&value, limit->key.len + 1);
	if (!limit->key.len)
		return -1;
	return model_is(value, "max") ||
	       model_number(value, "9223372036854775806", &limit->max) ? 1 : -1;
}

/* An index is well formed or not there. */
static inline bool model_take_index(struct model_line *line)
{
	struct model_text rest = line->limits, word;
	unsigned long long index;

	line->index = 0;
	line->has_index = model_cut_word(&rest, &word) && word.len >= 6 &&
			  !memcmp(word.at, "index=", 6);
	if (!line->has_index)
		return true;
	model_skip(&word, 6);
	if (!model_number(word, "4294967295", &index))
		return false;
	line->index = index;
	line->limits = rest;
	return true;
}

/* One limit or more, and no malformed one. */
static inline bool model_limits_are_good(struct model_text limits)
{
	struct model_limit limit;
	bool empty = true;
	int ret;

	while ((ret = model_next_limit(&limits, &limit)) > 0)
		empty = false;
	return !ret && !empty;
}

/* Each of several lines ends in a newline; a single one may do without. */
static inline bool model_lines_end(struct model_text text)
{
	return !text.len || !memchr(text.at, '\n', text.len) || text.at[text.len - 1] == '\n';
}

/* The next line of @rest that is not blank; false if there is none. */
static inline bool model_next_line(struct model_text *rest, struct model_line *line)
{
	do {
		if (!model_cut(rest, "\n", &line->limits))
			return false;
	} while (!model_cut_word(&line->limits, &line->name));
	line->good = model_take_index(line) && model_limits_are_good(line->limits);
	return true;
}

#endif /* PROOF_WRITE_MODEL_H */
