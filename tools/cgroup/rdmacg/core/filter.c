// SPDX-License-Identifier: GPL-2.0
/* rdmacg: which devices and resources are asked for. */
#include <fnmatch.h>

#include "core/core.h"

enum { FILTER_KEY_DEVICE = OPTIONS_KEY + 300, FILTER_KEY_RESOURCE };

/* Patterns; none lets all pass. They last as long as the command. */
struct filter {
	const char **patterns;
	size_t nr_patterns;
};

static struct filter filter_devices, filter_keys;

static const struct argp_option filter_options[] = {
	{ "device", FILTER_KEY_DEVICE, "NAME", 0, "only this device, or those of a pattern", 0 },
	{ "resource", FILTER_KEY_RESOURCE, "KEY", 0,
	  "only this resource, or those of a pattern", 0 },
	{ 0 }
};

static error_t filter_parse(int key, char *arg, struct argp_state *state)
{
	struct filter *filter = key == FILTER_KEY_DEVICE ? &filter_devices : &filter_keys;

	(void)state;
	if (key != FILTER_KEY_DEVICE && key != FILTER_KEY_RESOURCE)
		return ARGP_ERR_UNKNOWN;
	filter->patterns = memory_grow(filter->patterns, filter->nr_patterns,
				       sizeof(*filter->patterns));
	filter->patterns[filter->nr_patterns++] = arg;
	return 0;
}

const struct argp filter_argp = { .options = filter_options, .parser = filter_parse };

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
