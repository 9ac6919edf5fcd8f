/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: text to limits and limits to text.
 */
#ifndef _KERNEL_CGROUP_RDMA_PARSE_H
#define _KERNEL_CGROUP_RDMA_PARSE_H

#include <linux/seq_file.h>
#include <linux/types.h>

/* The size of the longest name of a resource, including the NUL. */
#define RDMACG_KEY_SIZE 32

/*
 * The size of the longest name of a device, if each byte is escaped, including
 * the NUL.
 */
#define RDMACG_NAME_SIZE 256

/*
 * This value means that the default applies. A write cannot contain this
 * number.
 */
#define RDMACG_USE_DEFAULT U64_MAX

/* The beginning of a line in a max file. Only the writer uses this struct. */
struct rdmacg_line {
	/*
	 * The name as the files show it. Empty if the written name is longer
	 * than any device's name.
	 */
	char			name[RDMACG_NAME_SIZE];
	bool			has_index;
	u32			index;
	char			*limits;	/* The rest of the line, in the written text. */
};

bool rdmacg_key_is_valid(const char *key);
size_t rdmacg_escape_name(char *to, size_t size, const char *name);

bool rdmacg_text_is_whole(const char *text);
int rdmacg_parse_line(char **text, struct rdmacg_line *line);
int rdmacg_parse_limit(char **line, const char **key, u64 *max);

void rdmacg_print_value(struct seq_file *sf, const char *key, const char *suffix, u64 value);
void rdmacg_print_limit(struct seq_file *sf, const char *key, u64 limit);

#endif /* _KERNEL_CGROUP_RDMA_PARSE_H */
