/* SPDX-License-Identifier: GPL-2.0 */
/* Who tells of new devices and of new cgroups: udev or the kernel, and inotify. */
#ifndef RDMACG_HOTPLUG_H
#define RDMACG_HOTPLUG_H

#include "core/core.h"

struct udev;
struct udev_monitor;

struct hotplug {
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
bool hotplug_open(struct hotplug *hotplug);
void hotplug_close(struct hotplug *hotplug);
/* Tell of new children of the cgroup from now on. Again changes nothing. */
void hotplug_add(struct hotplug *hotplug, const struct cgroup *cgroup);
/* Tell of no cgroups any more. */
bool hotplug_forget(struct hotplug *hotplug);

/* What poll(2) waits for. */
int hotplug_device_fd(const struct hotplug *hotplug);
/* Take what there is, without waiting, into everything and names; each name once. */
void hotplug_take(struct hotplug *hotplug);
/* Empty these again. */
void hotplug_drop(struct hotplug *hotplug);

#endif /* RDMACG_HOTPLUG_H */
