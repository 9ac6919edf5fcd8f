/* SPDX-License-Identifier: GPL-2.0 */
/* What the controller's parser and its headers need of the kernel's header. */
#ifndef FUZZ_LINUX_TYPES_H
#define FUZZ_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct rcu_head { struct rcu_head *next; };
struct refcount { int refs; };
struct spinlock { int unused; };

#define refcount_t struct refcount
#define spinlock_t struct spinlock
#define READ_ONCE(x) (x)
/* There is one thread. */
#define smp_rmb() do { } while (0)

#define __rcu
#define ____cacheline_aligned_in_smp
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

#endif
