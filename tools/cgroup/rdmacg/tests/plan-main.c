// SPDX-License-Identifier: GPL-2.0
/* "rdmacg plan" alone, for its tests. */
#include <stdio.h>
#include <string.h>

#include "../plan.h"

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "plan")) {
		fputs("rdmacg: this program has the command plan only\n", stderr);
		return PLAN_USAGE;
	}
	return cmd_plan(argc - 1, argv + 1);
}
