/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device as the files name it: "NAME", or "NAME index=N" where devices of several
 * network namespaces have the same name.
 */
#ifndef RDMACG_DEVICE_H
#define RDMACG_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct device {
	char *name;
	bool has_index;
	uint32_t index;
};

void device_copy(struct device *to, const struct device *from);
void device_free(struct device *device);
bool device_is_same(const struct device *a, const struct device *b);
/* As the files have it. To be freed. */
char *device_format(const struct device *device);

#endif /* RDMACG_DEVICE_H */
