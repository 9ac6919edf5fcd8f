// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg plan share: a device shared among cgroups. Of each resource that the device states
 * an amount of (rdma.capacity at the root), what kernel users hold and what is kept back go
 * off, and the cgroups get the rest by weight, rounded down. The limits are added up again,
 * and have to fit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capacity.h"
#include "lib/memory.h"
#include "lib/message.h"
#include "lib/number.h"
#include "lib/options.h"
#include "lib/rdmacg.h"
#include "plan/plan.h"
#include "write/limits.h"

/* As for cgroup v2's weights. */
#define SHARE_WEIGHT_MAX	10000
/* With these, no product of a resource and the weights overflows. */
#define SHARE_CGROUPS_MAX	((size_t)1 << 16)

struct share_cgroup {
	const char *word;
	char *name;
	uint64_t weight;
	uint64_t limit;		/* of the resource that is looked at */
};

/* What goes off before the rest is shared: --kernel or --reserve. */
struct share_take {
	const char *text;
	bool is_kernel;
	struct limits limits;
	uint64_t percent;	/* of every resource, in thousandths of a percent */
};

struct share {
	struct plan_args args;
	struct device device;
	const char *capacity;	/* instead of rdma.capacity */
	struct share_cgroup *cgroups;
	size_t nr_cgroups;
	struct share_take *takes;
	size_t nr_takes;
	uint64_t over;		/* in thousandths; 0 without --oversubscribe */
};

/* --- the device --- */

/* "KEY=VALUE,KEY=VALUE" of the device. Percentages are of what it has. */
static void share_parse_limits(const struct share *share, struct limits *limits, const char *text,
			       bool may_be_percent)
{
	bool has_index = share->device.has_index;
	char index[NUMBER_SIZE] = "";
	char *option;
	size_t i;

	if (has_index)
		snprintf(index, sizeof(index), "index=%u,", share->device.index);
	option = memory_format("%s:%s%s", share->device.name, index, text);
	if (!limits_parse_option(limits, option))
		exit(EXIT_USAGE);
	free(option);
	if (limits->whole)
		options_fail(text, "write KEY=VALUE[,KEY=VALUE]...");
	for (i = 0; i < limits->nr_limits; i++) {
		if (limits->limits[i].percent && !may_be_percent)
			options_fail(text, "only what is kept back can be a percentage");
	}
}

/* --capacity, as rdma.capacity would have it. */
static void share_parse_capacity(const struct share *share, struct capacity *capacity)
{
	struct limits limits;
	size_t i;

	memset(capacity, 0, sizeof(*capacity));
	share_parse_limits(share, &limits, share->capacity, false);
	for (i = 0; i < limits.nr_limits; i++)
		pools_get_slot(&capacity->pools, &limits.device, limits.limits[i].key)->max =
			limits.limits[i].value;
	limits_free(&limits);
}

static const struct pool *share_read_capacity(const struct share *share,
					      const struct hierarchy *hierarchy,
					      struct capacity *capacity)
{
	if (share->capacity) {
		share_parse_capacity(share, capacity);
	} else {
		capacity_read(capacity, hierarchy);
		if (!capacity->has_file) {
			say_error("rdma.capacity",
				  "the kernel has no such file, so give --capacity KEY=VALUE,...");
			return NULL;
		}
	}
	return limits_find_pool(&share->device, &capacity->pools);
}

/* --- one resource --- */

static const struct plan_row share_rows[] = {
	{ "reserve", PLAN_STEP, "fixed + capacity * percent / 100000",
	  "--reserve: amounts, and thousandths of a percent of the capacity" },
	{ "available", PLAN_STEP, "capacity - kernel - reserve",
	  "rdma.capacity, less --kernel, less --reserve" },
};

static const struct plan_row share_limit_row = {
	NULL, PLAN_LIMIT, "available * weight / weights", "by weight, rounded down"
};

static const struct plan_row share_over_row = {
	NULL, PLAN_LIMIT, "min(available, available * weight / weights * over / 1000)",
	"by weight, times --oversubscribe in thousandths; nobody can have more than there is"
};

/* Nothing is left of a resource anyway where the sum does not fit. */
static void share_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* What goes off of one key: to *@fixed or *@percent. */
static void share_add_take(const struct share_take *take, const char *key, uint64_t *fixed,
			   uint64_t *percent)
{
	size_t i;

	share_add(percent, take->percent);
	for (i = 0; i < take->limits.nr_limits; i++) {
		const struct limit *limit = &take->limits.limits[i];

		if (!strcmp(limit->key, key))
			share_add(limit->percent ? percent : fixed, limit->value);
	}
}

/* capacity, kernel, fixed and percent of the resource. */
static void share_set_amounts(const struct share *share, const struct slot *slot,
			      struct plan_vars *vars)
{
	uint64_t kernel = 0, fixed = 0, percent = 0;
	size_t i;

	for (i = 0; i < share->nr_takes; i++) {
		const struct share_take *take = &share->takes[i];

		share_add_take(take, slot->key, take->is_kernel ? &kernel : &fixed, &percent);
	}
	plan_set(vars, "capacity", slot->max);
	plan_set(vars, "kernel", kernel);
	plan_set(vars, "fixed", fixed);
	plan_set(vars, "percent", percent);
}

/* The limit of one cgroup. */
static bool share_add_limit(const struct plan *plan, const struct share *share,
			    struct share_cgroup *cgroup, struct plan_part *part, const char *key,
			    const struct plan_vars *vars)
{
	struct plan_row row = share->over ? share_over_row : share_limit_row;
	struct plan_vars mine = *vars;

	row.key = key;
	plan_set(&mine, "weight", cgroup->weight);
	plan_set(&mine, "over", share->over);
	if (!plan_add_rows(plan, part, &mine, &row, 1))
		return false;
	cgroup->limit = plan_get(&mine, key);
	return true;
}

static int share_compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a;
	uint64_t two = *(const uint64_t *)b;

	return one < two ? 1 : one > two ? -1 : 0;
}

/* How many of the largest limits fit at the same time. */
static size_t share_count_fitting(const struct share *share, uint64_t available)
{
	uint64_t *limits = memory_zeroed(share->nr_cgroups, sizeof(*limits));
	size_t count;

	for (count = 0; count < share->nr_cgroups; count++)
		limits[count] = share->cgroups[count].limit;
	qsort(limits, share->nr_cgroups, sizeof(*limits), share_compare);
	for (count = 0; count < share->nr_cgroups && limits[count] <= available; count++)
		available -= limits[count];
	free(limits);
	return count;
}

/* Add the limits up: they fit, or --oversubscribe was given and the risk is said. */
static bool share_prove(const struct share *share, struct plan_part *proof, const char *key,
			uint64_t available)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++) {
		if (__builtin_add_overflow(sum, share->cgroups[i].limit, &sum)) {
			say_error(key,
				  "the sum of the limits does not fit in 64 bits; give a smaller --oversubscribe");
			return false;
		}
		if (!share->cgroups[i].limit)
			plan_add_note(proof,
				      "%s: nothing is left for %s; a limit of 0 refuses all.",
				      key, share->cgroups[i].name);
	}
	if (sum <= available)
		plan_add_note(proof,
			      "%s: the limits add up to %" PRIu64 " of %" PRIu64
			      " available; %" PRIu64 " are left over.",
			      key, sum, available, available - sum);
	else if (share->over)
		plan_add_note(proof,
			      "%s: RISK: the limits add up to %" PRIu64 " of %" PRIu64
			      " available; with %zu of %zu cgroups at their limits the device is exhausted, and refuses others below theirs.",
			      key, sum, available, share_count_fitting(share, available) + 1,
			      share->nr_cgroups);
	else
		say_error(key,
			  "the limits add up to more than there is, which is a bug of rdmacg; report it");
	return sum <= available || share->over;
}

static bool share_add_resource(struct plan *plan, struct share *share, struct plan_part *proof,
			       const struct slot *slot)
{
	struct plan_row row = { slot->key, PLAN_FIGURE, "available", "what is shared" };
	struct plan_vars vars = { .count = 0 };
	uint64_t weights = 0;
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++)
		weights += share->cgroups[i].weight;
	share_set_amounts(share, slot, &vars);
	if (!plan_add_rows(plan, proof, &vars, share_rows, ARRAY_SIZE(share_rows)) ||
	    !plan_add_rows(plan, proof, &vars, &row, 1))
		return false;
	plan_set(&vars, "weights", weights);
	for (i = 0; i < share->nr_cgroups; i++) {
		if (!share_add_limit(plan, share, &share->cgroups[i], plan->parts[i + 1],
				     slot->key, &vars))
			return false;
	}
	return share_prove(share, proof, slot->key, plan_get(&vars, "available"));
}

/* --- the plan --- */

/* A part for the device, then one for each cgroup. */
static struct plan_part *share_add_parts(struct plan *plan, const struct share *share,
					 const struct device *device)
{
	char *name = device_format(device);
	struct plan_part *proof = plan_add_part(plan, "What %s has for cgroups", name);
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++) {
		const struct share_cgroup *cgroup = &share->cgroups[i];
		struct plan_part *part = plan_add_part(plan, "%s, weight %" PRIu64, cgroup->name,
						       cgroup->weight);

		part->cgroup = memory_string(cgroup->name);
		part->device = memory_string(name);
	}
	free(name);
	return proof;
}

/* What is known of a resource, so that it can be shared. */
static bool share_has(const struct slot *slot)
{
	return slot && slot->max && slot->max != NUMBER_MAX;
}

/* What goes off has to be of something that the device has. */
static bool share_check_takes(const struct share *share, const struct pool *pool)
{
	size_t i, j;

	for (i = 0; i < share->nr_takes; i++) {
		const struct limits *limits = &share->takes[i].limits;

		for (j = 0; j < limits->nr_limits; j++) {
			if (share_has(pool_find(pool, limits->limits[j].key)))
				continue;
			say_error(limits->limits[j].key,
				  "the device states no amount of it; leave it out");
			return false;
		}
	}
	return true;
}

static bool share_has_kernel(const struct share *share)
{
	size_t i;

	for (i = 0; i < share->nr_takes; i++) {
		if (share->takes[i].is_kernel)
			return true;
	}
	return false;
}

static bool share_plan(struct plan *plan, struct share *share, const struct pool *pool)
{
	struct plan_part *proof = share_add_parts(plan, share, &pool->device);
	bool has_any = false;
	size_t i;

	if (!share_check_takes(share, pool))
		return false;
	for (i = 0; i < pool->nr_slots; i++) {
		if (!share_has(&pool->slots[i]))
			continue;
		if (!share_add_resource(plan, share, proof, &pool->slots[i]))
			return false;
		has_any = true;
	}
	if (!has_any)
		say_error(share->device.name,
			  "the device states no amount of anything, so there is nothing to share; give --capacity KEY=VALUE,...");
	plan_add_note(proof, "What the device states no amount of has no limit.");
	if (!share_has_kernel(share))
		plan_add_note(proof,
			      "Nothing was taken off for kernel users: give --kernel; see rdma resource show, rdmacg plan lnet.");
	return has_any;
}

/* --- the cgroups --- */

/* "CGROUP:WEIGHT": what is behind the last colon, if it is digits. */
static bool share_find_cgroup(const struct hierarchy *hierarchy, struct share_cgroup *cgroup)
{
	const char *colon = strrchr(cgroup->word, ':');
	bool has_weight = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
	size_t length = has_weight ? (size_t)(colon - cgroup->word) : strlen(cgroup->word);
	char *word = memory_format("%.*s", (int)length, cgroup->word);

	cgroup->weight = 1;
	if (has_weight && (!number_parse(colon + 1, strlen(colon + 1), &cgroup->weight) ||
			   !cgroup->weight || cgroup->weight > SHARE_WEIGHT_MAX))
		options_fail(cgroup->word, "a weight is 1 to %d", SHARE_WEIGHT_MAX);
	plan_check_cgroup(word);
	cgroup->name = hierarchy_resolve(hierarchy, word);
	if (cgroup->name && !*cgroup->name)
		say_error("/", "the root has no limits; its devices are the limit");
	free(word);
	return cgroup->name && *cgroup->name;
}

/* A limit of a cgroup and one of its ancestor do not add up. */
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

static bool share_find_cgroups(struct share *share, const struct hierarchy *hierarchy)
{
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++) {
		if (!share_find_cgroup(hierarchy, &share->cgroups[i]))
			return false;
	}
	share_check_nested(share);
	return true;
}

static bool share_run(struct share *share)
{
	struct plan plan = { .form = share->args.form };
	struct hierarchy hierarchy;
	struct capacity capacity;
	const struct pool *pool;
	bool done = false;

	if (!hierarchy_open(&hierarchy))
		return false;
	if (share_find_cgroups(share, &hierarchy)) {
		pool = share_read_capacity(share, &hierarchy, &capacity);
		done = pool && share_plan(&plan, share, pool);
		if (done)
			plan_print(&plan, &share->args);
		capacity_free(&capacity);
	}
	plan_free(&plan);
	hierarchy_close(&hierarchy);
	return done;
}

/* --- the command line --- */

enum share_key { SHARE_KEY_AMONG = OPTIONS_KEY, SHARE_KEY_RESERVE, SHARE_KEY_KERNEL,
		 SHARE_KEY_CAPACITY, SHARE_KEY_OVER };

static const struct argp_option share_options[] = {
	{ "among", SHARE_KEY_AMONG, "CGROUP[:WEIGHT]", 0,
	  "a cgroup that gets a share; words behind DEVICE are more of them", 10 },
	{ "reserve", SHARE_KEY_RESERVE, "KEY=VALUE[,...]|P%", 0,
	  "what to keep back; a percentage is of the capacity", 10 },
	{ "kernel", SHARE_KEY_KERNEL, "KEY=VALUE[,...]", 0, "what kernel users hold", 10 },
	{ "capacity", SHARE_KEY_CAPACITY, "KEY=VALUE[,...]", 0,
	  "what the device has, instead of rdma.capacity", 10 },
	{ "oversubscribe", SHARE_KEY_OVER, "R", 0,
	  "give R times what there is, such as 1.5; says the risk", 10 },
	{ 0 }
};

static void share_add_cgroup(struct share *share, const char *word)
{
	if (share->nr_cgroups == SHARE_CGROUPS_MAX)
		options_fail(word, "is one cgroup too many; give a parent of them");
	share->cgroups = memory_grow(share->cgroups, share->nr_cgroups, sizeof(*share->cgroups));
	share->cgroups[share->nr_cgroups++].word = word;
}

static void share_add_option(struct share *share, const char *text, bool is_kernel)
{
	struct share_take *take;

	share->takes = memory_grow(share->takes, share->nr_takes, sizeof(*share->takes));
	take = &share->takes[share->nr_takes++];
	take->text = text;
	take->is_kernel = is_kernel;
}

/* The device has to be known for this. */
static void share_parse_takes(struct share *share)
{
	size_t i;

	for (i = 0; i < share->nr_takes; i++) {
		struct share_take *take = &share->takes[i];
		size_t length = strlen(take->text);

		if (take->is_kernel || strchr(take->text, '='))
			share_parse_limits(share, &take->limits, take->text, !take->is_kernel);
		else if (!length || take->text[length - 1] != '%' ||
			 !number_parse_thousandths(take->text, length - 1, &take->percent) ||
			 take->percent > 100000)
			options_fail(take->text,
				     "--reserve is KEY=VALUE[,KEY=VALUE]... or 0%% to 100%%");
	}
}

static error_t share_parse(int key, char *arg, struct argp_state *state)
{
	struct share *share = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num)
			share_add_cgroup(share, arg);
		else
			plan_parse_device(&share->device, arg);
		return 0;
	case SHARE_KEY_AMONG:
		share_add_cgroup(share, arg);
		return 0;
	case SHARE_KEY_RESERVE:
	case SHARE_KEY_KERNEL:
		share_add_option(share, arg, key == SHARE_KEY_KERNEL);
		return 0;
	case SHARE_KEY_CAPACITY:
		share->capacity = arg;
		return 0;
	case SHARE_KEY_OVER:
		if (!number_parse_thousandths(arg, strlen(arg), &share->over) || share->over < 1000)
			options_fail(arg, "--oversubscribe is a number from 1 on, such as 1.5");
		return 0;
	case ARGP_KEY_END:
		if (!share->device.name || !share->nr_cgroups)
			options_fail(share->args.form, "a DEVICE and a CGROUP are needed");
		share_parse_takes(share);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void share_free(struct share *share)
{
	size_t i;

	for (i = 0; i < share->nr_cgroups; i++)
		free(share->cgroups[i].name);
	for (i = 0; i < share->nr_takes; i++)
		limits_free(&share->takes[i].limits);
	free(share->cgroups);
	free(share->takes);
	device_free(&share->device);
	plan_free_args(&share->args);
}

bool plan_share(int argc, char **argv)
{
	static const struct argp own = { .options = share_options, .parser = share_parse };
	struct share share = {
		.args = {
			.form = "plan share", .args_doc = "DEVICE [CGROUP[:WEIGHT]...]",
			.doc =
			"Limits that share a device among cgroups, none of which is in another.",
			.own = &own, .own_input = &share,
		},
	};
	bool done;

	plan_parse(&share.args, argc, argv);
	done = share_run(&share);
	share_free(&share);
	return done;
}
