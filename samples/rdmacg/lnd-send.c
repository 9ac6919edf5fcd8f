// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of a transfer: register memory, send each page, invalidate the
 * registration, free.
 */
#include <linux/scatterlist.h>

#include "lnd.h"

static int lnd_post_reg(struct lnd_conn *conn, struct ib_mr *mr)
{
	struct ib_reg_wr reg = {
		.wr.wr_cqe = &conn->sent,
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE,
	};

	return ib_post_send(conn->id->qp, &reg.wr, NULL);
}

/*
 * Post a page. Only the last page causes a completion, unless another page
 * fails.
 */
static int lnd_post_page(struct lnd_conn *conn, struct ib_mr *mr, unsigned int done)
{
	unsigned int left = mr->length - done;
	struct ib_sge sge = {
		.addr = mr->iova + done,
		.length = min(left, PAGE_SIZE),
		.lkey = mr->lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &conn->sent,
		.opcode = IB_WR_SEND,
		.send_flags = left <= PAGE_SIZE ? IB_SEND_SIGNALED : 0,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_send(conn->id->qp, &wr, NULL);
}

static int lnd_send_mr(struct lnd_conn *conn, struct ib_mr *mr)
{
	struct ib_send_wr invalidate = {
		.wr_cqe = &conn->sent,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = mr->rkey,
	};
	unsigned int done;
	int ret = lnd_post_reg(conn, mr);

	for (done = 0; !ret && done < mr->length; done += PAGE_SIZE)
		ret = lnd_post_page(conn, mr, done);
	if (!ret)
		ret = lnd_conn_wait(conn, LND_SENT);
	if (ret)
		return ret;
	/*
	 * Invalidate only now, because the device may send pages again during
	 * the transfer.
	 */
	ret = ib_post_send(conn->id->qp, &invalidate, NULL);
	return ret ?: lnd_conn_wait(conn, LND_SENT);
}

static int lnd_send_mapped(struct lnd_conn *conn, struct scatterlist *sgl, int mapped)
{
	struct lnd_ni *ni = conn->ni;
	struct ib_mr *mr = ni->mrs[--ni->free_mrs];
	int ret = -EINVAL;

	if (ib_map_mr_sg(mr, sgl, mapped, NULL, PAGE_SIZE) == mapped) {
		ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
		ret = lnd_send_mr(conn, mr);
	}
	if (ret) {
		/*
		 * The device may use the memory and the MR until the queue pair
		 * is destroyed.
		 */
		lnd_conn_die(conn);
		lnd_conns_free(ni, false);
		ib_dereg_mr(mr);
		mr = ib_alloc_mr(ni->pd, IB_MR_TYPE_MEM_REG, LND_MAX_FRAGS);
	}
	/*
	 * The new MR takes the charge of the old MR. Without a new MR, the pool
	 * has one MR less.
	 */
	if (!IS_ERR(mr))
		ni->mrs[ni->free_mrs++] = mr;
	return ret;
}

/*
 * Send once. The MRs are already charged, so charge only the memory of this
 * transfer.
 */
static int lnd_send_one(struct lnd_ni *ni, struct lnd_conn *conn, unsigned int bytes)
{
	const struct ib_rdmacg_objects objects = { .mr_mem = bytes };
	struct scatterlist *sgl;
	unsigned int nents;
	int mapped, ret;

	if (!ni->free_mrs)
		return -ENOMEM;
	ret = ib_rdmacg_try_charge_objects(ni->cg, ni->device, &objects);
	if (ret)
		return ret;
	ret = -ENOMEM;
	sgl = sgl_alloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO, &nents);
	if (!sgl)
		goto uncharge;
	mapped = ib_dma_map_sg(ni->device, sgl, nents, DMA_TO_DEVICE);
	if (mapped) {
		ret = lnd_send_mapped(conn, sgl, mapped);
		ib_dma_unmap_sg(ni->device, sgl, nents, DMA_TO_DEVICE);
	}
	sgl_free(sgl);
uncharge:
	ib_rdmacg_uncharge_objects(ni->cg, ni->device, &objects);
	return ret;
}

/* Use the connections in turn. */
static struct lnd_conn *lnd_next_conn(struct lnd_ni *ni)
{
	struct lnd_conn *conn, *found = NULL;

	spin_lock(&ni->conns_lock);
	list_for_each_entry(conn, &ni->conns, entry) {
		if (READ_ONCE(conn->state) == LND_ESTABLISHED) {
			list_move_tail(&conn->entry, &ni->conns);
			found = conn;
			break;
		}
	}
	spin_unlock(&ni->conns_lock);
	return found;
}

/*
 * Send memory of @bytes to the peer, @count times, and stop at the first error.
 */
int lnd_send(struct lnd_ni *ni, unsigned int count, unsigned int bytes)
{
	struct lnd_conn *conn;
	int ret = 0;

	if (bytes > LND_MAX_FRAGS * PAGE_SIZE)
		return -EMSGSIZE;
	for (; count && !ret; count--) {
		lnd_conns_free(ni, false);
		conn = lnd_next_conn(ni);
		ret = conn ? lnd_send_one(ni, conn, bytes) : -ENOTCONN;
	}
	return ret;
}
