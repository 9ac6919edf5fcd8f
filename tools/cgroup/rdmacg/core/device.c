// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the name of a device. */
#include "core/core.h"

const struct device device_default = { .name = (char *)"default", .is_default = true };

/* Do not change an escape, because the files show the escape. */
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
