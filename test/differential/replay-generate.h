/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GENERATE_H
#define GENERATE_H

#include "replay.h"

/* Of all classes and with all kinds of objects, not only what the base has, too. */
extern bool full;

/* The same seed makes the same operations. */
void seed(__u64 seed);
/* Choose one operation, or a few that belong together, and run them. */
void run_some(void);

/* Do one operation and print what came of it; replay.c's. */
void run(const struct op *op);

#endif /* GENERATE_H */
