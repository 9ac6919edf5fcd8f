// SPDX-License-Identifier: GPL-2.0
/* rdmacg: JSON in ASCII. */
#include "lib/lib.h"

struct json_object *json_text(const char *text)
{
	char *valid __autofree = text ? text_filter(text, false, false) : NULL;

	return valid ? json_object_new_string(valid) : NULL;
}

struct json_object *json_fill(struct json_object *object, const char *keys, ...)
{
	char *copy __autofree = memory_string(keys);
	char *rest = copy, *key;
	uint64_t number;
	va_list args;
	double part;

	va_start(args, keys);
	while ((key = strsep(&rest, " "))) {
		char *colon = strchr(key, ':');
		struct json_object *value = NULL;

		*colon = '\0';
		if (colon[1] == 's') {
			value = json_text(va_arg(args, const char *));
		} else if (colon[1] == 'b') {
			value = json_object_new_boolean(va_arg(args, int));
		} else if (colon[1] == 'o') {
			value = va_arg(args, struct json_object *);
		} else if (colon[1] == 'd') {
			part = va_arg(args, double);
			value = part < 0 ? NULL : json_object_new_double(part);
		} else {
			number = va_arg(args, uint64_t);
			if (colon[1] == 'u' || number != NUMBER_MAX)
				value = json_object_new_uint64(number);
		}
		json_object_object_add(object, key, value);
	}
	va_end(args);
	return object;
}

/*
 * Print JSON from the character number @from on, and free it. Only strings have characters that are
 * not ASCII, so \u is valid for them.
 */
static void json_put(FILE *to, struct json_object *object, size_t from)
{
	int flags = options.pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN;
	const char *text = json_object_to_json_string_ext(object,
							  flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	uint32_t character;
	size_t length;

	for (text += from; (length = text_decode(text, &character)) && character; text += length) {
		if (character < 0x7f)
			fputc(character, to);
		else if (character < 0x10000)
			fprintf(to, "\\u%04x", character);
		else
			fprintf(to, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
				0xdc00 + (character & 0x3ff));
	}
	json_object_put(object);
}

void json_print_object(FILE *to, struct json_object *object)
{
	json_put(to, json_fill(object, "format:u", (uint64_t)JSON_FORMAT), 0);
	fputc('\n', to);
}

void json_print_element(FILE *to, const char *key, size_t count, struct json_object *element)
{
	if (count)
		fputc(',', to);
	else
		fprintf(to, "{\"%s\":[", key);
	json_put(to, element, 0);
}

void json_print_rest(FILE *to, const char *key, size_t count, struct json_object *rest)
{
	if (!count)
		fprintf(to, "{\"%s\":[", key);
	fputs("],", to);
	/* The object is open already. */
	json_put(to, json_fill(rest, "format:u", (uint64_t)JSON_FORMAT), 1);
	fputc('\n', to);
}
