// SPDX-License-Identifier: GPL-2.0
/*
 * verbs_bench DEVICE MS [ticks]: the time to create and destroy one object of each type through
 * libibverbs, to change a QP to and fro, and to open and close the device. Prints "verbs/TYPE
 * ps=..." each, the median of short runs within MS milliseconds. With ticks it prints "verbs/TYPE
 * ticks=...", the least ticks of the time stamp counter, which are instructions on a machine whose
 * clock counts those. Kernels differ only in what they charge; the rest is system calls, core and
 * driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

#define BATCH 20
#define MOST 100000

static struct bench_verbs verbs;

static void batch(const struct bench_pair *pair)
{
	int i;

	for (i = 0; i < BATCH; i++)
		pair->run(&verbs);
}

static void measure_time(const struct bench_pair *pair, long long ns)
{
	static long long runs[MOST];
	long long start, end;
	int count = 0;

	batch(pair);
	end = bench_now() + ns;
	do {
		start = bench_now();
		batch(pair);
		runs[count++] = bench_now() - start;
	} while (count < MOST && bench_now() < end);
	printf("verbs/%s ps=%lld\n", pair->name, bench_percentile(runs, count, 2) * 1000 / BATCH);
}

/* Print the shortest of many batches: interrupts and cold caches make some batches longer. */
static void measure_ticks(const struct bench_pair *pair, long long ns)
{
	unsigned long long least = -1ull, start, ticks;
	long long end;

	batch(pair);
	end = bench_now() + ns;
	do {
		start = __builtin_ia32_rdtsc();
		batch(pair);
		ticks = __builtin_ia32_rdtsc() - start;
		if (ticks < least)
			least = ticks;
	} while (bench_now() < end);
	printf("verbs/%s ticks=%llu\n", pair->name, least / BATCH);
}

int main(int argc, char **argv)
{
	int has_ticks = argc == 4 && !strcmp(argv[3], "ticks");
	const struct bench_pair *pair;

	if (argc != 3 + has_ticks) {
		fprintf(stderr, "usage: verbs_bench DEVICE MS [ticks]\n");
		return 2;
	}
	bench_open(&verbs, argv[1]);
	for (pair = bench_pairs; pair->name; pair++)
		(has_ticks ? measure_ticks : measure_time)(pair, atoll(argv[2]) * 1000000);
	return 0;
}
