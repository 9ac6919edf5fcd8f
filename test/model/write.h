/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of a text that is written to a file of limits or to rdma.default: its lines, words and
 * numbers. test/fuzz and test/differential judge the controller by this model, and
 * test/differential/model.py has the effect of a write. The model follows the section RDMA of
 * cgroup-v2.rst. The controller's parser looks for end marks and computes numbers. This model knows
 * the length of each piece and compares digits. So the parser and the model are unlikely to make
 * the same mistake.
 */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define NO_LIMIT	((unsigned long long)LLONG_MAX)
/* This value means that the limit returns to the default. */
#define USE_DEFAULT	ULLONG_MAX
#define MAX_NAME	256	/* the longest name in bytes, with its NUL */
#define MAX_SHOWN	(4 * MAX_NAME)	/* the longest escaped name */

/* A piece of the text. No NUL is needed at its end. */
struct model_text {
	const char	*at;
	size_t		len;
};

struct model_line {
	struct model_text name;		/* the name as it is written */
	char		device[MAX_NAME];	/* the decoded name */
	struct model_text limits;	/* the rest, for model_next_limit() */
	unsigned int	index;
	bool		has_index;
	bool		good;		/* the name and the index are well formed */
};

struct model_limit {
	struct model_text key;		/* an empty key means all keys */
	unsigned long long max;
	bool		good;		/* the limit is well formed; its key may be unknown */
};

/* Get the next line of @rest that is not blank. Returns false at the end. */
bool model_next_line(struct model_text *rest, struct model_line *line);
/* Get the next limit of a line. Returns false if there is none. */
bool model_next_limit(struct model_text *rest, struct model_limit *limit);
/* Returns false if a line of the text is incomplete, or the text has a NUL. */
bool model_text_is_whole(struct model_text text);
/* Encode a name as the files show it. */
void model_escape(const char *name, char shown[MAX_SHOWN]);

#endif /* MODEL_WRITE_H */
