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

/* Wrappers enter an original behind ftrace's call, which may follow ENDBR. */
#ifndef CONFIG_X86_64
#error "rdmacg hooks functions only on x86-64"
#endif

DEFINE_PER_CPU(long, rdmacg_inside);

RDMACG_CALLED(lookup, unsigned long, const char *name);

/*
 * Find a function or variable of the kernel or of a module. Returns NULL after
 * a message. The address of a kprobe is the function's, behind an ENDBR.
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

#define RDMACG_PLACE_BITS 9

static struct rdmacg_hook *const rdmacg_hooks[] = {
	rdmacg_device_hooks, rdmacg_object_hooks, rdmacg_memory_hooks, rdmacg_command_hooks,
};

/* The places where ftrace redirects, by their hash, with wrappers. Set once. */
static struct rdmacg_place {
	unsigned long	ip;	/* 0 if nothing has this hash. */
	void		*wrapper;
} rdmacg_places[1 << RDMACG_PLACE_BITS];
unsigned int rdmacg_nr_hooks;

/* Linux before 6.2. */
#ifdef ftrace_instruction_pointer_set
#define ftrace_regs_set_instruction_pointer ftrace_instruction_pointer_set
#endif

/* Returns the place, or the free entry for it. */
static __always_inline struct rdmacg_place *rdmacg_place(unsigned long ip)
{
	u32 i = hash_long(ip, RDMACG_PLACE_BITS);

	while (rdmacg_places[i].ip != ip && rdmacg_places[i].ip)
		i = (i + 1) % ARRAY_SIZE(rdmacg_places);
	return &rdmacg_places[i];
}

static void notrace rdmacg_redirect(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	ftrace_regs_set_instruction_pointer(regs, (unsigned long)rdmacg_place(ip)->wrapper);
}

/*
 * All hooks share these ops, because each change takes several grace periods.
 * PERMANENT makes the hooks fail with EBUSY if ftrace is off, and keeps it on.
 * rdmacg_redirect() calls nothing, so it needs no protection from recursion.
 */
static struct ftrace_ops rdmacg_ops = {
	.func = rdmacg_redirect,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT
#ifndef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
		 | FTRACE_OPS_FL_SAVE_REGS
#endif
};

/* Find the function, check its prototype, and let the wrapper call it. */
static int rdmacg_hook_init(struct rdmacg_hook *hook)
{
	unsigned long ip, addr = (unsigned long)rdmacg_symbol(hook->name);
	struct rdmacg_place *place;
	int ret;

	if (!addr)
		return -ENOENT;
	ret = rdmacg_check_prototype(hook->name, hook->prototype);
	if (ret)
		return ret;
	ip = rdmacg_call(ftrace_location)(addr);
	place = rdmacg_place(ip);
	/* The linker may have merged equal functions. */
	if (!ip || place->ip || ftrace_set_filter_ip(&rdmacg_ops, ip, 0, 0)) {
		pr_err("%s cannot be traced by ftrace on this kernel, or is also another function\n",
		       hook->name);
		return -EINVAL;
	}
	__static_call_update(hook->key, hook->tramp, (void *)ip + MCOUNT_INSN_SIZE);
	*place = (struct rdmacg_place) { ip, hook->wrapper };
	rdmacg_nr_hooks++;
	return 0;
}

/* Find and check all functions. Returns 0, or an error after a message. */
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
	return ret;
}

/* Let all callers get the wrappers. Returns 0, or an error after a message. */
int rdmacg_hooks_on(void)
{
	int ret = register_ftrace_function(&rdmacg_ops);

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

/* Forget the places. The ops keep the pointer to the filter that this frees. */
void rdmacg_hooks_exit(void)
{
	ftrace_free_filter(&rdmacg_ops);
}

/* Returns how many calls are inside; exact only while the hooks are off. */
long rdmacg_count_inside(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(rdmacg_inside, cpu));
	return sum;
}

/*
 * Wait until no task runs in the module, or return -EWOULDBLOCK after @msecs.
 * The hooks and files are off, so no call begins. The first grace period waits
 * for tasks that have not counted themselves yet, and the second for tasks that
 * have counted themselves out but not returned.
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
