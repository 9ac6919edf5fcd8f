/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of the files of limits and of rdma.default: the meaning of a written text, its effect,
 * and the text of the files after it. test/fuzz and test/differential judge the controller by it.
 * The model follows the section RDMA of cgroup-v2.rst. The controller's parser looks for end marks
 * and computes numbers. This model knows the length of each piece and compares digits. So the
 * parser and the model are unlikely to make the same mistake.
 */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define NO_LIMIT	((unsigned long long)LLONG_MAX)
#define MAX_WRITE	65535	/* bytes */
#define MAX_OPS		1000000
#define MAX_HW_DEFAULTS	64
#define MAX_DEFAULTS	256	/* these include keys that a write adds and removes */
#define MAX_KEY		31	/* bytes */
#define MAX_NAME	256	/* the longest name in bytes, with its NUL */
#define MAX_SHOWN	(4 * MAX_NAME)	/* the longest escaped name */
/* This value means that the limit returns to the default. */
#define USE_DEFAULT	ULLONG_MAX

/* A piece of the text. No NUL is needed at its end. */
struct model_text {
	const char	*at;
	size_t		len;
};

struct model_line {
	struct model_text name;		/* the name as it is written */
	struct model_text limits;	/* the rest, for model_next_limit() */
	unsigned int	index;
	bool		has_index;
	bool		good;		/* the name and the index are well formed */
};

struct model_limit {
	struct model_text key;		/* an empty key means all keys */
	unsigned long long max;
	bool		good;		/* the limit is well formed; its key may not exist */
};

/* One device in one file: its line, and the limits that a write can set. */
struct model_device {
	const char	*name;		/* the name without escapes */
	unsigned int	index;
	bool		index_is_shown;	/* another device has the same name */
	unsigned int	nr_keys;
	const char *const *keys;
	unsigned long long *max;	/* the limit in effect of each key */
	bool		*own;		/* whether this limit is the device's own, for each key */
};

enum model_class { MODEL_HCA, MODEL_VERB, MODEL_HW, MODEL_CONTROL, MODEL_CLASSES };

/* The defaults of all classes. */
struct model_defaults {
	unsigned int	count;
	struct model_default {
		enum model_class class;
		char		key[MAX_KEY + 1];
		unsigned long long max;
		bool		is_new;		/* the present write has set it */
	} of[MAX_DEFAULTS];
};

/* Remove all defaults. */
void model_defaults_init(struct model_defaults *defaults);

/* Get the next line of @rest that is not blank. Returns false at the end. */
bool model_next_line(struct model_text *rest, struct model_line *line);
/* Get the next limit of a line. Returns false if there is none. */
bool model_next_limit(struct model_text *rest, struct model_limit *limit);
/* Whether the text has no NUL, and none of its lines can have been cut in the middle. */
bool model_text_is_whole(struct model_text text);
/* Decode a written or shown name. Returns false if an escape is malformed. */
bool model_unescape(struct model_text shown, char name[MAX_NAME]);
/* Encode a name as the files show it. */
void model_escape(const char *name, char shown[MAX_SHOWN]);

/* Write @text to the max file of a class. Returns 0, or sets nothing and returns an errno < 0. */
int model_write(struct model_device *devices, unsigned int count, enum model_class class,
		const struct model_defaults *defaults, struct model_text text);
/* Write @text to rdma.default. Returns 0, or sets nothing and returns an errno < 0. */
int model_write_defaults(struct model_defaults *defaults, struct model_text text);
/* Apply the defaults to the devices of a class, after a write to rdma.default. */
void model_use_defaults(struct model_device *devices, unsigned int count,
			enum model_class class, const struct model_defaults *defaults);
/* Print the text of rdma.default. */
void model_print_defaults(FILE *stream, const struct model_defaults *defaults);
/*
 * The first function prints the beginning of a device's line. The second function prints the
 * device's whole line of limits.
 */
void model_print_device(FILE *stream, const struct model_device *device);
void model_print(FILE *stream, const struct model_device *device);

#endif /* MODEL_WRITE_H */
