// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: hard limits on the objects that the processes of a
 * cgroup have on each RDMA device.
 *
 * The process that creates an object pays for it, in its cgroup of that moment
 * and in all ancestors but the root, until the object is destroyed: moving the
 * process, passing the file descriptor on or removing the cgroup changes
 * nothing. A charge that finds no room fails with EAGAIN. A limit set below the
 * usage refuses new objects and takes none away.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "rdma-internal.h"

/*
 * All registered devices, by id. Ids grow, so that files list the devices in the
 * order of their registration. rdmacg_mutex.
 */
static DEFINE_XARRAY_ALLOC1(rdmacg_devices);
static u32 rdmacg_next_id;

/**
 * rdmacg_register_device() - let a device take part in accounting
 * @device: the device, with its name and index set
 *
 * To be called before anything can be charged on the device. The caller keeps
 * @device until rdmacg_unregister_device() has returned.
 *
 * Context: Process context; may sleep.
 * Return: 0, or -ENOMEM; after a failure there is nothing to undo.
 */
int rdmacg_register_device(struct rdmacg_device *device)
{
	int ret;

	INIT_LIST_HEAD(&device->pools);
	mutex_lock(&rdmacg_mutex);
	ret = xa_alloc_cyclic(&rdmacg_devices, &device->id, device, xa_limit_31b,
			      &rdmacg_next_id, GFP_KERNEL);
	mutex_unlock(&rdmacg_mutex);
	return ret < 0 ? ret : 0;
}
EXPORT_SYMBOL(rdmacg_register_device);

/**
 * rdmacg_unregister_device() - end a device's part in accounting
 * @device: a registered device on which nothing is charged any more
 *
 * The device's limits in all cgroups go with it. The caller may free @device
 * afterwards.
 *
 * Context: Process context; may sleep.
 */
void rdmacg_unregister_device(struct rdmacg_device *device)
{
	mutex_lock(&rdmacg_mutex);
	rdmacg_pools_free_locked(device);
	xa_erase(&rdmacg_devices, device->id);
	/* No pool has this key: a late uncharge warns instead of hitting a pool. */
	device->id = 0;
	mutex_unlock(&rdmacg_mutex);
}
EXPORT_SYMBOL(rdmacg_unregister_device);

/**
 * rdmacg_try_charge() - charge one unit of a resource to the current process
 * @owner: set on success to the cgroup that pays
 * @device: a registered device
 * @index: the resource
 *
 * On success @owner is pinned until it is handed to rdmacg_uncharge(), which has
 * to happen once, from any process. On failure @owner is left as it was.
 *
 * Context: Process context; may sleep.
 * Return: 0, or -EAGAIN if a limit of the cgroup or of an ancestor stands in the
 * way, -ENOMEM, or -EINVAL for an @index that is no resource.
 */
int rdmacg_try_charge(struct rdma_cgroup **owner, struct rdmacg_device *device,
		      enum rdmacg_resource_type index)
{
	struct rdma_cgroup *cg;
	int ret;

	if (index >= RDMACG_RESOURCE_MAX)
		return -EINVAL;

	cg = rdmacg_from_css(task_get_css(current, rdma_cgrp_id));
	ret = rdmacg_pool_try_charge(cg, device, index);
	if (ret) {
		css_put(&cg->css);
		return ret;
	}
	*owner = cg;
	return 0;
}
EXPORT_SYMBOL(rdmacg_try_charge);

/**
 * rdmacg_uncharge() - give back what rdmacg_try_charge() took
 * @owner: the cgroup that it returned; the reference is consumed
 * @device: the same device, still registered
 * @index: the same resource
 *
 * Context: Process context; may sleep.
 */
void rdmacg_uncharge(struct rdma_cgroup *owner, struct rdmacg_device *device,
		     enum rdmacg_resource_type index)
{
	if (index >= RDMACG_RESOURCE_MAX)
		return;

	rdmacg_pool_uncharge(owner, device, index);
	css_put(&owner->css);
}
EXPORT_SYMBOL(rdmacg_uncharge);

/*
 * Count the devices of that name, of those with that index if there is one. The
 * last of them goes to *@device.
 */
static unsigned int rdmacg_match_locked(const char *name, size_t len, const u32 *index,
					struct rdmacg_device **device)
{
	struct rdmacg_device *candidate;
	unsigned int matches = 0;
	unsigned long id;

	lockdep_assert_held(&rdmacg_mutex);
	xa_for_each(&rdmacg_devices, id, candidate) {
		if (strlen(candidate->name) != len || memcmp(candidate->name, name, len))
			continue;
		if (index && *index != candidate->index)
			continue;
		*device = candidate;
		matches++;
	}
	return matches;
}

/* The pool that a line of limits is about; made if the cgroup has none there. */
static struct rdmacg_pool *rdmacg_line_pool_locked(struct rdma_cgroup *cg,
						   const struct rdmacg_line *line)
{
	const u32 *index = line->has_index ? &line->index : NULL;
	struct rdmacg_device *device;

	switch (rdmacg_match_locked(line->name, line->name_len, index, &device)) {
	case 0:
		return ERR_PTR(-ENODEV);
	case 1:
		return rdmacg_pool_get_locked(cg, device);
	default:
		return ERR_PTR(-ENOTUNIQ);
	}
}

/* Everything that can fail in a write: syntax, devices, memory for pools. */
static int rdmacg_stage_max_locked(struct rdma_cgroup *cg, const char *text)
{
	struct rdmacg_line line;
	struct rdmacg_pool *pool;
	bool empty = true;
	unsigned int slot;
	int ret;

	while ((ret = rdmacg_parse_line(&text, &line)) > 0) {
		pool = rdmacg_line_pool_locked(cg, &line);
		if (IS_ERR(pool))
			return PTR_ERR(pool);
		for_each_set_bit(slot, &line.given, RDMACG_RESOURCE_MAX)
			pool->slots[slot].staged = line.max[slot];
		empty = false;
	}
	return empty ? -EINVAL : ret;
}

/* Set the limits that @text holds, all of them or, on an error, none. */
int rdmacg_set_max(struct rdma_cgroup *cg, const char *text)
{
	struct rdmacg_pool *pool;
	unsigned int slot;
	unsigned long id;
	int ret;

	mutex_lock(&rdmacg_mutex);
	ret = rdmacg_stage_max_locked(cg, text);
	xa_for_each(&cg->pools, id, pool) {
		for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
			rdmacg_pool_set_max_locked(pool, slot,
						   ret ? pool->slots[slot].max :
							 pool->slots[slot].staged);
		/* It was made for nothing, or it has lost its last limit. */
		rdmacg_pool_give_back_locked(pool);
	}
	mutex_unlock(&rdmacg_mutex);
	return ret;
}

static ssize_t rdmacg_max_write(struct kernfs_open_file *of, char *buf,
				size_t nbytes, loff_t off)
{
	int ret;

	/* The text may end in the buffer's NUL and hold no other. */
	if (strlen(buf) != nbytes)
		return -EINVAL;
	ret = rdmacg_set_max(rdmacg_from_css(of_css(of)), buf);
	return ret ?: nbytes;
}

/* One line for each device, with what @value finds in the cgroup's pool there. */
void rdmacg_show(struct seq_file *sf, struct rdma_cgroup *cg,
		 u64 (*value)(const struct rdmacg_pool *pool, unsigned int slot))
{
	struct rdmacg_device *device, *namesake;
	struct rdmacg_pool *pool;
	unsigned int slot;
	unsigned long id;
	bool unique;

	mutex_lock(&rdmacg_mutex);
	xa_for_each(&rdmacg_devices, id, device) {
		pool = rdmacg_pool_find_locked(cg, device);
		unique = rdmacg_match_locked(device->name, strlen(device->name), NULL,
					     &namesake) == 1;
		rdmacg_print_device(sf, device, unique);
		for (slot = 0; slot < RDMACG_RESOURCE_MAX; slot++)
			rdmacg_print_value(sf, rdmacg_resource_names[slot],
					   value(pool, slot));
		seq_putc(sf, '\n');
	}
	mutex_unlock(&rdmacg_mutex);
}

static int rdmacg_max_show(struct seq_file *sf, void *v)
{
	rdmacg_show(sf, rdmacg_from_css(seq_css(sf)), rdmacg_pool_max_locked);
	return 0;
}

static int rdmacg_current_show(struct seq_file *sf, void *v)
{
	rdmacg_show(sf, rdmacg_from_css(seq_css(sf)), rdmacg_pool_usage_locked);
	return 0;
}

static struct cftype rdmacg_files[] = {
	{
		.name = "max",
		.write = rdmacg_max_write,
		.seq_show = rdmacg_max_show,
		.flags = CFTYPE_NOT_ON_ROOT,
		/*
		 * What cat(1) of coreutils 9.5 writes at once, so that a saved
		 * file restores thousands of devices in one write.
		 */
		.max_write_len = SZ_256K,
	},
	{
		.name = "current",
		.seq_show = rdmacg_current_show,
		.flags = CFTYPE_NOT_ON_ROOT,
	},
	{ }	/* terminate */
};

static struct cgroup_subsys_state *
rdmacg_css_alloc(struct cgroup_subsys_state *parent)
{
	struct rdma_cgroup *cg = kzalloc_obj(*cg);

	if (!cg)
		return ERR_PTR(-ENOMEM);
	xa_init(&cg->pools);
	return &cg->css;
}

static void rdmacg_css_offline(struct cgroup_subsys_state *css)
{
	rdmacg_pools_offline(rdmacg_from_css(css));
}

static void rdmacg_css_free(struct cgroup_subsys_state *css)
{
	struct rdma_cgroup *cg = rdmacg_from_css(css);

	/* Each charge pins the cgroup, and its limits went when it was removed. */
	WARN_ON_ONCE(!xa_empty(&cg->pools));
	kfree(cg);
}

struct cgroup_subsys rdma_cgrp_subsys = {
	.css_alloc	= rdmacg_css_alloc,
	.css_offline	= rdmacg_css_offline,
	.css_free	= rdmacg_css_free,
	.legacy_cftypes	= rdmacg_files,
	.dfl_cftypes	= rdmacg_files,
};
