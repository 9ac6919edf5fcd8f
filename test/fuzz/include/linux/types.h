/* SPDX-License-Identifier: GPL-2.0 */
/* What the controller's parser and its headers need of the kernel's header. */
#ifndef FUZZ_LINUX_TYPES_H
#define FUZZ_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

/* For sparse alone. */
#define __rcu

#endif
