// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
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

static bool model_cut_word(struct model_text *rest, struct model_text *word)
{
	return model_cut(rest, " \t", word);
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

/*
 * Cut "index=N" off the beginning of a line's limits, if it is there. Returns false if N is
 * malformed.
 */
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

/* Truncate a name that is too long, because no device has such a name. */
bool model_unescape(struct model_text shown, char name[MAX_NAME])
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
	char name[MAX_NAME];

	do {
		if (!model_cut(rest, "\n", &line->limits))
			return false;
	} while (!model_cut_word(&line->limits, &line->name));
	line->good = model_unescape(line->name, name) && model_take_index(line);
	return true;
}

bool model_text_is_whole(struct model_text text)
{
	if (memchr(text.at, '\0', text.len))
		return false;
	return !memchr(text.at, '\n', text.len) || text.at[text.len - 1] == '\n';
}

/* Find the only device that matches the line. */
static int model_find(struct model_device *devices, unsigned int count,
		      const struct model_line *line, struct model_device **found)
{
	char name[MAX_NAME];
	unsigned int i;

	*found = NULL;
	model_unescape(line->name, name);
	for (i = 0; i < count; i++) {
		if (strcmp(name, devices[i].name) ||
		    (line->has_index && line->index != devices[i].index))
			continue;
		if (*found)
			return -ENOTUNIQ;
		*found = &devices[i];
	}
	return *found ? 0 : -ENODEV;
}

/* ---- defaults ---- */

/* The keys that can have a default even without a device, in the order of the file. */
static const char *const model_keys[MODEL_CLASSES][MAX_HW_DEFAULTS] = {
	[MODEL_HCA] = { "hca_handle", "hca_object" },
	[MODEL_VERB] = {
		"pd", "comp_channel", "cq", "qp", "srq", "ah", "mr", "mw", "flow", "xrcd",
		"rwq_ind_tbl", "wq", "flow_action", "dm", "counters", "async_event", "dmah",
		"dmabuf", "comp_cntr", "driver_object", "mr_mem", "dm_mem", "mcast", "cm_id",
	},
	[MODEL_CONTROL] = { "ops", "burst", "inflight" },
};

static void model_add_default(struct model_defaults *defaults, enum model_class class,
			      struct model_text key, unsigned long long max)
{
	struct model_default *added = &defaults->of[defaults->count++];

	added->class = class;
	memcpy(added->key, key.at, key.len);
	added->key[key.len] = '\0';
	added->max = max;
	added->is_new = true;
}

void model_defaults_init(struct model_defaults *defaults)
{
	enum model_class class;
	const char *const *key;

	defaults->count = 0;
	for (class = 0; class < MODEL_CLASSES; class++)
		for (key = model_keys[class]; *key; key++)
			model_add_default(defaults, class,
					  (struct model_text){ *key, strlen(*key) }, NO_LIMIT);
}

static unsigned long long model_default(const struct model_defaults *defaults,
					enum model_class class, const char *key)
{
	unsigned int i;

	for (i = 0; i < defaults->count; i++)
		if (defaults->of[i].class == class && !strcmp(defaults->of[i].key, key))
			return defaults->of[i].max;
	return NO_LIMIT;
}

/* Whether a driver can give a resource this name. */
static bool model_is_key(struct model_text key)
{
	size_t i;

	for (i = 0; i < key.len; i++)
		if (!model_is_among(key.at[i], i ? "abcdefghijklmnopqrstuvwxyz0123456789_" :
						   "abcdefghijklmnopqrstuvwxyz"))
			return false;
	return key.len && key.len <= MAX_KEY && !model_is(key, "max") && !model_is(key, "index") &&
	       !model_is(key, "default");
}

/* A limit on commands is neither 0 nor too large. */
static bool model_can_be(enum model_class class, struct model_text key, unsigned long long max)
{
	if (class != MODEL_CONTROL || max == NO_LIMIT || max == USE_DEFAULT)
		return true;
	return max && (max <= MAX_OPS || !model_is(key, "ops"));
}

/* Set a key of another class than hw. Returns false if no class has the key. */
static bool model_set_known(struct model_defaults *defaults, const struct model_limit *limit)
{
	struct model_default *one;

	for (one = defaults->of; one < defaults->of + defaults->count; one++) {
		if (one->class == MODEL_HW || !model_is(limit->key, one->key))
			continue;
		one->max = limit->max;
		return model_can_be(one->class, limit->key, limit->max);
	}
	return false;
}

/*
 * Set a key of the hw class. The file shows keys of this class in the order in which they were
 * written.
 */
static bool model_set_hw(struct model_defaults *defaults, struct model_text key,
			 unsigned long long max)
{
	struct model_default *one;

	for (one = defaults->of; one < defaults->of + defaults->count; one++) {
		if (one->class != MODEL_HW || !model_is(key, one->key))
			continue;
		if (one->is_new) {
			one->max = max;
			return true;
		}
		/* A key that an earlier write has set moves to the end. */
		memmove(one, one + 1, (char *)(defaults->of + --defaults->count) - (char *)one);
		break;
	}
	if (!model_is_key(key) || defaults->count == MAX_DEFAULTS)
		return false;
	model_add_default(defaults, MODEL_HW, key, max);
	return true;
}

static void model_reset_defaults(struct model_defaults *defaults)
{
	unsigned int i;

	for (i = 0; i < defaults->count; i++) {
		defaults->of[i].max = NO_LIMIT;
		defaults->of[i].is_new = false;
	}
}

/*
 * Set one key, or all keys if the limit has no key. Returns false if the default is not possible.
 */
static bool model_set_default(struct model_defaults *defaults, const struct model_limit *limit)
{
	struct model_text key = limit->key;

	if (!limit->good || limit->max == USE_DEFAULT)
		return false;
	if (!key.len) {
		model_reset_defaults(defaults);
		return true;
	}
	if (key.len <= 3 || memcmp(key.at, "hw:", 3))
		return model_set_known(defaults, limit);
	model_skip(&key, 3);
	return model_set_hw(defaults, key, limit->max);
}

/* At the end of a write, remove each key of the hw class that has no limit. */
static bool model_drop_keys(struct model_defaults *defaults)
{
	unsigned int i, count = defaults->count, hw = 0;

	for (i = defaults->count = 0; i < count; i++) {
		if (defaults->of[i].class == MODEL_HW && defaults->of[i].max == NO_LIMIT)
			continue;
		hw += defaults->of[i].class == MODEL_HW;
		defaults->of[defaults->count++] = defaults->of[i];
	}
	return hw <= MAX_HW_DEFAULTS;
}

int model_write_defaults(struct model_defaults *defaults, struct model_text text)
{
	struct model_defaults changed = *defaults;
	struct model_limit limit = { .good = false };
	struct model_text line = text;
	unsigned int i;

	/* The kernel ends a write of nothing before the controller sees it. */
	if (!text.len)
		return 0;
	if (text.len > MAX_WRITE)
		return -E2BIG;
	if (line.at[line.len - 1] == '\n')
		line.len--;
	if (memchr(line.at, '\0', line.len) || memchr(line.at, '\n', line.len))
		return -EINVAL;
	for (i = 0; i < changed.count; i++)
		changed.of[i].is_new = false;
	while (model_next_limit(&line, &limit))
		if (!model_set_default(&changed, &limit))
			return -EINVAL;
	if (!limit.good || !model_drop_keys(&changed))
		return -EINVAL;
	*defaults = changed;
	return 0;
}

/* ---- devices ---- */

/*
 * Set the keys of the limit, or only look for the keys. Returns false if the device has no such
 * key.
 */
static bool model_set_limit(struct model_device *device, enum model_class class,
			    const struct model_limit *limit, bool set)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < device->nr_keys; i++) {
		if (limit->key.len && !model_is(limit->key, device->keys[i]))
			continue;
		if (!model_can_be(class, limit->key, limit->max))
			return false;
		found = true;
		if (!set)
			continue;
		device->max[i] = limit->max;
		device->own[i] = limit->max != USE_DEFAULT;
	}
	return found;
}

/*
 * Apply the defaults to each key without an own limit. An own "max" counts only if there is a
 * default.
 */
void model_use_defaults(struct model_device *devices, unsigned int count,
			enum model_class class, const struct model_defaults *defaults)
{
	struct model_device *device;
	unsigned long long max;
	unsigned int i;

	for (device = devices; device < devices + count; device++)
		for (i = 0; i < device->nr_keys; i++) {
			max = model_default(defaults, class, device->keys[i]);
			if (device->max[i] == NO_LIMIT && max == NO_LIMIT)
				device->own[i] = false;
			if (!device->own[i])
				device->max[i] = max;
		}
}

/* Set all limits of a text or, if !@set, only look for the first error. */
static int model_set_lines(struct model_device *devices, unsigned int count,
			   enum model_class class, struct model_text text, bool set)
{
	struct model_limit limit = { .good = false };
	struct model_device *device = NULL;
	struct model_line line;
	int error;

	while (model_next_line(&text, &line)) {
		if (!line.good)
			return -EINVAL;
		error = model_find(devices, count, &line, &device);
		if (error)
			return error;
		limit.good = false;
		while (model_next_limit(&line.limits, &limit))
			if (!limit.good || !model_set_limit(device, class, &limit, set))
				return -EINVAL;
		if (!limit.good)
			break;
	}
	return limit.good ? 0 : -EINVAL;
}

/* Return the first error in the text. */
int model_write(struct model_device *devices, unsigned int count, enum model_class class,
		const struct model_defaults *defaults, struct model_text text)
{
	int error;

	/* The kernel ends a write of nothing before the controller sees it. */
	if (!text.len)
		return 0;
	if (text.len > MAX_WRITE)
		return -E2BIG;
	if (!model_text_is_whole(text))
		return -EINVAL;
	error = model_set_lines(devices, count, class, text, false);
	if (error)
		return error;
	model_set_lines(devices, count, class, text, true);
	model_use_defaults(devices, count, class, defaults);
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
	const struct model_default *one;
	const char *before = "";

	for (one = defaults->of; one < defaults->of + defaults->count; one++) {
		if (one->max == NO_LIMIT)
			continue;
		fprintf(stream, "%s%s%s=%llu", before, one->class == MODEL_HW ? "hw:" : "",
			one->key, one->max);
		before = " ";
	}
	if (*before)
		putc('\n', stream);
}

void model_escape(const char *name, char shown[MAX_SHOWN])
{
	unsigned char byte;

	while ((byte = *name++))
		shown += sprintf(shown, byte > ' ' && byte <= '~' && byte != '\\' ? "%c" : "\\%03o",
				 byte);
	*shown = '\0';
}

void model_print_device(FILE *stream, const struct model_device *device)
{
	char shown[MAX_SHOWN];

	model_escape(device->name, shown);
	fputs(shown, stream);
	if (device->index_is_shown)
		fprintf(stream, " index=%u", device->index);
}

void model_print(FILE *stream, const struct model_device *device)
{
	unsigned int i;

	model_print_device(stream, device);
	for (i = 0; i < device->nr_keys; i++)
		model_print_limit(stream, device->keys[i], device->max[i]);
	putc('\n', stream);
}
