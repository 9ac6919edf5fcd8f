// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors that use devices. In a "life", a process opens a device in some cgroup, and
 * creates and destroys objects at random. A life ends normally or by SIGKILL, or goes on in another
 * process, which has inherited the context. Other processes use rdma_cm, RDS and SMC, for which the
 * kernel creates objects.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sched.h>

#include "../../tools/testing/selftests/cgroup/rdma_rds_socket_util.h"
#include "../../tools/testing/selftests/cgroup/rdma_smc_util.h"
#include "torture.h"

#define LIFE_STEPS	60
#define LIFE_OBJECTS	16
#define LIFE_SOCKETS	8
#define PAGE		4096
#define MEMORY		(32 * PAGE)
#define PORTS		4
#define CM_IDS		6

enum type { CONTEXT, PD, CQ, CHANNEL, QP, SRQ, MR, BAD_MR, TYPES };

/*
 * EMFILE is not excused, because no actor leaks files. ENODATA stands for a failure without an
 * errno: if rxe is removed, its mapped queues become empty, and the library refuses an empty CQ.
 */
static const struct {
	const char *create, *destroy;
	const int *excuses;		/* excuses for a failed creation */
} types[TYPES] = {
	[CONTEXT] = { "open", "close", EXCUSE_DEVICE(ENOENT) },
	[PD] = { "create pd", "destroy pd", EXCUSE_DEVICE() },
	[CQ] = { "create cq", "destroy cq", EXCUSE_DEVICE(ENODATA) },
	[CHANNEL] = { "create channel", "destroy channel", EXCUSE_DEVICE() },
	[QP] = { "create qp", "destroy qp", EXCUSE_DEVICE() },
	[SRQ] = { "create srq", "destroy srq", EXCUSE_DEVICE() },
	[MR] = { "create mr", "destroy mr", EXCUSE_DEVICE() },
	[BAD_MR] = { "create bad mr", "destroy bad mr", EXCUSE_DEVICE(EFAULT) },
};

/* The first objects are a context, and a PD and a CQ on it, for all other objects. */
#define FIRST_OBJECTS	(CQ + 1)

struct life {
	struct object {
		enum type type;
		void *handle;
	} objects[LIFE_OBJECTS];
	unsigned int count;
};

static char memory[MEMORY];
static const union ibv_gid group = { .raw = { 0xff, 0x0e } };

/* Open any device of this network namespace. */
static struct ibv_context *open_any(void)
{
	struct ibv_context *context = NULL;
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	errno = ENODEV;
	if (count)
		context = ibv_open_device(list[torture_random(count)]);
	if (list)
		ibv_free_device_list(list);
	return context;
}

/* Create an RC QP, or a UD QP that is a member of the multicast group. */
static void *create_qp(struct life *life)
{
	struct ibv_qp_init_attr init = {
		.qp_type = torture_random(2) ? IBV_QPT_RC : IBV_QPT_UD,
		.send_cq = life->objects[CQ].handle,
		.recv_cq = life->objects[CQ].handle,
		.cap = {
			.max_send_wr = 1 + torture_random(8), .max_send_sge = 1,
			.max_recv_wr = 1 + torture_random(8), .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(life->objects[PD].handle, &init);
	int error;

	if (!qp || init.qp_type != IBV_QPT_UD)
		return qp;
	error = ibv_attach_mcast(qp, &group, 0);
	if (!error)
		return qp;
	ibv_destroy_qp(qp);
	errno = error;
	return NULL;
}

/*
 * Detach a member, because an attached QP cannot be destroyed. The error is EBUSY if the removal of
 * the device has begun: the kernel then refuses to detach the QP, and libibverbs hides the refusal.
 */
static int destroy_qp(struct ibv_qp *qp)
{
	int error;

	if (qp->qp_type != IBV_QPT_UD)
		return ibv_destroy_qp(qp);
	torture_did("detach", ibv_detach_mcast(qp, &group, 0), EXCUSE(EIO));
	error = ibv_destroy_qp(qp);
	return error == EBUSY ? EIO : error;
}

/* Returns NULL and sets errno on failure. */
static void *create(struct life *life, enum type type)
{
	struct ibv_srq_init_attr srq = { .attr = { 1 + torture_random(8), 1 } };
	struct ibv_context *context = life->objects[CONTEXT].handle;
	struct ibv_pd *pd = life->objects[PD].handle;

	switch (type) {
	case CONTEXT:
		return open_any();
	case PD:
		return ibv_alloc_pd(context);
	case CQ:
		return ibv_create_cq(context, 1 + torture_random(64), NULL, NULL, 0);
	case CHANNEL:
		return ibv_create_comp_channel(context);
	case QP:
		return create_qp(life);
	case SRQ:
		return ibv_create_srq(pd, &srq);
	case MR:
		return ibv_reg_mr(pd, memory, 1 + torture_random(MEMORY), IBV_ACCESS_LOCAL_WRITE);
	default:
		/* Unmapped memory cannot be pinned, so the kernel charges and then uncharges it. */
		return ibv_reg_mr(pd, (void *)PAGE, PAGE, IBV_ACCESS_LOCAL_WRITE);
	}
}

static int destroy(enum type type, void *handle)
{
	switch (type) {
	case CONTEXT:
		return ibv_close_device(handle);
	case PD:
		return ibv_dealloc_pd(handle);
	case CQ:
		return ibv_destroy_cq(handle);
	case CHANNEL:
		return ibv_destroy_comp_channel(handle);
	case QP:
		return destroy_qp(handle);
	case SRQ:
		return ibv_destroy_srq(handle);
	default:
		return ibv_dereg_mr(handle);
	}
}

/* Create an object, and report it. Returns whether it exists. */
static bool add(struct life *life, enum type type)
{
	struct object *object = &life->objects[life->count];

	errno = 0;
	object->type = type;
	object->handle = create(life, type);
	if (object->handle)
		life->count++;
	torture_did(types[type].create, object->handle ? 0 : errno ?: ENODATA, types[type].excuses);
	return object->handle;
}

/*
 * Destroy an object, and report it. The error is EBUSY if another process has created an object
 * that uses the first PD or CQ.
 */
static void drop(struct life *life, unsigned int i)
{
	struct object object = life->objects[i];

	life->objects[i] = life->objects[--life->count];
	torture_did(types[object.type].destroy, destroy(object.type, object.handle),
		    EXCUSE(EIO, i < FIRST_OBJECTS ? EBUSY : EIO));
}

/* Create the first objects of a life. Returns false if an object cannot be created. */
static bool begin_life(struct life *life)
{
	return (life->count || add(life, CONTEXT)) && add(life, PD) && add(life, CQ);
}

static void live(struct life *life, unsigned int steps)
{
	for (; steps && torture_running(); steps--)
		if (life->count < LIFE_OBJECTS && torture_random(5) < 3)
			add(life, torture_random(TYPES));
		else if (life->count > FIRST_OBJECTS)
			drop(life, FIRST_OBJECTS + torture_random(life->count - FIRST_OBJECTS));
}

static void end_life(struct life *life)
{
	while (life->count)
		drop(life, life->count - 1);
}

/* Enter a cgroup. Sometimes enter the other network namespace, because devices also move there. */
static void enter(void)
{
	const char *path = torture_random(4) ? "/run/netns/home" : "/run/netns/away";
	int fd;

	torture_enter();
	if (!getenv("NETNS"))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		torture_fail("%s: %m", path);
	close(fd);
}

void torture_hold(void)
{
	struct life life = { .count = 0 };

	enter();
	if (begin_life(&life))
		live(&life, torture_random(LIFE_STEPS));
	end_life(&life);
}

/*
 * Let a child in another cgroup inherit the context. Either both processes use it, with the PD and
 * the CQ of the parent, or the parent closes it and only the child uses it.
 */
void torture_pass(void)
{
	bool both = torture_random(2);
	struct life life = { .count = 0 };
	pid_t child = -1;

	enter();
	if (begin_life(&life)) {
		live(&life, LIFE_STEPS / 4);
		child = torture_fork();
	}
	if (!child) {
		torture_enter();
		life.count = both ? FIRST_OBJECTS : CONTEXT + 1;
		if (both || begin_life(&life))
			live(&life, LIFE_STEPS);
		_exit(0);
	}
	if (both && child > 0) {
		live(&life, LIFE_STEPS / 4);
		torture_kill(child);
		child = -1;
	}
	end_life(&life);
	torture_kill(child);
}

/* Pick the wildcard address, or the address of the calm device or of a link. */
static struct sockaddr_in any_address(void)
{
	static const char *const addresses[] = {
		"0.0.0.0", "192.0.2.1", "198.51.100.1", "198.51.100.2", "198.51.100.3",
	};
	const char *text = addresses[torture_random(ARRAY_SIZE(addresses))];

	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(18500 + torture_random(16)),
		.sin_addr.s_addr = inet_addr(text),
	};
}

static void listen_on(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	struct rdma_cm_id *asked;
	int ret = rdma_bind_addr(id, (struct sockaddr *)address);

	torture_did("bind", ret ? errno : 0, EXCUSE_DEVICE(EADDRINUSE, EADDRNOTAVAIL));
	if (ret || torture_random(2))
		return;
	ret = rdma_listen(id, 4);
	torture_did("listen", ret ? errno : 0, EXCUSE_DEVICE(EADDRINUSE, EINVAL));
	/* Usually end at once. Sometimes reject requests, perhaps until this process is killed. */
	while (!ret && !torture_random(4) && !rdma_get_request(id, &asked))
		rdma_destroy_id(asked);
}

/*
 * The error is EPERM if librdmacm cannot open a device. For the wildcard address, the error can be
 * ENOENT: rdma_cm then binds to the first GID of a device, which may already be removed with the
 * netdev.
 */
static void connect_to(struct rdma_cm_id *id, struct sockaddr_in *address)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	int ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 100);

	torture_did("resolve", ret ? errno : 0,
		    EXCUSE_DEVICE(ETIMEDOUT, EADDRNOTAVAIL, ENETUNREACH, EHOSTUNREACH, EINVAL,
				  ENOENT, EPERM));
	if (!ret && !rdma_resolve_route(id, 100))
		rdma_connect(id, &param);
}

/* This actor is killed, because librdmacm keeps devices open until its process ends. */
void torture_connect(void)
{
	struct rdma_cm_id *ids[CM_IDS] = { }, **id;
	struct sockaddr_in address;

	torture_enter();
	while (torture_running()) {
		id = &ids[torture_random(CM_IDS)];
		if (*id)
			rdma_destroy_id(*id);
		if (rdma_create_id(NULL, id, NULL, RDMA_PS_TCP)) {
			torture_did("create id", errno, EXCUSE_DEVICE(ENOENT));
			_exit(0);
		}
		address = any_address();
		if (torture_random(3))
			listen_on(*id, &address);
		else
			connect_to(*id, &address);
	}
}

/* Report the outcome of a call of RDS, which returns EDQUOT at a limit. */
static void rds_did(const char *what, int ret)
{
	torture_did(what, ret == -EDQUOT ? EAGAIN : -ret,
		    EXCUSE_DEVICE(EADDRNOTAVAIL, ENOTCONN, EOPNOTSUPP, ENOBUFS, EBUSY, EINVAL,
				  ENETUNREACH, EHOSTUNREACH));
}

static void rds_step(void)
{
	int flags = torture_random(2) ? RDS_RDMA_USE_ONCE : RDS_RDMA_INVALIDATE;
	size_t bytes = torture_random(3) * PAGE;
	char byte;

	if (bytes && rdmacg_own.nr_regions < RDMACG_MAX_REGIONS)
		rds_did("map with RDS", rdmacg_map_one(bytes, flags));
	else
		rds_did("send with RDS", rdmacg_send_message(NULL, 0));
	/* Ignore an error, because a single-use region may already be removed. */
	if (rdmacg_own.nr_regions && torture_random(2))
		rdmacg_free_one(torture_random(2) ? RDS_RDMA_INVALIDATE : 0);
	while (recv(rdmacg_own.fd, &byte, 1, MSG_DONTWAIT) == 1)
		;
	torture_pause(5000);
}

/* Open a socket in some cgroup. The socket sends messages to itself. */
void torture_rds(void)
{
	int steps = torture_random(LIFE_STEPS), ret;

	torture_enter();
	ret = rdmacg_open_rds("198.18.0.1", torture_random(PORTS), RDS_TRANS_NONE);
	if (ret)
		rds_did("socket of RDS", ret);
	while (!ret && steps-- && torture_running())
		rds_step();
	close(rdmacg_own.fd);
	rdmacg_own.nr_regions = 0;
}

static void smc_did(const char *what, int ret)
{
	torture_did(what, ret < 0 ? errno : 0,
		    EXCUSE_DEVICE(EADDRINUSE, ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE,
				  ETIMEDOUT, ENOTCONN, EPROTO, EBADF));
}

/*
 * Listen in some cgroup, and open some connections to listeners. No actor removes the device or the
 * module of SMC: while sockets are created and closed, the removal may wait without end, even with
 * stock.
 */
void torture_smc(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(4711 + torture_random(PORTS)),
		.sin_addr.s_addr = inet_addr("198.18.0.2"),
	};
	unsigned int count = 0, wanted = 1 + torture_random(LIFE_SOCKETS);
	int listener, sockets[LIFE_SOCKETS], one = 1;

	/* Without a user EID, SMC does not use Soft-RoCE. */
	if (!rdmacg_add_eid())
		torture_fail("SMC accepts no EID");
	torture_enter();
	listener = socket(AF_SMC, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	smc_did("bind with SMC", bind(listener, (void *)&address, sizeof(address)));
	smc_did("listen with SMC", listen(listener, 64));
	while (count < wanted && torture_running()) {
		address.sin_port = htons(4711 + torture_random(PORTS));
		sockets[count] = socket(AF_SMC, SOCK_STREAM, 0);
		smc_did("connect with SMC", connect(sockets[count], (void *)&address,
						    sizeof(address)));
		send(sockets[count++], &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
		torture_pause(20000);
	}
	while (count)
		close(sockets[--count]);
	close(listener);
}
