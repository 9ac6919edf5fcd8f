/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text for people. Names of cgroups and devices are chosen by others and may hold
 * anything, escape sequences of terminals included.
 */
#ifndef RDMACG_TEXT_H
#define RDMACG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A copy in which what is not printable is written as \xNN, and the backslash before what looks
 * like that as \x5c: two texts never have the same copy.
 */
char *text_escape(const char *raw);
/* Undo that, in place. */
void text_unescape(char *text);
/* The same whatever the locale: letters of all languages stay. */
char *text_printable(const char *raw);
/* A copy in which it is so only where it is no UTF-8; for JSON. */
char *text_valid(const char *raw);
/* How many columns an escaped text takes. */
size_t text_width(const char *text);
/* Cut an escaped text to so many columns; where something was, there is a ~ at its end. */
void text_clip(char *text, size_t columns);
/* The same; but the ~ is in the middle, and the end stays. */
void text_clip_middle(char *text, size_t columns);
/* Decode one character of UTF-8: its length, or 0 where it is not valid. */
size_t text_decode(const char *text, uint32_t *character);
/* @text as one word of a shell. */
char *text_quote(const char *text);

#endif /* RDMACG_TEXT_H */
