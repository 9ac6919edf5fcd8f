/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is there: a command without memory cannot do anything useful, so these
 * end it with a message instead of returning NULL.
 */
#ifndef RDMACG_MEMORY_H
#define RDMACG_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

#include "lib/compiler.h"

/* @memory itself, where a library has made it. */
void *memory_check(void *memory);
void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *old, size_t count, size_t size);
char *memory_string(const char *string);
char *memory_format(const char *format, ...) __printf(1, 2);
char *memory_vformat(const char *format, va_list args) __printf(1, 0);

/*
 * The array of @count elements with one more, zeroed, at its end. It grows by doubling, so
 * that it may be called for each one.
 */
void *memory_grow(void *array, size_t count, size_t size);

#endif /* RDMACG_MEMORY_H */
