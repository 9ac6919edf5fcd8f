// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors that change devices with the tools of an administrator. These actors do not
 * change the calm device.
 */
#define _GNU_SOURCE
#include <stdarg.h>

#include "torture.h"

/* Beginnings of commands: AWAY selects the network namespace "away". The actors are in "home". */
#define HOME ""
#define AWAY "nsenter --net=/run/netns/away "

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
	return getenv("NETNS") && !torture_random(3) ? AWAY : HOME;
}

static void any_name(char *name)
{
	sprintf(name, "tor%u%c", any_link(), any_letter());
}

/* Pick a device that actors may change, in any namespace. If there is none, pick an unused name. */
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

/*
 * Run a command. Puts the output of the command into @text, and returns the status, as wait() does.
 */
static int tool_run(const char *command, char *text, size_t size)
{
	FILE *pipe = popen(command, "r");
	size_t len;

	if (!pipe)
		return -1;
	len = fread(text, 1, size - 1, pipe);
	text[len] = '\0';
	return pclose(pipe);
}

/*
 * Whether other actors can be the cause of a tool's message, because they were faster or hold the
 * object.
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
	if (getenv("MODULES") && (strstr(text, "is in use") || strstr(text, "Invalid argument")))
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
	char command[160], line[256], text[400] = "";
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%s%s 2>&1", netns, command);
	status = tool_run(line, text, sizeof(text));
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
		tool(HOME, "ip link del tor%u", link);
		break;
	case 1:
		tool(HOME, "ip link set tor%u down", link);
		break;
	case 2:
		tool(HOME, "ip link set tor%u up", link);
		break;
	default:
		tool(HOME, "ip link add tor%u type dummy", link);
		tool(HOME, "ip address add 198.51.100.%u/24 dev tor%u", link, link);
		tool(HOME, "ip link set tor%u up", link);
	}
	torture_pause(100000);
}

void torture_link(void)
{
	char name[TORTURE_NAME];

	if (torture_random(3)) {
		any_name(name);
		tool(HOME, "rdma link add %s type rxe netdev tor%u", name, any_link());
	} else {
		any_device(name);
		tool(any_netns(), "rdma link delete %s", name);
	}
	torture_pause(20000);
}

/* Move a device away and then home. A device that is already away only moves home. */
void torture_netns(void)
{
	char name[TORTURE_NAME];

	any_device(name);
	tool(HOME, "rdma dev set %s netns away", name);
	torture_pause(100000);
	tool(AWAY, "rdma dev set %s netns home", name);
}

/* Unload the module, which removes all devices with all their objects, even the calm device. */
void torture_module(void)
{
	tool(HOME, "modprobe -d %s -r rdma_rxe", getenv("MODULES"));
	tool(HOME, "modprobe -d %s rdma_rxe", getenv("MODULES"));
	tool(HOME, "rdma link add " TORTURE_CALM_DEVICE " type rxe netdev dummy0");
	torture_pause(2000000);
}
