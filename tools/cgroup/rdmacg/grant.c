// SPDX-License-Identifier: GPL-2.0
/* rdmacg: limits that somebody asks for, as far as the administrator allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "grant.h"
#include "limits.h"
#include "memory.h"
#include "number.h"
#include "say.h"

/* A limit that somebody has written for a device and a key. */
struct grant_limit {
	const struct rule *rule;
	uint64_t value;
};

static const struct device grant_every = { .name = (char *)"default" };

bool grant_check(const struct conf *conf)
{
	const struct rule *rule;
	size_t i;

	for (i = 0; i < conf->nr_rules; i++) {
		rule = &conf->rules[i];
		if (rule->nr_parts != 1 || (strcmp(rule->parts[0], GRANT_DEFAULT) &&
					    strcmp(rule->parts[0], GRANT_CEILING)))
			say_error(rule->where, "its section is neither [" GRANT_DEFAULT "] nor ["
				  GRANT_CEILING "]");
		else if (rule->limits.whole)
			say_error(rule->where, "write each limit as KEY=VALUE, such as qp=100");
		else
			continue;
		return false;
	}
	return true;
}

static bool grant_is_every(const struct device *device)
{
	return !strcmp(device->name, grant_every.name);
}

static const struct limit *grant_find_key(const struct rule *rule, const char *key)
{
	size_t i;

	for (i = 0; i < rule->limits.nr_limits; i++)
		if (!strcmp(rule->limits.limits[i].key, key))
			return &rule->limits.limits[i];
	return NULL;
}

/*
 * The last rule of a section, or of any where that is NULL, for this device and key. One for
 * "default" holds for devices that have none of their own.
 */
static const struct rule *grant_find(const struct conf *conf, const char *section,
				     const struct device *device, const char *key)
{
	const struct rule *found = NULL;
	bool own = false;
	size_t i;

	for (i = 0; i < conf->nr_rules; i++) {
		const struct rule *rule = &conf->rules[i];
		bool matches = conf_match_device(rule, device);

		if ((section && strcmp(rule->parts[0], section)) || !grant_find_key(rule, key))
			continue;
		if (matches || (!own && grant_is_every(&rule->limits.device)))
			found = rule;
		own |= matches;
	}
	return found;
}

/* False: an error was said. Without a rule, the limit is none. */
static bool grant_look_up(const struct grant *grant, const struct conf *conf, const char *section,
			  const struct device *device, const char *key, struct grant_limit *limit)
{
	struct limits limits = { .device = *device };
	bool good;

	limit->value = NUMBER_MAX;
	limit->rule = grant_find(conf, section, device, key);
	if (!limit->rule)
		return true;
	say_within(limit->rule->where);
	good = limits_value(&limits, grant_find_key(limit->rule, key), &grant->capacity,
			    &limit->value);
	say_within(NULL);
	return good;
}

static uint64_t grant_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether what is asked for may be given; without a ceiling, what is in effect is one. */
static bool grant_check_asked(const struct grant *grant, const struct device *device,
			      const char *key, const struct grant_limit *asked,
			      const struct grant_limit *ceiling)
{
	const struct slot *slot = pools_find_slot(&grant->cgroup->pools, device, key);
	uint64_t effective = slot ? slot->limit : NUMBER_MAX;
	uint64_t most = ceiling->rule ? ceiling->value : effective;
	char asks[NUMBER_SIZE], may[NUMBER_SIZE];

	if (asked->value <= most)
		return true;
	number_format(asks, asked->value, false);
	number_format(may, most, false);
	say_within(asked->rule->where);
	if (ceiling->rule)
		say_error(key, "%s on %s is more than %s, the ceiling of %s; ask for less", asks,
			  device->name, may, ceiling->rule->where);
	else
		say_error(key,
			  "%s on %s is more than %s, the limit that is in effect; only a ceiling in %s allows that",
			  asks, device->name, may, grant->place);
	say_within(NULL);
	return false;
}

/* The limit that the cgroup gets. False: an error was said. */
static bool grant_decide(const struct grant *grant, const struct device *device, const char *key,
			 uint64_t *value)
{
	const struct slot *slot = pools_find_slot(&grant->cgroup->pools, device, key);
	struct grant_limit asked, by_default, ceiling;

	if (!grant_look_up(grant, &grant->asked, NULL, device, key, &asked) ||
	    !grant_look_up(grant, &grant->conf, GRANT_DEFAULT, device, key, &by_default) ||
	    !grant_look_up(grant, &grant->conf, GRANT_CEILING, device, key, &ceiling))
		return false;
	if (asked.rule) {
		*value = asked.value;
		return grant_check_asked(grant, device, key, &asked, &ceiling);
	}
	*value = grant_least(by_default.value, ceiling.value);
	if (slot)
		*value = grant_least(*value, slot->max);
	return true;
}

/* Whether the rule says something of this key of this device. */
static bool grant_concerns(const struct grant *grant, const struct rule *rule,
			   const struct device *device, const char *key)
{
	if (conf_match_device(rule, device))
		return true;
	/* Of a key that only other devices have, nothing can be said here. */
	return grant_is_every(&rule->limits.device) &&
	       pools_find_slot(&grant->cgroup->pools, device, key);
}

/* Whether there is such a limit, so that what is wrong is said of the rule and not of all. */
static bool grant_check_key(const struct grant *grant, const struct rule *rule,
			    const struct device *device, const char *key)
{
	const struct pools *pools = &grant->cgroup->pools;
	bool known = false;
	size_t i;

	for (i = 0; i < pools->nr_pools && !known; i++)
		known = (grant_is_every(device) ||
			 device_is_same(&pools->pools[i].device, device)) &&
			pool_find(&pools->pools[i], key);
	if (known)
		return true;
	say_within(rule->where);
	say_error(key, "%s has no limit of that name; rdmacg show -a lists them", device->name);
	say_within(NULL);
	return false;
}

/* Put the keys of one rule into @limits, but for those that are there. */
static bool grant_take_rule(const struct grant *grant, const struct rule *rule,
			    struct limits *limits)
{
	const struct rule wrapped = { .limits = *limits };
	struct limit *limit;
	uint64_t value;
	size_t i;

	for (i = 0; i < rule->limits.nr_limits; i++) {
		char *key = rule->limits.limits[i].key;

		if (grant_find_key(&wrapped, key) ||
		    !grant_concerns(grant, rule, &limits->device, key))
			continue;
		if (!grant_check_key(grant, rule, &limits->device, key) ||
		    !grant_decide(grant, &limits->device, key, &value))
			return false;
		limits->limits = memory_grow(limits->limits, limits->nr_limits, sizeof(*limit));
		limit = &limits->limits[limits->nr_limits++];
		limit->key = key;
		limit->value = value;
	}
	return true;
}

/* All that concerns one device. */
static bool grant_device(struct grant *grant, struct change *change,
			 const struct device *device)
{
	struct limits limits = { .device = *device };
	bool good = true;
	size_t i;

	for (i = 0; i < grant->asked.nr_rules && good; i++)
		good = grant_take_rule(grant, &grant->asked.rules[i], &limits);
	for (i = 0; i < grant->conf.nr_rules && good; i++)
		good = grant_take_rule(grant, &grant->conf.rules[i], &limits);
	if (good && limits.nr_limits)
		good = limits_add(&limits, change, grant->cgroup, &grant->capacity);
	free(limits.limits);
	return good;
}

/* What is asked for a device that is not there would else be forgotten. */
static bool grant_missing_devices(struct grant *grant)
{
	const struct pools *pools = &grant->cgroup->pools;
	bool good = true;
	size_t i, j;

	for (i = 0; i < grant->asked.nr_rules && good; i++) {
		const struct rule *rule = &grant->asked.rules[i];
		bool found = grant_is_every(&rule->limits.device);

		for (j = 0; j < pools->nr_pools; j++)
			found |= conf_match_device(rule, &pools->pools[j].device);
		if (found)
			continue;
		say_within(rule->where);
		/* It knows which devices there are. */
		good = limits_add(&rule->limits, &grant->change, grant->cgroup, &grant->capacity);
		say_within(NULL);
	}
	return good;
}

/*
 * Devices that come later have the limits of "default". Where there is no device, nobody knows
 * in which file its keys are.
 */
static bool grant_every_device(struct grant *grant)
{
	if (!grant->cgroup->pools.nr_pools && !grant->asked.nr_rules)
		return true;
	return grant_device(grant, &grant->every, &grant_every);
}

/* All that is asked for and all that the administrator says. */
static bool grant_prepare(struct grant *grant)
{
	const struct pools *pools = &grant->cgroup->pools;
	size_t i;

	if (!cgroup_read_path(grant->cgroup, POOL_BIT(POOL_MAX) | POOL_BIT(POOL_CURRENT)) ||
	    !grant_missing_devices(grant) || !grant_every_device(grant))
		return false;
	for (i = 0; i < pools->nr_pools; i++)
		if (!grant_is_every(&pools->pools[i].device) &&
		    !grant_device(grant, &grant->change, &pools->pools[i].device))
			return false;
	return true;
}

/* A kernel without limits of "default" looks for a device of that name. */
static bool grant_write_every(struct grant *grant)
{
	const struct change_step *first = grant->every.steps;

	if (first && file_write(first->cgroup->dir, first->file, first->text) == -ENODEV)
		return true;
	return change_apply(&grant->every);
}

static bool grant_write(struct grant *grant)
{
	if (!grant_write_every(grant))
		return false;
	if (change_apply(&grant->change))
		return true;
	change_undo(&grant->every);
	return false;
}

/*
 * The controller stays enabled where the limits are refused: to disable it in an ancestor
 * would take the limits of others, which are started at the same time.
 */
static bool grant_enable(struct cgroup *cgroup)
{
	struct change change = { .keep = true };
	bool good;

	change_add_controller(&change, cgroup);
	good = change_apply(&change);
	change_free(&change);
	if (good && !cgroup_has_controller(cgroup)) {
		say_error(cgroup_name(cgroup), "has no file rdma.current; is it gone?");
		good = false;
	}
	return good;
}

bool grant_limits(struct grant *grant, struct cgroup *cgroup)
{
	bool done = false;

	grant->cgroup = cgroup;
	capacity_read(&grant->capacity, cgroup->hierarchy);
	if (grant_enable(cgroup) && grant_prepare(grant))
		done = grant_write(grant);
	change_free(&grant->every);
	change_free(&grant->change);
	capacity_free(&grant->capacity);
	return done;
}

void grant_free(struct grant *grant)
{
	conf_free(&grant->asked);
	conf_free(&grant->conf);
}
