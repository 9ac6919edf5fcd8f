// SPDX-License-Identifier: GPL-2.0
/* rdmacg: messages, which all have one form, and cannot control a terminal. */
#include <sys/ioctl.h>

#include "lib/lib.h"

/* The indent of continuation lines. */
#define SAY_INDENT 2

static void say(FILE *to, const char *prefix, const char *format, va_list args)
{
	char *raw __autofree = memory_vformat(format, args);
	char *text __autofree = text_escape(raw);

	fprintf(to, "%s%s\n", prefix, text);
}

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

void say_about(const char *where, const char *kind, const char *format, ...)
{
	char *text __autofree = text_escape(where ? where : "");
	char *place __autofree = text_escape(say_place && where ? say_place : "");
	char *prefix __autofree = memory_format("rdmacg: %s%s%s%s%s", place, *place ? ": " : "",
						text, where ? ": " : "", kind);
	va_list args;

	/* Flush earlier output, which belongs before the message. */
	fflush(stdout);
	va_start(args, format);
	say(say_file ? say_file : stderr, prefix, format, args);
	va_end(args);
}

void say_line_to(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(to, "", format, args);
	va_end(args);
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
	size_t width = say_width(), column = 0, length;
	char *raw, *text, *word, *rest;
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
	free(text);
	free(raw);
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
