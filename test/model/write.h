/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of a file of limits: what a text that is written to it says, what that
 * sets, and what the file reads then. test/fuzz and test/differential judge the
 * controller by it. It follows the section RDMA of cgroup-v2.rst. The
 * controller's parser looks for end marks and computes numbers; this model knows the
 * length of each piece and compares digits, so that both do not make the same mistake.
 */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define NO_LIMIT	((unsigned long long)LLONG_MAX)
#define MAX_WRITE	65535	/* bytes */
#define MAX_DEFAULTS	64	/* of a class */
#define MAX_EDITED	128	/* the same, on the way from old ones to new ones */
/* The value of a limit that is to be the default's again. */
#define USE_DEFAULT	ULLONG_MAX

/* A piece of the text, which need not end in a NUL. */
struct model_text {
	const char	*at;
	size_t		len;
};

struct model_line {
	struct model_text name;
	struct model_text limits;	/* for model_next_limit() */
	unsigned int	index;
	bool		has_index;
	bool		is_default;	/* of all devices, instead of a name */
	bool		good;		/* well formed; device and keys may not exist */
};

struct model_limit {
	struct model_text key;		/* empty: all keys */
	unsigned long long max;
	bool		good;		/* well formed; the key may not exist */
};

/* One device in one file: what its line shows, and what a write to it can set. */
struct model_device {
	const char	*name;
	unsigned int	index;
	bool		index_is_shown;	/* another device has the same name */
	unsigned int	nr_keys;
	const char *const *keys;
	unsigned long long *max;	/* of each key: what holds */
	bool		*own;		/* of each key: the device's own, and not the default's */
};

enum model_class { MODEL_HCA, MODEL_VERB, MODEL_HW, MODEL_CONTROL };

/* What one file says of devices without a limit of their own. */
struct model_defaults {
	enum model_class class;
	unsigned int	nr_keys;
	char		keys[MAX_EDITED][32];
	unsigned long long max[MAX_EDITED];
};

/* No key has a default. */
void model_defaults_init(struct model_defaults *defaults, enum model_class class);

bool model_is_among(char c, const char *chars);

/* The next line of @rest that is not blank; false if there is none. */
bool model_next_line(struct model_text *rest, struct model_line *line);
/* The next limit of a line; false if there is none. */
bool model_next_limit(struct model_text *rest, struct model_limit *limit);
/* Whether all lines of a text are well formed and complete. */
bool model_text_is_good(struct model_text text);

/* Write @text: 0, or a negative errno and nothing is set. */
int model_write(struct model_device *devices, unsigned int count,
		struct model_defaults *defaults, struct model_text text);
/* Print the line of the defaults, if there is one. */
void model_print_defaults(FILE *stream, const struct model_defaults *defaults);
/* Print the line of a device. */
void model_print(FILE *stream, const struct model_device *device);

#endif /* MODEL_WRITE_H */
