// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA cgroup controller: the keys that are known without a device, even if the
 * IB core is a module or is not built. Only drivers know the keys of the hw
 * class, so rdma.default accepts any well-formed key as hw:KEY.
 */
#include <kunit/static_stub.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "rdma-css.h"
#include "rdma-key.h"
#include "rdma-parse.h"

/* The order is that of rdma.default. The control class is last. */
const struct rdmacg_key rdmacg_keys[] = {
	{ RDMACG_CLASS_HCA, "hca_handle" },
	{ RDMACG_CLASS_HCA, "hca_object" },
#ifdef CONFIG_CGROUP_RDMA_VERBS
#define RDMACG_VERB(type, _name, ...) { RDMACG_CLASS_VERB, _name },
#include <linux/cgroup_rdma_verbs.h>
#endif
#ifdef CONFIG_CGROUP_RDMA_CONTROL
	{ RDMACG_CLASS_CONTROL, "ops" },
	{ RDMACG_CLASS_CONTROL, "burst" },
	{ RDMACG_CLASS_CONTROL, "inflight" },
#endif
	{}
};

static_assert(ARRAY_SIZE(rdmacg_keys) <= RDMACG_MAX_KEYS);

/* Call this only with CONFIG_CGROUP_RDMA_CONTROL. */
const char *rdmacg_control_key(enum rdmacg_control_limit limit)
{
	return rdmacg_keys[ARRAY_SIZE(rdmacg_keys) - 1 - RDMACG_CONTROL_LIMITS + limit].name;
}

/*
 * Returns the class of a written key, and skips "hw:". Returns -EINVAL for an
 * unknown key.
 */
int rdmacg_parse_key(const char **key)
{
	const struct rdmacg_key *known;

	if (IS_ENABLED(CONFIG_CGROUP_RDMA_VERBS) && str_has_prefix(*key, "hw:")) {
		*key += strlen("hw:");
		return rdmacg_has_key(RDMACG_CLASS_HW, *key) && rdmacg_key_is_valid(*key) ?
		       RDMACG_CLASS_HW : -EINVAL;
	}
	for (known = rdmacg_keys; known->name; known++)
		if (!strcmp(*key, known->name) && rdmacg_has_key(known->class, *key))
			return known->class;
	return -EINVAL;
}

/*
 * Returns whether the key can have the value. An empty key stands for all keys
 * of the class.
 */
bool rdmacg_limit_is_valid(enum rdmacg_class class, const char *key, u64 max)
{
	KUNIT_STATIC_STUB_REDIRECT(rdmacg_limit_is_valid, class, key, max);
	if (class != RDMACG_CLASS_CONTROL || max >= RDMACG_NO_LIMIT)
		return true;
	/*
	 * A limit of 0 is invalid for commands, because they would wait for
	 * ever.
	 */
	return max && (max <= RDMACG_OPS_MAX ||
		       strcmp(key, rdmacg_control_key(RDMACG_CONTROL_OPS)));
}
