/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: the resources of the verb class, in the order of the
 * files. First come the types of uverbs objects, in the order of enum
 * uverbs_default_objects, and then the other resources.
 *
 * Each line has the last part of the resource's name in C, its key in the
 * files, a pointer of struct ib_device that is NULL if the device does not have
 * the resource, and the attribute of the device with the capacity. A 0 means
 * that each device has the resource, or that no attribute has the capacity.
 *
 * The file that includes this one defines RDMACG_VERB(), and RDMACG_OBJECT() if
 * types of objects need something else.
 */
#ifndef RDMACG_OBJECT
#define RDMACG_OBJECT RDMACG_VERB
#endif

RDMACG_OBJECT(PD, "pd", RDMACG_HAS(ops.dealloc_pd), RDMACG_MAX(max_pd))
RDMACG_OBJECT(COMP_CHANNEL, "comp_channel", RDMACG_HAS(ops.dealloc_pd), 0)
RDMACG_OBJECT(CQ, "cq", RDMACG_HAS(ops.destroy_cq), RDMACG_MAX(max_cq))
RDMACG_OBJECT(QP, "qp", RDMACG_HAS(ops.destroy_qp), RDMACG_MAX(max_qp))
RDMACG_OBJECT(SRQ, "srq", RDMACG_HAS(ops.destroy_srq), RDMACG_MAX(max_srq))
RDMACG_OBJECT(AH, "ah", RDMACG_HAS(ops.destroy_ah), RDMACG_MAX(max_ah))
RDMACG_OBJECT(MR, "mr", RDMACG_HAS(ops.dereg_mr), RDMACG_MAX(max_mr))
RDMACG_OBJECT(MW, "mw", RDMACG_HAS(ops.dealloc_mw), RDMACG_MAX(max_mw))
RDMACG_OBJECT(FLOW, "flow", RDMACG_HAS(ops.destroy_flow), 0)
RDMACG_OBJECT(XRCD, "xrcd", RDMACG_HAS(ops.dealloc_xrcd), 0)
RDMACG_OBJECT(RWQ_IND_TBL, "rwq_ind_tbl", RDMACG_HAS(ops.destroy_rwq_ind_table),
	      RDMACG_MAX(rss_caps.max_rwq_indirection_tables))
RDMACG_OBJECT(WQ, "wq", RDMACG_HAS(ops.destroy_wq), RDMACG_MAX(max_wq_type_rq))
RDMACG_OBJECT(FLOW_ACTION, "flow_action", RDMACG_HAS(ops.destroy_flow_action), 0)
RDMACG_OBJECT(DM, "dm", RDMACG_HAS(ops.dealloc_dm), 0)
RDMACG_OBJECT(COUNTERS, "counters", RDMACG_HAS(ops.destroy_counters), 0)
RDMACG_OBJECT(ASYNC_EVENT, "async_event", 0, 0)

RDMACG_VERB(DRIVER_OBJECT, "driver_object", RDMACG_HAS(driver_def), 0)
RDMACG_VERB(MR_MEM, "mr_mem", RDMACG_HAS(ops.dereg_mr), 0)
RDMACG_VERB(DM_MEM, "dm_mem", RDMACG_HAS(ops.dealloc_dm), RDMACG_MAX(max_dm_size))
RDMACG_VERB(MCAST, "mcast", RDMACG_HAS(ops.attach_mcast), RDMACG_MAX(max_total_mcast_qp_attach))
RDMACG_VERB(CM_ID, "cm_id", 0, 0)

#undef RDMACG_OBJECT
#undef RDMACG_VERB
