/* SPDX-License-Identifier: GPL-2.0 */
/* Who tells of new devices and of new cgroups: udev or the kernel, and inotify. */
#ifndef RDMACG_ARRIVAL_H
#define RDMACG_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "cgroup.h"

struct udev;
struct udev_monitor;

struct arrival {
	struct udev *udev;
	struct udev_monitor *monitor;
	int inotify;
	/* The folders that inotify tells of, a tree of tsearch(3). */
	void *folders;
	/* Any cgroup may be new, or a device is. */
	bool everything;
	/* The cgroups that are new. */
	char **names;
	size_t nr_names;
};

/* False, and an error is said, where that fails. */
bool arrival_open(struct arrival *arrival);
void arrival_close(struct arrival *arrival);
/* Tell of new children of the cgroup from now on. Again changes nothing. */
void arrival_add(struct arrival *arrival, const struct cgroup *cgroup);
/* Tell of no cgroups any more. */
bool arrival_forget(struct arrival *arrival);

/* What poll(2) waits for. */
int arrival_device_fd(const struct arrival *arrival);
/* Take what there is, without waiting, into everything and names; each name once. */
void arrival_take(struct arrival *arrival);
/* Empty these again. */
void arrival_drop(struct arrival *arrival);

#endif /* RDMACG_ARRIVAL_H */
