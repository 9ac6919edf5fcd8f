// SPDX-License-Identifier: GPL-2.0
/*
 * The values of a plan, printed as a file of limits that "rdmacg apply" reads, or as JSON.
 * In a file, all is a comment except limits whose cgroup and device are known, so nothing can be
 * applied by mistake.
 */
#include <ctype.h>

#include "lib/lib.h"
#include "plan/plan.h"
#include "write/write.h"

/* --- values, parts, plans --- */

void plan_fail(const char *form, const char *format, ...)
{
	va_list args;
	char *reason;

	va_start(args, format);
	reason = memory_vformat(format, args);
	va_end(args);
	say_error(form, "%s", reason);
	free(reason);
	exit(EXIT_FAILED);
}

struct plan_part *plan_add_part(struct plan *plan, const char *format, ...)
{
	struct plan_part *part = memory_zeroed(1, sizeof(*part));
	struct plan_part **place = memory_append(&plan->parts, &plan->nr_parts, sizeof(*place));
	va_list args;

	*place = part;

	va_start(args, format);
	part->title = memory_vformat(format, args);
	va_end(args);
	part->form = plan->form->name;
	return part;
}

void plan_add_note(struct plan_part *part, const char *format, ...)
{
	char **note = memory_append(&part->notes, &part->nr_notes, sizeof(*note));
	va_list args;

	va_start(args, format);
	*note = memory_vformat(format, args);
	va_end(args);
}

/* The value of a name: the last that was added. */
static const struct plan_value *plan_find(const struct plan_part *part, const char *name,
					  size_t length)
{
	size_t i = part->nr_values;

	while (i--) {
		const struct plan_value *value = &part->values[i];

		if (strlen(value->key) == length && !memcmp(value->key, name, length))
			return value;
	}
	return NULL;
}

static size_t plan_name_length(const char *text)
{
	size_t length = 0;

	if (isalpha((unsigned char)*text))
		while (isalnum((unsigned char)text[length]) || text[length] == '_')
			length++;
	return length;
}

/* The formula with numbers in the place of names. To be freed. */
static char *plan_in_numbers(const struct plan_part *part, const char *formula)
{
	size_t size;
	char *text;
	FILE *out = memory_check(open_memstream(&text, &size));

	while (*formula) {
		size_t length = plan_name_length(formula);
		const struct plan_value *value = length ? plan_find(part, formula, length) : NULL;

		if (value)
			fprintf(out, "%" PRIu64, value->value);
		else
			fprintf(out, "%.*s", length ? (int)length : 1, formula);
		formula += length ? length : 1;
	}
	fclose(out);
	return memory_check(text);
}

__int128 plan_add(struct plan_part *part, enum plan_kind kind, const char *key, __int128 value,
		  const char *formula, const char *source)
{
	char *numbers = plan_in_numbers(part, formula);
	struct plan_value *new;

	if (value < 0)
		plan_fail(part->form, "%s = %s = %s is less than 0; take less away", key, formula,
			  numbers);
	if (value > UINT64_MAX)
		plan_fail(part->form,
			  "%s = %s = %s does not fit in 64 bits; give smaller numbers", key,
			  formula, numbers);
	if (kind == PLAN_KIND_LIMIT && value > NUMBER_LARGEST)
		plan_fail(part->form,
			  "%s = %s = %s is more than the kernel takes as a limit, %" PRIu64
			  "; give smaller numbers",
			  key, formula, numbers, NUMBER_LARGEST);
	new = memory_append(&part->values, &part->nr_values, sizeof(*new));
	new->key = memory_string(key);
	new->kind = kind;
	new->value = value;
	new->formula = formula;
	new->numbers = numbers;
	new->source = source;
	return value;
}

static void plan_free_part(struct plan_part *part)
{
	size_t i;

	for (i = 0; i < part->nr_values; i++) {
		free(part->values[i].key);
		free(part->values[i].numbers);
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

static void plan_free(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_parts; i++)
		plan_free_part(plan->parts[i]);
	free(plan->parts);
}

/* --- as a file of limits --- */

/* " KEY=VALUE" for each value of the kind. To be freed. */
static char *plan_format_values(const struct plan_part *part, enum plan_kind kind)
{
	size_t i, size;
	char *text;
	FILE *out = memory_check(open_memstream(&text, &size));

	for (i = 0; i < part->nr_values; i++)
		if (part->values[i].kind == kind)
			fprintf(out, " %s=%" PRIu64, part->values[i].key, part->values[i].value);
	fclose(out);
	return memory_check(text);
}

/* KEY = FORMULA = FORMULA IN NUMBERS = NUMBER, without equal parts. */
static void plan_print_formula(const struct plan_value *value)
{
	bool has_numbers = strcmp(value->formula, value->numbers);
	const char *number = number_text(value->value, false);
	bool is_number = !strcmp(value->numbers, number);

	say_line("#   %s = %s%s%s%s%s", value->key, value->formula, has_numbers ? " = " : "",
		 has_numbers ? value->numbers : "", is_number ? "" : " = ",
		 is_number ? "" : number);
	say_line("#     %s", value->source);
}

/* Print no section header if the part before has the same cgroup. */
static void plan_print_limits(const struct plan_part *part, const struct plan_part *before,
			      const char *limits)
{
	const char *mark = part->cgroup && part->device ? "" : "# ";
	char *cgroup = part->cgroup ? config_pattern(part->cgroup) : NULL;

	if (!before || !before->cgroup || !part->cgroup || strcmp(before->cgroup, part->cgroup))
		say_line("%s[%s]", mark, cgroup ? cgroup : "CGROUP");
	free(cgroup);
	say_line("%s%s%s", mark, part->device ? part->device : "DEVICE", limits);
	if (*mark)
		say_line("# No limit is set by this: give %s%s%s.", part->cgroup ? "" : "--cgroup",
			 part->cgroup || part->device ? "" : " and ",
			 part->device ? "" : "--device");
}

/* Whether the part has limits. */
static bool plan_print_part(const struct plan_part *part, const struct plan_part *before,
			    bool explain)
{
	char *figures = plan_format_values(part, PLAN_KIND_FIGURE);
	char *limits = plan_format_values(part, PLAN_KIND_LIMIT);
	bool has_limits = *limits;
	size_t i;

	say_line("# %s", part->title);
	for (i = 0; explain && i < part->nr_values; i++) {
		if (part->values[i].kind != PLAN_KIND_NAME)
			plan_print_formula(&part->values[i]);
	}
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

	if (explain && plan->form->read)
		say_line("# Formulas as of %s; other versions may differ.", plan->form->read);
	for (i = 0; i < plan->nr_parts; i++) {
		if (i)
			say_line("%s", "");
		if (plan_print_part(plan->parts[i], before, explain))
			before = plan->parts[i];
	}
}

/* --- as JSON --- */

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

static struct json_object *plan_json_formula(const struct plan_value *value)
{
	return json_pack("key:s value:u formula:s numbers:s source:s", value->key, value->value,
			 value->formula, value->numbers, value->source);
}

static struct json_object *plan_json_part(const struct plan_part *part, bool explain)
{
	struct json_object *object = json_pack("title:s cgroup:s", part->title, part->cgroup);
	struct json_object *notes = json_object_new_array(), *formulas;
	struct device device = { 0 };
	size_t i;

	if (part->device)
		plan_parse_device(&device, part->device);
	device_json(object, &device);
	device_free(&device);
	for (i = 0; i < part->nr_notes; i++)
		json_object_array_add(notes, json_text(part->notes[i]));
	json_fill(object, "limits:o figures:o notes:o", plan_json_values(part, PLAN_KIND_LIMIT),
		  plan_json_values(part, PLAN_KIND_FIGURE), notes);
	if (!explain)
		return object;
	formulas = json_object_new_array();
	for (i = 0; i < part->nr_values; i++)
		if (part->values[i].kind != PLAN_KIND_NAME)
			json_object_array_add(formulas, plan_json_formula(&part->values[i]));
	json_add(object, "formulas", formulas);
	return object;
}

static void plan_print_json(const struct plan *plan, bool explain)
{
	struct json_object *object = json_pack("format:u plan:s", (uint64_t)JSON_FORMAT,
					       plan->form->name);
	struct json_object *parts = json_object_new_array();
	size_t i;

	if (explain && plan->form->read)
		json_add(object, "read", json_text(plan->form->read));
	for (i = 0; i < plan->nr_parts; i++)
		json_object_array_add(parts, plan_json_part(plan->parts[i], explain));
	json_add(object, "parts", parts);
	json_print(stdout, object);
}

struct plan_part *plan_begin(struct plan *plan, const struct plan_args *args, const char *title)
{
	struct plan_part *part = plan_add_part(plan, "%s", title);
	const char *cgroup = plan_text(args, "cgroup"), *name = plan_text(args, "device");
	struct device device = { 0 };

	if (cgroup)
		part->cgroup = memory_string(cgroup);
	if (name) {
		plan_parse_device(&device, name);
		part->device = device_format(&device);
		device_free(&device);
	}
	return part;
}

int plan_run(const struct plan_form *form, int argc, char **argv)
{
	struct plan plan = { .form = form };
	struct plan_args args;
	bool explain;

	plan_init_args(&args, form);
	plan_parse(&args, argc, argv);
	form->add(&plan, &args);
	explain = plan_number(&args, "explain");
	if (options.json)
		plan_print_json(&plan, explain);
	else
		plan_print_text(&plan, explain);
	if (plan.failure)
		plan_fail(form->name, "%s", plan.failure);
	plan_free(&plan);
	plan_free_args(&args);
	return EXIT_DONE;
}
