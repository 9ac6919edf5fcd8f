// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the name of a device. */
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "lib/memory.h"

void device_copy(struct device *to, const struct device *from)
{
	*to = *from;
	to->name = memory_string(from->name);
}

void device_free(struct device *device)
{
	free(device->name);
	device->name = NULL;
}

bool device_is_same(const struct device *a, const struct device *b)
{
	return a->has_index == b->has_index && (!a->has_index || a->index == b->index) &&
	       !strcmp(a->name, b->name);
}

char *device_format(const struct device *device)
{
	if (device->has_index)
		return memory_format("%s index=%u", device->name, device->index);
	return memory_string(device->name);
}
