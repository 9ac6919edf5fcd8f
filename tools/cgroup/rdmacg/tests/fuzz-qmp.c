// SPDX-License-Identifier: GPL-2.0
/*
 * Be a QEMU that says anything. The first byte is the size of the pieces in which the rest
 * comes; the outcome must not depend on it.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "plan/qemu.h"

int plan_fuzz(const uint8_t *data, size_t size);

/* The state at the end, or -1 for an error. */
static int plan_talk(const char *data, size_t size, size_t piece, struct plan_qmp *qmp)
{
	const char *answer;
	bool good = true;

	plan_qmp_begin(qmp, "fuzz");
	while (size && good && qmp->state != PLAN_QMP_DONE) {
		size_t length = size < piece ? size : piece;

		good = plan_qmp_take(qmp, data, length, &answer);
		if (good && answer && !strstr(answer, "\"execute\""))
			abort();
		data += length;
		size -= length;
	}
	return good ? (int)qmp->state : -1;
}

int plan_fuzz(const uint8_t *data, size_t size)
{
	struct plan_blocks blocks = { .count = 0 };
	struct plan_qmp whole;
	struct plan_qmp pieces;
	bool is_done;
	int state;

	if (size < 2)
		return 0;
	state = plan_talk((const char *)data + 1, size - 1, size, &whole);
	if (plan_talk((const char *)data + 1, size - 1, 1 + data[0], &pieces) != state)
		abort();
	is_done = state == PLAN_QMP_DONE;
	if (is_done != !!whole.text || is_done != !!pieces.text)
		abort();
	if (is_done && !json_object_equal(whole.text, pieces.text))
		abort();
	if (is_done)
		plan_qmp_parse(&whole, &blocks);
	plan_free_blocks(&blocks);
	plan_qmp_end(&whole);
	plan_qmp_end(&pieces);
	return 0;
}
