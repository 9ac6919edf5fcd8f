// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups and the controller's files for "rdmacg plan": where they lie, and their lines,
 * NAME[ index=N] KEY=VALUE... (design contract, section 4). Devices choose their own
 * names, so nothing of a file is taken for granted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"

/* 64 devices of 64 keys with 20 digits are less. */
#define PLAN_FILE_MAX	((size_t)1 << 20)

char *plan_root(void)
{
	const char *root = getenv("RDMACG_ROOT");

	if (root && *root)
		return plan_copy(root, strlen(root));
	/* cgroup v2, or the usual place of v1's controller. */
	if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		root = "/sys/fs/cgroup";
	else
		root = "/sys/fs/cgroup/rdma";
	return plan_copy(root, strlen(root));
}

/* @path without the root in front, if it is there. */
static const char *plan_below_root(const char *path)
{
	char *root = plan_root();
	size_t length = strlen(root);

	while (length && root[length - 1] == '/')
		length--;
	if (length && !strncmp(path, root, length) && (!path[length] || path[length] == '/'))
		path += length;
	free(root);
	return path;
}

/* The words between slashes, with one slash between; NULL where one is "." or "..". */
static char *plan_clean_path(const char *path)
{
	char *clean = plan_grow(NULL, strlen(path) + 1, 1);
	size_t at = 0;

	while (*path) {
		size_t length = strcspn(path, "/");

		if ((length == 1 && path[0] == '.') || (length == 2 && !memcmp(path, "..", 2))) {
			free(clean);
			return NULL;
		}
		if (length) {
			if (at)
				clean[at++] = '/';
			memcpy(clean + at, path, length);
			at += length;
		}
		path += length + (path[length] == '/');
	}
	clean[at] = '\0';
	return clean;
}

char *plan_cgroup_path(const char *where, const char *path)
{
	char shown[PLAN_SHOWN];
	char *clean = NULL;

	plan_show(shown, path, strlen(path));
	if (!plan_is_name(path, strlen(path))) {
		plan_misuse(where,
			    "'%s' is no cgroup; give a path of printable ASCII without blanks, #, [ and ]",
			    shown);
		return NULL;
	}
	clean = plan_clean_path(plan_below_root(path));
	if (!clean)
		plan_misuse(where, "'%s' has . or .. in it; give the path below the root", shown);
	if (clean && !*clean) {
		plan_misuse(where,
			    "'%s' is the root cgroup, which has no limits; give one below it",
			    shown);
		free(clean);
		clean = NULL;
	}
	return clean;
}

static bool plan_is_key(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] != '_' && (text[i] < 'a' || text[i] > 'z') &&
		    (text[i] < '0' || text[i] > '9'))
			return false;
	}
	return length > 0;
}

/* "KEY=VALUE" or "KEY=max". */
static bool plan_parse_amount(const char *word, size_t length, struct plan_amount *amount)
{
	const char *equals = memchr(word, '=', length);
	char digits[24];
	size_t rest;

	if (!equals || !plan_is_key(word, (size_t)(equals - word)))
		return false;
	rest = length - (size_t)(equals - word) - 1;
	if (rest >= sizeof(digits))
		return false;
	memcpy(digits, equals + 1, rest);
	digits[rest] = '\0';
	amount->is_max = rest == 3 && !memcmp(digits, "max", 3);
	amount->value = UINT64_MAX;
	/* A unit has no place in a file of the kernel. */
	if (!amount->is_max && (strspn(digits, "0123456789") != rest ||
				plan_parse_number(digits, &amount->value)))
		return false;
	amount->key = plan_copy(word, (size_t)(equals - word));
	return true;
}

static void plan_free_device(struct plan_device *device)
{
	size_t i;

	for (i = 0; i < device->nr_amounts; i++)
		free(device->amounts[i].key);
	free(device->amounts);
	free(device->name);
}

void plan_free_file(struct plan_file *file)
{
	size_t i;

	for (i = 0; i < file->nr_devices; i++)
		plan_free_device(&file->devices[i]);
	free(file->devices);
	memset(file, 0, sizeof(*file));
}

/* The device's name: the first word, and "index=N" where that is the second. */
static size_t plan_device_length(const char *line, size_t length)
{
	static const char word[] = " index=";
	size_t name = 0;
	size_t end;

	while (name < length && line[name] != ' ')
		name++;
	if (!plan_is_name(line, name))
		return 0;
	end = name + sizeof(word) - 1;
	if (length <= end || memcmp(line + name, word, sizeof(word) - 1))
		return name;
	while (end < length && line[end] >= '0' && line[end] <= '9')
		end++;
	return end > name + sizeof(word) - 1 ? end : 0;
}

bool plan_is_device(const char *text)
{
	size_t length = strlen(text);

	return length && plan_device_length(text, length) == length;
}

static bool plan_parse_line(const char *line, size_t length, struct plan_device *device)
{
	size_t at = plan_device_length(line, length);

	if (!at)
		return false;
	device->name = plan_copy(line, at);
	while (at < length && line[at] == ' ') {
		size_t word = 0;

		at++;
		/* Lines of the controller that Linux has end in a blank. */
		if (at == length)
			break;
		while (at + word < length && line[at + word] != ' ')
			word++;
		device->amounts = plan_grow(device->amounts, device->nr_amounts + 1,
					    sizeof(*device->amounts));
		if (!plan_parse_amount(line + at, word, &device->amounts[device->nr_amounts]))
			return false;
		device->nr_amounts++;
		at += word;
	}
	return device->nr_amounts > 0;
}

int plan_parse_file(const char *where, const char *text, size_t length, struct plan_file *file)
{
	size_t nr_line;

	for (nr_line = 1; length; nr_line++) {
		const char *end = memchr(text, '\n', length);
		size_t line = end ? (size_t)(end - text) : length;
		struct plan_device *device;
		char shown[PLAN_SHOWN];

		file->devices = plan_grow(file->devices, file->nr_devices + 1,
					  sizeof(*file->devices));
		device = &file->devices[file->nr_devices++];
		memset(device, 0, sizeof(*device));
		if (!plan_parse_line(text, line, device))
			return plan_error(where,
					  "line %zu, '%s', is not NAME KEY=VALUE...; is it a file of the rdma controller?",
					  nr_line, plan_show(shown, text, line));
		text += line + !!end;
		length -= line + !!end;
	}
	return 0;
}

ssize_t plan_load(const char *path, size_t most, char **text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t ret;

	if (fd < 0)
		return -errno;
	*text = plan_grow(NULL, most + 1, 1);
	do {
		ret = read(fd, *text + length, most + 1 - length);
		if (ret > 0)
			length += (size_t)ret;
	} while (ret > 0 || (ret < 0 && errno == EINTR));
	if (ret < 0)
		ret = -errno;
	else
		ret = length > most ? -EFBIG : (ssize_t)length;
	close(fd);
	if (ret < 0)
		free(*text);
	return ret;
}

int plan_read_file(const char *path, struct plan_file *file, bool *is_there)
{
	char shown[PLAN_SHOWN];
	char *text = NULL;
	ssize_t length;
	int ret;

	length = plan_load(path, PLAN_FILE_MAX, &text);
	*is_there = length != -ENOENT;
	if (!*is_there)
		return 0;
	plan_show(shown, path, strlen(path));
	if (length < 0)
		return plan_error(shown,
				  "%s; look at its permissions, and whether it is a file of the rdma controller",
				  strerror((int)-length));
	ret = plan_parse_file(shown, text, (size_t)length, file);
	free(text);
	return ret;
}
