// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: check the conditions after all processes have ended. Each check waits, because the
 * kernel needs a moment for some of the conditions.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <time.h>

#include "torture.h"

#define END_PATIENCE 20

/* The text of the complaint. The text is empty if there is no complaint. */
static char complaint[512];

/* Call @find until it finds no complaint, but not longer than END_PATIENCE. */
static void end_wait(const char *claim, void (*find)(void))
{
	time_t end = time(NULL) + END_PATIENCE;

	do {
		complaint[0] = '\0';
		find();
		if (!complaint[0])
			return;
		usleep(50000);
	} while (time(NULL) < end);
	torture_fail("%s: %s", claim, complaint);
}

static unsigned int end_files;

static int end_find_usage_in(const char *path, const struct stat *stat, int type,
			     struct FTW *ftw)
{
	const char *name = path + ftw->base;
	static char text[TORTURE_TEXT];
	char *word, *value;
	int error;

	if (type != FTW_F || strncmp(name, "rdma.", 5) || !strstr(name, "current"))
		return 0;
	error = torture_read(path, text);
	if (error)
		snprintf(complaint, sizeof(complaint), "%s: %s", path, strerror(error));
	end_files++;
	for (word = strtok(text, "\n "); word; word = strtok(NULL, "\n ")) {
		value = strchr(word, '=');
		if (value && strtoull(value + 1, NULL, 10))
			snprintf(complaint, sizeof(complaint), "%s: %s", path, word);
	}
	return 0;
}

static void end_find_usage(void)
{
	end_files = 0;
	if (nftw(TORTURE_TOP, end_find_usage_in, 16, FTW_PHYS) || !end_files)
		snprintf(complaint, sizeof(complaint), "%s: %u files read: %m", TORTURE_TOP,
			 end_files);
}

static int end_remove_one(const char *path, const struct stat *stat, int type,
			  struct FTW *ftw)
{
	if (type == FTW_DP && rmdir(path))
		snprintf(complaint, sizeof(complaint), "%s: %m", path);
	return 0;
}

static void end_remove_cgroups(void)
{
	if (nftw(TORTURE_TOP, end_remove_one, 16, FTW_PHYS | FTW_DEPTH))
		snprintf(complaint, sizeof(complaint), "%s: %m", TORTURE_TOP);
}

static void end_find_dying(void)
{
	static char text[TORTURE_TEXT];
	const char *key = "nr_dying_descendants ";
	char *found;

	torture_read(TORTURE_ROOT "/cgroup.stat", text);
	found = strstr(text, key);
	if (!found || atoi(found + strlen(key)))
		snprintf(complaint, sizeof(complaint), "%.300s", found ?: "no cgroup.stat");
}

/* Check rdma.capacity, which shows the devices of all network namespaces. */
static void end_remove_devices(void)
{
	static char text[TORTURE_TEXT];

	torture_device_exit();
	torture_socket_remove();
	if (torture_read(TORTURE_ROOT "/rdma.capacity", text) || text[0])
		snprintf(complaint, sizeof(complaint), "%.80s", text);
}

/*
 * More than the allocator may keep: on each of two processors, it keeps two sheaves of 60 freed
 * objects.
 */
#define KEPT_POOLS 256

/*
 * After the removal of all devices and cgroups, no pool may be left. A kernel with
 * CONFIG_MEM_ALLOC_PROFILING counts the memory that each function has allocated. The count is not
 * exact for objects that kfree_rcu() frees: since 7.0, the allocator keeps some of these objects
 * until more arrive.
 */
static void end_find_memory(void)
{
	static const char *const allocators[] = {
		"func:rdmacg_pool_zalloc ", "func:rdmacg_domain_alloc ",
		"func:rdmacg_write_update ",
	};
	FILE *file = fopen("/proc/allocinfo", "r");
	unsigned int i, found = 0;
	unsigned long calls;
	char line[512];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		for (i = 0; i < ARRAY_SIZE(allocators); i++) {
			if (!strstr(line, allocators[i]) || sscanf(line, "%*u %lu", &calls) != 1)
				continue;
			found |= 1 << i;
			if (calls > KEPT_POOLS)
				snprintf(complaint, sizeof(complaint), "%s", line);
		}
	}
	if (found != (1 << ARRAY_SIZE(allocators)) - 1)
		snprintf(complaint, sizeof(complaint), "pools are allocated elsewhere");
	fclose(file);
}

void torture_end(void)
{
	torture_write(TORTURE_ROOT "/cgroup.procs", "0");
	torture_socket_exit();
	end_wait("usage is left", end_find_usage);
	/*
	 * Limits and history end with the device or with the cgroup, so sometimes remove the
	 * devices first, and sometimes remove the cgroups first.
	 */
	if (torture_random(2))
		end_wait("devices are left", end_remove_devices);
	end_wait("cgroups cannot be removed", end_remove_cgroups);
	end_wait("cgroups are dying for ever", end_find_dying);
	end_wait("devices are left", end_remove_devices);
	end_wait("the controller's memory is left", end_find_memory);
}
