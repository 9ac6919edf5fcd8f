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

char *memory_string(const char *string)
{
	return memory_check(strdup(string));
}

char *memory_format(const char *format, ...)
{
	va_list args;
	char *string;

	va_start(args, format);
	if (vasprintf(&string, format, args) < 0)
		string = NULL;
	va_end(args);
	return memory_check(string);
}

void memory_join(char **text, char *more)
{
	char *before __autofree = *text, *behind __autofree = more;

	*text = memory_format("%s%s", before ? before : "", behind);
}

void *memory_append_to(void *array, size_t *count, size_t size)
{
	char *elements;

	memcpy(&elements, array, sizeof(elements));
	/* The array grows by doubling. */
	if (!(*count & (*count - 1)) && (!*count || *count >= MEMORY_FEWEST))
		elements = memory_check(reallocarray(elements,
						     max(*count * 2, MEMORY_FEWEST), size));
	memcpy(array, &elements, sizeof(elements));
	return memset(elements + (*count)++ * size, 0, size);
}

void memory_autofree(void *variable)
{
	free(*(void **)variable);
}
