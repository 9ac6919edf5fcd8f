// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges of SMC-R to RDMA cgroups. smc_rdmacg.h explains who pays. All
 * functions run in process context, perhaps of a worker, and may sleep.
 */
#include <linux/cgroup_rdma.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/string.h>

#include "smc_ib.h"
#include "smc_rdmacg.h"

/* Replace *@payer with @cg. Both may be NULL. */
static void smc_rdmacg_set_payer(struct rdma_cgroup **payer, struct rdma_cgroup *cg)
{
	struct rdma_cgroup *old = *payer;

	if (cg)
		rdmacg_get(cg);
	WRITE_ONCE(*payer, cg);
	if (old)
		rdmacg_put(old);
}

/*
 * Make the cgroup of the current process the payer of a new socket. A worker
 * that creates a socket also calls smc_rdmacg_inherit().
 */
void smc_rdmacg_init_sock(struct smc_sock *smc)
{
	smc->cg = rdmacg_get_current();
}

void smc_rdmacg_inherit(struct smc_sock *smc, const struct smc_sock *listener)
{
	smc_rdmacg_set_payer(&smc->cg, listener->cg);
}

void smc_rdmacg_exit_sock(struct smc_sock *smc)
{
	smc_rdmacg_set_payer(&smc->cg, NULL);
}

void smc_rdmacg_init_lgr(struct smc_link_group *lgr, const struct smc_sock *smc)
{
	smc_rdmacg_set_payer(&lgr->cg, smc->cg);
}

void smc_rdmacg_exit_lgr(struct smc_link_group *lgr)
{
	smc_rdmacg_set_payer(&lgr->cg, NULL);
}

static const struct ib_rdmacg_objects smc_rdmacg_link = { .pd = 1, .qp = 1 };

/*
 * Charge the objects of a new link. Returns 0 or -ENOMEM, which SMC reports to
 * the peer.
 */
int smc_rdmacg_charge_link(struct smc_link *lnk)
{
	if (ib_rdmacg_try_charge_objects(lnk->lgr->cg, lnk->smcibdev->ibdev, &smc_rdmacg_link))
		return -ENOMEM;
	lnk->is_charged = true;
	return 0;
}

void smc_rdmacg_uncharge_link(struct smc_link *lnk)
{
	if (lnk->is_charged)
		ib_rdmacg_uncharge_objects(lnk->lgr->cg, lnk->smcibdev->ibdev,
					   &smc_rdmacg_link);
	lnk->is_charged = false;
}

static struct ib_rdmacg_objects smc_rdmacg_buf(const struct smc_buf_desc *buf_desc)
{
	return (struct ib_rdmacg_objects) { .mr = 1, .mr_mem = buf_desc->len };
}

/* Return the charge of a buffer on a link, if there is one. */
void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk)
{
	struct ib_rdmacg_objects objects = smc_rdmacg_buf(buf_desc);

	if (buf_desc->is_charged[lnk->link_idx])
		ib_rdmacg_uncharge_objects(buf_desc->cg, lnk->smcibdev->ibdev, &objects);
	buf_desc->is_charged[lnk->link_idx] = false;
}

/*
 * Unmap a buffer. SMC sends a new key to the peer when the buffer gets its next
 * MR.
 */
static void smc_rdmacg_unmap_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc,
				 bool is_rmb)
{
	int i;

	for (i = 0; i < SMC_LINKS_PER_LGR_MAX; i++)
		smcr_buf_unmap_link(buf_desc, is_rmb, &lgr->lnk[i]);
	buf_desc->is_conf_rkey = false;
}

/*
 * Let other connections use a buffer. Drop a payer without a charge, so that
 * its cgroup can be freed. The lock keeps a new link from charging the payer
 * meanwhile.
 */
static void smc_rdmacg_unuse_buf_locked(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc)
{
	lockdep_assert_held(&lgr->llc_conf_mutex);
	if (!memchr_inv(buf_desc->is_charged, false, sizeof(buf_desc->is_charged)))
		smc_rdmacg_set_payer(&buf_desc->cg, NULL);
	/* smc_buf_get_slot() uses the buffer as soon as it sees this. */
	smp_store_release(&buf_desc->used, 0);
}

/* Let other connections use a buffer, whose connection has ended. */
void smc_rdmacg_unuse_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc)
{
	down_read(&lgr->llc_conf_mutex);
	smc_rdmacg_unuse_buf_locked(lgr, buf_desc);
	up_read(&lgr->llc_conf_mutex);
}

/*
 * Unmap idle buffers of a list that are charged to @cg, until @wanted bytes are
 * unmapped. Returns the number of unmapped bytes.
 */
static u64 smc_rdmacg_reclaim_bufs(struct smc_link_group *lgr, struct rw_semaphore *lock,
				   struct list_head *bufs, bool is_rmb,
				   const struct rdma_cgroup *cg, u64 wanted)
{
	struct smc_buf_desc *buf_desc;
	u64 unmapped = 0;

	down_read(lock);
	list_for_each_entry(buf_desc, bufs, list) {
		if (unmapped >= wanted)
			break;
		/*
		 * While a buffer is marked as used, no connection changes its
		 * payer.
		 */
		if (READ_ONCE(buf_desc->cg) != cg || cmpxchg(&buf_desc->used, 0, 1))
			continue;
		if (buf_desc->cg == cg) {
			if (memchr_inv(buf_desc->is_charged, false, sizeof(buf_desc->is_charged)))
				unmapped += buf_desc->len;
			smc_rdmacg_unmap_buf(lgr, buf_desc, is_rmb);
		}
		smc_rdmacg_unuse_buf_locked(lgr, buf_desc);
	}
	up_read(lock);
	return unmapped;
}

/*
 * Unmap idle buffers of @lgr that are charged to @cg, the largest first, until
 * @wanted bytes are unmapped. Returns whether there were any. More buffers, and
 * buffers of other groups, stay mapped, because the caller holds the mutex of
 * all client connections, or of all server connections.
 */
static bool smc_rdmacg_reclaim(struct smc_link_group *lgr, const struct rdma_cgroup *cg, u64 wanted)
{
	u64 unmapped = 0;
	int i;

	/*
	 * The mutex keeps links from being cleared while their buffers are
	 * unmapped.
	 */
	lockdep_assert_held(&lgr->llc_conf_mutex);
	for (i = SMC_RMBE_SIZES - 1; i >= 0 && unmapped < wanted; i--) {
		unmapped += smc_rdmacg_reclaim_bufs(lgr, &lgr->rmbs_lock, &lgr->rmbs[i], true, cg,
						    wanted - unmapped);
		if (unmapped < wanted)
			unmapped += smc_rdmacg_reclaim_bufs(lgr, &lgr->sndbufs_lock,
							    &lgr->sndbufs[i], false, cg,
							    wanted - unmapped);
	}
	return unmapped;
}

/*
 * Charge the MR that a buffer is about to get on a link. If @must is set, the
 * charge may exceed the limit. Otherwise unmap enough idle buffers after a
 * refusal, and try once more. Returns 0 or -ENOMEM.
 */
int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk, bool must)
{
	struct ib_rdmacg_objects objects = smc_rdmacg_buf(buf_desc);
	struct ib_device *device = lnk->smcibdev->ibdev;
	struct rdma_cgroup *cg = buf_desc->cg;
	int rc;

	if (must) {
		ib_rdmacg_charge_objects(cg, device, &objects);
	} else {
		rc = ib_rdmacg_try_charge_objects(cg, device, &objects);
		if (rc && smc_rdmacg_reclaim(lnk->lgr, cg, buf_desc->len))
			rc = ib_rdmacg_try_charge_objects(cg, device, &objects);
		if (rc)
			return -ENOMEM;
	}
	buf_desc->is_charged[lnk->link_idx] = true;
	return 0;
}

/*
 * Move the charge of a buffer to the payer of the socket. The caller has marked
 * the buffer as used. The old payer is uncharged first, so that a common
 * ancestor is not charged twice. If the new payer has no room, the MRs are
 * removed. The caller charges again when it maps the buffer, and fails if there
 * is still no room.
 */
void smc_rdmacg_take_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc,
			 bool is_rmb, const struct smc_sock *smc)
{
	bool is_charged[SMC_LINKS_PER_LGR_MAX];
	int i, rc = 0;

	/* A send buffer of contiguous pages gets no MR. */
	if (buf_desc->cg == smc->cg || (!is_rmb && !buf_desc->is_vm))
		return;
	down_read(&lgr->llc_conf_mutex);
	memcpy(is_charged, buf_desc->is_charged, sizeof(is_charged));
	for (i = 0; i < SMC_LINKS_PER_LGR_MAX; i++)
		smc_rdmacg_uncharge_buf(buf_desc, &lgr->lnk[i]);
	smc_rdmacg_set_payer(&buf_desc->cg, smc->cg);
	for (i = 0; i < SMC_LINKS_PER_LGR_MAX && !rc; i++)
		if (is_charged[i])
			rc = smc_rdmacg_charge_buf(buf_desc, &lgr->lnk[i], false);
	if (rc)
		smc_rdmacg_unmap_buf(lgr, buf_desc, is_rmb);
	up_read(&lgr->llc_conf_mutex);
}

/* Drop the payer of a buffer that is about to be freed and has no MR. */
void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc)
{
	smc_rdmacg_set_payer(&buf_desc->cg, NULL);
}
