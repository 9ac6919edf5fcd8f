// SPDX-License-Identifier: GPL-2.0-only
/*
 * These functions let a device be removed while processes hold memory regions
 * on it. Without them, the shutdown of a connection and the removal of the
 * device would wait until the processes free their regions, and RDS would free
 * MRs after the device is removed.
 */
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/srcu.h>

#include "ib_mr.h"

/*
 * RDS finds a device, and binds a connection or a region to it, in one section
 * of this SRCU. Once a device can no longer be found and synchronize_srcu() has
 * returned, nothing more is bound to it.
 */
DEFINE_SRCU(rds_ib_binding);

void rds_ib_add_mr(struct rds_ib_device *rds_ibdev, struct rds_ib_mr *ibmr)
{
	mutex_lock(&rds_ibdev->mrs_lock);
	list_add(&ibmr->dev_node, &rds_ibdev->mrs);
	mutex_unlock(&rds_ibdev->mrs_lock);
}

/*
 * Remove an MR from the list of its device before the MR is freed. This has no
 * effect if rds_ib_settle() has already removed the MR.
 */
void rds_ib_del_mr(struct rds_ib_mr *ibmr)
{
	mutex_lock(&ibmr->device->mrs_lock);
	list_del_init(&ibmr->dev_node);
	mutex_unlock(&ibmr->device->mrs_lock);
}

/*
 * Until rds_ib_unlock_pools(), RDS neither invalidates nor frees MRs of the
 * device.
 */
static void rds_ib_lock_pools(struct rds_ib_device *rds_ibdev)
{
	mutex_lock(&rds_ibdev->mr_8k_pool->flush_lock);
	mutex_lock_nested(&rds_ibdev->mr_1m_pool->flush_lock, SINGLE_DEPTH_NESTING);
}

static void rds_ib_unlock_pools(struct rds_ib_device *rds_ibdev)
{
	mutex_unlock(&rds_ibdev->mr_1m_pool->flush_lock);
	mutex_unlock(&rds_ibdev->mr_8k_pool->flush_lock);
	wake_up(&rds_ibdev->mr_8k_pool->flush_wait);
	wake_up(&rds_ibdev->mr_1m_pool->flush_wait);
}

/*
 * Mark the MRs of a connection as stale, so that its shutdown does not wait for
 * the processes that hold the MRs. RDS does not use a stale MR again, and
 * deregisters it when it is freed. The shutdown still waits for work requests
 * for MRs, which i_fastreg_wrs counts. Afterwards, no request invalidates an
 * MR, because no MR is in use.
 */
void rds_ib_revoke_mrs(struct rds_ib_connection *ic)
{
	struct rds_ib_device *rds_ibdev = ic->rds_ibdev;
	struct rds_ib_mr *ibmr;

	if (!rds_ibdev)
		return;
	rds_ib_lock_pools(rds_ibdev);
	mutex_lock(&rds_ibdev->mrs_lock);
	list_for_each_entry(ibmr, &rds_ibdev->mrs, dev_node)
		if (ibmr->ic == ic)
			rds_transition_frwr_state(ibmr, FRMR_IS_INUSE, FRMR_IS_STALE);
	mutex_unlock(&rds_ibdev->mrs_lock);
	rds_ib_unlock_pools(rds_ibdev);
}

static bool rds_ib_has_conns(struct rds_ib_device *rds_ibdev)
{
	bool has_conns;

	spin_lock_irq(&rds_ibdev->spinlock);
	has_conns = !list_empty(&rds_ibdev->conn_list);
	spin_unlock_irq(&rds_ibdev->spinlock);
	return has_conns;
}

/*
 * Deregister an MR that a process holds. Its pages stay until the process frees
 * the MR.
 */
static void rds_ib_disown_mr(struct rds_ib_device *rds_ibdev, struct rds_ib_mr *ibmr)
{
	/*
	 * Deregister the MR before its pages are unmapped, because the peer can
	 * write to the pages until then.
	 */
	ib_dereg_mr(ibmr->u.frmr.mr);
	ibmr->u.frmr.mr = NULL;
	if (ibmr->sg_dma_len)
		ib_dma_unmap_sg(rds_ibdev->dev, ibmr->sg, ibmr->sg_len, DMA_BIDIRECTIONAL);
	ibmr->sg_dma_len = 0;
	ibmr->u.frmr.fr_state = FRMR_IS_STALE;
}

static struct rds_ib_mr *rds_ib_first_mr(struct rds_ib_device *rds_ibdev)
{
	struct rds_ib_mr *ibmr;

	mutex_lock(&rds_ibdev->mrs_lock);
	ibmr = list_first_entry_or_null(&rds_ibdev->mrs, struct rds_ib_mr, dev_node);
	if (ibmr)
		list_del_init(&ibmr->dev_node);
	mutex_unlock(&rds_ibdev->mrs_lock);
	return ibmr;
}

/*
 * Wait until RDS uses nothing on a device that is being removed. The caller has
 * ensured that RDS no longer finds the device. First wait for the connections,
 * which shut down after rds_ib_dev_shutdown(). Then free or deregister all
 * regions, and free the PD.
 */
void rds_ib_settle(struct rds_ib_device *rds_ibdev)
{
	struct rds_ib_mr *ibmr;
	unsigned int tries;

	synchronize_srcu(&rds_ib_binding);
	for (tries = 0; rds_ib_has_conns(rds_ibdev); tries++) {
		/*
		 * Repeat the call, because some connections may have been bound
		 * late or may be connecting.
		 */
		if (tries % 50 == 0)
			rds_ib_dev_shutdown(rds_ibdev);
		msleep(20);
	}
	rds_ib_flush_mr_pool(rds_ibdev->mr_8k_pool, 1, NULL);
	rds_ib_flush_mr_pool(rds_ibdev->mr_1m_pool, 1, NULL);
	/* From now on, rds_ib_sync_mr() does not use memory that is unmapped below. */
	WRITE_ONCE(rds_ibdev->is_settled, true);
	synchronize_srcu(&rds_ib_binding);
	rds_ib_lock_pools(rds_ibdev);
	while ((ibmr = rds_ib_first_mr(rds_ibdev)))
		rds_ib_disown_mr(rds_ibdev, ibmr);
	rds_ib_unlock_pools(rds_ibdev);
	/*
	 * On-demand regions may still use the PD, and RDS has no list of them.
	 */
	if (atomic_read(&rds_ibdev->pd->usecnt))
		return;
	ib_dealloc_pd(rds_ibdev->pd);
	rds_ibdev->pd = NULL;
}
