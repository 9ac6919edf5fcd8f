// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the owner of charges under the RDMA cgroup controller. Processes move, fork, exit, and
 * pass a context to others, and cgroups are removed. The tests need root and one RDMA device.
 */
#define _GNU_SOURCE
#include "rdma_fd_util.h"
#include "rdma_opened.h"

/* An object is uncharged in the cgroup that was charged, even if the process has moved. */
TEST_F(rdmacg_opened, destroyed_object_is_uncharged_from_its_payer)
{
	struct ibv_pd *pd;

	ASSERT_EQ(0, cg_enter_current(self->tree.right));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	self->pd = NULL;
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.left));
	EXPECT_EQ(1, rdmacg_objects(&self->tree, self->tree.right));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, rdmacg_objects(&self->tree, self->tree.right));
}

/* Close the context, which uncharges the cgroup that opened it. */
static int rdmacg_close(struct ibv_context **context)
{
	int ret = ibv_close_device(*context);

	*context = NULL;
	return ret;
}

/*
 * Returns the number of removed cgroups that still have references. On v1, returns the number of
 * all cgroups.
 */
static long rdmacg_dying(const struct rdmacg_tree *tree)
{
	char name[64];
	int hierarchy, count;
	long found = -1;
	FILE *file;

	if (tree->v2)
		return cg_read_key_long(tree->top, "cgroup.stat",
					"nr_dying_descendants ");
	file = fopen("/proc/cgroups", "r");
	while (file && fscanf(file, "%63s%*[ \t]%d%*[ \t]%d%*[^\n]\n", name,
			      &hierarchy, &count) > 0)
		if (!strcmp(name, "rdma"))
			found = count;
	if (file)
		fclose(file);
	return found;
}

/* A cgroup can be removed before its objects. The objects then stay charged to the ancestors. */
TEST_F(rdmacg_opened, removed_cgroup_pays_on_above)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=5"));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, rmdir(tree->left));
	EXPECT_EQ(1, rdmacg_handles(tree, tree->top));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->top));
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	self->pd = NULL;
	EXPECT_EQ(0, rdmacg_objects(tree, tree->top));
	EXPECT_EQ(0, rdmacg_close(&self->context));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->top));
}

/* A removed cgroup is freed when its last object is destroyed. */
TEST_F(rdmacg_opened, removed_cgroup_ends_with_its_last_object)
{
	struct rdmacg_tree *tree = &self->tree;
	/* On v1, rdmacg_dying() also counts "left", which the test removes. */
	long most = rdmacg_dying(tree) - !tree->v2;

	ASSERT_LE(0, most);
	ASSERT_EQ(0, rdmacg_limit(tree, tree->left, "hca_object=5"));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	ASSERT_EQ(0, rmdir(tree->left));
	EXPECT_EQ(0, ibv_dealloc_pd(self->pd));
	self->pd = NULL;
	EXPECT_EQ(0, rdmacg_close(&self->context));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_dying(tree) <= most))
		TH_LOG("%ld dying cgroups, wanted %ld", rdmacg_dying(tree), most);
}

/* A refused open does not keep a removed cgroup from being freed. */
TEST_F(rdmacg_opened, refused_open_holds_no_cgroup)
{
	long before = rdmacg_dying(&self->tree);
	char path[256];
	int i;

	ASSERT_LE(0, before);
	for (i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/refused%d", self->tree.top, i);
		ASSERT_EQ(0, cg_create(path));
		ASSERT_EQ(0, rdmacg_limit(&self->tree, path, "hca_handle=0"));
		EXPECT_EQ(EAGAIN, IN_CHILD({
			cg_enter_current(path);
			_exit(rdmacg_open(&self->tree) ? 0 : errno);
		}));
		ASSERT_EQ(0, rmdir(path));
	}
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_dying(&self->tree) <= before))
		TH_LOG("%ld dying cgroups, wanted %ld", rdmacg_dying(&self->tree), before);
}

/* An object that a child creates on its parent's context is destroyed with this context. */
TEST_F(rdmacg_opened, object_ends_with_its_context)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, IN_CHILD({
		cg_enter_current(tree->right);
		_exit(ibv_alloc_pd(self->context) ? 0 : errno);
	}));
	EXPECT_EQ(1, rdmacg_objects(tree, tree->right));
	ASSERT_EQ(0, ibv_dealloc_pd(self->pd));
	self->pd = NULL;
	EXPECT_EQ(0, rdmacg_close(&self->context));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->right));
}

/* Wait for a byte from the other end. Returns false if the other end is closed. */
static bool rdmacg_wait_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

/* Create a context, a PD and a CQ in "right", report that on @ready, and wait to be killed. */
static void rdmacg_hold(struct rdmacg_tree *tree, int ready)
{
	struct ibv_context *context;
	struct ibv_pd *pd;

	if (!rdmacg_enter_and_open(tree, tree->right, &context, &pd) ||
	    !ibv_create_cq(context, 1, NULL, NULL, 0))
		_exit(1);
	write(ready, "x", 1);
	pause();
	_exit(1);
}

/* A killed process returns all its charges. */
TEST_F(rdmacg_opened, killed_process_uncharges)
{
	struct rdmacg_tree *tree = &self->tree;
	int ready[2];
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	child = rdmacg_fork();
	if (!child)
		rdmacg_hold(tree, ready[1]);
	close(ready[1]);
	ASSERT_TRUE(rdmacg_wait_byte(ready[0]));
	EXPECT_EQ(1, rdmacg_handles(tree, tree->right));
	EXPECT_EQ(2, rdmacg_objects(tree, tree->right));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_handles(tree, tree->right) &&
				    !rdmacg_objects(tree, tree->right)));
}

/*
 * Receive a context from a process in "right". The process then ends. Returns the file descriptor.
 */
static int rdmacg_receive_context(struct __test_metadata *_metadata, struct rdmacg_tree *tree)
{
	int sockets[2], fd;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	child = rdmacg_fork();
	if (!child) {
		struct ibv_context *context;

		cg_enter_current(tree->right);
		context = rdmacg_open(tree);
		_exit(!context || rdmacg_send_fd(sockets[1], context->cmd_fd));
	}
	close(sockets[1]);
	fd = rdmacg_receive_fd(sockets[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rdmacg_wait(child));
	close(sockets[0]);
	return fd;
}

/*
 * Replace the test's own context by the received context. This closes the test's context, and the
 * kernel destroys its PD.
 */
static void rdmacg_replace_context(struct __test_metadata *_metadata,
				   struct ibv_context *context, struct ibv_pd **pd, int fd)
{
	ASSERT_EQ(context->cmd_fd, dup2(fd, context->cmd_fd));
	close(fd);
	free(*pd);
	*pd = NULL;
}

/* The cgroup that opened a context pays for it until the last process closes it. */
TEST_F(rdmacg_opened, opener_pays_for_a_passed_context)
{
	struct rdmacg_tree *tree = &self->tree;
	int fd = rdmacg_receive_context(_metadata, tree);

	EXPECT_EQ(1, rdmacg_handles(tree, tree->left));
	EXPECT_EQ(1, rdmacg_handles(tree, tree->right));
	rdmacg_replace_context(_metadata, self->context, &self->pd, fd);
	EXPECT_EQ(0, rdmacg_handles(tree, tree->left));
	EXPECT_EQ(1, rdmacg_handles(tree, tree->right));
	EXPECT_EQ(0, rdmacg_close(&self->context));
	EXPECT_EQ(0, rdmacg_handles(tree, tree->right));
}

/* The receiver of a context is charged for objects that it creates on the context. */
TEST_F(rdmacg_opened, receiver_pays_for_what_it_creates)
{
	struct rdmacg_tree *tree = &self->tree;
	int fd = rdmacg_receive_context(_metadata, tree);
	struct ibv_pd *pd;

	rdmacg_replace_context(_metadata, self->context, &self->pd, fd);
	EXPECT_EQ(0, rdmacg_objects(tree, tree->left));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(1, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->right));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->left));
}

TEST_HARNESS_MAIN
