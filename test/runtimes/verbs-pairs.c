// SPDX-License-Identifier: GPL-2.0
/*
 * verbs-pairs DEVICE MS: create and destroy PDs without end. After each MS milliseconds, print the
 * number of pairs per second, and the 99th percentile of their times in microseconds.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST	1000000

static unsigned long long times[MOST];

static unsigned long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	unsigned long long left = *(const unsigned long long *)a;
	unsigned long long right = *(const unsigned long long *)b;

	return (left > right) - (left < right);
}

static int measure(struct ibv_context *context, unsigned long long ns)
{
	unsigned long long begin = now_ns(), before = begin, now = begin;
	struct ibv_pd *pd;
	int count = 0;

	while (now - begin < ns && count < MOST) {
		pd = ibv_alloc_pd(context);
		if (!pd || ibv_dealloc_pd(pd))
			return -1;
		now = now_ns();
		times[count++] = now - before;
		before = now;
	}
	qsort(times, count, sizeof(*times), compare);
	printf("%.0f %llu\n", count * 1e9 / (now - begin), times[count * 99LL / 100] / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: verbs-pairs DEVICE MS\n");
		return 2;
	}
	for (; list && *list && !context; list++)
		if (!strcmp(ibv_get_device_name(*list), argv[1]))
			context = ibv_open_device(*list);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (context && !measure(context, atoi(argv[2]) * 1000000ULL))
		;
	perror("verbs-pairs");
	return 1;
}
