// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan peak: limits from what cgroups were seen to use at most. The cgroups are
 * instances of one job; the largest of them counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plan.h"

static const struct plan_input peak_inputs[] = {
	{ "instances", "instances", 1, .min = 1, .max = UINT64_MAX,
	  .doc = "Such jobs that the limits are for (1)" },
};

/* The classes of the controller's files (design contract, section 3). */
static const char *const peak_files[] = { "rdma.peak", "rdma.verb.peak", "rdma.hw.peak" };

struct peak_amount {
	char *key;
	uint64_t value;
	char *source;
};

struct peak_device {
	char *name;
	struct peak_amount *amounts;
	size_t count;
};

struct peak_options {
	char **cgroups;
	size_t nr_cgroups;
	uint64_t margin;
	struct peak_device *devices;
	size_t nr_devices;
};

static struct peak_device *peak_get_device(struct peak_options *options, const char *name)
{
	struct peak_device *device;
	size_t i;

	for (i = 0; i < options->nr_devices; i++) {
		if (!strcmp(options->devices[i].name, name))
			return &options->devices[i];
	}
	options->devices = plan_grow(options->devices, options->nr_devices + 1,
				     sizeof(*options->devices));
	device = &options->devices[options->nr_devices++];
	memset(device, 0, sizeof(*device));
	device->name = plan_copy(name, strlen(name));
	return device;
}

static struct peak_amount *peak_get_amount(struct peak_device *device, const char *key)
{
	struct peak_amount *amount;
	size_t i;

	for (i = 0; i < device->count; i++) {
		if (!strcmp(device->amounts[i].key, key))
			return &device->amounts[i];
	}
	device->amounts = plan_grow(device->amounts, device->count + 1, sizeof(*device->amounts));
	amount = &device->amounts[device->count++];
	memset(amount, 0, sizeof(*amount));
	amount->key = plan_copy(key, strlen(key));
	return amount;
}

/* Take over what is higher than before. */
static int peak_add(struct peak_options *options, const char *path, const struct plan_device *from)
{
	struct peak_device *device = peak_get_device(options, from->name);
	size_t i;

	for (i = 0; i < from->nr_amounts; i++) {
		const struct plan_amount *seen = &from->amounts[i];
		struct peak_amount *most = peak_get_amount(device, seen->key);
		char shown[PLAN_SHOWN];

		plan_show(shown, path, strlen(path));
		if (seen->is_max)
			return plan_error(shown,
					  "%s=max is no peak; is it a file of the rdma controller?",
					  seen->key);
		if (seen->value <= most->value)
			continue;
		most->value = seen->value;
		free(most->source);
		most->source = plan_format("the highest of %zu: %s", options->nr_cgroups, shown);
	}
	return 0;
}

static int peak_read_file(struct peak_options *options, const char *path, bool *is_there)
{
	struct plan_file file = { .nr_devices = 0 };
	int ret = plan_read_file(path, &file, is_there);
	size_t i;

	for (i = 0; i < file.nr_devices && !ret; i++)
		ret = peak_add(options, path, &file.devices[i]);
	plan_free_file(&file);
	return ret;
}

/* There is none of the files: because of the cgroup, or of the kernel. */
static int peak_say_none(const char *folder)
{
	char shown[PLAN_SHOWN];
	struct stat status;

	plan_show(shown, folder, strlen(folder));
	if (stat(folder, &status))
		return plan_error(shown, "%s; give a cgroup as a path below the root",
				  strerror(errno));
	return plan_error(shown,
			  "no rdma.peak there; is +rdma in the parent's cgroup.subtree_control, and does the kernel's controller have peaks?");
}

static int peak_read_cgroup(struct peak_options *options, const char *cgroup)
{
	char *root = plan_root();
	char *folder = plan_format("%s/%s", root, cgroup);
	bool has_any = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < PLAN_COUNT(peak_files) && !ret; i++) {
		char *path = plan_format("%s/%s", folder, peak_files[i]);
		bool is_there;

		ret = peak_read_file(options, path, &is_there);
		has_any |= is_there;
		free(path);
	}
	if (!ret && !has_any)
		ret = peak_say_none(folder);
	free(folder);
	free(root);
	return ret;
}

/* The limits of one device. What no cgroup has used gets none. */
static int peak_plan_device(struct plan *plan, const struct peak_options *options,
			    const struct plan_args *args, const struct peak_device *device)
{
	struct plan_part *part = plan_add_part(plan,
					       "From the peaks of %zu cgroups, margin %ju%%, instances: %ju",
					       options->nr_cgroups,
					       options->margin, args->values[0]);
	size_t i;
	int ret = 0;

	if (args->cgroup)
		part->cgroup = plan_copy(args->cgroup, strlen(args->cgroup));
	part->device = plan_copy(device->name, strlen(device->name));
	for (i = 0; i < device->count && !ret; i++) {
		struct plan_row row = {
			device->amounts[i].key, PLAN_LIMIT,
			"ceil(peak * (100 + margin) * instances, 100)", device->amounts[i].source
		};
		struct plan_vars vars = { .count = 0 };

		if (!device->amounts[i].value)
			continue;
		plan_set(&vars, "peak", device->amounts[i].value);
		plan_set(&vars, "margin", options->margin);
		plan_set_inputs(args, &vars);
		ret = plan_add_rows(plan, part, &vars, &row, 1);
	}
	plan_add_note(part, "What none of them has used has no limit.");
	return ret;
}

static bool peak_is_used(const struct peak_device *device)
{
	size_t i;

	for (i = 0; i < device->count; i++) {
		if (device->amounts[i].value)
			return true;
	}
	return false;
}

static int peak_plan(struct plan *plan, const struct peak_options *options,
		     const struct plan_args *args)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < options->nr_devices && !ret; i++) {
		const struct peak_device *device = &options->devices[i];

		if (peak_is_used(device) && (!args->device || !strcmp(args->device, device->name)))
			ret = peak_plan_device(plan, options, args, device);
	}
	if (!ret && !plan->nr_parts)
		ret = plan_error(args->form,
				 "none of the cgroups has used anything%s; run the job first, with its limits at max",
				 args->device ? " of that device" : "");
	return ret;
}

static int peak_run(struct peak_options *options, const struct plan_args *args)
{
	struct plan plan = { .form = args->form };
	size_t i;
	int ret = 0;

	if (!options->nr_cgroups)
		return plan_misuse(args->form, "no cgroup; see %s --help", args->name);
	for (i = 0; i < options->nr_cgroups && !ret; i++)
		ret = peak_read_cgroup(options, options->cgroups[i]);
	if (!ret)
		ret = peak_plan(&plan, options, args);
	if (!ret)
		ret = plan_print(&plan, args);
	plan_free(&plan);
	return ret;
}

enum { PEAK_KEY_MARGIN = 0x200 };

static const struct argp_option peak_argp_options[] = {
	{ "margin", PEAK_KEY_MARGIN, "P", 0,
	"Percent that the limits are above the peaks (20%)", 10 },
	{ 0 }
};

static error_t peak_parse_margin(struct peak_options *options, const char *text)
{
	char shown[PLAN_SHOWN];

	if (!plan_parse_percent(text, &options->margin) && options->margin <= 1000000)
		return 0;
	plan_misuse("plan peak --margin", "'%s' is no percentage; give such as 20%%",
		    plan_show(shown, text, strlen(text)));
	return PLAN_REFUSED;
}

static error_t peak_parse_key(int key, char *arg, struct argp_state *state)
{
	struct peak_options *options = state->input;
	char *cgroup;

	switch (key) {
	case PEAK_KEY_MARGIN:
		return peak_parse_margin(options, arg);
	case ARGP_KEY_ARG:
		cgroup = plan_cgroup_path("plan peak", arg);
		if (!cgroup)
			return PLAN_REFUSED;
		options->cgroups = plan_grow(options->cgroups, options->nr_cgroups + 1,
					     sizeof(*options->cgroups));
		options->cgroups[options->nr_cgroups++] = cgroup;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void peak_free(struct peak_options *options)
{
	size_t i;
	size_t j;

	for (i = 0; i < options->nr_cgroups; i++)
		free(options->cgroups[i]);
	for (i = 0; i < options->nr_devices; i++) {
		for (j = 0; j < options->devices[i].count; j++) {
			free(options->devices[i].amounts[j].key);
			free(options->devices[i].amounts[j].source);
		}
		free(options->devices[i].amounts);
		free(options->devices[i].name);
	}
	free(options->devices);
	free(options->cgroups);
}

int plan_peak(int argc, char **argv)
{
	static const struct argp own = { .options = peak_argp_options, .parser = peak_parse_key };
	struct peak_options options = { .margin = 20 };
	struct plan_args args = {
		.form = "plan peak", .has_limits = true, .takes_words = true,
		.doc = "Limits from what cgroups, instances of one job, have used at most.",
		.args_doc = "CGROUP...",
		.inputs = peak_inputs, .nr_inputs = PLAN_COUNT(peak_inputs),
		.own = &own, .own_input = &options,
	};
	int ret = plan_parse(&args, argc, argv);

	if (!ret)
		ret = peak_run(&options, &args);
	peak_free(&options);
	plan_free_args(&args);
	return ret;
}
