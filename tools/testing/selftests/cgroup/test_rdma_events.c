// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of peaks and events in the RDMA cgroup controller. The tests need root and one RDMA device.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/inotify.h>

#include "rdma_opened.h"

static bool rdmacg_events_are(struct rdmacg_tree *tree, const char *cgroup, const char *file,
			      long long max, long long alloc_fail)
{
	long long seen_max = rdmacg_value(tree, cgroup, file, "hca_object.max");
	long long seen_fail = rdmacg_value(tree, cgroup, file, "hca_object.alloc_fail");

	if (seen_max == max && seen_fail == alloc_fail)
		return true;
	ksft_print_msg("%s/%s: hca_object.max=%lld .alloc_fail=%lld, wanted %lld and %lld\n",
		       cgroup, file, seen_max, seen_fail, max, alloc_fail);
	return false;
}

/* Let the limit of @cgroup refuse @times objects in "left". */
static void rdmacg_refuse(struct __test_metadata *_metadata, struct rdmacg_tree *tree,
			  const char *cgroup, struct ibv_context *context, int times)
{
	ASSERT_EQ(0, rdmacg_limit(tree, cgroup, "hca_object=1"));
	while (times--)
		ASSERT_EQ(NULL, ibv_alloc_pd(context));
}

/*
 * "max" counts a refusal in the cgroup of the limit and its ancestors. "alloc_fail" counts it in
 * the cgroup of the attempt and its ancestors.
 */
TEST_F(rdmacg_opened, ancestors_refusal_is_max_there_and_alloc_fail_here)
{
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_refuse(_metadata, tree, tree->top, self->context, 2);
	EXPECT_TRUE(rdmacg_events_are(tree, tree->left, "rdma.events", 0, 2));
	EXPECT_TRUE(rdmacg_events_are(tree, tree->left, "rdma.events.local", 0, 2));
	EXPECT_TRUE(rdmacg_events_are(tree, tree->top, "rdma.events", 2, 2));
	EXPECT_TRUE(rdmacg_events_are(tree, tree->top, "rdma.events.local", 2, 0));
}

/* The number of files that change if the limit of "top" refuses an object in "left". */
#define RDMACG_CHANGED 4

static void rdmacg_changed(struct rdmacg_tree *tree, char paths[RDMACG_CHANGED][256])
{
	static const char *const files[] = { "rdma.events", "rdma.events.local" };
	int i;

	for (i = 0; i < RDMACG_CHANGED; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", i / 2 ? tree->top : tree->left,
			 files[i % 2]);
}

/* A refusal wakes a process that polls one of these files, and other events do not wake it. */
TEST_F(rdmacg_opened, refusal_wakes_pollers)
{
	struct pollfd polled[RDMACG_CHANGED];
	char paths[RDMACG_CHANGED][256];
	char text[RDMACG_TEXT_SIZE];
	int i;

	rdmacg_changed(&self->tree, paths);
	for (i = 0; i < RDMACG_CHANGED; i++) {
		polled[i].fd = open(paths[i], O_RDONLY);
		polled[i].events = POLLPRI;
		ASSERT_LE(0, polled[i].fd) TH_LOG("%s: %m", paths[i]);
		ASSERT_LT(0, read(polled[i].fd, text, sizeof(text)));
	}
	EXPECT_EQ(0, poll(polled, RDMACG_CHANGED, 0)) TH_LOG("an event before the refusal");
	rdmacg_refuse(_metadata, &self->tree, self->tree.top, self->context, 1);
	for (i = 0; i < RDMACG_CHANGED; i++) {
		EXPECT_EQ(1, poll(&polled[i], 1, 2000)) TH_LOG("%s is silent", paths[i]);
		EXPECT_TRUE(polled[i].revents & POLLPRI);
		close(polled[i].fd);
	}
}

/* inotify reports a refusal for each of these files. */
TEST_F(rdmacg_opened, refusal_notifies_inotify_watchers)
{
	struct pollfd watched = { .fd = inotify_init1(IN_NONBLOCK), .events = POLLIN };
	unsigned int modified = 0, all = 0;
	char paths[RDMACG_CHANGED][256];
	struct inotify_event *event;
	char text[RDMACG_TEXT_SIZE];
	ssize_t left;
	int i, watch;

	ASSERT_LE(0, watched.fd);
	rdmacg_changed(&self->tree, paths);
	for (i = 0; i < RDMACG_CHANGED; i++) {
		watch = inotify_add_watch(watched.fd, paths[i], IN_MODIFY);
		ASSERT_LT(0, watch) TH_LOG("%s: %m", paths[i]);
		all |= 1 << watch;
	}
	rdmacg_refuse(_metadata, &self->tree, self->tree.top, self->context, 1);
	while (modified != all && poll(&watched, 1, 2000) == 1) {
		left = read(watched.fd, text, sizeof(text));
		for (event = (void *)text; left > 0; event++, left -= sizeof(*event))
			modified |= 1 << event->wd;
	}
	EXPECT_EQ(all, modified) TH_LOG("inotify misses a file");
	close(watched.fd);
}

TEST_HARNESS_MAIN
