/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMC-R has these charges in the RDMA cgroup controller:
 *
 * - Each link of a group is charged as a PD and a QP. Its payer is the payer of
 *   the socket for which the group was created.
 * - Each buffer is charged as an MR and its bytes, once for each link. Its
 *   payer is the payer of the last socket that used the buffer.
 *
 * The payer of a socket is the cgroup of the process that created the socket.
 * The payer of an accepted socket is the payer of the listener. SMC unmaps idle
 * buffers of the same payer in the same link group if a charge would exceed a
 * limit. The connection falls back to TCP if there is still no room. A new link
 * of a group maps all buffers in use, and may exceed the limit, because the
 * connections of these buffers can fail over to the new link. Objects that all
 * groups of a device share are not charged.
 */
#ifndef _SMC_RDMACG_H
#define _SMC_RDMACG_H

#include "smc.h"
#include "smc_core.h"

#ifdef CONFIG_CGROUP_RDMA_SMC

void smc_rdmacg_init_sock(struct smc_sock *smc);
void smc_rdmacg_inherit(struct smc_sock *smc, const struct smc_sock *listener);
void smc_rdmacg_exit_sock(struct smc_sock *smc);

void smc_rdmacg_init_lgr(struct smc_link_group *lgr, const struct smc_sock *smc);
void smc_rdmacg_exit_lgr(struct smc_link_group *lgr);

int smc_rdmacg_charge_link(struct smc_link *lnk);
void smc_rdmacg_uncharge_link(struct smc_link *lnk);

void smc_rdmacg_take_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc,
			 bool is_rmb, const struct smc_sock *smc);
void smc_rdmacg_unuse_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc);
void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc);
int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk, bool must);
void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk);

#else /* CONFIG_CGROUP_RDMA_SMC */

static inline void smc_rdmacg_init_sock(struct smc_sock *smc)
{
}

static inline void smc_rdmacg_inherit(struct smc_sock *smc, const struct smc_sock *listener)
{
}

static inline void smc_rdmacg_exit_sock(struct smc_sock *smc)
{
}

static inline void smc_rdmacg_init_lgr(struct smc_link_group *lgr, const struct smc_sock *smc)
{
}

static inline void smc_rdmacg_exit_lgr(struct smc_link_group *lgr)
{
}

static inline int smc_rdmacg_charge_link(struct smc_link *lnk)
{
	return 0;
}

static inline void smc_rdmacg_uncharge_link(struct smc_link *lnk)
{
}

static inline void smc_rdmacg_take_buf(struct smc_link_group *lgr,
				       struct smc_buf_desc *buf_desc, bool is_rmb,
				       const struct smc_sock *smc)
{
}

static inline void smc_rdmacg_unuse_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc)
{
	WRITE_ONCE(buf_desc->used, 0);
}

static inline void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc)
{
}

static inline int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk,
					bool must)
{
	return 0;
}

static inline void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk)
{
}

#endif /* CONFIG_CGROUP_RDMA_SMC */
#endif /* _SMC_RDMACG_H */
