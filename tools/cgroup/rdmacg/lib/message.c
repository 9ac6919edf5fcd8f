// SPDX-License-Identifier: GPL-2.0
/* rdmacg: messages, which all have one form, and cannot control a terminal. */
#include <sys/ioctl.h>

#include "lib/lib.h"

/* The indent of continuation lines. */
#define SAY_INDENT 2

static const char *say_place;
static FILE *say_file;

void say_within(const char *where)
{
	say_place = where;
}

void say_errors_to(FILE *to)
{
	say_file = to;
}

bool say_about(const char *where, const char *kind, const char *format, ...)
{
	char *reason __autofree = NULL;
	const char *place = say_place && where ? say_place : "";
	va_list args;

	va_start(args, format);
	reason = memory_vformat(format, args);
	va_end(args);
	/* Flush earlier output, which belongs before the message. */
	fflush(stdout);
	say_line_to(say_file ? say_file : stderr, "rdmacg: %s%s%s%s%s%s", place,
		    *place ? ": " : "", where ? where : "", where ? ": " : "", kind, reason);
	return false;
}

void say_line_to(FILE *to, const char *format, ...)
{
	char *raw __autofree = NULL, *text __autofree = NULL;
	va_list args;

	va_start(args, format);
	raw = memory_vformat(format, args);
	va_end(args);
	text = text_escape(raw);
	fprintf(to, "%s\n", text);
}

size_t say_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return columns ? strtoul(columns, NULL, 10) : 0;
}

void say_text(const char *format, ...)
{
	char *raw __autofree = NULL, *text __autofree = NULL;
	size_t width = say_width(), column = 0, length;
	char *word, *rest;
	va_list args;

	if (options.json)
		return;
	va_start(args, format);
	raw = memory_vformat(format, args);
	va_end(args);
	text = text_escape(raw);
	for (rest = text; (word = strsep(&rest, " "));) {
		length = text_width(word);
		if (width && column > SAY_INDENT && column + 1 + length > width) {
			printf("\n%*s", SAY_INDENT, "");
			column = SAY_INDENT;
		} else if (word != text) {
			putchar(' ');
			column++;
		}
		fputs(word, stdout);
		column += length;
	}
	putchar('\n');
}

bool say_finish(void)
{
	bool failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return true;
	/* A reader may stop reading; that is not an error. */
	if (errno != EPIPE)
		say_error("standard output", "%s", strerror(errno));
	return false;
}
