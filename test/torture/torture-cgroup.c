// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors that create, change, read and remove cgroups. Actors create and remove cgroups of
 * the tree at random, except in the calm part. Actors draw names from a small set, and use the
 * cgroup that has the name at that moment.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/stat.h>

#include "torture.h"

#define WILD_DEPTH	4
#define WILD_NAMES	3

static const char *const classes[] = { "rdma", "rdma.verb", "rdma.hw", "rdma.control" };
static const char *const kinds[] = { "max", "current", "peak", "events", "events.local" };
/* The index of the last class, which counts commands and not objects. */
#define CONTROL		(ARRAY_SIZE(classes) - 1)
static const char *const control_kinds[] = { "max", "stat" };

static const char *const keys[][16] = {
	{ "hca_handle", "hca_object", NULL },
	{ "pd", "comp_channel", "cq", "qp", "srq", "ah", "mr", "mw", "async_event", "mr_mem",
	  "mcast", "cm_id", NULL },
	{ "queue_mem", NULL },
	{ "ops", "burst", "inflight", NULL },
};

/* Pick a cgroup of the wild part, which may not exist. Deep cgroups are rarer. */
static void any_wild(char *path)
{
	int depth = 1 + torture_random(1 + torture_random(WILD_DEPTH));
	int len = sprintf(path, TORTURE_WILD);

	while (depth--)
		len += sprintf(path + len, "/%u", torture_random(WILD_NAMES));
}

static void any_cgroup(char *path)
{
	unsigned int which = torture_random(8);

	if (which < 2)
		sprintf(path, TORTURE_CALM "/%u", which);
	else
		any_wild(path);
}

static void any_file(char *path, const char *cgroup)
{
	unsigned int class = torture_random(ARRAY_SIZE(classes));

	sprintf(path, "%s/%s.%s", cgroup, classes[class], class == CONTROL ?
		control_kinds[torture_random(ARRAY_SIZE(control_kinds))] :
		kinds[torture_random(ARRAY_SIZE(kinds))]);
}

/*
 * Move a process to a cgroup. The error is EBUSY if the children of the cgroup have the controller.
 */
static int enter(const char *cgroup, pid_t pid)
{
	char path[TORTURE_PATH + 16], text[16];

	sprintf(path, "%s/cgroup.procs", cgroup);
	sprintf(text, "%d", pid);
	return torture_write(path, text);
}

/* Try some cgroups until a cgroup accepts this process. */
void torture_enter(void)
{
	char cgroup[TORTURE_PATH];
	int tries = 4, error;

	do {
		any_cgroup(cgroup);
		error = enter(cgroup, 0);
		torture_did("enter", error, EXCUSE_CGROUP(EBUSY));
	} while (error && --tries);
}

void torture_migrate(void)
{
	char cgroup[TORTURE_PATH];

	any_cgroup(cgroup);
	torture_did("migrate", enter(cgroup, torture_random_pid()),
		    EXCUSE_CGROUP(EBUSY, ESRCH));
	torture_pause(2000);
}

void torture_tree(void)
{
	char cgroup[TORTURE_PATH];
	int ret;

	any_wild(cgroup);
	if (torture_random(2)) {
		ret = mkdir(cgroup, 0755);
		torture_did("mkdir", ret ? errno : 0, EXCUSE_CGROUP(EEXIST));
	} else {
		ret = rmdir(cgroup);
		torture_did("rmdir", ret ? errno : 0, EXCUSE_CGROUP(EBUSY));
	}
	torture_pause(1000);
}

/*
 * Enable or disable the controller. The error is ENOENT if the cgroup is removed, or if its parent
 * does not enable the controller.
 */
void torture_toggle(void)
{
	char path[TORTURE_PATH + 32];

	any_wild(path);
	strcat(path, "/cgroup.subtree_control");
	torture_did("toggle", torture_write(path, torture_random(4) ? "+rdma" : "-rdma"),
		    EXCUSE_CGROUP(EBUSY));
	torture_pause(2000);
}

static int add_limit(char *text, unsigned int class)
{
	unsigned int key, count = 0, value = torture_random(12);

	while (keys[class][count])
		count++;
	key = torture_random(count);
	if (!value)
		return sprintf(text, " %s=max", keys[class][key]);
	if (!strcmp(keys[class][key], "mr_mem") || !strcmp(keys[class][key], "queue_mem"))
		value *= 30000;
	/*
	 * Use high rates, because a process that waits a minute tests nothing meanwhile. Do not use
	 * 0, which is invalid as a limit on commands.
	 */
	if (class == CONTROL)
		value = value * (strcmp(keys[class][key], "ops") ? 1 : 200) + 1;
	return sprintf(text, " %s=%u", keys[class][key], value - 1);
}

/* Write one or more valid lines for a class. */
static void any_limits(char *text, unsigned int class)
{
	unsigned int lines = 1 + torture_random(3), count;
	char device[TORTURE_NAME];

	while (lines--) {
		torture_random_device(device);
		text += sprintf(text, "%s", device);
		if (!torture_random(6))
			text += sprintf(text, " max");
		else
			for (count = 1 + torture_random(3); count; count--)
				text += add_limit(text, class);
		text += sprintf(text, "\n");
	}
}

/* Set limits. The error is ENOTUNIQ if devices in two network namespaces have the name. */
void torture_limit(void)
{
	unsigned int class = torture_random(ARRAY_SIZE(classes));
	char path[TORTURE_PATH + 32], text[1024];

	any_wild(path);
	sprintf(path + strlen(path), "/%s.max", classes[class]);
	any_limits(text, class);
	torture_did("limit", torture_write(path, text), EXCUSE_CGROUP(ENOTUNIQ));
	torture_pause(1000);
}

/* Check that the lines of a file are well-formed. test/differential compares each byte. */
static void check_lines(const char *path, const char *text)
{
	struct model_text rest = { text, strlen(text) };
	struct model_limit limit;
	struct model_line line;

	while (model_next_line(&rest, &line)) {
		limit.good = false;
		while (model_next_limit(&line.limits, &limit) && limit.good)
			;
		if (!line.good || !limit.good ||
		    (strncmp(line.name.at, "rxe", 3) && strncmp(line.name.at, "tor", 3)))
			torture_fail("%s has a malformed line: %.200s", path, line.name.at);
	}
}

/*
 * Read a file of a cgroup, or the root's rdma.capacity, once or eight times. Between reads, wait
 * for a refusal, which wakes readers of events. The cgroup may be removed meanwhile.
 */
void torture_look(void)
{
	char cgroup[TORTURE_PATH], path[TORTURE_PATH + 32];
	static char text[TORTURE_TEXT];
	struct pollfd polled = { .events = POLLPRI };
	int times = torture_random(8) ? 1 : 8;
	ssize_t len;

	any_cgroup(cgroup);
	any_file(path, cgroup);
	if (!torture_random(8))
		sprintf(path, TORTURE_ROOT "/rdma.capacity");
	polled.fd = open(path, O_RDONLY | O_CLOEXEC);
	torture_did("open", polled.fd < 0 ? errno : 0, EXCUSE_CGROUP());
	while (polled.fd >= 0 && times-- && torture_running()) {
		len = pread(polled.fd, text, sizeof(text) - 1, 0);
		torture_did("read", len < 0 ? errno : 0, EXCUSE_CGROUP());
		if (len < 0)
			break;
		text[len] = '\0';
		check_lines(path, text);
		if (times)
			poll(&polled, 1, 100);
	}
	if (polled.fd >= 0)
		close(polled.fd);
	torture_pause(200);
}

/* Read the values of the calm device's line, in their order. Returns the number of values. */
static unsigned int read_values(const char *cgroup, unsigned int class, const char *kind,
				unsigned long long *values, unsigned int most)
{
	static char text[TORTURE_TEXT];
	char path[TORTURE_PATH + 32];
	struct model_limit limit;
	struct model_text rest = { text };
	unsigned int count = 0;
	struct model_line line;
	int error;

	sprintf(path, "%s/%s.%s", cgroup, classes[class], kind);
	error = torture_read(path, text);
	torture_did("calm", error, EXCUSE(ENOMEM));
	check_lines(path, text);
	rest.len = strlen(text);
	/* The calm device was registered first, so its line is the first. */
	if (!error && strncmp(text, TORTURE_CALM_DEVICE " ", strlen(TORTURE_CALM_DEVICE " ")))
		torture_fail("%s does not begin with " TORTURE_CALM_DEVICE ": %.80s", path, text);
	if (error || !model_next_line(&rest, &line))
		return 0;
	while (count < most && model_next_limit(&line.limits, &limit))
		values[count++] = limit.max;
	return count;
}

#define MOST_VALUES 32

/*
 * Check the part of the tree in which no process changes limits. Usage and peak must not exceed
 * the limit, and peaks and counters of refusals must not decrease, while other processes charge.
 */
void torture_calm(void)
{
	static unsigned long long last[3][3][ARRAY_SIZE(classes)][MOST_VALUES];
	static const char *const cgroups[] = { TORTURE_CALM, TORTURE_CALM "/0", TORTURE_CALM "/1" };
	static const char *const growing[] = { "peak", "events", "events.local" };
	unsigned int cgroup = torture_random(ARRAY_SIZE(cgroups));
	/* Skip the last class, because commands are not usage. */
	unsigned int class = torture_random(CONTROL);
	unsigned int file = torture_random(ARRAY_SIZE(growing));
	unsigned long long limits[MOST_VALUES], values[MOST_VALUES];
	unsigned int i, count, used;

	count = read_values(TORTURE_CALM, class, "max", limits, MOST_VALUES);
	used = read_values(cgroups[cgroup], class, torture_random(2) ? "current" : "peak",
			   values, MOST_VALUES);
	for (i = 0; i < count; i++)
		if (used != count || limits[i] == NO_LIMIT || values[i] > limits[i])
			torture_fail("%s, %s: value %u is %llu, the limit is %llu", cgroups[cgroup],
				     classes[class], i, values[i], limits[i]);
	count = read_values(cgroups[cgroup], class, growing[file], values, MOST_VALUES);
	for (i = 0; i < count; i++) {
		if (values[i] < last[cgroup][file][class][i])
			torture_fail("%s/%s.%s: value %u went from %llu to %llu", cgroups[cgroup],
				     classes[class], growing[file], i,
				     last[cgroup][file][class][i], values[i]);
		last[cgroup][file][class][i] = values[i];
	}
	torture_pause(500);
}
