/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The charges of cgroup.h that concern RDMA devices.
 */
#ifndef _RDS_IB_CGROUP_H
#define _RDS_IB_CGROUP_H

#include "ib.h"

struct rds_ib_mr_pool;

int rds_ib_charge_conn(struct rds_connection *conn);
void rds_ib_uncharge_conn(struct rds_connection *conn);
void rds_ib_setup_failed(struct rds_connection *conn, int err);

int rds_ib_charge_mr(struct ib_rdmacg_charge *charge, struct rds_ib_device *rds_ibdev,
		     u64 length);
void rds_ib_flush_soon(struct rds_ib_mr_pool *pool);

#endif /* _RDS_IB_CGROUP_H */
