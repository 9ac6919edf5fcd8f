/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests of the RDMA cgroup controller. They create a tree of cgroups and a second
 * device, and they read and write the files of cgroups. The tree is on the hierarchy that has the
 * controller, v1 or v2. On a machine with several devices, RDMACG_DEVICE is the name of the device
 * to test. RDMACG_TEST is another name for "top", so that several tests can run at the same time.
 *
 *   root
 *    `-- top
 *         |-- left
 *         `-- right
 *
 * A killed test leaves its cgroups and its device, so the next test removes them.
 */
#ifndef RDMA_UTIL_H
#define RDMA_UTIL_H

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_util.h"

#define RDMACG_TEXT_SIZE 65536

/* rdmacg_value() returns this number for "max". */
#define RDMACG_NO_LIMIT LLONG_MAX

/* The kernel may need this time to free a removed cgroup, a removed device or a killed process. */
#define RDMACG_PATIENCE_MS 10000

/*
 * Wait until @condition is true. The value is false if this takes longer than RDMACG_PATIENCE_MS.
 */
#define RDMACG_WAIT_FOR(condition)						\
	({									\
		bool __holds;							\
		int __ms = 0;							\
		while (!(__holds = (condition)) && __ms < RDMACG_PATIENCE_MS) {	\
			usleep(10000);						\
			__ms += 10;						\
		}								\
		__holds;							\
	})

struct rdmacg_tree {
	char root[128];
	char top[160];
	char left[192];
	char right[192];
	bool v2;
	char device[NAME_MAX + 1];
	/* The argument of "rdma link add" that creates a device of the same driver as @device. */
	const char *type;
};

/* Find the mount point of the hierarchy that has the rdma controller. */
static inline int rdmacg_find_root(struct rdmacg_tree *tree)
{
	struct mntent *mount;
	int found = -1;
	char root[sizeof(tree->root)];
	FILE *mounts = setmntent("/proc/self/mounts", "r");

	if (!mounts)
		return -1;
	while (found && (mount = getmntent(mounts))) {
		snprintf(root, sizeof(root), "%s", mount->mnt_dir);
		tree->v2 = !strcmp(mount->mnt_type, "cgroup2") &&
			   !cg_read_strstr(root, "cgroup.controllers", "rdma");
		if (tree->v2 ||
		    (!strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "rdma"))) {
			snprintf(tree->root, sizeof(tree->root), "%s", root);
			found = 0;
		}
	}
	endmntent(mounts);
	return found;
}

/*
 * Returns the type of Soft-iWARP for an iWARP device, and the type of Soft-RoCE for other devices.
 * sysfs shows an iWARP device as an RNIC.
 */
static inline const char *rdmacg_find_type(const char *device)
{
	char path[NAME_MAX + 64], node_type[32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_type", device);
	if (read_text(path, node_type, sizeof(node_type)) > 0 && strstr(node_type, "RNIC"))
		return "siw";
	return "rxe";
}

static inline int rdmacg_find_device(struct rdmacg_tree *tree)
{
	const char *wanted = getenv("RDMACG_DEVICE");
	struct dirent *entry;
	DIR *dir = opendir("/sys/class/infiniband");

	if (!dir)
		return -1;
	while ((entry = readdir(dir)) &&
	       (entry->d_name[0] == '.' || (wanted && strcmp(entry->d_name, wanted))))
		;
	if (entry) {
		snprintf(tree->device, sizeof(tree->device), "%s", entry->d_name);
		tree->type = rdmacg_find_type(tree->device);
	}
	closedir(dir);
	return entry ? 0 : -1;
}

/* Enable the controller for the children of @cgroup. On v1, it is always enabled. */
static inline int rdmacg_delegate(struct rdmacg_tree *tree, const char *cgroup)
{
	return tree->v2 ? cg_write(cgroup, "cgroup.subtree_control", "+rdma") : 0;
}

/* Returns whether a removed cgroup in "top" still has references. v1 does not show this. */
static inline bool rdmacg_has_dying(const struct rdmacg_tree *tree)
{
	return tree->v2 && cg_read_key_long(tree->top, "cgroup.stat", "nr_dying_descendants ");
}

/* Remove @cgroup and all cgroups below it. cg_destroy() kills their processes. */
static inline void rdmacg_remove_cgroup(const char *cgroup)
{
	struct dirent *entry;
	DIR *dir = opendir(cgroup);
	char *path;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		path = cg_name(cgroup, entry->d_name);
		rdmacg_remove_cgroup(path);
		free(path);
	}
	if (dir)
		closedir(dir);
	cg_destroy(cgroup);
}

static inline void rdmacg_tree_destroy(struct rdmacg_tree *tree)
{
	cg_enter_current(tree->root);
	rdmacg_remove_cgroup(tree->top);
}

/* Create the cgroups, and find a device. Returns NULL, or a text that names what is missing. */
static inline const char *rdmacg_tree_create(struct rdmacg_tree *tree)
{
	const char *name = getenv("RDMACG_TEST") ?: "rdmacg_test";

	if (geteuid())
		return "root is needed";
	if (rdmacg_find_root(tree))
		return "no hierarchy with the rdma controller is mounted";
	if (rdmacg_find_device(tree))
		return "there is no RDMA device, or none that has the name in RDMACG_DEVICE";
	snprintf(tree->top, sizeof(tree->top), "%s/%s", tree->root, name);
	snprintf(tree->left, sizeof(tree->left), "%s/left", tree->top);
	snprintf(tree->right, sizeof(tree->right), "%s/right", tree->top);
	if (rdmacg_delegate(tree, tree->root))
		return "the rdma controller cannot be enabled";
	/* An earlier test that was killed may have left its cgroups. */
	rdmacg_tree_destroy(tree);
	if (cg_create(tree->top) || rdmacg_delegate(tree, tree->top) ||
	    cg_create(tree->left) || cg_create(tree->right)) {
		rdmacg_tree_destroy(tree);
		return "cgroups cannot be made";
	}
	return NULL;
}

/* Write "DEVICE LIMITS" to a file of limits. Returns 0 or a negative errno. */
static inline int rdmacg_limit_in(struct rdmacg_tree *tree, const char *cgroup,
				  const char *file, const char *limits)
{
	char line[512];

	snprintf(line, sizeof(line), "%s %s", tree->device, limits);
	return cg_write(cgroup, file, line);
}

static inline int rdmacg_limit(struct rdmacg_tree *tree, const char *cgroup,
			       const char *limits)
{
	return rdmacg_limit_in(tree, cgroup, "rdma.max", limits);
}

static inline int rdmacg_limit_verb(struct rdmacg_tree *tree, const char *cgroup,
				    const char *key, long long limit)
{
	char limits[64];

	snprintf(limits, sizeof(limits), "%s=%lld", key, limit);
	return rdmacg_limit_in(tree, cgroup, "rdma.verb.max", limits);
}

/* Read a file. The next call overwrites the text. The text is empty after a failure. */
static inline char *rdmacg_read(const char *cgroup, const char *file)
{
	static char text[RDMACG_TEXT_SIZE];

	if (cg_read(cgroup, file, text, sizeof(text))) {
		ksft_print_msg("%s/%s cannot be read\n", cgroup, file);
		text[0] = '\0';
	}
	return text;
}

/* Returns whether the device's line in the file is "NAME REST". */
static inline bool rdmacg_line_is(struct rdmacg_tree *tree, const char *cgroup,
				  const char *file, const char *rest)
{
	const char *text = rdmacg_read(cgroup, file);
	char line[512];

	snprintf(line, sizeof(line), "%s %s\n", tree->device, rest);
	if (strstr(text, line))
		return true;
	ksft_print_msg("%s: wanted %sgot %s", file, line, text);
	return false;
}

/* Find the value of @key in the device's line of @file. Returns -1 if there is none. */
static inline long long rdmacg_value(struct rdmacg_tree *tree, const char *cgroup,
				     const char *file, const char *key)
{
	char *line, *word, *lines, *words;
	size_t len = strlen(key);

	for (line = strtok_r(rdmacg_read(cgroup, file), "\n", &lines); line;
	     line = strtok_r(NULL, "\n", &lines)) {
		word = strtok_r(line, " ", &words);
		if (!word || strcmp(word, tree->device))
			continue;
		while ((word = strtok_r(NULL, " ", &words)))
			if (!strncmp(word, key, len) && word[len] == '=')
				return strcmp(word + len + 1, "max") ?
				       atoll(word + len + 1) : RDMACG_NO_LIMIT;
	}
	return -1;
}

static inline long long rdmacg_handles(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_value(tree, cgroup, "rdma.current", "hca_handle");
}

static inline long long rdmacg_objects(struct rdmacg_tree *tree, const char *cgroup)
{
	return rdmacg_value(tree, cgroup, "rdma.current", "hca_object");
}

static inline long long rdmacg_verbs(struct rdmacg_tree *tree, const char *cgroup,
				     const char *key)
{
	return rdmacg_value(tree, cgroup, "rdma.verb.current", key);
}

/* The second device of a test, and its link. */
#define RDMACG_SECOND "rdmacg_gone"
#define RDMACG_RENAMED "rdmacg_renamed"
#define RDMACG_LINK "rdmacg1"

/*
 * Remove the link and its device. "ip link del" also removes a device with another name, but does
 * not wait for this removal.
 */
static inline bool rdmacg_remove_link(void)
{
	system("rdma link del " RDMACG_SECOND " 2>/dev/null");
	system("rdma link del " RDMACG_RENAMED " 2>/dev/null");
	return !system("ip link del " RDMACG_LINK " 2>/dev/null");
}

/* Create the link, after removing the link of a killed test. */
static inline bool rdmacg_add_link(void)
{
	rdmacg_remove_link();
	return !system("ip link add " RDMACG_LINK " type dummy && ip link set " RDMACG_LINK " up");
}

static inline bool rdmacg_add_device(const char *type)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "rdma link add " RDMACG_SECOND " type %s netdev " RDMACG_LINK, type);
	return !system(command);
}

static inline bool rdmacg_remove_device(void)
{
	return !system("rdma link del " RDMACG_SECOND);
}

/* Read the kernel's taint flags, which report warnings and overwritten memory. */
static inline long rdmacg_taint(void)
{
	char text[32];

	return read_text("/proc/sys/kernel/tainted", text, sizeof(text)) > 0 ? atol(text) : -1;
}

#endif /* RDMA_UTIL_H */
