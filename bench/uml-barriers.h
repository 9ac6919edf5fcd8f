/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The barriers of x86, for User-Mode Linux on x86. User-Mode Linux itself makes each barrier a
 * fence that empties the processor's pipeline, even in spin_unlock(), so a lock would cost three
 * times as much. "make bench B=charge" includes this file before all other files, for this
 * project's kernel and for stock.
 */
#define __smp_mb() asm volatile("lock; addl $0,-4(%%rsp)" : : : "memory", "cc")
#define __smp_rmb() asm volatile("" : : : "memory")
#define __smp_wmb() asm volatile("" : : : "memory")
#define __smp_store_release(p, v)					\
do {									\
	asm volatile("" : : : "memory");				\
	WRITE_ONCE(*(p), v);						\
} while (0)
#define __smp_load_acquire(p)						\
({									\
	__unqual_scalar_typeof(*(p)) ___loaded = READ_ONCE(*(p));	\
									\
	asm volatile("" : : : "memory");				\
	___loaded;							\
})
