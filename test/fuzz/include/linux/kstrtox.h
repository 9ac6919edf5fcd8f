/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

int kstrtou32(const char *text, unsigned int base, u32 *number);
int kstrtou64(const char *text, unsigned int base, u64 *number);
