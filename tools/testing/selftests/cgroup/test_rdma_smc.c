// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of links and buffers of SMC-R under the RDMA cgroup controller. Unprivileged processes
 * create the connections. SMC keeps links and buffers for ten minutes after the last connection. So
 * each test creates a device, and removes it to free them. The device is a Soft-RoCE device on the
 * loopback link, and both ends of a connection are on it. Each end has a PD and a QP, and an MR for
 * the received data of each connection. The tests need root, SMC as a module, another Soft-RoCE
 * device that has a MAC address, and ip and rdma of iproute2. The module of SMC stays loaded.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include <arpa/inet.h>

#include "rdma_actor_util.h"
#include "rdma_fault_util.h"
#include "rdma_smc_util.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

#define RDMACG_SMC_DEVICE "rxe_smc"
#define RDMACG_SMC_ADDRESS "198.51.100.1"
#define RDMACG_SMC_PORT 4711
#define RDMACG_MAX_SOCKETS 64

/*
 * SMC reports this reason, "no memory", for a connection that uses TCP. A refusal by a limit has
 * the same reason.
 */
#define RDMACG_SMC_REASON 0x01010000

/* The size of each end's buffer, unless a process sets another size. */
#define RDMACG_SMC_BUFFER 65536

/* The sockets of an actor. */
static struct {
	int listener;
	int nr_sockets;
	int sockets[RDMACG_MAX_SOCKETS];
} rdmacg_own;

enum rdmacg_verb {
	RDMACG_LISTEN,
	/* Create an AF_SMC socket, or an AF_INET socket, and connect it. */
	RDMACG_CONNECT,
	RDMACG_CONNECT_INET,
	/*
	 * Create a socket, and connect it with the next order. The argument is the size of the
	 * receive buffer, and 0 stands for the default.
	 */
	RDMACG_SOCKET,
	RDMACG_CONNECT_SOCKET,
	RDMACG_CONNECT_IN_CHILD,
	/* Accept a connection. RDMACG_TALK sends a byte from the first socket to the second. */
	RDMACG_ACCEPT,
	RDMACG_TALK,
	RDMACG_CLOSE_ALL,
};

static const struct sockaddr_in *rdmacg_smc_address(void)
{
	static struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_port = htons(RDMACG_SMC_PORT);
	inet_pton(AF_INET, RDMACG_SMC_ADDRESS, &address.sin_addr);
	return &address;
}

/* Returns 0 or a negative errno. */
static int rdmacg_keep_socket(int fd)
{
	if (fd < 0)
		return -errno;
	rdmacg_own.sockets[rdmacg_own.nr_sockets++] = fd;
	return 0;
}

static int rdmacg_connect_last(void)
{
	return connect(rdmacg_own.sockets[rdmacg_own.nr_sockets - 1],
		       (void *)rdmacg_smc_address(), sizeof(struct sockaddr_in)) ? -errno : 0;
}

static int rdmacg_make_socket(int family, int protocol, int bytes)
{
	int ret = rdmacg_keep_socket(socket(family, SOCK_STREAM, protocol));

	if (!ret && bytes &&
	    setsockopt(rdmacg_own.sockets[rdmacg_own.nr_sockets - 1], SOL_SOCKET, SO_RCVBUF,
		       &bytes, sizeof(bytes)))
		ret = -errno;
	return ret;
}

static int rdmacg_listen(void)
{
	int one = 1;

	rdmacg_own.listener = socket(AF_SMC, SOCK_STREAM, 0);
	if (rdmacg_own.listener < 0 ||
	    setsockopt(rdmacg_own.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(rdmacg_own.listener, (void *)rdmacg_smc_address(), sizeof(struct sockaddr_in)) ||
	    listen(rdmacg_own.listener, SOMAXCONN))
		return -errno;
	return 0;
}

/* Send a byte through the first two sockets, which are the ends of one connection. */
static int rdmacg_talk(void)
{
	char byte = 'x';

	if (send(rdmacg_own.sockets[0], &byte, 1, MSG_NOSIGNAL) != 1)
		return -errno;
	return read(rdmacg_own.sockets[1], &byte, 1) == 1 ? 0 : -EPIPE;
}

static int rdmacg_close_all(void)
{
	while (rdmacg_own.nr_sockets)
		close(rdmacg_own.sockets[--rdmacg_own.nr_sockets]);
	return 0;
}

static int rdmacg_act(int verb, int argument)
{
	int ret;

	switch (verb) {
	case RDMACG_LISTEN:
		return rdmacg_listen();
	case RDMACG_CONNECT:
		ret = rdmacg_make_socket(AF_SMC, 0, argument);
		return ret ?: rdmacg_connect_last();
	case RDMACG_CONNECT_INET:
		ret = rdmacg_make_socket(AF_INET, IPPROTO_SMC, argument);
		return ret ?: rdmacg_connect_last();
	case RDMACG_SOCKET:
		return rdmacg_make_socket(AF_SMC, 0, argument);
	case RDMACG_CONNECT_SOCKET:
		return rdmacg_connect_last();
	case RDMACG_CONNECT_IN_CHILD:
		return -IN_CHILD(_exit(-rdmacg_connect_last()));
	case RDMACG_ACCEPT:
		return rdmacg_keep_socket(accept(rdmacg_own.listener, NULL, NULL));
	case RDMACG_TALK:
		return rdmacg_talk();
	default:
		return rdmacg_close_all();
	}
}

FIXTURE(test_rdmacg_smc) {
	struct rdmacg_tree tree;
	/* The actor in "left", and an actor in "right" that only some tests start. */
	struct rdmacg_actor actor;
	struct rdmacg_actor other;
};

/* Remove the device of an earlier test that was killed. Returns whether there was a device. */
static bool rdmacg_remove_smc_device(void)
{
	bool removed = !system("rdma link del " RDMACG_SMC_DEVICE " 2>/dev/null");

	system("ip addr del " RDMACG_SMC_ADDRESS "/32 dev lo 2>/dev/null");
	return removed;
}

static bool rdmacg_add_smc_device(void)
{
	rdmacg_remove_smc_device();
	return !system("ip addr add " RDMACG_SMC_ADDRESS "/32 dev lo") &&
	       !system("rdma link add " RDMACG_SMC_DEVICE " type rxe netdev lo") &&
	       RDMACG_WAIT_FOR(rdmacg_smc_sees(RDMACG_SMC_DEVICE));
}

/* An actor is in "left" and listens. */
FIXTURE_SETUP(test_rdmacg_smc)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (!rdmacg_modprobe("-a smc smc_diag") || !rdmacg_add_eid() ||
	    !rdmacg_add_smc_device()) {
		rdmacg_remove_smc_device();
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "there is no SMC, or no second Soft-RoCE device can be made");
	}
	memcpy(self->tree.device, RDMACG_SMC_DEVICE, sizeof(RDMACG_SMC_DEVICE));
	ASSERT_TRUE(rdmacg_start_actor(&self->actor, self->tree.left, rdmacg_act));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_LISTEN, 0));
}

static bool rdmacg_uses(struct rdmacg_tree *tree, const char *cgroup, int links, int buffers,
			long long bytes)
{
	return rdmacg_verbs(tree, cgroup, "pd") == links &&
	       rdmacg_verbs(tree, cgroup, "qp") == links &&
	       rdmacg_verbs(tree, cgroup, "mr") == buffers &&
	       rdmacg_verbs(tree, cgroup, "mr_mem") == bytes;
}

/* Wait for these charges, because SMC creates and destroys links some time after the connection. */
static bool rdmacg_has(struct rdmacg_tree *tree, const char *cgroup, int links, int buffers)
{
	if (RDMACG_WAIT_FOR(rdmacg_uses(tree, cgroup, links, buffers,
					(long long)buffers * RDMACG_SMC_BUFFER)))
		return true;
	ksft_print_msg("wanted %d links, %d buffers in %s, got %s\n", links, buffers, cgroup,
		       rdmacg_read(cgroup, "rdma.verb.current"));
	return false;
}

static struct rdmacg_smc_sockets rdmacg_sockets(void)
{
	return rdmacg_smc_sockets(RDMACG_SMC_REASON);
}

/*
 * Set the port down, so that SMC frees links and buffers while the files still show the device.
 * After the device is removed, the charges could not be read.
 */
static bool rdmacg_gives_everything_back(struct rdmacg_tree *tree)
{
	bool down = !system("ip link set lo down");
	bool given_back = rdmacg_has(tree, tree->top, 0, 0);

	return !system("ip link set lo up") && down && given_back;
}

/*
 * Close the sockets, and remove the device with its groups. The module stays loaded for the next
 * test.
 */
FIXTURE_TEARDOWN(test_rdmacg_smc)
{
	rdmacg_end_actor(&self->actor);
	rdmacg_end_actor(&self->other);
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_sockets().smcr));
	EXPECT_TRUE(rdmacg_gives_everything_back(&self->tree));
	EXPECT_TRUE(rdmacg_remove_smc_device());
	rdmacg_tree_destroy(&self->tree);
}

/* Each end has one link, and one buffer for each connection. */
TEST_F_TIMEOUT(test_rdmacg_smc, both_ends_are_charged, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 2));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT_INET, 0));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 6));
	EXPECT_EQ(0, rdmacg_objects(tree, tree->left));
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "cq"));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_sockets().smcr == 6));
}

/* A connection without room for a buffer uses TCP, and reports the reason. */
TEST_F_TIMEOUT(test_rdmacg_smc, connection_without_a_buffer_is_tcp, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_ACCEPT, 0));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_TALK, 0));
	EXPECT_EQ(1, rdmacg_sockets().fallbacks);
	EXPECT_EQ(0, rdmacg_sockets().smcr);
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr_mem"));
}

TEST_F_TIMEOUT(test_rdmacg_smc, connection_without_a_link_is_tcp, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "qp", 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_ACCEPT, 0));
	EXPECT_EQ(0, rdmacg_tell(&self->actor, RDMACG_TALK, 0));
	EXPECT_EQ(1, rdmacg_sockets().fallbacks);
	EXPECT_EQ(0, rdmacg_sockets().smcr);
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "pd"));
	EXPECT_EQ(0, rdmacg_value(tree, tree->left, "rdma.verb.peak", "qp"));
}

/* The connecting process is charged for its end, and the listener for the other end. */
TEST_F_TIMEOUT(test_rdmacg_smc, each_end_is_charged_to_its_process, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_EQ(0, rdmacg_tell(&self->other, RDMACG_CONNECT, 0));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 1, 1));
	EXPECT_TRUE(rdmacg_has(tree, tree->right, 1, 1));
}

/* A refusal at the listener's end is reported to the other end. */
TEST_F_TIMEOUT(test_rdmacg_smc, peer_hears_of_a_refusal, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 0));
	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_EQ(0, rdmacg_tell(&self->other, RDMACG_CONNECT, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_sockets().fallbacks == 1));
	EXPECT_EQ(1, rdmacg_sockets().peer_fallbacks);
	EXPECT_TRUE(rdmacg_has(tree, tree->right, 0, 0));
}

/* The cgroup that created a socket is charged, even if the creator moves or a child connects. */
TEST_F_TIMEOUT(test_rdmacg_smc, maker_of_a_socket_pays, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SOCKET, 0));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT_SOCKET, 0));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 2));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_SOCKET, 0));
	ASSERT_EQ(0, cg_enter(tree->left, self->actor.pid));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT_IN_CHILD, 0));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 3));
	EXPECT_TRUE(rdmacg_has(tree, tree->right, 0, 1));
}

/* Let the actor connect, and close both sockets, so that each end has an idle buffer. */
static bool rdmacg_leave_idle_buffers(struct rdmacg_tree *tree, struct rdmacg_actor *actor)
{
	return !rdmacg_tell(actor, RDMACG_CONNECT, 0) && !rdmacg_tell(actor, RDMACG_ACCEPT, 0) &&
	       !rdmacg_tell(actor, RDMACG_CLOSE_ALL, 0) && rdmacg_has(tree, tree->left, 2, 2) &&
	       RDMACG_WAIT_FOR(!rdmacg_sockets().smcr);
}

/*
 * Close all sockets of both actors, and connect one actor to the other. A test that needs an idle
 * buffer repeats this call, because a buffer becomes idle long after its socket is closed. The
 * listener accepts the connection. Otherwise the connection would keep its buffer.
 */
static bool rdmacg_connect_anew(struct rdmacg_actor *listener, struct rdmacg_actor *actor,
				int buffer)
{
	return !rdmacg_tell(actor, RDMACG_CLOSE_ALL, 0) &&
	       !rdmacg_tell(listener, RDMACG_CLOSE_ALL, 0) &&
	       !rdmacg_tell(actor, RDMACG_CONNECT, buffer) &&
	       !rdmacg_tell(listener, RDMACG_ACCEPT, 0);
}

/*
 * Leave idle buffers, and connect again without room for new ones. Returns whether the connection
 * uses idle buffers, all of which stay charged. A connection that comes before its buffer is idle
 * is refused, and leaves a buffer without an MR. The next one may try that buffer first, and SMC
 * frees an idle buffer in vain. So each call first connects without a limit, which gives such a
 * buffer an MR.
 */
static bool rdmacg_uses_idle_buffers(struct rdmacg_tree *tree, struct rdmacg_actor *actor)
{
	long long buffers;

	if (rdmacg_limit_in(tree, tree->left, "rdma.verb.max", "mr=max") ||
	    !rdmacg_connect_anew(actor, actor, 0))
		return false;
	buffers = rdmacg_verbs(tree, tree->left, "mr");
	return buffers >= 2 && !rdmacg_limit_verb(tree, tree->left, "mr", 0) &&
	       rdmacg_connect_anew(actor, actor, 0) && !rdmacg_sockets().fallbacks &&
	       rdmacg_sockets().smcr == 2 && rdmacg_verbs(tree, tree->left, "mr") == buffers;
}

/*
 * Idle buffers stay charged to their last user. This user can use them again, even if there is no
 * room for new buffers.
 */
TEST_F_TIMEOUT(test_rdmacg_smc, idle_buffer_is_used_again, 300)
{
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_uses_idle_buffers(&self->tree, &self->actor)));
}

/* SMC frees idle buffers if a larger buffer would exceed the limit. */
TEST_F_TIMEOUT(test_rdmacg_smc, idle_buffers_make_room, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_leave_idle_buffers(tree, &self->actor));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 2));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_connect_anew(&self->actor, &self->actor,
							2 * RDMACG_SMC_BUFFER) &&
				    rdmacg_sockets().smcr == 2));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_uses(tree, tree->left, 2, 2, 3 * RDMACG_SMC_BUFFER)));
}

/*
 * SMC maps the listener's buffer once more when it adds a second link. This charge exceeds the
 * limit, and counts as an event. The other end cannot add a link on this device, so SMC removes the
 * second link.
 */
TEST_F_TIMEOUT(test_rdmacg_smc, second_link_has_the_buffers_in_use, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr", 2));
	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_value(tree, tree->left, "rdma.verb.peak", "mr") == 3));
	EXPECT_EQ(1, rdmacg_value(tree, tree->left, "rdma.verb.events.local", "mr.max"));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 2));
	EXPECT_EQ(0, rdmacg_sockets().fallbacks);
}

/* The process that takes over an idle buffer is charged, and the previous user is uncharged. */
TEST_F_TIMEOUT(test_rdmacg_smc, buffer_in_other_hands_changes_its_payer, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_leave_idle_buffers(tree, &self->actor));
	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	/* The limit leaves no room for another buffer, so SMC must use the idle buffer. */
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->top, "mr", 2));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_connect_anew(&self->actor, &self->other, 0) &&
				    rdmacg_sockets().smcr == 2));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 1));
	EXPECT_TRUE(rdmacg_has(tree, tree->right, 0, 1));
}

/* SMC frees an idle buffer if the process that takes it over has no room for it. */
TEST_F_TIMEOUT(test_rdmacg_smc, refused_user_of_an_idle_buffer_pays_nothing, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_TRUE(rdmacg_leave_idle_buffers(tree, &self->actor));
	ASSERT_TRUE(rdmacg_start_actor(&self->other, tree->right, rdmacg_act));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->right, "mr", 0));
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_connect_anew(&self->actor, &self->other, 0) &&
				    rdmacg_uses(tree, tree->left, 2, 1, RDMACG_SMC_BUFFER)));
	EXPECT_EQ(1, rdmacg_sockets().fallbacks);
	EXPECT_TRUE(rdmacg_has(tree, tree->right, 0, 0));
	/* The buffers, which remain in the group, do not keep the cgroup. */
	rdmacg_end_actor(&self->other);
	ASSERT_EQ(0, rmdir(tree->right));
	EXPECT_TRUE(RDMACG_WAIT_FOR(!rdmacg_has_dying(tree)));
}

/* A cgroup with charges can be removed, and the charges remain in its ancestors. */
TEST_F_TIMEOUT(test_rdmacg_smc, removed_cgroup_pays_on_above, 300)
{
	struct rdmacg_tree *tree = &self->tree;

	ASSERT_EQ(0, rdmacg_tell(&self->actor, RDMACG_CONNECT, 0));
	ASSERT_EQ(0, cg_enter(tree->right, self->actor.pid));
	EXPECT_TRUE(rdmacg_has(tree, tree->left, 2, 2));
	ASSERT_EQ(0, rmdir(tree->left));
	EXPECT_TRUE(rdmacg_has(tree, tree->top, 2, 2));
}

/*
 * Connect many times, and let one allocation fail each time: the 1st, the 2nd, and so on. SMC uses
 * TCP after a failure. Returns the number of failures.
 */
static int rdmacg_sweep_connections(void)
{
	bool injected = true;
	int nth, failed = 0;

	/* A failed page fault would end the test with SIGSEGV. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 0;
	for (nth = 1; injected && nth < RDMACG_MAX_SOCKETS; nth++) {
		if (rdmacg_make_socket(AF_SMC, 0, 0) || rdmacg_fail_nth(nth))
			return 0;
		rdmacg_connect_last();
		injected = rdmacg_end_fail_nth();
		failed += injected;
	}
	return failed;
}

/* In this test, a child with privileges connects, because only root may let allocations fail. */
TEST_F_TIMEOUT(test_rdmacg_smc, connections_without_memory_leave_nothing, 300)
{
	struct rdmacg_tree *tree = &self->tree;
	struct rdmacg_failslab failslab = { };
	const char *missing;

	missing = rdmacg_failslab_begin(&failslab);
	if (missing)
		SKIP(return, "%s", missing);
	EXPECT_EQ(0, IN_CHILD({
		if (cg_enter_current(tree->right) || !rdmacg_sweep_connections())
			_exit(1);
	}));
	rdmacg_failslab_end(&failslab);
	EXPECT_LT(0, rdmacg_value(tree, tree->right, "rdma.verb.peak", "mr"));
	rdmacg_end_actor(&self->actor);
	EXPECT_TRUE(RDMACG_WAIT_FOR(rdmacg_modprobe("-r smc_diag smc")));
	EXPECT_TRUE(rdmacg_has(tree, tree->top, 0, 0));
}

TEST_HARNESS_MAIN
