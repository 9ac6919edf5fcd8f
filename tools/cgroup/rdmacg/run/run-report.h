/* SPDX-License-Identifier: GPL-2.0 */
/* What a command turned out to need: peaks, refusals, and limits that are enough. */
#ifndef RDMACG_RUN_REPORT_H
#define RDMACG_RUN_REPORT_H

#include "core/core.h"

/* Where the kernel has no peaks: make those of @seen at least the usage in @now. */
void report_see(struct pools *seen, const struct pools *now);
/* Put what was seen into pools that have no peaks. */
void report_fill_peaks(struct pools *pools, const struct pools *seen);

/* A table, and a line of limits for each device; @margin in thousandths of a percent. */
void report_print(FILE *to, const struct cgroup *cgroup, uint64_t margin, int status);
struct json_object *report_json(const struct cgroup *cgroup, uint64_t margin, int status);
/* Of a failed command: "cgroup", "memlock", or null where no cause was seen. */
struct json_object *report_cause_json(const struct cgroup *cgroup, int status);

#endif /* RDMACG_RUN_REPORT_H */
