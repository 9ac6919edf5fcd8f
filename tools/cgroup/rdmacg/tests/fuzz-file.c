// SPDX-License-Identifier: GPL-2.0
/*
 * Pass texts to the parser of the controller's files, because devices can have any name. Each
 * parsed line is written and parsed again, and must have the same meaning.
 */
#include "core/core.h"

int plan_fuzz(const uint8_t *data, size_t size);

/* Write the line again from its parts. */
static char *plan_write_line(struct line *line)
{
	/* Not device_text(), which cuts a name that is too long for the kernel. */
	char *text = memory_format(line->device.has_index ? "%s index=%u" : "%s",
				   line->device.name, line->device.index);
	uint64_t value;
	const char *key;

	if (!*line->device.name || strpbrk(line->device.name, "\n"))
		abort();
	while (line_next_value(line, &key, &value)) {
		char *longer;

		if (!*key || strpbrk(key, " =\n"))
			abort();
		/* Skip "index=N", which would be the device's index if it became the first word. */
		if (!strcmp(key, "index"))
			continue;
		longer = memory_format("%s %s=%s", text, key, number_text(value, false).s);
		free(text);
		text = longer;
	}
	return text;
}

/* Parse a line with amounts once more. The result must have the same text. */
static void plan_check_line(struct line *line)
{
	char *text = plan_write_line(line);
	char *copy = memory_string(text);
	char *rest = copy;
	struct line again;
	char *other;

	if (line_next(&rest, &again)) {
		other = plan_write_line(&again);
		if (strcmp(text, other))
			abort();
		free(other);
	}
	free(copy);
	free(text);
}

int plan_fuzz(const uint8_t *data, size_t size)
{
	char *text = memory_zeroed(size + 1, 1);
	char *rest = text;
	struct line line;

	memcpy(text, data, size);
	while (line_next(&rest, &line))
		plan_check_line(&line);
	free(text);
	return 0;
}
