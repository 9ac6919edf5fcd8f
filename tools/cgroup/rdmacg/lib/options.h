/* SPDX-License-Identifier: GPL-2.0 */
/* Options that each command has. */
#ifndef RDMACG_OPTIONS_H
#define RDMACG_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/compiler.h"

struct options {
	bool json;
	bool pretty;
};

extern struct options options;

/* For the children of a command's argp: -j, -p, -h. */
extern const struct argp options_argp;
/* The same as the only child. */
extern const struct argp_child options_child[];

/* From here on, values for options without a letter. */
#define OPTIONS_KEY 257

/*
 * Parse the words of a command. Returns when they are well formed; what is not ends the
 * program with a message and status 2.
 */
void options_parse(const struct argp *argp, unsigned int flags, int argc, char **argv, void *input);
/* Words that are wrong: "rdmacg: WHERE: reason" and the end, with status 2. */
void options_fail(const char *where, const char *format, ...)
	__attribute((noreturn)) __printf(2, 3);
/* "process 12": false, and an error is said, where it is no number of one. */
bool options_parse_pid(const char *text, int *pid);
/* "20%" or "20", for what is added to peaks, in thousandths of a percent. */
uint64_t options_parse_margin(const char *text);

#endif /* RDMACG_OPTIONS_H */
