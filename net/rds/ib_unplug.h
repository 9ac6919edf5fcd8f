/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that let a device be removed while processes hold memory regions on it. Without these
 * functions, the shutdown of a connection and the removal of the device wait until the process
 * frees the region, and RDS frees its MRs after the device is removed.
 */
#ifndef _RDS_IB_UNPLUG_H
#define _RDS_IB_UNPLUG_H

#include <linux/srcu.h>

#include "ib_mr.h"

/*
 * A section in which code finds a device and binds a connection or a region to it. After
 * synchronize_srcu(), a device that cannot be found gets no more connections and regions.
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
