/* SPDX-License-Identifier: GPL-2.0 */
/* Small files of the kernel: read whole, written with one write(). */
#ifndef RDMACG_FILE_H
#define RDMACG_FILE_H

#include <stdbool.h>

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

#endif /* RDMACG_FILE_H */
