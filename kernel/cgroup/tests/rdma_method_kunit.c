// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for objects whose charge depends on the attributes of a method. A test calls the
 * ioctl() of a device as a program does, and the driver of the device is in this file. Device
 * memory stands for all such objects, because its driver needs little code.
 */
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "../../../drivers/infiniband/core/rdma_core.h"
#include "../../../drivers/infiniband/core/uverbs.h"
#include "rdma_verbs_kunit.h"

/* The largest number of attributes of a call. */
#define RDMACG_ATTRS 3

/* A process that has opened the device and has a context. */
struct rdmacg_program {
	struct ib_uverbs_device uverbs;
	struct ib_uverbs_file ufile;
	struct file file;
	/* The memory of the process from which the kernel reads the call. */
	void __user *memory;
	/* The number of requests to the driver, and its answers before and after it allocates. */
	unsigned int nr_asked;
	int answer;
	int late_answer;
	/* The offset at which the process can map the latest memory. */
	unsigned long pgoff;
	/* The memory that another thread maps before the late answer. */
	struct rdma_user_mmap_entry *mapped;
};

/* Device memory that programs can map, as in mlx5. */
struct rdmacg_memory {
	struct ib_dm dm;
	struct rdma_user_mmap_entry entry;
};

/* Allocate memory, and check that the caller's cgroup is already charged. */
static struct ib_dm *rdmacg_alloc_dm(struct ib_device *device, struct ib_ucontext *context,
				     struct ib_dm_alloc_attr *attr,
				     struct uverbs_attr_bundle *attrs)
{
	struct rdmacg_program *program = container_of(attrs->ufile, struct rdmacg_program, ufile);
	struct rdmacg_memory *memory;

	program->nr_asked++;
	rdmacg_expect_left(kunit_get_current_test(), 1, "dm=1 dm_mem=65536");
	if (program->answer)
		return ERR_PTR(program->answer);
	memory = kzalloc_obj(*memory, GFP_KERNEL);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	KUNIT_EXPECT_EQ(kunit_get_current_test(), 0,
			rdma_user_mmap_entry_insert(context, &memory->entry, SZ_64K));
	program->pgoff = memory->entry.start_pgoff;
	if (!program->late_answer)
		return &memory->dm;
	program->mapped = rdma_user_mmap_entry_get_pgoff(context, program->pgoff);
	ib_rdmacg_move_charge(uverbs_attr_get_uobject(attrs, UVERBS_ATTR_ALLOC_DM_HANDLE),
			      &memory->entry.cg_obj);
	rdma_user_mmap_entry_remove(&memory->entry);
	return ERR_PTR(program->late_answer);
}

static int rdmacg_dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	struct rdmacg_memory *memory = container_of(dm, struct rdmacg_memory, dm);

	ib_rdmacg_move_charge(dm->uobject, &memory->entry.cg_obj);
	rdma_user_mmap_entry_remove(&memory->entry);
	return 0;
}

static void rdmacg_mmap_free(struct rdma_user_mmap_entry *entry)
{
	kfree(container_of(entry, struct rdmacg_memory, entry));
}

static void rdmacg_close(void *arg)
{
	struct rdmacg_program *program = arg;

	uverbs_destroy_api(program->uverbs.uapi);
	cleanup_srcu_struct(&program->uverbs.disassociate_srcu);
}

static void rdmacg_init_file(struct rdmacg_program *program, struct rdmacg_verbs *verbs)
{
	struct ib_uverbs_file *ufile = &program->ufile;

	kref_init(&ufile->ref);
	mutex_init(&ufile->ucontext_lock);
	init_rwsem(&ufile->hw_destroy_rwsem);
	spin_lock_init(&ufile->uobjects_lock);
	mutex_init(&ufile->umap_lock);
	INIT_LIST_HEAD(&ufile->uobjects);
	setup_ufile_idr_uobject(ufile);
	ufile->device = &program->uverbs;
	ufile->ucontext = &verbs->ucontext;
	verbs->ucontext.ufile = ufile;
	program->file.private_data = ufile;
}

/* Give the device functions for device memory, and let a program in "left" open the device. */
static struct rdmacg_program *rdmacg_open(struct kunit *test)
{
	struct rdmacg_program *program = kunit_kzalloc(test, sizeof(*program), GFP_KERNEL);
	struct rdmacg_verbs *verbs = test->priv;
	unsigned long memory;

	KUNIT_ASSERT_NOT_NULL(test, program);
	verbs->device.ops.alloc_dm = rdmacg_alloc_dm;
	verbs->device.ops.dealloc_dm = rdmacg_dealloc_dm;
	verbs->device.ops.mmap_free = rdmacg_mmap_free;
	xa_init_flags(&verbs->ucontext.mmap_xa, XA_FLAGS_ALLOC);
	rdmacg_start(test);
	KUNIT_ASSERT_EQ(test, init_srcu_struct(&program->uverbs.disassociate_srcu), 0);
	program->uverbs.uapi = uverbs_alloc_api(&verbs->device);
	if (IS_ERR(program->uverbs.uapi))
		program->uverbs.uapi = NULL;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_close, program), 0);
	KUNIT_ASSERT_NOT_NULL(test, program->uverbs.uapi);
	RCU_INIT_POINTER(program->uverbs.ib_dev, &verbs->device);
	rdmacg_init_file(program, verbs);
	memory = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, !memory || IS_ERR_VALUE(memory));
	program->memory = (void __user *)memory;
	return program;
}

/* Call a method of device memory. The call stores the ids of new objects in the attributes. */
static int rdmacg_call(struct kunit *test, struct rdmacg_program *program, u16 method,
		       struct ib_uverbs_attr *attrs, u16 count)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = struct_size(&hdr, attrs, count),
		.object_id = UVERBS_OBJECT_DM,
		.method_id = method,
		.num_attrs = count,
		.driver_id = verbs->device.ops.driver_id,
	};
	size_t size = count * sizeof(*attrs);
	int ret;

	KUNIT_ASSERT_EQ(test, copy_to_user(program->memory, &hdr, sizeof(hdr)), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user(program->memory + sizeof(hdr), attrs, size), 0);
	ret = ib_uverbs_ioctl(&program->file, RDMA_VERBS_IOCTL, (unsigned long)program->memory);
	KUNIT_ASSERT_EQ(test, copy_from_user(attrs, program->memory + sizeof(hdr), size), 0);
	return ret;
}

/* Allocate 64 KiB, and set *@id. The attributes are rotated by @turn places. */
static int rdmacg_ask(struct kunit *test, struct rdmacg_program *program, unsigned int turn,
		      u64 *id)
{
	const struct ib_uverbs_attr ordered[RDMACG_ATTRS] = {
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_HANDLE },
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_LENGTH, .len = sizeof(u64), .data = SZ_64K },
		{ .attr_id = UVERBS_ATTR_ALLOC_DM_ALIGNMENT, .len = sizeof(u32) },
	};
	struct ib_uverbs_attr attrs[RDMACG_ATTRS];
	unsigned int i;
	int ret;

	for (i = 0; i < RDMACG_ATTRS; i++)
		attrs[(i + turn) % RDMACG_ATTRS] = ordered[i];
	ret = rdmacg_call(test, program, UVERBS_METHOD_DM_ALLOC, attrs, RDMACG_ATTRS);
	*id = attrs[turn % RDMACG_ATTRS].data;
	return ret;
}

static int rdmacg_free(struct kunit *test, struct rdmacg_program *program, u64 id)
{
	struct ib_uverbs_attr attr = { .attr_id = UVERBS_ATTR_FREE_DM_HANDLE, .data = id };

	return rdmacg_call(test, program, UVERBS_METHOD_DM_FREE, &attr, 1);
}

static void rdmacg_test_method_is_charged_before_it_runs(struct kunit *test)
{
	struct rdmacg_program *program = rdmacg_open(test);
	struct rdmacg_verbs *verbs = test->priv;
	unsigned int turn;
	u64 id;

	for (turn = 0; turn < RDMACG_ATTRS; turn++) {
		verbs->current_cg = &verbs->left;
		KUNIT_ASSERT_EQ_MSG(test, rdmacg_ask(test, program, turn, &id), 0, "%u", turn);
		KUNIT_EXPECT_EQ(test, program->nr_asked, turn + 1);
		rdmacg_expect_left(test, 1, "dm=1 dm_mem=65536");
		/* The method that destroys the object returns the charge to the owner. */
		verbs->current_cg = &verbs->right;
		KUNIT_EXPECT_EQ(test, rdmacg_free(test, program, id), 0);
		rdmacg_expect_left(test, 0, "");
		KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	}
}

/* A refused method does not run. If a method fails, its charge is given back. */
static void rdmacg_test_method_that_is_refused_does_not_run(struct kunit *test)
{
	struct rdmacg_program *program = rdmacg_open(test);
	struct rdmacg_verbs *verbs = test->priv;
	u64 id;

	rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=65535");
	KUNIT_EXPECT_EQ(test, rdmacg_ask(test, program, 0, &id), -EAGAIN);
	KUNIT_EXPECT_EQ(test, program->nr_asked, 0);
	rdmacg_limit_verb(test, &verbs->top, "kunit0 max");
	program->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, rdmacg_ask(test, program, 0, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, program->nr_asked, 1);
	KUNIT_EXPECT_TRUE(test, xa_empty(&program->ufile.idr));
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * Mapped memory stays charged after its object is freed. Otherwise a program could take all memory
 * of the device by repeated allocating, mapping and freeing.
 */
static void rdmacg_test_freed_memory_is_charged_while_it_is_mapped(struct kunit *test)
{
	struct rdmacg_program *program = rdmacg_open(test);
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_user_mmap_entry *mapped;
	u64 id;

	rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=65536");
	KUNIT_ASSERT_EQ(test, rdmacg_ask(test, program, 0, &id), 0);
	mapped = rdma_user_mmap_entry_get_pgoff(&verbs->ucontext, program->pgoff);
	KUNIT_ASSERT_NOT_NULL(test, mapped);
	verbs->current_cg = &verbs->right;
	KUNIT_EXPECT_EQ(test, rdmacg_free(test, program, id), 0);
	rdmacg_expect_left(test, 1, "dm=1 dm_mem=65536");
	KUNIT_EXPECT_EQ(test, rdmacg_ask(test, program, 0, &id), -EAGAIN);
	rdma_user_mmap_entry_put(mapped);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * The driver fails after it has allocated. Another thread may have guessed the memory's offset and
 * mapped the memory before the failure.
 */
static void rdmacg_test_failed_memory_is_charged_while_it_is_mapped(struct kunit *test)
{
	struct rdmacg_program *program = rdmacg_open(test);
	struct rdmacg_verbs *verbs = test->priv;
	u64 id;

	rdmacg_limit_verb(test, &verbs->top, "kunit0 dm_mem=65536");
	program->late_answer = -EFAULT;
	KUNIT_EXPECT_EQ(test, rdmacg_ask(test, program, 0, &id), -EFAULT);
	KUNIT_ASSERT_NOT_NULL(test, program->mapped);
	rdmacg_expect_left(test, 1, "dm=1 dm_mem=65536");
	KUNIT_EXPECT_EQ(test, rdmacg_ask(test, program, 0, &id), -EAGAIN);
	rdma_user_mmap_entry_put(program->mapped);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * Check that the context is still charged. Only this function frees the driver's memory of the
 * context.
 */
static void rdmacg_dealloc_ucontext(struct ib_ucontext *ucontext)
{
	struct kunit *test = kunit_get_current_test();
	struct rdmacg_verbs *verbs = test->priv;

	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT,
		      "kunit0 hca_handle=1 hca_object=0\n");
	verbs->device.ops.dealloc_ucontext = NULL;
}

static void rdmacg_test_closed_context_is_charged_until_the_driver_is_done(struct kunit *test)
{
	struct rdmacg_program *program = rdmacg_open(test);
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_ucontext *ucontext = kzalloc_obj(*ucontext, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ucontext);
	ucontext->device = &verbs->device;
	xa_init_flags(&ucontext->mmap_xa, XA_FLAGS_ALLOC);
	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_ucontext(ucontext), 0);
	program->ufile.ucontext = ucontext;
	verbs->device.ops.dealloc_ucontext = rdmacg_dealloc_ucontext;
	uverbs_destroy_ufile_hw(&program->ufile, RDMA_REMOVE_CLOSE);
	KUNIT_EXPECT_NULL(test, verbs->device.ops.dealloc_ucontext);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

static struct kunit_case rdmacg_method_cases[] = {
	KUNIT_CASE(rdmacg_test_method_is_charged_before_it_runs),
	KUNIT_CASE(rdmacg_test_method_that_is_refused_does_not_run),
	KUNIT_CASE(rdmacg_test_freed_memory_is_charged_while_it_is_mapped),
	KUNIT_CASE(rdmacg_test_failed_memory_is_charged_while_it_is_mapped),
	KUNIT_CASE(rdmacg_test_closed_context_is_charged_until_the_driver_is_done),
	{}
};

static struct kunit_suite rdmacg_method_suite = {
	.name = "cgroup_rdma_method",
	.init = rdmacg_verbs_test_init,
	.test_cases = rdmacg_method_cases,
};

kunit_test_suite(rdmacg_method_suite);

MODULE_DESCRIPTION("KUnit tests for charges of methods of uverbs");
MODULE_LICENSE("GPL");
