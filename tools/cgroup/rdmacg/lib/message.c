// SPDX-License-Identifier: GPL-2.0
/* rdmacg: messages, which all have one form, and cannot control a terminal. */
#include <sys/ioctl.h>

#include "lib/lib.h"

/* The indent of continuation lines. */
#define SAY_INDENT 2

const char *say_place;
FILE *say_errors;

bool say_reason(const char *where, const char *kind, char *reason)
{
	const char *place = say_place && where ? say_place : "";

	/* Flush earlier output, which belongs before the message. */
	fflush(stdout);
	say_line_to(say_errors ?: stderr, "rdmacg: %s%s%s%s%s%s", place,
		    *place ? ": " : "", where ? where : "", where ? ": " : "", kind, reason);
	free(reason);
	return false;
}

void say_raw(FILE *to, char *raw)
{
	char *text __autofree = text_escape(raw);

	fprintf(to, "%s\n", text);
	free(raw);
}

size_t say_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return columns ? strtoul(columns, NULL, 10) : 0;
}

void say_wrapped(char *raw)
{
	char *text __autofree = text_escape(raw);
	size_t width = say_width(), column = 0, length;
	char *rest = options.json ? NULL : text, *word;

	free(raw);
	while ((word = strsep(&rest, " "))) {
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
	if (!options.json)
		putchar('\n');
}

bool say_finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	/* A reader may stop reading; that is not an error. */
	if (errno != EPIPE)
		say_error("standard output", "%s", strerror(errno));
	return false;
}
