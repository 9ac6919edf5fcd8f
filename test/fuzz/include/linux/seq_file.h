/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_LINUX_SEQ_FILE_H
#define FUZZ_LINUX_SEQ_FILE_H

#include <linux/types.h>

/* @buf has the text so far. The caller provides @buf, of @size bytes. */
struct seq_file {
	char	*buf;
	size_t	size;
	size_t	count;
};

void seq_putc(struct seq_file *sf, char c);
void seq_puts(struct seq_file *sf, const char *string);
void seq_printf(struct seq_file *sf, const char *format, ...);

#endif
