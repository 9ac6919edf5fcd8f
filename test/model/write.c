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

/* "KEY=NUMBER", "KEY=max", "max" or "default". */
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

/* One limit or more, and no malformed one. A default has no default. */
static bool model_limits_are_good(const struct model_line *line)
{
	struct model_text limits = line->limits;
	struct model_limit limit = { .good = false };

	while (model_next_limit(&limits, &limit)) {
		if (line->is_default && limit.max == USE_DEFAULT)
			return false;
		if (!limit.good)
			break;
	}
	return limit.good;
}

bool model_next_line(struct model_text *rest, struct model_line *line)
{
	do {
		if (!model_cut(rest, "\n", &line->limits))
			return false;
	} while (!model_cut_word(&line->limits, &line->name));
	line->is_default = model_is(line->name, "default");
	line->good = model_take_index(line) && model_limits_are_good(line) &&
		     !(line->is_default && line->has_index);
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

/* ---- defaults ---- */

/* The keys that can have one whatever devices there are, in the order in which they are shown. */
static const char *const model_keys[][MAX_DEFAULTS] = {
	[MODEL_HCA] = { "hca_handle", "hca_object" },
	[MODEL_VERB] = {
		"pd", "comp_channel", "cq", "qp", "srq", "ah", "mr", "mw", "flow", "xrcd",
		"rwq_ind_tbl", "wq", "flow_action", "dm", "counters", "async_event",
		"driver_object", "mr_mem", "dm_mem", "cm_id",
	},
	[MODEL_HW] = { NULL },
	[MODEL_CONTROL] = { "ops", "burst", "inflight" },
};

static void model_add_key(struct model_defaults *defaults, const char *key, size_t len)
{
	memcpy(defaults->keys[defaults->nr_keys], key, len);
	defaults->keys[defaults->nr_keys][len] = '\0';
	defaults->max[defaults->nr_keys++] = NO_LIMIT;
}

void model_defaults_init(struct model_defaults *defaults, enum model_class class)
{
	const char *const *key;

	defaults->class = class;
	defaults->nr_keys = 0;
	for (key = model_keys[class]; *key; key++)
		model_add_key(defaults, *key, strlen(*key));
}

static bool model_has_default(const struct model_defaults *defaults)
{
	unsigned int i;

	for (i = 0; i < defaults->nr_keys; i++)
		if (defaults->max[i] != NO_LIMIT)
			return true;
	return false;
}

static unsigned long long model_default(const struct model_defaults *defaults, const char *key)
{
	unsigned int i;

	for (i = 0; i < defaults->nr_keys; i++)
		if (!strcmp(defaults->keys[i], key))
			return defaults->max[i];
	return NO_LIMIT;
}

/* What a driver can call a resource. */
static bool model_is_key(struct model_text key)
{
	size_t i;

	for (i = 0; i < key.len; i++)
		if (!model_is_among(key.at[i], i ? "abcdefghijklmnopqrstuvwxyz0123456789_" :
						   "abcdefghijklmnopqrstuvwxyz"))
			return false;
	return key.len && key.len <= 31 && !model_is(key, "max") && !model_is(key, "index") &&
	       !model_is(key, "default");
}

/* Set one key or, without one, all; false if the key is none. */
static bool model_set_default(struct model_defaults *defaults, const struct model_limit *limit)
{
	bool found = !limit->key.len;
	unsigned int i;

	for (i = 0; i < defaults->nr_keys; i++) {
		if (limit->key.len && !model_is(limit->key, defaults->keys[i]))
			continue;
		found = true;
		defaults->max[i] = limit->max;
	}
	if (found)
		return true;
	if (defaults->class != MODEL_HW || !model_is_key(limit->key) ||
	    defaults->nr_keys == MAX_EDITED)
		return false;
	model_add_key(defaults, limit->key.at, limit->key.len);
	defaults->max[defaults->nr_keys - 1] = limit->max;
	return true;
}

/* Keys that nobody knows are gone at the end of the write that takes their limit away. */
static void model_drop_keys(struct model_defaults *defaults)
{
	unsigned int i, count = defaults->nr_keys;

	if (defaults->class != MODEL_HW)
		return;
	for (i = defaults->nr_keys = 0; i < count; i++) {
		if (defaults->max[i] == NO_LIMIT)
			continue;
		memmove(defaults->keys[defaults->nr_keys], defaults->keys[i],
			sizeof(defaults->keys[i]));
		defaults->max[defaults->nr_keys++] = defaults->max[i];
	}
}

/* ---- devices ---- */

/* Set what the limit names, or only look for it; false if it names nothing. */
static bool model_set_limit(struct model_device *device, const struct model_limit *limit,
			    bool keep_max, bool set)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < device->nr_keys; i++) {
		if (limit->key.len && !model_is(limit->key, device->keys[i]))
			continue;
		found = true;
		if (!set)
			continue;
		device->max[i] = limit->max;
		device->own[i] = limit->max != USE_DEFAULT && (limit->max != NO_LIMIT || keep_max);
	}
	return found;
}

/* What is not a device's own is the default's. That it has no limit is nothing beside none. */
static void model_use_defaults(struct model_device *device, const struct model_defaults *defaults)
{
	unsigned int i;

	for (i = 0; i < device->nr_keys; i++) {
		if (device->max[i] == NO_LIMIT && !model_has_default(defaults))
			device->own[i] = false;
		if (!device->own[i])
			device->max[i] = model_default(defaults, device->keys[i]);
	}
}

/*
 * Set all limits of a well-formed text, or only look for what they name: then the defaults
 * are set, which count before all others.
 */
static int model_set_lines(struct model_device *devices, unsigned int count,
			   struct model_defaults *defaults, struct model_text text, bool set)
{
	bool keep_max = model_has_default(defaults);
	struct model_device *device = NULL;
	struct model_limit limit;
	struct model_line line;
	int error;

	while (model_next_line(&text, &line)) {
		if (line.is_default && set)
			continue;
		error = line.is_default ? 0 : model_find(devices, count, &line, &device);
		if (error)
			return error;
		while (model_next_limit(&line.limits, &limit)) {
			/* There cannot be no commands. */
			if (!limit.max && defaults->class == MODEL_CONTROL)
				return -EINVAL;
			if (!(line.is_default ? model_set_default(defaults, &limit) :
						model_set_limit(device, &limit, keep_max, set)))
				return -EINVAL;
		}
	}
	return 0;
}

/*
 * What is malformed anywhere in the text is found before what does not exist. Of the
 * latter, the first line's device comes first, and then that line's keys.
 */
int model_write(struct model_device *devices, unsigned int count,
		struct model_defaults *defaults, struct model_text text)
{
	struct model_defaults changed = *defaults;
	unsigned int i;
	int error;

	/* The kernel ends a write of nothing before the controller sees it. */
	if (!text.len)
		return 0;
	if (text.len > MAX_WRITE)
		return -E2BIG;
	if (!model_text_is_good(text))
		return -EINVAL;
	error = model_set_lines(devices, count, &changed, text, false);
	if (error)
		return error;
	model_drop_keys(&changed);
	if (changed.nr_keys > MAX_DEFAULTS)
		return -EINVAL;
	*defaults = changed;
	model_set_lines(devices, count, defaults, text, true);
	for (i = 0; i < count; i++)
		model_use_defaults(&devices[i], defaults);
	return 0;
}

static void model_print_limit(FILE *stream, const char *key, unsigned long long max)
{
	if (max == NO_LIMIT)
		fprintf(stream, " %s=max", key);
	else
		fprintf(stream, " %s=%llu", key, max);
}

void model_print_defaults(FILE *stream, const struct model_defaults *defaults)
{
	unsigned int i;

	if (!model_has_default(defaults))
		return;
	fputs("default", stream);
	for (i = 0; i < defaults->nr_keys; i++)
		if (defaults->max[i] != NO_LIMIT || defaults->class == MODEL_HCA)
			model_print_limit(stream, defaults->keys[i], defaults->max[i]);
	putc('\n', stream);
}

void model_print(FILE *stream, const struct model_device *device)
{
	unsigned int i;

	fputs(device->name, stream);
	if (device->index_is_shown)
		fprintf(stream, " index=%u", device->index);
	for (i = 0; i < device->nr_keys; i++)
		model_print_limit(stream, device->keys[i], device->max[i]);
	putc('\n', stream);
}
