// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of all forms of "rdmacg plan": options for the cgroup and the device of the
 * limits and for the output, and inputs of formulas as options of their own.
 */
#include "plan/plan.h"

/* Inputs of all forms, of those with limits, and of those with mr_mem. */
static const struct plan_input plan_common[] = {
	{ "explain", .is_flag = true, .doc = "the formula and the source of each number" },
	{ "cgroup", .arg = "CGROUP", .doc = "the cgroup that the limits are for" },
	{ "device", .arg = "DEVICE", .doc = "the device that the limits are for" },
	{ "driver", .arg = "NAME",
	  .doc = "the driver whose queues are added to mr_mem (that of --device)" },
};

uint64_t plan_parse_number(const char *where, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (!number_parse_human(text, true, &value) || value < min || value > max)
		options_fail(where, "write a number from %" PRIu64 " to %" PRIu64
			     "; K, M, G, T, P or E may follow it", min, max);
	return value;
}

void plan_parse_device(struct device *device, const char *text)
{
	/* Only line_next() knows where a device's name ends; it looks for an amount. */
	char *copy __autofree = memory_format("%s =", text);
	char *rest = copy;
	struct line line;

	if (!line_next(&rest, &line) || *line.rest != '=')
		options_fail(text, "is not a device; write NAME or 'NAME index=N'");
	device_copy(device, &line.device);
}

struct plan_answer *plan_find_answer(const struct plan_args *args, const char *name)
{
	size_t i, j;

	for (i = 0; i < args->nr_answers; i++) {
		const char *other = args->answers[i].input->name;

		for (j = 0; name[j] == '_' ? other[j] == '-' : name[j] == other[j]; j++)
			if (!name[j])
				return &args->answers[i];
	}
	return NULL;
}

uint64_t plan_number(const struct plan_args *args, const char *name)
{
	return plan_find_answer(args, name)->number;
}

bool plan_is_given(const struct plan_args *args, const char *name)
{
	return plan_find_answer(args, name)->given;
}

const char *plan_text(const struct plan_args *args, const char *name)
{
	size_t i = args->nr_texts;

	while (i--)
		if (!strcmp(args->texts[i].name, name))
			return args->texts[i].text;
	return NULL;
}

static void plan_add_text(struct plan_args *args, const char *name, const char *text)
{
	struct plan_text *new = memory_append(&args->texts, &args->nr_texts, sizeof(*new));

	new->name = name;
	new->text = text;
}

void plan_set(struct plan_answer *answer, const char *where, const char *text)
{
	answer->number = plan_parse_number(where, text, answer->input->min, answer->input->max);
	answer->given = true;
}

static void plan_take_input(const char *text, void *to)
{
	char *where __autofree = NULL;
	struct plan_answer *answer = to;
	const struct plan_input *input = answer->input;

	answer->given = true;
	if (input->arg) {
		plan_add_text(answer->args, input->name, text);
	} else if (input->is_flag) {
		answer->number = 1;
	} else {
		where = memory_format("--%s=%s", input->name, text);
		plan_set(answer, where, text);
	}
}

/* The inputs as options. To be freed. */
static struct choice *plan_make_choices(const struct plan_args *args)
{
	/* The last choice stays zero, which ends the list. */
	struct choice *choices = memory_zeroed(args->nr_answers + 1, sizeof(*choices));
	size_t i;

	for (i = 0; i < args->nr_answers; i++) {
		const struct plan_input *input = args->answers[i].input;

		choices[i].name = input->name;
		choices[i].arg = input->arg ? input->arg : input->is_flag ? NULL : "N";
		choices[i].help = input->doc;
		choices[i].take = plan_take_input;
		choices[i].to = &args->answers[i];
	}
	return choices;
}

void plan_parse(struct plan_args *args, int argc, char **argv)
{
	struct choice *choices __autofree = plan_make_choices(args);
	const struct syntax syntax = {
		.lists = { choices },
		.most = args->form->args_doc ? INT_MAX : 0,
		.args_doc = args->form->args_doc,
		.doc = args->form->doc,
	};
	char **words = options_read(&syntax, argc, argv);
	size_t i;

	while (*words)
		plan_add_text(args, "", *words++);
	for (i = 0; i < args->nr_answers; i++)
		if (args->answers[i].input->is_needed && !args->answers[i].given)
			options_fail(args->form->name, "--%s is missing",
				     args->answers[i].input->name);
}

static void plan_add_answer(struct plan_args *args, const struct plan_input *input)
{
	struct plan_answer *answer = memory_append(&args->answers, &args->nr_answers,
						   sizeof(*answer));

	answer->input = input;
	answer->args = args;
	answer->number = input->value;
}

void plan_init_args(struct plan_args *args, const struct plan_form *form)
{
	size_t i, nr_common = form->has_memory ? 4 : form->has_limits ? 3 : 1;
	const struct plan_input *input;

	memset(args, 0, sizeof(*args));
	args->form = form;
	for (input = form->inputs; input->name; input++)
		plan_add_answer(args, input);
	for (i = 0; i < nr_common; i++)
		plan_add_answer(args, &plan_common[i]);
}

void plan_free_args(struct plan_args *args)
{
	free(args->answers);
	free(args->texts);
}
