/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header also has sprintf(). */
#include <stdio.h>
#include <string.h>
