/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the KUnit tests of the RDMA cgroup controller. They create cgroups that are only
 * structs, register devices without a driver, and read the counters of a cgroup.
 *
 * A helper with an argument "test" undoes its work at the end of the test, even after a failed
 * assertion. Otherwise the machine would keep the test's devices. The work of the last helper is
 * undone first.
 */
#ifndef _RDMA_KUNIT_H
#define _RDMA_KUNIT_H

#include <kunit/test-bug.h>
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/percpu-refcount.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../rdma.h"

#define HANDLE	RDMACG_RESOURCE_HCA_HANDLE
#define OBJECT	RDMACG_RESOURCE_HCA_OBJECT

#define RDMACG_TEST_RESOURCE(_name, _class)				\
	{ .name = _name, .class = _class, .capacity = RDMACG_NO_LIMIT }

/* Initialize a cgroup without reference counts. The caller frees the cgroup. */
static inline void rdmacg_test_init_cgroup(struct rdma_cgroup *cg,
					   struct rdma_cgroup *parent)
{
	rdmacg_pools_init(cg, parent);
	cg->state.css.parent = parent ? &parent->state.css : NULL;
	/* Tracepoints read only the id of this cgroup. */
	cg->state.css.cgroup = &cgrp_dfl_root.cgrp;
}

/* Free nothing, because the struct belongs to the test. */
static inline void rdmacg_test_release_css(struct percpu_ref *ref)
{
}

/* Returns the number of references, without the cgroup's own reference. */
static inline long rdmacg_test_refs(const struct rdma_cgroup *cg)
{
	return atomic_long_read(&cg->state.css.refcnt.data->count) - 1;
}

static inline void rdmacg_test_free_cgroup(void *arg)
{
	struct kunit *test = kunit_get_current_test();
	struct rdma_cgroup *cg = arg;

	/* A test must drop all references. */
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(cg), 0);
	rdmacg_pools_free(cg);
	percpu_ref_exit(&cg->state.css.refcnt);
}

/* Initialize a cgroup with reference counts, and with no other parts of a css. */
static inline void rdmacg_test_create_cgroup(struct kunit *test, struct rdma_cgroup *cg,
					     struct rdma_cgroup *parent)
{
	int ret;

	rdmacg_test_init_cgroup(cg, parent);
	ret = percpu_ref_init(&cg->state.css.refcnt, rdmacg_test_release_css,
			      PERCPU_REF_INIT_ATOMIC, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_test_free_cgroup, cg), 0);
}

static inline void rdmacg_test_unregister(void *arg)
{
	struct rdmacg_device *device = arg;

	/* The test may have unregistered the device itself. */
	if (device->desc)
		rdmacg_unregister_device(device);
}

/* Register a device that has its name and its index. */
static inline void rdmacg_test_register_tables(struct kunit *test,
					       struct rdmacg_device *device,
					       struct rdmacg_table *tables,
					       unsigned int count)
{
	/* Wait until the keys of removed devices are free, because files list devices by key. */
	rcu_barrier();
	KUNIT_ASSERT_EQ(test, rdmacg_register_tables(device, tables, count), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_test_unregister, device), 0);
}

/* Register a device with the hca class in slots 0 and 1. */
static inline void rdmacg_test_register(struct kunit *test, struct rdmacg_device *device,
					const char *name, u32 index)
{
	static const struct rdmacg_resource resources[] = {
		[HANDLE] = RDMACG_TEST_RESOURCE("hca_handle", RDMACG_CLASS_HCA),
		[OBJECT] = RDMACG_TEST_RESOURCE("hca_object", RDMACG_CLASS_HCA),
	};
	struct rdmacg_table table = { .resources = resources, .count = ARRAY_SIZE(resources) };

	device->name = name;
	device->index = index;
	rdmacg_test_register_tables(test, device, &table, 1);
	KUNIT_ASSERT_EQ(test, table.first_slot, 0);
}

static inline void rdmacg_test_put_desc(void *arg)
{
	rdmacg_desc_put(arg);
}

/*
 * Look up a device, and keep the reference as a write does. kunit_release_action() can drop the
 * reference before the end of the test.
 */
static inline struct rdmacg_desc *rdmacg_test_get_desc(struct kunit *test, const char *name)
{
	struct rdmacg_desc *desc = rdmacg_desc_get(name, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(desc));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_test_put_desc, desc), 0);
	return desc;
}

/* Give the file a buffer whose text always ends in a NUL. */
static inline void rdmacg_test_init_seq(struct kunit *test, struct seq_file *sf)
{
	sf->size = PAGE_SIZE;
	sf->buf = kunit_kzalloc(test, sf->size + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sf->buf);
}

/* Returns the text of rdma.default. */
static inline char *rdmacg_test_show_default(struct kunit *test, struct rdma_cgroup *cg)
{
	struct seq_file sf = { };

	rdmacg_test_init_seq(test, &sf);
	rcu_read_lock();
	rdmacg_print_defaults(&sf, rcu_dereference(cg->defaults));
	rcu_read_unlock();
	return sf.buf;
}

/* Write to the max file of a class. */
static inline int rdmacg_test_set_max(struct rdma_cgroup *cg, enum rdmacg_class class,
				      const char *text)
{
	/* Copy the text, because the controller changes it. */
	char *copy = kstrdup(text, GFP_KERNEL);
	int ret = copy ? rdmacg_set_max(cg, class, copy) : -ENOMEM;

	kfree(copy);
	return ret;
}

static inline bool rdmacg_has_pool(struct rdma_cgroup *cg, u32 key)
{
	guard(rcu)();
	return rdmacg_pool_find_rcu(cg, key);
}

/* Write to rdma.max. */
static inline int rdmacg_test_limit(struct rdma_cgroup *cg, const char *text)
{
	return rdmacg_test_set_max(cg, RDMACG_CLASS_HCA, text);
}

/* Write to rdma.default. */
static inline int rdmacg_test_set_default(struct rdma_cgroup *cg, const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);
	int ret = copy ? rdmacg_set_default(cg, copy) : -ENOMEM;

	kfree(copy);
	return ret;
}

/* Charge a set like the API, and set *@refusal if a limit refuses. */
static inline int rdmacg_test_charge(struct rdma_cgroup *cg, struct rdmacg_device *device,
				     const struct rdmacg_amount *set, unsigned int count,
				     struct rdmacg_refusal *refusal)
{
	refusal->is_ignored = false;
	if (rdmacg_pool_apply_fast(cg, device, set, count, true))
		return 0;
	return rdmacg_pool_try_charge(cg, device, set, count, refusal);
}

static inline void rdmacg_test_uncharge(struct rdma_cgroup *cg, struct rdmacg_device *device,
					const struct rdmacg_amount *set, unsigned int count)
{
	if (!rdmacg_pool_apply_fast(cg, device, set, count, false))
		rdmacg_pool_uncharge(cg, device, set, count);
}

/* Returns whether the cgroup has a pool on any device. */
static inline bool rdmacg_test_has_pools(struct rdma_cgroup *cg)
{
	const struct rdmacg_map *map;
	bool has_pools = false;
	u32 key;

	rcu_read_lock();
	map = rcu_dereference(cg->map);
	for (key = 0; key < map->nr; key++)
		has_pools |= !!rcu_access_pointer(map->pools[key]);
	rcu_read_unlock();
	return has_pools;
}

/* Returns the domain of the device and the cgroup's top-level cgroup, or NULL. */
static inline struct rdmacg_domain *rdmacg_test_domain(struct rdma_cgroup *cg,
						       const struct rdmacg_device *device)
{
	struct rdmacg_domain *domain = NULL;
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, device->key);

	if (pool) {
		domain = pool->domain;
		rdmacg_pool_unlock(pool);
	}
	return domain;
}

/* Returns a copy of a slot, without usage and limit if the cgroup has no pool. */
static inline struct rdmacg_slot rdmacg_test_slot(struct rdma_cgroup *cg,
						  const struct rdmacg_device *device,
						  unsigned int slot)
{
	struct rdmacg_slot copy = { .max = RDMACG_NO_LIMIT };
	struct rdmacg_pool *pool = rdmacg_pool_lock(cg, device->key);

	if (pool) {
		copy = pool->slots[slot];
		rdmacg_pool_unlock(pool);
	}
	return copy;
}

/* Returns all lines of a file except those of the machine's own devices. */
static inline char *rdmacg_test_show(struct kunit *test, struct rdma_cgroup *cg,
				     enum rdmacg_class class, enum rdmacg_file file)
{
	struct seq_file sf = { };
	struct rdmacg_desc *desc;
	unsigned long id;

	rdmacg_test_init_seq(test, &sf);
	rcu_read_lock();
	for (id = 0; (desc = rdmacg_desc_next(&id)); id++)
		if (!strncmp(rdmacg_desc_name_rcu(desc), "kunit", 5))
			rdmacg_show_line(&sf, cg, desc, class, file);
	rcu_read_unlock();
	KUNIT_ASSERT_FALSE(test, seq_has_overflowed(&sf));
	return sf.buf;
}

#endif /* _RDMA_KUNIT_H */
