// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan share: a device shared among cgroups. From each resource with a known capacity
 * (rdma.capacity at the root), the usage of kernel users and a reserve are subtracted, and the
 * cgroups get the rest by weight, rounded down, so the limits fit.
 */
#include "plan/plan.h"
#include "write/write.h"

/* The same range as for weights of cgroup v2. */
#define SHARE_WEIGHT_MAX	10000
/* With these, no product of a resource and the weights overflows. */
#define SHARE_CGROUPS_MAX	((size_t)1 << 16)

struct share_cgroup {
	char *name;
	uint64_t weight;
	struct plan_part *part;
};

/* Subtracted from the capacity of a resource before the rest is shared. */
struct share_less {
	__int128 kernel, fixed, percent;	/* in thousandths of a percent */
};

static struct {
	const struct pool *pool;	/* the device and its capacity */
	struct share_less *less;	/* for each slot of the pool */
	struct share_cgroup *cgroups;
	size_t nr_cgroups;
	__int128 weights;	/* of all cgroups */
	uint64_t over;		/* in thousandths; 0 without --oversubscribe */
} share;

static struct plan_input share_inputs[] = {
	{ "among", .arg = "CGROUP[:WEIGHT]",
	  .doc = "a cgroup that gets a share; words behind DEVICE are more of them" },
	{ "reserve", .arg = "KEY=VALUE[,...]|P%",
	  .doc = "how much to keep back; a percentage is of the capacity" },
	{ "kernel", .arg = "KEY=VALUE[,...]", .doc = "the usage of kernel users" },
	{ "capacity", .arg = "KEY=VALUE[,...]",
	  .doc = "the capacity of the device, instead of rdma.capacity" },
	{ "oversubscribe", .arg = "R",
	  .doc = "share R times the capacity, such as 1.5; says the risk" },
	{ 0 }
};

/* --- the device --- */

/* "KEY=VALUE,KEY=VALUE" of @device. Percentages are of its capacity. */
static void share_parse_limits(const struct device *device, struct limits *limits,
			       const char *text, bool may_be_percent)
{
	char *index __autofree = device->has_index ? memory_format("index=%u,", device->index) :
						     memory_string("");
	char *option __autofree = memory_format("%s:%s%s", device->name, index, text);
	size_t i;

	if (!limits_parse_option(limits, option))
		exit(EXIT_USAGE);
	if (limits->whole)
		options_fail(text, "write KEY=VALUE[,KEY=VALUE]...");
	for (i = 0; i < limits->nr_limits; i++)
		if (limits->limits[i].percent && !may_be_percent)
			options_fail(text, "only --reserve can be a percentage");
}

/* Find the capacity of the device, by --capacity or by rdma.capacity. */
static void share_read_capacity(const struct device *device)
{
	const char *given = plan_text("capacity");
	struct limits limits;
	size_t i;

	if (given) {
		share_parse_limits(device, &limits, given, false);
		for (i = 0; i < limits.nr_limits; i++)
			pools_get_slot(&capacity.pools, &limits.device,
				       limits.limits[i].key)->max = limits.limits[i].value;
		limits_free(&limits);
	} else {
		capacity_read();
		if (!capacity.has_file)
			plan_fail("rdma.capacity",
				  "the kernel has no such file, so give --capacity KEY=VALUE,...");
	}
	share.pool = limits_find_pool(device, &capacity.pools);
	if (!share.pool)
		exit(EXIT_FAILED);
	share.less = memory_zeroed(share.pool->nr_slots, sizeof(*share.less));
}

/* Whether the capacity is known, so that it can be shared. */
static bool share_has(const struct slot *slot)
{
	return slot && slot->max && slot->max != NUMBER_MAX;
}

/* Add the limits of --kernel or --reserve to what is subtracted. */
static void share_subtract(const char *text, bool is_kernel)
{
	struct limits limits;
	size_t i;

	share_parse_limits(&share.pool->device, &limits, text, !is_kernel);
	for (i = 0; i < limits.nr_limits; i++) {
		const struct limit *limit = &limits.limits[i];
		const struct slot *slot = pool_find(share.pool, limit->key);
		struct share_less *less;

		if (!share_has(slot))
			plan_fail(limit->key, "its capacity is not known; leave it out");
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

static void share_reserve(const char *text)
{
	size_t length = strlen(text), i;
	uint64_t percent;

	if (strchr(text, '=')) {
		share_subtract(text, false);
		return;
	}
	if (!length || text[length - 1] != '%' ||
	    !number_parse_thousandths(text, length - 1, &percent) || percent > 100000)
		options_fail(text, "--reserve is KEY=VALUE[,KEY=VALUE]... or 0%% to 100%%");
	for (i = 0; i < share.pool->nr_slots; i++)
		share.less[i].percent += percent;
}

/* --- one resource --- */

/* The rest of the resource, for cgroups. */
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
			   "by weight, times --oversubscribe in thousandths; no cgroup can have more than is available");
}

/* Add up the limits: the sum does not exceed the capacity, or print the risk of --oversubscribe. */
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
				      "%s: nothing is left for %s; a limit of 0 refuses all.",
				      slot->key, cgroup->name);
	}
	PLAN_NAME(proof, sum, limits);
	plan_add_note(proof, "%s: %sthe limits add up to %" PRIu64 " of %" PRIu64 " available%s",
		      slot->key, sum > available ? "RISK: " : "", (uint64_t)sum, available,
		      sum > available ?
		      "; the device can refuse a cgroup that is below its limit." :
		      ".");
}

/* --- the cgroups --- */

/* "CGROUP:WEIGHT": the weight is behind the last colon, in digits that no name ends with. */
static void share_add_cgroup(const char *word)
{
	char *path __autofree = memory_string(word);
	const char *colon = strrchr(word, ':');
	bool has_weight = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] &&
			  !file_exists(hierarchy.dir, word);
	struct share_cgroup *cgroup;

	if (share.nr_cgroups == SHARE_CGROUPS_MAX)
		options_fail(word, "is a cgroup too many; give a parent of them");
	cgroup = memory_append(&share.cgroups, &share.nr_cgroups, sizeof(*cgroup));
	cgroup->weight = 1;
	if (has_weight && (!number_parse(colon + 1, strlen(colon + 1), &cgroup->weight) ||
			   !cgroup->weight || cgroup->weight > SHARE_WEIGHT_MAX))
		options_fail(word, "a weight is 1 to %d", SHARE_WEIGHT_MAX);
	if (has_weight)
		path[colon - word] = '\0';
	share.weights += cgroup->weight;
	cgroup->name = hierarchy_resolve(path);
	if (!cgroup->name)
		exit(EXIT_FAILED);
	if (!*cgroup->name)
		plan_fail("/", "the root has no limits; its devices are the limit");
}

/* The limit of a cgroup and the limit of its ancestor do not add up. */
static void share_check_nested(void)
{
	size_t i, j;

	for (i = 0; i < share.nr_cgroups; i++) {
		const char *name = share.cgroups[i].name;
		size_t length = strlen(name);

		for (j = 0; j < share.nr_cgroups; j++) {
			const char *other = share.cgroups[j].name;

			if (i != j && !strncmp(name, other, length) &&
			    (!other[length] || other[length] == '/'))
				options_fail(other,
					     "is in %s; give cgroups of which none is in another",
					     name);
		}
	}
}

/* The first word is the device; --kernel and --reserve need its capacity. */
static void share_take_texts(void)
{
	const char *over = plan_text("oversubscribe");
	struct device device = { 0 };
	const struct plan_text *text, *end = plan.texts + plan.nr_texts;

	for (text = plan.texts; text < end; text++)
		if (!*text->name && !device.name)
			plan_take_device(text->text, &device);
		else if (!*text->name || !strcmp(text->name, "among"))
			share_add_cgroup(text->text);
	if (!device.name || !share.nr_cgroups)
		options_fail(plan.form->name, "a DEVICE and a CGROUP are needed");
	share_check_nested();
	if (over && (!number_parse_thousandths(over, strlen(over), &share.over) ||
		     share.over < 1000 || share.over > PLAN_MOST))
		options_fail(over, "--oversubscribe is a number from 1 on, such as 1.5");
	share_read_capacity(&device);
	device_free(&device);
	for (text = plan.texts; text < end; text++)
		if (!strcmp(text->name, "reserve"))
			share_reserve(text->text);
		else if (!strcmp(text->name, "kernel"))
			share_subtract(text->text, true);
}

/* A part for the device, then one for each cgroup. */
static void share_add(struct plan_input *inputs)
{
	const struct device *device;
	struct plan_part *proof;
	struct share_cgroup *cgroup;
	size_t i;

	if (!hierarchy_open())
		exit(EXIT_FAILED);
	share_take_texts();
	device = &share.pool->device;
	proof = plan_add_part("Resources of %s for cgroups", device_text(device));
	for (cgroup = share.cgroups; cgroup < share.cgroups + share.nr_cgroups; cgroup++) {
		cgroup->part = plan_add_part("%s, weight %" PRIu64, cgroup->name, cgroup->weight);
		cgroup->part->cgroup = cgroup->name;
		cgroup->part->device = *device;
	}
	if (!plan_is_given(inputs, "kernel"))
		plan_add_note(proof,
			      "Nothing is subtracted for kernel users: give --kernel; see rdma resource show, rdmacg plan lnet.");
	for (i = 0; i < share.pool->nr_slots; i++)
		if (share_has(&share.pool->slots[i]))
			share_add_resource(proof, &share.pool->slots[i]);
	if (!proof->nr_values)
		plan_fail(device->name,
			  "no capacity of the device is known; give --capacity KEY=VALUE,...");
	plan_add_note(proof, "Resources without a known capacity have no limit.");
}

const struct plan_form share_form = {
	.name = "plan share",
	.help = "a device shared among cgroups",
	.doc = "Limits that share a device among cgroups, none of which is in another.",
	.args_doc = "DEVICE [CGROUP[:WEIGHT]...]", .inputs = share_inputs, .add = share_add,
};
