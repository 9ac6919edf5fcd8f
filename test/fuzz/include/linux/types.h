/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the kernel's header that the controller's parser needs. */
#ifndef FUZZ_LINUX_TYPES_H
#define FUZZ_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

/* Only for sparse. */
#define __rcu

#endif
