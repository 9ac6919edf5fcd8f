/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REPLAY_GENERATE_H
#define REPLAY_GENERATE_H

#include "replay.h"

/* Use all classes and all kinds of objects, not only those that stock counts. */
extern bool full;

/* The same seed makes the same operations. */
void seed(__u64 seed);
/* Choose one operation, or a few that belong together, and run them. */
void run_some(void);

/* Do one operation and print its result; in replay.c. */
void run(const struct op *op);

#endif /* REPLAY_GENERATE_H */
