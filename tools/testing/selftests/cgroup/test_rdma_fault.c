// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of failing allocations in the RDMA cgroup controller and in the code
 * that calls it. Such a failure must leave no charge, and must not change a
 * limit. The tests let each allocation fail in turn, or all after a certain
 * number of bytes. They create cgroups, limits, commands, devices, contexts,
 * members of multicast groups and ids of the connection manager.
 * test_rdma_objects.c tests uverbs objects. The tests need root, a device of
 * Soft-RoCE or Soft-iWARP with an IPv4 address, and the kernel's failslab.
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
	struct rdmacg_failslab failslab;
	char child[256];
	/* The attempts use these objects, which are charged to the cgroup "left". */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct sockaddr_in address;
	/* The objects that an attempt creates. */
	struct ibv_context *opened;
	struct rdma_cm_id *id;
	int file, async_fd;
};

/*
 * A step is an action whose allocations fail in act(). If act() succeeds, undo() follows. Both
 * functions return 0 or an errno.
 */
struct rdmacg_step {
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

static const struct rdmacg_step cgroup_step = {
	.act = make_cgroup, .undo = remove_cgroup,
};

/* Set the first limit in a cgroup without pools. */
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

static const struct rdmacg_step limit_step = {
	.act = set_limit, .undo = remove_limit,
};

static int set_control_limit(void *what)
{
	struct rdmacg_env *env = what;

	return -rdmacg_limit_in(&env->tree, env->tree.right, "rdma.control.max", "ops=5");
}

static int remove_control_limit(void *what)
{
	struct rdmacg_env *env = what;

	return -rdmacg_limit_in(&env->tree, env->tree.right, "rdma.control.max", "max");
}

static const struct rdmacg_step control_limit_step = {
	.act = set_control_limit, .undo = remove_control_limit,
};

/*
 * Set a limit of one place in flight. If a command kept its place after its end, all later commands
 * would wait for ever.
 */
static int limit_commands(struct rdmacg_env *env)
{
	return rdmacg_limit_in(&env->tree, env->tree.top, "rdma.control.max", "inflight=1") ?:
	       make_cgroup(env);
}

static int enter(const char *cgroup)
{
	int tries = 3, ret;

	/* Repeat the move to the cgroup, because it may fail if there is no memory. */
	do {
		ret = cg_enter_current(cgroup);
	} while (ret && --tries);
	return ret;
}

/* Allocate and free a PD. The first command from a cgroup also allocates the cgroup's control. */
static int run_command(void *what)
{
	struct rdmacg_env *env = what;
	struct ibv_pd *pd = NULL;
	int error = 0;

	if (!enter(env->child))
		pd = ibv_alloc_pd(env->context);
	if (!pd || ibv_dealloc_pd(pd))
		error = errno ?: EIO;
	return enter(env->tree.right) ? -1 : error;
}

/* Remove the cgroup, because its control is freed with it. */
static int forget_command(void *what)
{
	return remove_cgroup(what) ?: make_cgroup(what);
}

static const struct rdmacg_step command_step = {
	.act = run_command, .undo = forget_command,
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

static const struct rdmacg_step context_step = {
	.act = open_context, .undo = close_context,
};

/* Create a context in the open file. This call is charged, not open(). */
static int get_context(void *what)
{
	struct rdmacg_env *env = what;

	return rdmacg_get_context(env->file, &env->async_fd);
}

/*
 * Close the context, and open another file for the next attempt, because a file cannot get a second
 * context.
 */
static int put_context(void *what)
{
	struct rdmacg_env *env = what;

	if (close(env->async_fd) || close(env->file))
		return errno;
	env->file = rdmacg_open_file(&env->tree);
	return env->file < 0 ? ENODEV : 0;
}

static const struct rdmacg_step get_context_step = {
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

static const struct rdmacg_step multicast_step = {
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

static const struct rdmacg_step cm_id_step = {
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
 * Register a device without the command rdma, because most failing allocations would be in the
 * start of this command. The request does not ask for an acknowledgment. If the kernel could not
 * allocate an acknowledgment, success would look like an error.
 */
static int add_device(void *what)
{
	struct rdmacg_env *env = what;
	struct rdmacg_message message = {
		.header = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST,
		},
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = { };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_DEV_NAME, RDMACG_SECOND);
	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_LINK_TYPE, env->tree.type);
	rdmacg_add_string(&message, RDMA_NLDEV_ATTR_NDEV_NAME, RDMACG_LINK);
	if (fd < 0 || send(fd, &message, message.header.nlmsg_len, 0) < 0 ||
	    (recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) < 0 && errno != EAGAIN))
		answer.error.error = -errno;
	close(fd);
	return -answer.error.error;
}

static int remove_device(void *what)
{
	return rdmacg_remove_device() ? 0 : ENODEV;
}

static const struct rdmacg_step device_step = {
	.act = add_device, .undo = remove_device,
};

/*
 * Create a context and a QP in "left", and find the device's address, to which an id is bound.
 * After a failure, set errno and return false.
 */
static bool rdmacg_make_needs(struct rdmacg_env *env, const struct rdmacg_step *step)
{
	if (!rdmacg_enter_and_open(&env->tree, env->tree.left, &env->context, &env->pd))
		return false;
	env->address.sin_family = AF_INET;
	env->address.sin_addr.s_addr = rdmacg_find_address(env->context);
	env->cq = ibv_create_cq(env->context, 1, NULL, NULL, 0);
	if (env->cq)
		env->qp = rdmacg_create_qp(env->pd, env->cq, step == &multicast_step ?
					   IBV_QPT_UD : IBV_QPT_RC);
	return env->qp && env->address.sin_addr.s_addr;
}

static bool rdmacg_open_needs(struct rdmacg_env *env)
{
	env->file = rdmacg_open_file(&env->tree);
	return env->file >= 0;
}

static void rdmacg_env_destroy(struct rdmacg_env *env)
{
	rdmacg_failslab_end(&env->failslab);
	rmdir(env->child);
	if (env->qp)
		ibv_destroy_qp(env->qp);
	if (env->cq)
		ibv_destroy_cq(env->cq);
	if (env->pd)
		ibv_dealloc_pd(env->pd);
	if (env->context)
		ibv_close_device(env->context);
	rdmacg_tree_destroy(&env->tree);
}

/*
 * Move to "right", and create the objects that @step needs. Soft-RoCE makes some allocations only
 * for the first context of a device. So that these can fail too, a step that creates a context
 * begins on a device that has none. Returns NULL, or the name of the step that failed.
 */
static const char *rdmacg_prepare(struct rdmacg_env *env, const struct rdmacg_step *step)
{
	snprintf(env->child, sizeof(env->child), "%s/child", env->tree.top);
	if (!rdmacg_add_link())
		return "the link";
	if (!(step == &get_context_step ? rdmacg_open_needs(env) : rdmacg_make_needs(env, step)))
		return "what the step needs";
	if (cg_enter_current(env->tree.right))
		return "the move to right";
	if (step == &command_step && limit_commands(env))
		return "the limit on commands";
	/*
	 * Run the step once without failing allocations. Otherwise page faults of its first run
	 * would use up the failures.
	 */
	if (step->act(env) || step->undo(env))
		return "the step without a fault";
	return NULL;
}

static bool rdmacg_counts_groups(struct rdmacg_env *env)
{
	return rdmacg_value(&env->tree, env->tree.left, "rdma.verb.max", "mcast") >= 0;
}

/* Prepare a step. Clean up after a failure, because the harness then calls no teardown. */
static void rdmacg_setup(struct __test_metadata *_metadata, struct rdmacg_env *env,
			 const struct rdmacg_step *step)
{
	const char *missing = rdmacg_tree_create(&env->tree), *failed;

	if (missing)
		SKIP(return, "%s", missing);
	missing = rdmacg_failslab_begin(&env->failslab);
	if (!missing && step == &multicast_step && !rdmacg_counts_groups(env))
		missing = "the device does not count multicast groups";
	if (missing) {
		rdmacg_failslab_end(&env->failslab);
		rdmacg_tree_destroy(&env->tree);
		SKIP(return, "%s", missing);
	}
	failed = rdmacg_prepare(env, step);
	if (failed) {
		TH_LOG("%s: %m", failed);
		rdmacg_env_destroy(env);
		rdmacg_remove_link();
	}
	ASSERT_EQ(NULL, failed);
}

static void rdmacg_teardown(struct __test_metadata *_metadata, struct rdmacg_env *env)
{
	rdmacg_failslab_end(&env->failslab);
	EXPECT_EQ(0, rdmacg_objects(&env->tree, env->tree.right));
	rdmacg_env_destroy(env);
	EXPECT_TRUE(rdmacg_remove_link());
}

FIXTURE(test_rdmacg_fault) {
	struct rdmacg_env env;
};

FIXTURE_VARIANT(test_rdmacg_fault) {
	const struct rdmacg_step *step;
	/*
	 * True if the step is little more than a system call. Libraries crash without any memory.
	 */
	bool is_small;
};

FIXTURE_VARIANT_ADD(test_rdmacg_fault, cgroup) { .step = &cgroup_step, .is_small = true };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, limit) { .step = &limit_step, .is_small = true };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, control_limit) { .step = &control_limit_step };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, command) { .step = &command_step };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, context) { .step = &context_step };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, get_context) {
	.step = &get_context_step, .is_small = true,
};

FIXTURE_VARIANT_ADD(test_rdmacg_fault, multicast) { .step = &multicast_step, .is_small = true };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, cm_id) { .step = &cm_id_step };

FIXTURE_VARIANT_ADD(test_rdmacg_fault, device) { .step = &device_step };

FIXTURE_SETUP(test_rdmacg_fault)
{
	rdmacg_setup(_metadata, &self->env, variant->step);
}

FIXTURE_TEARDOWN(test_rdmacg_fault)
{
	rdmacg_teardown(_metadata, &self->env);
}

/*
 * Nothing remains of a step if any single allocation fails, or if all allocations fail after a
 * certain number of bytes.
 */
TEST_F_TIMEOUT(test_rdmacg_fault, failed_allocations_leave_no_charge, 600)
{
	EXPECT_LT(0, rdmacg_sweep(self->env.tree.right, variant->step->act, variant->step->undo,
				  &self->env));
	if (variant->is_small)
		EXPECT_LT(0, rdmacg_exhaust(self->env.tree.right, variant->step->act,
					    variant->step->undo, &self->env));
}

TEST_HARNESS_MAIN
