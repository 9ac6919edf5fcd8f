// SPDX-License-Identifier: GPL-2.0-only
/* Functions of the kernel that are not exported, and hooks by ftrace. */
#define pr_fmt(fmt) "rdmacg: " fmt
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>

#include "hook.h"

DEFINE_PER_CPU(long, rdmacg_inside);

static unsigned long rdmacg_no_lookup(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(rdmacg_lookup, rdmacg_no_lookup);

/* The address of a kprobe is the function's, behind an ENDBR. */
static unsigned long rdmacg_lookup_address(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long addr;

	if (register_kprobe(&probe))
		return 0;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

/**
 * rdmacg_symbol() - find a function or variable of the kernel or of a module
 * @name: its name
 *
 * Context: Process context; may sleep. Only while the module is loaded.
 * Return: its address, or NULL after a message.
 */
void *rdmacg_symbol(const char *name)
{
	static unsigned long lookup;
	void *found = NULL;

	if (!lookup) {
		lookup = rdmacg_lookup_address();
		if (lookup)
			static_call_update(rdmacg_lookup, (void *)lookup);
	}
	if (lookup)
		found = (void *)static_call(rdmacg_lookup)(name);
	if (!found)
		pr_err("this kernel has no %s (%s)\n", name,
		       lookup ? "is ib_uverbs loaded?" : "kprobes are off");
	return found;
}

#define RDMACG_MAX_HOOKS 64

/* All hooks, sorted by address while they are on. Changed only while they are off. */
static struct rdmacg_hook rdmacg_hooks[RDMACG_MAX_HOOKS];
static unsigned int rdmacg_nr_hooks;

/* Linux before 6.2. */
#ifdef ftrace_instruction_pointer_set
#define ftrace_regs_set_instruction_pointer ftrace_instruction_pointer_set
#endif

/* @ip is at or behind the start of a hooked function, before the next hooked function. */
static void notrace rdmacg_redirect(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	unsigned int low = 0, high = rdmacg_nr_hooks, middle;

	/* The wrappers call the originals. */
	if (within_module(parent_ip, THIS_MODULE))
		return;
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (rdmacg_hooks[middle].addr <= ip)
			low = middle;
		else
			high = middle;
	}
	ftrace_regs_set_instruction_pointer(regs, (unsigned long)rdmacg_hooks[low].wrapper);
}

/*
 * All hooks share these ops, because each change of ops takes several grace periods. PERMANENT
 * makes the hooks fail with EBUSY if ftrace is off, and keeps it on.
 */
static struct ftrace_ops rdmacg_ops = {
	.func = rdmacg_redirect,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_RECURSION
#ifndef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
		 | FTRACE_OPS_FL_SAVE_REGS
#endif
};

static int rdmacg_compare_hooks(const void *a, const void *b)
{
	const struct rdmacg_hook *one = a, *other = b;

	return one->addr < other->addr ? -1 : one->addr > other->addr;
}

/**
 * rdmacg_hooks_add() - find functions and check their prototypes
 * @hooks: the functions
 * @count: the number of @hooks
 *
 * Context: Process context; may sleep. No hook is on.
 * Return: 0, -ENOENT, -EINVAL or -E2BIG after a message that names the function.
 */
int rdmacg_hooks_add(struct rdmacg_hook *hooks, unsigned int count)
{
	int ret;

	if (WARN_ON(rdmacg_nr_hooks + count > RDMACG_MAX_HOOKS))
		return -E2BIG;
	for (; count--; hooks++) {
		hooks->addr = (unsigned long)rdmacg_symbol(hooks->name);
		if (!hooks->addr)
			return -ENOENT;
		ret = rdmacg_check_prototype(hooks->name, hooks->prototype);
		if (ret)
			return ret;
		rdmacg_hooks[rdmacg_nr_hooks++] = *hooks;
	}
	return 0;
}

unsigned int rdmacg_hooks_count(void)
{
	return rdmacg_nr_hooks;
}

/**
 * rdmacg_hooks_on() - let all callers of the hooked functions get the wrappers
 *
 * Context: Process context; may sleep.
 * Return: 0 or the error of ftrace, after a message.
 */
int rdmacg_hooks_on(void)
{
	unsigned long ips[RDMACG_MAX_HOOKS];
	unsigned int i;
	int ret;

	sort(rdmacg_hooks, rdmacg_nr_hooks, sizeof(*rdmacg_hooks), rdmacg_compare_hooks, NULL);
	for (i = 0; i < rdmacg_nr_hooks; i++)
		ips[i] = rdmacg_hooks[i].addr;
	ret = ftrace_set_filter_ips(&rdmacg_ops, ips, rdmacg_nr_hooks, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&rdmacg_ops);
	if (!ret)
		return 0;
	pr_err("ftrace refuses the hooks: error %d%s\n", ret, ret == -EBUSY ?
	       "; is kernel.ftrace_enabled 0, or has a livepatch one of the functions?" : "");
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

/**
 * rdmacg_wait_outside() - wait until no task runs in the module
 * @msecs: how long to wait for calls to end
 *
 * The hooks and the files are off, so no call begins. The first grace period waits for tasks that
 * have not counted themselves yet, and the second for tasks that have counted themselves out but
 * not returned.
 *
 * Context: Process context; may sleep.
 * Return: 0, or -EWOULDBLOCK if calls are still inside.
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
