/* SPDX-License-Identifier: GPL-2.0 */
/* The base of all layers: the C library, and the functions of lib/. */
#ifndef RDMACG_LIB_H
#define RDMACG_LIB_H

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

/* As in the kernel's headers. */
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

/* The exit status, from 0 on. */
enum exit_code { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_DIFFERS };

/* The commands of main.c, which return the exit status. argv[0] is "rdmacg NAME" or the program. */
int cmd_show(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_save(int argc, char **argv);
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

/* Without memory, these end the program. The caller frees the results. */

/* Returns @memory, the result of a library's function. */
void *memory_check(void *memory);
void *memory_zeroed(size_t count, size_t size);
char *memory_string(const char *string);
char *memory_format(const char *format, ...) __printf(1, 2);
/* Append a formatted text, or @more, to *@text, which may be NULL. Frees @more. */
#define memory_extend(text, ...)	memory_join(text, memory_format(__VA_ARGS__))
void memory_join(char **text, char *more);
/* Add a zeroed element to the end of @array, and return it. */
#define memory_append(array, count) \
	((__typeof__(array))memory_append_to(&(array), &(count), sizeof((array)[0])))
void *memory_append_to(void *array, size_t *count, size_t size);
/* A variable with __autofree is freed when it goes out of scope. */
void memory_autofree(void *variable);
#define __autofree	__attribute((cleanup(memory_autofree)))

/* A tenant can write escape sequences of terminals into a name. */

/* Read the locale. Call this first. */
void text_init(void);
/*
 * A copy with \xNN in place of each byte that is not UTF-8; with @printable, also of each character
 * that a terminal cannot print; with @ascii, also of each character that is not ASCII. If the text
 * contains such an escape, its backslash becomes \x5c, so two texts never have the same copy.
 */
char *text_filter(const char *raw, bool printable, bool ascii);
/* The copy for a terminal in this locale. */
char *text_escape(const char *raw);
/* The byte of an escape at the beginning of @text, or 0 for other text, as systemd's "\x2d". */
unsigned char text_escaped_byte(const char *text);
/* Undo text_escape(), in place. */
void text_unescape(char *text);
/* The number of columns of an escaped text on a screen. */
size_t text_width(const char *text);
/* Cut an escaped text to @columns; a ~ at the end or in the @middle replaces the rest. */
void text_clip(char *text, size_t columns, bool middle);
/* Decode a character of UTF-8. Returns its length, or 0 if it is not valid. */
size_t text_decode(const char *text, uint32_t *character);
/* Quote @text as one word of a shell; of bash, if a byte is unprintable. */
char *text_quote(const char *text);

/* A text by value. A pointer into a function's result is valid in one statement. */
struct number_text {
	char s[24];
};

/* This number stands for "max", and is above every number that a file can have. */
#define NUMBER_MAX UINT64_MAX
/* The largest limit that the kernel accepts: 2^63 - 2. */
#define NUMBER_LARGEST ((uint64_t)INT64_MAX - 1)

/* Parse decimal digits of a number of at most 64 bits. */
bool number_parse(const char *text, size_t length, uint64_t *value);
/* Parse a number that a person typed, such as "12". With @bytes, accept units, as in "1.5G". */
bool number_parse_human(const char *text, bool bytes, uint64_t *value);
/* Parse a number with at most 3 decimals: "12.5" becomes 12500. */
bool number_parse_thousandths(const char *text, size_t length, uint64_t *value);
/* @value * @by / @over, rounded down, or UINT64_MAX if the result needs more than 64 bits. */
uint64_t number_scale(uint64_t value, uint64_t by, uint64_t over);
/* Raise @value by @thousandths of a percent, and round up. Returns at most NUMBER_LARGEST. */
uint64_t number_raise(uint64_t value, uint64_t thousandths);
/* Whether a resource counts bytes. The kernel does not report the unit, so the key decides. */
bool number_is_bytes(const char *key);
/* A number as digits, as "max", or as "1.5GiB" if @human. */
struct number_text number_text(uint64_t value, bool human);

/*
 * The text of a file below @dir, or of standard input for "-", or NULL and errno. If @at_once, a
 * read that does not fill the buffer is the last one, as for the controller. The caller frees it.
 */
char *file_read_until(int dir, const char *name, bool at_once);
#define file_read(dir, name)	file_read_until(dir, name, false)
/* Write @line and a newline with one write(). Returns 0 or a negative errno. */
int file_write(int dir, const char *name, const char *line);
/* Whether the name exists, even as a link without a target. Sets errno if not. */
bool file_exists(int dir, const char *name);
/* Whether @error means that the file, the cgroup or the device was removed. */
bool file_is_gone(int error);
/* The text of a symbolic link, or "". The caller frees the result. */
char *file_link(int dir, const char *name);
/* Get the next line of *@text, and end it with a NUL. Returns NULL at the end. */
char *file_next_line(char **text);

/* Monotonic milliseconds. */
static inline int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Sleep; a signal ends the sleep early. */
#define clock_sleep(milliseconds)	poll(NULL, 0, milliseconds)
/* The pause after an action, so that actions of tenants use at most a quarter of a processor. */
#define clock_pause(begin)	((clock_now() - (begin)) * 3 + 20)

/* Messages, in which text_escape() escapes names and newlines. */

/* Print "rdmacg: WHERE: reason" to stderr. Returns false, for the caller to return. */
#define say_error(where, ...)	say_reason(where, "", memory_format(__VA_ARGS__))
/* Print "rdmacg: WHERE: warning: ..." to stderr. The command continues. */
#define say_warning(where, ...)	say_reason(where, "warning: ", memory_format(__VA_ARGS__))
/* Print "rdmacg: ..." to stderr. */
#define say_note(...)	say_reason(NULL, "", memory_format(__VA_ARGS__))
bool say_reason(const char *where, const char *kind, char *reason);
#define say_and_exit(status, where, ...)	(say_error(where, __VA_ARGS__), exit(status))
#define say_failure(where, ...)	say_and_exit(EXIT_FAILED, where, __VA_ARGS__)
#define options_fail(where, format, ...) \
	say_and_exit(EXIT_USAGE, where, format "; see --help", ##__VA_ARGS__)
/* Errors and warnings begin with this place in a file, unless it is NULL. */
extern const char *say_place;
/* Errors, warnings and notes go there. NULL means stderr. */
extern FILE *say_errors;
#define say_line(...)	say_line_to(stdout, __VA_ARGS__)
#define say_line_to(to, ...)	say_raw(to, memory_format(__VA_ARGS__))
void say_raw(FILE *to, char *raw);
/* Print a text to stdout, in lines for the width of the screen, unless the output is JSON. */
#define say_text(...)	say_wrapped(memory_format(__VA_ARGS__))
void say_wrapped(char *raw);
/* The columns of the terminal or, without a terminal, of the variable COLUMNS, or 0. */
size_t say_width(void);
/* Flush stdout. Returns false after a printed error. */
bool say_finish(void);

/*
 * JSON in ASCII, so a name cannot control a terminal. rdmacg(8) describes the keys. The number of
 * the format changes if a key is removed or gets another meaning, not if a key is added.
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
/*
 * Print an object whose first @key is a long array: each element, with the number of elements
 * before it, and then the other keys. Both functions free the JSON.
 */
void json_print_element(FILE *to, const char *key, size_t count, struct json_object *element);
void json_print_rest(FILE *to, const char *key, size_t count, struct json_object *rest);

/* The options of all commands. */
extern struct options {
	bool json, pretty;
} options;

/* An option of a command. */
struct choice {
	const char *name;
	int letter;		/* or 0 */
	const char *help;
	void *to;		/* a bool, a uint64_t for the argument "N", or a const char * */
	const char *arg;	/* the name of the argument, or NULL for a bool */
	void (*take)(const char *text, void *to);	/* sets @to in another way */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

/* The words that may follow a command's name. */
struct syntax {
	struct choice choices[6];	/* own options; an empty option ends this and each list */
	const struct choice *lists[3];	/* options that commands share */
	const char *needs;	/* the error if arguments are missing, or NULL if none are needed */
	bool in_order;		/* the first argument is a command with words of its own */
	const char *args_doc;	/* the arguments in the help, or NULL if there are none */
	bool single;		/* at most one argument */
	const char *example;	/* a command for the help, or NULL */
	const char *doc;
	const struct command *commands;	/* for the help, up to a command without a name */
	const char *kind;		/* the word for a command */
};

/* Run the command words[0], with "@by NAME" as its argv[0]. Returns the exit status. */
int command_run(const struct syntax *syntax, const char *by, char **words);

/* Parse the words of a command. Returns its arguments. An invalid word ends the program. */
char **options_read(const struct syntax *syntax, int argc, char **argv);

#define TABLE_COLUMNS 12

struct cell {
	char *text;
	const char *colour;	/* the sequence for a terminal with colours, or NULL */
};

/*
 * A table for people. A column is as wide as its widest cell. To print a million rows without
 * keeping their texts, add all rows twice: first with table_forget(), then with table_print().
 */
struct table {
	/*
	 * One letter for each column: "l" aligns to the left, "r" to the right. If the screen is
	 * too narrow, "n" is cut in the middle. "g" is then printed above the rows of a group; only
	 * the first row of a group has a text there.
	 */
	const char *align;
	size_t columns;
	size_t order[TABLE_COLUMNS];	/* the columns to print */
	size_t nr_order;
	const char * const *headings;
	struct cell *cells;		/* the rows that were neither printed nor forgotten */
	size_t nr_cells;
	size_t width;			/* of the screen, or 0 for no limit */
	size_t widths[TABLE_COLUMNS];
	bool begun;			/* the headings are printed, and the widths do not change */
	bool colours;
	bool grouped;			/* the first column is printed above the rows */
};

/* The options --columns and --no-headings, for all tables of the command. */
extern const struct choice table_choices[];
extern bool table_bare;		/* --no-headings */

/* Begin a table. If it lacks a column of --columns, end the program with status 2. */
void table_init(struct table *table, const char *align, const char * const *headings, size_t width);
/* Add the next cell, row by row, with @text, or with a number or "-". */
void table_cell(struct table *table, const char *text);
void table_number(struct table *table, bool known, uint64_t value, bool human);
/* If @alarm, make the last cell red. */
void table_alarm(struct table *table, bool alarm);
/* Free the rows, but keep the widths of the columns. */
void table_forget(struct table *table);
/* Print and free the rows. The first call fits the columns, and prints headings. */
void table_print(struct table *table, FILE *to);

#endif /* RDMACG_LIB_H */
