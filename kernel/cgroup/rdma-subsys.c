// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the subsystem of cgroups, which creates and frees
 * their structs.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "rdma.h"

/*
 * The cache for struct rdma_cgroup. kmalloc() would use almost twice the
 * memory. Set once.
 */
static struct kmem_cache *rdmacg_cgroup_cache;

static struct cgroup_subsys_state *
rdmacg_css_alloc(struct cgroup_subsys_state *parent)
{
	struct rdma_cgroup *above = rdmacg_from_css(parent);
	struct rdma_cgroup *cg;

	/*
	 * The error is the same as for cgroup.max.depth. There is no message,
	 * because a tenant could fill the log with messages.
	 */
	if (above && above->depth == RDMACG_MAX_DEPTH)
		return ERR_PTR(-EAGAIN);
	/*
	 * The first cgroup is the root, which is created while the kernel
	 * boots.
	 */
	if (!above)
		rdmacg_cgroup_cache = KMEM_CACHE(rdma_cgroup, SLAB_PANIC | SLAB_ACCOUNT);
	cg = kmem_cache_zalloc(rdmacg_cgroup_cache, GFP_KERNEL);
	if (!cg)
		return ERR_PTR(-ENOMEM);
	rdmacg_pools_init(cg, above);
	return rdmacg_css(cg);
}

static void rdmacg_css_free(struct cgroup_subsys_state *css)
{
	struct rdma_cgroup *cg = rdmacg_from_css(css);

	rdmacg_pools_free(cg);
	kmem_cache_free(rdmacg_cgroup_cache, cg);
}

void rdmacg_notify(struct rdma_cgroup *cg, enum rdmacg_class class, bool is_local)
{
	cgroup_file_notify(is_local ? &cg->files.events_local[class] : &cg->files.events[class]);
}

struct cgroup_subsys rdma_cgrp_subsys = {
	.css_alloc	= rdmacg_css_alloc,
	.css_free	= rdmacg_css_free,
	.legacy_cftypes	= rdmacg_files,
	.dfl_cftypes	= rdmacg_files,
};
