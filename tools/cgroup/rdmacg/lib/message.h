/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands say. Everything passes text_escape(), so that a name in a message
 * cannot do anything to a terminal; hence no newline within a message either.
 */
#ifndef RDMACG_MESSAGE_H
#define RDMACG_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/compiler.h"

/* "rdmacg: WHERE: reason" to stderr. */
void say_error(const char *where, const char *format, ...) __printf(2, 3);
/* "rdmacg: WHERE: warning: ..." to stderr; the command goes on. */
void say_warning(const char *where, const char *format, ...) __printf(2, 3);
/* "rdmacg: ..." to stderr: what is good to know. */
void say_note(const char *format, ...) __printf(1, 2);
/* Errors and warnings begin with this, too, until it is NULL: a place in a file. */
void say_within(const char *where);
/* Errors and warnings go there instead of stderr, until it is NULL. */
void say_errors_to(FILE *to);
/* One line to stdout. */
void say_line(const char *format, ...) __printf(1, 2);
/* The same, cut at blanks where the screen ends; further lines begin with two blanks. */
void say_text(const char *format, ...) __printf(1, 2);
/* The columns of the terminal that stdout is, or of COLUMNS; 0 where there is neither. */
size_t say_width(void);

/* Whether to use colours on stdout: a terminal, and no NO_COLOR. */
bool say_in_colour(void);
/* Flush stdout. False, and an error message, where it cannot be written to. */
bool say_finish(void);

#endif /* RDMACG_MESSAGE_H */
