// SPDX-License-Identifier: GPL-2.0
/*
 * Print a plan: as a file of limits that "rdmacg apply" reads, or as JSON. In a file, all
 * but limits whose cgroup and device are known is a comment, so that nothing can be applied
 * by mistake.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"

static bool plan_has_kind(const struct plan_part *part, enum plan_kind kind)
{
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		if (part->values[i].kind == kind)
			return true;
	}
	return false;
}

/* " KEY=VALUE" for each value of the kind. */
static void plan_print_values(const struct plan_part *part, enum plan_kind kind)
{
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		if (part->values[i].kind == kind)
			printf(" %s=%ju", part->values[i].key, part->values[i].value);
	}
	putchar('\n');
}

/* KEY = FORMULA = FORMULA IN NUMBERS = NUMBER, without what would be there twice. */
static void plan_print_formula(const struct plan_value *value)
{
	char number[24];

	snprintf(number, sizeof(number), "%ju", value->value);
	printf("#   %s = %s", value->key, value->formula);
	if (strcmp(value->formula, value->numbers))
		printf(" = %s", value->numbers);
	if (strcmp(value->numbers, number))
		printf(" = %s", number);
	printf("\n#     %s\n", value->source);
}

/* The header of the cgroup is left out where the part before had the same. */
static void plan_print_limits(const struct plan_part *part, const struct plan_part *before)
{
	const char *mark = part->cgroup && part->device ? "" : "# ";

	if (!before || !before->cgroup || !part->cgroup || strcmp(before->cgroup, part->cgroup))
		printf("%s[%s]\n", mark, part->cgroup ? part->cgroup : "CGROUP");
	printf("%s%s", mark, part->device ? part->device : "DEVICE");
	plan_print_values(part, PLAN_LIMIT);
	if (*mark)
		printf("# No limit is set by this: give %s%s%s.\n", part->cgroup ? "" : "--cgroup",
		       part->cgroup || part->device ? "" : " and ",
		       part->device ? "" : "--device");
}

static void plan_print_part(const struct plan_part *part, const struct plan_part *before,
			    bool explain)
{
	size_t i;

	printf("# %s\n", part->title);
	for (i = 0; explain && i < part->nr_values; i++)
		plan_print_formula(&part->values[i]);
	for (i = 0; i < part->nr_notes; i++)
		printf("# %s\n", part->notes[i]);
	if (plan_has_kind(part, PLAN_FIGURE)) {
		putchar('#');
		plan_print_values(part, PLAN_FIGURE);
	}
	if (plan_has_kind(part, PLAN_LIMIT))
		plan_print_limits(part, before);
}

static void plan_print_text(const struct plan *plan, bool explain)
{
	const struct plan_part *before = NULL;
	size_t i;

	for (i = 0; i < plan->nr_parts; i++) {
		if (i)
			putchar('\n');
		plan_print_part(plan->parts[i], before, explain);
		if (plan_has_kind(plan->parts[i], PLAN_LIMIT))
			before = plan->parts[i];
	}
}

static struct json_object *plan_json_values(const struct plan_part *part, enum plan_kind kind)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		if (part->values[i].kind == kind)
			json_object_object_add(object, part->values[i].key,
					       json_object_new_uint64(part->values[i].value));
	}
	return object;
}

static void plan_json_string(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

static struct json_object *plan_json_formulas(const struct plan_part *part)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		struct json_object *object = json_object_new_object();
		const struct plan_value *value = &part->values[i];

		plan_json_string(object, "key", value->key);
		json_object_object_add(object, "value", json_object_new_uint64(value->value));
		plan_json_string(object, "formula", value->formula);
		plan_json_string(object, "numbers", value->numbers);
		plan_json_string(object, "source", value->source);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *plan_json_part(const struct plan_part *part, bool explain)
{
	struct json_object *object = json_object_new_object();
	struct json_object *notes = json_object_new_array();
	size_t i;

	plan_json_string(object, "title", part->title);
	plan_json_string(object, "cgroup", part->cgroup);
	plan_json_string(object, "device", part->device);
	json_object_object_add(object, "limits", plan_json_values(part, PLAN_LIMIT));
	json_object_object_add(object, "figures", plan_json_values(part, PLAN_FIGURE));
	for (i = 0; i < part->nr_notes; i++)
		json_object_array_add(notes, json_object_new_string(part->notes[i]));
	json_object_object_add(object, "notes", notes);
	if (explain)
		json_object_object_add(object, "formulas", plan_json_formulas(part));
	return object;
}

static void plan_print_json(const struct plan *plan, const struct plan_args *args)
{
	struct json_object *object = json_object_new_object();
	struct json_object *parts = json_object_new_array();
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	size_t i;

	if (args->pretty)
		flags |= JSON_C_TO_STRING_PRETTY;
	plan_json_string(object, "plan", plan->form);
	for (i = 0; i < plan->nr_parts; i++)
		json_object_array_add(parts, plan_json_part(plan->parts[i], args->explain));
	json_object_object_add(object, "parts", parts);
	puts(json_object_to_json_string_ext(object, flags));
	json_object_put(object);
}

int plan_print(const struct plan *plan, const struct plan_args *args)
{
	if (args->json)
		plan_print_json(plan, args);
	else
		plan_print_text(plan, args->explain);
	if (fflush(stdout) || ferror(stdout))
		return plan_error("standard output", "%s; the plan is not whole", strerror(errno));
	return 0;
}
