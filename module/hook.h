/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the module calls although the kernel does not export them,
 * functions whose callers get a function of the module, and the functions with
 * which main.c starts and ends the parts of the module.
 */
#ifndef _RDMACG_HOOK_H
#define _RDMACG_HOOK_H

#include <linux/percpu.h>
#include <linux/static_call.h>
#include <linux/types.h>

/*
 * Calls inside a wrapper or a write. Each processor changes its own count, so
 * only the sum means something. The module stays until the sum is 0.
 */
DECLARE_PER_CPU(long, rdmacg_inside);

#define rdmacg_enter() this_cpu_inc(rdmacg_inside)
#define rdmacg_leave() this_cpu_dec(rdmacg_inside)

/* Returns the address of a function or variable, or NULL after a message. */
void *rdmacg_symbol(const char *name);

/*
 * RDMACG_CALLED(NAME, TYPE...) defines a static call to a function of the
 * kernel. It jumps directly, so that the function needs no ENDBR, and kCFI has
 * no type to check. rdmacg_call(NAME) is the call.
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

/* A function whose callers get another one. All fields are set once. */
struct rdmacg_hook {
	const char		*name;
	const char		*prototype;	/* As BTF has it. */
	void			*wrapper;	/* The function that the callers get. */
	/*
	 * With this static call, the wrapper enters the original behind the
	 * place where ftrace redirects, so the call is not redirected again.
	 */
	struct static_call_key	*key;
	void			*tramp;
};

/* The wrapper rdmacg_hook_NAME() calls the original by rdmacg_call(NAME). */
#define RDMACG_HOOK(_name, _symbol, _prototype) {				\
	.name = _symbol, .prototype = _prototype, .wrapper = rdmacg_hook_##_name, \
	.key = &STATIC_CALL_KEY(rdmacg_call_##_name),				\
	.tramp = STATIC_CALL_TRAMP_ADDR(rdmacg_call_##_name),			\
}

/* The hooks of each file. Each array ends with an entry without a name. */
extern struct rdmacg_hook rdmacg_device_hooks[], rdmacg_object_hooks[], rdmacg_memory_hooks[],
			  rdmacg_command_hooks[];

int rdmacg_hooks_init(void);
extern unsigned int rdmacg_nr_hooks;
int rdmacg_hooks_on(void);
void rdmacg_hooks_off(void);
void rdmacg_hooks_exit(void);
long rdmacg_count_inside(void);
int rdmacg_wait_outside(unsigned int msecs);

/* btf.c */
int rdmacg_btf_init(void);
int rdmacg_check_prototype(const char *name, const char *prototype);

/* css.c */
int rdmacg_css_init(void);
int rdmacg_css_on(void);
void rdmacg_css_off(void);
void rdmacg_css_exit(void);

/* device.c */
int rdmacg_devices_init(void);
int rdmacg_devices_on(void);
void rdmacg_devices_stop(void);
void rdmacg_devices_off(void);
void rdmacg_devices_exit(void);
extern unsigned int rdmacg_nr_devices;

#endif /* _RDMACG_HOOK_H */
