// SPDX-License-Identifier: GPL-2.0
/* rdmacg: escapes of untrusted names for a terminal, for JSON and for a shell. */
#include <langinfo.h>
#include <locale.h>
#include <wchar.h>

#include "lib/lib.h"

/* Whether the terminal shows characters that are not ASCII. */
static bool text_is_utf8;

void text_init(void)
{
	setlocale(LC_CTYPE, "");
	text_is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	/* Names and patterns are UTF-8 in each locale, because the kernel has no locale. */
	setlocale(LC_CTYPE, "C.UTF-8");
}

size_t text_decode(const char *text, uint32_t *character)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t length;

	*character = *text;
	if (isascii(*text))
		return 1;
	length = mbrtowc(&wide, text, MB_LEN_MAX, &state);
	/* The C library also decodes numbers above the largest character of Unicode. */
	if (length > MB_LEN_MAX || wide > 0x10ffff)
		return 0;
	*character = wide;
	return length;
}

/* Control characters, ends of lines, changes of direction and invisible characters are not. */
static bool text_is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c)
		return false;
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
		return false;
	return !(c >= 0xfff9 && c <= 0xfffb) && !(c >= 0xe0000 && c <= 0xe0fff) &&
	       (c & 0xfffe) != 0xfffe;
}

unsigned char text_escaped_byte(const char *text)
{
	unsigned int byte = 0;

	if (!strncmp(text, "\\x", 2) && strspn(text + 2, "0123456789abcdef") >= 2)
		sscanf(text + 2, "%2x", &byte);
	return byte < 0x20 || byte >= 0x7f || byte == '\\' ? byte : 0;
}

char *text_filter(const char *raw, bool printable, bool ascii)
{
	char *copy = memory_zeroed(strlen(raw) * 4 + 1, 1);
	char *to = copy;
	uint32_t character;
	size_t length;
	bool good;

	while (*raw) {
		length = text_decode(raw, &character);
		good = length && !(printable && !text_is_printable(character)) &&
		       !(ascii && character >= 0x80) && !text_escaped_byte(raw);
		for (length = max(length, 1); length; length--)
			to += sprintf(to, good ? "%c" : "\\x%02x", (unsigned char)*raw++);
	}
	return copy;
}

void text_unescape(char *text)
{
	unsigned char byte;
	char *to;

	for (to = text; *text; text += byte ? 4 : 1) {
		byte = text_escaped_byte(text);
		*to++ = byte ? byte : *text;
	}
	*to = '\0';
}

char *text_escape(const char *raw)
{
	return text_filter(raw, true, !text_is_utf8);
}

/* Returns the bytes of the next character, and sets *@columns to its width on the screen. */
static size_t text_step(const char *text, size_t *columns)
{
	uint32_t character;
	size_t length = text_decode(text, &character);
	int width = length ? wcwidth(character) : 1;

	*columns = width < 0 ? 1 : width;
	return length ? length : 1;
}

size_t text_width(const char *text)
{
	size_t width = 0, columns;

	while (*text) {
		text += text_step(text, &columns);
		width += columns;
	}
	return width;
}

void text_clip(char *text, size_t columns, bool middle)
{
	/* Keep more of the end than of the beginning: names of pods differ at the end. */
	size_t end = middle && columns >= 4 ? columns - columns / 4 - 1 : 0;
	size_t width = 0, length, more;
	char *cut = text, *tail = end ? text : text + strlen(text);

	if (text_width(text) <= columns)
		return;
	while (text_width(tail) > end)
		tail += text_step(tail, &more);
	length = text_step(cut, &more);
	while (width + more < columns - end) {
		width += more;
		cut += length;
		length = text_step(cut, &more);
	}
	if (columns)
		*cut++ = '~';
	memmove(cut, tail, strlen(tail) + 1);
}

char *text_quote(const char *text)
{
	/* A word with only these characters needs no quotes in any shell. */
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
	char *shown __autofree = text_escape(text);
	bool octal = strcmp(shown, text);
	char *quoted, *to;

	if (*text && !text[strspn(text, plain)])
		return memory_string(text);
	quoted = memory_zeroed(strlen(text) * 4 + 4, 1);
	to = stpcpy(quoted, octal ? "$'" : "'");
	for (; *text; text++) {
		if (octal && (*text < ' ' || *text > '~' || strchr("'\\", *text)))
			to += sprintf(to, "\\%03o", (unsigned char)*text);
		else if (*text == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *text;
	}
	stpcpy(to, "'");
	return quoted;
}
