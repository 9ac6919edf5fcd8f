// SPDX-License-Identifier: GPL-2.0
/* rdmacg: new devices and new cgroups. */
#include <sys/inotify.h>
#include <libudev.h>

#include "write/write.h"

/*
 * udevd may rename a new device, so wait for the event of udevd: a limit for its first name may be
 * meant for another device. Without udevd, as in a small guest, only the kernel sends events, and
 * libudev would wait for ever. Like libudev, look for /run/udev/control.
 */
void hotplug_open(struct hotplug *hotplug)
{
	const char *source = access("/run/udev/control", F_OK) ? "kernel" : "udev";

	hotplug->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (hotplug->inotify < 0)
		say_failure("inotify", "%s", strerror(errno));
	hotplug->monitor = udev_monitor_new_from_netlink(memory_check(udev_new()), source);
	if (!hotplug->monitor ||
	    udev_monitor_filter_add_match_subsystem_devtype(hotplug->monitor, "infiniband",
							    NULL) < 0 ||
	    udev_monitor_enable_receiving(hotplug->monitor) < 0)
		say_failure("udev", "cannot watch for new devices: %s", strerror(errno));
	hotplug->devices = udev_monitor_get_fd(hotplug->monitor);
	hotplug->folders = json_object_new_object();
}

/* A cgroup of v1 may be renamed, so store the name of a folder again. */
void hotplug_add(struct hotplug *hotplug, const struct cgroup *cgroup)
{
	char *path __autofree = memory_format("/proc/self/fd/%d", cgroup->dir);
	int number = inotify_add_watch(hotplug->inotify, path,
				       IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);

	/* ENOENT: the cgroup was removed. */
	if (number < 0 && errno != ENOENT)
		say_warning(cgroup_name(cgroup), "cannot watch for new cgroups in it: %s",
			    strerror(errno));
	if (number >= 0)
		json_object_object_add(hotplug->folders, number_text(number, false).s,
				       json_object_new_string(cgroup->name));
}

/* Read the events. After an overflow of a queue, any cgroup and any device may be new. */
void hotplug_take(struct hotplug *hotplug)
{
	/* Reads must be large, because a tenant can cause many events. */
	static char buffer[65536] __attribute((aligned(__alignof(struct inotify_event))));
	ssize_t got = read(hotplug->inotify, buffer, sizeof(buffer));
	const struct inotify_event *event;
	struct udev_device *device;
	const char *action, *next, *parent;
	struct number_text number;

	json_object_put(hotplug->names);
	hotplug->names = json_object_new_object();
	for (next = buffer; got > 0 && next < buffer + got; next += sizeof(*event) + event->len) {
		char *name __autofree = NULL;

		event = (const struct inotify_event *)next;
		number = number_text(event->wd, false);
		parent = json_object_get_string(json_object_object_get(hotplug->folders, number.s));
		hotplug->everything |= event->mask & IN_Q_OVERFLOW;
		if (event->mask & IN_IGNORED) {
			json_object_object_del(hotplug->folders, number.s);
		} else if (parent && event->mask & IN_ISDIR) {
			name = memory_format("%s%s%s", parent, *parent ? "/" : "", event->name);
			json_object_object_add(hotplug->names, name, NULL);
		}
	}
	errno = 0;
	while ((device = udev_monitor_receive_device(hotplug->monitor))) {
		action = udev_device_get_action(device);
		if (!action || strcmp(action, "remove"))
			hotplug->everything = true;
		udev_device_unref(device);
		errno = 0;
	}
	if (errno == ENOBUFS)
		hotplug->everything = true;
}
