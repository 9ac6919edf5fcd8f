// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "write.h"

static bool model_is(struct model_text text, const char *string)
{
	return text.len == strlen(string) && !memcmp(text.at, string, text.len);
}

bool model_is_among(char c, const char *chars)
{
	return memchr(chars, c, strlen(chars));
}

static void model_skip(struct model_text *text, size_t len)
{
	text->at += len;
	text->len -= len;
}

/* Take the first piece between separators off @rest; false if there is none. */
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

static bool model_cut_word(struct model_text *rest, struct model_text *word)
{
	return model_cut(rest, " \t", word);
}

/* Digits alone, and no greater number than @most. */
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

/* "KEY=NUMBER", "KEY=max" or "max". */
bool model_next_limit(struct model_text *rest, struct model_limit *limit)
{
	struct model_text value;

	if (!model_cut_word(rest, &value))
		return false;
	limit->key = (struct model_text){ value.at, 0 };
	limit->max = NO_LIMIT;
	while (limit->key.len < value.len && value.at[limit->key.len] != '=')
		limit->key.len++;
	if (limit->key.len == value.len) {
		limit->key.len = 0;
		limit->good = model_is(value, "max");
		return true;
	}
	model_skip(&value, limit->key.len + 1);
	limit->good = limit->key.len && (model_is(value, "max") ||
		      model_number(value, "9223372036854775806", &limit->max));
	return true;
}

/* Take "index=N" off a line's limits if it is there; false if N is malformed. */
static bool model_take_index(struct model_line *line)
{
	struct model_text rest = line->limits, word;
	unsigned long long index = 0;

	line->has_index = model_cut_word(&rest, &word) && word.len >= 6 &&
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

/* One limit or more, and no malformed one. */
static bool model_limits_are_good(struct model_text limits)
{
	struct model_limit limit = { .good = false };

	while (model_next_limit(&limits, &limit))
		if (!limit.good)
			break;
	return limit.good;
}

bool model_next_line(struct model_text *rest, struct model_line *line)
{
	do {
		if (!model_cut(rest, "\n", &line->limits))
			return false;
	} while (!model_cut_word(&line->limits, &line->name));
	line->good = model_take_index(line) && model_limits_are_good(line->limits);
	return true;
}

bool model_text_is_good(struct model_text text)
{
	struct model_line line = { .good = false };

	if (memchr(text.at, '\0', text.len))
		return false;
	/* The last of several lines that does not end may have been cut. */
	if (memchr(text.at, '\n', text.len) && text.at[text.len - 1] != '\n')
		return false;
	while (model_next_line(&text, &line))
		if (!line.good)
			break;
	return line.good;
}

/* Look for the only device that the line can mean. */
static int model_find(struct model_device *devices, unsigned int count,
		      const struct model_line *line, struct model_device **found)
{
	unsigned int i;

	*found = NULL;
	for (i = 0; i < count; i++) {
		if (!model_is(line->name, devices[i].name) ||
		    (line->has_index && line->index != devices[i].index))
			continue;
		if (*found)
			return -ENOTUNIQ;
		*found = &devices[i];
	}
	return *found ? 0 : -ENODEV;
}

/* Set what the limit names, or only look for it; false if it names nothing. */
static bool model_set_limit(struct model_device *device, const struct model_limit *limit, bool set)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < device->nr_keys; i++) {
		if (limit->key.len && !model_is(limit->key, device->keys[i]))
			continue;
		found = true;
		if (set)
			device->max[i] = limit->max;
	}
	return found;
}

/* Set all limits of a well-formed text, or only look for what they name. */
static int model_set_lines(struct model_device *devices, unsigned int count,
			   struct model_text text, bool set)
{
	struct model_device *device;
	struct model_limit limit;
	struct model_line line;
	int error;

	while (model_next_line(&text, &line)) {
		error = model_find(devices, count, &line, &device);
		if (error)
			return error;
		while (model_next_limit(&line.limits, &limit))
			if (!model_set_limit(device, &limit, set))
				return -EINVAL;
	}
	return 0;
}

/*
 * What is malformed anywhere in the text is found before what does not exist. Of the
 * latter, the first line's device comes first, and then that line's keys.
 */
int model_write(struct model_device *devices, unsigned int count, struct model_text text)
{
	int error;

	/* The kernel ends a write of nothing before the controller sees it. */
	if (!text.len)
		return 0;
	if (text.len > MAX_WRITE)
		return -E2BIG;
	if (!model_text_is_good(text))
		return -EINVAL;
	error = model_set_lines(devices, count, text, false);
	return error ?: model_set_lines(devices, count, text, true);
}

void model_print(FILE *stream, const struct model_device *device)
{
	unsigned int i;

	fputs(device->name, stream);
	if (device->index_is_shown)
		fprintf(stream, " index=%u", device->index);
	for (i = 0; i < device->nr_keys; i++) {
		fprintf(stream, " %s=", device->keys[i]);
		if (device->max[i] == NO_LIMIT)
			fputs("max", stream);
		else
			fprintf(stream, "%llu", device->max[i]);
	}
	putc('\n', stream);
}
