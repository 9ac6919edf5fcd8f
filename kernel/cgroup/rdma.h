/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA cgroup controller: the files. Only rdma.c uses all parts of the
 * controller. This header declares the parts of rdma.c that rdma-subsys.c and
 * tests use.
 */
#ifndef _KERNEL_CGROUP_RDMA_H
#define _KERNEL_CGROUP_RDMA_H

#include <linux/seq_file.h>

#include "rdma-control.h"
#include "rdma-limit.h"

/* The kinds of files, by their content. */
enum rdmacg_file {
	RDMACG_FILE_MAX,
	RDMACG_FILE_CURRENT,
	RDMACG_FILE_PEAK,
	RDMACG_FILE_EVENTS,
	RDMACG_FILE_EVENTS_LOCAL,
	RDMACG_FILE_CAPACITY,
	RDMACG_FILE_STAT,
	RDMACG_FILE_DEFAULT,
	RDMACG_FILES,
};

/* The files of the controller. */
extern struct cftype rdmacg_files[];

/* Notify the readers of an events file. */
void rdmacg_notify(struct rdma_cgroup *cg, enum rdmacg_class class, bool is_local);

void rdmacg_show_line(struct seq_file *sf, struct rdma_cgroup *cg,
		      const struct rdmacg_desc *desc, enum rdmacg_class class,
		      enum rdmacg_file file);

#endif /* _KERNEL_CGROUP_RDMA_H */
