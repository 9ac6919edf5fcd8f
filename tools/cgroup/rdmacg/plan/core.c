// SPDX-License-Identifier: GPL-2.0
/* What a plan consists of: parts, values that rows of a table computed, notes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "plan/plan.h"

struct plan_part *plan_add_part(struct plan *plan, const char *format, ...)
{
	struct plan_part *part = memory_zeroed(1, sizeof(*part));
	va_list args;

	va_start(args, format);
	part->title = memory_vformat(format, args);
	va_end(args);
	plan->parts = memory_grow(plan->parts, plan->nr_parts, sizeof(*plan->parts));
	plan->parts[plan->nr_parts++] = part;
	return part;
}

void plan_add_note(struct plan_part *part, const char *format, ...)
{
	va_list args;

	part->notes = memory_grow(part->notes, part->nr_notes, sizeof(*part->notes));
	va_start(args, format);
	part->notes[part->nr_notes++] = memory_vformat(format, args);
	va_end(args);
}

static bool plan_add_row(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
			 const struct plan_row *row)
{
	static const char *const reasons[] = {
		[PLAN_TOO_LARGE] = "does not fit in 64 bits; give smaller numbers",
		[PLAN_NEGATIVE] = "is less than nothing; take less away",
		[PLAN_BY_ZERO] = "divides by 0; give a larger number",
		[PLAN_NO_FORMULA] = "cannot be computed, which is a bug of rdmacg; report it",
	};
	char *numbers = plan_in_numbers(row->formula, vars);
	struct plan_value *value;
	enum plan_fault fault;
	uint64_t result;

	fault = plan_evaluate(row->formula, vars, &result);
	if (fault)
		say_error(plan->form, "%s = %s = %s %s", row->key, row->formula, numbers,
			  reasons[fault]);
	else if (row->kind == PLAN_LIMIT && result > NUMBER_LARGEST)
		say_error(plan->form,
			  "%s = %s = %s = %" PRIu64
			  " is more than the kernel takes as a limit, %" PRIu64
			  "; give smaller numbers",
			  row->key, row->formula, numbers, result, NUMBER_LARGEST);
	if (fault || (row->kind == PLAN_LIMIT && result > NUMBER_LARGEST)) {
		free(numbers);
		return false;
	}
	plan_set(vars, row->key, result);
	part->values = memory_grow(part->values, part->nr_values, sizeof(*part->values));
	value = &part->values[part->nr_values++];
	value->key = memory_string(row->key);
	value->kind = row->kind;
	value->value = result;
	value->formula = memory_string(row->formula);
	value->numbers = numbers;
	value->source = memory_string(row->source);
	return true;
}

bool plan_add_rows(const struct plan *plan, struct plan_part *part, struct plan_vars *vars,
		   const struct plan_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!plan_add_row(plan, part, vars, &rows[i]))
			return false;
	}
	return true;
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
