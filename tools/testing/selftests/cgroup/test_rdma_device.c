// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the lines and limits of devices that are registered, removed or renamed, or that have
 * the same name. Each test creates a second device, and runs once with the driver of the machine's
 * device and once with another driver. The tests need root, Soft-RoCE or Soft-iWARP, and ip and
 * rdma of iproute2.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "rdma_verbs_util.h"

/* A network namespace for the second device. */
#define RDMACG_NETNS "rdmacg"

/* The two devices of a test, and the system-wide settings that the test has changed. */
struct rdmacg_pair {
	/*
	 * Both trees have the same cgroups. @tree has the machine's device, and @second has the
	 * second device.
	 */
	struct rdmacg_tree tree;
	struct rdmacg_tree second;
	/* Objects on the second device. */
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	/* The teardown restores the machine from these fields. */
	int devices;
	bool has_netns;
	bool was_shared;
};

FIXTURE(test_rdmacg_device) {
	struct rdmacg_pair pair;
};

/* The type of the second device for "rdma link add". */
FIXTURE_VARIANT(test_rdmacg_device) {
	const char *type;
};

FIXTURE_VARIANT_ADD(test_rdmacg_device, rxe) { .type = "rxe" };

FIXTURE_VARIANT_ADD(test_rdmacg_device, siw) { .type = "siw" };

/* Count the devices of all network namespaces. */
static int rdmacg_count_devices(const struct rdmacg_tree *tree)
{
	const char *text = rdmacg_read(tree->root, "rdma.capacity");
	int count = 0;

	while ((text = strchr(text, '\n'))) {
		count++;
		text++;
	}
	return count;
}

/* The process of the test is in "left", and no device has limits. */
FIXTURE_SETUP(test_rdmacg_device)
{
	const char *missing = rdmacg_tree_create(&self->pair.tree);
	struct rdmacg_pair *pair = &self->pair;
	bool is_made;

	if (missing)
		SKIP(return, "%s", missing);
	ASSERT_EQ(0, cg_enter_current(pair->tree.left));
	/* Remove the namespace of an earlier test that was killed. */
	system("ip netns del " RDMACG_NETNS " 2>/dev/null");
	is_made = rdmacg_add_link();
	pair->devices = rdmacg_count_devices(&pair->tree);
	is_made = is_made && rdmacg_add_device(variant->type);
	if (!is_made) {
		rdmacg_remove_link();
		rdmacg_tree_destroy(&pair->tree);
		SKIP(return, "no second device of type %s can be made", variant->type);
	}
	pair->second = pair->tree;
	snprintf(pair->second.device, sizeof(pair->second.device), RDMACG_SECOND);
}

static void rdmacg_close(struct rdmacg_pair *pair)
{
	if (pair->channel)
		ibv_destroy_comp_channel(pair->channel);
	pair->channel = NULL;
	if (pair->context)
		ibv_close_device(pair->context);
	pair->context = NULL;
}

/*
 * Keep the order of these steps. A device can be removed only after its contexts, and a namespace
 * only after its devices. The mode can change only after the namespaces are removed. Removing the
 * link also removes a device that is in another namespace.
 */
FIXTURE_TEARDOWN(test_rdmacg_device)
{
	struct rdmacg_pair *pair = &self->pair;

	rdmacg_close(pair);
	rdmacg_tree_destroy(&pair->tree);
	EXPECT_TRUE(rdmacg_remove_link());
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_count_devices(&pair->tree) == pair->devices));
	if (pair->has_netns)
		system("ip netns del " RDMACG_NETNS " 2>/dev/null");
	if (pair->was_shared)
		EXPECT_TRUE(RDMACG_WAIT_FOR(!system("rdma system set netns shared 2>/dev/null")));
}

/* A device cannot take the name of another device, and the attempt changes nothing. */
TEST_F_TIMEOUT(test_rdmacg_device, refused_rename_changes_nothing, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree;
	char command[NAME_MAX + 64];

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=1"));
	snprintf(command, sizeof(command), "rdma dev set " RDMACG_SECOND " name %s 2>/dev/null",
		 tree->device);
	EXPECT_NE(0, system(command));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=1"));
	EXPECT_TRUE(rdmacg_line_is(&self->pair.second, tree->left, "rdma.max",
				   "hca_handle=max hca_object=max"));
}

static bool rdmacg_is_shared(void)
{
	return !system("rdma system show | grep -q 'netns shared'");
}

/*
 * Move the second device to a network namespace of its own, and give it the name of the first
 * device. Skip the test and return false if the kernel refuses. The kernel refuses if devices of
 * the driver cannot move, which is true for Soft-iWARP, and for Soft-RoCE on older kernels. It also
 * refuses if names must be unique in all namespaces.
 */
static bool rdmacg_make_namesake(struct __test_metadata *_metadata,
				 struct rdmacg_pair *pair)
{
	char command[NAME_MAX + 128];

	pair->was_shared = rdmacg_is_shared();
	if (!RDMACG_WAIT_FOR(!system("rdma system set netns exclusive 2>/dev/null")))
		SKIP(return false, "other network namespaces exist");
	pair->has_netns = true;
	ASSERT_EQ(0, system("ip netns add " RDMACG_NETNS));
	if (system("rdma dev set " RDMACG_SECOND " netns " RDMACG_NETNS " 2>/dev/null"))
		SKIP(return false, "this device cannot move to another network namespace");
	snprintf(command, sizeof(command), "ip netns exec " RDMACG_NETNS
		 " rdma dev set " RDMACG_SECOND " name %s 2>/dev/null", pair->tree.device);
	if (system(command))
		SKIP(return false, "a name must be unique in all network namespaces");
	return true;
}

/* Returns the index in the line of the second device, or -1 if no line has an index. */
static long rdmacg_index_of_second(struct rdmacg_tree *tree)
{
	const char *word = strstr(rdmacg_read(tree->left, "rdma.max"), " index=");

	return word ? strtol(word + 7, NULL, 10) : -1;
}

/* A device of the same name in another namespace changes no write and no line of this device. */
TEST_F_TIMEOUT(test_rdmacg_device, name_means_the_device_in_sight, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree;
	char limits[64];
	long index;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=1"));
	if (!rdmacg_make_namesake(_metadata, &self->pair))
		return;
	EXPECT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=2"));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=2"));
	EXPECT_EQ(-ENODEV, rdmacg_limit(tree, tree->left, "index=9999 hca_object=2"));
	index = rdmacg_index_of_second(tree);
	ASSERT_LE(0, index);
	snprintf(limits, sizeof(limits), "index=%ld hca_object=3", index);
	EXPECT_EQ(0, rdmacg_limit(tree, tree->left, limits));
	snprintf(limits, sizeof(limits), "index=%ld hca_handle=max hca_object=3", index);
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", limits));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=2"));
}

/*
 * A process in the other namespace means the device there. The file was opened before, so the
 * caller of read() and write() decides.
 */
TEST_F_TIMEOUT(test_rdmacg_device, name_depends_on_the_caller, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree;
	char text[RDMACG_TEXT_SIZE] = "", wanted[NAME_MAX + 64];
	int file, netns;
	pid_t child;

	if (!rdmacg_make_namesake(_metadata, &self->pair))
		return;
	snprintf(text, sizeof(text), "%s/rdma.max", tree->left);
	file = open(text, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, file);
	child = rdmacg_fork();
	if (!child) {
		netns = open("/run/netns/" RDMACG_NETNS, O_RDONLY | O_CLOEXEC);
		if (setns(netns, CLONE_NEWNET))
			_exit(1);
		snprintf(text, sizeof(text), "%s hca_object=5", tree->device);
		if (write(file, text, strlen(text)) < 0)
			_exit(2);
		memset(text, 0, sizeof(text));
		if (pread(file, text, sizeof(text) - 1, 0) <= 0)
			_exit(3);
		snprintf(wanted, sizeof(wanted), "%s hca_handle=max hca_object=5\n", tree->device);
		_exit(strstr(text, wanted) ? 0 : 4);
	}
	EXPECT_EQ(0, rdmacg_wait(child));
	close(file);
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

/* The line no longer has an index after the other device gets another name. */
TEST_F_TIMEOUT(test_rdmacg_device, index_disappears_with_the_namesake, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree;
	char command[NAME_MAX + 64];

	if (!rdmacg_make_namesake(_metadata, &self->pair))
		return;
	EXPECT_LE(0, rdmacg_index_of_second(tree));
	snprintf(command, sizeof(command),
		 "ip netns exec " RDMACG_NETNS " rdma dev set %s name " RDMACG_SECOND,
		 tree->device);
	EXPECT_EQ(0, system(command));
	EXPECT_EQ(-1, rdmacg_index_of_second(tree));
	/* A name that only one device has is enough, wherever the device is. */
	EXPECT_EQ(0, rdmacg_limit(&self->pair.second, tree->left, "hca_object=4"));
	EXPECT_TRUE(rdmacg_line_is(&self->pair.second, tree->left, "rdma.max",
				   "hca_handle=max hca_object=4"));
}

/*
 * The devices of a network namespace return to the first namespace when their namespace ends. A
 * device whose name is in use there gets another name, which the files then show.
 */
TEST_F_TIMEOUT(test_rdmacg_device, device_comes_home_with_another_name, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree;

	if (!rdmacg_make_namesake(_metadata, &self->pair))
		return;
	EXPECT_NE(NULL, strstr(rdmacg_read(tree->left, "rdma.max"), " index="));
	EXPECT_EQ(0, system("ip netns del " RDMACG_NETNS));
	/* The kernel removes the namespace asynchronously. */
	EXPECT_TRUE(RDMACG_WAIT_FOR(!system("rdma dev show | grep -q ': ibdev'")));
	EXPECT_EQ(NULL, strstr(rdmacg_read(tree->left, "rdma.max"), " index="));
	EXPECT_NE(NULL, strstr(rdmacg_read(tree->left, "rdma.max"), "\nibdev"));
	EXPECT_TRUE(rdmacg_line_is(tree, tree->left, "rdma.max", "hca_handle=max hca_object=max"));
}

/* Start a process that renames the second device and renames it back, ten times. */
static pid_t rdmacg_start_renaming(void)
{
	static const char there[] = "rdma dev set " RDMACG_SECOND " name " RDMACG_RENAMED;
	static const char back[] = "rdma dev set " RDMACG_RENAMED " name " RDMACG_SECOND;
	pid_t child = rdmacg_fork();
	int i;

	if (child)
		return child;
	for (i = 0; i < 10; i++)
		if (system(there) || system(back))
			_exit(1);
	_exit(0);
}

/*
 * The numbers of lines that a reader has seen with the one name, with the other name, with a wrong
 * name, and with an index.
 */
struct rdmacg_sightings {
	int second;
	int renamed;
	int torn;
	int indexed;
};

/*
 * Returns whether the name belongs to another device of the machine. These devices keep their
 * names.
 */
static bool rdmacg_is_device(const char *name)
{
	char path[NAME_MAX + 32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%.*s", NAME_MAX, name);
	return *name && !access(path, F_OK);
}

/* Read the limits once. Returns the number of lines. */
static int rdmacg_look(struct rdmacg_tree *tree, struct rdmacg_sightings *seen)
{
	char *line, *lines;
	int count = 0;

	for (line = strtok_r(rdmacg_read(tree->left, "rdma.max"), "\n", &lines); line;
	     line = strtok_r(NULL, "\n", &lines), count++) {
		if (strstr(line, "index="))
			seen->indexed++;
		line[strcspn(line, " ")] = '\0';
		if (!strcmp(line, RDMACG_SECOND))
			seen->second++;
		else if (!strcmp(line, RDMACG_RENAMED))
			seen->renamed++;
		else if (!rdmacg_is_device(line))
			seen->torn++;
	}
	return count;
}

/* During a rename, a reader sees the device with the old name or with the new name. */
TEST_F_TIMEOUT(test_rdmacg_device, rename_is_seen_whole, 120)
{
	struct rdmacg_tree *second = &self->pair.second;
	struct rdmacg_sightings seen = {};
	pid_t renamer;
	int status;

	ASSERT_EQ(0, rdmacg_limit(second, second->left, "hca_object=7"));
	renamer = rdmacg_start_renaming();
	while (!waitpid(renamer, &status, WNOHANG))
		ASSERT_LT(0, rdmacg_look(&self->pair.tree, &seen));
	EXPECT_EQ(0, status) TH_LOG("a rename failed");
	EXPECT_EQ(0, seen.torn) TH_LOG("names that no device had");
	EXPECT_EQ(0, seen.indexed) TH_LOG("an index without a namesake");
	EXPECT_LT(0, seen.second);
	EXPECT_LT(0, seen.renamed);
	EXPECT_EQ(7, rdmacg_value(second, second->left, "rdma.max", "hca_object"));
	EXPECT_TRUE(rdmacg_remove_device());
}

static char rdmacg_text[RDMACG_TEXT_SIZE];

/* Set limits for the second device, and create a PD, an MR and a channel on it. */
static void rdmacg_use_second(struct __test_metadata *_metadata,
			      struct rdmacg_pair *pair)
{
	struct rdmacg_tree *second = &pair->second;
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit(second, second->left, "hca_handle=2 hca_object=3"));
	pair->context = rdmacg_open(second);
	ASSERT_NE(NULL, pair->context);
	pd = ibv_alloc_pd(pair->context);
	ASSERT_NE(NULL, pd);
	ASSERT_NE(NULL, ibv_reg_mr(pd, rdmacg_text, sizeof(rdmacg_text), 0));
	pair->channel = ibv_create_comp_channel(pair->context);
	ASSERT_NE(NULL, pair->channel);
}

/* Start the removal of the second device, which is in use. Returns the process of the command. */
static pid_t rdmacg_start_removal(struct rdmacg_pair *pair)
{
	pid_t remover = rdmacg_fork();

	if (!remover) {
		/* Close the context in the child, which has inherited it. */
		close(pair->channel->fd);
		close(pair->context->cmd_fd);
		close(pair->context->async_fd);
		execlp("rdma", "rdma", "link", "del", RDMACG_SECOND, NULL);
		_exit(127);
	}
	/* Wait until the kernel has begun the removal. */
	usleep(500000);
	return remover;
}

/*
 * Remove the second device while it is in use. With some drivers, the command waits until the last
 * context is closed. So close the contexts while the command runs.
 */
static void rdmacg_remove_used(struct __test_metadata *_metadata,
			       struct rdmacg_pair *pair)
{
	pid_t remover = rdmacg_start_removal(pair);

	rdmacg_close(pair);
	ASSERT_EQ(0, rdmacg_wait(remover));
}

/* A limit of one device does not refuse objects on another device. */
TEST_F_TIMEOUT(test_rdmacg_device, limit_binds_its_device_alone, 120)
{
	struct rdmacg_tree *tree = &self->pair.tree, *second = &self->pair.second;
	struct ibv_context *context;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_handle=0 hca_object=0"));
	rdmacg_use_second(_metadata, &self->pair);
	EXPECT_EQ(NULL, rdmacg_open(tree));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, rdmacg_value(tree, tree->top, "rdma.events", "hca_handle.max"));
	EXPECT_EQ(0, rdmacg_value(second, tree->top, "rdma.events", "hca_handle.max"));

	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "max"));
	ASSERT_EQ(0, rdmacg_limit(second, tree->left, "hca_object=2"));
	EXPECT_EQ(NULL, ibv_alloc_pd(self->pair.context));
	EXPECT_EQ(EAGAIN, errno);
	context = rdmacg_open(tree);
	ASSERT_NE(NULL, context);
	EXPECT_NE(NULL, ibv_alloc_pd(context));
	EXPECT_EQ(0, ibv_close_device(context));
}

/* Removing a device removes its lines and limits. */
TEST_F_TIMEOUT(test_rdmacg_device, removed_device_has_no_lines, 120)
{
	struct rdmacg_tree *second = &self->pair.second;

	rdmacg_use_second(_metadata, &self->pair);
	rdmacg_remove_used(_metadata, &self->pair);
	EXPECT_EQ(-1, rdmacg_objects(second, second->left));
	EXPECT_EQ(-ENODEV, rdmacg_limit(second, second->left, "hca_object=3"));
}

/* A new device of the same name has no usage and no limits. */
TEST_F_TIMEOUT(test_rdmacg_device, name_again_is_a_new_device, 120)
{
	struct rdmacg_tree *second = &self->pair.second;

	rdmacg_use_second(_metadata, &self->pair);
	rdmacg_remove_used(_metadata, &self->pair);
	ASSERT_TRUE(rdmacg_add_device(variant->type));
	EXPECT_EQ(0, rdmacg_handles(second, second->left));
	EXPECT_EQ(0, rdmacg_objects(second, second->left));
	EXPECT_EQ(RDMACG_NO_LIMIT, rdmacg_value(second, second->left, "rdma.max", "hca_object"));
	EXPECT_TRUE(rdmacg_remove_device());
}

TEST_HARNESS_MAIN
