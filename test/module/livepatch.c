// SPDX-License-Identifier: GPL-2.0-only
/* A livepatch of a function that the module hooks. No test calls the function. */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static int refuse(struct ib_rdmacg_object *obj, struct ib_device *device,
		  enum rdmacg_resource_type index)
{
	return -EAGAIN;
}

static struct klp_func funcs[] = {
	{ .old_name = "ib_rdmacg_try_charge", .new_func = refuse },
	{}
};

static struct klp_object objects[] = {
	{ .name = "ib_core", .funcs = funcs },
	{}
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init begin(void)
{
	return klp_enable_patch(&patch);
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Livepatch of a function that rdmacg hooks");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
