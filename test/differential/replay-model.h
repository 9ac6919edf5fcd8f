/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of the model: the account of a cgroup and its files. */
#ifndef REPLAY_MODEL_H
#define REPLAY_MODEL_H

#include "replay.h"

enum event { EVENT_MAX, EVENT_ALLOC_FAIL };

struct counter {
	__u64 usage, peak;
	__u64 events[2], local[2];	/* by enum event */
};

/*
 * The account of a cgroup with the controller. While it is charged, it outlives the cgroup's
 * directory.
 */
struct account {
	int parent;
	__u64 max[DEVICES][RESOURCES];	/* what holds */
	bool own[DEVICES][RESOURCES];	/* it is not the default's */
	struct model_defaults defaults;
	struct counter counters[DEVICES][RESOURCES];
};

/* replay-model-text.c */
void account_print(struct account *account, int file, char *answer);
int account_write(struct account *account, int file, const char *text, size_t len);

#endif /* REPLAY_MODEL_H */
