// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the keys that the IB core keeps after a process has deregistered its regions.
 * These keys exist on the adapter and are charged to no cgroup, so their number must not depend on
 * the sizes that the process chooses.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "../../../drivers/infiniband/core/frmr_pools.h"

#define PAGES	16384

/* A device whose driver only counts its keys. The number of a key is an index of @blocks. */
struct rdmacg_frmr {
	struct ib_device device;
	unsigned int count;
	/* Work of the pools destroys keys meanwhile. */
	atomic_t kept;
	u32 blocks[PAGES];
};

static int rdmacg_frmr_create(struct ib_device *device, struct ib_frmr_key *key, u32 *handles,
			      u32 count)
{
	struct rdmacg_frmr *frmr = container_of(device, struct rdmacg_frmr, device);

	for (; count; count--) {
		*handles = frmr->count++ % PAGES;
		frmr->blocks[*handles++] = key->num_dma_blocks;
		atomic_inc(&frmr->kept);
	}
	return 0;
}

static void rdmacg_frmr_destroy(struct ib_device *device, u32 *handles, u32 count)
{
	atomic_sub(count, &container_of(device, struct rdmacg_frmr, device)->kept);
}

static const struct ib_frmr_pool_ops rdmacg_frmr_ops = {
	.create_frmrs	= rdmacg_frmr_create,
	.destroy_frmrs	= rdmacg_frmr_destroy,
};

static int rdmacg_frmr_init(struct kunit *test)
{
	struct rdmacg_frmr *frmr = kvzalloc(sizeof(*frmr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, frmr);
	test->priv = frmr;
	return ib_frmr_pools_init(&frmr->device, &rdmacg_frmr_ops);
}

/* The cleanup destroys all keys. */
static void rdmacg_frmr_exit(struct kunit *test)
{
	struct rdmacg_frmr *frmr = test->priv;

	ib_frmr_pools_cleanup(&frmr->device);
	KUNIT_EXPECT_EQ(test, atomic_read(&frmr->kept), 0);
	kvfree(frmr);
}

/* Register and deregister a region, which must fit into its key. */
static void rdmacg_frmr_register(struct kunit *test, unsigned int pages)
{
	struct rdmacg_frmr *frmr = test->priv;
	struct ib_mr mr = { .frmr.key.num_dma_blocks = pages };

	KUNIT_ASSERT_EQ(test, ib_frmr_pool_pop(&frmr->device, &mr), 0);
	KUNIT_ASSERT_GE(test, frmr->blocks[mr.frmr.handle], pages);
	KUNIT_ASSERT_LT(test, frmr->blocks[mr.frmr.handle], 2 * pages);
	/* A driver that registers the region again relies on this size. */
	KUNIT_ASSERT_LE(test, mr.frmr.key.num_dma_blocks, frmr->blocks[mr.frmr.handle]);
	ib_frmr_pool_push(&frmr->device, &mr);
}

static void rdmacg_test_one_region_of_each_size_leaves_few_keys(struct kunit *test)
{
	struct rdmacg_frmr *frmr = test->priv;
	unsigned int pages;

	for (pages = 1; pages <= PAGES; pages++)
		rdmacg_frmr_register(test, pages);
	kunit_info(test, "%d keys are kept\n", atomic_read(&frmr->kept));
	KUNIT_EXPECT_LT(test, atomic_read(&frmr->kept), 100);
	while (--pages)
		rdmacg_frmr_register(test, pages);
	KUNIT_EXPECT_LT(test, atomic_read(&frmr->kept), 100);
}

static bool rdmacg_frmr_is_empty(struct rdmacg_frmr *frmr)
{
	int ms;

	for (ms = 0; ms < 10000; ms += 100) {
		if (RB_EMPTY_ROOT(&frmr->device.frmr_pools->rb_root))
			return true;
		msleep(100);
	}
	return false;
}

/* Neither keys nor pools remain, also of a pool whose key was not kept. */
static void rdmacg_test_unused_pools_are_freed(struct kunit *test)
{
	struct rdmacg_frmr *frmr = test->priv;
	struct ib_mr mr = { .frmr.key.num_dma_blocks = 4096 };

	KUNIT_ASSERT_EQ(test, ib_frmr_pools_set_aging_period(&frmr->device, 1), 0);
	KUNIT_ASSERT_EQ(test, ib_frmr_pool_pop(&frmr->device, &mr), 0);
	rdmacg_frmr_register(test, 1);
	rdmacg_frmr_register(test, 512);
	/* A pool with a key in use is not freed. */
	msleep(3000);
	KUNIT_EXPECT_EQ(test, atomic_read(&frmr->kept), 1);
	KUNIT_EXPECT_FALSE(test, RB_EMPTY_ROOT(&frmr->device.frmr_pools->rb_root));
	ib_frmr_pool_drop(&mr);
	atomic_dec(&frmr->kept);
	KUNIT_EXPECT_TRUE(test, rdmacg_frmr_is_empty(frmr));
}

static struct kunit_case rdmacg_frmr_cases[] = {
	KUNIT_CASE(rdmacg_test_one_region_of_each_size_leaves_few_keys),
	KUNIT_CASE_SLOW(rdmacg_test_unused_pools_are_freed),
	{}
};

static struct kunit_suite rdmacg_frmr_suite = {
	.name = "cgroup_rdma_frmr",
	.init = rdmacg_frmr_init,
	.exit = rdmacg_frmr_exit,
	.test_cases = rdmacg_frmr_cases,
};

kunit_test_suite(rdmacg_frmr_suite);
