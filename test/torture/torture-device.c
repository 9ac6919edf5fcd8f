// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors that change devices with the tools of an administrator. These actors do not
 * change the calm device.
 */
#define _GNU_SOURCE
#include <stdarg.h>

#include "torture.h"

#define TOOL_WORDS 16

bool torture_has_netns(void)
{
	return !access("/run/netns/away", F_OK);
}

bool torture_has_module(void)
{
	return getenv("MODULES");
}

/* Whether the calm device stays. Only the actor "module" removes the calm device. */
bool torture_is_calm(void)
{
	return !torture_has_module();
}

static unsigned int any_link(void)
{
	return 1 + torture_random(TORTURE_LINKS);
}

static char any_letter(void)
{
	return 'a' + torture_random(2);
}

static const char *any_netns(void)
{
	return torture_has_netns() && !torture_random(3) ? "away" : "home";
}

static void any_name(char *name)
{
	sprintf(name, "tor%u%c", any_link(), any_letter());
}

/* Pick the name of a changing device, in any namespace. Perhaps no device has the name. */
static void any_device(char *name)
{
	static char text[TORTURE_TEXT];
	unsigned int seen = 0;
	char *line;

	any_name(name);
	if (torture_read(TORTURE_ROOT "/rdma.capacity", text))
		return;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, "tor", 3) && !torture_random(++seen))
			sscanf(line, "%15s", name);
}

/* Pick the name of a device for a limit. */
void torture_random_device(char *name)
{
	if (torture_random(2))
		any_device(name);
	else
		sprintf(name, TORTURE_CALM_DEVICE);
}

static void tool_exec(const char *netns, char *command, int output)
{
	char *words[TOOL_WORDS], *word;
	int count = 0;

	if (torture_has_netns())
		torture_enter_netns(netns);
	for (word = strtok(command, " "); word && count < TOOL_WORDS - 1; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(words[0], words);
	_exit(127);
}

/*
 * Run a command. Puts the output of the command into @text, and returns the status, as wait() does.
 */
static int tool_run(const char *netns, char *command, char *text, size_t size)
{
	size_t len = 0;
	ssize_t part;
	int output[2];
	int status;
	pid_t child;

	if (pipe2(output, O_CLOEXEC))
		return -1;
	child = torture_fork();
	if (!child)
		tool_exec(netns, command, output[1]);
	close(output[1]);
	while (len < size - 1 && (part = read(output[0], text + len, size - 1 - len)) > 0)
		len += part;
	text[len] = '\0';
	close(output[0]);
	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/*
 * Whether other actors explain the message of a tool, because they were faster or hold the object.
 * If a device's name is in use, the kernel reports too many open files. If a device was removed
 * after the tool looked up its name, the kernel reports an invalid argument.
 */
static bool tool_is_excused(const char *command, const char *text)
{
	static const char *const excuses[] = {
		"Wrong device name", "No such device", "Cannot find device", "File exists",
		"already exists", "already assigned", "Device or resource busy",
		"Too many open files in system",
	};
	unsigned int i;

	/* These messages come while the module of rxe is unloaded. */
	if (torture_has_module() && (strstr(text, "is in use") || strstr(text, "Invalid argument")))
		return true;
	if (!strncmp(command, "rdma ", 5) && strstr(text, "Invalid argument"))
		return true;
	for (i = 0; i < ARRAY_SIZE(excuses); i++)
		if (strstr(text, excuses[i]))
			return true;
	return false;
}

[[gnu::format(printf, 2, 3)]] static void tool(const char *netns, const char *format, ...)
{
	char command[160], copy[160], text[400];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	sprintf(copy, "%s", command);
	status = tool_run(netns, copy, text, sizeof(text));
	if (!status)
		torture_did(command, 0, EXCUSE(0));
	else if (tool_is_excused(command, text))
		torture_did(command, EBUSY, EXCUSE(EBUSY));
	else
		torture_fail("%s: status %d, %s", command, status, text);
}

void torture_rename(void)
{
	char from[TORTURE_NAME], to[TORTURE_NAME];

	any_device(from);
	any_name(to);
	tool(any_netns(), "rdma dev set %s name %s", from, to);
	torture_pause(20000);
}

/* Removing the link removes rxe's device in the background. */
void torture_unplug(void)
{
	unsigned int link = any_link();

	switch (torture_random(6)) {
	case 0:
		tool("home", "ip link del tor%u", link);
		break;
	case 1:
		tool("home", "ip link set tor%u down", link);
		break;
	case 2:
		tool("home", "ip link set tor%u up", link);
		break;
	default:
		tool("home", "ip link add tor%u type dummy", link);
		tool("home", "ip address add 198.51.100.%u/24 dev tor%u", link, link);
		tool("home", "ip link set tor%u up", link);
	}
	torture_pause(100000);
}

void torture_link(void)
{
	char name[TORTURE_NAME];

	if (torture_random(3)) {
		any_name(name);
		tool("home", "rdma link add %s type rxe netdev tor%u", name, any_link());
	} else {
		any_device(name);
		tool(any_netns(), "rdma link delete %s", name);
	}
	torture_pause(20000);
}

/* Move the device to each of the two namespaces. Only one of the moves has an effect. */
void torture_netns(void)
{
	char name[TORTURE_NAME];

	any_device(name);
	tool("home", "rdma dev set %s netns away", name);
	torture_pause(100000);
	tool("away", "rdma dev set %s netns home", name);
}

/* Unload the module, which removes all devices with all their objects, even the calm device. */
void torture_module(void)
{
	tool("home", "modprobe -d %s -r rdma_rxe", getenv("MODULES"));
	tool("home", "modprobe -d %s rdma_rxe", getenv("MODULES"));
	tool("home", "rdma link add " TORTURE_CALM_DEVICE " type rxe netdev dummy0");
	torture_pause(2000000);
}

/* Create all links and one device on each, so that actors find devices. */
void torture_device_init(void)
{
	char command[200];
	unsigned int i;

	for (i = 1; i <= TORTURE_LINKS; i++) {
		sprintf(command, "ip link add tor%u type dummy && ip link set tor%u up", i, i);
		if (system(command))
			torture_fail("%s failed", command);
		sprintf(command, "rdma link add tor%ua type rxe netdev tor%u", i, i);
		if (system(command))
			torture_fail("%s failed", command);
	}
}

/* Run a command for each link, in each network namespace. The command may fail. */
static void try_all(const char *format)
{
	char command[64], text[400];
	unsigned int link, away;

	for (link = 1; link <= TORTURE_LINKS; link++)
		for (away = 0; away <= torture_has_netns(); away++) {
			snprintf(command, sizeof(command), format, link);
			tool_run(away ? "away" : "home", command, text, sizeof(text));
		}
}

/* Remove all devices and links. */
void torture_device_exit(void)
{
	try_all("rdma link delete tor%ua");
	try_all("rdma link delete tor%ub");
	try_all("ip link del tor%u");
	system("rdma link delete " TORTURE_CALM_DEVICE " >/dev/null 2>&1");
}
