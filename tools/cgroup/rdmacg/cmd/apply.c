// SPDX-License-Identifier: GPL-2.0
/*
 * rdmacg apply: the limits of files.
 *
 * For each cgroup, what the files say is compared with what its files have, and only what
 * differs is written; in one cgroup that is all or nothing.
 */
#include "cmd/apply.h"
#include "core/core.h"
#include "write/transaction.h"

#define APPLY_FILES	(POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT))

/* A limit that is not as a rule says. */
struct apply_difference {
	const struct rule *rule;
	struct device device;
	char *key;
	uint64_t before;
	uint64_t after;
};

/* One cgroup. */
struct apply_work {
	struct apply *apply;
	struct cgroup *cgroup;
	const struct capacity *capacity;
	/* Those that are for it, in their order. */
	struct rule **rules;
	size_t nr_rules;
	/* The one of which errors are said. */
	struct rule *rule;
	struct transaction change;
	struct apply_difference *differences;
	size_t nr_differences;
};

static const struct argp_option apply_options[] = {
	{ "check", 'c', NULL, 0,
	  "only say what differs; the exit status is 3 if something does", 0 },
	{ "watch", 'w', NULL, 0, "stay, and apply again when a device or a cgroup comes", 0 },
	{ 0 }
};

static error_t apply_parse(int key, char *arg, struct argp_state *state)
{
	struct apply *apply = state->input;

	(void)arg;
	switch (key) {
	case 'c':
		apply->check = true;
		return 0;
	case 'w':
		apply->watch = true;
		return 0;
	case ARGP_KEY_ARGS:
		apply->files = state->argv + state->next;
		apply->nr_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (apply->check && apply->watch)
			options_fail("apply", "--check looks once, --watch stays");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp apply_argp = {
	.options = apply_options,
	.parser = apply_parse,
	.children = options_child,
	.args_doc = "[FILE...]",
	.doc =
		"Bring the limits of files into effect, by default of all /etc/rdmacg.d/*.conf. A file has sections [CGROUP] with lines DEVICE KEY=VALUE..., where CGROUP and DEVICE may be patterns; - is standard input.\vWhat is as a file says is not written again. If a file is malformed, nothing is changed. With --watch, SIGHUP reads the files again.",
};

/* Whether a later rule says otherwise for this key of the device. */
static bool apply_is_overruled(const struct apply_work *work, size_t number,
			       const struct device *device, const char *key)
{
	size_t i, j;

	for (i = number + 1; i < work->nr_rules; i++) {
		const struct limits *limits = &work->rules[i]->limits;

		if (!config_match_device(work->rules[i], device))
			continue;
		if (limits->whole)
			return true;
		for (j = 0; j < limits->nr_limits; j++)
			if (!strcmp(limits->limits[j].key, key))
				return true;
	}
	return false;
}

static void apply_add_difference(struct apply_work *work, const struct device *device,
				 const char *key, uint64_t before, uint64_t after)
{
	struct apply_difference *difference;

	work->differences = memory_grow(work->differences, work->nr_differences,
					sizeof(*difference));
	difference = &work->differences[work->nr_differences++];
	difference->rule = work->rule;
	device_copy(&difference->device, device);
	difference->key = memory_string(key);
	difference->before = before;
	difference->after = after;
}

/* The present limit of a key, or default. */
static uint64_t apply_before(const struct apply_work *work, const struct device *device,
			     const char *key)
{
	char *name = device->is_default ? limits_default_key(work->cgroup, key) : NULL;
	const struct slot *slot = pools_find_slot(&work->cgroup->pools, device, name ? name : key);

	free(name);
	return slot ? slot->max : NUMBER_MAX;
}

/* Whether the key can be limited at all; if not, limits_add() will say so. */
static bool apply_is_known(const struct apply_work *work, const struct device *device,
			   const char *key)
{
	const struct slot *slot = pools_find_slot(&work->cgroup->pools, device, key);

	return device->is_default || (slot && (slot->has & POOL_BIT(POOL_MAX)));
}

/* Put the keys of a rule that differ into @limits, whose keys are not its own. */
static bool apply_compare_keys(struct apply_work *work, size_t number, struct limits *limits)
{
	const struct limits *wanted = &work->rule->limits;
	size_t i;

	for (i = 0; i < wanted->nr_limits; i++) {
		const struct limit *limit = &wanted->limits[i];
		bool known = apply_is_known(work, &limits->device, limit->key);
		uint64_t before = apply_before(work, &limits->device, limit->key);
		struct limit *differing;
		uint64_t value = 0;

		if (apply_is_overruled(work, number, &limits->device, limit->key))
			continue;
		if (known && !limits_value(limits, limit, work->capacity, &value))
			return false;
		if (known && value == before)
			continue;
		limits->limits = memory_grow(limits->limits, limits->nr_limits,
					     sizeof(*differing));
		differing = &limits->limits[limits->nr_limits++];
		differing->key = limit->key;
		differing->value = value;
		apply_add_difference(work, &limits->device, limit->key, before, value);
	}
	return true;
}

/*
 * The same for all keys of a device: no limit, or what the cgroup has for devices without
 * their own. Of the latter no file says whether it is so by itself or by a limit of its
 * own, so what has the same value is left alone.
 */
static void apply_compare_whole(struct apply_work *work, size_t number, struct limits *limits)
{
	const struct pool *pool = pools_find(&work->cgroup->pools, &limits->device);
	bool back = *work->rule->limits.whole == 'd';
	size_t i;

	for (i = 0; pool && i < pool->nr_slots; i++) {
		const struct slot *slot = &pool->slots[i];
		uint64_t value = back ? apply_before(work, &device_default, slot->key) : NUMBER_MAX;
		struct limit *differing;

		if (!(slot->has & POOL_BIT(POOL_MAX)) || slot->max == value ||
		    apply_is_overruled(work, number, &limits->device, slot->key))
			continue;
		apply_add_difference(work, &limits->device, slot->key, slot->max, value);
		if (back) {
			limits->whole = "default";
			continue;
		}
		limits->limits = memory_grow(limits->limits, limits->nr_limits,
					     sizeof(*differing));
		differing = &limits->limits[limits->nr_limits++];
		differing->key = (char *)slot->key;
		differing->value = NUMBER_MAX;
	}
}

/* A rule and one device that it matches. */
static bool apply_device(struct apply_work *work, size_t number, const struct device *device)
{
	const struct device *pattern = &work->rule->limits.device;
	struct limits limits = { .device = *device };
	bool anew = device->is_default;
	bool good = true;

	work->rule->used = true;
	if (work->rule->limits.whole)
		apply_compare_whole(work, number, &limits);
	else
		good = apply_compare_keys(work, number, &limits);
	if (good && (limits.nr_limits || limits.whole)) {
		anew = anew || limits.whole;
		/* Where the name is unique, the files have no index; the kernel checks one. */
		if (pattern->has_index) {
			limits.device.has_index = true;
			limits.device.index = pattern->index;
		}
		good = limits_add(&limits, &work->change, work->cgroup, work->capacity) &&
		       transaction_apply(&work->change);
		/* What is by default may have changed with it. */
		if (good && anew && !work->change.dry_run)
			good = cgroup_read(work->cgroup, APPLY_FILES);
	}
	free(limits.limits);
	return good;
}

static bool apply_rule(struct apply_work *work, size_t number)
{
	const struct pools *pools = &work->cgroup->pools;
	bool good = true;
	size_t i;

	work->rule = work->rules[number];
	say_within(work->rule->where);
	if (work->rule->limits.device.is_default)
		good = apply_device(work, number, &device_default);
	else
		for (i = 0; i < pools->nr_pools && good; i++)
			if (config_match_device(work->rule, &pools->pools[i].device))
				good = apply_device(work, number, &pools->pools[i].device);
	return good;
}

static void apply_print_no_controller(const struct apply_work *work)
{
	const char *name = cgroup_name(work->cgroup);
	struct json_object *object;

	if (!options.json) {
		say_line("%s: has no RDMA controller, so there is no limit (%s)", name,
			 work->rule->where);
		return;
	}
	object = json_object_new_object();
	json_add(object, "cgroup", json_text(name));
	json_add(object, "controller", json_object_new_boolean(false));
	json_add(object, "where", json_text(work->rule->where));
	json_add(object, "done", json_object_new_boolean(false));
	json_print(stdout, object, options.pretty);
}

/* Have the cgroup counted. */
static bool apply_controller(struct apply_work *work)
{
	struct cgroup *cgroup = work->cgroup;

	if (cgroup_has_controller(cgroup))
		return true;
	work->rule = work->rules[0];
	say_within(work->rule->where);
	if (work->change.dry_run) {
		work->apply->differs = true;
		apply_print_no_controller(work);
		return false;
	}
	transaction_add_controller(&work->change, cgroup);
	if (!transaction_apply(&work->change))
		return false;
	if (!cgroup_has_controller(cgroup))
		say_error(cgroup_name(cgroup), "has no RDMA controller");
	return cgroup_has_controller(cgroup);
}

static void apply_print_json(const struct apply_work *work,
			     const struct apply_difference *difference)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "cgroup", json_text(cgroup_name(work->cgroup)));
	device_json(object, &difference->device);
	json_add(object, "resource", json_text(difference->key));
	json_add(object, "before", json_limit(difference->before));
	json_add(object, "limit", json_limit(difference->after));
	json_add(object, "where", json_text(difference->rule->where));
	json_add(object, "done", json_object_new_boolean(!work->apply->check));
	json_print(stdout, object, options.pretty);
}

static void apply_print(struct apply_work *work, const struct apply_difference *difference)
{
	char before[NUMBER_SIZE], after[NUMBER_SIZE];
	char *device;

	work->apply->differs = true;
	if (options.json) {
		apply_print_json(work, difference);
		return;
	}
	device = device_format(&difference->device);
	number_format(before, difference->before, false);
	number_format(after, difference->after, false);
	say_line("%s: %s on %s %s %s, %s %s (%s)", cgroup_name(work->cgroup), difference->key,
		 device, work->apply->check ? "is" : "was", before,
		 work->apply->check ? "to be" : "is now", after, difference->rule->where);
	free(device);
}

/* All rules, and the undoing of all if one is refused. */
static bool apply_rules(struct apply_work *work)
{
	size_t i;

	if (!apply_controller(work) || !cgroup_read(work->cgroup, APPLY_FILES))
		return false;
	for (i = 0; i < work->nr_rules; i++) {
		if (!apply_rule(work, i)) {
			transaction_undo(&work->change);
			return false;
		}
	}
	return true;
}

/*
 * Say the errors of a cgroup, unless it is gone, which explains them; and those of a line
 * once, for as long as this runs there may be no end of cgroups that it cannot be set in.
 */
static void apply_say_errors(struct apply_work *work, char *errors, bool good)
{
	bool gone = !file_exists(work->cgroup->dir, "cgroup.procs");
	bool said = work->apply->watch && work->rule && work->rule->failed;

	/* With --check, what differs is no error. */
	if (!good && !gone && !said && *errors) {
		work->apply->failed = true;
		fputs(errors, stderr);
		if (work->rule)
			work->rule->failed = true;
	} else if (good) {
		fputs(errors, stderr);
	}
}

static void apply_do(struct apply_work *work)
{
	char *errors = NULL;
	size_t size, i;
	FILE *to = open_memstream(&errors, &size);
	bool good;

	say_errors_to(to);
	good = apply_rules(work);
	say_within(NULL);
	say_errors_to(NULL);
	for (i = 0; i < work->nr_differences && good; i++)
		apply_print(work, &work->differences[i]);
	if (to)
		fclose(to);
	if (errors)
		apply_say_errors(work, errors, good);
	free(errors);
	for (i = 0; i < work->nr_differences; i++) {
		device_free(&work->differences[i].device);
		free(work->differences[i].key);
	}
	free(work->differences);
	transaction_free(&work->change);
}

struct apply_walk {
	struct apply *apply;
	struct capacity capacity;
};

static bool apply_visit(struct cgroup *cgroup, void *data)
{
	struct apply_walk *walk = data;
	struct apply *apply = walk->apply;
	struct apply_work work = {
		.apply = apply,
		.cgroup = cgroup,
		.capacity = &walk->capacity,
		.change = { .dry_run = apply->check, .quiet = true },
	};
	size_t i;

	cgroup->leave_below = true;
	for (i = 0; i < apply->config.nr_rules; i++) {
		struct rule *rule = &apply->config.rules[i];

		switch (config_match_cgroup(rule, cgroup->name)) {
		case CONFIG_SELF:
			work.rules = memory_grow(work.rules, work.nr_rules, sizeof(*work.rules));
			work.rules[work.nr_rules++] = rule;
			rule->met = true;
			break;
		case CONFIG_BELOW:
			cgroup->leave_below = false;
			break;
		case CONFIG_NONE:
			break;
		}
	}
	/* Before its children are looked at, so that none is missed. */
	if (apply->hotplug && !cgroup->leave_below)
		hotplug_add(apply->hotplug, cgroup);
	if (work.nr_rules)
		apply_do(&work);
	free(work.rules);
	return true;
}

void apply_below(struct apply *apply, const char *name)
{
	struct cgroup *cgroup = cgroup_find(&apply->hierarchy, name);
	struct apply_walk walk = { .apply = apply };

	if (!cgroup) {
		if (file_is_gone(errno))
			return;
		say_error(*name ? name : "/", "%s", strerror(errno));
		apply->failed = true;
		return;
	}
	capacity_read(&walk.capacity, &apply->hierarchy);
	if (!cgroup_walk_names(cgroup, apply_visit, &walk))
		apply->failed = true;
	capacity_free(&walk.capacity);
	cgroup_close_path(cgroup);
}

/* Nothing is wrong with a line for a later device; but it may be a name with a mistake. */
static void apply_say_unused(struct apply *apply)
{
	size_t i;

	for (i = 0; i < apply->config.nr_rules; i++) {
		const struct rule *rule = &apply->config.rules[i];

		if (rule->used || rule->failed)
			continue;
		apply->differs = true;
		if (rule->met)
			say_warning(rule->where, "there is no device %s now",
				    rule->limits.device.name);
		else
			say_warning(rule->where, "no cgroup matches this section now");
	}
}

static int apply_once(struct apply *apply)
{
	apply_below(apply, "");
	apply_say_unused(apply);
	if (apply->failed)
		return EXIT_FAILED;
	return apply->check && apply->differs ? EXIT_DIFFERS : EXIT_DONE;
}

int cmd_apply(int argc, char **argv)
{
	struct apply apply = { 0 };
	int status = EXIT_FAILED;

	options_parse(&apply_argp, 0, argc, argv, &apply);
	if (!config_read(&apply.config, apply.files, apply.nr_files))
		return EXIT_FAILED;
	if (hierarchy_open(&apply.hierarchy)) {
		if (!apply.watch)
			status = apply_once(&apply);
		else if (apply_watch(&apply))
			status = EXIT_DONE;
		hierarchy_close(&apply.hierarchy);
	}
	config_free(&apply.config);
	return status;
}
