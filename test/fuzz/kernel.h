/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the kernel's headers that the controller's parser needs. */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define atomic_long_t long
typedef unsigned int u32;
typedef unsigned long long u64;

#define U32_MAX (~0u)
#define U64_MAX (~0ull)
#define S64_MAX ((long long)(U64_MAX >> 1))

static inline bool str_has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

int kstrtou32(const char *text, unsigned int base, u32 *number);
int kstrtou64(const char *text, unsigned int base, u64 *number);

/* A call of a function below must have all flags that the function supports. */
enum { ESCAPE_OCTAL = 1, ESCAPE_NAP = 2, ESCAPE_APPEND = 4, UNESCAPE_OCTAL = 8 };

int string_escape_str(const char *from, char *to, size_t size, unsigned int flags,
		      const char *append);
int string_unescape_inplace(char *text, unsigned int flags);

/* The fuzzer does not print. */
struct seq_file;

static inline void seq_printf(struct seq_file *sf, const char *format, ...) { }

#endif /* FUZZ_KERNEL_H */
