/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of Lustre's o2iblnd that charges the RDMA controller.
 *
 * One open file of /dev/rdmacg_lnd is one network interface (NI). It has a kernel thread,
 * which does all of its work, one thing after the other: commands that were written to the
 * file, events of the connection manager, completions. So an NI needs no lock but for what
 * the connection manager's own threads touch, and everything below is of the NI's thread
 * where it does not say otherwise.
 *
 * Who pays is settled when the file is opened, and stays: the cgroup of the process that
 * opens, also for connections that come in. The thread charges that one for each thing
 * before it makes it:
 *
 *	what				where			charged
 *	protection domain of the NI	lnd_ni_make_pd()	pd=1
 *	pool of memory regions		lnd_pool_make()		mr=size of the pool
 *	connection			lnd_conn_make()		qp=1 cq=1
 *	transfer that is under way	lnd_tx_map()		mr_mem=its bytes
 */
#ifndef _RDMACG_LND_H
#define _RDMACG_LND_H

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <rdma/ib_rdmacg.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* What a transfer can have: 1 MiB, which begins anywhere in a page. */
#define LND_MAX_FRAGS	257
/* Bytes of a message, and messages that no credit is needed for. */
#define LND_MSG_SIZE	4096
#define LND_OOB_MSGS	2
/* What a request has beside its message: to register, and to invalidate. */
#define LND_FR_WRS	2
/* How long a pool is not tried to grow again after it could not. */
#define LND_POOL_RETRY	HZ
#define LND_TIMEOUT_MS	5000

/**
 * struct lnd_param - an NI's parameters, as they were when it was made
 * @depth: transfers that a connection may have under way in one direction
 * @frags: fragments that a transfer may have
 * @sends: messages that a connection may have posted
 * @conns: connections to a peer
 * @cpts: parts that pools are kept for
 * @mrs: memory regions of a pool
 * @txs: transfers of a part
 */
struct lnd_param {
	unsigned int depth;
	unsigned int frags;
	unsigned int sends;
	unsigned int conns;
	unsigned int cpts;
	unsigned int mrs;
	unsigned int txs;
};

/* Why a connection is refused; the numbers are o2iblnd's. */
enum lnd_reject {
	LND_REJECT_NO_RESOURCES	= 2,
	LND_REJECT_FATAL	= 3,
	LND_REJECT_FRAGS	= 6,
	LND_REJECT_QUEUE_SIZE	= 7,
};

/* What the ends tell each other in a request, in its answer and in a refusal. */
struct lnd_hello {
	__le32 magic;
	__le16 reason;		/* of a refusal */
	__le16 depth;
	__le16 frags;
	__le16 msg_size;
} __packed;

#define LND_MAGIC	0x72646c6e

enum lnd_msg_type {
	LND_MSG_GET	= 1,
	LND_MSG_DONE	= 2,
};

/* One message: the wish to have memory filled, or that this was done. */
struct lnd_msg {
	__le32 type;
	__le32 cookie;		/* of the request, which the answer repeats */
	__le64 addr;
	__le32 rkey;
	__le32 bytes;
} __packed;

/* A memory region; in its pool's list while it is free. */
struct lnd_mr {
	struct list_head entry;
	struct lnd_pool *pool;
	struct ib_mr *mr;
};

/* Memory regions that were charged together and go together. */
struct lnd_pool {
	struct list_head entry;
	struct list_head free;
	bool is_charged;
	unsigned int size;
	unsigned int used;
	unsigned long idle_since;
	struct lnd_mr mrs[] __counted_by(size);
};

/*
 * A part of the NI ("CPU partition" in Lustre), with pools and transfers of its own; the
 * first pool stays.
 */
struct lnd_cpt {
	struct list_head pools;
	struct list_head free_txs;
	bool has_failed;
	unsigned long retry_at;
};

/* A transfer that this end has asked for, or can ask for. */
struct lnd_tx {
	/* In the free ones of its part, or in @conn->waiting or @conn->sent. */
	struct list_head entry;
	struct lnd_cpt *cpt;
	struct lnd_conn *conn;
	struct lnd_msg *msg;
	u64 dma;
	/* What the other end fills, and what lets it. */
	struct sg_table sgt;
	struct lnd_mr *mr;
	/* The bytes of it that are charged. */
	unsigned int charged;
	struct ib_cqe sent;
	struct ib_cqe invalidated;
	/* That the other end may answer it. */
	bool is_asked;
};

/* A message that has come in; its memory then carries the answer. */
struct lnd_rx {
	struct list_head entry;
	struct lnd_conn *conn;
	struct lnd_msg *msg;
	u64 dma;
	unsigned int wrs;
	struct ib_cqe received;
	struct ib_cqe answered;
};

enum lnd_state {
	LND_CONNECTING,
	LND_ESTABLISHED,
	LND_DEAD,
};

struct lnd_conn {
	struct list_head entry;
	struct lnd_ni *ni;
	struct lnd_cpt *cpt;
	struct rdma_cm_id *id;
	struct ib_cq *cq;
	bool is_charged;
	enum lnd_state state;
	/* Whether this end has asked, and whether "connect" has been told the outcome. */
	bool is_active;
	bool is_settled;
	/* Of one that died: why, and that there is to be another one in its place. */
	int error;
	bool reconnect;

	/* What the ends have agreed on, and the sizes before that. */
	unsigned int depth;
	unsigned int frags;
	unsigned int send_wrs;
	unsigned int recv_wrs;
	unsigned int cqes;

	/* What may still be posted: work requests, requests of ours, messages. */
	unsigned int room;
	unsigned int credits;
	unsigned int posted;
	struct list_head waiting;
	struct list_head sent;
	struct list_head answers;
	struct lnd_rx *rxs;
	struct ib_cqe failed;
	struct kthread_work poll_work;

	/*
	 * The last event, written by the connection manager's thread; a later one ends the
	 * connection, so that the one before need not be seen. @hello came with it.
	 */
	struct kthread_work event_work;
	enum rdma_cm_event_type event;
	int status;
	struct lnd_hello hello;
};

/* Whom "connect" has named, and what is left of that. */
struct lnd_peer {
	struct sockaddr_storage addr;
	unsigned int depth;
	unsigned int frags;
	unsigned int pending;
	unsigned int made;
	int error;
};

enum lnd_verb {
	LND_LISTEN,
	LND_CONNECT,
	LND_GET,
};

struct lnd_command {
	enum lnd_verb verb;
	struct sockaddr_storage addr;
	unsigned int count;
	unsigned int bytes;
};

/* One open file. */
struct lnd_ni {
	/* Who pays, for verbs objects and for memory. */
	struct rdma_cgroup *cg;
	struct mem_cgroup *memcg;
	struct net *net;
	struct kthread_worker worker;
	struct task_struct *task;

	/* Between who writes or reads and the thread; @lock is for the former. */
	struct mutex lock;
	struct lnd_command command;
	struct kthread_work command_work;
	struct completion done;
	bool is_busy;
	int result;
	struct kthread_work report_work;
	char report[1024];

	/* The listener pins the device: it comes first and goes last. */
	struct rdma_cm_id *listener;
	struct ib_device *device;
	struct ib_pd *pd;
	bool is_charged;
	struct lnd_param param;
	struct lnd_cpt *cpts;
	unsigned int next_cpt;
	struct lnd_tx *txs;
	struct kthread_work unmake_work;

	/* What this end gives: one page, again and again. */
	void *source;
	u64 source_dma;
	struct ib_rdma_wr *writes;
	struct ib_sge sges[2];

	/* The connection manager's threads add to the list, hence the lock. */
	spinlock_t conns_lock;
	struct list_head conns;
	struct kthread_work reap_work;
	struct lnd_peer peer;

	/* The "get" that is under way: how many to begin, how many begun. */
	unsigned int todo;
	unsigned int bytes;
	unsigned int inflight;
	int get_error;
	u64 received;
};

/* lnd-size.c */
int lnd_param_take(struct lnd_param *param);
unsigned long lnd_pool_deadline(void);
unsigned int lnd_fit_depth(const struct ib_device *device, unsigned int depth,
			   unsigned int frags);
unsigned int lnd_send_wrs(unsigned int depth, unsigned int frags);
unsigned int lnd_recv_wrs(unsigned int depth);

/* lnd-pool.c */
int lnd_pools_make(struct lnd_ni *ni);
void lnd_pools_free(struct lnd_ni *ni);
struct lnd_mr *lnd_mr_get(struct lnd_ni *ni, struct lnd_cpt *cpt);
void lnd_mr_put(struct lnd_ni *ni, struct lnd_cpt *cpt, struct lnd_mr *mr);
void lnd_mr_renew(struct lnd_ni *ni, struct lnd_mr *mr);

/* lnd-tx.c */
int lnd_tx_map(struct lnd_ni *ni, struct lnd_tx *tx);
void lnd_tx_unmap(struct lnd_ni *ni, struct lnd_tx *tx);
void lnd_tx_free(struct lnd_ni *ni, struct lnd_tx *tx);
bool lnd_tx_is_filled(const struct lnd_tx *tx);
int lnd_txs_make(struct lnd_ni *ni);
void lnd_txs_free(struct lnd_ni *ni);

/* lnd-ni.c */
void lnd_ni_run(struct kthread_work *work);
void lnd_ni_report(struct kthread_work *work);
void lnd_ni_unmake(struct kthread_work *work);
void lnd_ni_reap(struct kthread_work *work);
void lnd_ni_settle(struct lnd_ni *ni, int error);
void lnd_ni_done(struct lnd_ni *ni, int result);

/* lnd-conn.c */
struct lnd_conn *lnd_conn_alloc(struct lnd_ni *ni, struct rdma_cm_id *id);
int lnd_conn_make(struct lnd_conn *conn);
void lnd_conn_establish(struct lnd_conn *conn);
void lnd_conn_die(struct lnd_conn *conn, int error);
void lnd_conn_free(struct lnd_conn *conn);

/* lnd-cm.c */
void lnd_conn_start(struct lnd_ni *ni);
int lnd_listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
void lnd_conn_event(struct kthread_work *work);

/* lnd-get.c */
void lnd_get_begin(struct lnd_ni *ni);
void lnd_get_abort(struct lnd_conn *conn);
void lnd_tx_init(struct lnd_tx *tx);
void lnd_rx_init(struct lnd_rx *rx);
int lnd_rx_post(struct lnd_rx *rx);
void lnd_failed(struct ib_cq *cq, struct ib_wc *wc);

#endif /* _RDMACG_LND_H */
