// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of each field of the tracepoints of the RDMA cgroup controller. The tracepoints show
 * charges, uncharges, refusals, limits and commands that wait. The tests need root, Soft-RoCE,
 * tracefs, failslab, and ip and rdma of iproute2.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <rdma/rdma_cma.h>
#include <sys/mount.h>

#include "../kselftest_harness.h"
#include "rdma_fault_util.h"
#include "rdma_verbs_util.h"

#define TRACEFS "/sys/kernel/tracing"
/* A trace instance that has only the events of the test. */
#define INSTANCE TRACEFS "/instances/rdmacg_test"

/* An event shows this number for no limit. */
#define UNLIMITED "9223372036854775807"

FIXTURE(test_rdmacg_trace) {
	struct rdmacg_tree tree;
	struct ibv_context *context;
	struct ibv_pd *pd;
};

static int rdmacg_trace_write(const char *file, const char *value)
{
	return cg_write(INSTANCE, file, (char *)value);
}

/* Clear the trace. */
static void rdmacg_trace_clear(void)
{
	close(open(INSTANCE "/trace", O_WRONLY | O_TRUNC));
}

static bool rdmacg_has_tracefs(void)
{
	return !access(TRACEFS "/events", F_OK) ||
	       !mount("tracefs", TRACEFS, "tracefs", 0, NULL);
}

/*
 * Create an instance that does not record the names of tasks. The instance takes this setting from
 * the top level, so change it there for a moment. Recording the names patches the kernel's
 * scheduler, and some emulated processors then fail.
 */
static int rdmacg_make_instance(void)
{
	char recorded[8];
	int ret;

	if (read_text(TRACEFS "/options/record-cmd", recorded, sizeof(recorded)) <= 0 ||
	    cg_write(TRACEFS, "options/record-cmd", "0"))
		return -1;
	ret = mkdir(INSTANCE, 0700);
	return cg_write(TRACEFS, "options/record-cmd", recorded) ? -1 : ret;
}

/* The process of the test is in "left" with a context and a PD, and all events are enabled. */
FIXTURE_SETUP(test_rdmacg_trace)
{
	const char *missing = rdmacg_tree_create(&self->tree);

	if (missing)
		SKIP(return, "%s", missing);
	if (!rdmacg_has_tracefs()) {
		rdmacg_tree_destroy(&self->tree);
		SKIP(return, "there is no tracefs");
	}
	/* Remove the instance of an earlier test that was killed. */
	rmdir(INSTANCE);
	ASSERT_EQ(0, rdmacg_make_instance()) TH_LOG("%m");
	ASSERT_TRUE(rdmacg_enter_and_open(&self->tree, self->tree.left,
					  &self->context, &self->pd)) TH_LOG("%m");
	ASSERT_EQ(0, rdmacg_trace_write("events/rdmacg/enable", "1"));
}

FIXTURE_TEARDOWN(test_rdmacg_trace)
{
	if (self->pd)
		ibv_dealloc_pd(self->pd);
	ibv_close_device(self->context);
	rdmacg_tree_destroy(&self->tree);
	EXPECT_EQ(0, rmdir(INSTANCE)) TH_LOG("%m");
}

/* Returns the id of a cgroup in its hierarchy. */
static unsigned long long rdmacg_id(const char *cgroup)
{
	struct stat stat_buf;

	return stat(cgroup, &stat_buf) ? 0 : stat_buf.st_ino;
}

/* Returns whether a line of the trace is an event that ends with @words. @words may be empty. */
static bool rdmacg_is_event(const char *line, const char *words)
{
	size_t len = strcspn(line, "\n"), tail = strlen(words);

	if (line[0] == '#' || !strstr(line, ": rdmacg_"))
		return false;
	return len >= tail && !strncmp(line + len - tail, words, tail);
}

/* Count the events that end with @words, and print all events if there is none. */
static int rdmacg_count_events(const char *words)
{
	FILE *trace = fopen(INSTANCE "/trace", "r");
	char *line = NULL;
	size_t size = 0;
	int found = 0;

	if (!trace)
		return -1;
	while (getline(&line, &size, trace) > 0)
		found += rdmacg_is_event(line, words);
	rewind(trace);
	while (!found && *words && getline(&line, &size, trace) > 0)
		if (rdmacg_is_event(line, ""))
			ksft_print_msg("%s", line);
	free(line);
	fclose(trace);
	return found;
}

/* Count the events of the tree's device with this name and exactly these fields. */
static int rdmacg_told(struct rdmacg_tree *tree, const char *event, const char *format, ...)
{
	char fields[256], words[512];
	va_list args;

	va_start(args, format);
	vsnprintf(fields, sizeof(fields), format, args);
	va_end(args);
	snprintf(words, sizeof(words), ": %s: device=%s %s", event, tree->device, fields);
	return rdmacg_count_events(words);
}

/* Returns whether exactly one event shows that this amount was charged to @cgroup or uncharged. */
static bool rdmacg_told_amount(struct rdmacg_tree *tree, const char *event, const char *cgroup,
			       const char *resource, unsigned long long amount)
{
	return rdmacg_told(tree, event, "resource=%s amount=%llu cgroup=%llu",
			   resource, amount, rdmacg_id(cgroup)) == 1;
}

/*
 * A charge emits an event for each resource. The event shows the owner, and ancestors have no
 * events.
 */
TEST_F(test_rdmacg_trace, charge_event_names_each_resource)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd = ibv_alloc_pd(self->context);

	ASSERT_NE(NULL, pd);
	EXPECT_TRUE(rdmacg_told_amount(tree, "rdmacg_charge", tree->left, "hca_object", 1));
	EXPECT_TRUE(rdmacg_told_amount(tree, "rdmacg_charge", tree->left, "pd", 1));
	EXPECT_EQ(2, rdmacg_count_events(""));
	rdmacg_trace_clear();
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	EXPECT_TRUE(rdmacg_told_amount(tree, "rdmacg_uncharge", tree->left, "hca_object", 1));
	EXPECT_TRUE(rdmacg_told_amount(tree, "rdmacg_uncharge", tree->left, "pd", 1));
	EXPECT_EQ(2, rdmacg_count_events(""));
}

/* Allocate three whole pages. */
static char *rdmacg_pages(void)
{
	static char memory[4 * 4096];

	return memory + 4096 - (unsigned long)memory % 4096;
}

/* Half of an RDMA WRITE of iWARP, as it is sent over TCP. */
struct rdmacg_half_write {
	__be16 length, control;
	__be32 stag;
	__be64 to;
	char half[64];
};

/* Connect to a listener of iWARP at @address without a QP. Returns the socket, or -1. */
static int rdmacg_connect_tcp(struct sockaddr_in *address)
{
	/* The request has version 1, without markers, CRC and private data. */
	static const char request[20] = "MPA ID Req Frame\0\1";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)address, sizeof(*address)) ||
	    write(fd, request, sizeof(request)) != sizeof(request))
		return -1;
	return fd;
}

/* Accept a connection with a new QP. Returns the connection, or NULL. */
static struct rdma_cm_id *rdmacg_accept(struct rdma_cm_id *listener)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct rdma_cm_id *id;

	if (rdma_get_request(listener, &id))
		return NULL;
	return rdma_create_qp(id, NULL, &init) || rdma_accept(id, NULL) ? NULL : id;
}

/* Write the first half of a message to the start of @mr. The rest of the message follows later. */
static bool rdmacg_write_half(int fd, struct ibv_mr *mr)
{
	struct rdmacg_half_write message = {
		/* The header without the length, and both halves. */
		.length = htobe16(14 + 2 * sizeof(message.half)),
		/* A tagged message of DDP 1, and a write of RDMAP 1. */
		.control = htobe16(0x8140),
		.stag = htobe32(mr->rkey),
		.to = htobe64((uintptr_t)mr->addr),
	};
	char *last = (char *)mr->addr + sizeof(message.half) - 1;
	int i;

	memset(message.half, 1, sizeof(message.half));
	if (write(fd, &message, sizeof(message)) != sizeof(message))
		return false;
	for (i = 0; !*last && i < 2000; i++)
		usleep(1000);
	return *last;
}

/*
 * Memory stays in use while a message arrives, even if its MR is deregistered. Soft-iWARP receives
 * in a softirq, and the softirq must not uncharge the memory, because others take the domain's lock
 * with softirqs enabled.
 */
TEST_F(test_rdmacg_trace, no_softirq_uncharges_memory)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(18517) };
	struct rdmacg_tree *tree = &self->tree;
	struct rdma_cm_id *listener, *id;
	struct ibv_mr *mr;
	int fd, i;

	if (strncmp(tree->device, "siw", 3))
		SKIP(return, "only Soft-iWARP receives from a socket");
	address.sin_addr.s_addr = rdmacg_find_address(self->context);
	ASSERT_EQ(0, rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	ASSERT_EQ(0, rdma_bind_addr(listener, (struct sockaddr *)&address)) TH_LOG("%m");
	ASSERT_EQ(0, rdma_listen(listener, 1));
	fd = rdmacg_connect_tcp(&address);
	ASSERT_LE(0, fd) TH_LOG("%m");
	id = rdmacg_accept(listener);
	ASSERT_NE(NULL, id) TH_LOG("%m");
	mr = ibv_reg_mr(id->pd, rdmacg_pages(), 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	ASSERT_TRUE(rdmacg_write_half(fd, mr));
	ASSERT_EQ(0, ibv_dereg_mr(mr));
	ASSERT_EQ(4096, rdmacg_verbs(tree, tree->left, "mr_mem"));
	/* Trace only softirqs, whose bit in the flags is 16. */
	ASSERT_EQ(0, rdmacg_trace_write("events/rdmacg/filter", "common_flags & 16"));
	rdmacg_trace_clear();
	ASSERT_EQ(64, write(fd, rdmacg_pages(), 64));
	for (i = 0; rdmacg_verbs(tree, tree->left, "mr_mem") && i < 2000; i++)
		usleep(1000);
	EXPECT_EQ(0, rdmacg_verbs(tree, tree->left, "mr_mem"));
	EXPECT_EQ(0, rdmacg_count_events(""));
	close(fd);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

/* The event of a refusal shows the usage, limit, id and level of the ancestor that refused. */
TEST_F(test_rdmacg_trace, refuse_event_names_the_limiting_ancestor)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd;

	/* Create another PD in "right", so that "left" uses less than "top". */
	ASSERT_EQ(0, cg_enter_current(tree->right));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	ASSERT_EQ(0, cg_enter_current(tree->left));
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_object=2"));
	rdmacg_trace_clear();
	EXPECT_EQ(NULL, ibv_create_cq(self->context, 4, NULL, NULL, 0));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_refuse",
				 "resource=hca_object amount=1 cgroup=%llu usage=2 limit=2 limit_cgroup=%llu limit_level=1",
				 rdmacg_id(tree->left), rdmacg_id(tree->top)));
	/* The refusal is the only event, because nothing was charged. */
	EXPECT_EQ(1, rdmacg_count_events(""));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/*
 * The event of a refusal shows the usage and the limit at the time of the refusal. The limit may be
 * below the usage.
 */
TEST_F(test_rdmacg_trace, refuse_event_has_usage_and_limit)
{
	char *memory = rdmacg_pages();
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_mr *mr[2];

	mr[0] = ibv_reg_mr(self->pd, memory, 8192, IBV_ACCESS_LOCAL_WRITE);
	mr[1] = ibv_reg_mr(self->pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr[0]);
	ASSERT_NE(NULL, mr[1]);
	/* Let the usage differ from the peak. */
	EXPECT_EQ(0, ibv_dereg_mr(mr[1]));
	ASSERT_EQ(0, rdmacg_limit_verb(tree, tree->left, "mr_mem", 5000));
	EXPECT_EQ(NULL, ibv_reg_mr(self->pd, memory, 12288, IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_refuse",
				 "resource=mr_mem amount=12288 cgroup=%llu usage=8192 limit=5000 limit_cgroup=%llu limit_level=2",
				 rdmacg_id(tree->left), rdmacg_id(tree->left)));
	EXPECT_EQ(0, ibv_dereg_mr(mr[0]));
}

/*
 * A write emits an event for each limit that changes. The event shows the old limit and the usage
 * at the time of the write.
 */
TEST_F(test_rdmacg_trace, write_event_has_the_changed_limits)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd = ibv_alloc_pd(self->context);

	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	rdmacg_trace_clear();
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_handle=7 hca_object=9"));
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_handle old=" UNLIMITED " new=7 usage=1 cgroup=%llu",
				 rdmacg_id(tree->top)));
	/* The fixture's PD is one hca_object. */
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_object old=" UNLIMITED " new=9 usage=1 cgroup=%llu",
				 rdmacg_id(tree->top)));
	rdmacg_trace_clear();
	ASSERT_EQ(0, rdmacg_limit(tree, tree->top, "hca_handle=7 hca_object=max"));
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_object old=9 new=" UNLIMITED " usage=1 cgroup=%llu",
				 rdmacg_id(tree->top)));
	EXPECT_EQ(1, rdmacg_count_events(""));
}

/*
 * A default emits an event for each limit that it changes. A device's own limit does not change,
 * and emits no event.
 */
TEST_F(test_rdmacg_trace, default_event_has_the_changed_limits)
{
	struct rdmacg_tree *tree = &self->tree;
	char *left = tree->left;

	ASSERT_EQ(0, rdmacg_limit(tree, left, "hca_handle=7"));
	rdmacg_trace_clear();
	ASSERT_EQ(0, cg_write(left, "rdma.default", "hca_handle=3 hca_object=5"));
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_object old=" UNLIMITED " new=5 usage=1 cgroup=%llu",
				 rdmacg_id(left)));
	EXPECT_EQ(1, rdmacg_count_events(""));
	rdmacg_trace_clear();
	/* Remove the device's own limit, so that the default applies. */
	ASSERT_EQ(0, rdmacg_limit(tree, left, "default"));
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_handle old=7 new=3 usage=1 cgroup=%llu",
				 rdmacg_id(left)));
	EXPECT_EQ(1, rdmacg_count_events(""));
}

/*
 * The event of a default is emitted with the cgroup's first charge on a device if the cgroup did
 * not use the device before.
 */
TEST_F(test_rdmacg_trace, first_charge_emits_the_default)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd;

	ASSERT_EQ(0, cg_write(tree->right, "rdma.default", "hca_object=5"));
	EXPECT_EQ(0, rdmacg_count_events(""));
	ASSERT_EQ(0, cg_enter_current(tree->right));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_set_max",
				 "resource=hca_object old=" UNLIMITED " new=5 usage=0 cgroup=%llu",
				 rdmacg_id(tree->right)));
	EXPECT_TRUE(rdmacg_told_amount(tree, "rdmacg_charge", tree->right, "pd", 1));
	/* The third event is the charge of the hca_object. */
	EXPECT_EQ(3, rdmacg_count_events(""));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/* The event of a command that waited shows the time that rdma.control.stat also counts. */
TEST_F(test_rdmacg_trace, throttle_event_has_the_waiting_time)
{
	struct rdmacg_tree *tree = &self->tree;
	struct ibv_pd *pd;

	ASSERT_EQ(0, rdmacg_limit_in(tree, tree->top, "rdma.control.max", "ops=5 burst=1"));
	rdmacg_trace_clear();
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(2, rdmacg_count_events(""));
	/* The destroy command does not wait, but the next command does. */
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	pd = ibv_alloc_pd(self->context);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(1, rdmacg_told(tree, "rdmacg_throttle", "cgroup=%llu usec=%lld",
				 rdmacg_id(tree->left),
				 rdmacg_value(tree, tree->left, "rdma.control.stat",
					      "throttled_usec")));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_HARNESS_MAIN
