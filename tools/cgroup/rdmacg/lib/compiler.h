/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's headers give its own code. */
#ifndef RDMACG_COMPILER_H
#define RDMACG_COMPILER_H

#define __printf(a, b)	__attribute((format(printf, a, b)))

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif /* RDMACG_COMPILER_H */
