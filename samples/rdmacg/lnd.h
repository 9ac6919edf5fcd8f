/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel user of RDMA that charges the RDMA controller.
 *
 * An open file of /dev/rdmacg_lnd is a network interface (NI). The NI charges
 * the cgroup of the opener, even for connections that a peer requests. The NI
 * charges before it creates an object:
 *
 *	object				function		charge
 *	protection domain and MR pool	lnd_ni_make()		pd=1 mr=size of the pool
 *	connection			lnd_conn_make()		qp=1 cq=1
 *	transfer in progress		lnd_send_one()		mr_mem=its bytes
 *
 * Each NI is also an hca_handle, and each object an hca_object, so the limits
 * of rdma.max hold.
 *
 * Commands, and the work that frees connections, hold @lock of the NI. Handlers
 * of the connection manager and of completions do not take @lock. They set a
 * state and wake the command.
 */
#ifndef _RDMACG_LND_H
#define _RDMACG_LND_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/*
 * The number of pages of 1 MiB of memory that begins in the middle of a page.
 */
#define LND_MAX_FRAGS	257

enum lnd_state {
	LND_CONNECTING,
	LND_ESTABLISHED,
	LND_DEAD,
};

#define LND_NO_EVENT	-1
#define LND_SENT	-2

struct lnd_conn {
	/* In @ni->conns. Guarded by @ni->conns_lock. */
	struct list_head entry;
	struct lnd_ni *ni;
	struct rdma_cm_id *id;
	struct ib_cq *cq;
	bool is_charged;
	/* Accessed without a lock. A connection never leaves LND_DEAD. */
	enum lnd_state state;
	/*
	 * An event of rdma_cm, LND_NO_EVENT or LND_SENT. Handlers set it, then
	 * wake the command.
	 */
	int event;

	struct ib_cqe received;
	struct ib_cqe sent;
};

struct lnd_ni {
	/* The payer. */
	struct rdma_cgroup *cg;
	struct net *net;

	/* Guards each field that has no comment about locking. */
	struct mutex lock;
	wait_queue_head_t wait;
	struct work_struct work;
	/*
	 * Read without a lock. Set to true under the handler lock of the
	 * listener.
	 */
	bool is_gone;

	/* The listener is destroyed last, because it pins the device. */
	struct rdma_cm_id *listener;
	struct ib_device *device;
	struct ib_pd *pd;
	bool is_charged;

	/* The command "listen" sets these sizes. */
	unsigned int depth;
	unsigned int send_wrs;
	unsigned int recv_wrs;
	unsigned int conns_per_peer;
	unsigned int pool_size;
	/* The MRs of the pool that no transfer uses. */
	struct ib_mr **mrs;
	unsigned int free_mrs;
	/* The page that receives all messages of peers. */
	void *sink;
	u64 sink_dma;
	atomic64_t received;

	spinlock_t conns_lock;	/* Guards @conns. */
	struct list_head conns;
};

/* lnd-complete.c */
void lnd_conn_tell(struct lnd_conn *conn, int event);
int lnd_conn_wait(struct lnd_conn *conn, int wanted);
void lnd_conn_die(struct lnd_conn *conn);
int lnd_conn_post_recvs(struct lnd_conn *conn);

/* lnd-conn.c */
int lnd_connect(struct lnd_ni *ni, const struct sockaddr_storage *addr);
int lnd_listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
void lnd_conns_free(struct lnd_ni *ni, bool all);

/* lnd-send.c */
int lnd_send(struct lnd_ni *ni, unsigned int count, unsigned int bytes);

#endif /* _RDMACG_LND_H */
