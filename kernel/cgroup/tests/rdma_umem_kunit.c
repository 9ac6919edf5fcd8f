// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the charges of memory that a device can access. The tests call the functions of
 * the IB core that create and release each kind of umem, with pages of this process. They call no
 * driver.
 */
#include <kunit/device.h>
#include <linux/dma-buf.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <rdma/ib_umem_odp.h>

#include "rdma_verbs_kunit.h"

#define PAGES 8

/* Map PAGES pages of new memory into this process. */
static unsigned long rdmacg_memory(struct kunit *test)
{
	unsigned long memory = kunit_vm_mmap(test, NULL, 0, PAGES * PAGE_SIZE,
					     PROT_READ | PROT_WRITE,
					     MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_FALSE(test, !memory || IS_ERR_VALUE(memory));
	return memory;
}

/* Pin @length bytes of new memory, beginning at @offset. */
static struct ib_umem *rdmacg_pin(struct kunit *test, unsigned long offset, size_t length)
{
	struct rdmacg_verbs *verbs = test->priv;

	return ib_umem_get_va(&verbs->device, rdmacg_memory(test) + offset, length,
			      IB_ACCESS_LOCAL_WRITE);
}

static void rdmacg_expect_pages(struct kunit *test, unsigned int pages)
{
	char line[64] = "";

	if (pages)
		scnprintf(line, sizeof(line), "mr_mem=%lu", pages * PAGE_SIZE);
	rdmacg_expect_left(test, 0, line);
}

static void rdmacg_expect_no_peak(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_VERB, RDMACG_FILE_PEAK, NOTHING);
}

/* A part of the memory, and its number of pages. */
struct rdmacg_part_case {
	const char *name;
	unsigned long offset;
	size_t length;
	unsigned int pages;
};

static const struct rdmacg_part_case rdmacg_part_cases[] = {
	{ "a byte", 0, 1, 1 },
	{ "the last byte of a page", PAGE_SIZE - 1, 1, 1 },
	{ "two bytes of two pages", PAGE_SIZE - 1, 2, 2 },
	{ "a page", 0, PAGE_SIZE, 1 },
	{ "a page in the middle of two", PAGE_SIZE / 2, PAGE_SIZE, 2 },
	{ "all pages", 0, PAGES * PAGE_SIZE, PAGES },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_part, rdmacg_part_cases, name);

/* The pages are charged until any process releases them. */
static void rdmacg_test_pinned_pages_are_charged(struct kunit *test)
{
	const struct rdmacg_part_case *part = test->param_value;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_umem *umem = rdmacg_pin(test, part->offset, part->length);

	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	rdmacg_expect_pages(test, part->pages);
	KUNIT_EXPECT_EQ(test, atomic64_read(&current->mm->pinned_vm), part->pages);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	verbs->current_cg = &verbs->right;
	ib_umem_release(umem);
	rdmacg_expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&current->mm->pinned_vm), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * A driver may change the address of the umem, even to another page, to count DMA blocks. The
 * uncharge is still equal to the charge.
 */
static void rdmacg_test_pages_go_back_as_they_were_charged(struct kunit *test)
{
	struct ib_umem *umem;

	rdmacg_start(test);
	umem = rdmacg_pin(test, 0, PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	umem->iova = PAGE_SIZE / 2;
	KUNIT_ASSERT_EQ(test, ib_umem_num_pages(umem), 2);
	ib_umem_release(umem);
	/* Correct pinned_vm, from which the IB core has subtracted one page too many. */
	atomic64_inc(&current->mm->pinned_vm);
	rdmacg_expect_pages(test, 0);
}

static void rdmacg_test_pages_are_refused_past_the_limit(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_umem *umem;

	rdmacg_limit_bytes(test, &verbs->top, "mr_mem", 2 * PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_pin(test, PAGE_SIZE - 1, 2)), -EAGAIN);
	rdmacg_expect_no_peak(test);
	KUNIT_EXPECT_EQ(test, atomic64_read(&current->mm->pinned_vm), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	rdmacg_limit_bytes(test, &verbs->top, "mr_mem", 2 * PAGE_SIZE);
	umem = rdmacg_pin(test, PAGE_SIZE - 1, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_pin(test, 0, 1)), -EAGAIN);
	ib_umem_release(umem);
	rdmacg_expect_pages(test, 0);
}

/* No charge is left if memory cannot be pinned for a reason other than a limit. */
static void rdmacg_test_pages_that_are_not_pinned_are_not_charged(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	unsigned long memory = rdmacg_memory(test);
	struct ib_umem *umem;

	umem = ib_umem_get_va(&verbs->device, memory, -PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(umem), -EINVAL);
	umem = ib_umem_get_va(&verbs->device, memory, PAGE_SIZE, IB_ACCESS_ON_DEMAND);
	KUNIT_EXPECT_EQ(test, PTR_ERR(umem), -EOPNOTSUPP);
	rdmacg_expect_no_peak(test);
	/* Only a part of the memory is mapped. */
	KUNIT_ASSERT_EQ(test, vm_munmap(memory + 2 * PAGE_SIZE, PAGE_SIZE), 0);
	umem = ib_umem_get_va(&verbs->device, memory, PAGES * PAGE_SIZE, 0);
	KUNIT_EXPECT_TRUE(test, IS_ERR(umem));
	rdmacg_expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&current->mm->pinned_vm), 0);
}

/*
 * Charge and uncharge the current process, as a driver does that pins pages itself. Returns the
 * error of the charge.
 */
static int rdmacg_reach(struct kunit *test, u64 length)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_cgroup *owner;
	int ret = ib_rdmacg_charge_mem(&owner, &verbs->device, 0, length);

	if (ret)
		KUNIT_EXPECT_NULL(test, owner);
	else
		ib_rdmacg_uncharge_mem(owner, &verbs->device, 0, length);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	return ret;
}

/* An endless length is refused under any limit of memory or of MRs. */
static void rdmacg_test_endless_memory_is_refused_under_a_limit(struct kunit *test)
{
	static const char * const limits[] = {
		"kunit0 mr_mem=9000000000000000000", "kunit0 mr=9000000000000000000",
	};
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, rdmacg_reach(test, LONGEST + 1), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_reach(test, U64_MAX), 0);
	rdmacg_expect_no_peak(test);
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		rdmacg_limit_verb(test, &verbs->top, limits[i]);
		KUNIT_EXPECT_EQ(test, rdmacg_reach(test, LONGEST - PAGE_SIZE), 0);
		KUNIT_EXPECT_EQ(test, rdmacg_reach(test, LONGEST + 1), -EAGAIN);
		KUNIT_EXPECT_EQ(test, rdmacg_reach(test, U64_MAX), -EAGAIN);
		rdmacg_limit_verb(test, &verbs->top, "kunit0 max");
	}
	rdmacg_expect_pages(test, 0);
}

/* --- dma-bufs --- */

static int rdmacg_buf_attach(struct dma_buf *buf, struct dma_buf_attachment *attachment)
{
	const int *answer = buf->priv;

	return *answer;
}

static struct sg_table *rdmacg_buf_map(struct dma_buf_attachment *attachment,
				       enum dma_data_direction direction)
{
	return ERR_PTR(-EIO);
}

static void rdmacg_buf_unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
			     enum dma_data_direction direction)
{
}

/* If an exporter has this function, Linux before 6.16 does not map the buffer immediately. */
static int rdmacg_buf_pin(struct dma_buf_attachment *attachment)
{
	return 0;
}

static void rdmacg_buf_unpin(struct dma_buf_attachment *attachment)
{
}

static void rdmacg_buf_release(struct dma_buf *buf)
{
}

static const struct dma_buf_ops rdmacg_buf_ops = {
	.attach		= rdmacg_buf_attach,
	.pin		= rdmacg_buf_pin,
	.unpin		= rdmacg_buf_unpin,
	.map_dma_buf	= rdmacg_buf_map,
	.unmap_dma_buf	= rdmacg_buf_unmap,
	.release	= rdmacg_buf_release,
};

static void rdmacg_buf_moved(struct dma_buf_attachment *attachment)
{
}

static const struct dma_buf_attach_ops rdmacg_attach_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = rdmacg_buf_moved,
};

static void rdmacg_close_fd(void *fd)
{
	close_fd((long)fd);
}

/* Give the device a bus, and give this process a dma-buf whose functions return *@answer. */
static int rdmacg_buf(struct kunit *test, int *answer)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct dma_buf *buf;
	long fd;

	verbs->device.dma_device = kunit_device_register(test, "rdmacg");
	KUNIT_ASSERT_FALSE(test, IS_ERR(verbs->device.dma_device));
	info.ops = &rdmacg_buf_ops;
	info.size = PAGES * PAGE_SIZE;
	info.flags = O_RDWR;
	info.priv = answer;
	buf = dma_buf_export(&info);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	fd = dma_buf_fd(buf, O_CLOEXEC);
	KUNIT_ASSERT_LE(test, 0, fd);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rdmacg_close_fd, (void *)fd));
	return fd;
}

static struct ib_umem_dmabuf *rdmacg_attach(struct kunit *test, int fd, unsigned long offset,
					    size_t length)
{
	struct rdmacg_verbs *verbs = test->priv;

	return ib_umem_dmabuf_get(&verbs->device, offset, length, fd, IB_ACCESS_LOCAL_WRITE,
				  &rdmacg_attach_ops);
}

/* A dma-buf that fails before or after its charge stays uncharged. */
static void rdmacg_test_dma_buf_is_charged_in_pages(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_umem_dmabuf *umem;
	int answer = 0, fd = rdmacg_buf(test, &answer);

	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_attach(test, fd, PAGE_SIZE, PAGES * PAGE_SIZE)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_attach(test, fd, 0, 0)), -EINVAL);
	rdmacg_expect_no_peak(test);
	/* The exporter refuses after the charge. */
	answer = -EBUSY;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_attach(test, fd, 0, PAGE_SIZE)), -EBUSY);
	answer = 0;
	KUNIT_EXPECT_EQ(test, -EIO,
			PTR_ERR(ib_umem_dmabuf_get_pinned(&verbs->device, 0, PAGE_SIZE, fd, 0)));
	rdmacg_expect_pages(test, 0);
	rdmacg_limit_bytes(test, &verbs->top, "mr_mem", 2 * PAGE_SIZE);
	umem = rdmacg_attach(test, fd, PAGE_SIZE - 1, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	rdmacg_expect_pages(test, 2);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_attach(test, fd, 0, 1)), -EAGAIN);
	ib_umem_release(&umem->umem);
	rdmacg_expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/* --- on-demand paging --- */

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/* The array of page numbers has at most INT_MAX bytes. */
#define ODP_LONGEST (INT_MAX / sizeof(unsigned long) * PAGE_SIZE)

static bool rdmacg_odp_invalidate(struct mmu_interval_notifier *notifier,
				  const struct mmu_notifier_range *range, unsigned long seq)
{
	return true;
}

static const struct mmu_interval_notifier_ops rdmacg_odp_ops = {
	.invalidate = rdmacg_odp_invalidate,
};

static struct ib_umem_odp *rdmacg_odp(struct kunit *test, unsigned long addr, size_t length)
{
	struct rdmacg_verbs *verbs = test->priv;

	return ib_umem_odp_get(&verbs->device, addr, length,
			       IB_ACCESS_ON_DEMAND | IB_ACCESS_LOCAL_WRITE, &rdmacg_odp_ops);
}

/*
 * All pages count from the registration on, although the device has none of them yet. Memory that
 * fails before or after its charge stays uncharged.
 */
static void rdmacg_test_odp_is_charged_in_pages(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	unsigned long memory = rdmacg_memory(test);
	struct ib_umem_odp *odp;

	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, -memory + 1)), -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, ODP_LONGEST + 1)), -ENOMEM);
	rdmacg_expect_no_peak(test);
	/* This machine has too little memory for the array, and the umem fails after the charge. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, ODP_LONGEST)), -ENOMEM);
	rdmacg_expect_pages(test, 0);
	rdmacg_limit_bytes(test, &verbs->top, "mr_mem", 2 * PAGE_SIZE);
	odp = rdmacg_odp(test, memory + PAGE_SIZE - 1, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	rdmacg_expect_pages(test, 2);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, 1)), -EAGAIN);
	/* The limit refuses before the kernel tries to allocate the array of page numbers. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_odp(test, memory, ODP_LONGEST)), -EAGAIN);
	ib_umem_release(&odp->umem);
	rdmacg_expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

static struct ib_umem_odp *rdmacg_implicit(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	return ib_umem_odp_alloc_implicit(&verbs->device, IB_ACCESS_LOCAL_WRITE);
}

/*
 * An implicit MR that was created before the limit continues to work. Its children are not charged
 * separately.
 */
static void rdmacg_test_implicit_odp_is_refused_under_a_limit(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	unsigned long memory = rdmacg_memory(test);
	struct ib_umem_odp *root = rdmacg_implicit(test), *child;

	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	rdmacg_limit_verb(test, &verbs->top, "kunit0 mr_mem=0");
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_implicit(test)), -EAGAIN);
	rdmacg_limit_verb(test, &verbs->top, "kunit0 mr_mem=max mr=0");
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdmacg_implicit(test)), -EAGAIN);
	child = ib_umem_odp_alloc_child(root, memory, PAGE_SIZE, &rdmacg_odp_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(child));
	rdmacg_expect_no_peak(test);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	ib_umem_odp_release(child);
	ib_umem_odp_release(root);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * A driver that does not destroy an MR keeps its umem. The charge ends with the
 * device, and a later release of the umem does not uncharge again.
 */
static void rdmacg_test_kept_memory_is_charged_until_the_device_goes(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_umem *pinned = rdmacg_pin(test, 0, PAGE_SIZE);
	struct ib_umem_odp *endless = rdmacg_implicit(test);

	KUNIT_ASSERT_FALSE(test, IS_ERR(pinned) || IS_ERR(endless));
	ib_rdmacg_keep_uobject(rdmacg_uobject(test, UVERBS_OBJECT_MR));
	rdmacg_expect_pages(test, 1);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 2);
	kunit_release_action(test, rdmacg_stop, verbs);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	ib_umem_release(pinned);
	ib_umem_odp_release(endless);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */

static struct kunit_case rdmacg_umem_cases[] = {
	KUNIT_CASE_PARAM(rdmacg_test_pinned_pages_are_charged, rdmacg_part_gen_params),
	KUNIT_CASE(rdmacg_test_pages_go_back_as_they_were_charged),
	KUNIT_CASE(rdmacg_test_pages_are_refused_past_the_limit),
	KUNIT_CASE(rdmacg_test_pages_that_are_not_pinned_are_not_charged),
	KUNIT_CASE(rdmacg_test_endless_memory_is_refused_under_a_limit),
	KUNIT_CASE(rdmacg_test_dma_buf_is_charged_in_pages),
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
	KUNIT_CASE(rdmacg_test_odp_is_charged_in_pages),
	KUNIT_CASE(rdmacg_test_implicit_odp_is_refused_under_a_limit),
	KUNIT_CASE(rdmacg_test_kept_memory_is_charged_until_the_device_goes),
#endif
	{}
};

static struct kunit_suite rdmacg_umem_suite = {
	.name = "cgroup_rdma_umem",
	.init = rdmacg_verbs_test_init,
	.test_cases = rdmacg_umem_cases,
};

kunit_test_suite(rdmacg_umem_suite);

MODULE_DESCRIPTION("KUnit tests for charges of memory that an RDMA device can access");
MODULE_LICENSE("GPL");
