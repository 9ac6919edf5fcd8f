// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of all forms of "rdmacg plan". All forms have the same options for the cgroup,
 * the device and the output. Each input of a formula is also an option.
 */
#include "plan/plan.h"

static const struct choice plan_common[] = {
	{ "explain", 0, NULL, "print the formula and the source of each number", NULL,
	  &plan.explain },
	{ 0 }
};

static const struct choice plan_limits[] = {
	{ "cgroup", 0, "CGROUP", "the cgroup that the limits are for", options_take_text,
	  &plan.cgroup },
	{ "device", 0, "DEVICE", "the device that the limits are for", plan_take_device,
	  &plan.device },
	{ 0 }
};

static const struct choice plan_memory[] = {
	{ "driver", 0, "NAME",
	  "the driver whose queues are added to mr_mem (the driver of --device)", options_take_text,
	  &plan.driver },
	{ 0 }
};

uint64_t plan_parse_number(const char *where, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (!number_parse_human(text, true, &value) || value < min || value > max)
		options_fail(where, "write a number from %" PRIu64 " to %" PRIu64
			     "; K, M, G, T, P or E may follow it", min, max);
	return value;
}

void plan_take_device(const char *text, void *to)
{
	/* Add the beginning of an amount, by which line_next() finds the end of the name. */
	char *copy __autofree = memory_format("%s =", text);
	char *rest = copy;
	struct line line;

	if (!line_next(&rest, &line) || *line.rest != '=')
		options_fail(text, "is not a device; write NAME or 'NAME index=N'");
	device_free(to);
	device_copy(to, &line.device);
}

char *plan_read_file(const char *name)
{
	return file_read(AT_FDCWD, strcmp(name, "-") ? name : "/dev/stdin");
}

static bool plan_is_name(const char *name, const char *other)
{
	for (; *name == *other || (*name == '_' && *other == '-'); name++, other++)
		if (!*name)
			return true;
	return false;
}

struct plan_input *plan_find_input(struct plan_input *inputs, const char *name)
{
	for (; inputs->name; inputs++)
		if (plan_is_name(name, inputs->name))
			return inputs;
	return NULL;
}

uint64_t plan_number(struct plan_input *inputs, const char *name)
{
	return plan_find_input(inputs, name)->number;
}

bool plan_is_given(struct plan_input *inputs, const char *name)
{
	return plan_find_input(inputs, name)->given;
}

const char *plan_text(const char *name)
{
	size_t i = plan.nr_texts;

	while (i--)
		if (!strcmp(plan.texts[i].name, name))
			return plan.texts[i].text;
	return NULL;
}

static void plan_add_text(const char *name, const char *text)
{
	struct plan_text *new = memory_append(&plan.texts, &plan.nr_texts, sizeof(*new));

	new->name = name;
	new->text = text;
}

static void plan_take_input(const char *text, void *to)
{
	char *where __autofree = NULL;
	struct plan_input *input = to;

	input->given = true;
	if (input->arg) {
		plan_add_text(input->name, text);
	} else if (input->is_flag) {
		input->number = 1;
	} else {
		where = memory_format("--%s=%s", input->name, text);
		input->number = plan_parse_number(where, text, input->min, input->max);
	}
}

/* Convert the inputs to options, and set their defaults. The caller frees the result. */
static struct choice *plan_make_choices(struct plan_input *input)
{
	struct choice *choices = NULL, *choice;
	size_t count = 0;

	for (; input->name; input++) {
		choice = memory_append(&choices, &count, sizeof(*choices));
		choice->name = input->name;
		choice->arg = input->arg ? input->arg : input->is_flag ? NULL : "N";
		choice->help = input->doc;
		choice->take = plan_take_input;
		choice->to = input;
		input->number = input->by_default;
	}
	/* An empty choice ends the list. */
	memory_append(&choices, &count, sizeof(*choices));
	return choices;
}

void plan_parse(const struct plan_form *form, int argc, char **argv)
{
	struct choice *choices __autofree = plan_make_choices(form->inputs);
	const struct syntax syntax = {
		.lists = { choices, plan_common, form->has_limits ? plan_limits : NULL,
			   form->has_memory ? plan_memory : NULL },
		.most = form->args_doc ? INT_MAX : 0,
		.args_doc = form->args_doc,
		.doc = form->doc,
	};
	char **words = options_read(&syntax, argc, argv);
	const struct plan_input *input;

	while (*words)
		plan_add_text("", *words++);
	for (input = form->inputs; input->name; input++)
		if (input->is_needed && !input->given)
			options_fail(form->name, "--%s is missing", input->name);
}
