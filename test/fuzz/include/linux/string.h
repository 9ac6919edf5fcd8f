/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's has sprintf(), too. */
#include <stdio.h>
#include <string.h>
