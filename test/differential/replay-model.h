/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the model share: the numbers behind one resource of one device in
 * one cgroup, and how they are read and written.
 */
#ifndef MODEL_H
#define MODEL_H

#include "replay.h"

enum event { EVENT_MAX, EVENT_ALLOC_FAIL };

struct counter {
	__u64 max, usage, peak;
	__u64 events[2], local[2];	/* by enum event */
};

/* The limits of one cgroup. */
typedef __u64 limits[DEVICES][RESOURCES];

static inline enum class class_of(enum resource resource)
{
	return resource <= HCA_OBJECT ? HCA : resource <= CM_ID ? VERB : HW;
}

/* Print the resources of the class, of one device; returns where the text ends. */
char *model_print_class(char *at, enum class class, enum kind kind,
			const struct counter *counters);

/* Change @all to what was written. After an error it is not to be used. */
int model_parse_limits(const char *text, size_t len, enum class class, limits all);

#endif /* MODEL_H */
