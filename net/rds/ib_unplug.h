/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What RDS does so that a device can go while processes hold memory regions on it. A region
 * in use kept its connection from shutting down, and so the device from going, until the
 * process freed it; and what it had was freed after the device was gone.
 */
#ifndef _RDS_IB_UNPLUG_H
#define _RDS_IB_UNPLUG_H

#include <linux/srcu.h>

#include "ib_mr.h"

/*
 * Read by who has found a device and is about to bind something to it: a connection or a
 * region. Once it is synchronized, a device that cannot be found any more gets no others.
 */
extern struct srcu_struct rds_ib_binding;

void rds_ib_init_mrs(struct rds_ib_device *rds_ibdev);
void rds_ib_add_mr(struct rds_ib_device *rds_ibdev, struct rds_ib_mr *ibmr);
void rds_ib_del_mr(struct rds_ib_mr *ibmr);
void rds_ib_revoke_mrs(struct rds_ib_connection *ic);

void *rds_ib_bind_mr(struct scatterlist *sg, unsigned long nents, struct rds_sock *rs,
		     u32 *key_ret, struct rds_connection *conn, u64 start, u64 length,
		     int need_odp);

void rds_ib_settle(struct rds_ib_device *rds_ibdev);

/* ib.c and ib_frmr.c */
void rds_ib_dev_shutdown(struct rds_ib_device *rds_ibdev);
void rds_transition_frwr_state(struct rds_ib_mr *ibmr, enum rds_ib_fr_state old_state,
			       enum rds_ib_fr_state new_state);

#endif /* _RDS_IB_UNPLUG_H */
