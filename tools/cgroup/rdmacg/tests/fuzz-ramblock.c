// SPDX-License-Identifier: GPL-2.0
/* Pass texts to the parser of "info ramblock". Accepted blocks must be plausible. */
#include "plan/plan.h"

int plan_fuzz(const uint8_t *data, size_t size);

int plan_fuzz(const uint8_t *data, size_t size)
{
	struct plan_blocks blocks = { .count = 0 };
	char *text = memory_format("%.*s", (int)size, (const char *)data);
	size_t i;

	if (plan_parse_blocks("fuzz", text, &blocks) && !blocks.count)
		abort();
	free(text);
	if (blocks.count > PLAN_BLOCKS_MAX + 1)
		abort();
	for (i = 0; i < blocks.count; i++) {
		if (!*blocks.block[i].name || strlen(blocks.block[i].name) > 255 ||
		    blocks.block[i].is_zero)
			abort();
		free((char *)blocks.block[i].name);
	}
	free(blocks.block);
	return 0;
}
