// SPDX-License-Identifier: GPL-2.0
/*
 * The values of a plan, printed as a file of limits that "rdmacg apply" reads, or as JSON. In a
 * file, limits are a comment unless their cgroup and device are known, so that no limit is applied
 * by mistake.
 */
#include "lib/lib.h"
#include "plan/plan.h"
#include "write/write.h"

struct plan plan;

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

struct plan_part *plan_add_part(const char *title, ...)
{
	struct plan_part *part = memory_zeroed(1, sizeof(*part));
	struct plan_part **place = memory_append(&plan.parts, &plan.nr_parts, sizeof(*place));
	va_list args;

	*place = part;
	va_start(args, title);
	part->title = memory_vformat(title, args);
	va_end(args);
	part->cgroup = plan.cgroup;
	part->device = plan.device;
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

/* What names and numbers in formulas consist of. */
static const char plan_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* The last value that was added with this name. */
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

/* The formula with numbers in the place of names. To be freed. */
static char *plan_in_numbers(const struct plan_part *part, const char *formula)
{
	size_t size, length;
	char *text;
	FILE *out = memory_check(open_memstream(&text, &size));

	for (; *formula; formula += length ? length : 1) {
		const struct plan_value *value;

		length = strspn(formula, plan_letters);
		value = plan_find(part, formula, length);
		if (value)
			fprintf(out, "%" PRIu64, value->value);
		else
			fprintf(out, "%.*s", length ? (int)length : 1, formula);
	}
	fclose(out);
	return memory_check(text);
}

__int128 plan_add(struct plan_part *part, enum plan_kind kind, const char *key, __int128 value,
		  const char *formula, const char *source)
{
	char *numbers = plan_in_numbers(part, formula);
	const char *fault = NULL;
	struct plan_value *new;

	if (value < 0)
		fault = "is less than 0";
	else if (value > UINT64_MAX)
		fault = "does not fit in 64 bits";
	else if (kind == PLAN_KIND_LIMIT && value > NUMBER_LARGEST)
		fault = "is more than the largest limit of the kernel, 9223372036854775806";
	if (fault)
		plan_fail(plan.form->name, "%s = %s = %s %s; %s", key, formula, numbers, fault,
			  value < 0 ? "take less away" : "give smaller numbers");
	new = memory_append(&part->values, &part->nr_values, sizeof(*new));
	new->key = memory_string(key);
	new->kind = kind;
	new->value = value;
	new->formula = formula;
	new->numbers = numbers;
	new->source = source;
	return value;
}

/* --- as a file of limits --- */

/* The text " KEY=VALUE" for each value of the kind. To be freed. */
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

/* Print KEY = FORMULA = FORMULA IN NUMBERS = NUMBER, without equal parts. */
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

static void plan_print_limits(const struct plan_part *part, const char *limits)
{
	char *cgroup __autofree = part->cgroup ? config_pattern(part->cgroup) : NULL;
	bool has_device = part->device.name;
	const char *mark = part->cgroup && has_device ? "" : "# ";

	say_line("%s[%s]", mark, cgroup ? cgroup : "CGROUP");
	say_line("%s%s%s", mark, has_device ? device_text(&part->device) : "DEVICE", limits);
	if (*mark)
		say_line("# These limits cannot be applied yet: give %s%s%s.", part->cgroup ? "" : "--cgroup",
			 part->cgroup || has_device ? "" : " and ", has_device ? "" : "--device");
}

static void plan_print_part(const struct plan_part *part)
{
	char *figures __autofree = plan_format_values(part, PLAN_KIND_FIGURE);
	char *limits __autofree = plan_format_values(part, PLAN_KIND_LIMIT);
	size_t i;

	say_line("# %s", part->title);
	for (i = 0; plan.explain && i < part->nr_values; i++)
		if (part->values[i].kind != PLAN_KIND_NAME)
			plan_print_formula(&part->values[i]);
	for (i = 0; i < part->nr_notes; i++)
		say_line("# %s", part->notes[i]);
	if (*figures)
		say_line("#%s", figures);
	if (*limits)
		plan_print_limits(part, limits);
}

static void plan_print_text(void)
{
	size_t i;

	if (plan.explain && plan.form->read)
		say_line("# Formulas: %s. Other versions may differ.", plan.form->read);
	for (i = 0; i < plan.nr_parts; i++) {
		if (i)
			say_line("%s", "");
		plan_print_part(plan.parts[i]);
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

static struct json_object *plan_json_part(const struct plan_part *part)
{
	struct json_object *object = json_pack("title:s cgroup:s", part->title, part->cgroup);
	struct json_object *notes = json_object_new_array();
	struct json_object *formulas = plan.explain ? json_object_new_array() : NULL, *formula;
	const struct plan_value *value;
	size_t i;

	device_json(object, &part->device);
	for (i = 0; i < part->nr_notes; i++)
		json_object_array_add(notes, json_text(part->notes[i]));
	json_fill(object, "limits:o figures:o notes:o", plan_json_values(part, PLAN_KIND_LIMIT),
		  plan_json_values(part, PLAN_KIND_FIGURE), notes);
	if (!formulas)
		return object;
	for (value = part->values; value < part->values + part->nr_values; value++) {
		if (value->kind == PLAN_KIND_NAME)
			continue;
		formula = json_pack("key:s value:u formula:s numbers:s source:s", value->key,
				    value->value, value->formula, value->numbers, value->source);
		json_object_array_add(formulas, formula);
	}
	json_add(object, "formulas", formulas);
	return object;
}

static void plan_print_json(void)
{
	struct json_object *object = json_pack("format:u plan:s", (uint64_t)JSON_FORMAT,
					       plan.form->name);
	struct json_object *parts = json_object_new_array();
	size_t i;

	if (plan.explain && plan.form->read)
		json_add(object, "read", json_text(plan.form->read));
	for (i = 0; i < plan.nr_parts; i++)
		json_object_array_add(parts, plan_json_part(plan.parts[i]));
	json_add(object, "parts", parts);
	json_print(stdout, object);
}

int plan_run(const struct plan_form *form, int argc, char **argv)
{
	plan.form = form;
	plan_parse(form, argc, argv);
	form->add(form->inputs);
	if (options.json)
		plan_print_json();
	else
		plan_print_text();
	if (plan.failure)
		plan_fail(form->name, "%s", plan.failure);
	return EXIT_DONE;
}
