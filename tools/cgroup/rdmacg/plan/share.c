// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan share: a device shared among cgroups. Each resource with a known capacity
 * (rdma.capacity of the root) is divided. The command subtracts the usage of kernel users and a
 * reserve. The cgroups get the rest by weight, rounded down, so that the limits fit.
 */
#include "plan/plan.h"
#include "write/write.h"

static struct {
	struct device device;		/* the device of the command line */
	/*
	 * The device and, in slot.max, its capacity. To be subtracted: slot.usage is the usage of
	 * kernel users, slot.peak is the reserve, and slot.tally is the reserve as a part of the
	 * capacity, in thousandths of a percent.
	 */
	const struct pool *pool;
	__int128 weights;		/* the sum of the weights of all cgroups */
	uint64_t over;			/* the factor of --oversubscribe in thousandths, or 0 */
} share;

static struct plan_texts among, reserves, kernels;
static const char *capacities, *factor;

static struct plan_input share_inputs[] = {
	{ "among", .texts = &among, .arg = "CGROUP[:WEIGHT]",
	  .doc = "a cgroup that gets a share; words after DEVICE are more cgroups" },
	{ "reserve", .texts = &reserves, .arg = "KEY=VALUE[,...]|P%",
	  .doc = "the amount to keep back; a percentage is of the capacity" },
	{ "kernel", .texts = &kernels, .arg = "KEY=VALUE[,...]",
	  .doc = "the usage of kernel users" },
	{ "capacity", .text = &capacities, .arg = "KEY=VALUE[,...]",
	  .doc = "the capacity of the device, instead of rdma.capacity" },
	{ "oversubscribe", .text = &factor, .arg = "R",
	  .doc = "share R times the capacity, such as 1.5, and print the risk" },
	{ 0 }
};

/* Parse "KEY=VALUE,KEY=VALUE" of the device. A percentage is of the capacity. */
static void share_parse_limits(struct limits *limits, const char *text, bool may_be_percent)
{
	char *option __autofree = memory_format("%s:%s", share.device.name, text);

	if (!limits_parse_option(limits, option))
		exit(EXIT_USAGE);
	if (limits->whole)
		options_fail(text, "write KEY=VALUE[,KEY=VALUE]...");
	if (!may_be_percent && strchr(text, '%'))
		options_fail(text, "only --reserve can be a percentage");
}

/* Find the capacity of the device in --capacity or in rdma.capacity. */
static void share_read_capacity(void)
{
	struct limits limits = { 0 };
	size_t i;

	if (capacities) {
		share_parse_limits(&limits, capacities, false);
		for (i = 0; i < limits.nr_limits; i++)
			pools_get_slot(&capacity.pools, &share.device, limits.limits[i].key)->max =
				limits.limits[i].value;
		limits_free(&limits);
	} else {
		capacity_read();
		if (!capacity.has_file)
			say_failure("rdma.capacity",
				    "the kernel has no such file; give --capacity KEY=VALUE,...");
	}
	share.pool = limits_find_pool(&share.device, &capacity.pools);
	if (!share.pool)
		exit(EXIT_FAILED);
	/* Forget the present usage: it includes the objects of cgroups. */
	for (i = 0; i < share.pool->nr_slots; i++)
		share.pool->slots[i].usage = 0;
}

/* Whether the capacity is known and not 0. */
static bool share_has(const struct slot *slot)
{
	return slot && slot->max && slot->max != NUMBER_MAX;
}

/* Add the amounts of --kernel or --reserve to those that are subtracted. */
static void share_subtract(const char *text, bool is_kernel)
{
	struct limits limits = { 0 };
	size_t i;

	share_parse_limits(&limits, text, !is_kernel);
	for (i = 0; i < limits.nr_limits; i++) {
		const struct limit *limit = &limits.limits[i];
		struct slot *slot = pool_find(share.pool, limit->key);
		uint64_t *to;

		if (!filter_has(&filter_keys, limit->key))
			continue;
		if (!share_has(slot))
			say_failure(limit->key, "its capacity is %s; remove this key",
				    slot && !slot->max ? "0" : "unknown");
		to = is_kernel ? &slot->usage : limit->percent ? &slot->tally : &slot->peak;
		*to = min((__int128)*to + limit->value, UINT64_MAX);
	}
	limits_free(&limits);
}

/* Keep back amounts, or "P%" of each resource. */
static void share_take_reserve(const char *text)
{
	size_t length = strlen(text), i;
	uint64_t percent;

	if (strchr(text, '=')) {
		share_subtract(text, false);
		return;
	}
	if (!length || text[length - 1] != '%' ||
	    !number_parse_thousandths(text, length - 1, &percent) || percent > 100000)
		options_fail(text, "--reserve must be KEY=VALUE[,KEY=VALUE]... or 0%% to 100%%");
	for (i = 0; i < share.pool->nr_slots; i++)
		share.pool->slots[i].tally += percent;
}

/* Add the limits, and a note with their sum. If the sum is more than available, add the risk. */
static void share_add_resource(const struct slot *slot)
{
	__int128 limits = 0, limit;
	size_t i;

	PLAN_NAME(capacity, slot->max);
	PLAN_NAME(kernel, slot->usage);
	PLAN_NAME(fixed, slot->peak);
	PLAN_NAME(percent, slot->tally);
	PLAN_STEP(reserve, fixed + capacity * percent / 100000,
		  "--reserve: an amount, and thousandths of a percent of the capacity");
	PLAN_STEP(available, capacity - kernel - reserve,
		  "rdma.capacity, less --kernel, less --reserve");
	PLAN_OF_KEY(FIGURE, slot->key, available, "is shared");
	PLAN_NAME(weights, share.weights);
	PLAN_NAME(over, share.over);
	for (i = 1; i < plan.nr_parts; i++) {
		plan.part = plan.parts[i];

		PLAN_NAME(weight, plan.part->weight);

		if (!over)
			limit = PLAN_OF_KEY(LIMIT, slot->key, available * weight / weights,
					    "by weight, rounded down");
		else
			limit = PLAN_OF_KEY(LIMIT, slot->key, min(available, available * weight /
						weights * over / 1000),
					    "by weight, times --oversubscribe in thousandths, and at most what is available");
		limits += limit;
		plan.part = *plan.parts;
		if (!limit)
			plan_notice("%s: nothing is left for %s, and a limit of 0 refuses each attempt.",
				    slot->key, plan.parts[i]->cgroup);
	}
	PLAN_NAME(sum, limits);
	plan_notice("%s: %sthe limits add up to %" PRIu64 " of %" PRIu64 " available%s",
		    slot->key, sum > available ? "RISK: " : "", (uint64_t)sum,
		    (uint64_t)available, sum > available ?
		    "; the device can refuse a cgroup that is below its limit." : ".");
}

/* Add a part for a "CGROUP:WEIGHT". The weight is the number after the last colon. */
static void share_add_cgroup(const char *word)
{
	char *path __autofree = memory_string(word);
	const char *colon = strrchr(word, ':');
	bool has_weight = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789.")] &&
			  !file_exists(hierarchy.dir, word) &&
			  !file_exists(hierarchy.dir, word + strspn(word, "/"));
	uint64_t weight = 1;

	/* Weights of cgroup v2 have the same range. */
	if (has_weight && (!number_parse(colon + 1, strlen(colon + 1), &weight) || !weight ||
			   weight > 10000))
		options_fail(word, "the weight must be 1 to 10000");
	if (has_weight)
		path[colon - word] = '\0';
	plan.cgroup = hierarchy_resolve(path);
	if (!plan.cgroup)
		exit(EXIT_FAILED);
	if (!*plan.cgroup)
		say_failure("/", "the root cannot have limits; give a cgroup below it");
	plan_add_part(memory_format("%s, weight %" PRIu64, plan.cgroup, weight));
	plan.part->weight = weight;
	share.weights += weight;
}

/* Add a part for the device, and then a part for each cgroup. */
static void share_add(void)
{
	size_t i, j;

	if (!*plan.words || (!plan.words[1] && !among.count))
		options_fail(plan.form->name, "give a DEVICE and a CGROUP");
	if (factor && (!number_parse_thousandths(factor, strlen(factor), &share.over) ||
		       share.over < 1000 || share.over > PLAN_MOST))
		options_fail(factor, "--oversubscribe must be a number of at least 1, such as 1.5");
	hierarchy_open(capacities ? 0 : EXIT_FAILED);
	plan_take_device(*plan.words++, &share.device);
	share_read_capacity();
	for (i = 0; i < kernels.count; i++)
		share_subtract(kernels.text[i], true);
	for (i = 0; i < reserves.count; i++)
		share_take_reserve(reserves.text[i]);
	plan_add_part(memory_format("Resources of %s for cgroups",
				    device_text(&share.pool->device).s));
	plan.device = share.pool->device;
	for (i = 0; i < among.count; i++)
		share_add_cgroup(among.text[i]);
	while (*plan.words)
		share_add_cgroup(*plan.words++);
	/* If a cgroup were below another one, the sum of the limits would be wrong. */
	for (i = 1; i < plan.nr_parts; i++)
		for (j = 1; j < plan.nr_parts; j++)
			if (i != j && hierarchy_below(plan.parts[j]->cgroup, plan.parts[i]->cgroup))
				options_fail(plan.parts[j]->cgroup,
					     "overlaps %s; give cgroups that are not below each other",
					     plan.parts[i]->cgroup);
	plan.part = *plan.parts;
	if (!kernels.count)
		plan_notice("Nothing is subtracted for kernel users. Give --kernel: see rdma resource show and rdmacg plan lnet.");
	for (i = 0; i < share.pool->nr_slots; i++)
		if (share_has(&share.pool->slots[i]) &&
		    filter_has(&filter_keys, share.pool->slots[i].key))
			share_add_resource(&share.pool->slots[i]);
	if (!filter_check(&filter_keys))
		exit(EXIT_FAILED);
	if (!json_object_object_length(plan.part->figures))
		say_failure(plan.device.name,
			    "the device has no known capacity; give --capacity KEY=VALUE,...");
	plan_notice("Resources without a known capacity have no limit.");
}

const struct plan_form share_form = {
	.name = "plan share",
	.example = "rdmacg plan share mlx5_0 tenants/a:3 tenants/b --reserve 10%",
	.doc = "Divide a device among cgroups that are not below each other.",
	.args_doc = "DEVICE [CGROUP[:WEIGHT]...]", .inputs = share_inputs, .add = share_add,
	/* Only --resource, because the device is an argument. */
	.choices = &filter_choices[1],
};
