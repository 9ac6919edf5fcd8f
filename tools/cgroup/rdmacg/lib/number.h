/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as the files of the controller have them, and as people write and read them. */
#ifndef RDMACG_NUMBER_H
#define RDMACG_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "max" in a file. It compares above every number that a file can hold. */
#define NUMBER_MAX UINT64_MAX
/* The largest that the kernel takes as a limit: 2^63 - 2. */
#define NUMBER_LARGEST ((uint64_t)INT64_MAX - 1)

/* Room for any formatted number. */
#define NUMBER_SIZE 32

/* Decimal digits and nothing else; false otherwise, or past 64 bits. */
bool number_parse(const char *text, size_t length, uint64_t *value);
/* A number as people write it: "12", "1.5G" where @bytes. */
bool number_parse_human(const char *text, bool bytes, uint64_t *value);
/* "12.5" as 12500; of a percentage, without its sign. */
bool number_parse_thousandths(const char *text, size_t length, uint64_t *value);
/* @value * @thousandths / 100000, rounded down. */
uint64_t number_percent(uint64_t value, uint64_t thousandths);
/* @value and so much more, rounded up; NUMBER_LARGEST at most. */
uint64_t number_raise(uint64_t value, uint64_t thousandths);

/* Whether a resource of this key counts bytes; no file says so but by the name. */
bool number_is_bytes(const char *key);
/* Into @buffer, and returned: "max", the digits, or "1.5GiB" where @human. */
const char *number_format(char *buffer, uint64_t value, bool human);

#endif /* RDMACG_NUMBER_H */
