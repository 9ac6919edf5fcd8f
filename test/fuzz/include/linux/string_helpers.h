/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

/* The kernel's functions take these flags and others; the fuzzers' take only all of these. */
enum { ESCAPE_OCTAL = 1, ESCAPE_NAP = 2, ESCAPE_APPEND = 4, UNESCAPE_OCTAL = 8 };

int string_escape_str(const char *from, char *to, size_t size, unsigned int flags,
		      const char *append);
int string_unescape_inplace(char *text, unsigned int flags);
