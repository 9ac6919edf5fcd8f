/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RDS_IB_UNPLUG_H
#define _RDS_IB_UNPLUG_H

/* ib.c */
void rds_ib_dev_shutdown(struct rds_ib_device *rds_ibdev);

/* ib_frmr.c */
void rds_transition_frwr_state(struct rds_ib_mr *ibmr, enum rds_ib_fr_state old_state,
			       enum rds_ib_fr_state new_state);

/* ib_unplug.c */
extern struct srcu_struct rds_ib_binding;
void rds_ib_add_mr(struct rds_ib_device *rds_ibdev, struct rds_ib_mr *ibmr);
void rds_ib_del_mr(struct rds_ib_mr *ibmr);
void rds_ib_revoke_mrs(struct rds_ib_connection *ic);
void rds_ib_settle(struct rds_ib_device *rds_ibdev);
#endif /* _RDS_IB_UNPLUG_H */
