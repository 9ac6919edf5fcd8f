// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the keys that the IB core keeps after a process has deregistered its regions.
 * These keys exist on the adapter and are charged to no cgroup, so their number must not depend on
 * the sizes that the process chooses.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <rdma/frmr_pools.h>
#include <rdma/ib_verbs.h>

#define PAGES	16384

/* A device whose driver only counts its keys. The number of a key is an index of @blocks. */
struct rdmacg_frmr {
	struct ib_device device;
	unsigned int count;
	unsigned int kept;
	u32 blocks[PAGES];
};

static int rdmacg_frmr_create(struct ib_device *device, struct ib_frmr_key *key, u32 *handles,
			      u32 count)
{
	struct rdmacg_frmr *frmr = container_of(device, struct rdmacg_frmr, device);

	for (; count; count--, frmr->kept++) {
		if (frmr->count == PAGES)
			return -ENOSPC;
		frmr->blocks[frmr->count] = key->num_dma_blocks;
		*handles++ = frmr->count++;
	}
	return 0;
}

static void rdmacg_frmr_destroy(struct ib_device *device, u32 *handles, u32 count)
{
	container_of(device, struct rdmacg_frmr, device)->kept -= count;
}

static const struct ib_frmr_pool_ops rdmacg_frmr_ops = {
	.create_frmrs	= rdmacg_frmr_create,
	.destroy_frmrs	= rdmacg_frmr_destroy,
};

/* Register and deregister a region of each size. The region must fit into its key. */
static void rdmacg_frmr_register(struct kunit *test, struct rdmacg_frmr *frmr, unsigned int pages)
{
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
	struct rdmacg_frmr *frmr = kvzalloc(sizeof(*frmr), GFP_KERNEL);
	unsigned int pages;

	KUNIT_ASSERT_NOT_NULL(test, frmr);
	KUNIT_ASSERT_EQ(test, ib_frmr_pools_init(&frmr->device, &rdmacg_frmr_ops), 0);
	for (pages = 1; pages <= PAGES; pages++)
		rdmacg_frmr_register(test, frmr, pages);
	kunit_info(test, "%u keys are kept\n", frmr->kept);
	KUNIT_EXPECT_LT(test, frmr->kept, 100);
	for (; pages; pages--)
		rdmacg_frmr_register(test, frmr, pages);
	KUNIT_EXPECT_LT(test, frmr->kept, 100);
	ib_frmr_pools_cleanup(&frmr->device);
	KUNIT_EXPECT_EQ(test, frmr->kept, 0);
	kvfree(frmr);
}

static struct kunit_case rdmacg_frmr_cases[] = {
	KUNIT_CASE(rdmacg_test_one_region_of_each_size_leaves_few_keys),
	{}
};

static struct kunit_suite rdmacg_frmr_suite = {
	.name = "cgroup_rdma_frmr",
	.test_cases = rdmacg_frmr_cases,
};

kunit_test_suite(rdmacg_frmr_suite);
