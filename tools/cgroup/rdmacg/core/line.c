// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the lines of the controller's files, and the devices in them. */
#include "core/core.h"

const struct device device_default = { .name = (char *)"default", .is_default = true };

/* Keep an escape in @word, because the user may have copied the name from a file. */
char *device_escape(const char *word)
{
	char *name = memory_zeroed(strlen(word) * 4 + 1, 1);
	char *to = name;

	for (; *word; word++) {
		bool escaped = *word == '\\' && word[1] >= '0' && word[1] <= '3' &&
			       strspn(word + 2, "01234567") >= 2;
		bool plain = *word > ' ' && *word < 0x7f && (*word != '\\' || escaped);

		to += sprintf(to, plain ? "%c" : "\\%03o", (unsigned char)*word);
	}
	return name;
}

bool device_is_same(const struct device *a, const struct device *b)
{
	return a->is_default == b->is_default && a->has_index == b->has_index &&
	       (!a->has_index || a->index == b->index) && !strcmp(a->name, b->name);
}

bool key_is_same(const char *a, const char *b)
{
	a += strncmp(a, "hw:", 3) ? 0 : 3;
	b += strncmp(b, "hw:", 3) ? 0 : 3;
	return !strcmp(a, b);
}

struct device_text device_text(const struct device *device)
{
	struct device_text text;

	snprintf(text.s, sizeof(text.s), device->has_index ? "%s index=%u" : "%s", device->name,
		 device->index);
	return text;
}

struct json_object *device_index(const struct device *device)
{
	return device->has_index ? json_object_new_uint64(device->index) : NULL;
}

bool device_take_index(struct device *device, const char *word, size_t length)
{
	uint64_t index;

	if (strncmp(word, "index=", 6) || !number_parse(word + 6, length - 6, &index) ||
	    index > UINT32_MAX)
		return false;
	device->has_index = true;
	device->index = index;
	return true;
}

bool line_next(char **text, struct line *line)
{
	char *start, *pairs;
	size_t length;

	while ((start = file_next_line(text))) {
		/* A name ends before the first word with an equals sign. */
		pairs = strchr(strchrnul(start, ' '), '=');
		while (pairs && pairs[-1] != ' ')
			pairs--;
		/* A line without pairs, or without a name, is not a device's line. */
		if (!pairs || pairs == start + 1)
			continue;
		pairs[-1] = '\0';
		line->device = (struct device){ .name = start };
		line->rest = pairs;
		length = strcspn(pairs, " ");
		if (device_take_index(&line->device, pairs, length))
			line->rest += length + strspn(pairs + length, " ");
		return true;
	}
	return false;
}

/* A key with only these characters needs no escapes. */
static bool line_is_key(const char *key, size_t length)
{
	size_t i;

	/* Do not use strspn(), which first builds a table for each of these short words. */
	for (i = 0; i < length; i++)
		if (!(key[i] >= 'a' && key[i] <= 'z') && !(key[i] >= '0' && key[i] <= '9') &&
		    !strchr("_.:", key[i]))
			return false;
	return length;
}

bool line_next_value(struct line *line, const char **key, uint64_t *value)
{
	char *word, *equals;

	while ((word = strsep(&line->rest, " "))) {
		equals = strchr(word, '=');
		if (!equals || !line_is_key(word, equals - word))
			continue;
		*equals = '\0';
		*key = word;
		if (!strcmp(equals + 1, "max"))
			*value = NUMBER_MAX;
		else if (!number_parse(equals + 1, strlen(equals + 1), value))
			continue;
		return true;
	}
	return false;
}
