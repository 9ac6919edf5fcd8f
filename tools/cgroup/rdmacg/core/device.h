/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device as the files name it: "NAME", or "NAME index=N" where devices of several
 * network namespaces have the same name.
 */
#ifndef RDMACG_DEVICE_H
#define RDMACG_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct device {
	/* As the kernel's files show it: one word, where a blank is \040. */
	char *name;
	/* Not a device, but the limits in rdma.default, of devices without their own. */
	bool is_default;
	bool has_index;
	uint32_t index;
};

/* "default": valid as it is. */
extern const struct device device_default;

/* @word as the files have it: what a line cannot hold becomes \ooo. To be freed. */
char *device_escape(const char *word);
void device_copy(struct device *to, const struct device *from);
void device_free(struct device *device);
bool device_is_same(const struct device *a, const struct device *b);
/* As the files have it. To be freed. */
char *device_format(const struct device *device);

/* "device": the name, "index": null, or the number where the name needs one. */
void device_json(struct json_object *object, const struct device *device);

#endif /* RDMACG_DEVICE_H */
