/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What x86 makes of the barriers among processors. User-Mode Linux runs the same code on
 * the same processors, and yet makes a fence of each that leaves the processor's pipeline
 * empty, spin_unlock()'s included; a lock would then cost three times as much as it does.
 * Included before all else ("make bench B=charge"), for this project's kernel and the base alike.
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
