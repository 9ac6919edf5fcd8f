/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who pays, in the RDMA cgroup controller, for what SMC-R takes of an RDMA device:
 *
 * - A link of a group, one PD and one QP: the payer of the socket that the group was made
 *   for.
 * - A buffer, an MR on each link where it has one, with its bytes: the payer of the socket
 *   that uses it, or was the last to do so. In other hands it gets new MRs.
 *
 * A socket's payer is the cgroup of the process that made it; an accepted socket has that of
 * its listener. At a limit a connection falls back to TCP. What is shared by a device is free.
 */
#ifndef _SMC_RDMACG_H
#define _SMC_RDMACG_H

#include "smc.h"
#include "smc_clc.h"
#include "smc_core.h"

/* The reason for TCP, also told to the peer: a limit of an RDMA cgroup. */
#define SMC_CLC_DECL_RDMACG 0x01020000

/* What a failure to make a link or a buffer is told as. */
static inline int smc_rdmacg_reason(int rc)
{
	return rc == -EDQUOT ? SMC_CLC_DECL_RDMACG : SMC_CLC_DECL_MEM;
}

void smc_rdmacg_init_sock(struct smc_sock *smc);
void smc_rdmacg_inherit(struct smc_sock *smc, const struct smc_sock *listener);
void smc_rdmacg_exit_sock(struct smc_sock *smc);

void smc_rdmacg_init_lgr(struct smc_link_group *lgr, const struct smc_sock *smc);
void smc_rdmacg_exit_lgr(struct smc_link_group *lgr);

int smc_rdmacg_charge_link(struct smc_link *lnk);
void smc_rdmacg_uncharge_link(struct smc_link *lnk);

struct smc_buf_desc *smc_rdmacg_own_slot(struct rw_semaphore *lock, struct list_head *buf_list,
					 const struct rdma_cgroup *cg);
void smc_rdmacg_take_buf(struct smc_link_group *lgr, struct smc_buf_desc *buf_desc, bool is_rmb,
			 struct rdma_cgroup *cg);
void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc);
int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk);
void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk);

/* smc_core.c */
void smcr_buf_unmap_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk);

#endif /* _SMC_RDMACG_H */
