/* SPDX-License-Identifier: GPL-2.0 */
/* A line of a file of the controller: NAME[ index=N] KEY=VALUE KEY=VALUE... */
#ifndef RDMACG_PARSE_LINE_H
#define RDMACG_PARSE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"

struct line {
	/* Points into the text; not to be freed. */
	struct device device;
	/* What is left of the line. */
	char *rest;
};

/*
 * The next line of *@text that names a device and has a value; false at the end. Text is
 * cut into pieces by this.
 */
bool line_next(char **text, struct line *line);
/*
 * The next key and its value, NUMBER_MAX for "max"; false at the end. What is no pair, or
 * has no number, is of a later kernel and left out.
 */
bool line_next_value(struct line *line, const char **key, uint64_t *value);

#endif /* RDMACG_PARSE_LINE_H */
