/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the running kernel that the module calls although the kernel does
 * not export them, and functions whose callers get a function of the module.
 */
#ifndef _RDMACG_HOOK_H
#define _RDMACG_HOOK_H

#include <linux/percpu.h>
#include <linux/static_call.h>
#include <linux/types.h>

/*
 * Calls inside a replaced function or a write. Each processor changes only its own
 * count, so only the sum means something. The module stays until the sum is 0.
 */
DECLARE_PER_CPU(long, rdmacg_inside);

static inline void rdmacg_enter(void)
{
	this_cpu_inc(rdmacg_inside);
}

static inline void rdmacg_leave(void)
{
	this_cpu_dec(rdmacg_inside);
}

/* The functions have been found when rdmacg_hooks_on() or rdmacg_symbol() succeeds. */
void *rdmacg_symbol(const char *name);

/*
 * RDMACG_CALLED(NAME, TYPE...) defines a static call to the function NAME of the
 * kernel. A static call jumps directly, so that the function needs no ENDBR, and
 * kCFI has no type to check. rdmacg_call(NAME) is the call.
 */
#define RDMACG_CALLED(_name, _ret, ...)						\
	extern _ret rdmacg_type_of_##_name(__VA_ARGS__);			\
	DEFINE_STATIC_CALL_NULL(rdmacg_call_##_name, rdmacg_type_of_##_name)

#define rdmacg_call(_name) static_call(rdmacg_call_##_name)

/* Returns the address of the function, or NULL after a message. */
#define rdmacg_find_called(_name, _symbol)					\
({										\
	void *_addr = rdmacg_symbol(_symbol);					\
										\
	if (_addr)								\
		static_call_update(rdmacg_call_##_name, _addr);			\
	_addr;									\
})

/**
 * struct rdmacg_hook - a function of the kernel whose callers get another one
 * @name: the function
 * @prototype: its prototype as BTF has it, which the hooks were written for
 * @wrapper: the function that the callers get. It calls the original
 */
struct rdmacg_hook {
	const char	*name;
	const char	*prototype;
	void		*wrapper;
	/* private: */
	unsigned long	addr;
};

int rdmacg_hooks_add(struct rdmacg_hook *hooks, unsigned int count);
unsigned int rdmacg_hooks_count(void);
int rdmacg_hooks_on(void);
void rdmacg_hooks_off(void);
void rdmacg_hooks_exit(void);
long rdmacg_count_inside(void);
int rdmacg_wait_outside(unsigned int msecs);

/* btf.c */
int rdmacg_btf_init(void);
void rdmacg_btf_exit(void);
int rdmacg_check_prototype(const char *name, const char *prototype);

#endif /* _RDMACG_HOOK_H */
