// SPDX-License-Identifier: GPL-2.0
/* rdmacg: time. */
#include <poll.h>
#include <time.h>

#include "lib/lib.h"

#define CLOCK_PAUSE_MS		20
#define CLOCK_PAUSE_FACTOR	3

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
	return (clock_now() - begin) * CLOCK_PAUSE_FACTOR + CLOCK_PAUSE_MS;
}
