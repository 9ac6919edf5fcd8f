// SPDX-License-Identifier: GPL-2.0
/*
 * The values of a plan, printed as a file of limits that "rdmacg apply" reads, or as JSON. Limits
 * are a comment unless their cgroup and device are known, so that none is applied by mistake.
 */
#include "plan/plan.h"
#include "write/write.h"

/* In Linux 7.3, these call ib_umem_get() only for memory regions. */
#define PLAN_KERNEL_DRIVERS	"rxe siw software hfi1 cxgb4 efa"

struct plan plan;

/* Refuse a name that apply does not accept in a section. */
static void plan_take_cgroup(const char *text, void *to)
{
	/* Undo escapes in a name that another command printed. */
	hierarchy_open(0);
	plan.cgroup = hierarchy_resolve(text);
	if (!plan.cgroup)
		exit(EXIT_USAGE);
	if (!*plan.cgroup)
		options_fail("--cgroup", "%s: write the name of a cgroup below the root", text);
}

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
	/* Add the pair " =", because line_next() ends the name at the first pair. */
	char *copy __autofree = memory_format("%s =", text);
	char *rest = copy;
	struct line line;

	if (!line_next(&rest, &line) || line.device.name != copy || *line.rest != '=')
		options_fail(text, "is not a device; write NAME or 'NAME index=N'");
	free(((struct device *)to)->name);
	line.device.name = device_escape(line.device.name);
	*(struct device *)to = line.device;
}

const struct plan_input *plan_find_input(const char *name)
{
	char *option __autofree = memory_string(name), *at;
	const struct plan_input *input = plan.form->inputs;

	while ((at = strchr(option, '_')))
		*at = '-';
	while (input->name && strcmp(input->name, option))
		input++;
	return input->name ? input : NULL;
}

static void plan_take_input(const char *text, void *to)
{
	char *where __autofree = NULL;
	struct plan_input *input = to;

	where = memory_format("--%s=%s", input->name, text);
	input->is_given = true;
	if (input->text)
		*input->text = text;
	if (input->texts)
		*memory_append(input->texts->text, input->texts->count) = text;
	if (input->to)
		*input->to = input->max ?
			     plan_parse_number(where, text, input->min, input->max) : 1;
}

static void plan_parse(const struct plan_form *form, int argc, char **argv)
{
	struct choice *choices __autofree = NULL;
	struct plan_input *input = form->inputs;
	size_t nr_choices = 0;
	struct syntax syntax = {
		.choices = {
			{ "explain", 0, "print the formula and the source of each number",
			  &plan.explain },
			{ "cgroup", 0, "the cgroup that the limits are for", NULL,
			  "CGROUP", plan_take_cgroup },
			{ "device", 0, "the device that the limits are for", &plan.device,
			  "DEVICE", plan_take_device },
			{ "driver", 0,
			  "the driver whose queues are added to mr_mem (the driver of --device)",
			  &plan.driver, "NAME" },
		},
		.args_doc = form->args_doc, .example = form->example, .doc = form->doc,
	};

	for (; input->name; input++)
		*memory_append(choices, nr_choices) = (struct choice){
			.name = input->name, .help = input->doc, .to = input,
			.take = plan_take_input, .arg = input->max ? "N" : input->arg,
		};
	/* An empty choice ends the list. */
	memory_append(choices, nr_choices);
	syntax.lists[0] = choices;
	syntax.lists[1] = form->choices;
	/* A form without limits has only the first option, and one without memory the first 3. */
	if (!form->has_memory)
		syntax.choices[form->has_limits ? 3 : 1].name = NULL;
	plan.words = options_read(&syntax, argc, argv);
	for (input = form->inputs; input->name; input++)
		if (input->is_needed && !input->is_given)
			options_fail(form->name, "--%s is missing", input->name);
}

void plan_add_part(const char *title)
{
	struct plan_part *part = memory_zeroed(1, sizeof(*part));

	part->title = title;
	part->cgroup = plan.cgroup;
	part->device = plan.device;
	part->limits = json_object_new_object();
	part->figures = json_object_new_object();
	part->formulas = json_object_new_array();
	*memory_append(plan.parts, plan.nr_parts) = plan.part = part;
}

bool plan_has_driver(const char *known)
{
	char *class __autofree = NULL, *path __autofree = NULL, *link __autofree = NULL;
	char *device __autofree = memory_string(plan.device.name ? plan.device.name : "");
	const char *driver = plan.driver;

	hierarchy_unescape(device);
	class = memory_format("%s/%s", hierarchy_path("RDMACG_SYS", "/sys/class/infiniband"),
			      device);
	path = memory_format("%s/device/driver", class);
	link = file_link(AT_FDCWD, path);

	/* sysfs shows no driver for a device without hardware: rxe and siw. */
	if (!driver && *device && !strchr(device, '/') && !access(class, F_OK))
		driver = *link ? basename(link) : "software";
	if (!driver)
		plan_notice("mr_mem is a lower bound: it does not include the queues of the driver; give --driver, or a --device of this machine.");
	else if (hierarchy_has_word(known, driver))
		return true;
	else if (!hierarchy_has_word(PLAN_KERNEL_DRIVERS, driver))
		plan_notice("mr_mem is a lower bound: it does not include the queues of the driver, and their size with %s is unknown.",
			    driver);
	return false;
}

/* The characters of names and numbers in formulas. */
static const char plan_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* The formula with numbers in the place of names. The caller frees the result. */
static char *plan_in_numbers(const char *formula)
{
	struct json_object *value;
	char *text = NULL;

	while (*formula) {
		char *word __autofree = memory_format("%.*s",
						      (int)max(strspn(formula, plan_letters), 1),
						      formula);
		const struct plan_input *input = plan_find_input(word);

		if (json_object_object_get_ex(plan.names, word, &value))
			memory_extend(&text, "%s", json_object_get_string(value));
		else
			memory_extend(&text, "%s", input && input->to ?
				      number_text(*input->to, false).s : word);
		formula += strlen(word);
	}
	return text;
}

__int128 plan_add(enum plan_kind kind, const char *key, __int128 value, const char *formula,
		  const char *source)
{
	char *numbers __autofree = plan_in_numbers(formula);
	struct number_text number = number_text(value, false);
	bool has_numbers = strcmp(formula, numbers), has_number = strcmp(numbers, number.s);
	const char *fault = NULL;

	if (value < 0)
		fault = "is less than 0";
	else if (value > UINT64_MAX)
		fault = "does not fit in 64 bits";
	else if (kind == PLAN_KIND_LIMIT && value > NUMBER_LARGEST)
		fault = "is more than the largest limit of the kernel, 9223372036854775806";
	if (fault)
		say_failure(plan.form->name, "%s = %s = %s %s; %s", key, formula, numbers, fault,
			    value < 0 ? "subtract less" : "give smaller numbers");
	json_object_object_add(plan.names, key, json_object_new_uint64(value));
	if (kind == PLAN_KIND_LIMIT)
		json_object_object_add(plan.part->limits, key, json_object_new_uint64(value));
	if (kind == PLAN_KIND_FIGURE)
		json_object_object_add(plan.part->figures, key, json_object_new_uint64(value));
	if (kind == PLAN_KIND_NAME)
		return value;
	/* KEY = FORMULA = FORMULA IN NUMBERS = NUMBER, but no part twice, and the source. */
	memory_extend(&plan.part->explained, "#   %s = %s%s%s%s%s\n#     %s\n", key, formula,
		      has_numbers ? " = " : "", has_numbers ? numbers : "",
		      has_number ? " = " : "", has_number ? number.s : "", source);
	json_append(plan.part->formulas, "key:s value:u formula:s numbers:s source:s", key,
		    (uint64_t)value, formula, numbers, source);
	return value;
}

/* The text " KEY=VALUE" for each value. The caller frees the result. */
static char *plan_format_values(struct json_object *values)
{
	char *text = memory_string("");

	json_object_object_foreach(values, key, value)
		memory_extend(&text, " %s=%s", key, json_object_get_string(value));
	return text;
}

static void plan_print_part(const struct plan_part *part)
{
	char *cgroup __autofree = part->cgroup ? config_pattern(part->cgroup) : NULL;
	char *pattern __autofree = part->device.name ? config_pattern(part->device.name) : NULL;
	char *figures __autofree = plan_format_values(part->figures);
	char *limits __autofree = plan_format_values(part->limits);
	const char *mark = cgroup && pattern ? "" : "# ";
	struct device device = part->device;
	size_t i;

	if (part != *plan.parts)
		say_line("%s", "");
	say_line("# %s", part->title);
	if (plan.explain && part->explained)
		fputs(part->explained, stdout);
	for (i = 0; i < part->nr_notes; i++)
		say_line("# %s", part->notes[i]);
	if (*figures)
		say_line("#%s", figures);
	if (!*limits)
		return;
	say_line("%s[%s]", mark, cgroup ? cgroup : "CGROUP");
	device.name = pattern;
	say_line("%s%s%s", mark, pattern ? device_text(&device).s : "DEVICE", limits);
	if (*mark)
		say_line("# These limits cannot be applied yet: give %s%s%s.",
			 cgroup ? "" : "--cgroup", cgroup || pattern ? "" : " and ",
			 pattern ? "" : "--device");
}

static void plan_print_json(void)
{
	struct json_object *parts = json_object_new_array();
	struct json_object *object = json_pack("format:u plan:s", (uint64_t)JSON_FORMAT,
					       plan.form->name);
	size_t i, j;

	for (i = 0; i < plan.nr_parts; i++) {
		const struct plan_part *part = plan.parts[i];
		struct json_object *notes = json_object_new_array();

		for (j = 0; j < part->nr_notes; j++)
			json_object_array_add(notes, json_text(part->notes[j]));
		json_append(parts, "title:s cgroup:s device:s index:o limits:o figures:o notes:o",
			    part->title, part->cgroup, part->device.name,
			    device_index(&part->device), part->limits, part->figures, notes);
		if (plan.explain)
			json_fill(json_object_array_get_idx(parts, i), "formulas:o",
				  part->formulas);
	}
	if (plan.explain && plan.form->read)
		json_fill(object, "read:s", plan.form->read);
	json_print_object(stdout, json_fill(object, "parts:o", parts));
}

/* Compute the form of argv[0], "rdmacg plan FORM", and print the plan. */
static int plan_run(int argc, char **argv)
{
	static const struct plan_form * const forms[] = {
		&lnet_form, &qemu_form, &nccl_form, &ucx_form, &libfabric_form, &ceph_form,
		&share_form,
	};
	size_t i = 0;

	while (strcmp(forms[i]->name, strchr(argv[0], ' ') + 1))
		i++;
	plan.form = forms[i];
	plan.names = json_object_new_object();
	plan_parse(plan.form, argc, argv);
	plan.form->add();
	plan.part = *plan.parts;
	if (plan.form->has_limits)
		plan_notice("%s%s",
			    "Not in the plan: resources of the driver in rdma.hw.max, such as doorbell pages (uar on mlx5), which each context takes: ",
			    PLAN_MEASURE);
	if (plan.explain && plan.form->read && !options.json)
		say_line("# Formulas: %s. Other versions may differ.", plan.form->read);
	for (i = 0; i < plan.nr_parts && !options.json; i++)
		plan_print_part(plan.parts[i]);
	if (options.json)
		plan_print_json();
	if (plan.failure)
		say_failure(plan.form->name, "%s", plan.failure);
	return EXIT_DONE;
}

static const struct command plan_list[] = {
	{ "lnet", plan_run, "objects of Lustre's o2iblnd on a device, by release" },
	{ "qemu", plan_run, "migration of a virtual machine over RDMA" },
	{ "nccl", plan_run, "NCCL over InfiniBand or RoCE" },
	{ "ucx", plan_run, "UCX, for example with Open MPI" },
	{ "libfabric", plan_run, "libfabric with the verbs provider" },
	{ "ceph", plan_run, "Ceph's messenger over RDMA" },
	{ "share", plan_run, "divide a device among cgroups" },
	{ 0 }
};

static const struct syntax plan_syntax = {
	.needs = "a FORM is missing", .in_order = true, .args_doc = "FORM [ARGUMENT...]",
	.example = "rdmacg plan ucx --processes 32 --endpoints 63",
	.doc =
		"Print the limits that a program needs as lines of a file of limits, and with --explain the formula of each number and its source.\vSee also rdmacg plan FORM --help.",
	.commands = plan_list, .kind = "form",
};

int cmd_plan(int argc, char **argv)
{
	return command_run(&plan_syntax, argv[0], options_read(&plan_syntax, argc, argv));
}
