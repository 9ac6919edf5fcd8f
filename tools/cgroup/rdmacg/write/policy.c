// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the limits that a user requests, if the administrator allows them. */
#include "write/write.h"

/* Tries to set limits while the tenant of another network namespace renames a device. */
#define POLICY_TRIES 10

/* A limit for a device and a key. Without a rule, the value is NUMBER_MAX. */
struct policy_limit {
	const struct rule *rule;
	uint64_t value;
};

/* Whether the rule comes from a user, not from the administrator. */
static bool policy_is_request(const struct rule *rule)
{
	return !strcmp(rule->section, POLICY_ASKED) ||
	       !strncmp(rule->section, POLICY_SHARE, strlen(POLICY_SHARE));
}

bool policy_read(struct config *config, const char *place)
{
	char *files[2] = { (char *)place };
	size_t i = config->nr_rules;

	config->by_key = true;
	if (!config_read(config, files))
		return false;
	for (; i < config->nr_rules; i++) {
		const struct rule *rule = &config->rules[i];

		if (strcmp(rule->section, POLICY_DEFAULT) && strcmp(rule->section, POLICY_CEILING))
			return say_error(rule->where, "its section is neither [" POLICY_DEFAULT
					 "] nor [" POLICY_CEILING "]");
	}
	return true;
}

static struct policy_limit policy_look_up(const struct policy *policy, const char *section,
					  const struct device *device, const char *key)
{
	const struct rule *rule = config_look_up(&policy->config, section, device, key);
	struct policy_limit found = { rule, NUMBER_MAX };

	say_place = rule ? rule->where : NULL;
	if (rule && !limits_value(device, limits_find(&rule->limits, key), &found.value))
		exit(EXIT_FAILED);
	say_place = NULL;
	return found;
}

/*
 * Find the ceiling of a device. A new device may have any name, so the ceiling of rdma.default is
 * the lowest ceiling of the key. A percentage has no number before the device exists, so such a
 * ceiling refuses a request for rdma.default, and does not bound the administrator's default.
 */
static struct policy_limit policy_look_up_ceiling(const struct policy *policy,
						  const struct device *device, const char *key,
						  bool is_asked)
{
	struct policy_limit ceiling = { .value = NUMBER_MAX };
	const struct rule *rule = policy->config.rules;

	if (!device->is_default)
		return policy_look_up(policy, POLICY_CEILING, device, key);
	for (; rule < policy->config.rules + policy->config.nr_rules; rule++) {
		const struct limit *limit = limits_find(&rule->limits, key);

		if (!limit || strcmp(rule->section, POLICY_CEILING))
			continue;
		if (limit->percent && is_asked)
			say_failure(rule->where,
				    "%s is a percentage, so no request can be for all devices; ask for each device",
				    key);
		if (!limit->percent && (!ceiling.rule || limit->value < ceiling.value))
			ceiling = (struct policy_limit){ rule, limit->value };
	}
	return ceiling;
}

/* The lowest share. Each writer has a section, and its rules are adjacent. */
static uint64_t policy_look_up_share(const struct policy *policy, const struct device *device,
				     const char *key)
{
	const struct rule *rule = policy->config.rules, *end = rule + policy->config.nr_rules;
	uint64_t lowest = NUMBER_MAX;
	const char *section = "";

	for (; rule < end; rule++) {
		if (!strcmp(rule->section, section) ||
		    strncmp(rule->section, POLICY_SHARE, strlen(POLICY_SHARE)))
			continue;
		section = rule->section;
		lowest = min(lowest, policy_look_up(policy, section, device, key).value);
	}
	return lowest;
}

/* What policy_decide() knows about a key of a device. */
struct policy_case {
	const char *key;
	const struct device *device;
	struct policy_limit asked, ceiling;
	uint64_t own;		/* the limit that the cgroup has */
	uint64_t in_effect;	/* the lowest limit of the cgroup and its ancestors */
	uint64_t unasked;	/* the limit without a request: the default, at most the ceiling */
	bool stays;		/* a running job keeps a limit that is not the default */
};

/* End the program with an error if the request is higher than the policy allows. */
static void policy_check_request(const struct policy *policy, const struct policy_case *about)
{
	bool is_bound = policy->keep ? about->stays : !about->ceiling.rule;
	uint64_t most = is_bound ? about->in_effect : NUMBER_MAX;
	bool by_default = is_bound && policy->default_bounds && about->unasked < most;
	uint64_t asked = about->asked.value, ceiling = about->ceiling.value;

	most = by_default ? about->unasked : most;
	if (asked > ceiling && ceiling <= most)
		say_failure(about->asked.rule->where,
			    "%s: %s on %s is more than %s, the ceiling of %s; ask for less",
			    about->key, number_text(asked, false).s, about->device->name,
			    number_text(ceiling, false).s, about->ceiling.rule->where);
	if (asked > most)
		say_failure(about->asked.rule->where,
			    "%s: %s on %s is more than %s, the %s; %s%s", about->key,
			    number_text(asked, false).s, about->device->name,
			    number_text(most, false).s,
			    by_default ? "default" : "limit that is in effect",
			    policy->keep ? "ask for less" : "to allow it, write a ceiling in ",
			    policy->keep ? "" : policy->place);
}

/* The limit for the cgroup. The first rule that applies decides, and shares can lower it. */
static uint64_t policy_decide(const struct policy *policy, const struct pool *pool, const char *key)
{
	const struct device *device = &pool->device;
	const struct slot *slot = pool_find(pool, key);
	struct policy_case about = {
		.key = key, .device = device,
		.asked = policy_look_up(policy, POLICY_ASKED, device, key),
		.own = slot ? slot->max : NUMBER_MAX,
		.in_effect = slot ? slot->limit : NUMBER_MAX,
	};
	uint64_t share = policy_look_up_share(policy, device, key), decided;

	about.ceiling = policy_look_up_ceiling(policy, device, key, about.asked.rule);
	about.unasked = min(policy_look_up(policy, POLICY_DEFAULT, device, key).value,
			    about.ceiling.value);
	about.stays = policy->keep && about.own != NUMBER_MAX && about.own != about.unasked;
	if (about.asked.rule)
		policy_check_request(policy, &about);
	if (about.stays)
		decided = about.own;
	else if (!about.asked.rule)
		decided = min(about.unasked, about.own);
	/* A request of a later step does not lower the default of the whole job. */
	else if (policy->keep && about.asked.value < about.unasked)
		decided = min(about.unasked, about.own);
	else
		decided = about.asked.value;
	return min(decided, share);
}

/* Add the keys of a rule for the device of @pool to @limits, except keys that @limits has. */
static void policy_take_rule(const struct policy *policy, const struct rule *rule,
			     const struct pool *pool, struct limits *limits)
{
	bool matches = config_match_device(rule, &pool->device);
	const struct device *asked = &rule->limits.device;
	struct limit *limit;
	size_t i;

	if (!matches && !asked->is_default)
		return;
	say_place = rule->where;
	/* The kernel checks the keys of "default". */
	if (matches && !pool->device.is_default && !limits_check_keys(&rule->limits, pool))
		exit(EXIT_FAILED);
	say_place = NULL;
	/* The kernel checks an index: its device may have been removed. */
	if (matches && asked->has_index && policy_is_request(rule)) {
		if (limits->device.has_index && limits->device.index != asked->index)
			say_failure(rule->where,
				    "%s: only one device has this name, so index=%u is another device",
				    asked->name, asked->index);
		limits->device.has_index = true;
		limits->device.index = asked->index;
	}
	for (i = 0; i < rule->limits.nr_limits; i++) {
		char *key = rule->limits.limits[i].key;

		/* A rule for all devices may have keys that this device lacks. */
		if (limits_find(limits, key) || (!matches && !pool_find(pool, key)))
			continue;
		limit = memory_append(limits->limits, limits->nr_limits);
		limit->key = key;
		limit->value = policy_decide(policy, pool, key);
	}
}

static bool policy_wants(const struct device *device, const char *key, uint64_t before,
			 uint64_t after)
{
	return before != after;
}

/* Add the writes of all rules for one device. */
static void policy_device(struct policy *policy, const struct cgroup *cgroup,
			  const struct pool *pool)
{
	struct limits limits = {
		.device = pool->device, .wants = policy->keep ? policy_wants : NULL,
	};
	size_t i;

	for (i = 0; i < policy->config.nr_rules; i++)
		policy_take_rule(policy, &policy->config.rules[i], pool, &limits);
	if (limits.nr_limits && !limits_add(&limits, &policy->change, cgroup))
		exit(EXIT_FAILED);
	free(limits.limits);
}

const char *policy_missing_key(const struct pools *pools, const struct rule *rule)
{
	bool has_default = pools_find(pools, &device_default), is_request = policy_is_request(rule);
	bool has_device = pools->first && !pools->first->device.is_default;
	size_t i;

	if (!rule->limits.device.is_default || (!has_device && (has_default || !is_request)))
		return NULL;
	for (i = 0; i < rule->limits.nr_limits; i++) {
		const char *key = rule->limits.limits[i].key;
		const struct pool *pool = pools->first;

		while (pool && !pool_find(pool, key))
			pool = pool->next;
		/* These keys may belong to a later device. */
		if (!pool && !(has_default && strchr(key, ':')) &&
		    !(has_default && !is_request && hierarchy_has_word(POOL_VERBS, key)))
			return key;
	}
	return NULL;
}

/* Add the writes of all rules. The controller stays enabled on an error. */
static void policy_prepare(struct policy *policy, struct cgroup *cgroup, unsigned int files)
{
	const struct rule *rule, *end = policy->config.rules + policy->config.nr_rules;
	const struct pool *pool;
	const char *key;

	capacity_read();
	if (!transaction_enable(&policy->change, cgroup) || !cgroup_read_path(cgroup, files))
		exit(EXIT_FAILED);
	transaction_free(&policy->change);
	/* A rule without its key or device would do nothing. limits_find_pool() prints an error. */
	for (rule = policy->config.rules; rule < end; rule++) {
		say_place = rule->where;
		key = policy_missing_key(&cgroup->pools, rule);
		if (key)
			say_failure(key,
				    "no device has a limit of that name; rdmacg show -a lists them");
		if (policy_is_request(rule) && !rule->limits.device.is_default &&
		    !config_find_pool(rule, &cgroup->pools) &&
		    !limits_find_pool(&rule->limits.device, &cgroup->pools))
			exit(EXIT_FAILED);
	}
	say_place = NULL;
	pool = pools_find(&cgroup->pools, &device_default);
	if (pool)
		policy_device(policy, cgroup, pool);
	for (pool = cgroup->pools.first; pool; pool = pool->next)
		if (!pool->device.is_default)
			policy_device(policy, cgroup, pool);
}

void policy_limits(struct policy *policy, struct cgroup *cgroup)
{
	unsigned int tries = POLICY_TRIES;
	bool gone, done;

	do {
		gone = false;
		policy_prepare(policy, cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT));
		policy->change.gone = --tries ? &gone : NULL;
		done = transaction_apply(&policy->change);
		if (!done || gone)
			transaction_undo(&policy->change);
	} while (done && gone);
	policy->change.gone = NULL;
	if (!done)
		exit(EXIT_FAILED);
}

struct json_object *policy_unified(struct policy *policy, struct cgroup *above)
{
	struct json_object *unified = json_object_new_object();
	const struct transaction_step *step;

	/* Do not read the usage of @above, which does not count for the new cgroup. */
	policy_prepare(policy, above, POOL_BIT(POOL_MAX));
	step = policy->change.steps;
	for (; step < policy->change.steps + policy->change.nr_steps; step++) {
		struct json_object *before = json_object_object_get(unified, step->file);
		/* A runtime writes each file once, so the file gets one text. */
		char *text __autofree = memory_format("%s%s\n", before ?
						      json_object_get_string(before) : "",
						      step->text);

		/* The stock controller accepts the limits of only one device in a write. */
		if (before && !pools_find(&step->cgroup->pools, &device_default))
			say_failure(step->file,
				    "a runtime cannot set limits of two devices on this kernel; limit one device");
		json_object_object_add(unified, step->file, json_text(text));
	}
	return unified;
}
