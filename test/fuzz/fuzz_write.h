/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by fuzz_write and its source of random text. */
#ifndef FUZZ_WRITE_H
#define FUZZ_WRITE_H

#include "../model/write.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_DEVICES	4
#define MAX_KEYS	64
#define MAX_INDEX	64		/* of the devices here */

/* The files of a cgroup: the max files by class, which list all devices, and rdma.default. */
#define DEFAULT_FILE	MODEL_CLASSES
#define FILES		(DEFAULT_FILE + 1)

/* A file, and its expected text. */
struct file {
	char path[256];
	int fd;
	enum model_class class;
	struct file *all;		/* of the cgroup */
	struct model_defaults *defaults;	/* of the cgroup */
	unsigned int nr_devices;
	struct model_device devices[MAX_DEVICES];
	char text[8192];
	size_t len;
};

/* The text of a write, which may be too long. */
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
/* The name of a device as the files show it. */
void add_name(const char *name);
/* Make the text of a write to @file; now and then one that fits @other instead. */
void make_text(const struct file *file, const struct file *other);

#endif /* FUZZ_WRITE_H */
