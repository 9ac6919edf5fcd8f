// SPDX-License-Identifier: GPL-2.0
/*
 * Feed texts to the parser of the controller's files: devices choose their own names. What
 * it accepts is written again from what it understood, and has to be the same text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plan.h"

int plan_fuzz(const uint8_t *data, size_t size);

static void plan_write_device(FILE *out, const struct plan_device *device)
{
	size_t i;

	if (!plan_is_device(device->name))
		abort();
	fputs(device->name, out);
	for (i = 0; i < device->nr_amounts; i++) {
		const struct plan_amount *amount = &device->amounts[i];

		if (amount->is_max)
			fprintf(out, " %s=max", amount->key);
		else
			fprintf(out, " %s=%ju", amount->key, amount->value);
	}
	fputc('\n', out);
}

/* Leading zeros are read and not written, so texts with one are left out. */
static void plan_compare(const struct plan_file *file, const uint8_t *data, size_t size)
{
	char *text;
	size_t length;
	FILE *out;
	size_t i;

	if (memmem(data, size, "=0", 2))
		return;
	out = open_memstream(&text, &length);
	if (!out)
		abort();
	for (i = 0; i < file->nr_devices; i++)
		plan_write_device(out, &file->devices[i]);
	fclose(out);
	if (size && data[size - 1] != '\n')
		length--;
	if (length != size || memcmp(text, data, size))
		abort();
	free(text);
}

int plan_fuzz(const uint8_t *data, size_t size)
{
	struct plan_file file = { .nr_devices = 0 };

	if (!plan_parse_file("fuzz", (const char *)data, size, &file))
		plan_compare(&file, data, size);
	plan_free_file(&file);
	return 0;
}
