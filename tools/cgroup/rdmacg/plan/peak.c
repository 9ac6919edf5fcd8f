// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan peak: limits from what cgroups were seen to use at most. The cgroups are
 * instances of one job; the largest of them counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/cgroup.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "plan/plan.h"

static const struct plan_input peak_inputs[] = {
	{ "instances", "instances", 1, PLAN_SOME, .doc = "such jobs that the limits are for (1)" },
};

struct peak {
	struct plan_args args;
	char **words;
	size_t nr_words;
	uint64_t margin;		/* in thousandths of a percent */
	struct cgroup **cgroups;
	/* The highest peaks; tally is the number of the cgroup that has it. */
	struct pools most;
};

/* Take over what is higher than before. */
static void peak_take(struct peak *peak, size_t number)
{
	const struct pools *pools = &peak->cgroups[number]->pools;
	size_t i, j;

	for (i = 0; i < pools->nr_pools; i++) {
		const struct pool *pool = &pools->pools[i];

		for (j = 0; j < pool->nr_slots; j++) {
			const struct slot *seen = &pool->slots[j];
			struct slot *most = pools_get_slot(&peak->most, &pool->device, seen->key);

			if (seen->peak <= most->peak)
				continue;
			most->peak = seen->peak;
			most->class = seen->class;
			most->tally = number;
		}
	}
}

static bool peak_read(struct peak *peak, const struct hierarchy *hierarchy, size_t number)
{
	char *name = hierarchy_resolve(hierarchy, peak->words[number]);
	struct cgroup *cgroup = name ? cgroup_open(hierarchy, name) : NULL;

	free(name);
	peak->cgroups[number] = cgroup;
	if (!cgroup || !cgroup_read(cgroup, POOL_BIT(POOL_PEAK)))
		return false;
	if (!cgroup->pools.files[POOL_HCA]) {
		say_error(cgroup_name(cgroup),
			  "it has no rdma.peak; is it the root, is the controller not enabled in it, or has the kernel no peaks?");
		return false;
	}
	peak_take(peak, number);
	return true;
}

static bool peak_add_limit(struct plan *plan, struct plan_part *part, const struct peak *peak,
			   const struct slot *slot)
{
	char *path = cgroup_path(peak->cgroups[slot->tally],
				 pool_file_name(slot->class, POOL_PEAK));
	char *source = memory_format("the highest of %zu: %s", peak->nr_words, path);
	struct plan_row row = {
		slot->key, PLAN_LIMIT, "ceil(peak * (100000 + margin) * instances, 100000)", source
	};
	struct plan_vars vars = { .count = 0 };
	bool done;

	plan_set(&vars, "peak", slot->peak);
	plan_set(&vars, "margin", peak->margin);
	plan_set_inputs(&peak->args, &vars);
	done = plan_add_rows(plan, part, &vars, &row, 1);
	free(source);
	free(path);
	return done;
}

static struct plan_part *peak_add_part(struct plan *plan, const struct peak *peak,
				       const struct device *device)
{
	struct plan_part *part = plan_add_part(plan,
					       "%zu cgroups, margin %.6g%%, instances %" PRIu64,
					       peak->nr_words, peak->margin / 1000.0,
					       peak->args.values[0]);

	plan_set_target(part, &peak->args);
	free(part->device);
	part->device = device_format(device);
	plan_add_note(part, "What none of them has used has no limit.");
	return part;
}

/* The limits of one device. What no cgroup has used gets none. */
static bool peak_plan_device(struct plan *plan, const struct peak *peak, const struct pool *pool)
{
	struct plan_part *part = NULL;
	size_t i;

	if (!plan_is_name(pool->device.name)) {
		say_warning(pool->device.name,
			    "a device of that name cannot stand in a file of limits; it is left out");
		return true;
	}
	for (i = 0; i < pool->nr_slots; i++) {
		if (!pool->slots[i].peak)
			continue;
		if (!part)
			part = peak_add_part(plan, peak, &pool->device);
		if (!peak_add_limit(plan, part, peak, &pool->slots[i]))
			return false;
	}
	return true;
}

static bool peak_plan(struct plan *plan, const struct peak *peak)
{
	const struct device *device = &peak->args.device;
	size_t i;

	for (i = 0; i < peak->most.nr_pools; i++) {
		const struct pool *pool = &peak->most.pools[i];

		if (device->name && !device_is_same(&pool->device, device))
			continue;
		if (!peak_plan_device(plan, peak, pool))
			return false;
	}
	if (!plan->nr_parts)
		say_error(peak->args.form,
			  "none of the cgroups has used anything%s; run the job first, with its limits at max",
			  device->name ? " of that device" : "");
	return plan->nr_parts;
}

static bool peak_run(struct peak *peak)
{
	struct plan plan = { .form = peak->args.form };
	struct hierarchy hierarchy;
	bool done = true;
	size_t i;

	if (!hierarchy_open(&hierarchy))
		return false;
	peak->cgroups = memory_zeroed(peak->nr_words, sizeof(*peak->cgroups));
	for (i = 0; i < peak->nr_words && done; i++)
		done = peak_read(peak, &hierarchy, i);
	done = done && peak_plan(&plan, peak);
	if (done)
		plan_print(&plan, &peak->args);
	plan_free(&plan);
	for (i = 0; i < peak->nr_words; i++)
		cgroup_close_path(peak->cgroups[i]);
	free(peak->cgroups);
	pools_free(&peak->most);
	hierarchy_close(&hierarchy);
	return done;
}

enum { PEAK_KEY_MARGIN = OPTIONS_KEY };

static const struct argp_option peak_options[] = {
	{ "margin", PEAK_KEY_MARGIN, "PERCENT", 0, "that much above the peaks (20%)", 10 },
	{ 0 }
};

static error_t peak_parse(int key, char *arg, struct argp_state *state)
{
	struct peak *peak = state->input;

	switch (key) {
	case PEAK_KEY_MARGIN:
		peak->margin = options_parse_margin(arg);
		return 0;
	case ARGP_KEY_ARGS:
		peak->words = state->argv + state->next;
		peak->nr_words = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		options_fail(peak->args.form, "which cgroup?");
	}
	return ARGP_ERR_UNKNOWN;
}

bool plan_peak(int argc, char **argv)
{
	static const struct argp own = { .options = peak_options, .parser = peak_parse };
	struct peak peak = {
		.margin = 20000,
		.args = {
			.form = "plan peak", .has_limits = true, .args_doc = "CGROUP...",
			.doc = "Limits from what cgroups, instances of one job, have used at most.",
			.inputs = peak_inputs, .nr_inputs = ARRAY_SIZE(peak_inputs),
			.own = &own, .own_input = &peak,
		},
	};
	bool done;

	plan_parse(&peak.args, argc, argv);
	done = peak_run(&peak);
	plan_free_args(&peak.args);
	return done;
}
