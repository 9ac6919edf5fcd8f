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

/* No suite writes to a file, and no cgroup of theirs has files. */
void kernfs_break_active_protection(struct kernfs_node *kn)
{
	WARN_ON(1);
}

void kernfs_unbreak_active_protection(struct kernfs_node *kn)
{
	WARN_ON(1);
}

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
