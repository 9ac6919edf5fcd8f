// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors that create, change, read and remove cgroups, and change devices. They draw
 * names from a small set, and use the cgroup or the device that has the name at that moment.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "torture.h"

#define ROOT		"/sys/fs/cgroup"
/* The limits of this cgroup on CALM_DEVICE never change, so its usage has a known bound. */
#define CALM		ROOT "/torture/calm"
/* No actor changes this device, except the actor "module". */
#define CALM_DEVICE	"rxe0"
/* Actors change everything below this cgroup. */
#define WILD		ROOT "/torture/wild"
#define MOST_PATH	128
#define MOST_NAME	16
#define MOST_VALUES	32

static const char *const classes[] = { "rdma", "rdma.verb", "rdma.hw", "rdma.control" };
/* The index of the last class, which counts commands and not objects. */
#define CONTROL		(ARRAY_SIZE(classes) - 1)
/* The last class has only the last two kinds of files. */
static const char *const kinds[] = { "current", "peak", "events", "events.local", "max", "stat" };

/*
 * The numbers are from 0 to 10. In the last class, where 0 is invalid, they are from 1 to 11. Rates
 * are high, because a process that waits a minute tests nothing meanwhile.
 */
static const char *const limits[][13] = {
	{ "hca_handle=%u", "hca_object=%u" },
	{ "pd=%u", "comp_channel=%u", "cq=%u", "qp=%u", "srq=%u", "ah=%u", "mr=%u", "mw=%u",
	  "async_event=%u", "mr_mem=%u0000", "mcast=%u", "cm_id=%u" },
	{ "queue_mem=%u0000" },
	{ "ops=%u00", "burst=%u", "inflight=%u" },
};

/* Pick a cgroup of the wild part, which may not exist. Deep cgroups are rarer. */
static void any_wild(char *path)
{
	int depth = 1 + torture_random(1 + torture_random(4));

	path += sprintf(path, WILD);
	while (depth--)
		path += sprintf(path, "/%u", torture_random(3));
}

static void any_cgroup(char *path)
{
	unsigned int which = torture_random(8);

	if (which < 2)
		sprintf(path, CALM "/%u", which);
	else
		any_wild(path);
}

/* Pick a device that actors may change, in any namespace. If there is none, pick a name. */
static void any_device(char *name)
{
	FILE *file = fopen(ROOT "/rdma.capacity", "r");
	unsigned int seen = 0;
	char line[1024];

	sprintf(name, "tor10");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "tor", 3) && !torture_random(++seen))
			sscanf(line, "%15s", name);
	if (file)
		fclose(file);
}

/* Returns 0 or an errno. */
static int write_file(const char *cgroup, const char *file, const char *text)
{
	char path[MOST_PATH];
	int fd, error;

	sprintf(path, "%s/%s", cgroup, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

/* Move a process to some cgroup. A cgroup whose children have the controller is busy. */
static int enter(pid_t pid)
{
	char cgroup[MOST_PATH], text[16];

	any_cgroup(cgroup);
	sprintf(text, "%d", pid);
	return write_file(cgroup, "cgroup.procs", text);
}

/* Try some cgroups until a cgroup accepts this process. */
void torture_enter(void)
{
	int tries = 4, error;

	do {
		error = enter(0);
		torture_did("enter", error, EXCUSE_CGROUP(EBUSY));
	} while (error && --tries);
}

void torture_migrate(void)
{
	torture_did("migrate", enter(torture_random_pid()), EXCUSE_CGROUP(EBUSY, ESRCH));
}

void torture_tree(void)
{
	char cgroup[MOST_PATH];

	any_wild(cgroup);
	if (torture_random(2))
		torture_did("mkdir", mkdir(cgroup, 0755) ? errno : 0, EXCUSE_CGROUP(EEXIST));
	else
		torture_did("rmdir", rmdir(cgroup) ? errno : 0, EXCUSE_CGROUP(EBUSY));
}

/*
 * Enable or disable the controller. If the controller is not enabled in the parent, the error is
 * ENOENT, as for a removed cgroup.
 */
void torture_toggle(void)
{
	const char *text = torture_random(4) ? "+rdma" : "-rdma";
	char cgroup[MOST_PATH];

	any_wild(cgroup);
	torture_did("toggle", write_file(cgroup, "cgroup.subtree_control", text),
		    EXCUSE_CGROUP(EBUSY));
}

/* Write a valid line for a class. Returns its length. */
static int any_line(char *text, unsigned int class)
{
	char device[MOST_NAME] = CALM_DEVICE, *word;
	unsigned int known = 0;

	while (limits[class][known])
		known++;
	if (torture_random(2))
		any_device(device);
	if (!torture_random(6))
		return sprintf(text, "%s max\n", device);
	word = text + sprintf(text, "%s ", device);
	sprintf(word, limits[class][torture_random(known)],
		torture_random(11) + (class == CONTROL));
	if (!torture_random(12))
		sprintf(strchr(word, '='), "=max");
	return strlen(strcat(text, "\n"));
}

/* Set limits. The error is ENOTUNIQ if devices in two network namespaces have the name. */
void torture_limit(void)
{
	unsigned int class = torture_random(ARRAY_SIZE(classes)), lines = 1 + torture_random(6);
	char cgroup[MOST_PATH], file[32], text[1024], *end = text;

	any_wild(cgroup);
	sprintf(file, "%s.max", classes[class]);
	while (lines--)
		end += any_line(end, class);
	torture_did("limit", write_file(cgroup, file, text), EXCUSE_CGROUP(ENOTUNIQ));
}

/* Returns whether the word has a key, and a number or "max". */
static bool is_pair(const char *word)
{
	const char *value = strchr(word, '=') ?: word;

	if (value == word || !*++value)
		return false;
	return !strcmp(value, "max") || !value[strspn(value, "0123456789")];
}

/* Check that the lines of a file are well-formed. KUnit compares each byte. */
static void check_lines(const char *path, char *text)
{
	char *line, *lines, *word, *words;

	for (line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		word = strtok_r(line, " ", &words);
		if (!word || (strncmp(word, "rxe", 3) && strncmp(word, "tor", 3)))
			torture_fail("%s has a line of another device: %.40s", path, word ?: "");
		while ((word = strtok_r(NULL, " ", &words)))
			if (!is_pair(word))
				torture_fail("%s has a malformed word: %.40s", path, word);
	}
}

/*
 * Read a file of a cgroup, or the root's rdma.capacity, once or eight times. Between reads, wait
 * for a refusal, which wakes readers of events. The cgroup may be removed meanwhile.
 */
void torture_look(void)
{
	unsigned int class = torture_random(ARRAY_SIZE(classes));
	unsigned int kind = class == CONTROL ? 4 + torture_random(2) : torture_random(5);
	struct pollfd polled = { .events = POLLPRI };
	int times = torture_random(8) ? 1 : 8;
	char path[MOST_PATH];
	static char text[65536];
	ssize_t len;

	any_cgroup(path);
	sprintf(path + strlen(path), "/%s.%s", classes[class], kinds[kind]);
	if (!torture_random(8))
		sprintf(path, ROOT "/rdma.capacity");
	polled.fd = open(path, O_RDONLY | O_CLOEXEC);
	len = polled.fd;
	while (len >= 0 && times-- && torture_running()) {
		len = pread(polled.fd, text, sizeof(text) - 1, 0);
		text[len < 0 ? 0 : len] = '\0';
		check_lines(path, text);
		if (len >= 0 && times)
			poll(&polled, 1, 100);
	}
	torture_did("read", len < 0 ? errno : 0, EXCUSE_CGROUP());
	close(polled.fd);
}

/* Read the values of the calm device's line, in their order. Returns the number of values. */
static unsigned int read_values(const char *cgroup, unsigned int class, const char *kind,
				unsigned long long *values)
{
	char path[MOST_PATH], line[1024] = "";
	unsigned int count = 0;
	const char *value;
	FILE *file;

	sprintf(path, "%s/%s.%s", cgroup, classes[class], kind);
	errno = 0;
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		torture_did("calm", errno, EXCUSE(ENOMEM));
	/* The calm device was registered first, so its line is the first. */
	else if (strncmp(line, CALM_DEVICE " ", strlen(CALM_DEVICE " ")))
		torture_fail("%s does not begin with " CALM_DEVICE ": %.80s", path, line);
	for (value = line; count < MOST_VALUES && (value = strchr(value, '=')); value++)
		values[count++] = strtoull(value + 1, NULL, 10);
	if (file)
		fclose(file);
	return count;
}

/*
 * Check the part of the tree in which no process changes limits. Usage and peak must not exceed
 * the limit, and peaks and counters of refusals must not decrease, while other processes charge.
 */
void torture_calm(void)
{
	static const char *const cgroups[] = { CALM, CALM "/0", CALM "/1" };
	static unsigned long long last[3][CONTROL][4][MOST_VALUES];
	unsigned long long max[MOST_VALUES] = { 0 }, values[MOST_VALUES], *before;
	unsigned int cgroup = torture_random(ARRAY_SIZE(cgroups));
	/* Skip the last class, because commands are not usage. */
	unsigned int class = torture_random(CONTROL);
	unsigned int kind = torture_random(4);
	unsigned int i, nr_max, count;

	nr_max = read_values(CALM, class, "max", max);
	count = read_values(cgroups[cgroup], class, kinds[kind], values);
	before = last[cgroup][class][kind];
	for (i = 0; i < count && nr_max; i++) {
		if ((kind && values[i] < before[i]) ||
		    (kind < 2 && (count != nr_max || values[i] > max[i])))
			torture_fail("%s/%s.%s: value %u was %llu and is %llu, limit %llu",
				     cgroups[cgroup], classes[class], kinds[kind], i, before[i],
				     values[i], max[i]);
		before[i] = values[i];
	}
	torture_did("calm", 0, EXCUSE(0));
}

/* Change devices with the tools of an administrator. */
void torture_tool(void)
{
	char device[MOST_NAME], number[16];
	int status = -1;
	pid_t child;

	any_device(device);
	sprintf(number, "%u", torture_random(1 << 30));
	child = torture_fork();
	if (!child) {
		execl(getenv("TOOL"), "tool", torture_actor(), device, number, NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	if (status && status != 3 << 8)
		torture_fail("tool %s %s %s: status %#x", torture_actor(), device, number, status);
	else
		torture_did("tool", status ? EBUSY : 0, EXCUSE(EBUSY));
}
