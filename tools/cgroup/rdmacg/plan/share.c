// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan share: a device shared among cgroups. Each resource with a known capacity
 * (rdma.capacity of the root) is divided. The command subtracts the usage of kernel users and a
 * reserve. The cgroups get the rest by weight, rounded down, so that the limits fit.
 */
#include "plan/plan.h"
#include "write/write.h"

/* Weights of cgroup v2 have the same range. */
#define SHARE_WEIGHT_MAX	10000
/* This bound prevents an overflow of the product of a resource and the weights. */
#define SHARE_CGROUPS_MAX	((size_t)1 << 16)

struct share_cgroup {
	char *name;
	uint64_t weight;
	struct plan_part *part;
};

/* These amounts are subtracted from the capacity of a resource before the rest is shared. */
struct share_less {
	__int128 kernel, fixed, percent;	/* percent is in thousandths of a percent */
};

static struct {
	struct device device;		/* the device of the command line */
	const struct pool *pool;	/* the device and its capacity */
	struct share_less *less;	/* an element for each slot of the pool */
	struct share_cgroup *cgroups;
	size_t nr_cgroups;
	__int128 weights;	/* the sum of the weights of all cgroups */
	uint64_t over;		/* the factor of --oversubscribe in thousandths, or 0 */
} share;

static struct plan_input share_inputs[] = {
	{ "among", .arg = "CGROUP[:WEIGHT]",
	  .doc = "a cgroup that gets a share; words after DEVICE are more cgroups" },
	{ "reserve", .arg = "KEY=VALUE[,...]|P%",
	  .doc = "the amount to keep back; a percentage is of the capacity" },
	{ "kernel", .arg = "KEY=VALUE[,...]", .doc = "the usage of kernel users" },
	{ "capacity", .arg = "KEY=VALUE[,...]",
	  .doc = "the capacity of the device, instead of rdma.capacity" },
	{ "oversubscribe", .arg = "R",
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
	const char *given = plan_text("capacity");
	struct limits limits;
	size_t i;

	if (given) {
		share_parse_limits(&limits, given, false);
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
	share.less = memory_zeroed(share.pool->nr_slots, sizeof(*share.less));
}

/* Whether the capacity is known and not 0. */
static bool share_has(const struct slot *slot)
{
	return slot && slot->max && slot->max != NUMBER_MAX;
}

/* Add the limits of --kernel or --reserve to the subtracted amounts. */
static void share_subtract(const char *text, bool is_kernel)
{
	struct limits limits;
	size_t i;

	share_parse_limits(&limits, text, !is_kernel);
	for (i = 0; i < limits.nr_limits; i++) {
		const struct limit *limit = &limits.limits[i];
		const struct slot *slot = pool_find(share.pool, limit->key);
		struct share_less *less;

		if (!share_has(slot))
			say_failure(limit->key, "its capacity is unknown; remove this key");
		less = &share.less[slot - share.pool->slots];
		if (is_kernel)
			less->kernel = min(less->kernel + limit->value, UINT64_MAX);
		else if (limit->percent)
			less->percent += limit->value;
		else
			less->fixed = min(less->fixed + limit->value, UINT64_MAX);
	}
	limits_free(&limits);
}

/* Keep back "P%" of each resource. */
static void share_reserve_all(const char *text)
{
	size_t length = strlen(text), i;
	uint64_t percent;

	if (!length || text[length - 1] != '%' ||
	    !number_parse_thousandths(text, length - 1, &percent) || percent > 100000)
		options_fail(text, "--reserve must be KEY=VALUE[,KEY=VALUE]... or 0%% to 100%%");
	for (i = 0; i < share.pool->nr_slots; i++)
		share.less[i].percent += percent;
}

/* Add what is left of the resource for cgroups. */
static __int128 share_add_available(struct plan_part *part, const struct slot *slot)
{
	const struct share_less *less = &share.less[slot - share.pool->slots];

	PLAN_NAME(part, capacity, slot->max);
	PLAN_NAME(part, kernel, less->kernel);
	PLAN_NAME(part, fixed, less->fixed);
	PLAN_NAME(part, percent, less->percent);
	PLAN_STEP(part, reserve, fixed + capacity * percent / 100000,
		  "--reserve: amounts, and thousandths of a percent of the capacity");
	PLAN_STEP(part, available, capacity - kernel - reserve,
		  "rdma.capacity, less --kernel, less --reserve");
	PLAN_OF_KEY(part, FIGURE, slot->key, available, "is shared");
	return available;
}

static __int128 share_add_limit(const struct share_cgroup *cgroup, const char *key, uint64_t left)
{
	struct plan_part *part = cgroup->part;

	PLAN_NAME(part, available, left);
	PLAN_NAME(part, weight, cgroup->weight);
	PLAN_NAME(part, weights, share.weights);
	PLAN_NAME(part, over, share.over);

	if (!over)
		return PLAN_OF_KEY(part, LIMIT, key, available * weight / weights,
				   "by weight, rounded down");
	return PLAN_OF_KEY(part, LIMIT, key,
			   min(available, available * weight / weights * over / 1000),
			   "by weight, times --oversubscribe in thousandths, and at most what is available");
}

/* Add the limits, and a note with their sum, and with the risk if it is more than available. */
static void share_add_resource(struct plan_part *proof, const struct slot *slot)
{
	uint64_t available = share_add_available(proof, slot);
	const struct share_cgroup *cgroup;
	__int128 limits = 0;

	for (cgroup = share.cgroups; cgroup < share.cgroups + share.nr_cgroups; cgroup++) {
		__int128 limit = share_add_limit(cgroup, slot->key, available);

		limits += limit;
		if (!limit)
			plan_add_note(proof,
				      "%s: nothing is left for %s, and a limit of 0 refuses each attempt.",
				      slot->key, cgroup->name);
	}
	PLAN_NAME(proof, sum, limits);
	plan_add_note(proof, "%s: %sthe limits add up to %" PRIu64 " of %" PRIu64 " available%s",
		      slot->key, sum > available ? "RISK: " : "", (uint64_t)sum, available,
		      sum > available ?
		      "; the device can refuse a cgroup that is below its limit." :
		      ".");
}

/* Add a "CGROUP:WEIGHT". The weight is the number after the last colon. */
static void share_add_cgroup(const char *word)
{
	char *path __autofree = memory_string(word);
	const char *colon = strrchr(word, ':');
	bool has_weight = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789.")] &&
			  !file_exists(hierarchy.dir, word);
	struct share_cgroup *cgroup;

	if (share.nr_cgroups == SHARE_CGROUPS_MAX)
		options_fail(word, "is one cgroup too many; give a common parent");
	cgroup = memory_append(share.cgroups, share.nr_cgroups);
	cgroup->weight = 1;
	if (has_weight && (!number_parse(colon + 1, strlen(colon + 1), &cgroup->weight) ||
			   !cgroup->weight || cgroup->weight > SHARE_WEIGHT_MAX))
		options_fail(word, "the weight must be 1 to %d", SHARE_WEIGHT_MAX);
	if (has_weight)
		path[colon - word] = '\0';
	share.weights += cgroup->weight;
	cgroup->name = hierarchy_resolve(path);
	if (!cgroup->name)
		exit(EXIT_FAILED);
	if (!*cgroup->name)
		say_failure("/", "the root cannot have limits; give a cgroup below it");
}

/* Check that no cgroup is below another one, because the sum of the limits would be wrong. */
static void share_check_nested(void)
{
	const struct share_cgroup *one, *other, *end = share.cgroups + share.nr_cgroups;

	for (one = share.cgroups; one < end; one++)
		for (other = share.cgroups; other < end; other++)
			if (one != other && hierarchy_below(other->name, one->name))
				options_fail(other->name,
					     "overlaps %s; give cgroups that are not below each other",
					     one->name);
}

/* Take the device, the first word, before --kernel and --reserve, which need its capacity. */
static void share_take_texts(void)
{
	const char *over = plan_text("oversubscribe");
	const struct plan_text *text, *end = plan.texts + plan.nr_texts;

	for (text = plan.texts; text < end; text++)
		if (!*text->name && !share.device.name)
			plan_take_device(text->text, &share.device);
		else if (!*text->name || !strcmp(text->name, "among"))
			share_add_cgroup(text->text);
	if (!share.device.name || !share.nr_cgroups)
		options_fail(plan.form->name, "give a DEVICE and a CGROUP");
	share_check_nested();
	if (over && (!number_parse_thousandths(over, strlen(over), &share.over) ||
		     share.over < 1000 || share.over > PLAN_MOST))
		options_fail(over, "--oversubscribe must be a number of at least 1, such as 1.5");
	share_read_capacity();
	for (text = plan.texts; text < end; text++)
		if (!strcmp(text->name, "kernel"))
			share_subtract(text->text, true);
		else if (!strcmp(text->name, "reserve") && strchr(text->text, '='))
			share_subtract(text->text, false);
		else if (!strcmp(text->name, "reserve"))
			share_reserve_all(text->text);
}

/* Add a part for the device, and then a part for each cgroup. */
static void share_add(void)
{
	const struct device *device;
	struct plan_part *proof;
	struct share_cgroup *cgroup;
	size_t i;

	hierarchy_open(EXIT_FAILED);
	share_take_texts();
	device = &share.pool->device;
	proof = plan_add_part("Resources of %s for cgroups", device_text(device));
	for (cgroup = share.cgroups; cgroup < share.cgroups + share.nr_cgroups; cgroup++) {
		cgroup->part = plan_add_part("%s, weight %" PRIu64, cgroup->name, cgroup->weight);
		cgroup->part->cgroup = cgroup->name;
		cgroup->part->device = *device;
	}
	if (!plan_text("kernel"))
		plan_add_note(proof,
			      "Nothing is subtracted for kernel users. Give --kernel: see rdma resource show and rdmacg plan lnet.");
	for (i = 0; i < share.pool->nr_slots; i++)
		if (share_has(&share.pool->slots[i]))
			share_add_resource(proof, &share.pool->slots[i]);
	if (!json_object_object_length(proof->figures))
		say_failure(device->name,
			    "the device has no known capacity; give --capacity KEY=VALUE,...");
	plan_add_note(proof, "Resources without a known capacity have no limit.");
}

const struct plan_form share_form = {
	.name = "plan share",
	.doc = "Divide a device among cgroups that are not below each other.",
	.args_doc = "DEVICE [CGROUP[:WEIGHT]...]", .inputs = share_inputs, .add = share_add,
};
