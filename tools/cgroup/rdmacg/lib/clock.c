// SPDX-License-Identifier: GPL-2.0
/* rdmacg: time. */
#include <poll.h>
#include <time.h>

#include "lib/lib.h"

int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void clock_sleep(int milliseconds)
{
	poll(NULL, 0, milliseconds);
}

int clock_pause(int64_t begin)
{
	/* Use at most a quarter of a processor. */
	return (clock_now() - begin) * 3 + 20;
}
