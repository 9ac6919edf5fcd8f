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

/* These macros and functions are as in the kernel's headers. */
#define __printf(a, b)	__attribute((format(printf, a, b)))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static inline __int128 min(__int128 a, __int128 b)
{
	return a < b ? a : b;
}

static inline __int128 max(__int128 a, __int128 b)
{
	return a > b ? a : b;
}

/*
 * A command is a function cmd_NAME() and a line of the table in main.c. argv[0] is
 * "rdmacg NAME"; the return value is the exit status.
 */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	/* apply --check: a limit differs from the files. */
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
 * Memory. These functions never return NULL: if there is no memory, they print a message and end
 * the program. The caller frees the results, except the elements of memory_append().
 */

/* Returns @memory, which a library has allocated. */
void *memory_check(void *memory);
void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *old, size_t count, size_t size);
char *memory_string(const char *string);
char *memory_format(const char *format, ...) __printf(1, 2);
char *memory_vformat(const char *format, va_list args) __printf(1, 0);
/* Append a formatted text to *@text, which may be NULL. */
void memory_extend(char **text, const char *format, ...) __printf(2, 3);
/* Add a zeroed element to the end of @array, and count it. Returns the element. */
#define memory_append(array, count) \
	((__typeof__(array))memory_append_to(&(array), &(count), sizeof((array)[0])))
void *memory_append_to(void *array, size_t *count, size_t size);
/* A variable with __autofree is freed when it goes out of scope. */
void memory_autofree(void *variable);
#define __autofree	__attribute((cleanup(memory_autofree)))

/*
 * Text for people. Tenants choose the names of cgroups and devices, so a name may contain escape
 * sequences for terminals. The caller frees the copies.
 */

/*
 * A copy with \xNN in place of each byte that is not UTF-8; with @printable, also of each character
 * that a terminal cannot print; with @ascii, also of each character that is not ASCII. If the text
 * contains such an escape, its backslash becomes \x5c, so two texts never have the same copy.
 */
char *text_filter(const char *raw, bool printable, bool ascii);
/* A copy with the characters that a terminal can print in this locale. */
char *text_escape(const char *raw);
/* Undo text_escape(), in place. */
void text_unescape(char *text);
/* The number of columns that an escaped text takes on a screen. */
size_t text_width(const char *text);
/* Cut an escaped text to @columns; a ~ at the end or in the @middle replaces the rest. */
void text_clip(char *text, size_t columns, bool middle);
/* Decode a character of UTF-8. Returns its length, or 0 if it is not valid. */
size_t text_decode(const char *text, uint32_t *character);
/*
 * Quote @text so that a shell reads it as one word. text_escape() does not change the result. A
 * text with unprintable characters becomes $'...', which bash reads.
 */
char *text_quote(const char *text);

/* Numbers as the files of the controller have them, and as people write and read them. */

/* This number stands for "max", and is above every number that a file can have. */
#define NUMBER_MAX UINT64_MAX
/* The largest limit that the kernel accepts: 2^63 - 2. */
#define NUMBER_LARGEST ((uint64_t)INT64_MAX - 1)

/* Parse decimal digits. Returns false for other characters, or for a number above 64 bits. */
bool number_parse(const char *text, size_t length, uint64_t *value);
/* Parse a number as people write it: "12", or also "1.5G" if @bytes. */
bool number_parse_human(const char *text, bool bytes, uint64_t *value);
/* Parse a number with at most 3 decimals: "12.5" becomes 12500. */
bool number_parse_thousandths(const char *text, size_t length, uint64_t *value);
/* @value * @by / @over, rounded down, or UINT64_MAX if the result needs more than 64 bits. */
uint64_t number_scale(uint64_t value, uint64_t by, uint64_t over);
/* Raise @value by @thousandths of a percent, and round up. Returns at most NUMBER_LARGEST. */
uint64_t number_raise(uint64_t value, uint64_t thousandths);
/* Whether a resource counts bytes. The kernel does not report the unit, so the key decides. */
bool number_is_bytes(const char *key);
/*
 * A number as digits, as "max", or as "1.5GiB" if @human. The result is valid for the next seven
 * calls.
 */
const char *number_text(uint64_t value, bool human);

/* Small files of the kernel, which are read completely, and written with one write(). */

/* The text of a file below @dir, or NULL and errno. The caller frees the result. */
char *file_read(int dir, const char *name);
/* Like file_read(), for a file that one read returns completely, such as a file of a cgroup. */
char *file_read_at_once(int dir, const char *name);
/* Write @text with one write(). Returns 0 or a negative errno. */
int file_write(int dir, const char *name, const char *text);
bool file_exists(int dir, const char *name);
/* Whether @error means that the file, the cgroup or the device was removed. */
bool file_is_gone(int error);
/* The users that may write to the file or folder: "root and alice". The caller frees the result. */
char *file_owner(int dir, const char *name);
/* Get the next line of *@text, and end it with a NUL. Returns NULL at the end. */
char *file_next_line(char **text);

/* The milliseconds of a monotonic clock. */
int64_t clock_now(void);
/* Sleep; a signal ends the sleep early. */
void clock_sleep(int milliseconds);
/*
 * The milliseconds to pause after an action that began at @begin. Otherwise a tenant that always
 * causes actions would keep a processor busy.
 */
int clock_pause(int64_t begin);

/*
 * Messages. text_escape() escapes each message, also its newlines, so that a name in it cannot
 * control a terminal.
 */

/* Print "rdmacg: WHERE: reason" to stderr. Returns false, for the caller to return. */
#define say_error(where, ...)	say_about(where, "", __VA_ARGS__)
/* Print "rdmacg: WHERE: warning: ..." to stderr. The command continues. */
#define say_warning(where, ...)	say_about(where, "warning: ", __VA_ARGS__)
/* Print "rdmacg: ..." to stderr. */
#define say_note(...)	say_about(NULL, "", __VA_ARGS__)
bool say_about(const char *where, const char *kind, const char *format, ...) __printf(3, 4);
/* Print an error, and end the program with @status. */
#define say_and_exit(status, where, ...)	(say_error(where, __VA_ARGS__), exit(status))
#define say_failure(where, ...)	say_and_exit(EXIT_FAILED, where, __VA_ARGS__)
#define options_fail(where, format, ...) \
	say_and_exit(EXIT_USAGE, where, format "; see --help", ##__VA_ARGS__)
/* Begin later errors and warnings with @where, a place in a file. NULL means no place. */
void say_within(const char *where);
/* Print later errors, warnings and notes to @to, or to stderr if @to is NULL. */
void say_errors_to(FILE *to);
#define say_line(...)	say_line_to(stdout, __VA_ARGS__)
void say_line_to(FILE *to, const char *format, ...) __printf(2, 3);
/*
 * Print a text to stdout, and break lines at blanks for the width of the screen. Lines after the
 * first begin with two blanks. Prints nothing if the output is JSON.
 */
void say_text(const char *format, ...) __printf(1, 2);
/* The columns of the terminal or, if it is unknown, of the variable COLUMNS. 0 means unknown. */
size_t say_width(void);
/* Flush stdout. Prints an error and returns false if stdout cannot be written to. */
bool say_finish(void);

/*
 * JSON from json-c. The output is always ASCII, so a name cannot control a terminal. The output is
 * always valid, even if a name has bytes that are not UTF-8.
 *
 * rdmacg(8) describes the keys. The number of the format changes when a key is removed or gets
 * another meaning, but not when a key is added.
 */
#define JSON_FORMAT 1

/* A string. A byte that is not UTF-8 becomes the text \xNN. NULL becomes null. */
struct json_object *json_text(const char *text);
/*
 * An object. @keys has the keys and the types of the arguments, such as "cgroup:s usage:u": s is a
 * string; u is a uint64_t; l is a uint64_t whose NUMBER_MAX becomes null; b is a bool; d is a
 * double, and becomes null if it is negative; o is a json_object, which the new object then owns.
 */
#define json_pack(...)	json_fill(json_object_new_object(), __VA_ARGS__)
/* Add the keys and values of json_pack() to an object. Returns the object. */
struct json_object *json_fill(struct json_object *object, const char *keys, ...);
/* Add an object of json_pack() to an array. */
#define json_append(array, ...)	json_object_array_add(array, json_pack(__VA_ARGS__))
/* Print an object of json_pack() with the key "format". With -p, print several lines. */
#define json_print(to, ...)	json_print_object(to, json_pack(__VA_ARGS__))
void json_print_object(FILE *to, struct json_object *object);

/* The options of commands. An invalid word ends the program with a message and status 2. */

struct options {
	bool json;
	bool pretty;
};

extern struct options options;

/* An option of a command. */
struct choice {
	const char *name;
	/* The letter of the option, or 0 for an option without a letter. */
	int letter;
	const char *help;
	/* A bool, which becomes true, or what @take gets besides the argument. */
	void *to;
	void (*take)(const char *text, void *to);
	/* The name of the argument, or NULL. */
	const char *arg;
};

#define SYNTAX_CHOICES 6
#define SYNTAX_LISTS 3

/* A command of a table. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

/* The words that may follow a command's name. */
struct syntax {
	/* The command's own options, and lists that it shares. An empty option ends each list. */
	struct choice choices[SYNTAX_CHOICES];
	const struct choice *lists[SYNTAX_LISTS];
	/* The error message if there is no argument, or NULL if arguments are optional. */
	const char *needs;
	/*
	 * The first argument ends the options, because this argument is a command with words of its
	 * own.
	 */
	bool in_order;
	/* The arguments in the help. A command without this text has no arguments. */
	const char *args_doc;
	/* At most one argument. */
	bool single;
	const char *doc;
	/* The commands in the help, which a command without a name ends, and the word for one. */
	const struct command *commands;
	const char *kind;
};

/* Run the command words[0], with "@by NAME" as its argv[0]. Returns the exit status. */
int command_run(const struct syntax *syntax, const char *by, char **words);

/* Parse the words of a command. Returns its arguments, with a NULL at the end. */
char **options_read(const struct syntax *syntax, int argc, char **argv);
/* Functions for struct choice. @to is for a const char *, or for a uint64_t of at least 1. */
void options_take_text(const char *text, void *to);
void options_take_count(const char *text, void *to);

/*
 * Tables for people. A column is as wide as its widest cell, and numbers are aligned to the right.
 * If the screen is too narrow, names are cut in the middle, and the names of the first column are
 * printed above their rows.
 */

#define TABLE_COLUMNS 12

struct cell {
	char *text;
	bool alarm;
};

struct table {
	/*
	 * One letter for each column: "l" aligns to the left, "r" to the right, "n" is a name that
	 * may be cut, and "g" is a name that may be put above its rows. The first row of a group
	 * has its name, and the other rows have an empty cell.
	 */
	const char *align;
	const char * const *headings;
	size_t columns;
	/* The columns to print. */
	size_t order[TABLE_COLUMNS];
	size_t nr_order;
	/* The cells, row by row. */
	struct cell *cells;
	size_t nr_cells;
	/* The number of columns of the screen, or 0 for no limit. */
	size_t width;
	bool colours;
	/* The width of each column of the table. */
	size_t widths[TABLE_COLUMNS];
	/* Each name of the first column is on a line above its rows. */
	bool grouped;
};

/* The options --columns and --no-headings, for all tables of the command. */
extern const struct choice table_choices[];

/* Begin a table. If it lacks a column of --columns, end the program with status 2. */
void table_init(struct table *table, const char *align, const char * const *headings,
		size_t width);
/* Add the next cell, row by row. The function escapes @text. */
void table_cell(struct table *table, const char *text);
/* Add a cell with a number, or with "-" if it is not known. */
void table_number(struct table *table, bool known, uint64_t value, bool human);
/* If @alarm, make the last cell red on a terminal with colours. */
void table_alarm(struct table *table, bool alarm);
/* Print the heading and all rows, and free them. */
void table_print(struct table *table, FILE *to);

#endif /* RDMACG_LIB_H */
