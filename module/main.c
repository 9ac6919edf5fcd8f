// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RDMA cgroup controller as a module, for a kernel that has the stock
 * controller. Stock keeps rdma.max and rdma.current. The module adds the other
 * files, and hooks the functions with which the IB core creates and destroys
 * objects.
 *
 * Order: the symbols are found and checked before anything changes. Then come
 * files, hooks and devices, and they go in the reverse order. While it is on,
 * the module holds a reference to itself, so that it is unloaded only after
 * "off", and after the last call that was inside it.
 */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/utsname.h>

#include "hook.h"

static bool force;
module_param(force, bool, 0400);
MODULE_PARM_DESC(force, "load on a kernel on which the module was not tried");

enum rdmacg_state {
	RDMACG_OFF,
	RDMACG_ON,
	RDMACG_ENDING,		/* No hook and no file is left, but calls are inside. */
};

/* The mutex of the module's parameters guards it; init and exit run alone. */
static enum rdmacg_state rdmacg_state = RDMACG_OFF;

/* The kernels on which the tests ran, as the beginning of the release. */
static const char *const rdmacg_tried[] = { "6.1.", "6.12.", "7.3." };

static int rdmacg_check_kernel(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rdmacg_tried); i++)
		if (str_has_prefix(utsname()->release, rdmacg_tried[i]))
			return 0;
	pr_err("nobody tried the module on Linux %s; force=1 loads it all the same\n",
	       utsname()->release);
	return force ? 0 : -EOPNOTSUPP;
}

static int rdmacg_on(void)
{
	int ret = rdmacg_css_on();

	if (ret)
		return ret;
	ret = rdmacg_hooks_on();
	if (!ret) {
		ret = rdmacg_devices_on();
		if (ret)
			rdmacg_hooks_off();
	}
	if (ret) {
		rdmacg_css_off();
		rdmacg_wait_outside(UINT_MAX);
		rdmacg_devices_off();
		rdmacg_css_exit();
		return ret;
	}
	__module_get(THIS_MODULE);
	rdmacg_state = RDMACG_ON;
	pr_info("limits by type on %u devices, with hooks in %u functions; objects from before are not counted; next: write limits to rdma.verb.max, or run rdmacg apply\n",
		rdmacg_nr_devices, rdmacg_nr_hooks);
	return 0;
}

static int rdmacg_off(void)
{
	int ret;

	if (rdmacg_state == RDMACG_ON) {
		rdmacg_css_off();
		rdmacg_devices_stop();
		rdmacg_hooks_off();
		rdmacg_state = RDMACG_ENDING;
	}
	ret = rdmacg_wait_outside(1000);
	if (ret) {
		pr_warn("off, but %ld calls are still inside; write off again when they have returned\n",
			rdmacg_count_inside());
		return ret;
	}
	rdmacg_devices_off();
	rdmacg_css_exit();
	rdmacg_state = RDMACG_OFF;
	pr_info("off; the limits by type are gone\n");
	module_put(THIS_MODULE);
	return 0;
}

static int rdmacg_set_state(const char *text, const struct kernel_param *param)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret)
		return ret;
	if (on && rdmacg_state == RDMACG_ENDING)
		return -EBUSY;
	if (rdmacg_state == (on ? RDMACG_ON : RDMACG_OFF))
		return 0;
	return on ? rdmacg_on() : rdmacg_off();
}

static int rdmacg_get_state(char *text, const struct kernel_param *param)
{
	if (rdmacg_state == RDMACG_ENDING)
		return sysfs_emit(text, "off, %ld calls inside\n", rdmacg_count_inside());
	return sysfs_emit(text, "%s\n", rdmacg_state == RDMACG_ON ? "on" : "off");
}

static const struct kernel_param_ops rdmacg_state_ops = {
	.set = rdmacg_set_state,
	.get = rdmacg_get_state,
};
module_param_cb(state, &rdmacg_state_ops, NULL, 0600);
MODULE_PARM_DESC(state, "write off before the module is unloaded");

static int __init rdmacg_init(void)
{
	int ret = rdmacg_check_kernel();

	ret = ret ?: rdmacg_css_init();
	ret = ret ?: rdmacg_devices_init();
	ret = ret ?: rdmacg_hooks_init();
	ret = ret ?: rdmacg_on();
	if (ret) {
		rdmacg_hooks_exit();
		rdmacg_devices_exit();
	}
	return ret;
}

static void __exit rdmacg_exit(void)
{
	rdmacg_hooks_exit();
	rdmacg_devices_exit();
	/* The controller frees its structs by RCU. */
	rcu_barrier();
}

module_init(rdmacg_init);
module_exit(rdmacg_exit);
MODULE_DESCRIPTION("RDMA cgroup controller beside the stock controller");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: ib_uverbs");
