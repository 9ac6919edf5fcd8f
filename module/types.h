/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of uverbs objects: RDMACG_TYPE(TYPE, KEY, OPERATION). A device has
 * objects of a type if it has this operation. The file that includes this one
 * defines RDMACG_TYPE.
 */
RDMACG_TYPE(PD, "pd", dealloc_pd)
RDMACG_TYPE(COMP_CHANNEL, "comp_channel", dealloc_pd)
RDMACG_TYPE(CQ, "cq", destroy_cq)
RDMACG_TYPE(QP, "qp", destroy_qp)
RDMACG_TYPE(SRQ, "srq", destroy_srq)
RDMACG_TYPE(AH, "ah", destroy_ah)
RDMACG_TYPE(MR, "mr", dereg_mr)
RDMACG_TYPE(MW, "mw", dealloc_mw)
RDMACG_TYPE(FLOW, "flow", destroy_flow)
RDMACG_TYPE(XRCD, "xrcd", dealloc_xrcd)
RDMACG_TYPE(RWQ_IND_TBL, "rwq_ind_tbl", destroy_rwq_ind_table)
RDMACG_TYPE(WQ, "wq", destroy_wq)
RDMACG_TYPE(FLOW_ACTION, "flow_action", destroy_flow_action)
RDMACG_TYPE(DM, "dm", dealloc_dm)
RDMACG_TYPE(COUNTERS, "counters", destroy_counters)
RDMACG_TYPE(ASYNC_EVENT, "async_event", dealloc_pd)
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
RDMACG_TYPE(DMAH, "dmah", dealloc_dmah)
RDMACG_TYPE(DMABUF, "dmabuf", mmap_get_pfns)
RDMACG_TYPE(COMP_CNTR, "comp_cntr", destroy_comp_cntr)
#endif
