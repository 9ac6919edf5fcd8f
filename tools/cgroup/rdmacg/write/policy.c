// SPDX-License-Identifier: GPL-2.0
/* rdmacg: the limits that a user requests, if the administrator allows them. */
#include "write/write.h"

/* A limit for a device and a key, and its rule. */
struct policy_limit {
	/* The rule, or NULL if no rule exists. Without a rule, the value is NUMBER_MAX. */
	const struct rule *rule;
	uint64_t value;
};

static bool policy_is_in(const struct rule *rule, const char *section)
{
	return !strcmp(rule->section, section);
}

/* Whether the rule comes from a user, not from the administrator. */
static bool policy_is_request(const struct rule *rule)
{
	return policy_is_in(rule, POLICY_ASKED) || policy_is_in(rule, POLICY_SHARE);
}

bool policy_read(struct policy *policy)
{
	char *file = (char *)policy->place;
	size_t i = policy->config.nr_rules;

	if (!config_read(&policy->config, &file, 1))
		return false;
	for (; i < policy->config.nr_rules; i++) {
		const struct rule *rule = &policy->config.rules[i];

		if (!policy_is_in(rule, POLICY_DEFAULT) && !policy_is_in(rule, POLICY_CEILING))
			say_error(rule->where, "its section is neither [" POLICY_DEFAULT "] nor ["
				  POLICY_CEILING "]");
		else if (rule->limits.whole)
			say_error(rule->where, "write each limit as KEY=VALUE, such as qp=100");
		else
			continue;
		return false;
	}
	return true;
}

/*
 * Find the last rule of a section for this device and key. A rule for "default" applies to devices
 * without a rule of their own.
 */
static const struct rule *policy_find(const struct policy *policy, const char *section,
				      const struct device *device, const char *key)
{
	const struct rule *found = NULL;
	bool own = false;
	size_t i;

	for (i = 0; i < policy->config.nr_rules; i++) {
		const struct rule *rule = &policy->config.rules[i];
		bool matches = config_match_device(rule, device);

		if (!policy_is_in(rule, section) || !limits_find(&rule->limits, key))
			continue;
		if (matches || (!own && rule->limits.device.is_default))
			found = rule;
		own |= matches;
	}
	return found;
}

/* Find the limit of a section. Prints an error and returns false on a failure. */
static bool policy_look_up(const struct policy *policy, const char *section,
			   const struct device *device, const char *key, struct policy_limit *limit)
{
	bool good;

	limit->value = NUMBER_MAX;
	limit->rule = policy_find(policy, section, device, key);
	if (!limit->rule)
		return true;
	say_within(limit->rule->where);
	good = limits_value(device, limits_find(&limit->rule->limits, key), &limit->value);
	say_within(NULL);
	return good;
}

static uint64_t policy_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Find the ceiling of a device. A later device may have any name, so the ceiling of rdma.default is
 * the lowest ceiling of the key. The number of a percentage is not known before the device is
 * registered.
 */
static bool policy_look_up_ceiling(const struct policy *policy, const struct device *device,
				   const char *key, bool is_asked, struct policy_limit *ceiling)
{
	size_t i;

	if (!device->is_default)
		return policy_look_up(policy, POLICY_CEILING, device, key, ceiling);
	ceiling->rule = NULL;
	ceiling->value = NUMBER_MAX;
	for (i = 0; i < policy->config.nr_rules; i++) {
		const struct rule *rule = &policy->config.rules[i];
		const struct limit *limit = limits_find(&rule->limits, key);

		if (!limit || !policy_is_in(rule, POLICY_CEILING))
			continue;
		if (limit->percent && is_asked) {
			say_error(rule->where,
				  "%s is a percentage, so a container cannot ask for default; ask for each device",
				  key);
			return false;
		}
		if (limit->percent || (ceiling->rule && ceiling->value <= limit->value))
			continue;
		ceiling->rule = rule;
		ceiling->value = limit->value;
	}
	return true;
}

/*
 * Whether a request is within the ceiling, or within @effective, the limit in effect, if there is
 * no ceiling.
 */
static bool policy_check_asked(const struct policy *policy, const struct device *device,
			       const char *key, const struct policy_limit *asked,
			       const struct policy_limit *ceiling, uint64_t effective)
{
	uint64_t most = ceiling->rule ? ceiling->value : effective;
	const char *asks = number_text(asked->value, false), *may = number_text(most, false);

	if (!asked->rule || asked->value <= most)
		return true;
	if (ceiling->rule)
		say_error(asked->rule->where,
			  "%s: %s on %s is more than %s, the ceiling of %s; ask for less", key,
			  asks, device->name, may, ceiling->rule->where);
	else
		say_error(asked->rule->where,
			  "%s: %s on %s is more than %s, the limit that is in effect; only a ceiling in %s allows that",
			  key, asks, device->name, may, policy->place);
	return false;
}

/* Get the limit for the cgroup. Prints an error and returns false if the request is too large. */
static bool policy_decide(const struct policy *policy, const struct pool *pool, const char *key,
			  uint64_t *value)
{
	const struct device *device = &pool->device;
	const struct slot *slot = pool_find(pool, key);
	struct policy_limit asked, share, by_default, ceiling;

	if (!policy_look_up(policy, POLICY_ASKED, device, key, &asked) ||
	    !policy_look_up(policy, POLICY_SHARE, device, key, &share) ||
	    !policy_look_up(policy, POLICY_DEFAULT, device, key, &by_default) ||
	    !policy_look_up_ceiling(policy, device, key, asked.rule, &ceiling) ||
	    !policy_check_asked(policy, device, key, &asked, &ceiling,
				slot ? slot->limit : NUMBER_MAX))
		return false;
	*value = asked.value;
	if (!asked.rule)
		*value = policy_least(policy_least(by_default.value, ceiling.value),
				      slot ? slot->max : NUMBER_MAX);
	*value = policy_least(*value, share.value);
	return true;
}

/* Whether a rule for later devices may have this key: a device has it, or it contains a colon. */
static bool policy_check_default(const struct pools *pools, const char *key)
{
	const struct pool *pool = pools->first;

	while (pool && !pool_find(pool, key))
		pool = pool->next;
	if (!pool && !strchr(key, ':'))
		say_error(key, "default has no limit of that name; rdmacg show -a lists them");
	return pool || strchr(key, ':');
}

/* Whether the device of @pool has the keys of a rule. Prints an error if the device lacks a key. */
static bool policy_check_keys(const struct policy *policy, const struct rule *rule,
			      const struct pool *pool)
{
	bool good = true;
	size_t i;

	say_within(rule->where);
	if (!pool->device.is_default)
		good = limits_check_keys(&rule->limits, pool);
	else
		for (i = 0; i < rule->limits.nr_limits && good; i++)
			good = policy_check_default(&policy->cgroup->pools,
						    rule->limits.limits[i].key);
	say_within(NULL);
	return good;
}

/* Add the keys of a rule for the device of @pool to @limits, except keys that @limits has. */
static bool policy_take_rule(const struct policy *policy, const struct rule *rule,
			     const struct pool *pool, struct limits *limits)
{
	bool matches = config_match_device(rule, &pool->device);
	struct limit *limit;
	uint64_t value;
	size_t i;

	if (matches ? !policy_check_keys(policy, rule, pool) : !rule->limits.device.is_default)
		return !matches;
	for (i = 0; i < rule->limits.nr_limits; i++) {
		char *key = rule->limits.limits[i].key;

		/* A rule for all devices may have keys that this device lacks. */
		if (limits_find(limits, key) || (!matches && !pool_find(pool, key)))
			continue;
		if (!policy_decide(policy, pool, key, &value))
			return false;
		limit = memory_append(&limits->limits, &limits->nr_limits, sizeof(*limit));
		limit->key = key;
		limit->value = value;
	}
	return true;
}

/*
 * Keep the index of a request even if the name is unique, so that the kernel checks it: the device
 * of that index may be removed. Prints an error and returns false on a failure.
 */
static bool policy_take_index(const struct rule *rule, struct device *device)
{
	const struct device *asked = &rule->limits.device;

	if (!policy_is_request(rule) || !asked->has_index || strcmp(asked->name, device->name))
		return true;
	if (device->has_index && device->index != asked->index) {
		say_error(rule->where,
			  "%s: only one device has this name, so index=%u is another device",
			  device->name, asked->index);
		return false;
	}
	device->has_index = true;
	device->index = asked->index;
	return true;
}

/* Add the writes of all rules for one device. */
static bool policy_device(struct policy *policy, const struct pool *pool)
{
	struct limits limits = { .device = pool->device };
	const struct rule *rules = policy->config.rules;
	size_t count = policy->config.nr_rules, i;
	bool good = true;

	for (i = 0; i < count && good; i++)
		good = policy_take_rule(policy, &rules[i], pool, &limits);
	for (i = 0; i < count && good && limits.nr_limits && !pool->device.has_index; i++)
		good = policy_take_index(&rules[i], &limits.device);
	if (good && limits.nr_limits)
		good = limits_add(&limits, &policy->change, policy->cgroup);
	free(limits.limits);
	return good;
}

/* Whether the device of a request exists. A request for a missing device would have no effect. */
static bool policy_has_device(const struct pools *pools, const struct rule *rule)
{
	const struct pool *pool = pools->first;

	if (!policy_is_request(rule) || rule->limits.device.is_default)
		return true;
	while (pool && !config_match_device(rule, &pool->device))
		pool = pool->next;
	if (pool)
		return true;
	/* Print an error with the existing devices. */
	say_within(rule->where);
	limits_find_pool(&rule->limits.device, pools);
	say_within(NULL);
	return false;
}

/* Add the writes of all requests and all rules. The limits of later devices come first. */
static bool policy_prepare(struct policy *policy, unsigned int files)
{
	const struct pools *pools = &policy->cgroup->pools;
	const struct pool *pool;
	size_t i;

	if (!cgroup_read_path(policy->cgroup, files))
		return false;
	for (i = 0; i < policy->config.nr_rules; i++)
		if (!policy_has_device(pools, &policy->config.rules[i]))
			return false;
	pool = pools_find(pools, &device_default);
	if (pool && !policy_device(policy, pool))
		return false;
	for (pool = pools->first; pool; pool = pool->next)
		if (!pool->device.is_default && !policy_device(policy, pool))
			return false;
	return true;
}

/*
 * Enable the controller. If the limits are refused, do not disable the controller again. That would
 * remove the limits of other containers that start at the same time.
 */
static bool policy_enable(struct cgroup *cgroup)
{
	struct transaction change = { 0 };
	bool good;

	transaction_add_controller(&change, cgroup);
	good = transaction_apply(&change);
	transaction_free(&change);
	if (good && !cgroup_has_controller(cgroup)) {
		say_error(cgroup_name(cgroup), "has no file rdma.current; was it removed?");
		good = false;
	}
	return good;
}

static bool policy_begin(struct policy *policy, struct cgroup *cgroup, unsigned int files)
{
	policy->cgroup = cgroup;
	capacity_read();
	return policy_enable(cgroup) && policy_prepare(policy, files);
}

bool policy_limits(struct policy *policy, struct cgroup *cgroup)
{
	bool done = policy_begin(policy, cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT)) &&
		    transaction_apply(&policy->change);

	if (!done)
		transaction_undo(&policy->change);
	transaction_free(&policy->change);
	return done;
}

/* Add a write to the text of its file, because a runtime writes each file once. */
static bool policy_add_unified(struct json_object *unified, const struct transaction_step *step)
{
	char *text __autofree = NULL;
	struct json_object *before = json_object_object_get(unified, step->file);

	/* The stock controller accepts the limits of only one device in a write. */
	if (before && !pools_find(&step->cgroup->pools, &device_default)) {
		say_error(step->file,
			  "a runtime cannot set limits of two devices on this kernel; limit one device");
		return false;
	}
	text = memory_format("%s%s", before ? json_object_get_string(before) : "", step->text);
	json_add(unified, step->file, json_text(text));
	return true;
}

struct json_object *policy_unified(struct policy *policy, struct cgroup *above)
{
	struct json_object *unified = json_object_new_object();
	/* Do not read the usage of @above, which does not count for the new cgroup. */
	bool good = policy_begin(policy, above, POOL_BIT(POOL_MAX));
	size_t i;

	for (i = 0; i < policy->change.nr_steps && good; i++)
		good = policy_add_unified(unified, &policy->change.steps[i]);
	transaction_free(&policy->change);
	if (good)
		return unified;
	json_object_put(unified);
	return NULL;
}
