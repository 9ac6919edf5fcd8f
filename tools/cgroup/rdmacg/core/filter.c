// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the devices and resources that --device and --resource select. */
#include <fnmatch.h>

#include "core/core.h"

/* Patterns, valid until the program ends. Without patterns, all names match. */
struct filter {
	const char **patterns;
	size_t nr_patterns;
};

static struct filter filter_devices, filter_keys;

static void filter_add(const char *text, void *to)
{
	struct filter *filter = to;

	*memory_append(filter->patterns, filter->nr_patterns) = text;
}

const struct choice filter_choices[] = {
	{ "device", 0, "only this device, or devices that match a pattern", &filter_devices,
	  filter_add, "NAME" },
	{ "resource", 0, "only this resource, or resources that match a pattern", &filter_keys,
	  filter_add, "KEY" },
	{ 0 }
};

static bool filter_has(const struct filter *filter, const char *name)
{
	size_t i;

	for (i = 0; i < filter->nr_patterns; i++)
		if (!fnmatch(filter->patterns[i], name, FNM_NOESCAPE))
			return true;
	return !filter->nr_patterns;
}

bool filter_has_device(const char *name)
{
	return filter_has(&filter_devices, name);
}

bool filter_has_key(const char *key)
{
	return filter_has(&filter_keys, key);
}
