/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's log: firmware and drivers say there why they refused, and nowhere else. For
 * tests, RDMACG_KMSG and RDMACG_SYS stand for /dev/kmsg and /sys/class/infiniband.
 */
#ifndef RDMACG_WHY_LOG_H
#define RDMACG_WHY_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct log_line {
	char *text;
	/* In plain words. */
	const char *meaning;
};

struct log {
	/* The device's place on its bus, or NULL. */
	char *bus;
	/* Of the last minutes; only those that tell of a failure of the device. */
	struct log_line *lines;
	size_t nr_lines;
};

/* False, and errno, where the log cannot be read; @log->bus is set in any case. */
bool log_read(struct log *log, const char *device);
void log_free(struct log *log);

#endif /* RDMACG_WHY_LOG_H */
