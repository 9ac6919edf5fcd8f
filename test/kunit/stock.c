// SPDX-License-Identifier: GPL-2.0-only
/* The root of the KUnit suites, and functions that the kernel does not export. */
#include <linux/kernfs.h>
#include <linux/memcontrol.h>
#include <linux/module.h>

#include "../kernel/cgroup/rdma.h"

static struct cgroup_subsys_state *rdmacg_root;
/* NULL selects the memory cgroup of the process. */
struct mem_cgroup *root_mem_cgroup;

struct cgroup_subsys_state *rdmacg_kunit_get_root(void)
{
	return rdmacg_root;
}

/* The suites write to no file, so the next two functions are never called. */
void kernfs_break_active_protection(struct kernfs_node *kn)
{
	WARN_ON(1);
}

void kernfs_unbreak_active_protection(struct kernfs_node *kn)
{
	WARN_ON(1);
}

/* The cgroups of the suites have no files to notify. */
void cgroup_file_notify(struct cgroup_file *cfile)
{
	WARN_ON(cfile->kn);
}

static int __init rdmacg_kunit_init(void)
{
	rdmacg_root = rdma_cgrp_subsys.css_alloc(NULL);
	rdmacg_root->flags = CSS_NO_REF;
	rdmacg_root->cgroup = &cgrp_dfl_root.cgrp;
	return 0;
}

module_init(rdmacg_kunit_init);
MODULE_LICENSE("GPL");
