// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the files of the RDMA cgroup controller, and of the text that the files show, accept and
 * refuse. The tests need root and one RDMA device.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "../kselftest_harness.h"
#include "rdma_util.h"

FIXTURE(test_rdmacg) {
	struct rdmacg_tree tree;
};

FIXTURE_SETUP(test_rdmacg)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
}

FIXTURE_TEARDOWN(test_rdmacg)
{
	rdmacg_tree_destroy(&self->tree);
}

static const struct rdmacg_file {
	const char *name;
	mode_t mode;
} rdmacg_files[] = {
	{ .name = "rdma.max", .mode = 0644 },
	{ .name = "rdma.current", .mode = 0444 },
	{ .name = "rdma.peak", .mode = 0444 },
	{ .name = "rdma.events", .mode = 0444 },
	{ .name = "rdma.events.local", .mode = 0444 },
	{ .name = "rdma.verb.max", .mode = 0644 },
	{ .name = "rdma.verb.current", .mode = 0444 },
	{ .name = "rdma.verb.peak", .mode = 0444 },
	{ .name = "rdma.verb.events", .mode = 0444 },
	{ .name = "rdma.verb.events.local", .mode = 0444 },
	{ .name = "rdma.hw.max", .mode = 0644 },
	{ .name = "rdma.hw.current", .mode = 0444 },
	{ .name = "rdma.hw.peak", .mode = 0444 },
	{ .name = "rdma.hw.events", .mode = 0444 },
	{ .name = "rdma.hw.events.local", .mode = 0444 },
	{ .name = "rdma.default", .mode = 0644 },
	{ .name = "rdma.control.max", .mode = 0644 },
	{ .name = "rdma.control.stat", .mode = 0444 },
};

/* The files exist in each cgroup except the root, and only the files of limits are writable. */
TEST_F(test_rdmacg, files_are_not_on_root)
{
	const struct rdmacg_file *file;
	struct stat st;
	char path[256];

	for (file = rdmacg_files; file < rdmacg_files + ARRAY_SIZE(rdmacg_files); file++) {
		snprintf(path, sizeof(path), "%s/%s", self->tree.root, file->name);
		EXPECT_NE(0, stat(path, &st)) TH_LOG("%s exists", path);
		snprintf(path, sizeof(path), "%s/%s", self->tree.top, file->name);
		ASSERT_EQ(0, stat(path, &st)) TH_LOG("%s is missing", path);
		EXPECT_EQ(file->mode, st.st_mode & 0777);
	}
}

/* The file with the capacity exists only in the root cgroup. */
TEST_F(test_rdmacg, capacity_is_on_root)
{
	struct stat st;
	char path[256];

	snprintf(path, sizeof(path), "%s/rdma.capacity", self->tree.top);
	EXPECT_NE(0, stat(path, &st)) TH_LOG("%s exists", path);
	snprintf(path, sizeof(path), "%s/rdma.capacity", self->tree.root);
	ASSERT_EQ(0, stat(path, &st)) TH_LOG("%s is missing", path);
	EXPECT_EQ(0444, st.st_mode & 0777);
}

/* Returns the keys of the device's line in the file, each after a blank. */
static const char *rdmacg_keys(struct rdmacg_tree *tree, const char *cgroup, const char *file)
{
	static char keys[1024];
	char *line, *word, *lines, *words;

	keys[0] = '\0';
	for (line = strtok_r(rdmacg_read(cgroup, file), "\n", &lines); line;
	     line = strtok_r(NULL, "\n", &lines)) {
		word = strtok_r(line, " ", &words);
		if (!word || strcmp(word, tree->device))
			continue;
		while ((word = strtok_r(NULL, " ", &words))) {
			strcat(keys, " ");
			strncat(keys, word, strcspn(word, "="));
		}
	}
	return keys;
}

#define HCA_KEYS	" hca_handle hca_object"

/* The resources of each driver in the verb and hw classes. */
static const struct rdmacg_driver {
	const char *prefix;
	const char *verb;
	const char *hw;
} rdmacg_drivers[] = {
	{
		.prefix = "rxe",
		.verb = " pd comp_channel cq qp srq ah mr mw async_event mr_mem mcast cm_id",
		.hw = " queue_mem",
	}, {
		.prefix = "siw",
		.verb = " pd comp_channel cq qp srq mr async_event mr_mem cm_id",
		.hw = "",
	},
};

/*
 * Each file shows the resources of its class, and rdma.capacity shows the resources of all three
 * classes.
 */
TEST_F(test_rdmacg, files_show_the_resources_of_the_driver)
{
	const struct rdmacg_driver *driver = rdmacg_drivers;
	struct rdmacg_tree *tree = &self->tree;
	char all[1024];

	while (driver < rdmacg_drivers + ARRAY_SIZE(rdmacg_drivers) &&
	       strncmp(tree->device, driver->prefix, 3))
		driver++;
	if (driver == rdmacg_drivers + ARRAY_SIZE(rdmacg_drivers))
		SKIP(return, "%s is another device", tree->device);
	snprintf(all, sizeof(all), HCA_KEYS "%s%s", driver->verb, driver->hw);
	EXPECT_STREQ(HCA_KEYS, rdmacg_keys(tree, tree->top, "rdma.max"));
	EXPECT_STREQ(HCA_KEYS, rdmacg_keys(tree, tree->top, "rdma.current"));
	EXPECT_STREQ(driver->verb, rdmacg_keys(tree, tree->top, "rdma.verb.max"));
	EXPECT_STREQ(driver->verb, rdmacg_keys(tree, tree->top, "rdma.verb.peak"));
	EXPECT_STREQ(driver->hw, rdmacg_keys(tree, tree->top, "rdma.hw.max"));
	EXPECT_STREQ(driver->hw, rdmacg_keys(tree, tree->top, "rdma.hw.current"));
	EXPECT_STREQ(all, rdmacg_keys(tree, tree->root, "rdma.capacity"));
}

/* A new cgroup has no limits, usage and events, even if its parent has limits. */
TEST_F(test_rdmacg, new_cgroup_is_unlimited_and_unused)
{
	static const char no_events[] =
		"hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0";
	struct rdmacg_tree *tree = &self->tree;
	char path[256];

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_handle=1 hca_object=2"));
	ASSERT_EQ(0, rdmacg_delegate(tree, tree->left));
	snprintf(path, sizeof(path), "%s/new", tree->left);
	ASSERT_EQ(0, cg_create(path));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.max", "hca_handle=max hca_object=max"));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.current", "hca_handle=0 hca_object=0"));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.peak", "hca_handle=0 hca_object=0"));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.events", no_events));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.events.local", no_events));
	EXPECT_EQ(0, rmdir(path));
}

/*
 * Each line has exactly three fields, because the parsers of runc and containerd accept no other
 * lines.
 */
TEST_F(test_rdmacg, hca_lines_have_three_fields)
{
	static const char *const files[] = { "rdma.max", "rdma.current", "rdma.peak" };
	char *text, *line, *lines, *c;
	int i, blanks;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		text = rdmacg_read(self->tree.top, files[i]);
		ASSERT_LT(0, strlen(text));
		for (line = strtok_r(text, "\n", &lines); line;
		     line = strtok_r(NULL, "\n", &lines)) {
			for (blanks = 0, c = line; *c; c++)
				blanks += *c == ' ' || *c == '\t';
			EXPECT_EQ(2, blanks) TH_LOG("%s: '%s'", files[i], line);
		}
	}
}

/* A text with a NUL at any place is refused. */
TEST_F(test_rdmacg, nul_is_refused)
{
	struct rdmacg_tree *tree = &self->tree;
	char path[256], line[512];
	int fd, len, at;

	snprintf(path, sizeof(path), "%s/rdma.max", tree->left);
	len = snprintf(line, sizeof(line), "%s hca_handle=12", tree->device);
	for (at = 0; at <= len; at++) {
		char text[512] = "";

		/*
		 * Replace each character by a NUL in turn, and then add a NUL after the last
		 * character.
		 */
		memcpy(text, line, len);
		text[at] = '\0';
		fd = open(path, O_WRONLY);
		ASSERT_LE(0, fd);
		EXPECT_EQ(-1, write(fd, text, at == len ? len + 1 : len))
			TH_LOG("NUL at %d was accepted", at);
		EXPECT_EQ(EINVAL, errno);
		close(fd);
	}
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

#define RDMACG_WRITE_SIZE (64 * 1024)

/*
 * Fill @text with the largest number of lines for the device that one write accepts, plus @more
 * lines.
 */
static void rdmacg_fill(struct rdmacg_tree *tree, char *text, int more)
{
	char line[512];
	size_t len = 0;

	snprintf(line, sizeof(line), "%s hca_handle=8\n", tree->device);
	while (len + strlen(line) < RDMACG_WRITE_SIZE || more-- > 0) {
		memcpy(text + len, line, strlen(line));
		len += strlen(line);
	}
	text[len] = '\0';
}

/* A write of nearly 64 KiB, which needs many pages, is accepted. */
TEST_F(test_rdmacg, long_write_is_taken)
{
	static char text[2 * RDMACG_WRITE_SIZE];
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_fill(tree, text, 0);
	EXPECT_EQ(0, cg_write(tree->left, "rdma.max", text));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=8 hca_object=max"));
}

/* A write that exceeds the accepted length by one line changes nothing. */
TEST_F(test_rdmacg, too_long_write_changes_nothing)
{
	static char text[2 * RDMACG_WRITE_SIZE];
	struct rdmacg_tree *tree = &self->tree;

	rdmacg_fill(tree, text, 1);
	EXPECT_EQ(-E2BIG, cg_write(tree->left, "rdma.max", text));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

/* A cgroup has no limits after its controller is disabled and enabled again. */
TEST_F(test_rdmacg, disabled_controller_forgets)
{
	struct rdmacg_tree *tree = &self->tree;
	char path[256];

	if (!tree->v2)
		SKIP(return, "cgroup v1 cannot take a controller away");
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_handle=5"));
	ASSERT_EQ(0, cg_write(tree->top, "cgroup.subtree_control", "-rdma"));
	snprintf(path, sizeof(path), "%s/rdma.max", tree->left);
	EXPECT_NE(0, access(path, F_OK));
	ASSERT_EQ(0, cg_write(tree->top, "cgroup.subtree_control", "+rdma"));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

/* The memory cgroup of the process that gives a controller to cgroups pays for their structs. */
TEST_F(test_rdmacg, creator_pays_for_the_structs_of_cgroups)
{
	enum { COUNT = 256, BYTES = 512 };
	struct rdmacg_tree *tree = &self->tree;
	char path[256];
	long before;
	int i;

	if (cg_write("/sys/fs/cgroup", "cgroup.subtree_control", "+memory") ||
	    cg_write(tree->top, "cgroup.subtree_control", "+memory"))
		SKIP(return, "there is no memory controller beside rdma");
	for (i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%d", tree->right, i);
		ASSERT_EQ(0, cg_create(path));
	}
	ASSERT_EQ(0, cg_enter_current(tree->left));
	before = cg_read_key_long(tree->left, "memory.stat", "slab ");
	EXPECT_EQ(0, rdmacg_delegate(tree, tree->right));
	/* The kernel updates the file each two seconds. */
	EXPECT_TRUE(RDMACG_WAIT_FOR(cg_read_key_long(tree->left, "memory.stat", "slab ") >=
				    before + COUNT * BYTES));
	ASSERT_EQ(0, cg_enter_current(tree->root));
}

/* The deepest level of the controller. A child of the root has level 1. */
#define RDMACG_DEPTH 64

/* Create nested cgroups down to level @depth, and put the path of the last one into @path. */
static int rdmacg_dig(struct rdmacg_tree *tree, char *path, size_t size, int depth)
{
	int level = 2;

	snprintf(path, size, "%s", tree->left);
	while (level++ < depth) {
		if (rdmacg_delegate(tree, path))
			return -errno;
		strcat(path, "/d");
		if (cg_create(path))
			return -errno;
	}
	return 0;
}

/* Creating a cgroup below the deepest level fails with EAGAIN, as with cgroup.max.depth. */
TEST_F_TIMEOUT(test_rdmacg, depth_is_bounded, 60)
{
	struct rdmacg_tree *tree = &self->tree;
	char path[512], below[520];

	ASSERT_EQ(0, rdmacg_dig(tree, path, sizeof(path), RDMACG_DEPTH));
	ASSERT_EQ(0, rdmacg_limit(tree, path, "hca_handle=5"));
	snprintf(below, sizeof(below), "%s/d", path);
	ASSERT_EQ(0, rdmacg_delegate(tree, path));
	errno = 0;
	EXPECT_EQ(-1, mkdir(below, 0755));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_NE(0, access(below, F_OK));
	EXPECT_TRUE(rdmacg_line_is(tree, path, "rdma.max", "hca_handle=5 hca_object=max"));
}

/* The controller cannot be enabled for children below the deepest level. */
TEST_F_TIMEOUT(test_rdmacg, deep_children_cannot_have_it, 60)
{
	struct rdmacg_tree *tree = &self->tree;
	char path[512], below[520];

	if (!tree->v2)
		SKIP(return, "on cgroup v1 each cgroup has the controller");
	ASSERT_EQ(0, rdmacg_dig(tree, path, sizeof(path), RDMACG_DEPTH));
	snprintf(below, sizeof(below), "%s/d", path);
	ASSERT_EQ(0, cg_create(below));
	EXPECT_EQ(-EAGAIN, cg_write(path, "cgroup.subtree_control", "+rdma"));
	EXPECT_NE(0, cg_read_strstr(path, "cgroup.subtree_control", "rdma"));
	EXPECT_EQ(0, rmdir(below));
}

TEST_HARNESS_MAIN
