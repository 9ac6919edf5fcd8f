/* SPDX-License-Identifier: GPL-2.0 */
/* The clock that no administrator sets. */
#ifndef RDMACG_CLOCK_H
#define RDMACG_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment in the past. */
int64_t clock_now(void);
/* Sleep; a signal ends the sleep early. */
void clock_sleep(int64_t milliseconds);

#endif /* RDMACG_CLOCK_H */
