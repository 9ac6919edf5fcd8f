// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests for the charges of the IB core, and for the limits that a query shows. The core
 * charges contexts, objects by type, connection identifiers, resources of drivers and objects of
 * ULPs.
 */
#include <linux/err.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "../../../drivers/infiniband/core/cgroup_cma.h"
#include "../../../drivers/infiniband/core/cgroup_mcast.h"
#include "../../../drivers/infiniband/core/cgroup_query.h"
#include "../../../drivers/infiniband/core/cma_priv.h"
#include "rdma_verbs_kunit.h"

static void rdmacg_test_device_without_mr_has_no_mr_mem(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;

	verbs->device.ops.dereg_mr = NULL;
	rdmacg_start(test);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT,
		      "kunit0 pd=0 comp_channel=0 cq=0 qp=0 async_event=0 cm_id=0\n");
}

/* An object, and what its creator is charged. */
struct rdmacg_object_case {
	const char *name;
	u32 id;
	bool is_fd;
	unsigned int hca_object;
	const char *verb;
};

/* The device of the test has no XRCDs. */
static const struct rdmacg_object_case rdmacg_object_cases[] = {
	{ "a type", UVERBS_OBJECT_QP, false, 1, "qp=1" },
	{ "an uncounted type", UVERBS_OBJECT_XRCD, false, 1, "" },
	{ "the first type of a driver", UVERBS_ID_DRIVER_NS, false, 1, "driver_object=1" },
	{ "the second type of a driver", UVERBS_ID_DRIVER_NS + 1, false, 1, "driver_object=1" },
	{ "a file descriptor", UVERBS_OBJECT_COMP_CHANNEL, true, 0, "comp_channel=1" },
	{ "a file descriptor of an uncounted type", UVERBS_OBJECT_XRCD, true, 0, "" },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_object, rdmacg_object_cases, name);

/*
 * The hca_object and the object of the type are one charge with one owner. The owner is uncharged
 * once, even if another process destroys the object.
 */
static void rdmacg_test_object_is_charged_to_its_creator(struct kunit *test)
{
	static const struct uapi_definition driver_def[] = { {} };
	const struct rdmacg_object_case *object = test->param_value;
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_uobject *uobj;
	int ret;

	verbs->device.driver_def = driver_def;
	rdmacg_start(test);
	uobj = rdmacg_uobject(test, object->id);
	if (object->is_fd)
		ret = ib_rdmacg_charge_fd_uobject(uobj);
	else
		ret = ib_rdmacg_charge_idr_uobject(uobj);
	KUNIT_EXPECT_EQ(test, ret, 0);
	rdmacg_expect_left(test, object->hca_object, object->verb);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), object->hca_object || *object->verb);
	verbs->current_cg = &verbs->right;
	ib_rdmacg_uncharge_uobject(uobj);
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * An object that the driver does not destroy stays charged, and the limit still
 * holds. Its owner is free when the device is gone.
 */
static void rdmacg_test_kept_object_is_charged_until_the_device_goes(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_uobject *uobj;

	KUNIT_ASSERT_EQ(test, ib_device_register_rdmacg(&verbs->device), 0);
	uobj = rdmacg_uobject(test, UVERBS_OBJECT_QP);
	rdmacg_limit_verb(test, &verbs->top, "kunit0 qp=1");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), 0);
	ib_rdmacg_keep_uobject(uobj);
	/* This call does nothing, because the object is no longer charged. */
	ib_rdmacg_uncharge_uobject(uobj);
	rdmacg_expect_left(test, 1, "qp=1");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_idr_uobject(uobj), -EAGAIN);
	ib_device_unregister_rdmacg(&verbs->device);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/* Uverbs may charge and uncharge a context several times. */
static void rdmacg_test_context_is_charged_and_uncharged_once(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_ucontext(&verbs->ucontext), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_ucontext(&verbs->ucontext), 0);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT,
		      "kunit0 hca_handle=1 hca_object=0\n");
	ib_rdmacg_uncharge_ucontext(&verbs->ucontext);
	ib_rdmacg_uncharge_ucontext(&verbs->ucontext);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/* The limits of "left" and of its parent "top", and the values that a query in "left" reports. */
struct rdmacg_attr_case {
	const char *name;
	const char *hca, *verb, *top;
	u32 max_pd, max_qp;
};

/* Without limits, a query reports 100 PDs, 1000 QPs, and MRs of 64 MiB. */
static const struct rdmacg_attr_case rdmacg_attr_cases[] = {
	{ "no limit", .max_pd = 100, .max_qp = 1000 },
	{ "hca_object", .hca = "kunit0 hca_object=200", .max_pd = 100, .max_qp = 200 },
	{ "hca_object below all", .hca = "kunit0 hca_object=20", .max_pd = 20, .max_qp = 20 },
	{ "a type", .verb = "kunit0 qp=7", .max_pd = 100, .max_qp = 7 },
	{ "a type above the device", .verb = "kunit0 qp=7000", .max_pd = 100, .max_qp = 1000 },
	{ "a type of the parent", NULL, "kunit0 qp=7", "kunit0 qp=5", 100, 5 },
	{ "a type below the parent", NULL, "kunit0 qp=7", "kunit0 qp=9", 100, 7 },
	{ "a type and hca_object", "kunit0 hca_object=6", "kunit0 qp=7", NULL, 6, 6 },
	{ "mr_mem, which is a sum", .verb = "kunit0 mr_mem=4096", .max_pd = 100, .max_qp = 1000 },
	{ "limit 0", .verb = "kunit0 pd=0 qp=0", .max_pd = 0, .max_qp = 0 },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_attr, rdmacg_attr_cases, name);

static void rdmacg_test_query_shows_the_smallest_limit(struct kunit *test)
{
	const struct rdmacg_attr_case *limits = test->param_value;
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_device_attr attr = verbs->device.attrs;

	if (limits->hca)
		KUNIT_ASSERT_EQ(test, rdmacg_test_limit(&verbs->left, limits->hca), 0);
	if (limits->verb)
		rdmacg_limit_verb(test, &verbs->left, limits->verb);
	if (limits->top)
		rdmacg_limit_verb(test, &verbs->top, limits->top);
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_pd, limits->max_pd);
	KUNIT_EXPECT_EQ(test, attr.max_qp, limits->max_qp);
	KUNIT_EXPECT_EQ(test, attr.max_mr_size, 64 * MIB);
	/* The device has no SRQs, so the query reports none. */
	KUNIT_EXPECT_EQ(test, attr.max_srq, 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

struct rdmacg_driver_case {
	const char *name;
	u32 id;
	bool is_limited;
};

static const struct rdmacg_driver_case rdmacg_driver_cases[] = {
	{ "unknown", RDMA_DRIVER_UNKNOWN, false },
	{ "mlx5", RDMA_DRIVER_MLX5, true },
	{ "rxe", RDMA_DRIVER_RXE, true },
	{ "efa", RDMA_DRIVER_EFA, false },
	{ "usnic", RDMA_DRIVER_USNIC, false },
	{ "the first after mana", RDMA_DRIVER_MANA + 1, false },
};

KUNIT_ARRAY_PARAM_DESC(rdmacg_driver, rdmacg_driver_cases, name);

/*
 * Only the drivers in the list report limits. The providers of other drivers may size their tables
 * by these attributes.
 */
static void rdmacg_test_query_shows_limits_of_known_drivers_only(struct kunit *test)
{
	const struct rdmacg_driver_case *driver = test->param_value;
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_device_attr attr = verbs->device.attrs;

	verbs->device.ops.driver_id = driver->id;
	rdmacg_start(test);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 qp=7");
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_qp, driver->is_limited ? 7 : 1000);
}

/* A limit of 0 address handles is not reported, because programs take 0 as "not stated". */
static void rdmacg_test_query_shows_no_limit_of_0_address_handles(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_device_attr attr;

	verbs->device.ops.destroy_ah = (void *)rdmacg_support;
	verbs->device.attrs.max_ah = 9;
	attr = verbs->device.attrs;
	rdmacg_start(test);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 ah=0 pd=0");
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_ah, 9);
	KUNIT_EXPECT_EQ(test, attr.max_pd, 0);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 ah=1");
	ib_rdmacg_limit_attr(&verbs->device, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_ah, 1);
}

#define RDMACG_HW(_name) RDMACG_TEST_RESOURCE(_name, RDMACG_CLASS_HW)

/* The index of "gate" in the table below. */
#define GATE 1

/* Register a device with two resources of its own. */
static struct rdmacg_verbs *rdmacg_start_hw(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = {
		RDMACG_HW("lane"), [GATE] = RDMACG_HW("gate"),
	};
	struct rdmacg_verbs *verbs = test->priv;

	ib_rdmacg_set_hw_resources(&verbs->device, resources, ARRAY_SIZE(resources));
	return rdmacg_start(test);
}

/* A resource of a driver counts in its class alone. */
static void rdmacg_test_hw_resource_is_refused_past_its_limit(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start_hw(test);
	struct rdma_cgroup *owner, *refused;

	KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&verbs->top, RDMACG_CLASS_HW, "kunit0 gate=3"),
			0);
	KUNIT_ASSERT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, GATE, 2), 0);
	KUNIT_EXPECT_PTR_EQ(test, owner, &verbs->left);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&refused, &verbs->device, GATE, 2), -EAGAIN);
	KUNIT_EXPECT_NULL(test, refused);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_EVENTS,
		      "kunit0 lane.max=0 lane.alloc_fail=0 gate.max=1 gate.alloc_fail=1\n");
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=2\n");
	rdmacg_expect_left(test, 0, "");
	ib_rdmacg_uncharge_hw(owner, &verbs->device, GATE, 2);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=0\n");
}

/* The owner of a context is charged for its hw resources, even if another process requests them. */
static void rdmacg_test_context_pays_for_its_hw_resources(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start_hw(test);

	KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&verbs->top, RDMACG_CLASS_HW, "kunit0 gate=3"),
			0);
	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_ucontext(&verbs->ucontext), 0);
	verbs->current_cg = &verbs->right;
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_ucontext_hw(&verbs->ucontext, GATE, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_ucontext_hw(&verbs->ucontext, GATE, 2), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_ucontext_hw(&verbs->ucontext, GATE, 1), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_ucontext_hw(&verbs->ucontext, GATE, 1), -EAGAIN);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=3\n");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 3);
	ib_rdmacg_uncharge_ucontext_hw(&verbs->ucontext, GATE, 1);
	ib_rdmacg_uncharge_ucontext_hw(&verbs->ucontext, GATE, 2);
	ib_rdmacg_uncharge_ucontext_hw(&verbs->ucontext, GATE, 0);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HW, RDMACG_FILE_CURRENT,
		      "kunit0 lane=0 gate=0\n");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
}

static void rdmacg_test_multicast_is_charged_where_the_device_has_it(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_cgroup *owner, *refused;

	verbs->device.ops.attach_mcast = (void *)rdmacg_support;
	verbs->device.attrs.max_total_mcast_qp_attach = 77;
	rdmacg_start(test);
	KUNIT_EXPECT_NOT_NULL(test, strstr(rdmacg_test_show(test, &verbs->root, RDMACG_CLASS_HCA,
							    RDMACG_FILE_CAPACITY), " mcast=77 "));
	rdmacg_limit_verb(test, &verbs->top, "kunit0 mcast=1");
	KUNIT_ASSERT_EQ(test, ib_rdmacg_charge_mcast(&owner, &verbs->device), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_mcast(&refused, &verbs->device), -EAGAIN);
	KUNIT_EXPECT_NULL(test, refused);
	rdmacg_expect_left(test, 0, "mcast=1");
	verbs->current_cg = &verbs->right;
	ib_rdmacg_uncharge_mcast(refused, &verbs->device);
	ib_rdmacg_uncharge_mcast(owner, &verbs->device);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

static void rdmacg_test_multicast_is_free_where_the_device_has_none(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdma_cgroup *owner;

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_mcast(&owner, &verbs->device), 0);
	KUNIT_EXPECT_NULL(test, owner);
	rdmacg_expect_left(test, 0, "");
}

static enum rdma_link_layer rdmacg_link_layer(struct ib_device *device, u32 port)
{
	return port == 1 ? IB_LINK_LAYER_INFINIBAND : IB_LINK_LAYER_ETHERNET;
}

static int rdmacg_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			   struct ib_qp_init_attr *init)
{
	attr->qp_state = qp->port ? IB_QPS_INIT : IB_QPS_RESET;
	attr->port_num = qp->port;
	return 0;
}

static int rdmacg_accept_group(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return 0;
}

/* The LID 0 is valid while the QP has no port, but not on an InfiniBand port. */
static void rdmacg_test_qp_leaves_its_group_on_any_port(struct kunit *test)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct ib_qp qp = { .device = &verbs->device, .real_qp = &qp, .qp_type = IB_QPT_UD };
	union ib_gid gid = { .raw = { 0xff } };

	verbs->device.phys_port_cnt = 2;
	verbs->device.ops.get_link_layer = rdmacg_link_layer;
	verbs->device.ops.query_qp = rdmacg_query_qp;
	verbs->device.ops.attach_mcast = rdmacg_accept_group;
	verbs->device.ops.detach_mcast = rdmacg_accept_group;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(&qp, &gid, 0), 0);
	qp.port = 1;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(&qp, &gid, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(&qp, &gid, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp.usecnt), 0);
}

/*
 * A driver must not add keys to other classes, because programs parse the files of these classes.
 * A device without hw resources has no line in the files of the class, and charges for one do
 * nothing.
 */
static void rdmacg_test_hw_table_with_another_class_is_refused(struct kunit *test)
{
	static const struct rdmacg_resource resources[] = {
		RDMACG_HW("lane"), RDMACG_TEST_RESOURCE("gate", RDMACG_CLASS_HCA),
	};
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_cgroup *owner = &verbs->left;

	ib_rdmacg_set_hw_resources(&verbs->device, resources, ARRAY_SIZE(resources));
	rdmacg_start(test);
	rdmacg_expect(test, &verbs->top, RDMACG_CLASS_HW, RDMACG_FILE_MAX, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_set_max(&verbs->top, RDMACG_CLASS_HW, "kunit0 max"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_hw(&owner, &verbs->device, 0, 1), 0);
	KUNIT_EXPECT_NULL(test, owner);
	ib_rdmacg_uncharge_hw(owner, &verbs->device, 0, 1);
	/* The device has only the resources of the other classes. */
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_VERB, RDMACG_FILE_CURRENT, NOTHING);
	rdmacg_expect_left(test, 0, "");
}

static void rdmacg_end_cm_id(void *arg)
{
	/* This call does nothing if the identifier has no charge. */
	ib_rdmacg_uncharge_cm_id(arg);
	ib_rdmacg_exit_cm_id(arg);
}

/*
 * Create an identifier that is bound to the device and not charged yet. @parent determines its
 * owner.
 */
static struct rdma_id_private *rdmacg_cm_id(struct kunit *test,
					    const struct rdma_id_private *parent)
{
	struct rdmacg_verbs *verbs = test->priv;
	struct rdma_id_private *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, id);
	id->id.device = &verbs->device;
	ib_rdmacg_init_cm_id(id, parent);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rdmacg_end_cm_id, id), 0);
	return id;
}

/* The creator of an identifier pays for it, and the creator of a listener also for requests. */
static void rdmacg_test_cm_id_of_a_request_is_charged_like_its_listener(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdma_id_private *listener = rdmacg_cm_id(test, NULL);
	struct rdma_id_private *request;

	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	/* The cgroup of the process that binds the identifiers is not charged. */
	verbs->current_cg = &verbs->right;
	request = rdmacg_cm_id(test, listener);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(listener), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(request), 0);
	rdmacg_expect_left(test, 0, "cm_id=2");

	/* The request keeps its owner after the listener is destroyed. */
	kunit_release_action(test, rdmacg_end_cm_id, listener);
	rdmacg_expect_left(test, 0, "cm_id=1");
	kunit_release_action(test, rdmacg_end_cm_id, request);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * The connection manager may uncharge an identifier several times, before the first charge, or
 * after a refusal.
 */
static void rdmacg_test_cm_id_is_uncharged_once(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct rdma_id_private *id = rdmacg_cm_id(test, NULL);
	struct rdma_id_private *other = rdmacg_cm_id(test, NULL);

	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(other), 0);
	ib_rdmacg_uncharge_cm_id(id);
	rdmacg_expect_left(test, 0, "cm_id=1");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(id), 0);
	ib_rdmacg_uncharge_cm_id(id);
	ib_rdmacg_uncharge_cm_id(id);
	rdmacg_expect_left(test, 0, "cm_id=1");
	rdmacg_limit_verb(test, &verbs->left, "kunit0 cm_id=1");
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(id), -EAGAIN);
	ib_rdmacg_uncharge_cm_id(id);
	rdmacg_expect_left(test, 0, "cm_id=1");
}

/*
 * An identifier of the kernel is not charged, and a request to a listener of the kernel is not
 * charged either.
 */
static void rdmacg_test_cm_id_of_the_kernel_is_never_charged(struct kunit *test)
{
	struct rdma_id_private *kernel, *request;
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	kernel = kunit_kzalloc(test, sizeof(*kernel), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kernel);
	kernel->id.device = &verbs->device;
	request = rdmacg_cm_id(test, kernel);
	KUNIT_EXPECT_NULL(test, request->cg);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(kernel), 0);
	KUNIT_EXPECT_FALSE(test, kernel->is_charged);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_charge_cm_id(request), 0);
	KUNIT_EXPECT_FALSE(test, request->is_charged);
	ib_rdmacg_exit_cm_id(kernel);
}

static const struct ib_rdmacg_objects rdmacg_link = {
	.pd = 1, .cq = 2, .qp = 3, .mr = 4, .mr_mem = 4096
};

/* Charge objects of a ULP to "left". */
static int rdmacg_charge_left(struct kunit *test, const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_verbs *verbs = test->priv;

	return ib_rdmacg_try_charge_objects(&verbs->left, &verbs->device, objects);
}

static void rdmacg_uncharge_left(struct kunit *test, const struct ib_rdmacg_objects *objects)
{
	struct rdmacg_verbs *verbs = test->priv;

	ib_rdmacg_uncharge_objects(&verbs->left, &verbs->device, objects);
}

/* A ULP charges a given cgroup, and may exceed a limit where a refusal would break a connection. */
static void rdmacg_test_ulp_charges_types_alone(struct kunit *test)
{
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	verbs->current_cg = &verbs->right;
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &rdmacg_link), 0);
	rdmacg_expect_left(test, 0, "pd=1 cq=2 qp=3 mr=4 mr_mem=4096");
	KUNIT_EXPECT_STREQ(test, rdmacg_used(test, &verbs->right), "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	rdmacg_limit_verb(test, &verbs->left, "kunit0 mr=3");
	ib_rdmacg_charge_objects(&verbs->left, &verbs->device, &rdmacg_link);
	rdmacg_expect_left(test, 0, "pd=2 cq=4 qp=6 mr=8 mr_mem=8192");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 2);
	rdmacg_uncharge_left(test, &rdmacg_link);
	rdmacg_uncharge_left(test, &rdmacg_link);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/* The device of these tests has no SRQs. A ULP without a cgroup pays nothing either. */
static void rdmacg_test_ulp_pays_nothing_for_uncounted_types(struct kunit *test)
{
	static const struct ib_rdmacg_objects srqs = { .srq = 7 }, both = { .qp = 1, .srq = 7 };
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	struct ib_device *device = &verbs->device;

	rdmacg_limit_verb(test, &verbs->left, "kunit0 pd=0 cq=0 qp=1 mr=0 mr_mem=0");
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &srqs), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	rdmacg_uncharge_left(test, &srqs);
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &both), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge_objects(NULL, device, &rdmacg_link), 0);
	ib_rdmacg_charge_objects(NULL, device, &rdmacg_link);
	rdmacg_expect_left(test, 0, "qp=1");
	ib_rdmacg_uncharge_objects(NULL, device, &rdmacg_link);
	rdmacg_uncharge_left(test, &both);
	rdmacg_expect_left(test, 0, "");
}

/*
 * A ULP can charge the keys of rdma.max in the same charge as its types. If the limit of one
 * resource is too low by one, no resource is charged.
 */
static void rdmacg_test_refused_ulp_is_charged_nothing(struct kunit *test)
{
	static const struct ib_rdmacg_objects objects = {
		.hca_handle = 2, .hca_object = 5, .pd = 1, .cq = 2, .qp = 3, .mr = 4, .mr_mem = 4096
	};
	/* A limit that refuses, and the lowest that does not. */
	static const struct {
		enum rdmacg_class class;
		const char *low, *enough;
	} limits[] = {
		{ RDMACG_CLASS_HCA, "kunit0 hca_handle=1", "kunit0 hca_handle=2" },
		{ RDMACG_CLASS_HCA, "kunit0 hca_object=4", "kunit0 hca_object=5" },
		{ RDMACG_CLASS_VERB, "kunit0 pd=0", "kunit0 pd=1" },
		{ RDMACG_CLASS_VERB, "kunit0 cq=1", "kunit0 cq=2" },
		{ RDMACG_CLASS_VERB, "kunit0 qp=2", "kunit0 qp=3" },
		{ RDMACG_CLASS_VERB, "kunit0 mr=3", "kunit0 mr=4" },
		{ RDMACG_CLASS_VERB, "kunit0 mr_mem=4095", "kunit0 mr_mem=4096" },
	};
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	enum rdmacg_class class;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		class = limits[i].class;
		KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&verbs->top, class, limits[i].low), 0);
		KUNIT_EXPECT_EQ_MSG(test, rdmacg_charge_left(test, &objects), -EAGAIN, "%s",
				    limits[i].low);
		KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
		rdmacg_expect_left(test, 0, "");
		KUNIT_ASSERT_EQ(test, rdmacg_test_set_max(&verbs->top, class, limits[i].enough), 0);
	}
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &objects), 0);
	rdmacg_expect(test, &verbs->left, RDMACG_CLASS_HCA, RDMACG_FILE_CURRENT,
		      "kunit0 hca_handle=2 hca_object=5\n");
	KUNIT_EXPECT_STREQ(test, rdmacg_used(test, &verbs->left),
			   "pd=1 cq=2 qp=3 mr=4 mr_mem=4096");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 1);
	rdmacg_uncharge_left(test, &objects);
	rdmacg_expect_left(test, 0, "");
	KUNIT_EXPECT_EQ(test, rdmacg_test_refs(&verbs->left), 0);
}

/*
 * No process can pin more than LONGEST bytes, so a larger length stands for the whole address
 * space.
 */
static void rdmacg_test_endless_memory_of_a_ulp_is_not_counted(struct kunit *test)
{
	static const struct ib_rdmacg_objects endless = { .mr = 1, .mr_mem = LONGEST + 1 };
	static const struct ib_rdmacg_objects longest = { .mr = 1, .mr_mem = LONGEST };
	struct rdmacg_verbs *verbs = rdmacg_start(test);

	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &endless), 0);
	rdmacg_expect_left(test, 0, "mr=1");
	rdmacg_uncharge_left(test, &endless);
	rdmacg_limit_bytes(test, &verbs->left, "mr_mem", LONGEST);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &endless), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdmacg_charge_left(test, &longest), 0);
	rdmacg_uncharge_left(test, &longest);
}

/*
 * A process counts as limited if its cgroup or an ancestor has a limit of one of these three keys.
 */
static void rdmacg_test_current_is_limited_by_qp_mr_and_memory(struct kunit *test)
{
	static const struct {
		const char *limit;
		bool is_limited;
	} cases[] = {
		{ "kunit0 qp=1000", true }, { "kunit0 mr=1000", true },
		{ "kunit0 mr_mem=1000", true }, { "kunit0 pd=0 cq=0", false },
	};
	struct rdmacg_verbs *verbs = rdmacg_start(test);
	unsigned int i;

	verbs->current_cg = &verbs->left;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		rdmacg_limit_verb(test, &verbs->top, cases[i].limit);
		KUNIT_EXPECT_EQ_MSG(test, ib_rdmacg_current_is_limited(&verbs->device),
				    cases[i].is_limited, "%s", cases[i].limit);
		rdmacg_limit_verb(test, &verbs->top, "kunit0 max");
		rdmacg_limit_verb(test, &verbs->right, cases[i].limit);
		KUNIT_EXPECT_FALSE(test, ib_rdmacg_current_is_limited(&verbs->device));
		rdmacg_limit_verb(test, &verbs->right, "kunit0 max");
	}
}

static struct kunit_case rdmacg_verbs_cases[] = {
	KUNIT_CASE(rdmacg_test_device_without_mr_has_no_mr_mem),
	KUNIT_CASE_PARAM(rdmacg_test_object_is_charged_to_its_creator, rdmacg_object_gen_params),
	KUNIT_CASE(rdmacg_test_kept_object_is_charged_until_the_device_goes),
	KUNIT_CASE(rdmacg_test_context_is_charged_and_uncharged_once),
	KUNIT_CASE_PARAM(rdmacg_test_query_shows_the_smallest_limit, rdmacg_attr_gen_params),
	KUNIT_CASE_PARAM(rdmacg_test_query_shows_limits_of_known_drivers_only,
			 rdmacg_driver_gen_params),
	KUNIT_CASE(rdmacg_test_query_shows_no_limit_of_0_address_handles),
	KUNIT_CASE(rdmacg_test_hw_resource_is_refused_past_its_limit),
	KUNIT_CASE(rdmacg_test_context_pays_for_its_hw_resources),
	KUNIT_CASE(rdmacg_test_multicast_is_charged_where_the_device_has_it),
	KUNIT_CASE(rdmacg_test_multicast_is_free_where_the_device_has_none),
	KUNIT_CASE(rdmacg_test_qp_leaves_its_group_on_any_port),
	KUNIT_CASE(rdmacg_test_hw_table_with_another_class_is_refused),
	KUNIT_CASE(rdmacg_test_cm_id_of_a_request_is_charged_like_its_listener),
	KUNIT_CASE(rdmacg_test_cm_id_is_uncharged_once),
	KUNIT_CASE(rdmacg_test_cm_id_of_the_kernel_is_never_charged),
	KUNIT_CASE(rdmacg_test_ulp_charges_types_alone),
	KUNIT_CASE(rdmacg_test_ulp_pays_nothing_for_uncounted_types),
	KUNIT_CASE(rdmacg_test_refused_ulp_is_charged_nothing),
	KUNIT_CASE(rdmacg_test_endless_memory_of_a_ulp_is_not_counted),
	KUNIT_CASE(rdmacg_test_current_is_limited_by_qp_mr_and_memory),
	{}
};

static struct kunit_suite rdmacg_verbs_suite = {
	.name = "cgroup_rdma_verbs",
	.init = rdmacg_verbs_test_init,
	.test_cases = rdmacg_verbs_cases,
};

kunit_test_suite(rdmacg_verbs_suite);

MODULE_DESCRIPTION("KUnit tests for charges of the IB core");
MODULE_LICENSE("GPL");
