// SPDX-License-Identifier: GPL-2.0
/* rdmacg: time. */
#include <time.h>

#include "lib/lib.h"

int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void clock_sleep(int64_t milliseconds)
{
	struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
