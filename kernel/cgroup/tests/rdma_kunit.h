/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit tests of the RDMA cgroup controller share: cgroups that are bare
 * structs, and devices without a driver.
 */
#ifndef _RDMA_KUNIT_H
#define _RDMA_KUNIT_H

#include <kunit/test-bug.h>
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../rdma-internal.h"

#define HANDLE	RDMACG_RESOURCE_HCA_HANDLE
#define OBJECT	RDMACG_RESOURCE_HCA_OBJECT

#define RDMACG_TEST_RESOURCE(_name, _class)				\
	{ .name = _name, .class = _class, .capacity = RDMACG_NO_LIMIT }

static inline void rdmacg_test_init_cgroup(struct rdma_cgroup *cg,
					   struct rdma_cgroup *parent)
{
	rdmacg_pools_init(cg, parent);
	cg->css.parent = parent ? &parent->css : NULL;
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
	KUNIT_ASSERT_EQ(test, rdmacg_register_device(device, &table, 1), 0);
	KUNIT_ASSERT_EQ(test, table.first_slot, 0);
}

/* All lines of a file, but for those of the machine's own devices. */
static inline char *rdmacg_test_show(struct kunit *test, struct rdma_cgroup *cg,
				     enum rdmacg_class class, enum rdmacg_file file)
{
	struct seq_file sf = { .size = PAGE_SIZE };
	struct rdmacg_desc *desc;
	unsigned long id;

	sf.buf = kunit_kzalloc(test, sf.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sf.buf);
	rcu_read_lock();
	for (id = 0; (desc = rdmacg_desc_next(&id)); id++)
		if (!strncmp(rcu_dereference(desc->name)->text, "kunit", 5))
			rdmacg_show_line(&sf, cg, desc, class, file);
	rcu_read_unlock();
	return sf.buf;
}

#endif /* _RDMA_KUNIT_H */
