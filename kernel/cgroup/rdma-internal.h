/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the RDMA cgroup controller share:
 *
 *   rdma.c        cgroup callbacks, files, devices, the API
 *   rdma-pool.c   pools; knows no file
 *   rdma-parse.c  text to limits and limits to text; knows no lock
 */
#ifndef _KERNEL_CGROUP_RDMA_INTERNAL_H
#define _KERNEL_CGROUP_RDMA_INTERNAL_H

#include <linux/cgroup.h>
#include <linux/cgroup_rdma.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/xarray.h>

/* No limit; users read and write it as "max". All lower values are limits. */
#define RDMACG_NO_LIMIT ((u64)S64_MAX)

/* Linux before 6.12.117 and between 6.13 and 7.0 has no typed allocators. */
#ifndef kzalloc_obj
#define kzalloc_obj(object) kzalloc(sizeof(object), GFP_KERNEL)
#endif

/*
 * One resource in one pool. All are counts of objects. @usage exceeds @max only
 * where @max was lowered under it. @staged is @max but while a write is checked:
 * then it is what @max becomes if all of the write's lines are good.
 */
struct rdmacg_slot {
	u64			usage;		/* rdmacg_mutex */
	u64			max;		/* rdmacg_mutex */
	u64			staged;		/* rdmacg_mutex */
};

/*
 * The slots of one cgroup on one device. A pool comes with the first limit or
 * the first charge and is given back when it has neither usage nor limit; a
 * cgroup without a pool on a device uses nothing there and has no limit. It also
 * goes when its device is unregistered. The root cgroup has no pools.
 */
struct rdmacg_pool {
	struct rdma_cgroup	*cg;		/* set once */
	struct rdmacg_device	*device;	/* set once */
	struct list_head	device_node;	/* on device->pools; rdmacg_mutex */
	struct rdmacg_slot	slots[RDMACG_RESOURCE_MAX];
};

/*
 * The controller's part of one cgroup. Freed by the cgroup core after the last
 * reference, of which each charge holds one, so no charge outlives it.
 */
struct rdma_cgroup {
	struct cgroup_subsys_state css;
	struct xarray		pools;		/* by device id; rdmacg_mutex */
};

/*
 * Guards every pool, the pools' places in cgroups and devices, and the table of
 * devices. Innermost: taken below kernfs and the locks of the IB core, and
 * nothing but the memory allocator is called with it held.
 */
extern struct mutex rdmacg_mutex;

static inline struct rdma_cgroup *rdmacg_from_css(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct rdma_cgroup, css) : NULL;
}

static inline struct rdma_cgroup *rdmacg_parent(struct rdma_cgroup *cg)
{
	return rdmacg_from_css(cg->css.parent);
}

/* rdma-pool.c */
struct rdmacg_pool *rdmacg_pool_find_locked(struct rdma_cgroup *cg,
					    struct rdmacg_device *device);
struct rdmacg_pool *rdmacg_pool_get_locked(struct rdma_cgroup *cg,
					   struct rdmacg_device *device);
void rdmacg_pool_set_max_locked(struct rdmacg_pool *pool, unsigned int slot, u64 max);
void rdmacg_pool_give_back_locked(struct rdmacg_pool *pool);
u64 rdmacg_pool_usage_locked(const struct rdmacg_pool *pool, unsigned int slot);
u64 rdmacg_pool_max_locked(const struct rdmacg_pool *pool, unsigned int slot);
int rdmacg_pool_try_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			   unsigned int slot);
void rdmacg_pool_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
			  unsigned int slot);
void rdmacg_pools_offline(struct rdma_cgroup *cg);
void rdmacg_pools_free_locked(struct rdmacg_device *device);

/*
 * One line of text written to a file of limits. @name points into the text and
 * is not terminated.
 */
struct rdmacg_line {
	const char		*name;
	size_t			name_len;
	bool			has_index;
	u32			index;
	unsigned long		given;		/* the slots that have a new @max */
	u64			max[RDMACG_RESOURCE_MAX];
};

/* rdma-parse.c */
extern const char *const rdmacg_resource_names[RDMACG_RESOURCE_MAX];

int rdmacg_parse_line(const char **text, struct rdmacg_line *line);
void rdmacg_print_device(struct seq_file *sf, const struct rdmacg_device *device,
			 bool unique);
void rdmacg_print_value(struct seq_file *sf, const char *key, u64 value);

/* rdma.c */
int rdmacg_set_max(struct rdma_cgroup *cg, const char *text);
void rdmacg_show(struct seq_file *sf, struct rdma_cgroup *cg,
		 u64 (*value)(const struct rdmacg_pool *pool, unsigned int slot));

#endif /* _KERNEL_CGROUP_RDMA_INTERNAL_H */
