// SPDX-License-Identifier: GPL-2.0
/*
 * Hammer: the victim below the same top-level cgroup as the attackers, and the attackers that
 * aim at it. Victim and attackers share the domain of the device, and its gate.
 *
 * For charges the control is a sibling that does the same work as the victim. For commands the
 * control is a victim alone below the limit.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <rdma/ib_user_verbs.h>

#include "hammer.h"

#define HOME_LIMITS	HAMMER_HOME "/rdma.control.max"
#define WAITERS		250	/* threads of each of HAMMER_FEW processes */

static struct ibv_context *context;
/* A context that a process of the leaf cannot open itself. */
static struct ibv_context *given;

static void open_context(void)
{
	context = ibv_open_device(hammer_device);
	if (!context)
		hammer_fail("open: wanted " HAMMER_DEVICE ", got %m");
}

static void make_pair(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);

	if (!pd || ibv_dealloc_pd(pd))
		hammer_fail("pair: wanted a PD made and freed, got %m");
}

/* The victim. */
void hammer_measure_sibling(const struct hammer_kind *kind, unsigned int ms)
{
	unsigned long long begin, now, end;

	open_context();
	make_pair();
	now = hammer_now();
	end = now + ms * 1000000ULL;
	do {
		begin = now;
		make_pair();
		now = hammer_now();
	} while (hammer_sample(HAMMER_PAIR, now - begin) && now < end);
	if (hammer_shared->failed)
		hammer_fail("%s: %s", kind->name, hammer_shared->reason);
	ibv_close_device(context);
}

static void act_pairs(unsigned int number)
{
	if (!context)
		open_context();
	make_pair();
}

static void act_refused(unsigned int number)
{
	errno = 0;
	if (ibv_alloc_pd(given) || errno != EAGAIN)
		hammer_fail("PD: wanted EAGAIN, got %s", strerrorname_np(errno));
}

static void act_pools(unsigned int number)
{
	hammer_write_leaf(HAMMER_DEVICE " hca_object=5");
	hammer_write_leaf(HAMMER_DEVICE " max");
}

/* Destroy a PD that does not exist. */
static void act_bogus(unsigned int number)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_dealloc_pd command;
	} request = {
		.header = {
			.command = IB_USER_VERBS_CMD_DEALLOC_PD,
			.in_words = sizeof(request) / 4,
		},
		.command.pd_handle = 0x7ffffff,
	};

	if (!context)
		open_context();
	if (write(context->cmd_fd, &request, sizeof(request)) > 0)
		hammer_fail("bogus PD: wanted an error, got none");
}

/* Held until all threads exist, because running threads would starve their creator. */
static pthread_mutex_t start = PTHREAD_MUTEX_INITIALIZER;

static void *make_pairs(void *unused)
{
	pthread_mutex_lock(&start);
	pthread_mutex_unlock(&start);
	while (1)
		make_pair();
	return NULL;
}

static void start_waiters(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;

	open_context();
	pthread_mutex_lock(&start);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (i = 0; i < WAITERS; i++)
		if (pthread_create(&thread, &attr, make_pairs, NULL))
			hammer_fail("waiter %u: wanted a thread, got none", i);
}

static bool all_are_there(void)
{
	unsigned int i;

	for (i = 0; i <= HAMMER_FEW; i++)
		if (!hammer_shared->blows[i])
			return false;
	return true;
}

/* Process 0 sets and removes the limit; the other processes wait for it. */
static void act_waiters(unsigned int number)
{
	static unsigned int calls;

	calls++;
	if (!number && calls > 1) {
		hammer_write(AT_FDCWD, HOME_LIMITS, HAMMER_DEVICE " ops=1 burst=1 inflight=1");
		hammer_write(AT_FDCWD, HOME_LIMITS,
			     HAMMER_DEVICE " ops=max burst=max inflight=1000");
	} else if (number && calls == 1) {
		start_waiters();
	} else if (calls == 2) {
		while (!all_are_there())
			hammer_sleep_ms(10);
		pthread_mutex_unlock(&start);
	} else {
		hammer_sleep_ms(100);
	}
}

/* The context is opened before the limit is set, for kinds that the limit would refuse. */
static void refuse_in(const char *file)
{
	given = ibv_open_device(hammer_device);
	if (!given)
		hammer_fail("open: wanted " HAMMER_DEVICE ", got %m");
	hammer_write(AT_FDCWD, file, HAMMER_DEVICE " hca_object=0");
}

static void refuse_home(void)
{
	refuse_in(HAMMER_HOME "/rdma.max");
}

static void refuse_chain(void)
{
	hammer_make_chain();
	refuse_in(HAMMER_CHAIN "/rdma.max");
}

static void limit_home(void)
{
	hammer_write(AT_FDCWD, HOME_LIMITS, HAMMER_DEVICE " ops=1 burst=20");
}

#define GATE_WIDE	HAMMER_DEVICE " ops=1000000"
#define GATE_NARROW	HAMMER_DEVICE " ops=2000 burst=100"
#define SIBLING		.has_sibling = true

const struct hammer_kind hammer_sibling_kinds[] = {
	{ "plain", NULL, act_pairs, HAMMER_FEW, SIBLING },
	{ "deep", "plain", act_pairs, HAMMER_FEW, hammer_make_chain, hammer_remove_chain,
	  .is_in_leaf = true, SIBLING },
	{ "refuse", "plain", act_refused, HAMMER_FEW, refuse_home, SIBLING },
	{ "deep-refuse", "plain", act_refused, HAMMER_FEW, refuse_chain, hammer_remove_chain,
	  .is_in_leaf = true, SIBLING },
	{ "texts", "plain", hammer_write_texts, HAMMER_FEW, hammer_make_texts, hammer_remove_own,
	  SIBLING },
	{ "pools", "plain", act_pools, HAMMER_FEW, hammer_make_chain, hammer_remove_chain,
	  SIBLING },
	{ "waiters", "plain", act_waiters, HAMMER_FEW + 1, SIBLING },
	{ "gate-plain", NULL, act_pairs, HAMMER_FEW, SIBLING, .control_max = GATE_WIDE },
	{ "gate-deep", "gate-plain", act_pairs, HAMMER_FEW, hammer_make_chain,
	  hammer_remove_chain, .is_in_leaf = true, SIBLING, .control_max = GATE_WIDE },
	{ "alone", NULL, SIBLING, .control_max = GATE_NARROW },
	{ "bogus", "alone", act_bogus, HAMMER_FEW, SIBLING, .control_max = GATE_NARROW },
	{ "bogus-limited", "alone", act_bogus, HAMMER_FEW, limit_home, SIBLING,
	  .control_max = GATE_NARROW },
	{ }
};
