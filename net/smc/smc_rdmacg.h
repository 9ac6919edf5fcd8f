/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who pays, in the RDMA cgroup controller, for what SMC-R takes of an RDMA device:
 *
 * - A link of a group, one PD and one QP: the payer of the socket that the group was made
 *   for.
 * - A buffer, an MR on each link where it has one, with its bytes: the payer of the socket
 *   that uses it, or was the last to do so.
 *
 * A socket's payer is the cgroup of the process that made it; an accepted socket has that of
 * its listener. At a limit SMC unmaps the payer's idle buffers, and if that does not help, the
 * connection falls back to TCP. A new link of a group maps the buffers in use above the limit:
 * it is what their owners fail over to. What is shared by a device is free.
 */
#ifndef _SMC_RDMACG_H
#define _SMC_RDMACG_H

#include "smc.h"
#include "smc_core.h"

/* smc_core.c */
extern struct smc_lgr_list smc_lgr_list;
void smcr_buf_unmap_link(struct smc_buf_desc *buf_desc, bool is_rmb, struct smc_link *lnk);

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
void smc_rdmacg_exit_buf(struct smc_buf_desc *buf_desc);
int smc_rdmacg_charge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk, bool must);
void smc_rdmacg_uncharge_buf(struct smc_buf_desc *buf_desc, struct smc_link *lnk);
bool smc_rdmacg_reclaim(const struct smc_sock *smc);

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

static inline bool smc_rdmacg_reclaim(const struct smc_sock *smc)
{
	return false;
}

#endif /* CONFIG_CGROUP_RDMA_SMC */
#endif /* _SMC_RDMACG_H */
