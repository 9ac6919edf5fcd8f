// SPDX-License-Identifier: GPL-2.0
/* rdmacg: JSON in ASCII. */
#include "lib/lib.h"

struct json_object *json_text(const char *text)
{
	char *valid = text_valid(text);
	struct json_object *object = json_object_new_string(valid);

	free(valid);
	return object;
}

struct json_object *json_number(uint64_t value)
{
	return json_object_new_uint64(value);
}

struct json_object *json_limit(uint64_t value)
{
	return value == NUMBER_MAX ? NULL : json_number(value);
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

struct json_object *json_document(const char *name, struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	json_add(object, name, array);
	return object;
}

/* One character of a string, for what is no ASCII stands nowhere else. */
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

void json_print(FILE *to, struct json_object *object, bool pretty)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
		    (pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);
	const char *text;
	uint32_t character;
	size_t length;

	json_add(object, "format", json_number(JSON_FORMAT));
	text = json_object_to_json_string_ext(object, flags);
	while (*text) {
		length = text_decode(text, &character);
		if (!length)
			break;
		json_print_character(to, character);
		text += length;
	}
	fputc('\n', to);
	json_object_put(object);
}
