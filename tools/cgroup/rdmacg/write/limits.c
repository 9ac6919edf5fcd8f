// SPDX-License-Identifier: GPL-2.0
/* rdmacg: limits from words, and the lines that set them. */
#include "write/write.h"

static bool limits_parse_value(struct limit *limit, const char *word, const char *text)
{
	size_t length = strlen(text);
	bool bytes = number_is_bytes(limit->key);

	if (!strcmp(text, "max")) {
		limit->value = NUMBER_MAX;
		return true;
	}
	if (length && text[length - 1] == '%') {
		limit->percent = true;
		return (number_parse_thousandths(text, length - 1, &limit->value) &&
			limit->value <= 100000) ||
		       say_error(word,
				 "a percentage must be 0%% to 100%%, with at most 3 decimals");
	}
	if (number_parse_human(text, bytes, &limit->value))
		return true;
	if (!strcmp(text, "default"))
		return say_error(word, "default is for all keys of a device; write DEVICE default");
	return say_error(word, "%s; the largest is %" PRIu64,
			 bytes ? "write a number, also with K, M, G or T, a percentage, or max" :
			 "write a number, a percentage, or max", NUMBER_LARGEST);
}

const struct limit *limits_find(const struct limits *limits, const char *key)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		if (key_is_same(limits->limits[i].key, key))
			return &limits->limits[i];
	return NULL;
}

static bool limits_parse_word(struct limits *limits, const char *word)
{
	char *key __autofree = memory_format("%.*s", (int)strcspn(word, "="), word);
	size_t length = strlen(key);
	struct limit *limit;

	if (limits->whole)
		return say_error(word, "is one word too many after %s", limits->whole);
	if (!strcmp(key, "index")) {
		if (!limits->nr_limits && !limits->device.has_index && !limits->device.is_default &&
		    device_take_index(&limits->device, word, strlen(word)))
			return true;
		return say_error(word, "write index=NUMBER once, right after the device");
	}
	if (!strcmp(word, "max") || !strcmp(word, "default")) {
		limits->whole = *word == 'm' ? "max" : "default";
		return !limits->nr_limits ||
		       say_error(word, "is for all keys; leave the other limits out");
	}
	/* A key contains a colon only in rdma.default, such as "hw:any". */
	if (!word[length] || *word < 'a' || *word > 'z' ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_:") < length)
		return say_error(word, "is not a limit; write KEY=VALUE, such as qp=100");
	if (limits_find(limits, key))
		return say_error(word, "this key occurs twice");
	limit = memory_append(limits->limits, limits->nr_limits);
	limit->key = memory_string(key);
	return limits_parse_value(limit, word, word + length + 1);
}

bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count)
{
	const char *value = strchr(device, '=');
	size_t i;

	limits->device.is_default = !strcmp(device, device_default.name);
	limits->device.name = device_escape(device);
	/* A name may contain an equals sign. */
	if (!*device || (value && (strspn(value + 1, "0123456789") || !strcmp(value, "=max"))))
		return say_error(*device ? device : "device",
				 "is not the name of a device; write DEVICE KEY=VALUE...");
	for (i = 0; i < count; i++)
		if (!limits_parse_word(limits, words[i]))
			return false;
	device = limits->device.name;
	if (!limits->nr_limits && !limits->whole)
		return say_error(device, "no limit is given; write KEY=VALUE, max or default");
	return !limits->device.is_default || !limits->whole || *limits->whole != 'd' ||
	       say_error(device, "cannot be its own default; write max");
}

bool limits_parse_option(struct limits *limits, const char *text)
{
	char **words __autofree = NULL;
	char *copy __autofree = memory_string(text);
	/* Only a key of rdma.default has a colon, so otherwise the last colon ends the name. */
	char *colon = strncmp(copy, "default:", 8) ? strrchr(copy, ':') : copy + 7;
	char *word, *rest;
	size_t count = 0;

	if (!colon)
		return say_error(text, "write DEVICE:KEY=VALUE[,KEY=VALUE]...");
	*colon = '\0';
	rest = colon + 1;
	while ((word = strsep(&rest, ",")))
		*memory_append(words, count) = word;
	return limits_parse(limits, copy, words, count);
}

char *limits_first_item(char *list, char **rest)
{
	return strtok_r(list, ";", rest) ?: list;
}

void limits_free(struct limits *limits)
{
	while (limits->nr_limits)
		free(limits->limits[--limits->nr_limits].key);
	free(limits->limits);
	free(limits->device.name);
}

/* A unique name needs no index, but the kernel checks an index that is given. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools)
{
	char *list __autofree = NULL;
	/* The line without an index, of the device that this network namespace sees. */
	const struct pool *pool, *seen = NULL;
	bool ambiguous = false;

	for (pool = pools->first; pool; pool = pool->next) {
		const struct device *found = &pool->device;

		if (found->is_default)
			continue;
		memory_extend(&list, "%s%s", list ? ", " : "", device_text(found).s);
		if (strcmp(found->name, device->name))
			continue;
		if (found->has_index && device->has_index && found->index == device->index)
			return pool;
		if (!found->has_index)
			seen = pool;
		ambiguous |= !device->has_index;
	}
	if (seen)
		return seen;
	say_error(device->name, "%s: %s", ambiguous ?
		  "several devices have this name; add index=N" :
		  "there is no such device; there are", list ? list : "none");
	return NULL;
}

bool limits_value(const struct device *device, const struct limit *limit, uint64_t *value)
{
	uint64_t all;

	*value = limit->value;
	if (!limit->percent)
		return true;
	if (device->is_default)
		return say_error(limit->key,
				 "default is for all devices; write a number, not a percentage");
	all = capacity_of(device, limit->key);
	if (all == NUMBER_MAX)
		return say_error(limit->key,
				 "the capacity of %s is unknown; write a number, not a percentage",
				 device_text(device).s);
	*value = number_scale(all, limit->value, 100000);
	if (!*value && limit->value)
		say_warning(limit->key,
			    "this percentage of %" PRIu64 " is 0: no object can be created", all);
	return true;
}

bool limits_check_keys(const struct limits *limits, const struct pool *pool)
{
	char *list __autofree = NULL;
	enum pool_class class;
	bool has_class = false;
	const char *key;
	size_t i = 0, j;

	while (i < limits->nr_limits && pool_find(pool, limits->limits[i].key))
		i++;
	if (i == limits->nr_limits)
		return true;
	key = limits->limits[i].key;
	class = pool_key_class(key);
	for (j = 0; j < pool->nr_slots; j++) {
		memory_extend(&list, "%s%s", list ? ", " : "", pool->slots[j].key);
		has_class |= pool->slots[j].class == class;
	}
	/* Only a driver knows the other keys. */
	if (class == POOL_HW)
		return say_error(key, "%s has no limit of that name here; there are: %s",
				 device_text(&pool->device).s, list ? list : "none");
	return say_error(key, "belongs to %s, which has no %s %s here; there are: %s",
			 pool_file_names[class][POOL_MAX], has_class ? "such key for" : "line of",
			 device_text(&pool->device).s, list ? list : "none");
}

/* The work of limits_add(): for each class, the text for its file, and the text that undoes it. */
struct limits_write {
	const struct limits *limits;
	const struct cgroup *cgroup;
	const struct pool *pool;
	char *text[POOL_CLASSES], *undo[POOL_CLASSES];
};

static void limits_add_key(struct limits_write *write, const char *key, uint64_t value)
{
	const struct limits *limits = write->limits;
	const struct slot *slot = pool_find(write->pool, key), *other = NULL;
	const char *name = slot ? slot->key : key, *prefix = "";
	/* rdma.default has the keys of all classes. */
	enum pool_class class = slot && !write->pool->device.is_default ? slot->class : POOL_HCA;
	uint64_t before = slot ? slot->max : NUMBER_MAX;

	if (limits->wants && !limits->wants(&write->pool->device, key, before, value))
		return;
	/* A key that rdma.default lacks is "hw:KEY" if a driver registers KEY. */
	while (!slot && (other = pools_next(&write->cgroup->pools, other)))
		if (other->class == POOL_HW && !strcmp(other->key, key))
			prefix = "hw:";
	if (slot && slot->has & POOL_BIT(POOL_CURRENT) && value < slot->usage)
		say_warning(cgroup_name(write->cgroup),
			    "%s=%" PRIu64 " on %s is less than the usage, %" PRIu64
			    ": existing objects stay, new ones are refused",
			    name, value, device_text(&write->pool->device).s, slot->usage);
	memory_extend(&write->text[class], " %s%s=%s", prefix, name, number_text(value, false).s);
	memory_extend(&write->undo[class], " %s%s=%s", prefix, name, number_text(before, false).s);
}

/*
 * Write "KEY=max" for each key, because not every kernel accepts the word "max" alone. The word
 * "default" changes all keys of a file, so write it if any key changes.
 */
static void limits_add_whole(struct limits_write *write)
{
	const struct limits *limits = write->limits;
	const struct pool *pool = write->pool;
	const struct slot *slot, *after;
	bool wanted;

	for (slot = pool->slots; slot < pool->slots + pool->nr_slots; slot++) {
		if (*limits->whole == 'm') {
			limits_add_key(write, slot->key, NUMBER_MAX);
			continue;
		}
		after = pools_find_slot(&write->cgroup->pools, &device_default, slot->key);
		wanted = !limits->wants || limits->wants(&pool->device, slot->key, slot->max,
							 after ? after->max : NUMBER_MAX);
		if (wanted && !write->text[slot->class])
			write->text[slot->class] = memory_string(" default");
		memory_extend(&write->undo[slot->class], " %s=%s", slot->key,
			      number_text(slot->max, false).s);
	}
}

/* Add a write of one line for each file, because stock accepts one line. */
static void limits_add_files(struct limits_write *write, struct transaction *change, bool good)
{
	bool is_default = write->limits->device.is_default;
	struct device_text device = { "" };
	enum pool_class class;

	if (!is_default)
		device = device_text(&write->limits->device);
	for (class = 0; class < POOL_CLASSES; class++) {
		char *text __autofree = write->text[class], *undo __autofree = write->undo[class];

		if (good && text)
			transaction_add(change, write->cgroup, is_default ? POOL_FILE_DEFAULT :
					pool_file_names[class][POOL_MAX],
					memory_format("%s%s", device.s, text + is_default),
					memory_format("%s%s", device.s, undo + is_default));
	}
}

bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup)
{
	static const struct pool none = { .device = { (char *)"default", .is_default = true } };
	bool is_default = limits->device.is_default, good;
	const struct pool *pool = is_default ? pools_find(&cgroup->pools, &device_default) :
				  limits_find_pool(&limits->device, &cgroup->pools);
	struct limits_write write = {
		.limits = limits, .cgroup = cgroup, .pool = pool || !is_default ? pool : &none,
	};
	uint64_t value;
	size_t i;

	good = write.pool && (is_default || limits_check_keys(limits, pool));
	for (i = 0; i < limits->nr_limits && good; i++) {
		good = limits_value(&limits->device, &limits->limits[i], &value);
		if (good)
			limits_add_key(&write, limits->limits[i].key, value);
	}
	if (good && limits->whole)
		limits_add_whole(&write);
	if (good && !pool && (write.text[0] || !limits->wants))
		good = say_error(cgroup_name(cgroup),
				 "this kernel has no " POOL_FILE_DEFAULT "; limit each device");
	limits_add_files(&write, change, good);
	return good;
}
