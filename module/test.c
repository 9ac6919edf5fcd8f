// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test at load: a PD and a page of memory are counted while they exist, and
 * not afterwards. An original that the compiler has also copied into its caller
 * would not be redirected there, which no prototype shows.
 */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/mman.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "record.h"

/* Functions of core_priv.h, which the module calls as the IB core does. */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *obj, struct ib_device *device,
			 enum rdmacg_resource_type index);
void ib_rdmacg_uncharge(struct ib_rdmacg_object *obj, struct ib_device *device,
			enum rdmacg_resource_type index);

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
#define ib_umem_get_va ib_umem_get
#endif

/* Returns whether the charge of @key is kept. */
static bool rdmacg_is_kept(const void *key)
{
	struct rdmacg_record *record = rdmacg_record_take(key);

	rdmacg_record_keep(record, key);
	return record;
}

static bool rdmacg_test_object(struct ib_device *device)
{
	struct uverbs_api_object pd = { .id = UVERBS_OBJECT_PD };
	struct ib_uobject uobj = { .uapi_object = &pd };
	bool is_counted;

	/* This process may have no room for one object. */
	if (ib_rdmacg_try_charge(&uobj.cg_obj, device, RDMACG_RESOURCE_HCA_OBJECT))
		return true;
	is_counted = rdmacg_is_kept(&uobj);
	ib_rdmacg_uncharge(&uobj.cg_obj, device, RDMACG_RESOURCE_HCA_OBJECT);
	return is_counted && !rdmacg_is_kept(&uobj);
}

static bool rdmacg_test_memory(struct ib_device *device)
{
	unsigned long addr = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct ib_umem *umem;
	bool is_counted = true;

	if (IS_ERR_VALUE(addr))
		return true;
	umem = ib_umem_get_va(device, addr, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	if (!IS_ERR(umem)) {
		is_counted = rdmacg_is_kept(umem);
		ib_umem_release(umem);
		is_counted = is_counted && !rdmacg_is_kept(umem);
	}
	vm_munmap(addr, PAGE_SIZE);
	return is_counted;
}

/*
 * Check that the hooks count what a process creates on a device. The current
 * process needs memory of its own. Returns 0, or -EOPNOTSUPP after a message.
 */
int rdmacg_test(struct ib_device *device)
{
	const char *fault = !rdmacg_test_object(device) ? "objects" :
			    !rdmacg_test_memory(device) ? "memory" : NULL;

	if (!fault)
		return 0;
	pr_err("%s: this kernel does not call the hooks for %s, so limits would not hold; this version of the module does not fit\n",
	       dev_name(&device->dev), fault);
	return -EOPNOTSUPP;
}
