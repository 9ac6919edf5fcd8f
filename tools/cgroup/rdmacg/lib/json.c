// SPDX-License-Identifier: GPL-2.0
/* rdmacg: JSON in ASCII. */
#include "lib/lib.h"

struct json_object *json_text(const char *text)
{
	char *valid __autofree = text ? text_valid(text) : NULL;

	return valid ? json_object_new_string(valid) : NULL;
}

struct json_object *json_number(uint64_t value)
{
	return json_object_new_uint64(value);
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static void json_vfill(struct json_object *object, const char *keys, va_list args)
{
	char *copy __autofree = memory_string(keys);
	char *rest = copy, *key;
	uint64_t limit;
	double value;

	while ((key = strsep(&rest, " "))) {
		char *colon = strchr(key, ':');

		*colon = '\0';
		switch (colon[1]) {
		case 's':
			json_add(object, key, json_text(va_arg(args, const char *)));
			break;
		case 'u':
			json_add(object, key, json_number(va_arg(args, uint64_t)));
			break;
		case 'l':
			limit = va_arg(args, uint64_t);
			json_add(object, key, limit == NUMBER_MAX ? NULL : json_number(limit));
			break;
		case 'b':
			json_add(object, key, json_object_new_boolean(va_arg(args, int)));
			break;
		case 'd':
			value = va_arg(args, double);
			json_add(object, key, value < 0 ? NULL : json_object_new_double(value));
			break;
		case 'o':
			json_add(object, key, va_arg(args, struct json_object *));
			break;
		}
	}
}

struct json_object *json_pack(const char *keys, ...)
{
	struct json_object *object = json_object_new_object();
	va_list args;

	va_start(args, keys);
	json_vfill(object, keys, args);
	va_end(args);
	return object;
}

void json_fill(struct json_object *object, const char *keys, ...)
{
	va_list args;

	va_start(args, keys);
	json_vfill(object, keys, args);
	va_end(args);
}

/* Print a character of JSON. A character that is not ASCII is always in a string. */
static void json_print_character(FILE *to, uint32_t character)
{
	if (character < 0x7f)
		fputc(character, to);
	else if (character < 0x10000)
		fprintf(to, "\\u%04x", character);
	else
		fprintf(to, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
			0xdc00 + (character & 0x3ff));
}

void json_print(FILE *to, struct json_object *object)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
		    (options.pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);
	const char *text;
	uint32_t character;
	size_t length;

	json_add(object, "format", json_number(JSON_FORMAT));
	text = json_object_to_json_string_ext(object, flags);
	for (; (length = text_decode(text, &character)) && character; text += length)
		json_print_character(to, character);
	fputc('\n', to);
	json_object_put(object);
}
