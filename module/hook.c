// SPDX-License-Identifier: GPL-2.0-only
/* Functions of the kernel that are not exported, and hooks by ftrace. */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "hook.h"

DEFINE_PER_CPU(long, rdmacg_inside);

RDMACG_CALLED(lookup, unsigned long, const char *name);

/*
 * Find a function or variable of the kernel or of a module. Returns NULL after a message. The
 * address of a kprobe is the function's, behind an ENDBR.
 */
void *rdmacg_symbol(const char *name)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	static bool is_ready;
	void *found = NULL;

	if (!is_ready && !register_kprobe(&probe)) {
		static_call_update(rdmacg_call_lookup, (void *)probe.addr);
		unregister_kprobe(&probe);
		is_ready = true;
	}
	if (is_ready)
		found = (void *)rdmacg_call(lookup)(name);
	if (!found)
		pr_err("this kernel has no %s (%s)\n", name,
		       is_ready ? "is ib_uverbs loaded?" : "kprobes are off");
	return found;
}

RDMACG_CALLED(ftrace_location, unsigned long, unsigned long addr);

#define RDMACG_MAX_HOOKS 64
#define RDMACG_SLOT_BITS 10

static struct rdmacg_hook *const rdmacg_hooks[] = {
	rdmacg_device_hooks, rdmacg_object_hooks, rdmacg_memory_hooks, rdmacg_command_hooks,
};

/* The places where ftrace redirects, and their wrappers. Set once. */
static unsigned long rdmacg_ips[RDMACG_MAX_HOOKS];
static void *rdmacg_wrappers[RDMACG_MAX_HOOKS];
unsigned int rdmacg_nr_hooks;
/* The wrapper of each hook, in a slot of its own. Set once. */
static void *rdmacg_slots[1 << RDMACG_SLOT_BITS];
static u32 rdmacg_factor;

/* Linux before 6.2. */
#ifdef ftrace_instruction_pointer_set
#define ftrace_regs_set_instruction_pointer ftrace_instruction_pointer_set
#endif

static __always_inline void **rdmacg_slot(unsigned long ip)
{
	return &rdmacg_slots[(u32)ip * rdmacg_factor >> (32 - RDMACG_SLOT_BITS)];
}

static void notrace rdmacg_redirect(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	ftrace_regs_set_instruction_pointer(regs, (unsigned long)*rdmacg_slot(ip));
}

/*
 * All hooks share these ops, because each change of ops takes several grace periods. PERMANENT
 * makes the hooks fail with EBUSY if ftrace is off, and keeps it on. rdmacg_redirect() calls
 * nothing, so it needs no protection against recursion.
 */
static struct ftrace_ops rdmacg_ops = {
	.func = rdmacg_redirect,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT
#ifndef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
		 | FTRACE_OPS_FL_SAVE_REGS
#endif
};

/* Returns false if two hooks have the same slot. */
static bool rdmacg_fill_slots(void)
{
	unsigned int i;

	memset(rdmacg_slots, 0, sizeof(rdmacg_slots));
	for (i = 0; i < rdmacg_nr_hooks && !*rdmacg_slot(rdmacg_ips[i]); i++)
		*rdmacg_slot(rdmacg_ips[i]) = rdmacg_wrappers[i];
	return i == rdmacg_nr_hooks;
}

/* Find the function, check its prototype, and let the wrapper call it. */
static int rdmacg_hook_init(struct rdmacg_hook *hook)
{
	unsigned long ip, addr = (unsigned long)rdmacg_symbol(hook->name);
	int ret;

	if (!addr)
		return -ENOENT;
	ret = rdmacg_check_prototype(hook->name, hook->prototype);
	if (ret)
		return ret;
	ip = rdmacg_call(ftrace_location)(addr);
	if (!ip || WARN_ON(rdmacg_nr_hooks == RDMACG_MAX_HOOKS)) {
		pr_err("%s cannot be traced by ftrace on this kernel\n", hook->name);
		return -EINVAL;
	}
	__static_call_update(hook->key, hook->tramp, (void *)ip + MCOUNT_INSN_SIZE);
	rdmacg_wrappers[rdmacg_nr_hooks] = hook->wrapper;
	rdmacg_ips[rdmacg_nr_hooks++] = ip;
	return 0;
}

/* Find all functions and check them. Returns 0, -ENOENT or -EINVAL after a message. */
int rdmacg_hooks_init(void)
{
	struct rdmacg_hook *hook;
	unsigned int i;
	int ret = rdmacg_btf_init();

	if (!ret && !rdmacg_find_called(ftrace_location, "ftrace_location"))
		ret = -ENOENT;
	for (i = 0; i < ARRAY_SIZE(rdmacg_hooks); i++)
		for (hook = rdmacg_hooks[i]; !ret && hook->name; hook++)
			ret = rdmacg_hook_init(hook);
	/* One of a few factors gives each hook a slot. */
	rdmacg_factor = GOLDEN_RATIO_32;
	for (i = 0; !ret && !rdmacg_fill_slots(); i++) {
		rdmacg_factor += 2;
		ret = i < 1000 ? 0 : -EINVAL;
	}
	if (i > 1000)
		pr_err("two of the hooked functions are one function on this kernel\n");
	return ret;
}

/* Let all callers get the wrappers. Returns 0, or the error of ftrace after a message. */
int rdmacg_hooks_on(void)
{
	int ret;

	ret = ftrace_set_filter_ips(&rdmacg_ops, rdmacg_ips, rdmacg_nr_hooks, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&rdmacg_ops);
	if (!ret)
		return 0;
	pr_err("ftrace refuses the hooks: error %d%s\n", ret, ret == -EBUSY ?
	       "; set kernel.ftrace_enabled to 1, or disable the livepatch that has the flag I "
	       "at one of the functions in /sys/kernel/tracing/enabled_functions" :
	       "");
	return ret;
}

void rdmacg_hooks_off(void)
{
	WARN_ON(unregister_ftrace_function(&rdmacg_ops));
}

/* Once, since the ops keep the pointer to the filter that this frees. */
void rdmacg_hooks_exit(void)
{
	ftrace_free_filter(&rdmacg_ops);
}

/* Returns the number of calls inside wrappers and writes. Exact only while the hooks are off. */
long rdmacg_count_inside(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(rdmacg_inside, cpu));
	return sum;
}

/*
 * Wait until no task runs in the module, or return -EWOULDBLOCK after @msecs. The hooks and the
 * files are off, so no call begins. The first grace period waits for tasks that have not counted
 * themselves yet, and the second for tasks that have counted themselves out but not returned.
 */
int rdmacg_wait_outside(unsigned int msecs)
{
	unsigned int waited;

	synchronize_rcu_tasks();
	for (waited = 0; rdmacg_count_inside(); waited += 20) {
		if (waited >= msecs)
			return -EWOULDBLOCK;
		msleep(20);
	}
	synchronize_rcu_tasks();
	return 0;
}
