/* SPDX-License-Identifier: GPL-2.0 */
/* What all layers use: the C library, and the functions of lib/. */
#ifndef RDMACG_LIB_H
#define RDMACG_LIB_H

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

/* What the kernel's headers give its own code. */

#define __printf(a, b)	__attribute((format(printf, a, b)))

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/*
 * Memory that is there: a command without memory cannot do anything useful, so these
 * end it with a message instead of returning NULL.
 */

/* @memory itself, where a library has made it. */
void *memory_check(void *memory);
void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *old, size_t count, size_t size);
char *memory_string(const char *string);
char *memory_format(const char *format, ...) __printf(1, 2);
char *memory_vformat(const char *format, va_list args) __printf(1, 0);

/*
 * The array of @count elements with one more, zeroed, at its end. It grows by doubling, so
 * that it may be called for each one.
 */
void *memory_grow(void *array, size_t count, size_t size);

/*
 * Text for people. Names of cgroups and devices are chosen by others and may hold
 * anything, escape sequences of terminals included.
 */

/*
 * A copy in which what is not printable is written as \xNN, and the backslash before what looks
 * like that as \x5c: two texts never have the same copy.
 */
char *text_escape(const char *raw);
/* Undo that, in place. */
void text_unescape(char *text);
/* The same whatever the locale: letters of all languages stay. */
char *text_printable(const char *raw);
/* A copy in which it is so only where it is no UTF-8; for JSON. */
char *text_valid(const char *raw);
/* How many columns an escaped text takes. */
size_t text_width(const char *text);
/* Cut an escaped text to so many columns; where something was, there is a ~ at its end. */
void text_clip(char *text, size_t columns);
/* The same; but the ~ is in the middle, and the end stays. */
void text_clip_middle(char *text, size_t columns);
/* Decode one character of UTF-8: its length, or 0 where it is not valid. */
size_t text_decode(const char *text, uint32_t *character);
/* @text as one word of a shell. */
char *text_quote(const char *text);

/* Numbers as the files of the controller have them, and as people write and read them. */

/* "max" in a file. It compares above every number that a file can hold. */
#define NUMBER_MAX UINT64_MAX
/* The largest that the kernel takes as a limit: 2^63 - 2. */
#define NUMBER_LARGEST ((uint64_t)INT64_MAX - 1)

/* Room for any formatted number. */
#define NUMBER_SIZE 32

/* Decimal digits and nothing else; false otherwise, or past 64 bits. */
bool number_parse(const char *text, size_t length, uint64_t *value);
/* A number as people write it: "12", "1.5G" where @bytes. */
bool number_parse_human(const char *text, bool bytes, uint64_t *value);
/* "12.5" as 12500; of a percentage, without its sign. */
bool number_parse_thousandths(const char *text, size_t length, uint64_t *value);
/* @value * @thousandths / 100000, rounded down. */
uint64_t number_percent(uint64_t value, uint64_t thousandths);
/* @value and so much more, rounded up; NUMBER_LARGEST at most. */
uint64_t number_raise(uint64_t value, uint64_t thousandths);

/* Whether a resource of this key counts bytes; no file says so but by the name. */
bool number_is_bytes(const char *key);
/* Into @buffer, and returned: "max", the digits, or "1.5GiB" where @human. */
const char *number_format(char *buffer, uint64_t value, bool human);

/* Small files of the kernel: read whole, written with one write(). */

/* The text of a file below @dir, or NULL and errno. To be freed. */
char *file_read(int dir, const char *name);
/*
 * The same, of a file that the kernel writes in one piece, as it does those of cgroups: a read
 * that leaves room has all of it, so there is no second one that says so.
 */
char *file_read_at_once(int dir, const char *name);
/* Write all of @text at once: 0 or a negative errno. */
int file_write(int dir, const char *name, const char *text);
bool file_exists(int dir, const char *name);
/* Whether errno says that what was looked at has gone meanwhile. */
bool file_is_gone(int error);
/* Who may write to the file or folder, as words: "root and alice". To be freed. */
char *file_owner(int dir, const char *name);
/* The next line of *@text, ended by a NUL; NULL at the end. */
char *file_next_line(char **text);

/* The clock that no administrator sets. */

/* Milliseconds since some moment in the past. */
int64_t clock_now(void);
/* Sleep; a signal ends the sleep early. */
void clock_sleep(int64_t milliseconds);

/*
 * What the commands say. Everything passes text_escape(), so that a name in a message
 * cannot do anything to a terminal; hence no newline within a message either.
 */

/* "rdmacg: WHERE: reason" to stderr. */
void say_error(const char *where, const char *format, ...) __printf(2, 3);
/* "rdmacg: WHERE: warning: ..." to stderr; the command goes on. */
void say_warning(const char *where, const char *format, ...) __printf(2, 3);
/* "rdmacg: ..." to stderr: what is good to know. */
void say_note(const char *format, ...) __printf(1, 2);
/* Errors and warnings begin with this, too, until it is NULL: a place in a file. */
void say_within(const char *where);
/* Errors and warnings go there instead of stderr, until it is NULL. */
void say_errors_to(FILE *to);
/* One line to stdout. */
void say_line(const char *format, ...) __printf(1, 2);
/* The same, cut at blanks where the screen ends; further lines begin with two blanks. */
void say_text(const char *format, ...) __printf(1, 2);
/* The columns of the terminal that stdout is, or of COLUMNS; 0 where there is neither. */
size_t say_width(void);

/* Whether to use colours on stdout: a terminal, and no NO_COLOR. */
bool say_in_colour(void);
/* Flush stdout. False, and an error message, where it cannot be written to. */
bool say_finish(void);

/*
 * JSON as json-c makes it, with two more promises: it is ASCII, so that no name in it does
 * anything to a terminal, and it is valid whatever bytes a name has.
 */

/*
 * What rdmacg(8) says of the keys holds for one format. A key may be added; its number
 * changes when one goes or means something else.
 */
#define JSON_FORMAT 1

/* A string; bytes that are no UTF-8 become the text \xNN. */
struct json_object *json_text(const char *text);
/* A number, or null for NUMBER_MAX: no limit. */
struct json_object *json_limit(uint64_t value);
struct json_object *json_number(uint64_t value);
void json_add(struct json_object *object, const char *key, struct json_object *value);
/* An object that holds the array @array. */
struct json_object *json_document(const char *name, struct json_object *array);
/* Print an object, its format and a newline, and free it. */
void json_print(FILE *to, struct json_object *object, bool pretty);

/* Options that each command has. */

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

/*
 * Columns for people: as wide as their widest cell, numbers to the right. Where the screen is
 * narrower, names are cut in the middle, and those of the first column stand above their rows.
 */

#define TABLE_COLUMNS 12

struct table {
	/*
	 * One letter a column: "l" to the left, "r" to the right, "n" a name, which may be cut,
	 * "g" a name that may stand above the rows that have it or an empty cell.
	 */
	const char *align;
	const char * const *headings;
	size_t columns;
	char **cells;
	/* By cell; NULL, or an escape sequence for its colour. */
	const char **colours;
	size_t nr_cells;
	/* In columns of the screen; 0 for as wide as the table is. */
	size_t width;
};

/* --columns and --no-headings, for the children of a command's argp; for all its tables. */
extern const struct argp table_argp;

/* Columns that --columns does not have end the command with status 2. */
void table_init(struct table *table, const char *align, const char * const *headings);
/* The next cell, row by row. What it shows is escaped. */
void table_cell(struct table *table, const char *format, ...) __printf(2, 3);
/* Make the last cell red, where there are colours. */
void table_alarm(struct table *table);
/* Print the heading and all rows, and free them. */
void table_print(struct table *table, FILE *to);
void table_free(struct table *table);

/*
 * rdmacg: what the commands share with main.c.
 *
 * A command is a function cmd_NAME() in NAME.c and a line of the table in main.c.
 * argv[0] is "rdmacg NAME"; the return value is the exit status.
 */

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	/* apply --check: something is not as the files say. */
	EXIT_DIFFERS = 3,
};

int cmd_show(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_oci_hook(int argc, char **argv);
int cmd_slurm_step(int argc, char **argv);

#endif /* RDMACG_LIB_H */
