// SPDX-License-Identifier: GPL-2.0
/*
 * Print a plan: as a file of limits that "rdmacg apply" reads, or as JSON. In a file, all
 * but limits whose cgroup and device are known is a comment, so that nothing can be applied
 * by mistake.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "plan/plan.h"

/* " KEY=VALUE" for each value of the kind. To be freed. */
static char *plan_format_values(const struct plan_part *part, enum plan_kind kind)
{
	char *text = memory_string("");
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		char *longer;

		if (part->values[i].kind != kind)
			continue;
		longer = memory_format("%s %s=%" PRIu64, text, part->values[i].key,
				       part->values[i].value);
		free(text);
		text = longer;
	}
	return text;
}

/* KEY = FORMULA = FORMULA IN NUMBERS = NUMBER, without what would be there twice. */
static void plan_print_formula(const struct plan_value *value)
{
	bool has_numbers = strcmp(value->formula, value->numbers);
	char number[NUMBER_SIZE];
	bool is_number;

	number_format(number, value->value, false);
	is_number = !strcmp(value->numbers, number);
	say_line("#   %s = %s%s%s%s%s", value->key, value->formula, has_numbers ? " = " : "",
		 has_numbers ? value->numbers : "", is_number ? "" : " = ",
		 is_number ? "" : number);
	say_line("#     %s", value->source);
}

/* The header of the cgroup is left out where the part before had the same. */
static void plan_print_limits(const struct plan_part *part, const struct plan_part *before,
			      const char *limits)
{
	const char *mark = part->cgroup && part->device ? "" : "# ";

	if (!before || !before->cgroup || !part->cgroup || strcmp(before->cgroup, part->cgroup))
		say_line("%s[%s]", mark, part->cgroup ? part->cgroup : "CGROUP");
	say_line("%s%s%s", mark, part->device ? part->device : "DEVICE", limits);
	if (*mark)
		say_line("# No limit is set by this: give %s%s%s.", part->cgroup ? "" : "--cgroup",
			 part->cgroup || part->device ? "" : " and ",
			 part->device ? "" : "--device");
}

/* Whether it has limits. */
static bool plan_print_part(const struct plan_part *part, const struct plan_part *before,
			    bool explain)
{
	char *figures = plan_format_values(part, PLAN_FIGURE);
	char *limits = plan_format_values(part, PLAN_LIMIT);
	bool has_limits = *limits;
	size_t i;

	say_line("# %s", part->title);
	for (i = 0; explain && i < part->nr_values; i++)
		plan_print_formula(&part->values[i]);
	for (i = 0; i < part->nr_notes; i++)
		say_line("# %s", part->notes[i]);
	if (*figures)
		say_line("#%s", figures);
	if (has_limits)
		plan_print_limits(part, before, limits);
	free(figures);
	free(limits);
	return has_limits;
}

static void plan_print_text(const struct plan *plan, bool explain)
{
	const struct plan_part *before = NULL;
	size_t i;

	for (i = 0; i < plan->nr_parts; i++) {
		if (i)
			say_line("%s", "");
		if (plan_print_part(plan->parts[i], before, explain))
			before = plan->parts[i];
	}
}

static struct json_object *plan_json_values(const struct plan_part *part, enum plan_kind kind)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		if (part->values[i].kind == kind)
			json_add(object, part->values[i].key, json_number(part->values[i].value));
	}
	return object;
}

static struct json_object *plan_json_formulas(const struct plan_part *part)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		struct json_object *object = json_object_new_object();
		const struct plan_value *value = &part->values[i];

		json_add(object, "key", json_text(value->key));
		json_add(object, "value", json_number(value->value));
		json_add(object, "formula", json_text(value->formula));
		json_add(object, "numbers", json_text(value->numbers));
		json_add(object, "source", json_text(value->source));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *plan_json_part(const struct plan_part *part, bool explain)
{
	struct json_object *object = json_object_new_object();
	struct json_object *notes = json_object_new_array();
	size_t i;

	json_add(object, "title", json_text(part->title));
	json_add(object, "cgroup", part->cgroup ? json_text(part->cgroup) : NULL);
	json_add(object, "device", part->device ? json_text(part->device) : NULL);
	json_add(object, "limits", plan_json_values(part, PLAN_LIMIT));
	json_add(object, "figures", plan_json_values(part, PLAN_FIGURE));
	for (i = 0; i < part->nr_notes; i++)
		json_object_array_add(notes, json_text(part->notes[i]));
	json_add(object, "notes", notes);
	if (explain)
		json_add(object, "formulas", plan_json_formulas(part));
	return object;
}

static void plan_print_json(const struct plan *plan, bool explain)
{
	struct json_object *object = json_object_new_object();
	struct json_object *parts = json_object_new_array();
	size_t i;

	json_add(object, "plan", json_text(plan->form));
	for (i = 0; i < plan->nr_parts; i++)
		json_object_array_add(parts, plan_json_part(plan->parts[i], explain));
	json_add(object, "parts", parts);
	json_print(stdout, object, options.pretty);
}

void plan_print(const struct plan *plan, const struct plan_args *args)
{
	if (options.json)
		plan_print_json(plan, args->explain);
	else
		plan_print_text(plan, args->explain);
}
