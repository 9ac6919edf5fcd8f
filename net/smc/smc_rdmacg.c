// SPDX-License-Identifier: GPL-2.0-only
/*
 * What SMC-R charges to RDMA cgroups: smc_rdmacg.h says who pays for what. All of this
 * runs in processes or workers, and may sleep.
 */
#include <linux/cgroup_rdma.h>
#include <linux/list.h>
#include <linux/rwsem.h>

#include "smc_ib.h"
#include "smc_rdmacg.h"

/* Let @cg pay where *@payer did; either may be NULL. */
static void smc_rdmacg_set_payer(struct rdma_cgroup **payer, struct rdma_cgroup *cg)
{
	struct rdma_cgroup *old = *payer;

	if (cg)
		rdmacg_get(cg);
	WRITE_ONCE(*payer, cg);
	if (old)
		rdmacg_put(old);
}

/* The current process makes the socket; or a worker does, and there is a listener. */
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

/* SMC takes -EAGAIN for other things. */
static int smc_rdmacg_error(int ret)
{
	return ret == -EAGAIN ? -EDQUOT : ret;
}

/* Charge what a link is about to take. 0, -EDQUOT for no room, -ENOMEM or -ENODEV. */
int smc_rdmacg_charge_link(struct smc_link *lnk)
{
	static const struct ib_rdmacg_objects objects = { .pd = 1, .qp = 1 };

	return smc_rdmacg_error(ib_rdmacg_try_charge_objects(&lnk->charge, lnk->lgr->cg,
							     lnk->smcibdev->ibdev, &objects));
}

void smc_rdmacg_uncharge_link(struct smc_link *lnk)
{
	ib_rdmacg_uncharge_objects(&lnk->charge);
}

/* An idle buffer that @cg pays for already, or NULL. */
struct smc_buf_desc *smc_rdmacg_own_slot(struct rw_semaphore *lock, struct list_head *buf_list,
					 const struct rdma_cgroup *cg)
{
	struct smc_buf_desc *buf_desc, *own = NULL;

	down_read(lock);
	list_for_each_entry(buf_desc, buf_list, list) {
		/* Others may take it in between, and leave it with another payer. */
		if (READ_ONCE(buf_desc->cg) == cg && !cmpxchg(&buf_desc->used, 0, 1)) {
			own = buf_desc;
			break;
		}
	}
	up_read(lock);
	return own;
}

/*
 * Let @cg pay for a buffer that the caller has set to used. The MRs of another payer go, so
 * that they are not charged twice, and the other is free of them even if @cg has no room. The
 * caller maps the buffer under the same hold of the lock: a new link maps what is used, too.
 */
void smc_rdmacg_take_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc, bool is_rmb,
			 struct rdma_cgroup *cg)
{
	int i;

	lockdep_assert_held(&lgr->llc_conf_mutex);
	if (buf_desc->cg == cg)
		return;
	for (i = 0; i < SMC_LINKS_PER_LGR_MAX; i++)
		smcr_buf_unmap_link(buf_desc, is_rmb, &lgr->lnk[i]);
	/* A peer that was not told yet need not be: the key is gone. */
	buf_desc->is_conf_rkey = false;
	smc_rdmacg_set_payer(&buf_desc->cg, cg);
}

/* The buffer is about to be freed, and has no MR any more. */
void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc)
{
	smc_rdmacg_set_payer(&buf_desc->cg, NULL);
}

/* Charge the MR that a buffer is about to get on a link. Returns as for a link. */
int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk)
{
	const struct ib_rdmacg_objects objects = { .mr = 1, .mr_mem = buf_desc->len };
	struct ib_rdmacg_charge *charge = &buf_desc->charges[lnk->link_idx];

	return smc_rdmacg_error(ib_rdmacg_try_charge_objects(charge, buf_desc->cg,
							     lnk->smcibdev->ibdev, &objects));
}

/* Give that back, if it is charged. */
void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk)
{
	ib_rdmacg_uncharge_objects(&buf_desc->charges[lnk->link_idx]);
}
