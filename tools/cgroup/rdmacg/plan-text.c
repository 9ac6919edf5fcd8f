// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers and names of "rdmacg plan": the one parser for numbers with units, what makes a
 * name that others chose safe to show, messages, and memory.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* The digits at *@text, which moves behind them. 0, or a negative errno. */
static int plan_parse_digits(const char **text, uint64_t *value)
{
	const char *c = *text;

	if (*c < '0' || *c > '9')
		return -EINVAL;
	for (*value = 0; *c >= '0' && *c <= '9'; c++) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*c - '0'), value))
			return -ERANGE;
	}
	*text = c;
	return 0;
}

int plan_parse_number(const char *text, uint64_t *value)
{
	static const char units[] = "KMGTPE";
	const char *unit;
	int ret = plan_parse_digits(&text, value);

	if (ret || !*text)
		return ret;
	unit = strchr(units, toupper((unsigned char)*text));
	if (!unit)
		return -EINVAL;
	text++;
	/* KB would be 1000 to some: K, Ki and KiB are what is taken, all of them 1024. */
	if (*text && strcmp(text, "i") && strcmp(text, "iB"))
		return -EINVAL;
	if (__builtin_mul_overflow(*value, UINT64_C(1) << (10 * (unit - units + 1)), value))
		return -ERANGE;
	return 0;
}

int plan_parse_percent(const char *text, uint64_t *percent)
{
	int ret = plan_parse_digits(&text, percent);

	if (ret)
		return ret;
	return *text && strcmp(text, "%") ? -EINVAL : 0;
}

int plan_parse_ratio(const char *text, uint64_t *hundredths)
{
	int ret = plan_parse_digits(&text, hundredths);
	uint64_t unit = 10;

	if (ret || !strcmp(text, "%"))
		return ret;
	if (__builtin_mul_overflow(*hundredths, 100, hundredths))
		return -ERANGE;
	if (*text == '.' && !text[1])
		return -EINVAL;
	if (*text == '.')
		text++;
	for (; *text >= '0' && *text <= '9' && unit; text++, unit /= 10) {
		if (__builtin_add_overflow(*hundredths, unit * (uint64_t)(*text - '0'), hundredths))
			return -ERANGE;
	}
	return *text ? -EINVAL : 0;
}

const char *plan_show(char shown[PLAN_SHOWN], const char *text, size_t length)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		unsigned char c = text[i];

		/* The longest piece, dots and the NUL have to fit behind this one. */
		if (at + 4 + 4 > PLAN_SHOWN) {
			memcpy(shown + at, "...", sizeof("..."));
			return shown;
		}
		if (c > ' ' && c < 0x7f && c != '\\')
			shown[at++] = c;
		else if (c == ' ')
			shown[at++] = ' ';
		else
			at += sprintf(shown + at, "\\x%02x", c);
	}
	shown[at] = '\0';
	return shown;
}

bool plan_is_name(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] >= 0x7f || strchr("#[]", text[i]))
			return false;
	}
	return length > 0;
}

static void plan_say(const char *where, const char *format, va_list args)
{
	fprintf(stderr, "rdmacg: %s: ", where);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int plan_error(const char *where, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_say(where, format, args);
	va_end(args);
	return PLAN_FAILED;
}

int plan_misuse(const char *where, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_say(where, format, args);
	va_end(args);
	return PLAN_USAGE;
}

/* A plan needs kilobytes; who does not have them cannot be told anything useful. */
void plan_no_memory(void)
{
	plan_error("plan", "out of memory; free some and try again");
	exit(PLAN_FAILED);
}

void *plan_grow(void *array, size_t count, size_t size)
{
	void *grown = reallocarray(array, count, size);

	if (!grown)
		plan_no_memory();
	return grown;
}

char *plan_copy(const char *text, size_t length)
{
	char *copy = plan_grow(NULL, length + 1, 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *plan_format(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int ret;

	va_start(args, format);
	ret = vasprintf(&text, format, args);
	va_end(args);
	if (ret < 0)
		plan_no_memory();
	return text;
}
