/* SPDX-License-Identifier: GPL-2.0 */
/* The needs of a command: peaks, refusals, and limits that are enough. */
#ifndef RDMACG_RUN_REPORT_H
#define RDMACG_RUN_REPORT_H

#include "core/core.h"

/* If the kernel has no peaks: make those of @seen at least the usage in @now. */
void report_see(struct pools *seen, const struct pools *now);
/* Put the peaks of @seen into pools that have none. */
void report_fill_peaks(struct pools *pools, const struct pools *seen);

/*
 * A table, and a line of limits for each device, or the same as JSON; @margin in thousandths
 * of a percent.
 */
void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status);

#endif /* RDMACG_RUN_REPORT_H */
