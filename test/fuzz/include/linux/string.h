/* SPDX-License-Identifier: GPL-2.0 */
#include <stdbool.h>
/* The kernel's header also has sprintf(). */
#include <stdio.h>
#include <string.h>

static inline bool str_has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}
