// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for callers of the stock controller's functions. The caller is the unpatched
 * drivers/infiniband/core/cgroup.c, which an IB core from outside of the tree also contains.
 */
#include "rdma_verbs_kunit.h"

/* The IB core of this kernel has functions of the same names. */
#define ib_device_register_rdmacg	rdmacg_stock_register
#define ib_device_unregister_rdmacg	rdmacg_stock_unregister
#define ib_rdmacg_try_charge		rdmacg_stock_try_charge
#define ib_rdmacg_uncharge		rdmacg_stock_uncharge
#undef EXPORT_SYMBOL
#define EXPORT_SYMBOL(_function)

static void rdmacg_stock_register(struct ib_device *device);
static void rdmacg_stock_unregister(struct ib_device *device);
static int rdmacg_stock_try_charge(struct ib_rdmacg_object *obj, struct ib_device *device,
				   enum rdmacg_resource_type index);
static void rdmacg_stock_uncharge(struct ib_rdmacg_object *obj, struct ib_device *device,
				  enum rdmacg_resource_type index);

#include "stock_cgroup.inc"

static void rdmacg_stop_stock(void *arg)
{
	rdmacg_stock_unregister(arg);
}

/* Register a device, without any other call that the IB core of this kernel makes. */
static struct ib_device *rdmacg_start_stock(struct kunit *test, const char *name)
{
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, device);
	strscpy(device->name, name, sizeof(device->name));
	/* Wait until the keys of removed devices are free, because files list devices by key. */
	rcu_barrier();
	rdmacg_stock_register(device);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_stop_stock, device), 0);
	return device;
}

static const char *rdmacg_show_left(struct kunit *test, enum rdmacg_class class,
				    enum rdmacg_file file)
{
	struct rdmacg_verbs *verbs = test->priv;

	return rdmacg_test_show(test, &verbs->left, class, file);
}

static int rdmacg_limit_left(struct kunit *test, const char *text)
{
	struct rdmacg_verbs *verbs = test->priv;

	return rdmacg_test_limit(&verbs->left, text);
}

/* The device has only the keys of rdma.max. */
static void rdmacg_test_stock_caller_is_limited(struct kunit *test)
{
	struct ib_device *device = rdmacg_start_stock(test, "kunit0");
	struct ib_rdmacg_object handle = { }, obj[2] = { };

	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_VERB, RDMACG_FILE_MAX), "");
	KUNIT_ASSERT_EQ(test, rdmacg_limit_left(test, "kunit0 hca_object=1"), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_stock_try_charge(&handle, device, HANDLE), 0);
	KUNIT_ASSERT_EQ(test, rdmacg_stock_try_charge(&obj[0], device, OBJECT), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_stock_try_charge(&obj[1], device, OBJECT), -EAGAIN);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT),
			   "kunit0 hca_handle=1 hca_object=1\n");
	rdmacg_stock_uncharge(&obj[0], device, OBJECT);
	rdmacg_stock_uncharge(&handle, device, HANDLE);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT),
			   "kunit0 hca_handle=0 hca_object=0\n");
}

static void rdmacg_rename_in_place(struct ib_device *device, const char *name)
{
	strscpy(device->name, name, sizeof(device->name));
}

/* The IB core of Linux changes the name in place, and tells nobody. */
static void rdmacg_test_rename_is_followed(struct kunit *test)
{
	struct ib_device *device = rdmacg_start_stock(test, "kunit0");

	KUNIT_ASSERT_EQ(test, rdmacg_limit_left(test, "kunit0 hca_object=7"), 0);
	rdmacg_rename_in_place(device, "kunit blank");
	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_HCA, RDMACG_FILE_MAX),
			   "kunit\\040blank hca_handle=max hca_object=7\n");
	rdmacg_rename_in_place(device, "kunit2");
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, "kunit0 hca_object=1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, "kunit2 hca_object=8"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_HCA, RDMACG_FILE_MAX),
			   "kunit2 hca_handle=max hca_object=8\n");
}

/* While a device is renamed, its name may be the name of another device for a moment. */
static void rdmacg_test_torn_name_matches_no_other_device(struct kunit *test)
{
	struct ib_device *device = rdmacg_start_stock(test, "kunit0");

	rdmacg_start_stock(test, "kunit1");
	rdmacg_rename_in_place(device, "kunit1");
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, "kunit1 hca_object=1"), -ENOTUNIQ);
	rdmacg_rename_in_place(device, "kunit2");
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, "kunit1 hca_object=1"), 0);
	KUNIT_EXPECT_STREQ(test, rdmacg_show_left(test, RDMACG_CLASS_HCA, RDMACG_FILE_MAX),
			   "kunit2 hca_handle=max hca_object=max\n"
			   "kunit1 hca_handle=max hca_object=1\n");
}

static void rdmacg_test_stock_devices_have_indices(struct kunit *test)
{
	struct ib_device *first = rdmacg_start_stock(test, "kunit0");
	struct ib_device *second = rdmacg_start_stock(test, "kunit1");
	char text[64];

	KUNIT_EXPECT_GT(test, first->cg_device.index, S32_MAX);
	KUNIT_EXPECT_NE(test, first->cg_device.index, second->cg_device.index);
	snprintf(text, sizeof(text), "kunit0 index=%u hca_object=3", first->cg_device.index);
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, text), 0);
	snprintf(text, sizeof(text), "kunit0 index=%u hca_object=3", second->cg_device.index);
	KUNIT_EXPECT_EQ(test, rdmacg_limit_left(test, text), -ENODEV);
}

static struct kunit_case rdmacg_stock_cases[] = {
	KUNIT_CASE(rdmacg_test_stock_caller_is_limited),
	KUNIT_CASE(rdmacg_test_rename_is_followed),
	KUNIT_CASE(rdmacg_test_torn_name_matches_no_other_device),
	KUNIT_CASE(rdmacg_test_stock_devices_have_indices),
	{}
};

static struct kunit_suite rdmacg_stock_suite = {
	.name = "cgroup_rdma_stock",
	.init = rdmacg_verbs_test_init,
	.test_cases = rdmacg_stock_cases,
};

kunit_test_suite(rdmacg_stock_suite);

MODULE_DESCRIPTION("KUnit tests for callers of the stock RDMA cgroup controller");
MODULE_LICENSE("GPL");
