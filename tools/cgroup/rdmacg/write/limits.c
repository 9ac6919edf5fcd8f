// SPDX-License-Identifier: GPL-2.0
/* rdmacg: limits from words, and the lines that set them. */
#include "write/write.h"

#define LIMITS_WHOLE	100000

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
		if (number_parse_thousandths(text, length - 1, &limit->value) &&
		    limit->value <= LIMITS_WHOLE)
			return true;
		say_error(word, "a percentage must be 0%% to 100%%, with at most 3 decimals");
		return false;
	}
	if (number_parse_human(text, bytes, &limit->value))
		return true;
	if (!strcmp(text, "default"))
		say_error(word, "default stands for a whole device: set CGROUP DEVICE default");
	else
		say_error(word, "%s; the largest is %" PRIu64,
			  bytes ? "write a number, also with K, M, G or T, a percentage, or max" :
			  "write a number, a percentage, or max", NUMBER_LARGEST);
	return false;
}

static bool limits_parse_index(struct limits *limits, const char *word)
{
	uint64_t index;

	if (limits->nr_limits || limits->whole || limits->device.has_index ||
	    !number_parse(word + 6, strlen(word + 6), &index) || index > UINT32_MAX) {
		say_error(word, "the index is a number, once, and right after the device");
		return false;
	}
	limits->device.has_index = true;
	limits->device.index = index;
	return true;
}

const struct limit *limits_find(const struct limits *limits, const char *key)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		if (!strcmp(limits->limits[i].key, key))
			return &limits->limits[i];
	return NULL;
}

static bool limits_parse_limit(struct limits *limits, const char *word)
{
	size_t length = strcspn(word, "=");
	struct limit *limit;
	char *key;

	/* A key contains a colon only in rdma.default, such as "hw:any". */
	if (!word[length] || *word < 'a' || *word > 'z' ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_:") < length) {
		say_error(word, "is not a limit; write KEY=VALUE, such as qp=100");
		return false;
	}
	key = memory_format("%.*s", (int)length, word);
	if (limits_find(limits, key)) {
		say_error(word, "this key occurs twice");
		free(key);
		return false;
	}
	limit = memory_append(&limits->limits, &limits->nr_limits, sizeof(*limit));
	limit->key = key;
	return limits_parse_value(limit, word, word + length + 1);
}

static bool limits_parse_word(struct limits *limits, const char *word)
{
	if (!strncmp(word, "index=", 6))
		return limits_parse_index(limits, word);
	if (strcmp(word, "max") && strcmp(word, "default"))
		return limits_parse_limit(limits, word);
	if (limits->whole) {
		say_error(word, "is one word too many after %s", limits->whole);
		return false;
	}
	limits->whole = *word == 'm' ? "max" : "default";
	return true;
}

/* Whether the words can be combined. Prints an error if the result is false. */
static bool limits_check(const struct limits *limits)
{
	const char *device = limits->device.name;
	bool is_default = limits->device.is_default;

	if (!limits->nr_limits && !limits->whole)
		say_error(device, "no limit is given; write KEY=VALUE, max or default");
	else if (limits->nr_limits && limits->whole)
		say_error(device, "%s is for all keys; leave the other limits out", limits->whole);
	else if (is_default && limits->device.has_index)
		say_error(device, "stands for all devices and has no index");
	else if (is_default && limits->whole && *limits->whole == 'd')
		say_error(device, "cannot be its own default; write max");
	else
		return true;
	return false;
}

bool limits_parse(struct limits *limits, const char *device, char * const *words, size_t count)
{
	size_t i;

	memset(limits, 0, sizeof(*limits));
	limits->device.is_default = !strcmp(device, device_default.name);
	limits->device.name = device_escape(device);
	if (!*device || strchr(device, '=')) {
		say_error(*device ? device : "device",
			  "is not the name of a device; write DEVICE KEY=VALUE...");
		return false;
	}
	for (i = 0; i < count; i++)
		if (!limits_parse_word(limits, words[i]))
			return false;
	return limits_check(limits);
}

bool limits_parse_option(struct limits *limits, const char *text)
{
	char **words __autofree = NULL;
	char *copy __autofree = memory_string(text);
	/*
	 * Only a key of rdma.default has a colon. For all other devices, the last colon ends the
	 * name.
	 */
	char *colon = strncmp(copy, "default:", 8) ? strrchr(copy, ':') : copy + 7;
	char *word, *rest;
	size_t count = 0;

	if (!colon) {
		memset(limits, 0, sizeof(*limits));
		say_error(text, "write DEVICE:KEY=VALUE[,KEY=VALUE]...");
		return false;
	}
	*colon = '\0';
	rest = colon + 1;
	while ((word = strsep(&rest, ",")))
		*(char **)memory_append(&words, &count, sizeof(*words)) = word;
	return limits_parse(limits, copy, words, count);
}

void limits_free(struct limits *limits)
{
	size_t i;

	for (i = 0; i < limits->nr_limits; i++)
		free(limits->limits[i].key);
	free(limits->limits);
	device_free(&limits->device);
	memset(limits, 0, sizeof(*limits));
}

/* A unique name needs no index, but the kernel checks an index that is given. */
const struct pool *limits_find_pool(const struct device *device, const struct pools *pools)
{
	char *list __autofree = NULL;
	const struct pool *pool;
	bool ambiguous = false;

	for (pool = pools->first; pool; pool = pool->next) {
		const struct device *found = &pool->device;

		if (found->is_default)
			continue;
		memory_extend(&list, "%s%s", list ? ", " : "", device_text(found));
		if (strcmp(found->name, device->name))
			continue;
		if (!found->has_index || (device->has_index && found->index == device->index))
			return pool;
		ambiguous |= !device->has_index;
	}
	say_error(device->name, "%s: %s", ambiguous ?
		  "several devices have this name; add index=N" :
		  "there is no such device; there are", list ? list : "none");
	return NULL;
}

bool limits_value(const struct device *device, const struct limit *limit, uint64_t *value)
{
	uint64_t all;

	*value = limit->value;
	/* The stock controller has limits of 31 bits, and no rdma.capacity. */
	if (!limit->percent && (capacity.has_file || number_is_bytes(limit->key) ||
				*value == NUMBER_MAX || *value <= INT32_MAX))
		return true;
	if (!limit->percent) {
		say_error(limit->key, "this kernel accepts at most %d; write max for no limit",
			  INT32_MAX);
		return false;
	}
	if (device->is_default) {
		say_error(limit->key,
			  "default is for all devices; write a number, not a percentage");
		return false;
	}
	all = capacity_of(device, limit->key);
	if (all == NUMBER_MAX) {
		say_error(limit->key,
			  "the capacity of %s is unknown; write a number, not a percentage",
			  device_text(device));
		return false;
	}
	*value = number_scale(all, limit->value, LIMITS_WHOLE);
	if (!*value && limit->value)
		say_warning(limit->key,
			    "this percentage of %" PRIu64 " is 0: no object can be created", all);
	return true;
}

bool limits_check_keys(const struct limits *limits, const struct pool *pool)
{
	char *list __autofree = NULL;
	const struct slot *slot;
	size_t i = 0, j;

	while (i < limits->nr_limits && (slot = pool_find(pool, limits->limits[i].key)) &&
	       (slot->has & POOL_BIT(POOL_MAX)))
		i++;
	if (i == limits->nr_limits)
		return true;
	for (j = 0; j < pool->nr_slots; j++)
		if (pool->slots[j].has & POOL_BIT(POOL_MAX))
			memory_extend(&list, "%s%s", list ? ", " : "", pool->slots[j].key);
	say_error(limits->limits[i].key, "%s has no limit of that name here; there are: %s",
		  device_text(&pool->device), list ? list : "none");
	return false;
}

/*
 * The name of a key in rdma.default: "hw:KEY" for a key that a driver registers. The caller frees
 * the result.
 */
static char *limits_default_key(const struct cgroup *cgroup, const char *key)
{
	const struct slot *slot = NULL;
	const struct pool *pool;

	for (pool = cgroup->pools.first; pool && !slot; pool = pool->next)
		if (!pool->device.is_default)
			slot = pool_find(pool, key);
	return memory_format("%s%s", slot && slot->class == POOL_HW ? "hw:" : "", key);
}

/* The text for the file of a class or for rdma.default, and the text that undoes the write. */
struct limits_line {
	char *text;
	char *undo;
};

static void limits_add_key(struct limits_line *line, const char *key, uint64_t value,
			   uint64_t before)
{
	memory_extend(&line->text, " %s=%s", key, number_text(value, false));
	memory_extend(&line->undo, " %s=%s", key, number_text(before, false));
}

static bool limits_is_wanted(const struct limits *limits, const struct pool *pool,
			     const char *key, uint64_t before, uint64_t after)
{
	return !limits->wants || limits->wants(limits->data, &pool->device, key, before, after);
}

static bool limits_add_keys(const struct limits *limits, const struct cgroup *cgroup,
			    const struct pool *pool, struct limits_line *lines)
{
	bool is_default = limits->device.is_default;
	uint64_t value, before;
	size_t i;

	for (i = 0; i < limits->nr_limits; i++) {
		char *key __autofree = NULL;
		const struct limit *limit = &limits->limits[i];
		const struct slot *slot;

		key = is_default ? limits_default_key(cgroup, limit->key) :
				   memory_string(limit->key);
		slot = pool_find(pool, key);
		before = slot ? slot->max : NUMBER_MAX;
		if (!limits_value(&limits->device, limit, &value))
			return false;
		if (!limits_is_wanted(limits, pool, limit->key, before, value))
			continue;
		if (!is_default && slot->has & POOL_BIT(POOL_CURRENT) && value < slot->usage)
			say_warning(cgroup_name(cgroup),
				    "%s=%" PRIu64 " on %s is less than the usage, %" PRIu64
				    ": existing objects stay, new ones are refused",
				    key, value, device_text(&pool->device), slot->usage);
		limits_add_key(&lines[is_default ? 0 : slot->class], key, value, before);
	}
	return true;
}

/* The limit that rdma.default sets for a key. */
static uint64_t limits_by_default(const struct cgroup *cgroup, const char *key)
{
	char *name __autofree = limits_default_key(cgroup, key);
	const struct slot *slot = pools_find_slot(&cgroup->pools, &device_default, name);

	return slot ? slot->max : NUMBER_MAX;
}

/*
 * Set all keys of the device. The word "default" changes all keys, so write it if a change of any
 * key is wanted. Write "KEY=max" for each wanted key instead of the word "max", because every
 * kernel accepts this. Only rdma.default gets the word "max", if all changes are wanted.
 */
static void limits_add_whole(const struct limits *limits, const struct cgroup *cgroup,
			     const struct pool *pool, struct limits_line *lines)
{
	bool is_default = limits->device.is_default, is_max = *limits->whole == 'm';
	bool by_key = is_max && (!is_default || limits->wants);
	bool any = !limits->wants;
	const struct slot *slot;
	enum pool_class class;

	if (is_default && !by_key)
		memory_extend(&lines->text, " %s", limits->whole);
	for (slot = pool->slots; slot < pool->slots + pool->nr_slots; slot++) {
		struct limits_line *line = &lines[is_default ? 0 : slot->class];
		uint64_t after = is_max ? NUMBER_MAX : limits_by_default(cgroup, slot->key);
		bool wanted;

		if (!is_default && !(slot->has & POOL_BIT(POOL_MAX)))
			continue;
		wanted = limits_is_wanted(limits, pool, slot->key, slot->max, after);
		any |= wanted;
		if (by_key && wanted)
			limits_add_key(line, slot->key, after, slot->max);
		if (by_key)
			continue;
		memory_extend(&line->undo, " %s=%s", slot->key, number_text(slot->max, false));
		if (!line->text)
			memory_extend(&line->text, " %s", limits->whole);
	}
	for (class = 0; class < POOL_CLASSES && !any; class++) {
		free(lines[class].text);
		lines[class].text = NULL;
	}
}

/*
 * Add one write for one line, because the stock controller accepts only one line in a write. A line
 * of rdma.default has no device.
 */
static void limits_add_line(const struct limits *limits, struct transaction *change,
			    const struct cgroup *cgroup, enum pool_class class,
			    const struct limits_line *line)
{
	bool is_default = limits->device.is_default;
	const char *file = is_default ? POOL_FILE_DEFAULT : pool_file_name(class, POOL_MAX);
	const char *device = is_default ? "" : device_text(&limits->device);
	const char *undo = line->undo ? line->undo : " max";

	transaction_add(change, cgroup, file,
			memory_format("%s%s\n", device, line->text + is_default),
			memory_format("%s%s\n", device, undo + is_default));
}

bool limits_add(const struct limits *limits, struct transaction *change,
		const struct cgroup *cgroup)
{
	static const struct pool none = { .device = { (char *)"default", .is_default = true } };
	struct limits_line lines[POOL_CLASSES] = { 0 };
	bool is_default = limits->device.is_default, good;
	const struct pool *pool = is_default ? pools_find(&cgroup->pools, &device_default) :
				  limits_find_pool(&limits->device, &cgroup->pools);
	const struct pool *found = pool || !is_default ? pool : &none;
	enum pool_class class;

	good = found && (is_default || limits_check_keys(limits, found)) &&
	       limits_add_keys(limits, cgroup, found, lines);
	if (good && limits->whole)
		limits_add_whole(limits, cgroup, found, lines);
	if (good && !pool && lines->text) {
		say_error(cgroup_name(cgroup),
			  "this kernel has no " POOL_FILE_DEFAULT "; limit each device");
		good = false;
	}
	for (class = 0; class < POOL_CLASSES; class++) {
		if (good && lines[class].text)
			limits_add_line(limits, change, cgroup, class, &lines[class]);
		free(lines[class].text);
		free(lines[class].undo);
	}
	return good;
}
