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

		if (*word > ' ' && *word < 0x7f && (*word != '\\' || escaped))
			*to++ = *word;
		else
			to += sprintf(to, "\\%03o", (unsigned char)*word);
	}
	return name;
}

void device_copy(struct device *to, const struct device *from)
{
	*to = *from;
	to->name = memory_string(from->name);
}

void device_free(struct device *device)
{
	free(device->name);
	device->name = NULL;
}

bool device_is_same(const struct device *a, const struct device *b)
{
	return a->is_default == b->is_default && a->has_index == b->has_index &&
	       (!a->has_index || a->index == b->index) && !strcmp(a->name, b->name);
}

const char *device_text(const struct device *device)
{
	static char *text;

	free(text);
	text = device->has_index ? memory_format("%s index=%u", device->name, device->index) :
				   memory_string(device->name);
	return text;
}

struct json_object *device_index(const struct device *device)
{
	return device->has_index ? json_object_new_uint64(device->index) : NULL;
}

/* Take "index=N" from the beginning of the pairs, because the index belongs to the device. */
static void line_take_index(struct line *line)
{
	size_t length = strcspn(line->rest, " ");
	uint64_t index;

	if (strncmp(line->rest, "index=", 6) ||
	    !number_parse(line->rest + 6, length - 6, &index) || index > UINT32_MAX)
		return;
	line->device.has_index = true;
	line->device.index = index;
	line->rest += length;
	line->rest += strspn(line->rest, " ");
}

/*
 * Find the pairs, which begin at the first word with an equals sign. The name before them has at
 * least one word, and may contain any character, even blanks.
 */
static char *line_find_pairs(char *text)
{
	char *blank = strchr(text, ' ');

	while (blank) {
		char *word = blank + strspn(blank, " ");
		size_t length = strcspn(word, " ");

		if (memchr(word, '=', length))
			return word;
		blank = strchr(word, ' ');
	}
	return NULL;
}

bool line_next(char **text, struct line *line)
{
	char *start, *pairs;

	while ((start = file_next_line(text))) {
		pairs = line_find_pairs(start);
		/* A line without pairs, or without a name, is not a device's line. */
		if (!pairs || pairs == start + 1)
			continue;
		/*
		 * A single blank separates the name from the pairs. Other blanks belong to the
		 * name.
		 */
		pairs[-1] = '\0';
		line->device.name = start;
		line->device.is_default = false;
		line->device.has_index = false;
		line->device.index = 0;
		line->rest = pairs;
		line_take_index(line);
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
