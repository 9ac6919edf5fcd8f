// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: actors with objects. In a "life", a process opens a device in some cgroup, and creates
 * and destroys objects at random. A life ends normally, ends by SIGKILL, or passes its context to
 * another process.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../tools/testing/selftests/cgroup/rdma_fd_util.h"
#include "torture.h"

#define LIFE_STEPS	60
#define LIFE_OBJECTS	16
#define PAGE		4096
#define MEMORY_PAGES	32
#define PORTS		16
#define CM_IDS		6

enum type { CONTEXT, PD, CQ, CHANNEL, QP, SRQ, MR, BAD_MR, MW, AH, MEMBER, TYPES };

/*
 * Creating an AH fails with EINVAL or ENODATA if the device has no address, because its link is
 * down or removed. Without a path, it fails with EHOSTUNREACH or ENETUNREACH. EMFILE is not
 * excused, because no actor leaks files.
 */
static const struct {
	const char *name;
	bool has_events;	/* an async_event gets events of the object */
	int excuses[4];		/* excuses for a failed creation, beside EXCUSE_DEVICE */
} types[TYPES] = {
	[CONTEXT] = { "context", .excuses = { ENOENT } },
	[PD] = { "pd" },
	[CQ] = { "cq", true },
	[CHANNEL] = { "channel" },
	[QP] = { "qp", true },
	[SRQ] = { "srq", true },
	[MR] = { "mr" },
	[BAD_MR] = { "bad mr", .excuses = { EFAULT } },
	[MW] = { "mw" },
	[AH] = { "ah", .excuses = { EINVAL, ENODATA, EHOSTUNREACH, ENETUNREACH } },
	[MEMBER] = { "member", true },
};

struct life {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct object {
		enum type type;
		void *handle;
	} objects[LIFE_OBJECTS];
	unsigned int count;
};

static char *memory;

void torture_verbs_init(void)
{
	/* Let objects of a removed device be destroyed without an error. */
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
	memory = mmap(NULL, MEMORY_PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		torture_fail("no memory");
}

/* Open any device of this network namespace. Returns NULL and sets errno on failure. */
static struct ibv_context *open_any(void)
{
	struct ibv_context *context = NULL;
	struct ibv_device **list;
	int count = 0, error;

	list = ibv_get_device_list(&count);
	errno = ENODEV;
	if (list && count)
		context = ibv_open_device(list[torture_random(count)]);
	error = errno;
	if (list)
		ibv_free_device_list(list);
	errno = error;
	return context;
}

static struct ibv_qp *create_qp(struct life *life, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = life->cq,
		.recv_cq = life->cq,
		.cap = {
			.max_send_wr = 1 + torture_random(8),
			.max_recv_wr = 1 + torture_random(8),
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	return ibv_create_qp(life->pd, &init);
}

static void *create_srq(struct life *life)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 1 + torture_random(8), .max_sge = 1 },
	};

	return ibv_create_srq(life->pd, &init);
}

/* Unmapped memory cannot be pinned, so the kernel charges and then uncharges it. */
static void *create_bad_mr(struct life *life)
{
	struct ibv_mr *mr = ibv_reg_mr(life->pd, (void *)PAGE, PAGE, IBV_ACCESS_LOCAL_WRITE);

	if (mr)
		torture_fail("memory that is not there can be registered");
	return mr;
}

static void *create_ah(struct life *life)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	if (ibv_query_gid(life->context, 1, 0, &attr.grh.dgid))
		return NULL;
	return ibv_create_ah(life->pd, &attr);
}

/*
 * A multicast group of this process only. If several processes join and leave one group, Linux
 * 7.3's rxe can attach a QP to a group that is being removed. Then no call can detach the QP, and
 * the kernel warns when its context is closed, with or without a controller.
 */
static union ibv_gid own_group(void)
{
	return (union ibv_gid) {
		.raw = { 0xff, 0x0e, [14] = getpid() >> 8, [15] = getpid() }
	};
}

static void *create_member(struct life *life)
{
	struct ibv_qp *qp = create_qp(life, IBV_QPT_UD);
	union ibv_gid gid = own_group();
	int error;

	if (!qp)
		return NULL;
	error = ibv_attach_mcast(qp, &gid, 0);
	if (!error)
		return qp;
	ibv_destroy_qp(qp);
	errno = error;
	return NULL;
}

/*
 * Detach the QP, because an attached QP cannot be destroyed. The error is EBUSY if the removal of
 * the device has begun: the kernel then refuses to detach the QP, and libibverbs hides the refusal.
 */
static int destroy_member(void *handle)
{
	union ibv_gid gid = own_group();
	int error = ibv_detach_mcast(handle, &gid, 0);

	torture_did("detach", error, EXCUSE(EIO));
	error = ibv_destroy_qp(handle);
	return error == EBUSY ? EIO : error;
}

/* Returns NULL and sets errno on failure. */
static void *create(struct life *life, enum type type)
{
	switch (type) {
	case CONTEXT:
		return open_any();
	case PD:
		return ibv_alloc_pd(life->context);
	case CQ:
		return ibv_create_cq(life->context, 1 + torture_random(64), NULL, NULL, 0);
	case CHANNEL:
		return ibv_create_comp_channel(life->context);
	case QP:
		return create_qp(life, IBV_QPT_RC);
	case SRQ:
		return create_srq(life);
	case MR:
		return ibv_reg_mr(life->pd, memory, 1 + torture_random(MEMORY_PAGES * PAGE),
				  IBV_ACCESS_LOCAL_WRITE);
	case BAD_MR:
		return create_bad_mr(life);
	case MW:
		return ibv_alloc_mw(life->pd, IBV_MW_TYPE_1);
	case AH:
		return create_ah(life);
	default:
		return create_member(life);
	}
}

/* Returns 0 or an errno. */
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
		return ibv_destroy_qp(handle);
	case SRQ:
		return ibv_destroy_srq(handle);
	case MW:
		return ibv_dealloc_mw(handle);
	case AH:
		return ibv_destroy_ah(handle);
	case MEMBER:
		return destroy_member(handle);
	default:
		return ibv_dereg_mr(handle);
	}
}

static void create_object(struct life *life)
{
	struct object *object = &life->objects[life->count];
	const int *more;
	char what[32];

	do {
		object->type = torture_random(TYPES);
	} while (types[object->type].has_events && !life->cq);
	more = types[object->type].excuses;
	snprintf(what, sizeof(what), "create %s", types[object->type].name);
	errno = 0;
	object->handle = create(life, object->type);
	if (object->handle)
		life->count++;
	torture_did(what, object->handle ? 0 : errno ?: ENODATA,
		    EXCUSE_DEVICE(more[0] ?: EIO, more[1] ?: EIO, more[2] ?: EIO,
				  more[3] ?: EIO));
}

static void destroy_object(struct life *life)
{
	struct object *object = &life->objects[torture_random(life->count)];
	char what[32];

	snprintf(what, sizeof(what), "destroy %s", types[object->type].name);
	torture_did(what, destroy(object->type, object->handle), EXCUSE(EIO));
	*object = life->objects[--life->count];
}

/* Returns false if a limit or a change of devices prevents the life. */
static bool begin_life(struct life *life)
{
	life->count = 0;
	life->context = open_any();
	torture_did("open", life->context ? 0 : errno, EXCUSE_DEVICE(ENOENT));
	if (!life->context)
		return false;
	life->pd = ibv_alloc_pd(life->context);
	torture_did("first pd", life->pd ? 0 : errno, EXCUSE_DEVICE());
	life->cq = ibv_create_cq(life->context, 16, NULL, NULL, 0);
	torture_did("first cq", life->cq ? 0 : errno, EXCUSE_DEVICE());
	return life->pd && life->cq;
}

static void live(struct life *life, unsigned int steps)
{
	for (; steps && torture_running(); steps--)
		if (life->count < LIFE_OBJECTS && torture_random(5) < 3)
			create_object(life);
		else if (life->count)
			destroy_object(life);
}

/*
 * Destroy everything. The error is EBUSY if another process has created an object that uses the PD
 * or the CQ.
 */
static void end_life(struct life *life)
{
	while (life->count)
		destroy_object(life);
	if (life->cq)
		torture_did("destroy first cq", ibv_destroy_cq(life->cq), EXCUSE(EIO, EBUSY));
	if (life->pd)
		torture_did("destroy first pd", ibv_dealloc_pd(life->pd), EXCUSE(EIO, EBUSY));
	torture_did("close", ibv_close_device(life->context), EXCUSE(EIO));
}

static void do_life(void)
{
	struct life life = { };

	if (begin_life(&life))
		live(&life, torture_random(LIFE_STEPS));
	if (life.context)
		end_life(&life);
}

/* Sometimes enter the other network namespace, because devices also move there. */
static void enter_any_netns(void)
{
	const char *path = torture_random(4) ? "/run/netns/home" : "/run/netns/away";
	int fd;

	if (!getenv("NETNS"))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		torture_fail("%s: %m", path);
	close(fd);
}

void torture_hold(void)
{
	torture_enter();
	enter_any_netns();
	do_life();
}

/* Let @child run for a moment, and kill it at any point. */
static void kill_later(pid_t child)
{
	torture_pause(1000000);
	kill(child, SIGKILL);
	if (waitpid(child, NULL, 0) == child)
		torture_did("kill", 0, EXCUSE(0));
}

void torture_kill(void)
{
	pid_t child = torture_fork();

	if (child > 0)
		kill_later(child);
	if (child)
		return;
	torture_enter();
	enter_any_netns();
	while (torture_running())
		do_life();
	_exit(0);
}

/* The child inherits the context and the parent's objects on it. */
static void pass_by_fork(void)
{
	struct life life = { };
	pid_t child = -1;

	if (begin_life(&life)) {
		live(&life, LIFE_STEPS / 4);
		child = torture_fork();
		if (!child) {
			torture_enter();
			life.count = 0;
			live(&life, LIFE_STEPS);
			_exit(0);
		}
		live(&life, LIFE_STEPS / 4);
	}
	if (child > 0)
		kill_later(child);
	if (life.context)
		end_life(&life);
}

/* Replace this process's context by the received context, and use it. */
static void live_on_received(int socket)
{
	struct life life = { .context = open_any() };
	int fd = rdmacg_receive_fd(socket);

	if (!life.context || fd < 0 || dup2(fd, life.context->cmd_fd) < 0)
		_exit(0);
	close(fd);
	life.pd = ibv_alloc_pd(life.context);
	torture_did("pd on what was received", life.pd ? 0 : errno, EXCUSE_DEVICE());
	if (life.pd)
		live(&life, LIFE_STEPS);
	_exit(0);
}

static void pass_by_socket(void)
{
	struct ibv_context *context = open_any();
	int sockets[2];
	pid_t child;

	torture_did("open", context ? 0 : errno, EXCUSE_DEVICE(ENOENT));
	if (!context)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		torture_fail("socketpair: %m");
		return;
	}
	child = torture_fork();
	if (!child) {
		close(sockets[0]);
		torture_enter();
		live_on_received(sockets[1]);
	}
	close(sockets[1]);
	torture_did("send", rdmacg_send_fd(sockets[0], context->cmd_fd) ? errno : 0, EXCUSE(EPIPE));
	close(sockets[0]);
	ibv_close_device(context);
	if (child > 0)
		kill_later(child);
}

void torture_pass(void)
{
	torture_enter();
	enter_any_netns();
	if (torture_random(2))
		pass_by_fork();
	else
		pass_by_socket();
}

/* Pick the address of a link or of the calm device, or the wildcard address. */
static struct sockaddr_in any_address(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(18500 + torture_random(PORTS)),
	};
	unsigned int link = torture_random(TORTURE_LINKS + 2);

	if (link == 0)
		address.sin_addr.s_addr = inet_addr("192.0.2.1");
	else if (link <= TORTURE_LINKS)
		address.sin_addr.s_addr = htonl((198U << 24) + (51 << 16) + (100 << 8) + link);
	return address;
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

/* Work in a new process, because librdmacm keeps devices open until its process ends. */
void torture_connect(void)
{
	struct rdma_cm_id *ids[CM_IDS];
	pid_t child = torture_fork();
	struct sockaddr_in address;
	unsigned int count = 0;

	if (child > 0)
		kill_later(child);
	if (child)
		return;
	torture_enter();
	while (torture_running()) {
		if (count == CM_IDS)
			while (count)
				rdma_destroy_id(ids[--count]);
		if (rdma_create_id(NULL, &ids[count], NULL, RDMA_PS_TCP)) {
			torture_did("create id", errno, EXCUSE_DEVICE(ENOENT));
			break;
		}
		address = any_address();
		if (torture_random(3))
			listen_on(ids[count++], &address);
		else
			connect_to(ids[count++], &address);
	}
	_exit(0);
}
