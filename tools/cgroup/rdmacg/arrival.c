// SPDX-License-Identifier: GPL-2.0
/* rdmacg: new devices and new cgroups. */
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <libudev.h>

#include "arrival.h"
#include "memory.h"
#include "say.h"

/* So many events at once; a tenant can make them faster than they can be handled. */
#define ARRIVAL_BUFFER	65536

/* A folder that inotify tells of. */
struct arrival_folder {
	int number;
	/* The name of the cgroup. */
	char *name;
};

static int arrival_compare(const void *a, const void *b)
{
	int one = ((const struct arrival_folder *)a)->number;
	int other = ((const struct arrival_folder *)b)->number;

	return (one > other) - (one < other);
}

static void arrival_free_folder(void *folder)
{
	free(((struct arrival_folder *)folder)->name);
	free(folder);
}

/*
 * Where udevd runs, it may give a device another name when it comes, and a limit for the
 * name that it had before would stay with the wrong device; so wait until udevd is done
 * with it. Where it does not run, as in a small guest, only the kernel tells, and libudev
 * would listen to nobody without an error. This file is how libudev itself knows.
 */
static const char *arrival_who_tells(void)
{
	return access("/run/udev/control", F_OK) ? "kernel" : "udev";
}

static bool arrival_open_devices(struct arrival *arrival)
{
	struct udev_monitor *monitor;

	arrival->udev = udev_new();
	if (arrival->udev)
		arrival->monitor = udev_monitor_new_from_netlink(arrival->udev,
								 arrival_who_tells());
	monitor = arrival->monitor;
	if (monitor &&
	    udev_monitor_filter_add_match_subsystem_devtype(monitor, "infiniband", NULL) >= 0 &&
	    udev_monitor_enable_receiving(monitor) >= 0)
		return true;
	say_error("udev", "nobody tells of new devices: %s", strerror(errno));
	return false;
}

static bool arrival_open_cgroups(struct arrival *arrival)
{
	arrival->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (arrival->inotify < 0)
		say_error("inotify", "%s", strerror(errno));
	return arrival->inotify >= 0;
}

bool arrival_open(struct arrival *arrival)
{
	memset(arrival, 0, sizeof(*arrival));
	arrival->inotify = -1;
	if (arrival_open_devices(arrival) && arrival_open_cgroups(arrival))
		return true;
	arrival_close(arrival);
	return false;
}

static void arrival_close_cgroups(struct arrival *arrival)
{
	if (arrival->inotify >= 0)
		close(arrival->inotify);
	tdestroy(arrival->folders, arrival_free_folder);
	arrival->folders = NULL;
	arrival_drop(arrival);
}

void arrival_close(struct arrival *arrival)
{
	arrival_close_cgroups(arrival);
	udev_monitor_unref(arrival->monitor);
	udev_unref(arrival->udev);
}

bool arrival_forget(struct arrival *arrival)
{
	arrival_close_cgroups(arrival);
	return arrival_open_cgroups(arrival);
}

int arrival_device_fd(const struct arrival *arrival)
{
	return udev_monitor_get_fd(arrival->monitor);
}

static struct arrival_folder *arrival_find(const struct arrival *arrival, int number)
{
	struct arrival_folder key = { .number = number };
	struct arrival_folder **found = tfind(&key, &arrival->folders, arrival_compare);

	return found ? *found : NULL;
}

/* The path is short, however deep the cgroup is. On v1, one may get another name. */
void arrival_add(struct arrival *arrival, const struct cgroup *cgroup)
{
	char *path = memory_format("/proc/self/fd/%d", cgroup->dir);
	int number = inotify_add_watch(arrival->inotify, path,
				       IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
	struct arrival_folder *folder;

	free(path);
	if (number < 0) {
		/* One that is gone has no children any more. */
		if (errno != ENOENT)
			say_warning(cgroup_name(cgroup), "new cgroups in it go unnoticed: %s",
				    strerror(errno));
		return;
	}
	folder = arrival_find(arrival, number);
	if (!folder) {
		folder = memory_zeroed(1, sizeof(*folder));
		folder->number = number;
		tsearch(folder, &arrival->folders, arrival_compare);
	}
	free(folder->name);
	folder->name = memory_string(cgroup->name);
}

static void arrival_remove(struct arrival *arrival, struct arrival_folder *folder)
{
	tdelete(folder, &arrival->folders, arrival_compare);
	arrival_free_folder(folder);
}

static void arrival_take_event(struct arrival *arrival, const struct inotify_event *event)
{
	struct arrival_folder *folder = arrival_find(arrival, event->wd);

	if (event->mask & IN_Q_OVERFLOW)
		arrival->everything = true;
	if (!folder)
		return;
	if (event->mask & IN_IGNORED) {
		arrival_remove(arrival, folder);
		return;
	}
	if (!(event->mask & IN_ISDIR))
		return;
	arrival->names = memory_grow(arrival->names, arrival->nr_names, sizeof(*arrival->names));
	arrival->names[arrival->nr_names++] =
		memory_format("%s%s%s", folder->name, *folder->name ? "/" : "", event->name);
}

static int arrival_compare_names(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

/* Who makes and removes the same cgroup all the time costs no more than who does it once. */
static void arrival_unify(struct arrival *arrival)
{
	size_t i, kept = 0;

	if (!arrival->nr_names)
		return;
	qsort(arrival->names, arrival->nr_names, sizeof(*arrival->names), arrival_compare_names);
	for (i = 1; i < arrival->nr_names; i++) {
		if (!strcmp(arrival->names[kept], arrival->names[i]))
			free(arrival->names[i]);
		else
			arrival->names[++kept] = arrival->names[i];
	}
	arrival->nr_names = kept + 1;
}

static void arrival_take_cgroups(struct arrival *arrival)
{
	static char buffer[ARRIVAL_BUFFER] __attribute((aligned(__alignof(struct inotify_event))));
	ssize_t got = read(arrival->inotify, buffer, sizeof(buffer));
	const char *next = buffer;

	while (got > 0 && next < buffer + got) {
		const struct inotify_event *event = (const struct inotify_event *)next;

		arrival_take_event(arrival, event);
		next += sizeof(*event) + event->len;
	}
	arrival_unify(arrival);
}

/* What is left out when there are too many at once is looked for. */
static void arrival_take_devices(struct arrival *arrival)
{
	struct udev_device *device;
	const char *action;

	errno = 0;
	while ((device = udev_monitor_receive_device(arrival->monitor))) {
		action = udev_device_get_action(device);
		if (!action || strcmp(action, "remove"))
			arrival->everything = true;
		udev_device_unref(device);
		errno = 0;
	}
	if (errno == ENOBUFS)
		arrival->everything = true;
}

void arrival_take(struct arrival *arrival)
{
	arrival_take_devices(arrival);
	arrival_take_cgroups(arrival);
}

void arrival_drop(struct arrival *arrival)
{
	size_t i;

	for (i = 0; i < arrival->nr_names; i++)
		free(arrival->names[i]);
	free(arrival->names);
	arrival->names = NULL;
	arrival->nr_names = 0;
	arrival->everything = false;
}
