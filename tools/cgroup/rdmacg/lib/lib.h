/* SPDX-License-Identifier: GPL-2.0 */
/* The base of all layers: the C library, and the functions of lib/. */
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

/* As in the kernel's headers. */
#define __printf(a, b)	__attribute((format(printf, a, b)))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/*
 * A command is a function cmd_NAME() and a line of the table in main.c. argv[0] is
 * "rdmacg NAME"; the return value is the exit status.
 */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	/* apply --check: a limit is not as the files say. */
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

/*
 * Memory. A command without memory cannot do anything useful, so these functions end it with
 * a message instead of returning NULL. All results are to be freed.
 */

/* @memory itself, which a library has allocated. */
void *memory_check(void *memory);
void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *old, size_t count, size_t size);
char *memory_string(const char *string);
char *memory_format(const char *format, ...) __printf(1, 2);
char *memory_vformat(const char *format, va_list args) __printf(1, 0);
/*
 * The array of @count elements with one more, zeroed, at its end. It grows by doubling, so
 * that a caller may add elements one by one.
 */
void *memory_grow(void *array, size_t count, size_t size);
/* The same for the array at *@array and its count: the new element. */
void *memory_append(void *array, size_t *count, size_t size);
/* A variable with __autofree is freed when it goes out of scope. */
void memory_autofree(void *variable);
#define __autofree	__attribute((cleanup(memory_autofree)))

/*
 * Text for people. Names of cgroups and devices are chosen by others and may hold anything,
 * including escape sequences of terminals.
 */

/*
 * A copy in which unprintable characters are written as \xNN. The backslash before a text that
 * looks like an escape is written as \x5c: two texts never have the same copy.
 */
char *text_escape(const char *raw);
/* Undo that, in place. */
void text_unescape(char *text);
/* The same whatever the locale: letters of all languages stay. */
char *text_printable(const char *raw);
/* A copy in which only bytes that are not UTF-8 are escaped; for JSON. */
char *text_valid(const char *raw);
/* How many columns an escaped text takes. */
size_t text_width(const char *text);
/* Cut an escaped text to so many columns; a ~ at its end replaces the rest. */
void text_clip(char *text, size_t columns);
/* The same, with the ~ in the middle: the end stays. */
void text_clip_middle(char *text, size_t columns);
/* Decode one character of UTF-8: its length, or 0 if it is not valid. */
size_t text_decode(const char *text, uint32_t *character);
/* @text as one word of a shell. */
char *text_quote(const char *text);

/* Numbers as the files of the controller have them, and as people write and read them. */

/* "max" in a file. It compares above every number that a file can hold. */
#define NUMBER_MAX UINT64_MAX
/* The largest limit that the kernel takes: 2^63 - 2. */
#define NUMBER_LARGEST ((uint64_t)INT64_MAX - 1)

/* Decimal digits and nothing else; false otherwise, or past 64 bits. */
bool number_parse(const char *text, size_t length, uint64_t *value);
/* A number as people write it: "12", "1.5G" if @bytes. */
bool number_parse_human(const char *text, bool bytes, uint64_t *value);
/* "12.5" as 12500; of a percentage, without its sign. */
bool number_parse_thousandths(const char *text, size_t length, uint64_t *value);
/* @value * @thousandths / 100000, rounded down. */
uint64_t number_percent(uint64_t value, uint64_t thousandths);
/* @value and so much more, rounded up; NUMBER_LARGEST at most. */
uint64_t number_raise(uint64_t value, uint64_t thousandths);
/* Whether a resource of this key counts bytes; only the name says so. */
bool number_is_bytes(const char *key);
/* "max", the digits, or "1.5GiB" if @human; valid until the eighth call after this one. */
const char *number_text(uint64_t value, bool human);

/* Small files of the kernel: read whole, written with one write(). */

/* The text of a file below @dir, or NULL and errno. To be freed. */
char *file_read(int dir, const char *name);
/*
 * The same for a file that the kernel writes in one piece, such as those of cgroups: a read
 * that leaves room has all of it, so no second read is needed to find the end.
 */
char *file_read_at_once(int dir, const char *name);
/* Write all of @text at once: 0 or a negative errno. */
int file_write(int dir, const char *name, const char *text);
bool file_exists(int dir, const char *name);
/* Whether errno says that the file, the cgroup or the device was removed meanwhile. */
bool file_is_gone(int error);
/* Which users may write to the file or folder: "root and alice". To be freed. */
char *file_owner(int dir, const char *name);
/* The next line of *@text, ended by a NUL; NULL at the end. */
char *file_next_line(char **text);

/* Milliseconds of a clock that no administrator sets. */
int64_t clock_now(void);
/* Sleep; a signal ends the sleep early. */
void clock_sleep(int64_t milliseconds);

/*
 * Messages. Everything passes text_escape(), so that a name in a message cannot do anything
 * to a terminal. A message has no newline for the same reason.
 */

/* "rdmacg: WHERE: reason" to stderr. */
#define say_error(where, ...)	say_about(where, "", __VA_ARGS__)
/* "rdmacg: WHERE: warning: ..." to stderr; the command goes on. */
#define say_warning(where, ...)	say_about(where, "warning: ", __VA_ARGS__)
/* "rdmacg: ..." to stderr. */
#define say_note(...)	say_about(NULL, "", __VA_ARGS__)
void say_about(const char *where, const char *kind, const char *format, ...) __printf(3, 4);
/* Errors and warnings also begin with this place in a file, until it is NULL. */
void say_within(const char *where);
/* Errors, warnings and notes go there instead of stderr, until it is NULL. */
void say_errors_to(FILE *to);
/* One line to stdout, or to @to. */
#define say_line(...)	say_line_to(stdout, __VA_ARGS__)
void say_line_to(FILE *to, const char *format, ...) __printf(2, 3);
/*
 * The same to stdout, cut at blanks where the screen ends; further lines begin with two blanks.
 * Nothing if JSON is wanted.
 */
void say_text(const char *format, ...) __printf(1, 2);
/* The columns of stdout's terminal, or those that COLUMNS says; 0 if neither is known. */
size_t say_width(void);
/* Whether to use colours on stdout: a terminal, and no NO_COLOR. */
bool say_in_colour(void);
/* Flush stdout. False, and an error message, if it cannot be written to. */
bool say_finish(void);

/*
 * JSON as json-c writes it, with two more promises: it is ASCII, so that no name in it does
 * anything to a terminal, and it is valid whatever bytes a name has.
 *
 * rdmacg(8) describes the keys of one format. A key may be added; the format's number changes
 * when a key is removed or gets another meaning.
 */
#define JSON_FORMAT 1

/* A string; bytes that are not UTF-8 become the text \xNN. NULL is null. */
struct json_object *json_text(const char *text);
struct json_object *json_number(uint64_t value);
void json_add(struct json_object *object, const char *key, struct json_object *value);
/*
 * An object of keys and the types of the arguments after them, such as "cgroup:s usage:u":
 * s a string; u a uint64_t; l the same, but NUMBER_MAX is null; b a bool; d a double, but a
 * negative number is null; o a json_object, which the new object then owns.
 */
struct json_object *json_pack(const char *keys, ...);
/* Add the same to an object. */
void json_fill(struct json_object *object, const char *keys, ...);
/* Print an object, its format and a newline, and free it. */
void json_print(FILE *to, struct json_object *object, bool pretty);

/* The options of commands. Words that are wrong end the program with a message and status 2. */

struct options {
	bool json;
	bool pretty;
};

extern struct options options;

/* For the children of a command's argp: -j, -p, -h. */
extern const struct argp options_argp;
/* The same as the only child. */
extern const struct argp_child options_child[];

/* Values for options without a letter begin here. */
#define OPTIONS_KEY 257

/* An option. */
struct choice {
	const char *name;
	/* 0 if there is none. */
	int letter;
	/* The name of its argument, or NULL. */
	const char *arg;
	const char *help;
	/* Called with the argument and @to; NULL: @to is a bool that is set. */
	void (*take)(const char *text, void *to);
	void *to;
};

#define SYNTAX_LISTS 5

struct commands;

/* The words that may follow a command's name. */
struct syntax {
	/* Lists of options; an option without a name ends each. */
	const struct choice *lists[SYNTAX_LISTS];
	/* The error if there is no argument; NULL if none is needed. */
	const char *needs;
	/* How many arguments are allowed. */
	int most;
	/* The first argument ends the options: a command with words of its own follows. */
	bool in_order;
	const char *args_doc;
	const char *doc;
	/* The commands that follow, for the help; or NULL. */
	const struct commands *commands;
};

/* A command of a table. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

struct commands {
	/* The heading of the table in the help, and the word for a row of it. */
	const char *title;
	const char *kind;
	/* A command without a name ends it. */
	const struct command *list;
};

/* Run the command that argv[0] names, with "@by NAME" as its argv[0]: the exit status. */
int command_run(const struct commands *commands, const char *by, int argc, char **argv);
/* The help_filter of an argp whose input is a struct commands: puts the table into the help. */
char *command_help(int key, const char *text, void *input);

/* Parse the words of a command: its arguments, ended by NULL. */
char **options_read(const struct syntax *syntax, int argc, char **argv);
/* For struct choice: the argument itself into a const char *; a number from 1 on. */
void options_take_text(const char *text, void *to);
void options_take_count(const char *text, void *to);
/* "20%" or "20" that is added to peaks, in thousandths of a percent. */
void options_take_margin(const char *text, void *to);
/* The same as options_read() with an argp of the command's own. */
void options_parse(const struct argp *argp, unsigned int flags, int argc, char **argv, void *input);
/* "rdmacg: WHERE: reason" and the end, with status 2. */
void options_fail(const char *where, const char *format, ...)
	__attribute((noreturn)) __printf(2, 3);

/*
 * Columns for people: as wide as their widest cell, numbers to the right. If the screen is
 * narrower, names are cut in the middle, and those of the first column are put above their
 * rows.
 */

#define TABLE_COLUMNS 12

struct cell {
	char *text;
	bool alarm;
};

struct table {
	/*
	 * One letter a column: "l" to the left, "r" to the right, "n" a name, which may be cut,
	 * "g" a name that may be put above its rows, which have it or an empty cell.
	 */
	const char *align;
	const char * const *headings;
	size_t columns;
	/* The columns to print. */
	size_t order[TABLE_COLUMNS];
	size_t nr_order;
	/* Row by row. */
	struct cell *cells;
	size_t nr_cells;
	/* In columns of the screen; 0: as wide as its cells need. */
	size_t width;
};

/* --columns and --no-headings, for all tables of the command. */
extern const struct choice table_choices[];

/* Columns in --columns that the table does not have end the command with status 2. */
void table_init(struct table *table, const char *align, const char * const *headings,
		size_t width);
/* The next cell, row by row. Its text is escaped. */
void table_cell(struct table *table, const char *text);
/* The same of a number, or "-" if it is not known. */
void table_number(struct table *table, bool known, uint64_t value, bool human);
/* Make the last cell red if @alarm, and the terminal has colours. */
void table_alarm(struct table *table, bool alarm);
/* Print the heading and all rows, and free them. */
void table_print(struct table *table, FILE *to);

#endif /* RDMACG_LIB_H */
