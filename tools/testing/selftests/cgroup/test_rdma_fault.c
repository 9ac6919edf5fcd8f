// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA cgroup controller and its hooks with memory failing, at each allocation in
 * turn and at random: cgroups, limits, devices, contexts, multicast groups and ids of the
 * connection manager. (The making of uverbs objects is in test_rdma_objects.) Nothing
 * stays charged, and no limit changes. Needs root, a soft-RoCE device with an IPv4
 * address, and the kernel's failslab.
 */
#define _GNU_SOURCE
#include <linux/netlink.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "../kselftest_harness.h"
#include "rdma_fault_util.h"
#include "rdma_verbs_util.h"

struct rdmacg_env {
	struct rdmacg_tree tree;
	char child[256];
	struct ibv_context *context;
	struct ibv_qp *qp;
	struct rdma_cm_id *id;
	struct ibv_context *opened;
	struct sockaddr_in address;
	int file, async_fd;
};

FIXTURE(test_rdmacg_fault) {
	struct rdmacg_env env;
};

/*
 * What is done, and undone; 0 or an errno. How many allocations it takes, about, and
 * whether it is hardly more than a call into the kernel.
 */
FIXTURE_VARIANT(test_rdmacg_fault) {
	int allocations;
	bool is_call;
	int (*act)(void *what);
	int (*undo)(void *what);
};

static int make_cgroup(void *what)
{
	struct rdmacg_env *env = what;

	return mkdir(env->child, 0755) ? errno : 0;
}

static int remove_cgroup(void *what)
{
	struct rdmacg_env *env = what;

	return rmdir(env->child) ? errno : 0;
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, cgroup) {
	.allocations = 100, .is_call = true,
	.act = make_cgroup, .undo = remove_cgroup,
};

/* The first limit in a cgroup without pools. */
static int set_limit(void *what)
{
	struct rdmacg_env *env = what;

	return -rdmacg_limit(&env->tree, env->tree.right, "hca_object=5");
}

static int remove_limit(void *what)
{
	struct rdmacg_env *env = what;

	return -rdmacg_limit(&env->tree, env->tree.right, "max");
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, limit) {
	.allocations = 10, .is_call = true,
	.act = set_limit, .undo = remove_limit,
};

static int open_context(void *what)
{
	struct rdmacg_env *env = what;

	env->opened = rdmacg_open(&env->tree);
	return env->opened ? 0 : errno;
}

static int close_context(void *what)
{
	struct rdmacg_env *env = what;

	return ibv_close_device(env->opened);
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, context) {
	.allocations = 50,
	.act = open_context, .undo = close_context,
};

/* Do the part of opening a device that is charged: the first call after open(). */
static int get_context(void *what)
{
	struct rdmacg_env *env = what;

	return rdmacg_get_context(env->file, &env->async_fd);
}

/* A file has one context in its life, so the next attempt has another file. */
static int put_context(void *what)
{
	struct rdmacg_env *env = what;

	if (close(env->async_fd) || close(env->file))
		return errno;
	env->file = rdmacg_open_file(&env->tree);
	return env->file < 0 ? ENODEV : 0;
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, get_context) {
	.allocations = 10, .is_call = true,
	.act = get_context, .undo = put_context,
};

static int attach(void *what)
{
	struct rdmacg_env *env = what;

	return rdmacg_attach(env->qp, 1);
}

static int detach(void *what)
{
	struct rdmacg_env *env = what;

	return rdmacg_detach(env->qp, 1);
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, multicast) {
	.allocations = 6, .is_call = true,
	.act = attach, .undo = detach,
};

static int bind_id(void *what)
{
	struct rdmacg_env *env = what;
	int error;

	if (rdma_create_id(NULL, &env->id, NULL, RDMA_PS_TCP))
		return errno;
	if (!rdma_bind_addr(env->id, (struct sockaddr *)&env->address))
		return 0;
	error = errno;
	rdma_destroy_id(env->id);
	return error;
}

static int destroy_id(void *what)
{
	struct rdmacg_env *env = what;

	return rdma_destroy_id(env->id) ? errno : 0;
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, cm_id) {
	.allocations = 50,
	.act = bind_id, .undo = destroy_id,
};

struct rdmacg_message {
	struct nlmsghdr header;
	char attributes[256];
};

static void rdmacg_add_string(struct rdmacg_message *message, int type, const char *text)
{
	struct nlattr *attr = (void *)message + NLMSG_ALIGN(message->header.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + strlen(text) + 1;
	memcpy((char *)attr + NLA_HDRLEN, text, strlen(text) + 1);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) + attr->nla_len;
}

/*
 * "rdma link add rxe_gone type rxe netdev rdmacg1", as a call: in a program of its own,
 * most of the failing allocations would be those of its start.
 */
static int add_device(void *what)
{
	struct rdmacg_message message = {
		.header = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = { .error.error = -EIO };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_DEV_NAME, "rxe_gone");
	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_NDEV_NAME, "rdmacg1");
	if (fd < 0 || send(fd, &message, message.header.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) < 0)
		answer.error.error = -errno;
	close(fd);
	return -answer.error.error;
}

static int remove_device(void *what)
{
	return system("rdma link del rxe_gone");
}

FIXTURE_VARIANT_ADD(test_rdmacg_fault, device) {
	.allocations = 8000,
	.act = add_device, .undo = remove_device,
};

FIXTURE_SETUP(test_rdmacg_fault)
{
	struct rdmacg_env *env = &self->env;
	const char *missing = rdmacg_tree_create(&env->tree);
	struct ibv_cq *cq;
	struct ibv_pd *pd;

	if (missing)
		SKIP(return, "%s", missing);
	if (rdmacg_failslab("N"))
		SKIP(return, "the kernel has no CONFIG_FAILSLAB with debugfs");
	snprintf(env->child, sizeof(env->child), "%s/child", env->tree.top);
	system("rdma link del rxe_gone 2>/dev/null; ip link del rdmacg1 2>/dev/null");
	ASSERT_EQ(0, system("ip link add rdmacg1 type dummy && ip link set rdmacg1 up"));

	/*
	 * What the attempts need besides, left pays for. Of contexts, Soft-RoCE allocates
	 * something for the first alone, so where that is to fail there is no other.
	 */
	if (variant->act == get_context) {
		env->file = rdmacg_open_file(&env->tree);
		ASSERT_LE(0, env->file);
	} else {
		ASSERT_TRUE(rdmacg_enter_and_open(&env->tree, env->tree.left, &env->context, &pd));
		env->address.sin_family = AF_INET;
		env->address.sin_addr.s_addr = rdmacg_find_address(env->context);
		ASSERT_NE(0, env->address.sin_addr.s_addr);
		ASSERT_NE(NULL, cq = ibv_create_cq(env->context, 1, NULL, NULL, 0));
		ASSERT_NE(NULL, env->qp = rdmacg_create_qp(pd, cq, IBV_QPT_UD));
	}
	ASSERT_EQ(0, cg_enter_current(env->tree.right));
	/* Once without a fault, or page faults of ours take those that are to come. */
	ASSERT_EQ(0, variant->act(env)) TH_LOG("%m");
	ASSERT_EQ(0, variant->undo(env));
}

FIXTURE_TEARDOWN(test_rdmacg_fault)
{
	struct rdmacg_env *env = &self->env;

	rdmacg_failslab("Y");
	if (env->qp)
		ibv_destroy_qp(env->qp);
	EXPECT_EQ(0, rdmacg_objects(&env->tree, env->tree.right));
	EXPECT_EQ(0, system("ip link del rdmacg1"));
	rdmacg_tree_destroy(&env->tree);
}

/* Each allocation in turn, and all of them from one on. Libraries do not survive the latter. */
TEST_F_TIMEOUT(test_rdmacg_fault, each_allocation, 300)
{
	EXPECT_LT(0, rdmacg_sweep(self->env.tree.right, variant->act, variant->undo, &self->env));
	if (variant->is_call)
		EXPECT_LT(0, rdmacg_exhaust(self->env.tree.right, variant->act, variant->undo,
					    &self->env));
}

/*
 * About one allocation of each attempt, so that some attempts fail and some do not. On a
 * kernel with checkers a device takes seconds.
 */
TEST_F_TIMEOUT(test_rdmacg_fault, random_allocations, 300)
{
	char before[4096], after[4096], interval[16];
	time_t end = time(NULL) + 20;
	int fd = rdmacg_open_make_it_fail();
	int i, ret, failed = 0;

	ASSERT_TRUE(rdmacg_state(self->env.tree.top, before, sizeof(before)));
	snprintf(interval, sizeof(interval), "%d", variant->allocations / 2);
	ASSERT_EQ(0, rdmacg_write(FAILSLAB "task-filter", "Y"));
	ASSERT_EQ(0, rdmacg_write(FAILSLAB "times", "-1"));
	ASSERT_EQ(0, rdmacg_write(FAILSLAB "interval", interval));
	ASSERT_EQ(0, rdmacg_write(FAILSLAB "probability", "50"));
	for (i = 0; i < 100 && (i < 20 || time(NULL) < end); i++) {
		ASSERT_EQ(1, write(fd, "1", 1));
		ret = variant->act(&self->env);
		ASSERT_EQ(1, write(fd, "0", 1));
		if (ret)
			failed++;
		else
			EXPECT_EQ(0, variant->undo(&self->env));
	}
	close(fd);
	rdmacg_write(FAILSLAB "probability", "0");
	ASSERT_TRUE(rdmacg_state(self->env.tree.top, after, sizeof(after)));
	EXPECT_STREQ(before, after);
	EXPECT_LT(0, failed);
	EXPECT_GT(i, failed);
}

TEST_HARNESS_MAIN
