// SPDX-License-Identifier: GPL-2.0
/* rdmacg: allocation of memory; without memory, the program ends. */
#include "lib/lib.h"

/* The smallest number of elements of an array, a power of 2. */
#define MEMORY_FEWEST 8

void *memory_check(void *memory)
{
	if (memory)
		return memory;
	fputs("rdmacg: out of memory\n", stderr);
	exit(EXIT_FAILED);
}

void *memory_zeroed(size_t count, size_t size)
{
	return memory_check(calloc(count ? count : 1, size));
}

void *memory_resize(void *old, size_t count, size_t size)
{
	return memory_check(reallocarray(old, count ? count : 1, size));
}

char *memory_string(const char *string)
{
	return memory_check(strdup(string));
}

char *memory_vformat(const char *format, va_list args)
{
	char *string;

	if (vasprintf(&string, format, args) < 0)
		string = NULL;
	return memory_check(string);
}

char *memory_format(const char *format, ...)
{
	va_list args;
	char *string;

	va_start(args, format);
	string = memory_vformat(format, args);
	va_end(args);
	return string;
}

void memory_extend(char **text, const char *format, ...)
{
	char *before __autofree = *text, *more __autofree = NULL;
	va_list args;

	va_start(args, format);
	more = memory_vformat(format, args);
	va_end(args);
	*text = memory_format("%s%s", before ? before : "", more);
}

void *memory_append_to(void *array, size_t *count, size_t size)
{
	char *elements, *added;

	memcpy(&elements, array, sizeof(elements));
	/* The array grows by doubling. */
	if (!(*count & (*count - 1)) && (!*count || *count >= MEMORY_FEWEST))
		elements = memory_resize(elements, *count ? *count * 2 : MEMORY_FEWEST, size);
	memcpy(array, &elements, sizeof(elements));
	added = elements + (*count)++ * size;
	return memset(added, 0, size);
}

void memory_autofree(void *variable)
{
	free(*(void **)variable);
}
