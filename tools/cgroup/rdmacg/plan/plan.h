/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the forms of "rdmacg plan" share.
 *
 * A form fills a struct plan: parts, each with values that rows of a table compute. A row
 * holds its formula as text, and that text is what is evaluated: what --explain says is
 * what was computed. plan-out.c alone prints.
 */
#ifndef RDMACG_PLAN_H
#define RDMACG_PLAN_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "lib/compiler.h"

/* One for each form: plan-NAME.c, but the four of plan-table.c. False: an error was said. */
bool plan_lnet(int argc, char **argv);
bool plan_qemu(int argc, char **argv);
bool plan_nccl(int argc, char **argv);
bool plan_ucx(int argc, char **argv);
bool plan_libfabric(int argc, char **argv);
bool plan_ceph(int argc, char **argv);
bool plan_peak(int argc, char **argv);
bool plan_share(int argc, char **argv);

/* plan-formula.c: formulas. */

#define PLAN_VARS	48

/* The names of a formula and what they stand for. The names are not copied. */
struct plan_vars {
	struct {
		const char *name;
		uint64_t value;
	} var[PLAN_VARS];
	size_t count;
};

enum plan_fault {
	PLAN_FINE,
	PLAN_TOO_LARGE,		/* more than 64 bits hold */
	PLAN_NEGATIVE,		/* less is there than is taken away */
	PLAN_BY_ZERO,
	PLAN_NO_FORMULA,	/* a fault of the table */
};

/* Set a name, new or not. */
void plan_set(struct plan_vars *vars, const char *name, uint64_t value);
uint64_t plan_get(const struct plan_vars *vars, const char *name);
/*
 * Whole numbers of 128 bits on the way to one of 64, names, + - * / %, parentheses,
 * min(a, b), max(a, b) and ceil(a, b), which is a / b rounded up; / rounds down.
 */
enum plan_fault plan_evaluate(const char *formula, const struct plan_vars *vars, uint64_t *value);
/* The formula with numbers in the place of names. To be freed. */
char *plan_in_numbers(const char *formula, const struct plan_vars *vars);

/* plan-core.c: what a plan consists of. */

enum plan_kind {
	PLAN_STEP,		/* said with --explain only */
	PLAN_FIGURE,		/* good to know, not a limit */
	PLAN_LIMIT,		/* a key of a file of limits */
};

/* A line of a table of formulas. */
struct plan_row {
	const char *key;
	enum plan_kind kind;
	const char *formula;
	const char *source;
};

/* A row when it was computed. */
struct plan_value {
	char *key;
	enum plan_kind kind;
	uint64_t value;
	char *formula;
	char *numbers;
	char *source;
};

/* Values that belong together: one cgroup on one device, one end of a connection. */
struct plan_part {
	char *title;
	char *cgroup;		/* NULL: not known */
	char *device;		/* NULL: not known */
	struct plan_value *values;
	size_t nr_values;
	char **notes;
	size_t nr_notes;
};

struct plan {
	const char *form;
	struct plan_part **parts;
	size_t nr_parts;
};

struct plan_part *plan_add_part(struct plan *plan, const char *format, ...) __printf(2, 3);
void plan_add_note(struct plan_part *part, const char *format, ...) __printf(2, 3);
/*
 * Compute the rows one after the other, add them to @part, and make each a name for those
 * that follow. False, and an error is said, where one does not fit, or where it is a limit
 * that the kernel does not take.
 */
bool plan_add_rows(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
		   const struct plan_row *rows, size_t count);
void plan_free(struct plan *plan);

/* plan-args.c: what the forms have in common on the command line. */

#define PLAN_ANY	.min = 0, .max = INT64_MAX
#define PLAN_SOME	.min = 1, .max = INT64_MAX

/* A number that is an option, and a name for formulas. */
struct plan_input {
	const char *option;
	const char *name;
	uint64_t value;		/* without the option */
	uint64_t min;
	uint64_t max;
	bool is_needed;
	const char *doc;
};

struct plan_args {
	/* Set by the form. */
	const char *form;		/* "plan FORM" */
	const char *doc;
	const char *args_doc;		/* words without an option; may be NULL */
	const struct plan_input *inputs;
	size_t nr_inputs;
	const struct argp *own;		/* its other options, or NULL */
	void *own_input;
	bool has_limits;		/* --cgroup and --device make sense */

	/* Set by plan_parse(). */
	uint64_t *values;		/* one for each input */
	bool *given;
	const char *cgroup;
	struct device device;		/* its name is NULL without --device */
	bool explain;
};

/* What is wrong ends the program. plan_free_args() frees what this makes. */
void plan_parse(struct plan_args *args, int argc, char **argv);
void plan_free_args(struct plan_args *args);
/* The number of an input from a text. */
uint64_t plan_parse_number(const struct plan_input *input, const char *text);
/* "NAME" or "NAME index=N", as the controller's files name it. */
void plan_parse_device(struct device *device, const char *text);
/*
 * Whether it can stand in a file that apply reads: nothing in it ends a line or a section,
 * and a terminal shows it as it is.
 */
bool plan_is_name(const char *text);
void plan_check_cgroup(const char *name);
/* All inputs as names for formulas. */
void plan_set_inputs(const struct plan_args *args, struct plan_vars *vars);
/* A part whose limits go where --cgroup and --device say. */
void plan_set_target(struct plan_part *part, const struct plan_args *args);

/* plan-out.c */

void plan_print(const struct plan *plan, const struct plan_args *args);

#endif /* RDMACG_PLAN_H */
