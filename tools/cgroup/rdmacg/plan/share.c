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

struct share {
	struct device device;
	struct share_cgroup *cgroups;
	size_t nr_cgroups;
	__int128 weights;	/* of all cgroups */
	/* Subtracted before the rest is shared; a key may be in a list several times. */
	struct limits kernel, reserve;
	bool has_kernel;
	uint64_t percent;	/* of every resource, in thousandths of a percent */
	uint64_t over;		/* in thousandths; 0 without --oversubscribe */
};

static const struct plan_input share_inputs[] = {
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

/* "KEY=VALUE,KEY=VALUE" of the device. Percentages are of its capacity. */
static void share_parse_limits(const struct share *share, struct limits *limits, const char *text,
			       bool may_be_percent)
{
	const struct device *device = &share->device;
	char *option = device->has_index ?
		memory_format("%s:index=%u,%s", device->name, device->index, text) :
		memory_format("%s:%s", device->name, text);
	size_t i;

	if (!limits_parse_option(limits, option))
		exit(EXIT_USAGE);
	free(option);
	if (limits->whole)
		options_fail(text, "write KEY=VALUE[,KEY=VALUE]...");
	for (i = 0; i < limits->nr_limits; i++) {
		if (limits->limits[i].percent && !may_be_percent)
			options_fail(text, "only --reserve can be a percentage");
	}
}

/* The capacity of the device, by --capacity or by rdma.capacity. */
static const struct pool *share_read_capacity(const struct share *share, const char *given)
{
	const struct pool *pool;
	struct limits limits;
	size_t i;

	if (given) {
		share_parse_limits(share, &limits, given, false);
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
	pool = limits_find_pool(&share->device, &capacity.pools);
	if (!pool)
		exit(EXIT_FAILED);
	return pool;
}

/* Whether the capacity is known, so that it can be shared. */
static bool share_has(const struct slot *slot)
{
	return slot && slot->max && slot->max != NUMBER_MAX;
}

/* --- one resource --- */

/* The sum of a resource's amounts, or of its percentages in thousandths. */
static __int128 share_sum(const struct limits *limits, const char *key, bool percent)
{
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		if (!strcmp(limits->limits[i].key, key) && limits->limits[i].percent == percent)
			sum += limits->limits[i].value;
	return min(sum, UINT64_MAX);
}

/* The rest of the resource, for cgroups. */
static __int128 share_add_available(const struct share *share, struct plan_part *part,
				    const struct slot *slot)
{
	PLAN_NAME(part, capacity, slot->max);
	PLAN_NAME(part, kernel, share_sum(&share->kernel, slot->key, false));
	PLAN_NAME(part, fixed, share_sum(&share->reserve, slot->key, false));
	PLAN_NAME(part, percent, share->percent + share_sum(&share->reserve, slot->key, true));
	PLAN_STEP(part, reserve, fixed + capacity * percent / 100000,
		  "--reserve: amounts, and thousandths of a percent of the capacity");
	PLAN_STEP(part, available, capacity - kernel - reserve,
		  "rdma.capacity, less --kernel, less --reserve");
	PLAN_OF_KEY(part, FIGURE, slot->key, available, "is shared");
	return available;
}

static __int128 share_add_limit(const struct share *share, const struct share_cgroup *cgroup,
				const char *key, uint64_t left)
{
	struct plan_part *part = cgroup->part;

	PLAN_NAME(part, available, left);
	PLAN_NAME(part, weight, cgroup->weight);
	PLAN_NAME(part, weights, share->weights);
	PLAN_NAME(part, over, share->over);

	if (!over)
		return PLAN_OF_KEY(part, LIMIT, key, available * weight / weights,
				   "by weight, rounded down");
	return PLAN_OF_KEY(part, LIMIT, key,
			   min(available, available * weight / weights * over / 1000),
			   "by weight, times --oversubscribe in thousandths; no cgroup can have more than is available");
}

/* Add up the limits: the sum does not exceed the capacity, or print the risk of --oversubscribe. */
static void share_add_resource(const struct share *share, struct plan_part *proof,
			       const struct slot *slot)
{
	uint64_t available = share_add_available(share, proof, slot);
	__int128 limits = 0;
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++) {
		const struct share_cgroup *cgroup = &share->cgroups[i];
		__int128 limit = share_add_limit(share, cgroup, slot->key, available);

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

/* --- the plan --- */

/* Only a resource with a known capacity can be kept back. */
static void share_check_known(const struct limits *limits, const struct pool *pool)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		if (!share_has(pool_find(pool, limits->limits[i].key)))
			plan_fail(limits->limits[i].key,
				  "its capacity is not known; leave it out");
}

/* A part for the device, then one for each cgroup. */
static void share_plan(struct plan *plan, struct share *share, const struct pool *pool)
{
	char *name = device_format(&pool->device);
	struct plan_part *proof = plan_add_part(plan, "Resources of %s for cgroups", name);
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++) {
		struct share_cgroup *cgroup = &share->cgroups[i];

		cgroup->part = plan_add_part(plan, "%s, weight %" PRIu64, cgroup->name,
					     cgroup->weight);
		cgroup->part->cgroup = memory_string(cgroup->name);
		cgroup->part->device = memory_string(name);
		share->weights += cgroup->weight;
	}
	free(name);
	share_check_known(&share->kernel, pool);
	share_check_known(&share->reserve, pool);
	if (!share->has_kernel)
		plan_add_note(proof,
			      "Nothing is subtracted for kernel users: give --kernel; see rdma resource show, rdmacg plan lnet.");
	for (i = 0; i < pool->nr_slots; i++)
		if (share_has(&pool->slots[i]))
			share_add_resource(share, proof, &pool->slots[i]);
	if (!proof->nr_values)
		plan_fail(share->device.name,
			  "no capacity of the device is known; give --capacity KEY=VALUE,...");
	plan_add_note(proof, "Resources without a known capacity have no limit.");
}

/* --- the command line --- */

/* "CGROUP:WEIGHT": the weight is behind the last colon, in digits that no name ends with. */
static void share_add_cgroup(struct share *share, const char *word)
{
	char *path __autofree = memory_string(word);
	const char *colon = strrchr(word, ':');
	bool has_weight = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] &&
			  !file_exists(hierarchy.dir, word);
	struct share_cgroup *cgroup;

	if (share->nr_cgroups == SHARE_CGROUPS_MAX)
		options_fail(word, "is a cgroup too many; give a parent of them");
	cgroup = memory_append(&share->cgroups, &share->nr_cgroups, sizeof(*cgroup));
	cgroup->weight = 1;
	if (has_weight && (!number_parse(colon + 1, strlen(colon + 1), &cgroup->weight) ||
			   !cgroup->weight || cgroup->weight > SHARE_WEIGHT_MAX))
		options_fail(word, "a weight is 1 to %d", SHARE_WEIGHT_MAX);
	if (has_weight)
		path[colon - word] = '\0';
	cgroup->name = hierarchy_resolve(path);
	if (!cgroup->name)
		exit(EXIT_FAILED);
	if (!*cgroup->name)
		plan_fail("/", "the root has no limits; its devices are the limit");
}

static void share_add_take(const struct share *share, struct limits *to, const char *text,
			   bool may_be_percent)
{
	struct limits more;
	size_t i;

	share_parse_limits(share, &more, text, may_be_percent);
	for (i = 0; i < more.nr_limits; i++)
		*(struct limit *)memory_append(&to->limits, &to->nr_limits, sizeof(*to->limits)) =
			more.limits[i];
	more.nr_limits = 0;
	limits_free(&more);
}

static void share_add_reserve(struct share *share, const char *text)
{
	size_t length = strlen(text);
	uint64_t percent;

	if (strchr(text, '=')) {
		share_add_take(share, &share->reserve, text, true);
		return;
	}
	if (!length || text[length - 1] != '%' ||
	    !number_parse_thousandths(text, length - 1, &percent) || percent > 100000)
		options_fail(text, "--reserve is KEY=VALUE[,KEY=VALUE]... or 0%% to 100%%");
	share->percent += percent;
}

/* The first word is the device; --kernel and --reserve need its name. */
static void share_take_texts(struct share *share, const struct plan_args *args)
{
	const char *over = plan_text(args, "oversubscribe");
	size_t i;

	for (i = 0; i < args->nr_texts; i++) {
		const struct plan_text *text = &args->texts[i];

		if (!*text->name && !share->device.name)
			plan_parse_device(&share->device, text->text);
		else if (!*text->name || !strcmp(text->name, "among"))
			share_add_cgroup(share, text->text);
	}
	if (!share->device.name || !share->nr_cgroups)
		options_fail(args->form->name, "a DEVICE and a CGROUP are needed");
	for (i = 0; i < args->nr_texts; i++) {
		const struct plan_text *text = &args->texts[i];

		if (!strcmp(text->name, "reserve"))
			share_add_reserve(share, text->text);
		if (!strcmp(text->name, "kernel"))
			share_add_take(share, &share->kernel, text->text, false);
	}
	share->has_kernel = plan_is_given(args, "kernel");
	if (over && (!number_parse_thousandths(over, strlen(over), &share->over) ||
		     share->over < 1000 || share->over > PLAN_MOST))
		options_fail(over, "--oversubscribe is a number from 1 on, such as 1.5");
}

/* The limit of a cgroup and the limit of its ancestor do not add up. */
static void share_check_nested(const struct share *share)
{
	size_t i, j;

	for (i = 0; i < share->nr_cgroups; i++) {
		const char *name = share->cgroups[i].name;
		size_t length = strlen(name);

		for (j = 0; j < share->nr_cgroups; j++) {
			const char *other = share->cgroups[j].name;

			if (i != j && !strncmp(name, other, length) &&
			    (!other[length] || other[length] == '/'))
				options_fail(other,
					     "is in %s; give cgroups of which none is in another",
					     name);
		}
	}
}

static void share_free(struct share *share)
{
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++)
		free(share->cgroups[i].name);
	limits_free(&share->kernel);
	limits_free(&share->reserve);
	free(share->cgroups);
	device_free(&share->device);
}

static void share_add(struct plan *plan, struct plan_args *args)
{
	struct share share = { 0 };

	if (!hierarchy_open())
		exit(EXIT_FAILED);
	share_take_texts(&share, args);
	share_check_nested(&share);
	share_plan(plan, &share, share_read_capacity(&share, plan_text(args, "capacity")));
	share_free(&share);
}

static const struct plan_form share_form = {
	.name = "plan share",
	.doc = "Limits that share a device among cgroups, none of which is in another.",
	.args_doc = "DEVICE [CGROUP[:WEIGHT]...]", .inputs = share_inputs, .add = share_add,
};

int plan_share(int argc, char **argv)
{
	return plan_run(&share_form, argc, argv);
}
