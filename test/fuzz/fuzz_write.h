/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzz_write and its source of random text share.
 */
#ifndef PROOF_FUZZ_WRITE_H
#define PROOF_FUZZ_WRITE_H

#include "write_model.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_DEVICES	4
#define MAX_KEYS	64
#define MAX_WRITE	(64 * 1024 - 1)	/* more is E2BIG */
#define MAX_INDEX	64		/* of the devices here */

/* What one line of a file of limits holds. */
struct device {
	char name[64];
	unsigned int index;
	bool index_is_shown;
	unsigned int nr_keys;
	char keys[MAX_KEYS][32];
	unsigned long long max[MAX_KEYS];
};

/* Every device has resources of every class here, so each file lists them all. */
struct limits {
	unsigned int nr_devices;
	struct device devices[MAX_DEVICES];
};

/* The text of a write, with room to go wrong. */
struct buffer {
	char at[MAX_WRITE + 8192];
	size_t len;
};

/* fuzz_write_text.c */
extern struct buffer text;

void random_seed(unsigned long seed);
unsigned int below(unsigned int n);
bool one_in(unsigned int n);

void add(const char *at, size_t len);
void add_string(const char *string);
void add_number(unsigned long long number);
void make_text(const struct limits *limits, const struct limits *other, struct model_text read);

#endif /* PROOF_FUZZ_WRITE_H */
