// SPDX-License-Identifier: GPL-2.0
/* What a plan consists of: parts, values that rows of a table computed, notes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

static char *plan_vformat(const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = plan_grow(NULL, (size_t)length + 1, 1);
	vsnprintf(text, (size_t)length + 1, format, args);
	return text;
}

struct plan_part *plan_add_part(struct plan *plan, const char *format, ...)
{
	struct plan_part *part = plan_grow(NULL, 1, sizeof(*part));
	va_list args;

	memset(part, 0, sizeof(*part));
	va_start(args, format);
	part->title = plan_vformat(format, args);
	va_end(args);
	plan->parts = plan_grow(plan->parts, plan->nr_parts + 1, sizeof(*plan->parts));
	plan->parts[plan->nr_parts++] = part;
	return part;
}

void plan_add_note(struct plan_part *part, const char *format, ...)
{
	va_list args;

	part->notes = plan_grow(part->notes, part->nr_notes + 1, sizeof(*part->notes));
	va_start(args, format);
	part->notes[part->nr_notes++] = plan_vformat(format, args);
	va_end(args);
}

static int plan_say_fault(const struct plan *plan, const struct plan_row *row,
			  enum plan_fault fault, const char *numbers)
{
	static const char *const reasons[] = {
		[PLAN_TOO_LARGE] = "does not fit in 64 bits; give smaller numbers",
		[PLAN_NEGATIVE] = "is less than nothing; take less away",
		[PLAN_BY_ZERO] = "divides by 0; give a larger number",
		[PLAN_NO_FORMULA] = "cannot be computed, which is a bug of rdmacg; report it",
	};

	return plan_error(plan->form, "%s = %s = %s %s", row->key, row->formula, numbers,
			  reasons[fault]);
}

static int plan_add_row(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
			const struct plan_row *row)
{
	char *numbers = plan_in_numbers(row->formula, vars);
	struct plan_value *value;
	enum plan_fault fault;
	uint64_t result;
	int ret = 0;

	fault = plan_evaluate(row->formula, vars, &result);
	if (fault)
		ret = plan_say_fault(plan, row, fault, numbers);
	else if (row->kind == PLAN_LIMIT && result > PLAN_LIMIT_MAX)
		ret = plan_error(plan->form,
				 "%s = %s = %s = %ju is more than the kernel takes as a limit, 2^63 - 2; give smaller numbers",
				 row->key, row->formula, numbers, result);
	if (ret) {
		free(numbers);
		return ret;
	}
	plan_set(vars, row->key, result);
	part->values = plan_grow(part->values, part->nr_values + 1, sizeof(*part->values));
	value = &part->values[part->nr_values++];
	value->key = plan_copy(row->key, strlen(row->key));
	value->kind = row->kind;
	value->value = result;
	value->formula = plan_copy(row->formula, strlen(row->formula));
	value->numbers = numbers;
	value->source = plan_copy(row->source, strlen(row->source));
	return 0;
}

int plan_add_rows(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
		  const struct plan_row *rows, size_t count)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = plan_add_row(plan, part, vars, &rows[i]);
	return ret;
}

static void plan_free_part(struct plan_part *part)
{
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		free(part->values[i].key);
		free(part->values[i].formula);
		free(part->values[i].numbers);
		free(part->values[i].source);
	}
	for (i = 0; i < part->nr_notes; i++)
		free(part->notes[i]);
	free(part->values);
	free(part->notes);
	free(part->title);
	free(part->cgroup);
	free(part->device);
	free(part);
}

void plan_free(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_parts; i++)
		plan_free_part(plan->parts[i]);
	free(plan->parts);
}
