/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The forms of "rdmacg plan". A plan consists of parts, and a part consists of values. A form
 * computes each value with PLAN_STEP(), PLAN_FIGURE() or PLAN_LIMIT(). The macro keeps the text of
 * the C expression, so --explain prints the formula that was computed.
 */
#ifndef RDMACG_PLAN_H
#define RDMACG_PLAN_H

#include "core/core.h"

enum plan_kind {
	PLAN_KIND_NAME,		/* the value is only a name for later formulas */
	PLAN_KIND_STEP,		/* the value is printed only with --explain */
	PLAN_KIND_FIGURE,	/* the value is information, not a limit */
	PLAN_KIND_LIMIT,	/* the value is a limit of a key */
};

/* Values that belong together, such as those of a cgroup, or of an end of a connection. */
struct plan_part {
	const char *title;
	const char *cgroup;	/* NULL if the cgroup is not known */
	struct device device;	/* an unknown device has no name; the part does not free a name */
	uint64_t weight;	/* the cgroup's weight in plan share */
	struct json_object *limits, *figures;
	struct json_object *formulas;	/* formulas of all values except names */
	char *explained;		/* the same as text, or NULL */
	char **notes;
	size_t nr_notes;
};

/* The only plan of this process, which lives as long as the process. */
struct plan {
	const struct plan_form *form;
	bool explain;
	const char *cgroup, *driver;	/* NULL if the option is not given */
	struct device device;
	char **words;		/* the words without an option, with a NULL at the end */
	struct json_object *names;	/* the last value of each name in formulas, no inputs */
	struct plan_part **parts;
	struct plan_part *part;		/* the part to which values are added */
	size_t nr_parts;
	const char *failure;	/* an error to print after the plan, or NULL */
};

extern struct plan plan;

/* Begin a part for the cgroup of --cgroup and the device of --device. The part keeps @title. */
void plan_add_part(const char *title);
/* Add a note to plan.part. */
#define plan_notice(...) \
	(*memory_append(plan.part->notes, plan.part->nr_notes) = memory_format(__VA_ARGS__))
/* Add a value to plan.part. A negative or too large value ends the program. */
__int128 plan_add(enum plan_kind kind, const char *key, __int128 value, const char *formula,
		  const char *source);

/* The remedy for keys that no formula covers. */
#define PLAN_MEASURE	"measure with rdmacg run."

/* A number of a plan as text, which is valid in one statement. */
#define plan_text(number)	(number_text(number, false).s)

/* The value of @formula, for a key that is not the name of a variable. */
#define PLAN_OF_KEY(kind, key, formula, source) \
	plan_add(PLAN_KIND_ ## kind, key, formula, #formula, source)
/* Set the variable @name to the value of @formula. */
#define PLAN_SET(kind, name, formula, source) \
	(name = PLAN_OF_KEY(kind, #name, formula, source))
#define PLAN_VALUE(kind, name, formula, source) \
	__int128 name __attribute((unused)) = PLAN_OF_KEY(kind, #name, formula, source)
/* Each macro declares the variable @name with the value of @formula. */
#define PLAN_NAME(name, formula) PLAN_VALUE(NAME, name, formula, NULL)
#define PLAN_STEP(name, formula, source) PLAN_VALUE(STEP, name, formula, source)
#define PLAN_FIGURE(name, formula, source) PLAN_VALUE(FIGURE, name, formula, source)
#define PLAN_LIMIT(name, formula, source) PLAN_VALUE(LIMIT, name, formula, source)

/* For expressions: a / b, rounded up. */
static inline __int128 div_up(__int128 a, __int128 b)
{
	return a / b + !!(a % b);
}

/* The smallest power of 2 that is not less than @a. */
static inline __int128 pow2(__int128 a)
{
	__int128 power = 1;

	while (power < a)
		power *= 2;
	return power;
}

/* The largest value of most inputs. A product of three fits in 127 bits. */
#define PLAN_MOST	((uint64_t)1 << 40)

/* The arguments of all uses of an option. */
struct plan_texts {
	const char **text;
	size_t count;
};

/* An input of a form: a number from @min to @max, one text or several ones, or else a flag. */
struct plan_input {
	const char *name;
	__int128 *to;			/* the number with its default, or 1 for a given flag */
	uint64_t min, max;
	const char *doc;
	const char *arg;		/* the name of a text */
	const char **text;
	struct plan_texts *texts;
	bool is_needed, is_given;
};

/* A form of the command, in a file with its name. */
struct plan_form {
	const char *name;		/* "plan ucx" */
	const char *example;		/* a command for the help */
	const char *doc;
	const char *read;		/* the sources that were read for the formulas, or NULL */
	const char *args_doc;		/* the usage of the other arguments, or NULL */
	struct plan_input *inputs;	/* an input without a name ends the array */
	const struct choice *choices;	/* options that commands share, or NULL */
	bool has_limits;		/* the form has --cgroup and --device */
	bool has_memory;		/* the form has --driver */
	void (*add)(void);
};

extern const struct plan_form lnet_form, qemu_form, nccl_form, ucx_form, libfabric_form, ceph_form,
			      share_form;

/* Find an input of the form, or NULL. A _ in @name also stands for a - in the input's name. */
const struct plan_input *plan_find_input(const char *name);
/* Parse a number. @where is for the error. */
uint64_t plan_parse_number(const char *where, const char *text, uint64_t min, uint64_t max);
/* Parse "NAME" or "NAME index=N", as in the controller's files, into the device @to. */
void plan_take_device(const char *text, void *to);

/* Whether the driver is one of @known. If not, may add a note on its queues. */
bool plan_has_driver(const char *known);

#endif /* RDMACG_PLAN_H */
