/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: text to limits and limits to text.
 */
#ifndef _KERNEL_CGROUP_RDMA_PARSE_H
#define _KERNEL_CGROUP_RDMA_PARSE_H

#include <linux/seq_file.h>
#include <linux/types.h>

/* The longest name of a resource, with its NUL. driver_object has 13 letters. */
#define RDMACG_KEY_SIZE 32

/* The longest name of a device, all of it escaped, with its NUL. */
#define RDMACG_NAME_SIZE 256

/* The value of a limit that the default replaces. A write cannot contain this number. */
#define RDMACG_USE_DEFAULT U64_MAX

/* The beginning of a line in a max file. Belongs to the writer. */
struct rdmacg_line {
	/* As the files show it; empty if it is longer than the name of any device. */
	char			name[RDMACG_NAME_SIZE];
	bool			has_index;
	u32			index;
	char			*limits;	/* the rest of the line, in the written text */
};

bool rdmacg_key_is_valid(const char *key);
size_t rdmacg_escape_name(char *to, size_t size, const char *name);

bool rdmacg_text_is_whole(const char *text);
int rdmacg_parse_line(char **text, struct rdmacg_line *line);
int rdmacg_parse_limit(char **line, const char **key, u64 *max);

void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix, u64 value);
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit);

#endif /* _KERNEL_CGROUP_RDMA_PARSE_H */
