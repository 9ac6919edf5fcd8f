// SPDX-License-Identifier: GPL-2.0
/* rdmacg: what this kernel's controller does not have. */
#include "core/core.h"

struct missing {
	enum pool_class class;
	enum pool_file file;
	const char *files;
	const char *meaning;
};

static const struct missing missing[] = {
	{ POOL_HCA, POOL_PEAK, "rdma.peak", "peaks are not known" },
	{ POOL_HCA, POOL_EVENTS, "rdma.events", "refusals are not counted" },
	{ POOL_VERB, POOL_MAX, "rdma.verb.*",
	  "qp, mr_mem and other single types are neither counted nor limited" },
};

static bool missing_is(const struct pools *pools, const struct missing *what)
{
	return !(pools->files[what->class] & POOL_BIT(what->file));
}

void missing_say(const struct pools *pools)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(missing); i++)
		if (missing_is(pools, &missing[i]))
			say_note("this kernel has no %s: %s", missing[i].files,
				 missing[i].meaning);
}

struct json_object *missing_json(const struct pools *pools)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(missing); i++)
		if (missing_is(pools, &missing[i]))
			json_object_array_add(array, json_text(missing[i].files));
	return array;
}
