/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON as json-c makes it, with two more promises: it is ASCII, so that no name in it does
 * anything to a terminal, and it is valid whatever bytes a name has.
 */
#ifndef RDMACG_JSON_H
#define RDMACG_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

/*
 * What rdmacg(8) says of the keys holds for one format. A key may be added; its number
 * changes when one goes or means something else.
 */
#define JSON_FORMAT 1

/* A string; bytes that are no UTF-8 become the text \xNN. */
struct json_object *json_text(const char *text);
/* A number, or null for NUMBER_MAX: no limit. */
struct json_object *json_limit(uint64_t value);
struct json_object *json_number(uint64_t value);
void json_add(struct json_object *object, const char *key, struct json_object *value);
/* An object that holds the array @array. */
struct json_object *json_document(const char *name, struct json_object *array);
/* Print an object, its format and a newline, and free it. */
void json_print(FILE *to, struct json_object *object, bool pretty);

#endif /* RDMACG_JSON_H */
