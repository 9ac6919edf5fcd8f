// SPDX-License-Identifier: GPL-2.0
/* Pass texts to the parser of "info ramblock". Accepted blocks must be plausible. */
#include "plan/qemu.c"

int plan_fuzz(const uint8_t *data, size_t size);

int plan_fuzz(const uint8_t *data, size_t size)
{
	char *text = memory_format("%.*s", (int)size, (const char *)data);

	if (qemu_parse_blocks("fuzz", text) && !qemu.count)
		abort();
	free(text);
	if (qemu.count > QEMU_BLOCKS + 1)
		abort();
	while (qemu.count) {
		struct qemu_block *block = &qemu.block[--qemu.count];

		if (!*block->name || strlen(block->name) > 255 || block->is_zero)
			abort();
		free((char *)block->name);
	}
	free(qemu.block);
	qemu.block = NULL;
	return 0;
}
