// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroups and files of the module, in place of kernel/cgroup/rdma-subsys.c:
 * the module has a struct rdma_cgroup for each css of the stock controller that
 * somebody has used. The struct is freed when the css is.
 */
#define pr_fmt(fmt) "rdmacg: " fmt
#include "core.h"

#include <linux/kernfs.h>
#include <linux/memcontrol.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include "../kernel/cgroup/rdma.h"
#include "hook.h"

/* All structs, by the id of their css, which is free after css_released(). */
static DEFINE_XARRAY(rdmacg_cgroups);
/* Set once. */
static struct cgroup_subsys *rdmacg_subsys;
static struct mutex *rdmacg_cgroup_mutex;
/* kernel/cgroup uses it, and not all kernels export it. */
struct mem_cgroup *root_mem_cgroup;

RDMACG_CALLED(add_files, int, struct cgroup_subsys *subsys, struct cftype *files);
RDMACG_CALLED(remove_files, int, struct cftype *files);
RDMACG_CALLED(break_protection, void, struct kernfs_node *kn);
RDMACG_CALLED(unbreak_protection, void, struct kernfs_node *kn);

/* kernel/cgroup calls these functions, which the kernel does not export. */
void kernfs_break_active_protection(struct kernfs_node *kn)
{
	rdmacg_call(break_protection)(kn);
}

void kernfs_unbreak_active_protection(struct kernfs_node *kn)
{
	rdmacg_call(unbreak_protection)(kn);
}

/*
 * Returns the css of an ancestor, or of the cgroup itself. Only its descendants
 * still know the css of an ancestor that was removed.
 */
static struct cgroup_subsys_state *rdmacg_css_at(struct cgroup_subsys_state *css, int level)
{
	while (css->cgroup->level > level)
		css = css->parent;
	return css;
}

static struct rdma_cgroup *rdmacg_cgroup_create(struct cgroup_subsys_state *css,
						struct rdma_cgroup *parent)
{
	struct rdma_cgroup *cg, *other;

	cg = kzalloc(sizeof(*cg), GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	cg->state.css = css;
	cg->state.parent = parent ? &parent->state : NULL;
	rdmacg_pools_init(cg, parent);
	while (xa_err(other = xa_cmpxchg(&rdmacg_cgroups, css->id, NULL, cg, GFP_KERNEL)))
		cond_resched();
	if (!other)
		return cg;
	kfree(cg);
	return other;
}

/* Create the missing structs from the root down, without a recursion. */
static noinline struct rdma_cgroup *rdmacg_cgroup_create_all(struct cgroup_subsys_state *css)
{
	struct cgroup_subsys_state *next;
	struct rdma_cgroup *cg = NULL;
	int level;

	for (level = 0; level <= css->cgroup->level; level++) {
		next = rdmacg_css_at(css, level);
		cg = xa_load(&rdmacg_cgroups, next->id) ?: rdmacg_cgroup_create(next, cg);
	}
	return cg;
}

/*
 * Find or create the struct of a css, to which the caller has a reference. A
 * cgroup below level RDMACG_MAX_DEPTH has the struct of its ancestor there.
 */
struct rdmacg_css *rdmacg_css_find(struct cgroup_subsys_state *css)
{
	struct rdma_cgroup *cg;

	if (unlikely(css->cgroup->level > RDMACG_MAX_DEPTH))
		css = rdmacg_css_at(css, RDMACG_MAX_DEPTH);
	cg = xa_load(&rdmacg_cgroups, css->id);
	if (unlikely(!cg))
		cg = rdmacg_cgroup_create_all(css);
	return &cg->state;
}

/* For the files with hooks, see ours.h. */
struct rdma_cgroup *rdmacg_owner_of(struct cgroup_subsys_state *css)
{
	return rdmacg_from_css(css);
}

/* The css of the struct, which may be an ancestor's, gets the reference. */
struct rdmacg_css *rdmacg_css_get_current(void)
{
	struct cgroup_subsys_state *css = task_get_css(current, rdma_cgrp_id);
	struct rdmacg_css *state = rdmacg_css_find(css);

	if (unlikely(state->css != css)) {
		css_get(state->css);
		css_put(css);
	}
	return state;
}

static void rdmacg_cgroup_free(struct rdma_cgroup *cg)
{
	rdmacg_pools_free(cg);
	kfree_rcu(cg, state.rcu);
}

/* No reference to the css is left, and the cgroup core still uses the id. */
static void rdmacg_css_released(struct cgroup_subsys_state *css)
{
	struct rdma_cgroup *cg = xa_erase(&rdmacg_cgroups, css->id);

	if (cg)
		rdmacg_cgroup_free(cg);
}

/* The stock controller was mounted on v1, or returned to v2. */
static void rdmacg_css_bind(struct cgroup_subsys_state *root)
{
	if (rdmacg_subsys->root != &cgrp_dfl_root)
		pr_warn("the rdma controller is mounted on cgroup v1 now; the module's files are gone and its limits do not apply\n");
}

void rdmacg_notify(struct rdma_cgroup *cg, enum rdmacg_class class, bool is_local)
{
	const char *name = is_local ? "rdma.verb.events.local" : "rdma.verb.events";
	struct kernfs_node *kn = kernfs_find_and_get(rdmacg_css(cg)->cgroup->kn, name);

	if (kn)
		kernfs_notify(kn);
	kernfs_put(kn);
}

/* The write function of all files, from kernel/cgroup/rdma.c. */
static ssize_t (*rdmacg_core_write)(struct kernfs_open_file *of, char *buf, size_t nbytes,
				    loff_t off);

/* A write gives up its active reference, so the removal does not wait. */
static ssize_t rdmacg_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	ssize_t ret;

	if (of_css(of)->cgroup->level > RDMACG_MAX_DEPTH)
		return -EOPNOTSUPP;
	rdmacg_enter();
	ret = rdmacg_core_write(of, buf, nbytes, off);
	rdmacg_leave();
	return ret;
}

static bool rdmacg_is_ours(const struct cftype *file)
{
	enum rdmacg_file kind = file->private % RDMACG_FILES;

	return kind == RDMACG_FILE_DEFAULT || kind == RDMACG_FILE_CAPACITY ||
	       rdmacg_has_class(file->private / RDMACG_FILES);
}

/* Leave only the files that belong to the module. */
static void rdmacg_choose_files(void)
{
	struct cftype *to = rdmacg_files, *file;

	for (file = rdmacg_files; file->name[0]; file++) {
		if (!rdmacg_is_ours(file))
			continue;
		*to = *file;
		if (file->write) {
			rdmacg_core_write = file->write;
			to->write = rdmacg_write;
		}
		to++;
	}
	to->name[0] = '\0';
}

/* Find what the module needs of the cgroup core. */
int rdmacg_css_init(void)
{
	struct cgroup_subsys_state *root;
	struct kernfs_node *capacity;
	struct mem_cgroup **memcg;

	root = rcu_access_pointer(cgrp_dfl_root.cgrp.subsys[rdma_cgrp_id]);
	if (!root) {
		pr_err("cgroup v2 has no rdma controller; unmount it from cgroup v1, or boot without cgroup_disable=rdma\n");
		return -ENODEV;
	}
	rdmacg_subsys = root->ss;
	capacity = kernfs_find_and_get(root->cgroup->kn, "rdma.capacity");
	kernfs_put(capacity);
	if (capacity || rdmacg_subsys->css_released || rdmacg_subsys->bind) {
		pr_err("this kernel's rdma controller is not the stock one; if it has rdma.capacity, it needs no module\n");
		return -EBUSY;
	}
	rdmacg_cgroup_mutex = rdmacg_symbol("cgroup_mutex");
	memcg = rdmacg_symbol("root_mem_cgroup");
	if (!rdmacg_cgroup_mutex || !rdmacg_find_called(add_files, "cgroup_add_dfl_cftypes") ||
	    !rdmacg_find_called(remove_files, "cgroup_rm_cftypes") || !memcg ||
	    !rdmacg_find_called(break_protection, "kernfs_break_active_protection") ||
	    !rdmacg_find_called(unbreak_protection, "kernfs_unbreak_active_protection"))
		return -ENOENT;
	root_mem_cgroup = *memcg;
	rdmacg_choose_files();
	return 0;
}

static void rdmacg_set_callbacks(void (*released)(struct cgroup_subsys_state *css),
				 void (*bind)(struct cgroup_subsys_state *root))
{
	mutex_lock(rdmacg_cgroup_mutex);
	rdmacg_subsys->css_released = released;
	rdmacg_subsys->bind = bind;
	mutex_unlock(rdmacg_cgroup_mutex);
}

/* Add the files to all cgroups. */
int rdmacg_css_on(void)
{
	int ret;

	rdmacg_set_callbacks(rdmacg_css_released, rdmacg_css_bind);
	ret = rdmacg_call(add_files)(rdmacg_subsys, rdmacg_files);
	if (ret) {
		pr_err("the cgroup core refuses the files: error %d\n", ret);
		rdmacg_css_exit();
	}
	return ret;
}

/* Remove the files. A write may still run. */
void rdmacg_css_off(void)
{
	rdmacg_call(remove_files)(rdmacg_files);
}

/* Free all structs. No device is registered, so no cgroup has a pool. */
void rdmacg_css_exit(void)
{
	struct rdma_cgroup *cg;
	unsigned long id;

	rdmacg_set_callbacks(NULL, NULL);
	xa_for_each(&rdmacg_cgroups, id, cg)
		rdmacg_cgroup_free(cg);
	xa_destroy(&rdmacg_cgroups);
}
