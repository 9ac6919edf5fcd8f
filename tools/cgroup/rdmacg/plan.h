/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the forms of "rdmacg plan" share.
 *
 * A form fills a struct plan: parts, each with values that rows of a table compute. A row
 * holds its formula as text, and that text is what is evaluated: what --explain says is
 * what was computed. plan-out.c alone prints.
 *
 * A function that can fail returns the exit status of the command: 0, PLAN_FAILED or
 * PLAN_USAGE. The message has been printed where it is not 0.
 */
#ifndef RDMACG_PLAN_H
#define RDMACG_PLAN_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PLAN_FAILED	1
#define PLAN_USAGE	2

/* What a parser of argp returns when it has said what it refuses; argp has EINVAL. */
#define PLAN_REFUSED	ECANCELED

/* What the kernel takes as a limit: 0 to 2^63 - 2 (design contract, section 4). */
#define PLAN_LIMIT_MAX	((uint64_t)INT64_MAX - 1)

#define PLAN_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

int cmd_plan(int argc, char **argv);

/* One for each form: plan-NAME.c, but the four of plan-table.c. */
int plan_lnet(int argc, char **argv);
int plan_qemu(int argc, char **argv);
int plan_nccl(int argc, char **argv);
int plan_ucx(int argc, char **argv);
int plan_libfabric(int argc, char **argv);
int plan_ceph(int argc, char **argv);
int plan_peak(int argc, char **argv);
int plan_share(int argc, char **argv);

/* plan-text.c: numbers and names. */

/* Digits and one unit: K, Ki and KiB are 1024, M to E likewise. 0, or a negative errno. */
int plan_parse_number(const char *text, uint64_t *value);
/* "20%" or "20". 0, or a negative errno. */
int plan_parse_percent(const char *text, uint64_t *percent);
/* "1.5", "2" or "150%", in hundredths. 0, or a negative errno. */
int plan_parse_ratio(const char *text, uint64_t *hundredths);

#define PLAN_SHOWN	128

/*
 * A text that others chose, for a terminal: printable ASCII as it is, all else as \xNN,
 * cut off behind a good hundred characters. Returns @shown.
 */
const char *plan_show(char shown[PLAN_SHOWN], const char *text, size_t length);
/* Whether it can stand in a line of a plan: printable ASCII without blanks, #, [ and ]. */
bool plan_is_name(const char *text, size_t length);
/* "rdmacg: WHERE: reason" to stderr; returns PLAN_FAILED or PLAN_USAGE. */
int plan_error(const char *where, const char *format, ...) __attribute((format(printf, 2, 3)));
int plan_misuse(const char *where, const char *format, ...) __attribute((format(printf, 2, 3)));

/* Memory, or the end of the command with a message. */
void plan_no_memory(void);
void *plan_grow(void *array, size_t count, size_t size);
char *plan_copy(const char *text, size_t length);
char *plan_format(const char *format, ...) __attribute((format(printf, 1, 2)));

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
 * Whole numbers of 64 bits, names, + - * / %, parentheses, min(a, b), max(a, b) and
 * ceil(a, b), which is a / b rounded up; / rounds down.
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

struct plan_part *plan_add_part(struct plan *plan, const char *format, ...)
	__attribute((format(printf, 2, 3)));
void plan_add_note(struct plan_part *part, const char *format, ...)
	__attribute((format(printf, 2, 3)));
/*
 * Compute the rows one after the other, add them to @part, and make each a name for those
 * that follow. A limit that the kernel does not take is an error.
 */
int plan_add_rows(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
		  const struct plan_row *rows, size_t count);
void plan_free(struct plan *plan);

/* plan-args.c: what the forms have in common on the command line. */

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
	/* Its other options, or NULL. Who refuses one says why and returns PLAN_REFUSED. */
	const struct argp *own;
	void *own_input;
	bool has_limits;		/* --cgroup and --device make sense */
	bool takes_words;		/* its other options take words without an option */

	/* Set by plan_parse(). */
	char *name;			/* "rdmacg plan FORM" */
	uint64_t *values;		/* one for each input */
	bool *given;
	const char *cgroup;
	const char *device;
	bool json;
	bool pretty;
	bool explain;
};

/* Returns 0 or the exit status. plan_free_args() frees what it made, in both cases. */
int plan_parse(struct plan_args *args, int argc, char **argv);
void plan_free_args(struct plan_args *args);
/* Set the number of one input from a text; @where names the option in messages. */
int plan_set_input(const struct plan_input *input, const char *where, const char *text,
		   uint64_t *value);
/* All inputs as names for formulas. */
void plan_set_inputs(const struct plan_args *args, struct plan_vars *vars);

/* plan-out.c */

/* Print the plan as the options ask for. Returns 0 or the exit status. */
int plan_print(const struct plan *plan, const struct plan_args *args);

/* plan-cgroup.c: cgroups, and the controller's files. */

struct plan_amount {
	char *key;
	uint64_t value;
	bool is_max;
};

/* A line of such a file: NAME[ index=N] KEY=VALUE... */
struct plan_device {
	char *name;		/* with " index=N" where the file has it */
	struct plan_amount *amounts;
	size_t nr_amounts;
};

struct plan_file {
	struct plan_device *devices;
	size_t nr_devices;
};

/* A cgroup's path below the root, without slashes around it; NULL and a message. To be freed. */
char *plan_cgroup_path(const char *where, const char *path);
/* Where the files of cgroups lie: $RDMACG_ROOT, or what is mounted. To be freed. */
char *plan_root(void);
/*
 * Add the lines of a file of the controller to @file. @is_there says whether it exists;
 * that it does not is no error.
 */
int plan_read_file(const char *path, struct plan_file *file, bool *is_there);
/* The whole of a file of at most @most bytes: its length, or a negative errno. To be freed. */
ssize_t plan_load(const char *path, size_t most, char **text);
/* Whether it is a device as these files name it: NAME or "NAME index=N". */
bool plan_is_device(const char *text);
int plan_parse_file(const char *where, const char *text, size_t length, struct plan_file *file);
void plan_free_file(struct plan_file *file);

#endif /* RDMACG_PLAN_H */
