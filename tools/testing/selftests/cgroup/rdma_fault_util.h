/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the tests with failing allocations. They use the kernel's failslab. They also compare
 * the files of a cgroup before and after a test.
 */
#ifndef RDMA_FAULT_UTIL_H
#define RDMA_FAULT_UTIL_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>

#include "rdma_util.h"

#define FAILSLAB "/sys/kernel/debug/failslab/"

static inline int rdmacg_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	close(fd);
	return ret;
}

/* The settings of failslab that the tests change. A 0 in the first setting ends all faults. */
static const char *const rdmacg_failslab_files[] = {
	FAILSLAB "probability",
	FAILSLAB "ignore-gfp-wait",
	FAILSLAB "interval",
	FAILSLAB "space",
	FAILSLAB "task-filter",
	FAILSLAB "times",
	FAILSLAB "verbose",
};

/* The settings that rdmacg_failslab_begin() saves, and rdmacg_failslab_end() restores. */
struct rdmacg_failslab {
	char saved[ARRAY_SIZE(rdmacg_failslab_files)][32];
	bool has_begun;
	bool has_mounted;
};

/* Restore the settings if rdmacg_failslab_begin() has saved them. */
static inline void rdmacg_failslab_end(struct rdmacg_failslab *failslab)
{
	size_t i;

	for (i = 0; failslab->has_begun && i < ARRAY_SIZE(rdmacg_failslab_files); i++)
		rdmacg_write(rdmacg_failslab_files[i], failslab->saved[i]);
	if (failslab->has_mounted)
		umount("/sys/kernel/debug");
	failslab->has_begun = false;
	failslab->has_mounted = false;
}

/*
 * Save the settings. Then let failslab affect all kinds of allocations, without lines in the log.
 * Returns NULL, or a text with the reason why this is impossible.
 */
static inline const char *rdmacg_failslab_begin(struct rdmacg_failslab *failslab)
{
	size_t i;

	if (access(FAILSLAB, F_OK))
		failslab->has_mounted = !mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	for (i = 0; i < ARRAY_SIZE(rdmacg_failslab_files); i++) {
		if (read_text(rdmacg_failslab_files[i], failslab->saved[i],
			      sizeof(failslab->saved[i])) < 0) {
			rdmacg_failslab_end(failslab);
			return "the kernel has no CONFIG_FAILSLAB with debugfs";
		}
	}
	failslab->has_begun = true;
	if (!rdmacg_write(FAILSLAB "verbose", "0") &&
	    !rdmacg_write(FAILSLAB "ignore-gfp-wait", "N"))
		return NULL;
	rdmacg_failslab_end(failslab);
	return "the switches of failslab cannot be written";
}

/* Let the @nth of this thread's next allocations fail. If @nth is 0, no allocation fails. */
static inline int rdmacg_fail_nth(int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	return rdmacg_write("/proc/thread-self/fail-nth", text);
}

/* Returns the number of allocations until one fails, or 0 if one has already failed. */
static inline int rdmacg_fail_left(void)
{
	char text[16] = "";
	int fd = open("/proc/thread-self/fail-nth", O_RDONLY);

	if (fd >= 0)
		read(fd, text, sizeof(text) - 1);
	close(fd);
	return atoi(text);
}

/* End rdmacg_fail_nth(). Returns whether an allocation has failed. */
static inline bool rdmacg_end_fail_nth(void)
{
	int left = rdmacg_fail_left();

	rdmacg_fail_nth(0);
	return !left;
}

/*
 * Read the usage and the limits of @cgroup in all classes that the kernel has. Returns false if a
 * file cannot be read.
 */
static inline bool rdmacg_state(const char *cgroup, char *text, size_t size)
{
	static const char *const files[] = {
		"rdma.current", "rdma.verb.current", "rdma.hw.current",
		"rdma.max", "rdma.verb.max", "rdma.hw.max", "rdma.control.max",
	};
	size_t i, used = 0;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		/* Each cgroup has the first file. */
		if (cg_read(cgroup, files[i], text + used, size - used) && (!i || errno != ENOENT))
			return false;
		used = strlen(text);
	}
	return true;
}

/* Return whether @cgroup has the usage and limits that rdmacg_state() read into @before. */
static inline bool rdmacg_is_as_before(const char *cgroup, const char *before)
{
	char after[4096];

	if (!rdmacg_state(cgroup, after, sizeof(after)))
		return false;
	if (!strcmp(before, after))
		return true;
	ksft_print_msg("%s", after);
	return false;
}

/*
 * Call @act repeatedly, and let one allocation fail in each call: first the 1st, later the 2nd, and
 * so on. Call @undo after each success. Both functions return 0 or an errno. Each of the first 30
 * allocations fails in three calls, because a call may need more allocations than the call before.
 * After 20 s, each of the first 30 fails in one call, and each later call doubles the number of the
 * failing allocation, because thousands of calls take too long. For example, Soft-RoCE needs 7500
 * allocations to register a device, and the controller makes the 17th to the 22nd of them. Returns
 * the number of failed calls. Returns -1 if a call changed the state of @cgroup, if @undo failed,
 * if @act failed without a failed allocation and without a limit, or if an allocation failed in
 * every call.
 */
static inline int rdmacg_sweep(const char *cgroup, int (*act)(void *what),
			       int (*undo)(void *what), void *what)
{
	time_t end = time(NULL) + 20;
	bool injected = true;
	int nth = 1, tries = 0, ret, undone, failed = 0;
	char before[4096];

	if (!rdmacg_state(cgroup, before, sizeof(before)))
		return -1;
	while (injected && nth < 100000) {
		if (rdmacg_fail_nth(nth))
			return -1;
		ret = act(what);
		injected = rdmacg_end_fail_nth();
		undone = ret ? 0 : undo(what);
		failed += !!ret;
		if (!rdmacg_is_as_before(cgroup, before) || undone ||
		    (!injected && ret && ret != EAGAIN)) {
			ksft_print_msg("allocation %d: %d, undone: %d\n", nth, ret, undone);
			return -1;
		}
		if (nth > 30 || time(NULL) >= end || ++tries % 3 == 0)
			nth += nth < 30 || time(NULL) < end ? 1 : nth;
	}
	return injected ? -1 : failed;
}

/* Let allocations fail with @probability percent, in the threads that allow failures. */
static inline int rdmacg_inject(const char *probability)
{
	return rdmacg_write(FAILSLAB "task-filter", "Y") ?:
	       rdmacg_write(FAILSLAB "times", "-1") ?:
	       rdmacg_write(FAILSLAB "interval", "1") ?:
	       rdmacg_write(FAILSLAB "probability", probability);
}

/*
 * Open the file that lets allocations of this thread fail. Write "1" to the file to allow failures,
 * and "0" to forbid them. Open it before the first failure, because the open needs memory.
 */
static inline int rdmacg_open_make_it_fail(void)
{
	return open("/proc/thread-self/make-it-fail", O_WRONLY | O_CLOEXEC);
}

/*
 * Call @act, and let all its allocations after the first @bytes fail. Returns 0 or an errno of
 * @act, or -1 if failslab cannot be set.
 */
static inline int rdmacg_act_within(unsigned int bytes, int (*act)(void *what), void *what)
{
	int fd = rdmacg_open_make_it_fail();
	int ret = -1;
	char text[16];

	snprintf(text, sizeof(text), "%u", bytes);
	if (!rdmacg_write(FAILSLAB "space", text) && write(fd, "1", 1) == 1) {
		ret = act(what);
		if (write(fd, "0", 1) != 1)
			ret = -1;
	}
	close(fd);
	return ret;
}

/*
 * Call @act without memory, and then with more and more memory until @act succeeds. Code that
 * repeats a failed allocation, such as xa_alloc() in a driver, also fails here. Each attempt after
 * 10 s has one and a half times the memory of the attempt before. Returns the number of failed
 * attempts, or -1 for the reasons of rdmacg_sweep().
 */
static inline int rdmacg_exhaust(const char *cgroup, int (*act)(void *what),
				 int (*undo)(void *what), void *what)
{
	time_t end = time(NULL) + 10;
	unsigned int bytes = 0;
	int ret, failed = 0;
	char before[4096];

	/* A failed page fault would end the test with SIGSEGV. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || !rdmacg_state(cgroup, before, sizeof(before)) ||
	    rdmacg_inject("100"))
		return -1;
	while ((ret = rdmacg_act_within(bytes, act, what)) > 0 && bytes < 1 << 30 &&
	       rdmacg_is_as_before(cgroup, before)) {
		failed++;
		bytes += 16 + (time(NULL) < end ? 0 : bytes / 2);
	}
	rdmacg_inject("0");
	rdmacg_write(FAILSLAB "space", "0");
	munlockall();
	if (ret || undo(what) || !rdmacg_is_as_before(cgroup, before)) {
		ksft_print_msg("%u bytes: %d\n", bytes, ret);
		return -1;
	}
	return failed;
}

#endif /* RDMA_FAULT_UTIL_H */
