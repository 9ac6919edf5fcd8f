/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of the files of limits and of rdma.default: the meaning of a written text, its effect,
 * and the text of the files after it. test/fuzz and test/differential judge the controller by it.
 * It follows the section RDMA of cgroup-v2.rst. The controller's parser looks for end marks and
 * computes numbers; this model knows the length of each piece and compares digits, so both are
 * unlikely to make the same mistake.
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
#define MAX_DEFAULTS	256	/* with those that one write adds and takes away */
#define MAX_KEY		31	/* bytes */
#define MAX_NAME	256	/* bytes, with the NUL */
#define MAX_SHOWN	(4 * MAX_NAME)	/* the same, escaped */
/* The value of a limit that returns to the default. */
#define USE_DEFAULT	ULLONG_MAX

/* A piece of the text, which need not end in a NUL. */
struct model_text {
	const char	*at;
	size_t		len;
};

struct model_line {
	struct model_text name;		/* as written */
	struct model_text limits;	/* for model_next_limit() */
	unsigned int	index;
	bool		has_index;
	bool		good;		/* name and index are well formed */
};

struct model_limit {
	struct model_text key;		/* empty: all keys */
	unsigned long long max;
	bool		good;		/* well formed; the key may not exist */
};

/* One device in one file: its line, and what a write to it can set. */
struct model_device {
	const char	*name;		/* not escaped */
	unsigned int	index;
	bool		index_is_shown;	/* another device has the same name */
	unsigned int	nr_keys;
	const char *const *keys;
	unsigned long long *max;	/* of each key: the limit in effect */
	bool		*own;		/* of each key: the device's own, and not the default's */
};

enum model_class { MODEL_HCA, MODEL_VERB, MODEL_HW, MODEL_CONTROL, MODEL_CLASSES };

/* The defaults of all classes. */
struct model_defaults {
	unsigned int	count;
	struct model_default {
		enum model_class class;
		char		key[MAX_KEY + 1];
		unsigned long long max;
		bool		is_new;		/* set by the write that goes on */
	} of[MAX_DEFAULTS];
};

/* No key has a default. */
void model_defaults_init(struct model_defaults *defaults);

/* The next line of @rest that is not blank; false if there is none. */
bool model_next_line(struct model_text *rest, struct model_line *line);
/* The next limit of a line; false if there is none. */
bool model_next_limit(struct model_text *rest, struct model_limit *limit);
/* Whether no line of the text can have been cut in the middle, and there is no NUL. */
bool model_text_is_whole(struct model_text text);
/* Decode a written or shown name; false if an escape is malformed. */
bool model_unescape(struct model_text shown, char name[MAX_NAME]);
/* The name as the files show it. */
void model_escape(const char *name, char shown[MAX_SHOWN]);

/* Write @text to the max file of a class: 0, or a negative errno and nothing is set. */
int model_write(struct model_device *devices, unsigned int count, enum model_class class,
		const struct model_defaults *defaults, struct model_text text);
/* Write @text to rdma.default: 0, or a negative errno and nothing is set. */
int model_write_defaults(struct model_defaults *defaults, struct model_text text);
/* The devices of a class follow the defaults, after a write to rdma.default. */
void model_use_defaults(struct model_device *devices, unsigned int count,
			enum model_class class, const struct model_defaults *defaults);
/* Print what rdma.default reads. */
void model_print_defaults(FILE *stream, const struct model_defaults *defaults);
/* Print how a line of a device begins, and its line of limits. */
void model_print_device(FILE *stream, const struct model_device *device);
void model_print(FILE *stream, const struct model_device *device);

#endif /* MODEL_WRITE_H */
